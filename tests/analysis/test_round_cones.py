"""Uniqueness with round friction cones: between outer polyhedra and true solutions."""

from functools import partial

import numpy as np
import pytest

import stiction as st
from stiction import analysis

existence, uniqueness = (partial(f, time_limit=3600.0) for f in (analysis.existence, analysis.uniqueness))

PHI = np.pi / 3


def rod_in_space(mu, push=0.0, friction=None):
    """Painlevé's rod (pr11 §3) with its tip on the ground, in space."""
    r = np.array([-np.cos(PHI), 0.0, -np.sin(PHI)])
    rows = [np.concatenate([a, np.cross(r, a)]) for a in np.eye(3)[[2, 0, 1]]]
    return st.ContactProblem(
        st.Dense(np.diag([1.0, 1.0, 1.0, 1 / 3, 1 / 3, 1 / 3]), rows),
        v_free=[-1.0, 0.0, -push, 0.0, 0.0, 0.0],
        row_ptr=[0, 3],
        law=[1],
        friction=[st.Coulomb(mu) if friction is None else friction],
    )


def test_the_rod_in_space_is_the_rod_in_the_plane():
    two = uniqueness(rod_in_space(1.5))
    assert two.unique is False
    stuck = max((two.first, two.second), key=lambda s: s.p[0])
    assert np.allclose(stuck.p, [0.3248, 0.4375, 0.0], atol=5e-5)
    one = uniqueness(rod_in_space(0.5))
    assert one.unique is True
    assert one.limit == np.inf
    assert uniqueness(rod_in_space(1.5, push=0.01)).unique is True  # pr11 §4.1: the step has one solution


def test_an_anisotropic_cone_along_its_axes():
    assert uniqueness(rod_in_space(0, friction=st.Anisotropic(1.5, 0.5))).unique is False
    assert uniqueness(rod_in_space(0, friction=st.Anisotropic(0.5, 1.5))).unique is True


def random_in_space(seed, contacts, bodies, mu):
    rng = np.random.default_rng(seed)
    nv = 6 * bodies
    A = 0.2 * rng.normal(size=(nv, nv))
    return st.ContactProblem(
        st.Dense(np.diag(rng.uniform(0.2, 2.0, nv)) + A @ A.T, rng.normal(size=(3 * contacts, nv))),
        v_free=rng.normal(size=nv),
        row_ptr=3 * np.arange(contacts + 1),
        law=[1] * contacts,
        friction=rng.uniform(0.0, mu, contacts).tolist(),
    )


def holds(seed, contacts, mu):
    """What is proved unique is what other solvers and starts find; what is not, has two certified motions."""
    problem = random_in_space(seed, contacts, 1 + contacts // 3, mu)
    answer = uniqueness(problem)
    assert answer.success
    if answer.unique:
        rng = np.random.default_rng(seed)
        for solver in ("nsgs", "newton", "newton"):
            other = st.solve(problem, solver=solver, tol=1e-9, p0=rng.normal(size=problem.nr))
            assert not other.success or np.abs(other.v - answer.first.v).max() < answer.distance
    else:
        assert answer.separation >= answer.distance
        assert all(problem.certify(s.p).ok(1e-6) for s in (answer.first, answer.second))


@pytest.mark.parametrize("seed", range(4))
def test_random_contacts_in_space(seed):
    holds(seed, 1 + seed % 2, 1.5)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(30))
def test_many_random_contacts_in_space(seed):
    holds(100 + seed, 1 + seed % 3, 2.0 if seed % 2 else 0.7)


def test_no_solution_and_other_sets():
    """A lid that must open faster than its joint lets it; and friction of spin, which needs directions."""
    H = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    stuck = st.ContactProblem(
        st.Dense(np.eye(3), H), b=[-1.0, 0.0, 0.0, 0.0], row_ptr=[0, 3, 4], law=[1, 0], friction=[0.5, None]
    )
    assert existence(stuck).exists is False
    assert existence(rod_in_space(0.5)).exists is True
    spin = st.ContactProblem(
        st.Dense(np.eye(4), np.eye(4)), v_free=[-1.0, 0.3, 0.0, 0.2], row_ptr=[0, 4], law=[1],
        friction=[st.Torsional(0.5, 1.0, 1.0, 0.3)],
    )  # fmt: skip
    answer = uniqueness(spin)
    assert answer.unique is None
    assert "directions" in answer.message
    assert uniqueness(spin, directions=8).unique is True


def test_without_friction_there_is_one_motion():
    assert uniqueness(random_in_space(3, 2, 1, 0.0)).unique is True
