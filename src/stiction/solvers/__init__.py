"""Solvers for contact problems, by name, and `solve` in front of them.

base, acceptance     what a solver takes and returns; errors that are accepted
any_law/             `solve_any_law` in front of every solver: laws that none knows, with any of them inside
auto, islands        which solver is tried when; parts of a problem that do not act on each other
gauss_seidel/        `nsgs`: block Gauss–Seidel, for large problems
newton/              `newton`, and `proximal`, its proximal steps
conic, conic_form    the convex relaxation by interior points
apgd, apgd_kernels   the convex relaxation by gradients
fixed_point          Coulomb's law by a sequence of relaxations
lemke, enumeration   one solution, or all, of the polyhedral LCP
rest                 whether the first guess is a solution; bodies that the laws hold at rest
"""

from __future__ import annotations

import warnings
from typing import Any

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from .any_law.solve import solve_any_law
from .apgd import Apgd
from .auto import Auto
from .base import Solution, Solver
from .conic import Conic
from .enumeration import Enumeration
from .fixed_point import FixedPoint
from .gauss_seidel.nsgs import Nsgs
from .lemke import Lemke
from .newton.newton import Newton
from .newton.proximal import Proximal

__all__ = [
    "SOLVERS",
    "Apgd",
    "Auto",
    "Conic",
    "Enumeration",
    "FixedPoint",
    "Lemke",
    "Newton",
    "Nsgs",
    "Proximal",
    "Solution",
    "Solver",
    "make_solver",
    "solve",
    "solve_any_law",
]

# every solver by its name
SOLVERS: dict[str, type] = {
    s.name: s for s in (Lemke, Enumeration, Nsgs, Apgd, Newton, Conic, Proximal, FixedPoint, Auto)
}


def make_solver(solver: str | Solver) -> Solver:
    """A solver by its name, or the solver itself."""
    if isinstance(solver, str):
        made: Solver = SOLVERS[_check.choice("solver", solver, list(SOLVERS))]()
        return made
    if not (hasattr(solver, "solve") and hasattr(solver, "refuses")):
        raise ModelError(f"solver must be a name or an object with solve and refuses; got {type(solver).__name__}.")
    return solver


def solve(
    problem: ContactProblem,
    solver: str | Solver = "auto",
    *,
    tol: float = 1e-8,
    maxiter: int | None = None,
    p0: FloatArray | None = None,
) -> Solution:
    """Solve a contact problem to a certificate error of at most `tol`.

    Returns a `Solution` with its certificate whether or not it succeeded (`.success`, `.status`, `.message`); a
    solver that does not take problems of this kind raises `ModelError` with the reason.
    """
    if not isinstance(problem, ContactProblem):
        raise ModelError(f"problem must be a ContactProblem; got {type(problem).__name__}.")
    chosen = make_solver(solver)
    tol = _check.number("tol", tol, positive=True)
    reason = chosen.refuses(problem)
    if reason is not None:
        raise ModelError(reason)
    p0 = None if p0 is None else _check.floats("p0", p0, (problem.nr,))
    return solve_any_law(chosen, problem, tol=tol, maxiter=maxiter, p0=p0)


def __getattr__(name: str) -> Any:
    """Old spellings of names of this module."""
    if name == "answer":
        warnings.warn("solvers.answer is now solvers.solve_any_law.", DeprecationWarning, stacklevel=2)
        return solve_any_law
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
