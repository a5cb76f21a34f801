"""Random contact problems, some without a solution or with several, and what must hold of every answer."""

from __future__ import annotations

import numpy as np

from stiction import Bodies, ContactProblem, Coulomb, Dense, Law, Polyhedral, Rolling, Torsional
from stiction.solvers import SOLVERS, make_solver

TOL = 1e-6
SOLVERS_TRIED = tuple(name for name in SOLVERS if name != "enumeration")


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


def answer(seed, solver):
    """The status of a solver's answer to the problem of a seed, or "refused"."""
    problem, chosen = random_problem(np.random.default_rng(seed)), make_solver(solver)
    if chosen.refuses(problem) is not None:
        return "refused"
    s = chosen.solve(problem, tol=TOL, maxiter=None if solver == "lemke" else 500)
    check_answer(problem, s, TOL)
    return str(s.status)
