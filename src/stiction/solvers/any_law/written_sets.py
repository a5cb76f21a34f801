"""Friction sets written in Python, solved by solvers that know polyhedra.

Each such block gets a polyhedron with vertices on the boundary of its set. The solver solves the problem with
polyhedra; Newton's method on the true natural map (`natural_newton`) starts from there; and the certificate, which
judges by the true sets, decides. Where it is missed, the polyhedra get the vertices that the solution asked for: the
support point of the slip velocity found, and the boundary point in the direction of the friction found. A polyhedron
that has the true friction among its vertices gives the true solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._check import FloatArray
from ...friction.convex import ConvexSet
from ...friction.polyhedra import Polyhedral
from ...problem.certificate import certify
from ...problem.contact_problem import ContactProblem
from ...problem.laws import UNILATERAL
from ...status import Status
from ..base import Solution, finish
from .natural_newton import refine_by_newton
from .parameters import WRITTEN_SETS

Inner = Callable[[ContactProblem, float, FloatArray | None], Solution]


class Polyhedron:
    """The polyhedron inside one block's set, which grows where it is asked to."""

    def __init__(self, friction: ConvexSet):
        self.friction = friction
        self.base = friction.directions(friction.rows, WRITTEN_SETS.base_directions)
        self.extra: list[FloatArray] = []

    def refine(self, u: FloatArray, f: FloatArray) -> None:
        """Add the vertices for slip u and friction f."""
        if u.any():
            self._add(self.friction.support_point(-u))
        if f.any():
            self._add(f / self.friction.gauge(f))

    def _add(self, vertex: FloatArray) -> None:
        vertices = np.vstack([self.base, *self.extra])
        if np.abs(vertices - vertex).max(axis=1).min() > WRITTEN_SETS.same_vertex_share * np.abs(vertex).max():
            self.extra = [*self.extra[-WRITTEN_SETS.kept_vertices + 1 :], vertex]

    def as_set(self) -> Polyhedral:
        """The set for the solvers."""
        return Polyhedral(self.friction.slope, directions=np.vstack([self.base, *self.extra]))


def refine_polyhedra(
    problem: ContactProblem, inner: Inner, *, tol: float, p0: FloatArray | None, name: str
) -> Solution:
    """The solution by `inner` (problem, tol, first guess), which takes polyhedra, where sets are written in Python."""
    table = problem.friction
    friction_rows = {
        k: slice(problem.row_ptr[k] + (problem.law[k] == UNILATERAL), problem.row_ptr[k + 1]) for k in table.written
    }
    polyhedra: dict[int, Polyhedron] = {}
    for k, rows in friction_rows.items():
        friction = table.sets[table.set_of[k]]
        assert isinstance(friction, ConvexSet)
        polyhedra[k] = Polyhedron(friction)
        if p0 is not None:
            polyhedra[k].refine(np.zeros(friction.rows), p0[rows])
    iterations = steps = number = stalled = 0
    p, best, least = p0, np.zeros(problem.nr), np.inf
    while number < WRITTEN_SETS.max_rounds:
        number += 1
        sets = {k: polyhedron.as_set() for k, polyhedron in polyhedra.items()}
        found = inner(problem.replace(friction=table.with_polyhedra(sets), v_start=problem.v_start), tol, p)
        iterations += found.iterations
        certificate, _, u = certify(problem, found.p)
        p = found.p
        if not certificate.ok(tol) and np.isfinite(p).all():
            p, more = refine_by_newton(problem, p, tol)
            steps += more
            certificate, _, u = certify(problem, p)
        stalled = 0 if certificate.error < 0.5 * least else stalled + 1
        if certificate.error < least:
            best, least = p, certificate.error
        if certificate.ok(tol) or not np.isfinite(p).all() or stalled == WRITTEN_SETS.stalled_rounds:
            break
        for k, rows in friction_rows.items():
            polyhedra[k].refine(u[rows], p[rows])
            polyhedra[k].refine(found.u[rows], found.p[rows])
    status = Status.SOLVED if least <= tol else found.status if not found.success else Status.NOT_CONVERGED
    message = (
        f"{found.message} Friction sets written in Python: {number} polyhedral problem{'s' * (number > 1)} and {steps} "
        f"Newton step{'s' * (steps != 1)}, to a residual of {least:.2e}."
    )
    return finish(problem, best, solver=name, tol=tol, status=status, message=message, iterations=iterations + steps)
