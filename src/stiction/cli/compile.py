"""Compiles the solver's kernels in a process of its own, while this one compiles those that find contacts.

Before the very first run both take a minute, and neither needs the other: they meet in the cache on disk.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def solver_compiled_beside(dim: int) -> Iterator[None]:
    """For worlds of this dimension; where there is nothing to compile, or one core only, it does nothing."""
    process = _start(dim)
    try:
        yield
        if process is not None:
            process.wait()
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()


def _start(dim: int) -> subprocess.Popen[bytes] | None:
    from ..runtime.jit import compiled
    from ..solvers.gauss_seidel.schedule import relax_planar, relax_spatial

    if compiled(relax_spatial if dim == 3 else relax_planar) or (os.cpu_count() or 1) < 2 or not sys.executable:
        return None
    command = [sys.executable, "-P", "-m", "stiction.cli.compile", str(dim)]  # -P: not from the present folder
    try:
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:
        return None
    if sys.stderr.isatty():  # this process may have nothing to compile, and would wait in silence
        print("stiction: compiling the solver in a second process (once; the result is cached)", file=sys.stderr)
    return process


def solve_something(dim: int) -> bool:
    """A body slides on the ground: the solver compiles what it needs for any world of this dimension."""
    from ..problem.contact_problem import ContactProblem
    from ..problem.dynamics import Bodies
    from ..problem.laws import UNILATERAL
    from ..solvers import Nsgs

    size = 6 if dim == 3 else 3
    row_ptr, ground = np.array([0, dim]), np.array([-1])
    rows = np.eye(dim, size)[[dim - 1, *range(dim - 1)]]  # the normal is the last axis
    form = Bodies(np.array([0]), ground, rows, np.zeros_like(rows), np.eye(size)[None], row_ptr)
    v = np.zeros(size)
    v[0], v[dim - 1] = 1.0, -0.5
    problem = ContactProblem(form, v_free=v, b=np.zeros(dim), row_ptr=row_ptr, law=[UNILATERAL], friction=[0.5])
    return Nsgs().solve(problem).success


if __name__ == "__main__":
    solve_something(int(sys.argv[1]))
