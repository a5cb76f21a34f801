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

**Stiffness by material.** `Solid` is what a body is made of, `SolidContact` what two of them make of a contact,

    1/E* = (1 - ν₁²)/E₁ + (1 - ν₂²)/E₂        1/G* = (2 - ν₁)/G₁ + (2 - ν₂)/G₂        G = E/(2 (1 + ν))

where a rigid partner has no part. Curved surfaces, whose relative principal curvatures κ₁ and κ₂ make R = 1/√(κ₁ κ₂),
touch in a circle of radius a = (3 F R/(4 E*))^(1/3) (Hertz), and are as stiff as the secant F/δ at a load F says,

    δ³ = 9 F²/(16 E*² R)      kn = F/δ = (16 E*² R F/9)^(1/3) = 4/3 E* a      kt = 8 G* a = 6 G*/E* kn

(Mindlin 1949; 6 G*/E* = 3 (1 - ν)/(2 - ν) of one material, or of one against a rigid partner). F is the load of the
spring in the step before, without that of a damper. What has not touched yet has the load by Hertz's law at the overlap
to which its speed leads in the step, or at the deepest one of the impact. F is at least m g with m = 1/W_nn, the mass
that the contact feels: a spring without stiffness would never get a load. Where there is no gravity, F is at least that
of a contact circle of `LEAST_CIRCLE` R. Patches of several points have a stiffness that does not depend on the load
(`collision/sizes.py`), kn = E* s with s = 2 √(A/π) of a face, π/4 L of a line, and π/4 times the depth of 1 m in the
plane; kt = 4 G*/E* kn, as for a flat disk. A contact has the larger of the two.

**Restitution.** A spring kn and a damper c that never pull bounce a mass m with the coefficient e of `bounce`
(Schwager, Pöschel 2007), whatever the speed, where c = 2 ζ √(kn m); on Hertz's curve c = √5 ζ √(kn m) does the same,
with its secant kn (Antypov, Elliott 2011). Implicit Euler itself damps as much as c = h kn does, and 3/4 of that with a
secant that lags behind the load, F_n+1 ~ F_n^(1/3) δ_n+1; this is taken off. The contact has to last for
`CONTACT_STEPS` steps: π √(m/kn), or on Hertz's curve 2.87 (m²/(R E*² u))^(1/5) at the speed u of the impact.

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
from ..errors import ModelError

NEAR_RIGID = 1000.0  # W/C at most: sweeps solve piles of thousands to 1e-6 up to here, and fail at ten times as much
MINDLIN = 6.0 / 7.0  # kt/kn of spheres of Poisson's ratio 1/4: 2 (1 - ν)/(2 - ν)
POISSON = 0.25  # Poisson's ratio where only Young's modulus is given
LEAST_CIRCLE = 1e-3  # radius of the contact circle over R below which contacts without weight get no softer
CONTACT_STEPS = 20  # steps that a contact with restitution has to last at least
NO_DAMPER = -1.0  # ζ of laws without restitution
# columns of what is known of an elastic contact: stiffness [N/m] and damping [N s/m], 0 where they follow from the
# material and infinite where nothing is elastic; E* [Pa], 0 where the stiffness is given; G*/E*; ζ, or `NO_DAMPER`;
# the radius R of a point and the length s of a patch [m], in one column each, of contacts alone
KN, KT, DAMPING, MODULUS, SHEAR, ZETA, RADIUS, PATCH = range(8)
LAW_COLUMNS, COLUMNS = 6, 8
RIGID_ROW = (math.inf, math.inf, 0.0, 0.0, 0.0, NO_DAMPER)
MEMORY = 8  # numbers that a contact remembers: ξ (3), the normal it belongs to (3), and its stiffness kt and kn


def has_springs(system: object) -> bool:
    """Whether a system has elastic contacts."""
    return getattr(getattr(system, "laws", None), "elastic", None) is not None


def bounce(zeta: float) -> float:
    """The coefficient of restitution of a spring and a damper c = 2 ζ √(k m) that never pull (Schwager, Pöschel 2007).

    It ends where the force does, so that it bounces a little more than exp(-π ζ/√(1 - ζ²)), where it may pull.
    """
    if zeta < 1.0:
        w = math.sqrt(1.0 - zeta * zeta)
        return math.exp(-zeta / w * math.atan2(2.0 * zeta * w, 2.0 * zeta * zeta - 1.0)) if zeta > 0.0 else 1.0
    w = math.sqrt(zeta * zeta - 1.0)
    return math.exp(-zeta / w * math.log((zeta + w) / (zeta - w))) if w > 0.0 else math.exp(-2.0)


def damping_ratio(restitution: float | None) -> float:
    """ζ with which a contact bounces by a coefficient, the inverse of `bounce`; `NO_DAMPER` for None."""
    if restitution is None:
        return NO_DAMPER
    low, high = 0.0, 1.0
    while bounce(high) > restitution:
        low, high = high, 2.0 * high
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if bounce(middle) > restitution else (low, middle)
    return low if restitution < 1.0 else 0.0


def checked_restitution(what: str, value: object) -> float:
    """A coefficient that an elastic contact can have: above 0, since no damper takes all, and at most 1."""
    e = _check.number(what, value, positive=True)
    if e < 1e-3 or e > 1.0:
        raise ModelError(f"{what} must be from 0.001 to 1 where contacts are elastic; got {e:g}.")
    return e


@dataclass(frozen=True)
class Elastic:
    """How a contact deforms: kn, kt, stiffness along the normal and the tangents [N/m]; damping of the normal [N s/m].

    Sticking contacts hold without creep, because the displacement of the tangents is remembered. kt: by default 6/7 of
    kn, the ratio of spheres with Poisson's ratio 1/4 (Mindlin 1949). restitution: the coefficient by which the contact
    bounces, in place of damping; it needs a step of at most a twentieth of the time of contact, and is refused else.

    When not to use it: impacts that bounce by a coefficient at large steps (`Moreau`). By material instead of by
    stiffness: `World.set_material(name, young=...)`.

    Reference: P. A. Cundall, O. D. L. Strack, Géotechnique 29, 1979.
    """

    kn: float
    kt: float | None = None
    damping: float = 0.0
    restitution: float | None = None

    def __post_init__(self) -> None:
        _check.number("kn", self.kn, positive=True)
        _check.number("damping", self.damping, low=0.0)
        kt = MINDLIN * self.kn if self.kt is None else self.kt
        object.__setattr__(self, "kt", _check.number("kt", kt, positive=True))
        if self.restitution is not None:
            checked_restitution("restitution", self.restitution)
            if self.damping > 0.0:
                raise ModelError("Elastic: give damping= or restitution=, not both.")

    @property
    def row(self) -> tuple[float, ...]:
        """(6,) as the columns of a law."""
        assert self.kt is not None
        zeta = damping_ratio(self.restitution)
        return float(self.kn), float(self.kt), float(self.damping), 0.0, 0.0, zeta


@dataclass(frozen=True)
class Solid:
    """What an elastic body is made of: Young's modulus [Pa], Poisson's ratio, and how its contacts bounce."""

    young: float
    poisson: float = POISSON
    restitution: float | None = None

    @classmethod
    def checked(cls, what: str, young: object, poisson: object, restitution: object) -> Solid:
        """From what a user gives."""
        modulus = _check.number(f"young of {what}", young, positive=True)
        ratio = POISSON if poisson is None else _check.number(f"poisson of {what}", poisson)
        if not -1.0 < ratio <= 0.5:
            raise ModelError(f"poisson of {what} must be above -1 and at most 0.5; got {ratio:g}.")
        e = None if restitution is None else checked_restitution(f"restitution of {what}", restitution)
        return cls(modulus, ratio, e)


@dataclass(frozen=True)
class SolidContact:
    """A contact between solids: E* [Pa], G*/E*, and the coefficient of restitution, if there is one."""

    modulus: float
    shear: float
    restitution: float | None = None

    @classmethod
    def between(cls, solids: tuple[Solid | None, Solid | None], restitution: float | None) -> SolidContact:
        """Of two solids, one of which may be rigid: None."""
        soft = sum((1.0 - s.poisson**2) / s.young for s in solids if s is not None)
        along = sum(2.0 * (1.0 + s.poisson) * (2.0 - s.poisson) / s.young for s in solids if s is not None)
        return cls(1.0 / soft, soft / along, restitution)

    @property
    def row(self) -> tuple[float, ...]:
        """(6,) as the columns of a law."""
        return 0.0, 0.0, 0.0, self.modulus, self.shear, damping_ratio(self.restitution)
