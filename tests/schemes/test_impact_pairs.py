"""Impact laws of pairs: each contact by its own, whatever that of the scheme."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st
from stiction.schemes.impact.law import newton, poisson, stronge, together
from stiction.systems.restitution import NEWTON, POISSON, STRONGE

LAWS = {"newton": st.NewtonImpact, "poisson": st.PoissonImpact, "stronge": st.StrongeImpact}


class _Exact:
    tol = 1e-12

    def __call__(self, problem, *, tol=None):
        return st.solve(problem, tol=1e-12)


def oblique(scheme: str, restitution) -> float:
    """The horizontal velocity of a tilted rod's centre after it hits the floor: friction makes the laws differ."""
    world = st.PlanarWorld(gravity=(0.0, 0.0))
    world.add_plane(normal=(0.0, 1.0), offset=0.0)
    height = 0.5 * np.sin(1.0) + 0.02
    rod = world.add_body(
        st.Rod(0.01, 1.0), mass=1.0, position=(0.0, height), angle=1.0, velocity=(0.6, -1.0), material="rod"
    )
    world.set_material("rod", friction=0.4, restitution=restitution)
    world.set_contact("rod", "default", friction=0.4, restitution=restitution)
    sim = st.Simulator(world, dt=1e-3, scheme=st.Moreau(impact=scheme), tol=1e-10)
    run = sim.run(0.05)
    return float(run.velocity(rod)[-1, 0])


def test_a_pair_has_its_own_law():
    direct = {name: oblique(name, 0.7) for name in LAWS}
    assert len({round(value, 6) for value in direct.values()}) == 3
    for name, law in LAWS.items():
        for scheme in LAWS:
            assert oblique(scheme, law(0.7)) == pytest.approx(direct[name], abs=1e-9)


def three_islands() -> st.ContactProblem:
    """Three pairs of feet of three blocks, all with friction: rows of six contacts in three islands."""
    rng = np.random.default_rng(4)
    H = np.zeros((12, 9))
    for block in range(3):
        for foot in range(2):
            arm = rng.uniform(0.2, 1.0) * (1 if foot else -1)
            H[4 * block + 2 * foot, 3 * block : 3 * block + 3] = (0.0, 1.0, arm)
            H[4 * block + 2 * foot + 1, 3 * block : 3 * block + 3] = (1.0, 0.0, 0.5)
    v = np.tile([0.4, -1.0, 0.1], 3)
    return st.ContactProblem(
        st.Dense(np.diag([1.0, 1.0, 0.3] * 3), H), v_free=v, row_ptr=np.arange(0, 13, 2), law=[1] * 6, friction=0.3
    )


def test_islands_with_one_law_have_what_that_law_gives():
    problem, e = three_islands(), np.full(6, 0.6)
    mixed = together(problem, e, np.repeat([NEWTON, POISSON, STRONGE], 2), _Exact())
    assert mixed.solved
    for block, law in enumerate((newton, poisson, stronge)):
        rows = slice(4 * block, 4 * block + 4)
        assert mixed.p[rows] == pytest.approx(law(problem, e, _Exact()).p[rows], abs=1e-9)


@pytest.mark.parametrize("other", [POISSON, STRONGE])
def test_newtons_ratio_holds_beside_another_law(other):
    problem, e = three_islands(), np.full(6, 0.6)
    law = np.tile([NEWTON, other], 3)
    after = together(problem, e, law, _Exact())
    u = problem.dynamics.velocity_rows(after.v)[::2]
    before = problem.q[::2]
    assert after.solved
    assert (u[::2] >= -0.6 * before[::2] - 1e-9).all()
    assert (u >= -1e-9).all()


def test_without_friction_every_mixture_is_the_same_at_one_contact():
    for law in LAWS.values():
        world = st.World(gravity=(0.0, 0.0, 0.0))
        world.add_plane(normal=(0, 0, 1), offset=0.0)
        ball = world.add_body(st.Sphere(0.1), mass=2.0, position=(0, 0, 0.2), velocity=(0.5, 0, -1.0))
        world.set_material("default", friction=0.0, restitution=law(0.8))
        run = st.Simulator(world, dt=0.01, scheme=st.Moreau(), tol=1e-10).run(0.3)
        assert run.velocity(ball)[-1] == pytest.approx([0.5, 0.0, 0.8], abs=1e-9)


def test_fading_restitution_ends_the_bounces():
    fading = st.Fading(0.7, 0.2)
    assert fading(1e3) == 0.7
    assert fading(0.2) == pytest.approx(0.7 * (1.0 - np.exp(-1.0)))
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    world.add_plane(normal=(0.0, 1.0), offset=0.0)
    ball = world.add_body(st.Disk(0.1), mass=1.0, position=(0.0, 0.6))
    world.set_material("default", restitution=st.PoissonImpact(fading))
    run = st.Simulator(world, dt=1e-3, scheme=st.Moreau(), tol=1e-10).run(3.0)
    speed = run.velocity(ball)[:, 1]
    hits = np.flatnonzero((speed[:-1] < 0.0) & (speed[1:] > 0.0))
    for k in hits:
        assert speed[k + 1] == pytest.approx(-fading(-speed[k]) * speed[k], abs=1e-10)
    assert 3 < len(hits) < 30
    assert abs(speed[-1]) < 1e-9


def test_bad_input():
    world = st.World()
    with pytest.raises(st.ModelError, match="restitution of material 'a' must be at most 1"):
        world.set_material("a", restitution=st.StrongeImpact(1.5))
    with pytest.raises(st.ModelError, match="e of Fading"):
        st.Fading(-0.1, 1.0)
    with pytest.raises(st.ModelError, match="speed of Fading"):
        st.Fading(0.5, 0.0)
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 1))
    world.set_material("default", restitution=st.NewtonImpact(0.5))
    with pytest.raises(st.ModelError, match="another impact law"):
        st.Simulator(world, dt=0.01, scheme=st.Moreau(impact="stronge", multiple="work"))
