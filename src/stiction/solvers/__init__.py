"""Solvers for contact problems, by name, and `solve` in front of them.

The files, from the outside in:

    base, front, acceptance      what a solver takes and returns; `answer` in front of all; errors that are accepted
    coefficients, speed_newton   coefficients that depend on the speed of slip, with any solver inside
    refine, natural_newton       friction sets written in Python, with any solver inside
    auto, islands                which solver is tried when; parts that do not act on each other
    lemke, enumeration           one solution, or all, of the polyhedral LCP
    conic, conic_form            the convex relaxation by interior points; fixed_point: Coulomb's law by relaxations
    apgd, apgd_kernels           the convex relaxation by gradients
    newton, proximal             Newton's method, alone and in proximal steps: equations in newton_steps, linear algebra
                                 in newton_forms and newton_kernels, laws and their derivatives in response
    nsgs, nsgs_*                 block Gauss–Seidel, below
    rest                         whether the first guess is the answer; bodies that the laws hold at rest

Block Gauss–Seidel on bodies, as a problem passes through it:

    nsgs                         windows of sweeps, shorter steps, other starts; sweeps on a matrix
    nsgs_near, nsgs_marks        the first attempt, on contacts that may act: what the compiled loop calls
    nsgs_prepare                 all that is made once: items (nsgs_items) in order (nsgs_order), rows (nsgs_forms,
                                 nsgs_arms), frames (nsgs_setup) and packs of eight (nsgs_lanes)
    nsgs_records, nsgs_kinds     its records; kinds of items, and the columns of their numbers
    nsgs_relax, nsgs_ends        rounds of sweeps and the rules that stop them; outcomes, and limits shared with others
    nsgs_islands, nsgs_kernels   a sweep over an island, over a cell; nsgs_local, nsgs_nested: over one block
    nsgs_accelerate              sweeps combined with those before
    nsgs_measure                 the error of an island
    nsgs_polish, nsgs_newton     Newton's method on a small island
"""

from __future__ import annotations

from .. import _check
from .._check import FloatArray
from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from .apgd import Apgd
from .auto import Auto
from .base import Solution, Solver
from .conic import Conic
from .enumeration import Enumeration
from .fixed_point import FixedPoint
from .front import answer
from .lemke import Lemke
from .newton import Newton
from .nsgs import Nsgs
from .proximal import Proximal

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
    "answer",
    "make_solver",
    "solve",
]

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
    return answer(chosen, problem, tol=tol, maxiter=maxiter, p0=p0)
