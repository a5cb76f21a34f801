"""The springs of elastic contacts in a step, as steps in Python use them; the loops are in `spring_kernels.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..solvers.base import Solution
from ..systems.base import Constraints, State
from ..systems.elastic import MEMORY
from .base import StepCertificate
from .steps.records import WarmStart


@dataclass(frozen=True)
class Springs:
    """The springs of a step of length h [s].

    kept (nk, 8): what is known of them at its start; softened: how many are stiffer than the step allows; everywhere:
    whether every contact has one.
    """

    h: float
    kept: FloatArray
    softened: int
    everywhere: bool = True

    @classmethod
    def placed(cls, found: Constraints, dynamics: Any, state: State, h: float, demand: dict[str, Any]) -> Springs:
        """The springs of the constraints `found`, some of which are elastic, put into the `demand` of a step."""
        from .spring_kernels import all_elastic, place_springs

        nk, nr = len(found.candidates.key), len(found.value)
        kept, C = np.empty((nk, MEMORY)), demand.setdefault("C", np.zeros(nr))
        row_ptr = found.candidates.row_ptr
        softened = place_springs(
            h, found.elastic, row_ptr, dynamics.body_rows, dynamics.delassus_diagonal(row_ptr), found.value,
            found.candidates.key, WarmStart(state.keys, state.impulses, state.springs), demand["b"], C, kept,
        )  # fmt: skip
        return cls(h, kept, int(softened), bool(all_elastic(found.candidates.law, kept)))

    @property
    def elastic(self) -> np.ndarray:
        """(nk,) which constraints have a spring."""
        from .spring_kernels import KT

        return np.asarray(self.kept[:, KT] > 0.0)

    def remembered(self, problem: ContactProblem, solution: Solution, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """(nk, 8) what the contacts remember of a step from q0 to q1 (nb, 3|7)."""
        from .spring_kernels import settle_springs

        form: Any = problem.dynamics
        after = self.kept.copy()
        v = solution.v.reshape(len(form.Minv), -1)
        settle_springs(self.h, problem.laws, form.body_rows, solution.p, v, q0, q1, after)
        return after

    def booked(
        self, certificate: StepCertificate, old: State, problem: ContactProblem, solution: Solution, gap: FloatArray,
        after: FloatArray,
    ) -> StepCertificate:  # fmt: skip
        """The certificate with the springs in its books: what slip takes is friction, the rest of their work theirs.

        old: the state before the step; gap (nk,) at its end [m]; after (nk, 8): what is remembered of it.
        """
        form: Any = problem.dynamics
        spring = np.repeat(self.elastic, np.diff(problem.row_ptr)) & (problem.C > 0.0)
        spring[problem.row_ptr[:-1]] = False  # the tangents
        mean = np.where(form.prescribed, solution.v, 0.5 * (old.v + solution.v))
        work = float(np.sum((solution.p * form.velocity_rows(mean))[spring]))
        lost = min(0.0, float(np.sum((solution.p * solution.u)[spring])))
        energy = certificate.energy
        energy = replace(energy, friction=energy.friction + lost - work, springs=energy.springs + work - lost)
        return replace(certificate, energy=energy, elastic_energy=self._stored(gap, after), softened=self.softened)

    def _stored(self, gap: FloatArray, after: FloatArray) -> float:
        """½ kn δ² + ½ kt |ξ|² [J], with the stiffness that the step has used."""
        from .spring_kernels import KN, KT, XI

        here = after[:, KT] > 0.0
        xi, kt, kn = after[here, XI : XI + 3], after[here, KT], after[here, KN]
        return 0.5 * float(np.sum(kn * np.minimum(gap[here], 0.0) ** 2 + kt * np.einsum("ki,ki->k", xi, xi)))
