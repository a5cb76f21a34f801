"""Random worlds and contact problems: every answer is certified or reported, and nothing is ever not a number."""

import warnings
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest
from build import random_choice, random_world

import stiction as st
from stiction import Bodies, ContactProblem, Coulomb, Dense, Law, Polyhedral, Rolling, Torsional
from stiction.solvers import SOLVERS, make_solver

TOL = 1e-6
WORLDS, STEPS = 200, 50  # 10 000 steps


class Witness:
    """A solver that looks over the shoulder of another one."""

    def __init__(self, name, counts):
        self.inner, self.name, self.counts = make_solver(name), name, counts

    def refuses(self, problem):
        return self.inner.refuses(problem)

    def solve(self, problem, *, tol, maxiter=None, p0=None):
        s = self.inner.solve(problem, tol=tol, maxiter=maxiter, p0=p0)
        check_answer(problem, s, tol)
        self.counts[f"{self.name} {s.status}"] += 1
        return s


def check_answer(problem, s, tol):
    """Success is what the certificate says, made anew from the problem and the impulses; otherwise it says why not."""
    for name in ("p", "v", "u"):
        assert np.isfinite(getattr(s, name)).all(), (problem, s.solver, s.status, name)
    assert (s.modes >= 0).all()
    again = problem.certify(s.p, s.v if problem.nv else None)
    assert all(np.isfinite(x) for x in again.as_dict().values())
    assert s.success == s.status.success
    assert len(s.message) > 10
    if s.success:
        assert again.error <= tol * (1 + 1e-6) + 1e-13, (problem, s.solver, s.message)
        assert problem.certify(s.p).error <= tol
        size = np.abs(problem.v_free).max(initial=0.0) + np.abs(s.v).max(initial=0.0)
        assert again.dynamics <= 1e-9 * size
    else:
        assert s.certificate.error > tol


def check_step(result):
    state, contacts = result.state, result.contacts
    assert np.isfinite(state.q).all()
    assert np.isfinite(state.v).all()
    for name in ("gap", "impulse", "velocity", "normal", "point"):
        assert np.isfinite(getattr(contacts, name)).all(), name
    c = result.certificate
    assert c is not None
    assert np.isfinite([c.penetration, c.joint_drift]).all()
    assert all(np.isfinite(getattr(c.energy, f.name)) for f in fields(c.energy))
    assert result.success == result.status.success
    if result.success:
        assert all(s.certificate.error <= TOL for role, s in result.solves[-1:])
    else:
        assert result.message


@pytest.mark.long
@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_worlds(dim, rich):
    """100 worlds of each kind, 50 steps each, masses over four decades, friction to 1.5, steps of 0.1 to 20 ms.

    A quarter of them where shapes are curved and joints driven: those take longer.
    """
    counts = Counter()
    worlds = WORLDS // 8 if rich else WORLDS // 2
    for seed in range(worlds):
        rng = np.random.default_rng([dim, seed])
        world, (scheme, name, dt) = random_world(rng, dim, rich), random_choice(rng)
        options = {"scheme": scheme, "tol": TOL, "on_failure": "continue"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = st.Simulator(world, dt, solver=Witness(name, counts), **options)
            try:
                for _ in range(STEPS):
                    check_step(sim.step())
                    counts["steps"] += 1
                loop = st.Simulator(world, dt, solver=name, **options)  # compiled, where it can be
                check_step(loop.advance(STEPS))
            except st.SolverError:
                counts["raised"] += 1
                continue
        assert loop.state.q.tobytes() == sim.state.q.tobytes(), (dim, seed)
    print(dict(counts))
    assert counts["steps"] > 0.9 * STEPS * worlds


def random_set(rng):
    """A friction set, and how many rows it has."""
    mu = float(rng.choice([0.0, rng.uniform(0, 1.5)]))
    return [
        (Coulomb(mu), 1),
        (Coulomb(mu), 2),
        (Polyhedral(mu, directions=Coulomb(1.0).directions(2, int(rng.integers(3, 9)))), 2),
        (Polyhedral(mu, directions=[[1.0], [-0.2]]), 1),
        (Torsional(mu, *rng.uniform(0.05, 1.0, 3)), 3),
        (Rolling(mu, rng.uniform(0, 0.3)), 2),
        (Rolling(mu, rng.uniform(0, 0.3)), 4),
        (Rolling(mu, 0.1, rng.uniform(0, 0.3)), 5),
        (None, 0),
    ][rng.integers(9)]


def random_problem(rng):
    """Blocks of every law on random bodies or matrices, some of them redundant, immobile or contradictory."""
    law, friction, sizes, r0 = [], [], [], []
    for _ in range(rng.integers(1, 9)):
        l = Law(rng.choice([Law.UNILATERAL] * 4 + [Law.EQUALITY, Law.BOX, Law.DRY]))
        f, dim = random_set(rng)
        if l == Law.DRY and dim == 0:
            f, dim = Coulomb(1.0), 2
        law.append(l)
        sizes.append(dim + 1 if l == Law.UNILATERAL else dim if l == Law.DRY else int(rng.integers(1, 4)))
        friction.append(f if l in (Law.UNILATERAL, Law.DRY) and dim else None)
        r0.append(float(rng.choice([0.0, rng.uniform(0, 1)])))
    nr, ptr, nk = sum(sizes), np.concatenate([[0], np.cumsum(sizes)]), len(law)
    lo, hi = -rng.uniform(0, 1, nr), rng.uniform(0, 1, nr)
    lo[rng.random(nr) < 0.3], hi[rng.random(nr) < 0.3] = -np.inf, np.inf
    unit = 10 ** rng.uniform(-2, 2)
    length = np.where(rng.random(nr) < 0.3, 0.3, 1.0)
    length[ptr[:-1]] = 1.0  # first rows are normals
    options = {
        "row_ptr": ptr, "law": law, "friction": friction, "r0": r0, "lo": lo, "hi": hi,
        "associated": bool(rng.random() < 0.5), "length": length,
        "b": rng.normal(size=nr) * (rng.random(nr) < 0.5), "C": np.where(rng.random(nr) < 0.1, 0.1 / unit, 0.0),
        "p_warm": rng.normal(size=nr) * rng.choice([0.0, 1.0]),
    }  # fmt: skip
    form = rng.integers(3)
    if form == 0:
        nv = int(rng.integers(1, nr + 3))
        H = rng.normal(size=(nr, nv))
        if rng.random() < 0.3:
            H[-1] = H[0]
        A = rng.normal(size=(nv, nv))
        M = unit * (A @ A.T + 0.1 * np.eye(nv))
        return ContactProblem(Dense(M, H), v_free=rng.normal(size=nv), **options)
    if form == 1:
        A = rng.normal(size=(nr, int(rng.integers(1, nr + 2))))
        q = A @ rng.normal(size=A.shape[1]) + options.pop("b")
        return ContactProblem.from_delassus(A @ A.T / unit, q, **options)
    nbody, d = int(rng.integers(1, 5)), int(rng.choice([3, 6]))
    Minv = np.zeros((nbody, d, d))
    for i in range(nbody):
        A = rng.normal(size=(d, d))
        Minv[i] = (A @ A.T + 0.1 * np.eye(d)) / 10 ** rng.uniform(-2, 2) * (rng.random() < 0.9)
    a, b = rng.integers(0, nbody, size=nk), rng.integers(-1, nbody, size=nk)
    Ja, Jb = rng.normal(size=(2, nr, d)) * (rng.random((2, nr, 1)) < 0.95)
    return ContactProblem(Bodies(a, b, Ja, Jb, Minv, ptr), v_free=rng.normal(size=nbody * d), **options)


@pytest.mark.long
@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "enumeration"])
def test_problems(solver):
    """Hard ones included (no solution, several, redundant rows): what counts is that nothing passes unseen."""
    counts = Counter()
    many = 100 if solver in ("auto", "fixed-point") else 400  # these try long where there is no solution
    for seed in range(many):
        problem = random_problem(np.random.default_rng(seed))
        chosen = make_solver(solver)
        if chosen.refuses(problem) is not None:
            counts["refused"] += 1
            continue
        s = chosen.solve(problem, tol=TOL, maxiter=None if solver == "lemke" else 500)
        check_answer(problem, s, TOL)
        counts[str(s.status)] += 1
    print(solver, dict(counts))
    assert counts["solved"] >= 0.5 * (many - counts["refused"])
