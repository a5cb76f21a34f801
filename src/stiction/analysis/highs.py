"""HiGHS' mixed-integer solver, through `scipy.optimize.milp`, with what it says put in plain terms."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .._check import FloatArray


@dataclass(frozen=True)
class Answer:
    """x or None; its value; the bound that no solution beats; whether x is optimal, or none exists; nodes searched."""

    x: FloatArray | None
    value: float
    bound: float
    optimal: bool
    infeasible: bool
    nodes: int


def solve_milp(
    cost: FloatArray, whole: FloatArray, low: FloatArray, top: FloatArray, rows: FloatArray, lo: FloatArray,
    hi: FloatArray, *, seconds: float, gap: float = 1e-9,
) -> Answer:  # fmt: skip
    """Minimise cost·x over low <= x <= top, lo <= rows x <= hi, x whole where `whole` is 1, to a relative `gap`."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    with _silent():
        found = milp(
            cost, integrality=whole, bounds=Bounds(low, top), constraints=LinearConstraint(csr_matrix(rows), lo, hi),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": gap},
        )  # fmt: skip
    bound = getattr(found, "mip_dual_bound", None)
    return Answer(
        found.x, np.inf if found.x is None else float(found.fun),
        float(bound) if bound is not None and np.isfinite(bound) else -np.inf,
        found.status == 0, found.status == 2, int(getattr(found, "mip_node_count", 0) or 0),
    )  # fmt: skip


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing on standard output meanwhile: HiGHS prints a remark there that no option turns off."""
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
