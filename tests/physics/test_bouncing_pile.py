"""Many bodies with restitution, thrown into a box: they bounce, lose their energy, and rest."""

import numpy as np
import pytest

import stiction as st


def pile(count, impact, duration, tol):
    """The run's energies, its worst overlap, and at the end the largest speed and the energy of the centres [J].

    Spheres of 0.5 kg that fall with e = 0.8.
    """
    rng = np.random.default_rng(0)
    side = 5 if count < 200 else 9
    world = st.World()
    world.set_material("default", friction=0.5, restitution=0.8)
    half = 0.055 * side
    for normal, offset in (
        ((0, 0, 1), 0.0),
        ((1, 0, 0), -half),
        ((-1, 0, 0), -half),
        ((0, 1, 0), -half),
        ((0, -1, 0), -half),
    ):
        world.add_plane(normal=normal, offset=offset)
    line = 0.107 * (np.arange(side) - 0.5 * (side - 1))
    for k in range(count):
        x, y = line[k % side], line[k // side % side]
        dx, dy = rng.uniform(-0.003, 0.003, 2)
        world.add_body(st.Sphere(0.05), mass=0.5, position=(x + dx, y + dy, 0.06 + 0.107 * (k // side**2)))
    sim = st.Simulator(world, dt=0.005, scheme=st.Moreau(impact=impact), tol=tol)
    energy, deepest = [], 0.0
    for _ in range(int(duration / 0.005)):
        result = sim.step()
        energy.append(sim.system.energy(sim.state.q, sim.state.v))
        deepest = max(deepest, result.certificate.penetration)
    v = sim.state.v.reshape(-1, 6)[:, :3]
    return energy, deepest, np.abs(v).max(), 0.25 * (v * v).sum()


@pytest.mark.parametrize("impact", ["newton", "poisson"])
def test_a_small_pile_comes_to_rest(impact):
    """All but spin about the normals, which point contacts do not stop: it is most of what is left."""
    energy, deepest, speed, centres = pile(64, impact, 1.5, 1e-4)
    most = max(e.kinetic for e in energy)
    assert most > 2.0
    assert centres < 1e-3 * most
    assert energy[-1].kinetic < 1e-2 * most
    assert speed < 0.03
    assert deepest < 1e-6


@pytest.mark.long
def test_1000_spheres_come_to_rest():
    energy, deepest, speed, _ = pile(1000, "newton", 2.5, 1e-2)
    assert max(e.kinetic for e in energy) > 50.0
    assert energy[-1].kinetic < 1e-2  # of 1000 spheres: 0.2 mm/s each
    assert speed < 0.05
    assert deepest < 2e-4
