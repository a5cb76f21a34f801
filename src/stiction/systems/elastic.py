"""Elastic contact: a spring behind the normal row, and a spring with a memory behind the rows of slip.

With the gap φ, its rate u_n, the velocity of slip u_t and the elastic displacement ξ of the tangents, the law is that
of Cundall and Strack (1979),

    λ_n = max(0, -kn φ - c u_n)        λ_t = -kt ξ, of which the part beyond the friction set slips: λ_t ∈ mu λ_n F

with ξ' = u_t in stick and ξ = -λ_t/kt in slip. A step of length h takes it at its end. Then p = h λ solves rows of the
complementarity problem,

    0 <= p_n ⟂ u_n + b_n + C_n p_n >= 0                   C_n = 1/(h (h kn + c))      b_n = kn φ/(h kn + c)
    friction of maximum dissipation for u_t + ξ/h + C_t p_t                           C_t = 1/(h² kt)

A gap that is still open, φ > 0, has b_n = φ/h. Nothing is remembered of the normal: a memory there would be integral
action, which shakes tall piles. What is remembered of the tangents is a displacement and not an impulse: a memory of
impulses would integrate the solver's errors, and what rests on a slope would creep.

**Stiffness of the step.** The rows of a contact are well conditioned while its own W = H M⁻¹ Hᵀ is not much larger than
C. So C is at least W/`NEAR_RIGID` (as in the near-rigid limit of Drake's SAP solver), and a stiffer contact is as stiff
as the step allows: it gives way by about g h²/`NEAR_RIGID` under the weight of the lighter body, a quarter of a
micrometre at 5 ms.

**Transport.** ξ is a vector in space. It turns with the pair: by the mean rotation of both bodies in the step, and then
by the least rotation that takes the normal, turned so, to the normal that the contact has. A pair that turns as a rigid
body keeps ξ, and so its forces, to round-off; a ball that rolls keeps it along its path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import _check

NEAR_RIGID = 1000.0  # W/C at most: sweeps solve piles of thousands to 1e-6 up to here, and fail at ten times as much
MINDLIN = 6.0 / 7.0  # kt/kn of spheres of Poisson's ratio 1/4: 2 (1 - ν)/(2 - ν)
RIGID_ROW = (math.inf, math.inf, 0.0)
MEMORY = 8  # numbers that a contact remembers: ξ (3), the normal it belongs to (3), and its stiffness kt and kn


def has_springs(system: object) -> bool:
    """Whether a system has elastic contacts."""
    return getattr(getattr(system, "laws", None), "elastic", None) is not None


@dataclass(frozen=True)
class Elastic:
    """How a contact deforms: kn, kt, stiffness along the normal and the tangents [N/m]; damping of the normal [N s/m].

    Sticking contacts hold without creep, because the displacement of the tangents is remembered. kt: by default 6/7 of
    kn, the ratio of spheres with Poisson's ratio 1/4 (Mindlin 1949).

    When not to use it: impacts that must bounce by a coefficient (`Moreau`), or contact times that must be resolved
    within a step (`Compliant`).

    Reference: P. A. Cundall, O. D. L. Strack, Géotechnique 29, 1979.
    """

    kn: float
    kt: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        _check.number("kn", self.kn, positive=True)
        _check.number("damping", self.damping, low=0.0)
        kt = MINDLIN * self.kn if self.kt is None else self.kt
        object.__setattr__(self, "kt", _check.number("kt", kt, positive=True))

    @property
    def row(self) -> tuple[float, float, float]:
        """kn, kt, damping."""
        assert self.kt is not None
        return float(self.kn), float(self.kt), float(self.damping)
