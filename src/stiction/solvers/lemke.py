"""Lemke's method on the polyhedral LCP: exact, for up to a few hundred unknowns (st96 §3.2, §4)."""

from __future__ import annotations

from typing import NamedTuple

from .. import lcp as _lcp
from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from .base import Solution, finish, nothing_to_solve


class LemkeParameters(NamedTuple):
    """Lemke's method."""

    dense_max_rows: int = 3000
    """Size of a problem up to which the dense matrix of its LCP is made."""


LEMKE = LemkeParameters()


def polyhedral_only(problem: ContactProblem, name: str) -> str | None:
    """The refusal of solvers that need the friction sets to be polyhedra."""
    if problem.friction.is_polyhedral():
        return None
    return (
        f"{name} solves linear complementarity problems, and this problem has smooth friction cones; "
        "replace them by polyhedra with problem.polyhedral(directions)."
    )


class Lemke:
    """Pivots along one path to a solution; finite, exact to round-off, cubic in the number of unknowns.

    When not to use it: more than a few hundred unknowns, smooth friction cones, or when every solution is wanted.
    """

    name = "lemke"

    def refuses(self, problem: ContactProblem) -> str | None:
        """Smooth friction cones, and problems whose dense matrix would not fit."""
        limit = LEMKE.dense_max_rows
        if problem.nr > limit:
            return f"lemke works on a dense matrix; {problem.nr} rows are more than its limit of {limit}."
        return polyhedral_only(problem, self.name)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Pivot to a solution. `maxiter` limits the pivots; a first guess has no use here."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        form = problem.to_lcp()
        M, q, covering, unit = form.in_units()
        result = _lcp.lemke(M, q, free=form.free, covering=covering, maxiter=maxiter)
        return finish(
            problem, form.impulses(unit * result.z), solver=self.name, tol=tol, status=result.status,
            message=result.message, iterations=result.pivots,
        )  # fmt: skip
