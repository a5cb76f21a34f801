"""Block Gauss–Seidel on a pile of balls or of disks in the plane: time per contact and sweep, and residuals."""

from __future__ import annotations

import time

import numpy as np

from stiction import Bodies, ContactProblem, Law
from stiction.solvers.gauss_seidel.nsgs import BodySweeps, Nsgs


def pile(side: int, dim: int, *, mu: float = 0.4, associated: bool = False, seed: int = 0) -> ContactProblem:
    """A crate of side**dim balls, jittered about a grid, pressed down and sideways; neighbours and walls touch."""
    rng = np.random.default_rng(seed)
    cells = np.stack(np.meshgrid(*[np.arange(side)] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    x = cells + rng.uniform(-0.2, 0.2, size=cells.shape)
    number = {tuple(c): i for i, c in enumerate(cells.tolist())}
    a, b, normal = [], [], []
    for i, c in enumerate(cells.tolist()):
        for axis in range(dim):
            below = c.copy()
            below[axis] -= 1
            j = number.get(tuple(below), -1)
            n = x[i] - x[j] if j >= 0 else np.eye(dim)[axis]
            a.append(i), b.append(j), normal.append(n / np.linalg.norm(n))
            if c[axis] == side - 1 and axis < dim - 1:
                a.append(i), b.append(-1), normal.append(-np.eye(dim)[axis])
    Ja, Jb = rows(np.array(normal), 0.5)
    nk, nb = len(a), len(x)
    d = 3 if dim == 2 else 6
    Minv = np.zeros((nb, d, d))
    mass = rng.uniform(0.5, 2.0, size=nb)
    for j in range(d):
        Minv[:, j, j] = 1 / mass if j < dim else 1 / (0.4 * 0.25 * mass)
    v_free = 0.02 * rng.normal(size=(nb, d))
    v_free[:, dim - 1] -= 0.1
    form = Bodies(np.array(a), np.array(b), Ja, Jb, Minv, np.arange(nk + 1) * dim)
    return ContactProblem(
        form, row_ptr=form.row_ptr, law=np.full(nk, int(Law.UNILATERAL)), friction=mu, v_free=v_free.ravel(),
        associated=associated,
    )  # fmt: skip


def rows(n: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Jacobian rows (normal, tangents) of contacts between balls of one radius; normals n (nk, 2 or 3)."""
    nk, dim = n.shape
    if dim == 2:
        t = np.column_stack([-n[:, 1], n[:, 0]])
        Ja = np.zeros((nk, 2, 3))
        Jb = np.zeros((nk, 2, 3))
        Ja[:, 0, :2], Ja[:, 1, :2], Ja[:, 1, 2] = n, t, -radius
        Jb[:, 0, :2], Jb[:, 1, :2], Jb[:, 1, 2] = -n, -t, -radius
        return Ja.reshape(-1, 3), Jb.reshape(-1, 3)
    other = np.where(np.abs(n[:, :1]) < 0.6, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    t1 = np.cross(n, other)
    t1 /= np.linalg.norm(t1, axis=1, keepdims=True)
    frame = np.stack([n, t1, np.cross(n, t1)], axis=1)
    spin = np.cross(-radius * n[:, None, :], frame)
    return np.concatenate([frame, spin], axis=2).reshape(-1, 6), np.concatenate([-frame, spin], axis=2).reshape(-1, 6)


def seconds(function, rounds: int = 5) -> float:
    """The smallest time of a few rounds."""
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    for name, problem in (
        ("balls, 3 rows, Coulomb", pile(12, 3)),
        ("disks, 2 rows, Coulomb", pile(50, 2)),
        ("balls, 3 rows, associated", pile(12, 3, associated=True)),
    ):
        run = BodySweeps(problem, problem.p_warm, 1.0, False, (0.0, 0))
        run.sweep(2, 0.0)
        per = 1e9 * seconds(lambda run=run: run.sweep(100, 0.0)) / 100 / problem.nk
        setup = 1e3 * seconds(lambda problem=problem: BodySweeps(problem, problem.p_warm, 1.0, False, (0.0, 0)))
        check = 1e3 * seconds(lambda problem=problem, run=run: problem.certify(run.impulses()))
        print(f"{name}: {problem.nk} contacts, {problem.dynamics.nbody} bodies")
        print(f"  {per:.0f} ns per contact and sweep; setup {setup:.1f} ms, certificate {check:.1f} ms")
        for tol in (1e-2, 1e-4, 1e-6, 1e-8):
            s = Nsgs().solve(problem, tol=tol)
            t = seconds(lambda problem=problem, tol=tol: Nsgs().solve(problem, tol=tol), 2)
            print(
                f"  tol {tol:.0e}: {s.iterations:5d} sweeps, {t:.3f} s, residual {s.certificate.error:.1e} ({s.status})"
            )


if __name__ == "__main__":
    main()
