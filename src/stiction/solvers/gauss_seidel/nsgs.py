"""Block Gauss–Seidel (nonsmooth Gauss–Seidel, NSGS): one exact local solve per block and sweep, for large problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ... import _check
from ..._arguments import checks_arguments
from ..._check import FloatArray, IntArray
from ...problem.contact_problem import ContactProblem
from ...problem.dynamics import Bodies, Delassus
from ...status import Status
from ..acceptance import acceptance_levels, largest_accepted
from ..base import Solution, finish, not_symmetric, nothing_to_solve
from . import kinds
from .outcome import ACCEPTED, LIMIT, NONFINITE, RESTING, SOLVED, STALLED, attempt_limit
from .parameters import ATTEMPT, SCHEDULE, WINDOWS
from .records import LocalProblems, SweepList

# messages of solutions
_ACCEPTED_MESSAGE = "nsgs left {:.1e} after {} sweeps, above tol = {:.0e}: accepted."
_AT_REST_MESSAGE = "The first guess met the tolerance: the bodies are at rest."
_SOLVED_MESSAGE = "nsgs met the tolerance after {} sweeps."


class Nsgs:
    """Sweeps over the blocks, each solved exactly under the *true* Coulomb cone, until the certificate agrees.

    Matrix-free on `Bodies` (cost per sweep linear in the number of blocks), on columns of W for `Dense` and
    `Delassus`. Convergence is linear and depends on the problem: long chains, stacks and large mass ratios take many
    sweeps. Coulomb problems have no convergence proof; an answer is only called solved by its certificate.

    On `Bodies` a first attempt leaves out the contacts that will hardly act, islands are solved apart, large ones in
    cells that several threads sweep at the same time (the result does not depend on their number), contacts of bodies
    in space are taken eight at a time, and sweeps are accelerated by Anderson's method and momentum: piles need three
    to four times fewer. Otherwise, and where it is given, `omega` over-relaxes: each block is solved with its own W
    divided by omega, so that its law still holds exactly and the solution does not move. Where the residual stops
    falling, omega goes down step by step, to 0.05; but a large problem first starts again from half of its impulses:
    jammed piles have solutions that repel sweeps, which then wander for ever from one start and arrive from another.

    When not to use it: small problems to many digits (Lemke, Newton), and tight tolerances on ill-conditioned ones.
    """

    name = "nsgs"

    @checks_arguments
    def __init__(self, maxiter: int = WINDOWS.default_sweeps, omega: float | None = None, accelerate: bool = True):
        self.maxiter = _check.count("maxiter", maxiter)
        self.omega = None if omega is None else _check.number("omega", omega, positive=True)
        self.accelerate = bool(accelerate)

    def refuses(self, problem: ContactProblem) -> str | None:
        """Problems whose Delassus matrix is not symmetric (G ≠ H), or has a negative diagonal."""
        return not_symmetric(problem, self.name)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None,
        accept: float | None = 0.0,
    ) -> Solution:  # fmt: skip
        """Sweep from `p0`, or from the problem's `p_warm`; `maxiter` limits the sweeps (default 10 000).

        accept: sweeps on bodies that would take long end with an error up to this (`acceptance.py`; None: its rule).
        """
        limit = self.maxiter if maxiter is None else _check.count("maxiter", maxiter)
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        start = problem.p_warm if p0 is None else _check.floats("p0", p0, (problem.nr,))
        accepted, strict_rows = acceptance_levels(tol, accept)
        accepted = accepted if problem.nr > ATTEMPT.strict_rows and not problem.elastic else tol
        p, status, message, sweeps = self._iterate(problem, start, tol, limit, (accepted, strict_rows))
        done = finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=sweeps)
        if done.status is Status.ACCEPTED and not done.certificate.ok(accepted):
            return replace(done, status=Status.INACCURATE)
        return done

    def _iterate(
        self, problem: ContactProblem, p: FloatArray, tol: float, limit: int, level: tuple[float, int]
    ) -> tuple[Any, Status, str, int]:
        """Impulses, status, message and number of sweeps.

        Sweeps come in windows. Where one has not helped, steps become shorter: sweeps go in a cycle, which more of them
        would not end. level: the largest error that is accepted, for islands of more than how many rows.
        """
        bodies = isinstance(problem.dynamics, Bodies)
        sweeps_class: Any = BodySweeps if bodies else MatrixSweeps
        accelerate = self.accelerate and bodies and self.omega is None
        omega = 1.0 if accelerate else WINDOWS.omega if self.omega is None else self.omega
        # the associated law is a convex problem, on which sweeps may be slow but do not cycle
        steps = [] if problem.associated else [*WINDOWS.shorter_omegas]
        if not accelerate:
            steps = [1.0, omega, *steps]
        inner = _inner_tolerance(problem, tol) if accelerate else tol
        if accelerate and _at_rest(problem, p, inner):
            return p, Status.SOLVED, _AT_REST_MESSAGE, 0
        bounded = level[0] > tol
        level = level if bounded else (inner, 0)
        run = FirstAttempt(problem, p, level) if accelerate else sweeps_class(problem, p, steps.pop(0), False, level)
        first_window = attempt_limit(problem.nr, bounded, problem.elastic)
        window = first_window if accelerate else WINDOWS.first_sweeps  # the first attempt is that of the compiled loop
        springs = problem.elastic and problem.nr > ATTEMPT.strict_rows
        large = accelerate and (problem.nr > ATTEMPT.few_rows or springs)
        restarts = _restart_shares(problem, springs) if large else iter(())
        best, least_error, sweeps = p, np.inf, 0
        while True:
            outcome, count, error = run.sweep(min(window, limit - sweeps), inner)
            outcome = SOLVED if error <= tol else outcome
            sweeps += count
            p = run.impulses()
            if outcome == NONFINITE or not np.isfinite(p).all():
                message = "The impulses of nsgs grew without bound; the best residual on the way was"
                return best, Status.NONFINITE, f"{message} {least_error:.2e}.", sweeps
            slow = error > WINDOWS.slow_factor * least_error
            if error < least_error:
                best, least_error = p, error
            if outcome == SOLVED:
                return p, Status.SOLVED, _SOLVED_MESSAGE.format(sweeps), sweeps
            if outcome == ACCEPTED:
                return p, Status.ACCEPTED, _ACCEPTED_MESSAGE.format(error, sweeps, tol), sweeps
            if sweeps >= limit or (outcome == STALLED and limit <= first_window):
                message = f"nsgs stopped after {sweeps} sweeps with {_residual(least_error, tol)}"
                return best, Status.MAXITER, message, sweeps
            if outcome == RESTING:
                message = f"nsgs came to rest after {sweeps} sweeps with {_residual(least_error, tol)}"
                return best, Status.INACCURATE, message, sweeps
            shares = next(restarts, None) if outcome == STALLED else None
            if shares is not None:
                run = BodySweeps(problem, shares * p, omega, True, level)
            elif steps and (slow or window == WINDOWS.first_sweeps):
                run, large = sweeps_class(problem, p, steps.pop(0), False, level), False
            elif isinstance(run, FirstAttempt):
                run = BodySweeps(problem, p, omega, True, level)
            window = first_window if large else WINDOWS.window_sweeps


def _restart_shares(problem: ContactProblem, springs: bool) -> Iterator[Any]:
    """The shares of its impulses from which a large problem that has stalled starts again (`parameters.WINDOWS`)."""
    if not springs:
        yield from WINDOWS.restart_shares
        return
    random = np.random.default_rng(problem.nr)  # the same for every run
    yield 0.0
    for _ in range(WINDOWS.restarts_elastic - 1):
        shares = random.uniform(0.0, WINDOWS.most_share_elastic, problem.nk)
        yield np.repeat(shares, np.diff(problem.row_ptr))


def _residual(error: float, tol: float) -> str:
    return f"residual {error:.2e}, above tol = {tol:.0e}."


def solution_from_sweeps(
    problem: ContactProblem, p: FloatArray, level: tuple[float, float | None], sweeps: int | None
) -> Solution:
    """The solution of a problem on bodies from impulses p that the kernels of `Nsgs` have found.

    level: `tol` and `accept` (`acceptance.py`); sweeps: None where the first guess met the tolerance.
    """
    tol, accept = level
    if problem.nr == 0:
        return nothing_to_solve(problem, Nsgs.name, tol)
    message = _AT_REST_MESSAGE if sweeps is None else _SOLVED_MESSAGE.format(sweeps)
    done = finish(problem, p, solver=Nsgs.name, tol=tol, status=Status.SOLVED, message=message, iterations=sweeps or 0)
    if done.success or not done.certificate.ok(largest_accepted(problem.nr, tol, accept)):
        return done
    message = _ACCEPTED_MESSAGE.format(done.certificate.error, sweeps, tol)
    return replace(done, status=Status.ACCEPTED, message=message)


class FirstAttempt:
    """The first attempt on `Bodies`: on the blocks that may act (`first_attempt`), as in the compiled loop."""

    def __init__(self, problem: ContactProblem, p0: FloatArray, level: tuple[float, int]):
        self.problem, self.p, self.level = problem, p0.copy(), level

    def impulses(self) -> FloatArray:
        """The impulses in the rows of the problem."""
        return self.p

    def sweep(self, count: int, tol: float) -> tuple[int, int, float]:
        """Make up to `count` sweeps; returns the outcome, the number of sweeps, and the error."""
        from . import first_attempt as kernels

        problem = self.problem
        dynamics: Any = problem.dynamics
        _, _, nested, _ = _classify(problem)
        attempt = (
            kernels.attempt_planar, kernels.attempt_planar_nested, kernels.attempt_spatial,
            kernels.attempt_spatial_nested,
        )[2 * (dynamics.Minv.shape[1] // 6) + int(nested)]  # fmt: skip
        aim = _aim(problem, tol, self.level, count, True)
        change = np.zeros(dynamics.Minv.shape[:2])
        outcome, sweeps, error, _ = attempt(
            aim, problem.laws, dynamics.body_rows, problem.q, problem.b, problem.map_step, self.p, change
        )
        return int(outcome), int(sweeps), float(error)


class BodySweeps:
    """Sweeps on `Bodies`: the state is one vector per body, no Delassus matrix."""

    def __init__(
        self, problem: ContactProblem, p0: FloatArray, omega: float, accelerate: bool, level: tuple[float, int]
    ):
        from ...runtime.jit import get_num_threads
        from .active_guess import guess_active
        from .prepare import prepare

        dynamics: Any = problem.dynamics
        self.problem, self.accelerate, self.level = problem, accelerate, level
        kind, entry_count, nested, round_cones = _classify(problem)
        active, likely = np.empty(problem.nk, np.bool_), np.empty(problem.nk, np.bool_)
        parallel = get_num_threads() > 1
        guess_active(parallel, problem.laws, problem.q, p0, active, likely)
        self.work = prepare(
            problem.laws, dynamics.body_rows, problem.q, problem.map_step, p0, float(omega), parallel, kind,
            entry_count, round_cones, np.ones(problem.nk, np.bool_), likely,
        )  # fmt: skip
        self.entries, self.T, self.p = self.work.entries, self.work.local.T, self.work.p
        self.kernel = 2 * (dynamics.Minv.shape[1] // 6) + int(nested)

    def impulses(self) -> FloatArray:
        """The impulses in the rows of the problem."""
        return _unpack(self)

    def sweep(self, count: int, tol: float) -> tuple[int, int, float]:
        """Make up to `count` sweeps; returns the outcome, the number of sweeps, and the error."""
        from . import schedule as kernels

        relax = (
            kernels.relax_planar, kernels.relax_planar_nested, kernels.relax_spatial, kernels.relax_spatial_nested,
        )[self.kernel]  # fmt: skip
        aim = _aim(self.problem, tol, self.level, count, self.accelerate)
        outcome, sweeps, error = relax(aim, self.work, self.problem.b)
        return int(outcome), int(sweeps), float(error)


class MatrixSweeps:
    """Sweeps on the columns of W, for `Dense` and `Delassus`; the state is u."""

    def __init__(
        self, problem: ContactProblem, p0: FloatArray, omega: float, accelerate: bool, level: tuple[float, int]
    ):
        from scipy.sparse import csr_array

        from . import packed_rows
        from .local_frames import diagonal_floor, make_frames
        from .order import PHASES
        from .sweep_cell import sweep_matrix, sweep_matrix_nested
        from .sweep_list import list_entries

        dynamics = problem.dynamics
        self.problem = problem
        kind, entry_count, nested, _ = _classify(problem)
        none = np.zeros(problem.nk, np.int64)
        block, entry_kind, ptr, src, seg, gptr, vptr = list_entries(problem.laws, kind, entry_count, none, 1, none, 0)
        ni, rows = len(block), len(src)
        one = np.array([0, rows])  # the rows of all bodies as one island
        self.entries = SweepList(
            np.zeros(2, np.int64), np.zeros((1, PHASES + 1), np.int64), one, seg, entry_kind, block, ptr, src,
            np.zeros(ni, np.int64), np.zeros(ni, np.int64), gptr, vptr,
        )  # fmt: skip
        W: Any = dynamics.W if isinstance(dynamics, Delassus) else dynamics.delassus()
        if isinstance(W, np.ndarray) and rows <= WINDOWS.dense_max_rows:
            W = W[np.ix_(src, src)] + np.diag(problem.C[src])
        else:
            W = csr_array(W)[src][:, src]
            at = np.arange(rows)
            W = csr_array(W + csr_array((problem.C[src], (at, at)), shape=(rows, rows)))
        W_blocks = np.zeros((rows, 6))
        packed_rows.matrix_blocks(ptr, *_columns(W), W_blocks)
        self.T, self.q, self.p = np.zeros((rows, 6)), problem.q[src], p0[src]
        self.local = LocalProblems(
            np.zeros((ni, kinds.PARAMETERS)), np.zeros(rows), np.zeros(rows), self.T, np.zeros((0, 6)),
            np.zeros((int(gptr[-1]), 6)), np.zeros(int(gptr[-1])), np.zeros((int(vptr[-1]), 6)), np.zeros(rows),
        )  # fmt: skip
        W_blocks /= omega
        tiny = diagonal_floor(0, ni, ptr, src, problem.length, W_blocks)
        make_frames(0, ni, tiny, self.entries, self.local, problem.laws, W_blocks, self.q, self.p)
        self.W = _in_frame(W, ptr, self.T)
        self.columns = _columns(self.W)
        self._sweep = sweep_matrix_nested if nested else sweep_matrix

    def impulses(self) -> FloatArray:
        """The impulses in the rows of the problem."""
        return _unpack(self)

    def sweep(self, count: int, tol: float) -> tuple[int, int, float]:
        """Make up to `count` sweeps; returns the outcome, the number of sweeps, and the error.

        The cheap estimate of a sweep only decides when the certificate is computed.
        """
        scale, sweeps, estimate = self.problem.scale, 0, np.inf
        threshold, chunk = tol * scale, 1
        facets = int(np.diff(self.entries.gptr).max(initial=0))
        while True:
            u = self.q + self.W @ self.p
            done, estimate = self._sweep(
                min(chunk, count - sweeps), threshold, self.entries, self.local, *self.columns, u, self.p,
                self.problem.associated, facets,
            )  # fmt: skip
            sweeps, chunk = sweeps + int(done), min(2 * chunk, WINDOWS.certificate_sweeps)
            error = self.problem.certify(self.impulses()).error
            if not error < np.inf:
                return NONFINITE, sweeps, error
            if error <= tol:
                return SOLVED, sweeps, error
            if estimate <= SCHEDULE.floor * scale:
                return RESTING, sweeps, error
            if sweeps >= count:
                return LIMIT, sweeps, error
            if estimate <= threshold:
                threshold = max(0.5 * min(1.0, tol / error) * estimate, SCHEDULE.floor * scale)


def _aim(problem: ContactProblem, tol: float, level: tuple[float, int], limit: int, accelerate: bool) -> Any:
    """The goal of sweeps on bodies; level: as in `Nsgs._iterate`."""
    from ...runtime.jit import get_num_threads
    from .schedule import Aim

    return Aim(float(tol), float(level[0]), level[1], float(problem.scale), limit, get_num_threads() > 1, accelerate)


def _classify(problem: ContactProblem) -> tuple[Any, IntArray, bool, bool]:
    """From `sweep_list.classify`: kinds of the blocks, their numbers of entries, any NESTED, all cones round."""
    from .sweep_list import classify

    kind, entry_count = np.empty(problem.nk, np.int8), np.empty(problem.nk, np.int64)
    nested, round_cones = classify(False, problem.laws, kind, entry_count)
    return kind, entry_count, bool(nested), bool(round_cones)


def _inner_tolerance(problem: ContactProblem, tol: float) -> float:
    from ..rest import inner_tolerance

    return float(inner_tolerance(tol, problem.nr))


def _at_rest(problem: ContactProblem, p: FloatArray, tol: float) -> bool:
    from ..rest import REST, at_rest

    if problem.nr > REST.max_rows or problem.v_start is None:
        return False
    dynamics: Any = problem.dynamics
    bodies = dynamics.Minv.shape[:2]
    error = at_rest(
        tol, problem.scale, problem.laws, dynamics.body_rows, problem.map_step, problem.v_start.reshape(bodies),
        problem.v_free.reshape(bodies), problem.b, p, np.empty(bodies),
    )  # fmt: skip
    return bool(error < np.inf)


def _unpack(run: BodySweeps | MatrixSweeps) -> FloatArray:
    from .packed_rows import unpack

    p = np.zeros(run.problem.nr)
    unpack(0, len(run.entries.block), run.entries.ptr, run.entries.src, run.T, run.p, p)
    return p


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
