"""A contact problem in parts that do not act on each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import IntArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies, Delassus, Dense


def split(problem: ContactProblem, label: IntArray) -> list[tuple[IntArray, ContactProblem]]:
    """The rows (n,) of each island and its own problem; `label` (nk,) as `problem.islands()` gives it."""
    count = int(label.max(initial=-1)) + 1
    if count <= 1:
        return [(np.arange(problem.nr), problem)] if problem.nk else []
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=count))[:-1]
    return [part(problem, blocks) for blocks in np.split(order, ends) if len(blocks)]


def part(problem: ContactProblem, blocks: IntArray) -> tuple[IntArray, ContactProblem]:
    """The rows of some blocks, and the problem of these blocks alone (the impulses of all others zero)."""
    sizes = np.diff(problem.row_ptr)[blocks]
    row_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.repeat(problem.row_ptr[blocks] - row_ptr[:-1], sizes) + np.arange(row_ptr[-1])
    form: Any = problem.dynamics
    v_free, b = problem.v_free, problem.b[rows]
    if isinstance(form, Bodies):
        dynamics: Any = Bodies.trusted(
            form.body_a[blocks], form.body_b[blocks], form.Ja[rows], form.Jb[rows], form.Minv, row_ptr
        )
    elif isinstance(form, Dense):
        dynamics = Dense(form.M, form.H[rows], form.G[rows] if form.G is not form.H else None, check=False)
    else:
        W = form.W[rows]
        dynamics = Delassus(W[:, rows])
        v_free = np.zeros(0)
    return rows, ContactProblem(
        dynamics, v_free=v_free, b=b, row_ptr=row_ptr, law=problem.law[blocks], friction=problem.friction.take(blocks),
        r0=problem.r0[blocks], C=problem.C[rows], lo=problem.lo[rows], hi=problem.hi[rows],
        associated=problem.associated, length=problem.length[rows], key=problem.key[blocks], kind=problem.kind[blocks],
        p_warm=problem.p_warm[rows], measure=problem.measure,
    )  # fmt: skip
