"""The springs of elastic contacts in a step, as steps in Python use them; the loops are in `spring_kernels.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..solvers.base import Solution
from ..systems.base import Constraints, State
from ..systems.elastic import (
    CONTACT_STEPS,
    DAMPING,
    KN,
    LEAST_CIRCLE,
    MEMORY,
    MODULUS,
    PATCH,
    RADIUS,
    ZETA,
    has_springs,
)
from .base import StepCertificate
from .steps.records import WarmStart


@dataclass(frozen=True)
class Springs:
    """The springs of a step of length h [s].

    kept (nk, 8): what is known of them at its start; softened: how many are stiffer than the step allows; laws (nk, 8):
    their stiffness and where it comes from, in the columns of `systems/elastic.py`; everywhere: whether every contact
    has one; gravity [m/s²]; unresolved: the first that is to bounce and would end within too few steps, and the time
    that it lasts [s], -1 where there is none.
    """

    h: float
    kept: FloatArray
    softened: int
    laws: FloatArray
    everywhere: bool = True
    gravity: float = 0.0
    unresolved: tuple[int, float] = (-1, 0.0)

    @classmethod
    def placed(
        cls, found: Constraints, dynamics: Any, state: State, h: float, gravity: float, demand: dict[str, Any]
    ) -> Springs:
        """The springs of the constraints `found`, some of which are elastic, put into the `demand` of a step."""
        from .spring_kernels import all_elastic, place_springs
        from .stiffness_kernels import set_stiffness

        assert found.elastic is not None
        nk, nr = len(found.candidates.key), len(found.value)
        kept, C, elastic = np.empty((nk, MEMORY)), demand.setdefault("C", np.zeros(nr)), found.elastic.copy()
        row_ptr, form, key = found.candidates.row_ptr, dynamics.body_rows, found.candidates.key
        diagonal, warm_start = dynamics.delassus_diagonal(row_ptr), WarmStart(state.keys, state.impulses, state.springs)
        v = state.v.reshape(len(dynamics.Minv), -1)
        unresolved, time = set_stiffness(
            h, gravity, form, v, row_ptr, diagonal, found.value, key, warm_start, elastic
        )  # fmt: skip
        softened = place_springs(
            h, elastic, row_ptr, form, diagonal, found.value, key, warm_start, demand["b"], C, kept
        )  # fmt: skip
        everywhere = bool(all_elastic(found.candidates.law, kept))
        return cls(h, kept, int(softened), elastic, everywhere, gravity, (int(unresolved), float(time)))

    @property
    def elastic(self) -> np.ndarray:
        """(nk,) which constraints have a spring."""
        from . import spring_kernels as columns

        return np.asarray(self.kept[:, columns.KT] > 0.0)

    @property
    def by_hertz(self) -> np.ndarray:
        """(nk,) which have the stiffness of Hertz's law, and not that of a patch or of the step."""
        from . import spring_kernels as columns

        kn, modulus = self.laws[:, KN], self.laws[:, MODULUS]
        own = self.kept[:, columns.KN] > (1.0 - 1e-9) * kn
        return np.asarray(self.elastic & (modulus > 0.0) & (kn > modulus * self.laws[:, PATCH]) & own)

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
        return replace(
            certificate, energy=energy, elastic_energy=self._stored(problem, solution, gap, after),
            softened=self.softened, hertz_defect=self._hertz_defect(problem, solution, gap),
        )  # fmt: skip

    def _stored(self, problem: ContactProblem, solution: Solution, gap: FloatArray, after: FloatArray) -> float:
        """½ kn δ² + ½ kt |ξ|² [J], with the stiffness that the step has used; by Hertz's law the work up to δ.

        That is 8/15 E* √R δ^(5/2), and below the load F₀ at which stiffness is least ½ F₀/δ₀ δ²: F₀ δ₀/10 more in all.
        """
        from . import spring_kernels as columns

        # of an open contact, whose feature may be none where the step ends, the gap says nothing
        here = (after[:, columns.KT] > 0.0) & (solution.p[problem.row_ptr[:-1]] > 0.0)
        xi, kt, kn = after[here, columns.XI : columns.XI + 3], after[here, columns.KT], after[here, columns.KN]
        depth = np.maximum(-gap[here], 0.0)
        stored = 0.5 * kn * depth**2
        curve = self.by_hertz[here]
        if curve.any():
            law, load = self.laws[here][curve], self._least_load(problem)[here][curve]
            modulus, radius, deep = law[:, MODULUS], law[:, RADIUS], depth[curve]
            first = (9.0 * load**2 / (16.0 * modulus**2 * radius)) ** (1.0 / 3.0)
            beyond = 8.0 / 15.0 * modulus * np.sqrt(radius) * deep**2.5 + 0.1 * load * first
            stored[curve] = np.where(deep > first, beyond, 0.5 * load / first * deep**2)
        return float(np.sum(stored) + 0.5 * np.sum(kt * np.einsum("ki,ki->k", xi, xi)))

    def _least_load(self, problem: ContactProblem) -> FloatArray:
        """(nk,) the load below which contacts get no softer [N], as in `set_stiffness`."""
        if self.gravity > 0.0:
            form: Any = problem.dynamics
            weight: FloatArray = self.gravity / form.delassus_diagonal(problem.row_ptr)[problem.row_ptr[:-1]]
            return weight
        return 4.0 / 3.0 * self.laws[:, MODULUS] * self.laws[:, RADIUS] ** 2 * LEAST_CIRCLE**3

    def _hertz_defect(self, problem: ContactProblem, solution: Solution, gap: FloatArray) -> float:
        """The largest relative difference of a load from Hertz's law at the overlap, where that law sets the stiffness.

        Of loads above the least that has a stiffness of its own; below it, forces differ by up to 4/27 of that load.
        Without what the damper has: -kn φ with the gap φ at the end of the step that its rows see.
        """
        here = self.by_hertz & (gap < 0.0)
        first = problem.row_ptr[:-1][here]
        kn, c = self.laws[here, KN], self.laws[here, DAMPING]
        b, p, h = problem.b[first], solution.p[first], self.h
        start = np.where(b < 0.0, b * (h * kn + c) / kn, b * h)
        load = np.where(p > 0.0, kn * (p - c * start) / (h * kn + c), 0.0)
        law = 4.0 / 3.0 * self.laws[here, MODULUS] * np.sqrt(self.laws[here, RADIUS]) * (-gap[here]) ** 1.5
        loaded = load > self._least_load(problem)[here]
        return float((np.abs(load - law) / np.maximum(load, law))[loaded].max(initial=0.0))

    def refusal(self, system: Any, problem: ContactProblem) -> str | None:
        """Why a step cannot make a contact bounce as it is to; None where it can."""
        k, time = self.unresolved
        return None if k < 0 else too_short(system.constraint_name(int(problem.key[k])), time, self.h)


def too_short(pair: str, time: float, h: float) -> str:
    """The refusal of a restitution that a step of length h [s] cannot resolve: the contact lasts for `time` [s]."""
    return (
        f"The restitution of {pair} cannot be resolved by the step: the contact lasts for {time:.3g} s, which is less "
        f"than {CONTACT_STEPS} steps of {h:g} s; take dt <= {time / CONTACT_STEPS:.2g} s, a softer contact, or "
        "rigid ones with Moreau()."
    )


def unresolved_restitution(system: Any, h: float) -> str | None:
    """The refusal of a law of springs under which the lightest pair bounces within too few steps; None where none does.

    Of stiffness that is given; that of a material depends on the load, and is looked at where bodies meet.
    """
    if not has_springs(system):
        return None
    laws = system.laws.elastic
    light = np.where(system.moves, 1.0 / np.where(system.moves, system.mass_of, 1.0), 0.0)
    for number in np.flatnonzero((laws[:, KN] > 0.0) & (laws[:, KN] < np.inf) & (laws[:, ZETA] >= 0.0)).tolist():
        pairs = [divmod(int(key), system.nb) for key in system.laws.pair[system.laws.by_pair == number]]
        for i, j in np.argwhere(system.laws.by_material == number).tolist():
            made_of = (np.unique(system.shape_body[system.shape_material == m]) for m in (i, j))
            one, other = (bodies[np.argsort(-light[bodies], kind="stable")[:2]].tolist() for bodies in made_of)
            pairs += [(a, b) for a in one for b in other if a != b]
        pairs = [pair for pair in pairs if light[pair[0]] + light[pair[1]] > 0.0]
        if pairs:
            a, b = max(pairs, key=lambda pair: light[pair[0]] + light[pair[1]])
            time = float(np.pi / np.sqrt(laws[number, KN] * (light[a] + light[b])))
            if time < CONTACT_STEPS * h:
                return too_short(f"{system.names[a]!r} and {system.names[b]!r}", time, h)
    return None
