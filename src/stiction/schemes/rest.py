"""Bodies at rest: what a law holds gets the velocity zero exactly, and stays where it is to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.certificate import certify
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Bodies
from ..solvers.base import Solution
from ..systems.base import System


def at_rest(problem: ContactProblem, solution: Solution, tol: float) -> tuple[Solution, np.ndarray | None]:
    """The solution of a step with bodies at rest that its impulses hold (`solvers/held.py`), and which these are (nb,).

    Impulses that a solver has found leave such bodies a velocity that is round-off or a small part of the tolerance. To
    go on with it would add up to a creep that the law excludes. With zero in its place the laws must still be met to
    `tol`, and the velocity that is given up, |v - v_free - M⁻¹ Gᵀ p|, is the certificate's `dynamics`. None where no
    body is held.
    """
    form: Any = problem.dynamics
    f = problem.friction
    if not (solution.success and isinstance(form, Bodies) and problem.nr) or len(f.varying) or f.written:
        return solution, None
    from ..solvers.held import come_to_rest
    from ..solvers.nsgs_rest import inner_tolerance

    v, held = solution.v.copy(), np.empty(len(form.Minv), dtype=np.bool_)
    error = come_to_rest(
        float(inner_tolerance(tol, problem.nr)), problem.scale, problem.laws, form.body_rows, problem.rho, problem.b,
        solution.p, v.reshape(len(held), -1), held,
    )  # fmt: skip
    if not error < np.inf:
        return solution, None
    certificate, modes, u = certify(problem, solution.p, v=v)
    return replace(solution, v=v, u=u, modes=modes, certificate=certificate), held


def stay(system: System, q: FloatArray, old: FloatArray, held: np.ndarray) -> FloatArray:
    """The configuration q with the bodies `held` (nb,) where they are in `old`, to the bit."""
    model: Any = system
    kept = q.copy()
    model.bodies(kept)[held] = model.bodies(old)[held]
    return np.asarray(model.counted(q, kept, np.zeros(model.nv)))
