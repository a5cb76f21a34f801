"""`stiction solve`: contact problems from files, solved by one or several solvers, certified and timed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from ..errors import ModelError
from ..problem import Bodies, ContactProblem, Delassus, Dense, read_fclib
from ..solvers import SOLVERS, make_solver
from ..status import Status
from .output import console, output_folder, write_json

PROBLEM_ENDINGS = (".hdf5", ".h5", ".dat")
REPEAT_MAX_S = 10.0  # s: a solve that took longer is not repeated
REPEATS_TOTAL_S = 0.5  # s: solves are repeated up to five times while they take less than this together


@dataclass
class Measurement:
    """One solver on one problem. `residual` is the certificate's natural map (FCLIB's measure), None when refused."""

    file: str
    solver: str
    contacts: int
    iterations: int
    residual: float | None
    seconds: float | None
    success: bool
    status: str
    by: str  # the solver that made the answer: another one where `auto` chose
    message: str


def solve_files(
    paths: Sequence[Path], solver: str, tol: float, maxiter: int | None, json: Path | None, out: Path | None
) -> bool:
    """Run the solvers on the files; whether every problem was solved by one of them."""
    names = solver_names(solver)
    tol = _check.number("--tol", tol, positive=True)
    if maxiter is not None:
        _check.count("--maxiter", maxiter)
    files = problem_files(paths)
    folder = None if out is None else output_folder(out)
    if json is not None:
        write_json(json, [])  # fail before the work, not after it
    screen = console()
    with screen.status("reading"):
        problems = {file: read_fclib(file) for file in files}
    short = _short_names(files)
    table = _Table(max(len(s) for s in short.values()), max(len(n) for n in names))
    table.head()
    rows: list[Measurement] = []
    try:
        for file, problem in problems.items():
            taken = False
            for name in names:
                with screen.status(f"{short[file]}: {name}"):
                    row = measure(problem, name, file=str(file), tol=tol, maxiter=maxiter)
                rows.append(row)
                if solver != "all" or row.status != Status.REFUSED:
                    taken = True
                    table.row(short[file], row)
            if not taken:  # by none of all solvers: the reason of the last one, auto
                table.row(short[file], rows[-1])
    finally:  # an interrupted run keeps what it has done
        if json is not None:
            write_json(json, [asdict(row) for row in rows])
    solved = {row.file for row in rows if row.success}
    _summary(rows, names, len(files), tol)
    if folder is not None and len(names) > 1:
        from ..view.profiles import plot_profile

        times = {n: [row.seconds if row.success else None for row in rows if row.solver == n] for n in names}
        path = folder / "profile.png"
        plot_profile(times, path=path, title=f"{len(files)} problems, residual ≤ {tol:.0e}")
        screen.print(f"figure {path}", highlight=False, soft_wrap=True)
    return len(solved) == len(files)


def solver_names(text: str) -> list[str]:
    """The solvers named by `all` or by a list with commas."""
    if text == "all":
        return list(SOLVERS)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ModelError(f"--solver must be all, or names of {', '.join(SOLVERS)}.")
    return list(dict.fromkeys(_check.choice("--solver", name, ["all", *SOLVERS]) for name in names))


def problem_files(paths: Sequence[Path]) -> list[Path]:
    """The files, with each folder replaced by the problem files in it."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.suffix in PROBLEM_ENDINGS and p.is_file())
        if not inside:
            raise ModelError(f"the folder {path} holds no file that ends in {', '.join(PROBLEM_ENDINGS)}.")
        found += inside
    return list(dict.fromkeys(found))


def measure(
    problem: ContactProblem,
    solver: str,
    *,
    file: str,
    tol: float,
    maxiter: int | None = None,
    cpu: bool = False,
) -> Measurement:
    """Solve and time without compilation: after a tiny problem of the same kind, the fastest of two to five runs.

    A run of more than 10 s is not repeated. With `cpu`, solves of more than 0.1 s are counted in CPU seconds, for a
    machine that does other things too (shorter ones are not: CPU clocks can be coarse). Success means that the
    residual, the certificate's natural map, is at most `tol`.
    """
    chosen = make_solver(solver)
    contacts = int((problem.law == 1).sum())
    reason = chosen.refuses(problem)
    if reason is not None:
        return Measurement(file, solver, contacts, 0, None, None, False, str(Status.REFUSED), solver, reason)
    small = tiny(problem)
    if chosen.refuses(small) is None:
        chosen.solve(small, tol=tol, maxiter=maxiter)
    runs: list[float] = []
    while len(runs) < 2 or (len(runs) < 5 and sum(runs) < REPEATS_TOTAL_S):
        chosen = make_solver(solver)
        start, start_cpu = time.perf_counter(), time.process_time()
        answer = chosen.solve(problem, tol=tol, maxiter=maxiter)
        spent = time.process_time() - start_cpu
        runs.append(spent if cpu and spent > 0.1 else time.perf_counter() - start)
        if runs[-1] > REPEAT_MAX_S:
            break
    residual = answer.certificate.natural_map
    finite = bool(np.isfinite(residual))
    return Measurement(
        file,
        solver,
        contacts,
        answer.iterations,
        residual if finite else None,
        min(runs),
        finite and residual <= tol,
        str(answer.status),
        answer.solver,
        answer.message,
    )


def tiny(problem: ContactProblem) -> ContactProblem:
    """A problem of a few rows on the same form, with one block of each kind: it runs the same compiled kernels."""
    sizes = np.diff(problem.row_ptr)
    kinds = np.column_stack([problem.law, sizes, problem.friction.kind[problem.friction.set_of]])
    blocks = np.sort(np.unique(kinds, axis=0, return_index=True)[1])
    row_ptr = np.concatenate([[0], np.cumsum(sizes[blocks])]).astype(np.int64)
    n = int(row_ptr[-1])
    dynamics: Any
    if isinstance(problem.dynamics, Bodies):
        d = problem.dynamics.Minv.shape[1]
        J = np.vstack([np.eye(d)[: k % (d + 1)] for k in sizes[blocks]]) if len(blocks) else np.zeros((0, d))
        ones = np.zeros(len(blocks), dtype=np.int64)
        dynamics = Bodies(ones, ones - 1, J, np.zeros_like(J), np.eye(d)[None], row_ptr)
    elif isinstance(problem.dynamics, Dense):
        dynamics = Dense(np.eye(n), np.eye(n))
    else:
        W = problem.dynamics.W
        dynamics = Delassus(np.eye(n) if isinstance(W, np.ndarray) else _sparse_eye(n))
    rows = np.concatenate([np.arange(problem.row_ptr[k], problem.row_ptr[k + 1]) for k in blocks] or [np.zeros(0, int)])
    return ContactProblem(
        dynamics,
        row_ptr=row_ptr,
        law=problem.law[blocks],
        friction=problem.friction.take(blocks),
        b=-np.ones(n),
        r0=problem.r0[blocks],
        lo=problem.lo[rows],
        hi=problem.hi[rows],
        associated=problem.associated,
    )


def _sparse_eye(n: int) -> Any:
    from scipy.sparse import eye

    return eye(n, format="csr")


def _short_names(files: Sequence[Path]) -> dict[Path, str]:
    """File names alone, where they are different."""
    names = [f.name for f in files]
    return {f: f.name if names.count(f.name) == 1 else str(f) for f in files}


class _Table:
    """Rows that are printed as they come, in columns that line up."""

    def __init__(self, file: int, solver: int):
        self.form = f"{{:<{max(file, 4)}}}  {{:>8}}  {{:<{max(solver, 6)}}}  {{:>10}}  {{:>8}}  {{:>9}}  "
        self.screen = console()

    def _print(self, text: str, status: str, colour: str) -> None:
        from rich.text import Text

        self.screen.print(Text(text) + Text(status, style=colour), soft_wrap=True)

    def head(self) -> None:
        columns = ("file", "contacts", "solver", "iterations", "residual", "seconds")
        self._print(self.form.format(*columns), "status", "default")

    def row(self, name: str, m: Measurement) -> None:
        residual = "-" if m.residual is None else f"{m.residual:.1e}"
        seconds = "-" if m.seconds is None else f"{m.seconds:.4f}" if m.seconds < 1 else f"{m.seconds:.2f}"
        status = m.status if m.by == m.solver else f"{m.status} by {m.by}"
        colour = "green" if m.success else "dim" if m.status == Status.REFUSED else "red"
        counted = "-" if m.residual is None else str(m.iterations)
        self._print(self.form.format(name, m.contacts, m.solver, counted, residual, seconds), status, colour)


def _summary(rows: Sequence[Measurement], names: Sequence[str], files: int, tol: float) -> None:
    screen = console()
    screen.print(
        f"\nsolved to residual <= {tol:.0e} (the natural map of the certificate, relative to the free velocity), "
        f"of {files} problem{'s' if files > 1 else ''}:",
        highlight=False,
        soft_wrap=True,
    )
    width = max(len(n) for n in names)
    for name in names:
        mine = [row for row in rows if row.solver == name]
        refused = sum(row.status == Status.REFUSED for row in mine)
        note = f"   ({refused} refused)" if refused else ""
        screen.print(f"  {name:<{width}}  {sum(row.success for row in mine):>4}{note}", highlight=False)
    screen.print(
        "seconds: the fastest of two to five runs, without compilation; one run where it took over 10 s", style="dim"
    )
