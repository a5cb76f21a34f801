"""Many bodies with restitution, thrown into a box: they bounce, lose their energy, and rest."""

import numpy as np
import pytest

import stiction as st

RADIUS, MASS = 0.05, 0.5  # m, kg


def pile(count, impact, duration, tol):
    """The run's energies, its worst overlap, and at the end the largest speed and two energies [J].

    They are that of translation and that of spin about the vertical of spheres on the floor; all fall with e = 0.8.
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
        world.add_body(st.Sphere(RADIUS), mass=MASS, position=(x + dx, y + dy, 0.06 + 0.107 * (k // side**2)))
    sim = st.Simulator(world, dt=0.005, scheme=st.Moreau(impact=impact), tol=tol)
    energy, deepest = [], 0.0
    for _ in range(int(duration / 0.005)):
        result = sim.step()
        energy.append(sim.system.energy(sim.state.q, sim.state.v))
        deepest = max(deepest, result.certificate.penetration)
    v, height = sim.state.v.reshape(-1, 6), sim.state.q.reshape(-1, 7)[:, 2]
    about = v[(height > 0.5 * RADIUS) & (height < RADIUS + 1e-4), 5]
    centres, spin = 0.5 * MASS * (v[:, :3] ** 2).sum(), 0.2 * MASS * RADIUS**2 * (about**2).sum()
    return energy, deepest, np.abs(v[:, :3]).max(), centres, spin


@pytest.mark.parametrize("impact", ["newton", "poisson"])
def test_a_small_pile_comes_to_rest(impact):
    """What contacts can take is gone.

    Spin on the floor about the vertical is left out: there a point contact has no lever. It is most of what is left,
    and does not decay. Nor does rolling: after two seconds the spheres that did have met others.
    """
    energy, deepest, speed, centres, spin = pile(64, impact, 2.0, 1e-4)
    most = max(e.kinetic for e in energy)
    assert most > 2.0
    assert energy[-1].kinetic - spin < 5e-3
    assert centres < 1e-3 * most
    assert speed < 0.03
    assert deepest < 1e-6


@pytest.mark.long
def test_1000_spheres_come_to_rest():
    energy, deepest, speed, *_ = pile(1000, "newton", 2.5, 1e-2)
    assert max(e.kinetic for e in energy) > 50.0
    assert energy[-1].kinetic < 1e-2  # of 1000 spheres: 0.2 mm/s each
    assert speed < 0.05
    assert deepest < 2e-4
