"""Block Gauss–Seidel (nonsmooth Gauss–Seidel, NSGS): one exact local solve per block and sweep, for large problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus, Dense
from ..status import Status
from .base import Solution, finish, nothing_to_solve

SWEEPS = 10_000  # the default limit
CHUNK = 100  # sweeps between two looks at the certificate, at most
FIRST = 20  # plain sweeps at the start: problems of a few blocks end there
OMEGA = 1.7  # over-relaxation after that
SMALL = 300  # rows up to which W stays a full matrix
WINDOW = 500  # sweeps without progress after which steps are shortened
_FLOOR = 1e-17  # a sweep that changes velocities less than this (of the scale) has come to rest


class Nsgs:
    """Sweeps over the blocks, each solved exactly under the *true* Coulomb cone, until the certificate agrees.

    Matrix-free on `Bodies` (cost per sweep linear in the number of blocks), on columns of W for `Dense` and
    `Delassus`. Convergence is linear and depends on the problem: long chains, stacks and large mass ratios take many
    sweeps. Coulomb problems have no convergence proof; an answer is only called solved by its certificate.

    `omega` over-relaxes: each block is solved with its own W divided by omega, so that its law still holds exactly,
    and omega does not move the solution. After the first sweeps (omega = 1) piles need two to five times fewer sweeps
    with 1.7 than with 1. Where the residual stops falling, omega goes down step by step, to 0.05.

    When not to use it: small problems to many digits (Lemke, Newton), and tight tolerances on ill-conditioned ones.
    """

    name = "nsgs"

    def __init__(self, maxiter: int = SWEEPS, omega: float = OMEGA):
        self.maxiter = _check.count("maxiter", maxiter)
        self.omega = _check.number("omega", omega, positive=True)

    def refuses(self, problem: ContactProblem) -> str | None:
        """Problems whose Delassus matrix is not symmetric (G ≠ H), or has a negative diagonal."""
        dynamics = problem.dynamics
        if isinstance(dynamics, Dense) and dynamics.G is not dynamics.H and not np.array_equal(dynamics.G, dynamics.H):
            return "nsgs needs impulses to act along the rows they answer to; this problem has G different from H."
        if isinstance(dynamics, Delassus):
            W = dynamics.W
            if abs(W - W.T).max() > 1e-9 * abs(W).max() if problem.nr else False:
                return "nsgs needs a symmetric Delassus matrix W; this one is not."
            if (W.diagonal() < 0).any():
                return "nsgs needs a positive semidefinite W; this one has a negative diagonal entry."
        return None

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Sweep from `p0`, or from the problem's `p_warm`; `maxiter` limits the sweeps (default 10 000)."""
        limit = self.maxiter if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        start = problem.p_warm if p0 is None else _check.floats("p0", p0, (problem.nr,))
        p, status, message, sweeps = _iterate(problem, start, self.omega, tol, limit)
        return finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=sweeps)


def _iterate(
    problem: ContactProblem, p: FloatArray, omega: float, tol: float, limit: int
) -> tuple[FloatArray, Status, str, int]:
    """Sweep until the certificate is met. The cheap estimate of a sweep only says when to look at it."""
    make: Any = _Bodies if isinstance(problem.dynamics, Bodies) else _Matrix
    run = make(problem, p, 1.0)
    scale = problem.scale
    threshold, estimate = tol * scale, np.inf
    best, best_error = p, np.inf
    sweeps, marked, before, least = 0, 0, np.inf, np.inf
    # the associated law is a convex problem, on which slow is never a cycle
    steps = [omega] if problem.associated else [omega, 1.0, 0.5, 0.25, 0.1, 0.05]
    while True:
        p = run.impulses()
        if not np.isfinite(p).all():
            message = f"The impulses of nsgs grew without bound; the best residual on the way was {best_error:.2e}."
            return best, Status.NONFINITE, message, sweeps
        error = problem.certify(p).error
        if error < best_error:
            best, best_error = p, error
        least = min(least, error)
        if error <= tol:
            return p, Status.SOLVED, f"nsgs met the tolerance after {sweeps} sweeps.", sweeps
        if sweeps >= limit:
            message = f"nsgs stopped after {sweeps} sweeps with residual {best_error:.2e}, above tol = {tol:.0e}."
            return best, Status.MAXITER, message, sweeps
        if estimate <= _FLOOR * scale:
            message = f"nsgs came to rest after {sweeps} sweeps with residual {best_error:.2e}, above tol = {tol:.0e}."
            return best, Status.INACCURATE, message, sweeps
        if estimate <= threshold:
            threshold = max(0.5 * min(1.0, tol / error) * estimate, _FLOOR * scale)
        if sweeps >= (marked + WINDOW if marked else FIRST):
            if steps and (least > 0.98 * before or not marked):  # a cycle: more sweeps of this step would not end it
                run = make(problem, p, steps.pop(0))
                least = np.inf
            before, least, marked = least, np.inf, sweeps
        done, estimate = run.sweep(min(CHUNK if marked else FIRST - sweeps, limit - sweeps), threshold)
        sweeps += done


class _Bodies:
    """Sweeps on `Bodies`: the state is one vector per body, no Delassus matrix."""

    def __init__(self, problem: ContactProblem, p0: FloatArray, omega: float):
        from . import nsgs_forms as forms
        from . import nsgs_kernels as kernels
        from . import nsgs_setup as setup

        form: Any = problem.dynamics
        d = form.Minv.shape[1]
        self.problem, self.items = problem, setup.make_items(problem)
        items = self.items
        rows, ni = len(items.src), len(items.kind)
        L = np.zeros((form.nbody + 1, d, d))
        forms.body_factors(form.Minv, L)
        self.J, W = np.zeros((rows, 2 * d)), np.zeros((rows, 6))
        self.a, self.b = np.zeros(ni, dtype=np.int64), np.zeros(ni, dtype=np.int64)
        forms.body_rows(
            items.block, items.ptr, items.src, form.body_a, form.body_b, form.Ja, form.Jb, L, problem.C,
            self.J, W, self.a, self.b,
        )  # fmt: skip
        self.frames = setup.make_frames(problem, items, W / omega, p0)
        self.compliant = bool(problem.C.any())
        self.Cb = np.zeros((rows if self.compliant else 0, 6))
        forms.turn_rows(items.ptr, items.src, self.frames.T, problem.C, self.J, self.Cb)
        self.w = np.zeros((form.nbody + 1, d))
        self.facets = int(np.diff(items.gptr).max(initial=0))
        some = int(items.seg[-1] > items.seg[-2])
        self._sweep = (
            (kernels.sweep_planar, kernels.sweep_planar_nested),
            (kernels.sweep_spatial, kernels.sweep_spatial_nested),
        )[d // 6][some]
        self._unpack, self._state = forms.unpack, forms.body_state

    def impulses(self) -> FloatArray:
        """The impulses in the problem's own rows."""
        p = np.zeros(self.problem.nr)
        self._unpack(self.items.ptr, self.items.src, self.frames.T, self.frames.p, p)
        return p

    def sweep(self, count: int, threshold: float) -> tuple[int, float]:
        """Up to `count` sweeps: how many were made, and the last estimate."""
        s, f = self.items, self.frames
        self._state(s.ptr, self.a, self.b, self.J, f.p, self.w)
        done, estimate = self._sweep(
            count, threshold, s.seg, s.ptr, self.a, self.b, self.J, f.q, f.p, self.w, f.par, f.wn, f.sd,
            self.Cb, self.compliant, s.gptr, f.G, f.rim, s.vptr, f.V, self.problem.associated, self.facets,
        )  # fmt: skip
        return int(done), float(estimate)


class _Matrix:
    """Sweeps on the columns of W, for `Dense` and `Delassus`; the state is u."""

    def __init__(self, problem: ContactProblem, p0: FloatArray, omega: float):
        from scipy.sparse import csr_array

        from . import nsgs_forms as forms
        from . import nsgs_kernels as kernels
        from . import nsgs_setup as setup

        form = problem.dynamics
        self.problem, self.items = problem, setup.make_items(problem)
        items = self.items
        rows = len(items.src)
        W: Any = form.W if isinstance(form, Delassus) else form.delassus()
        if isinstance(W, np.ndarray) and rows <= SMALL:
            W = W[np.ix_(items.src, items.src)] + np.diag(problem.C[items.src])
        else:
            W = csr_array(W)[items.src][:, items.src]
            at = np.arange(rows)
            W = csr_array(W + csr_array((problem.C[items.src], (at, at)), shape=(rows, rows)))
        own = np.zeros((rows, 6))
        forms.matrix_blocks(items.ptr, *_columns(W), own)
        self.frames = setup.make_frames(problem, items, own / omega, p0)
        self.W = _in_frame(W, items.ptr, self.frames.T)
        self.columns = _columns(self.W)
        self.facets = int(np.diff(items.gptr).max(initial=0))
        self._sweep = (kernels.sweep_matrix, kernels.sweep_matrix_nested)[int(items.seg[-1] > items.seg[-2])]
        self._unpack = forms.unpack

    impulses = _Bodies.impulses

    def sweep(self, count: int, threshold: float) -> tuple[int, float]:
        """Up to `count` sweeps: how many were made, and the last estimate."""
        s, f = self.items, self.frames
        u = f.q + self.W @ f.p
        done, estimate = self._sweep(
            count, threshold, s.seg, s.ptr, *self.columns, u, f.p, f.par, f.wn, f.sd, s.gptr, f.G, f.rim,
            s.vptr, f.V, self.problem.associated, self.facets,
        )  # fmt: skip
        return int(done), float(estimate)


def _columns(W: Any) -> tuple[Any, Any, Any]:
    """Pointers, indices and values of the rows of a symmetric matrix, which are its columns."""
    if isinstance(W, np.ndarray):
        n = len(W)
        return np.arange(0, n * n + 1, n or 1), np.tile(np.arange(n), n), W.ravel()
    return W.indptr.astype(np.int64), W.indices.astype(np.int64), np.ascontiguousarray(W.data)


def _in_frame(W: Any, ptr: Any, T: FloatArray) -> Any:
    """Tᵀ W T with T block-diagonal."""
    n = np.diff(ptr)
    count = np.repeat(n, n)
    row = np.repeat(np.arange(len(T)), count)
    column = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    values = T[row, column]
    column += np.repeat(np.repeat(ptr[:-1], n), count)
    if isinstance(W, np.ndarray):
        full = np.zeros(W.shape)
        full[row, column] = values
        return np.ascontiguousarray(full.T @ W @ full)
    from scipy.sparse import csr_array

    turn = csr_array((values, (row, column)), shape=W.shape)
    turned = csr_array(turn.T @ W @ turn)
    turned.sum_duplicates()
    return turned
