"""The convex relaxation by interior points, and smooth cones by Newton, beside each other and Lemke's method."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction.solvers import make_solver


def spatial(seed, contacts=3, associated=False):
    """Contacts in space on a random system with as many velocities as rows, so that velocities are unique."""
    rng = np.random.default_rng(seed)
    nv = 3 * contacts
    A = rng.normal(size=(nv, nv))
    return st.ContactProblem(
        st.Dense(A @ A.T + np.eye(nv), rng.normal(size=(nv, nv))), v_free=rng.normal(size=nv),
        row_ptr=np.arange(0, nv + 1, 3), law=[st.Law.UNILATERAL] * contacts,
        friction=[st.Coulomb(m) for m in rng.uniform(0.1, 0.6, contacts)], associated=associated,
    )  # fmt: skip


@given(hs.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_conic_is_lemke_on_the_polyhedral_relaxation(seed):
    problem = spatial(seed, associated=True).polyhedral(6)
    conic, lemke = (st.solve(problem, name, tol=1e-6) for name in ("conic", "lemke"))
    assert conic.success
    assert lemke.success
    np.testing.assert_allclose(conic.u, lemke.u, atol=1e-5 * problem.scale)


@given(hs.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_conic_minimises_the_energy_of_the_relaxation(seed):
    """Any other admissible impulse has a larger ½ pᵀWp + qᵀp: an independent statement of the relaxed law."""
    problem = spatial(seed, associated=True)
    W, q = problem.delassus(), problem.q
    p = st.solve(problem, "conic", tol=1e-6).p
    value = 0.5 * p @ W @ p + q @ p
    rng = np.random.default_rng(seed)
    for _ in range(50):
        other = rng.normal(size=9) * max(np.abs(p).max(), 1e-3)
        for k, mu in enumerate(problem.friction.mu):
            n, t = abs(other[3 * k]), other[3 * k + 1 : 3 * k + 3]
            other[3 * k] = n
            other[3 * k + 1 : 3 * k + 3] = t * min(1.0, mu * n / max(np.linalg.norm(t), 1e-300))
        assert 0.5 * other @ W @ other + q @ other >= value - 1e-6 * abs(value) - 1e-9


@given(hs.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_newton_and_gauss_seidel_agree_on_smooth_cones(seed):
    problem = spatial(seed)
    newton, sweeps = (st.solve(problem, name, tol=1e-9) for name in ("newton", "nsgs"))
    if newton.success and sweeps.success:
        np.testing.assert_allclose(newton.u, sweeps.u, atol=1e-6 * problem.scale)
    assert newton.success or newton.status is st.Status.MAXITER


def test_newton_solves_a_hyperstatic_stack_to_round_off():
    world = st.World()
    world.add_plane()
    for i in range(6):
        world.add_body(st.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5 + i))
    sim = st.Simulator(world, 0.005)
    problem = sim.scheme.probe(sim.system, sim.state, 0.005)
    s = st.solve(problem, "newton", tol=1e-9)
    assert s.success
    assert np.abs(s.u).max() < 1e-9


@pytest.mark.parametrize("sweeps", [1, 50, 200, 1000])
def test_proximal_solves_jammed_spheres_from_wherever_sweeps_stop(sweeps):
    """140 contacts of a pile: from most of these starts Newton's steps lead nowhere, and it begins anew from none."""
    problem = st.read_fclib(Path(__file__).parent / "data" / "jammed_spheres.hdf5")
    start = make_solver("nsgs").solve(problem, tol=1e-8, maxiter=sweeps)
    assert not start.success
    answer = make_solver("proximal").solve(problem, tol=1e-8, p0=start.p)
    assert answer.success, answer.message
    assert answer.certificate.error <= 1e-8


def test_they_say_what_they_do_not_take():
    assert "convex relaxation" in make_solver("conic").refuses(spatial(0))


@pytest.mark.parametrize("associated", [True, False])
def test_auto_says_what_it_did(associated):
    s = st.solve(spatial(3, associated=associated), "auto", tol=1e-10)
    assert s.success
    assert s.solver in s.message
