"""pr11 §5: Painlevé's rod with a contact that gives way, as its stiffness goes to infinity.

Table 1 prints force integrals "until contact breaks" for kn = gamma_n = gamma_t = α. With the printed data the contact
does not break: the damper has taken the shock, gamma_n depth = Λ₂, so that the spring then carries kn Λ₂/gamma_n =
0.325 N, less than the 0.447 N that the stuck rod needs, and it closes further. So the rows of the table measure
something else than any window of ours; only the limit Λ₂ and the trend can be compared. Our integrals are over the
first α^(-1/2) seconds, a window that shrinks as the shock does but more slowly.

What the printed rows tell: both components exceed Λ₂, in the ratio 0.3996. While the end sticks, u_t = 0, the excess
has the ratio -W_nt/W_tt = 0.3997 if the Jacobian stays that of the start, and another one if it turns with the rod. So
the authors integrated with a frozen Jacobian (`frozen_rod`). What remains is when: the frozen contact does not break
either, and the integrals are the printed ones if they end 1.32 to 1.36 α^(-1/2) s after the end sticks, when nothing
happens.

The conclusion of pr11 asks whether the limit depends on the ratio of kn and gamma_n: it does, and `Shock` has it in
closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..schemes import Change, Compliant
from ..simulation import Simulator
from ..systems import Gap, GeneralizedSystem
from . import pr11_table
from .experiment import EXACT, Experiment, Outcome, Quantity, claim
from .pr11_rod import GRAVITY, INERTIA, LIFTING, MASS, MU, rod
from .pr11_shock import Shock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = tuple(10.0**e for e in range(3, 9))
TABLE_1 = (
    ("0.3688", "0.4551"), ("0.3374", "0.4426"), ("0.3285", "0.4391"), ("0.3259", "0.4380"), ("0.3251", "0.4377"),
    ("0.3249", "0.4376"),
)  # fmt: skip
PRINTED = tuple((float(n), float(t)) for n, t in TABLE_1)
TABLE = (  # ours
    (0.342899, 0.442806), (0.329982, 0.438992), (0.326289, 0.437918),
    (0.325222, 0.437622), (0.324903, 0.437537), (0.324804, 0.437512),
)  # fmt: skip
RIGID_TABLE = (("lemke", 2.317012), ("newton", 1.503665), ("proximal", 1.699142))  # friction [N], by solver
LONG = 2.5  # s, within which the contact is not to open
RATIOS = (0.0, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # gamma_n/sqrt(kn); underdamped below 2/sqrt(S) = 1.8
STIFF = 1e8
SHOWN = (1e2, 1e4)  # the two panels of figure 6
LOADS = (0.0, 2.0, 4.0, 6.0, 7.0, 7.4, 7.5, 7.6, 7.7, 8.0, 9.0, 10.0)  # kn·depth [N]


@dataclass(frozen=True)
class Integral:
    """Impulse (2,) of the contact over a window, what happened in it, and the integrator's error in the energy [J]."""

    impulse: FloatArray
    changes: tuple[Change, ...]
    error: float


def integral(system: GeneralizedSystem, scheme: Compliant, window: float) -> Integral:
    """The force integrals of the rod's contact over the first `window` seconds."""
    result = Simulator(system, window, scheme=scheme).step()
    assert result.certificate is not None
    return Integral(result.contacts.impulse[0, :2], result.changes, abs(result.certificate.energy.truncation))


def until_open(system: GeneralizedSystem, scheme: Compliant, window: float) -> Integral:
    """The same until the contact opens for the first time, within `window`."""
    whole = integral(system, scheme, window)
    first = next(change.time for change in whole.changes if change.kind == "separation")
    return integral(system, scheme, first)


def frozen_rod() -> GeneralizedSystem:
    """The rod with the Jacobian of its start for ever: gap and slip are linear in q (pr11 eq. 21 with a constant J)."""
    moving = rod()
    start = moving.initial_state()
    H = Shock().H
    tip = Gap(lambda q: float(H[0] @ (q - start.q)), lambda q: H[0], lambda q: H[1], friction=MU, name="tip")
    return GeneralizedSystem(
        np.diag([MASS, MASS, INERTIA]), [0.0, -MASS * GRAVITY, 0.0], q=start.q, v=start.v, gaps=[tip],
        names=["x", "y", "phi"],
    )  # fmt: skip


def equal(alpha: float) -> Compliant:
    """kn = gamma_n = gamma_t = α."""
    return Compliant(alpha, alpha, alpha)


def ratio(c: float, kn: float = STIFF) -> Compliant:
    """gamma_n = c sqrt(kn), and friction that sticks in the limit."""
    return Compliant(kn, c * math.sqrt(kn), kn)


def bisect(holds: Callable[[float], bool], low: float, high: float, steps: int) -> float:
    """Where `holds` begins to be true."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return 0.5 * (low + high)


def jams(load: float, alpha: float = 1e6) -> bool:
    """Whether the rod with a torque jams when its spring starts with a force of `load` [N]."""
    found = integral(rod(LIFTING, gap=-load / alpha), equal(alpha), 30.0 * alpha**-0.5)
    return bool(found.impulse[0] > 0.2)


def opens(stiffer: float, gamma: float = 1e6) -> bool:
    """Whether the contact opens after the shock, with kn = `stiffer`·gamma_n and gamma_n = gamma_t = `gamma`."""
    found = integral(rod(), Compliant(stiffer * gamma, gamma, gamma), 20.0 * gamma**-0.5)
    return any(change.kind == "separation" for change in found.changes)


@dataclass(frozen=True)
class Frozen:
    """The frozen Jacobian at one α: the integral over α^(-1/2) s, when the end sticks, and when ∫λ_n is the printed
    one [s], with ∫λ_t then."""

    alpha: float
    whole: Integral
    sticks: float
    window: float
    friction: float

    @property
    def after(self) -> float:
        """The window after sticking, over α^(-1/2) s."""
        return (self.window - self.sticks) * math.sqrt(self.alpha)


def frozen(alpha: float, printed: float) -> Frozen:
    """Integrate with the frozen Jacobian, and find the window of a printed ∫λ_n."""
    from scipy.optimize import brentq

    unit = alpha**-0.5
    whole = integral(frozen_rod(), equal(alpha), unit)
    window = brentq(
        lambda w: float(integral(frozen_rod(), equal(alpha), w).impulse[0]) - printed,
        unit,
        2.5 * unit,
        xtol=1e-5 * unit,
    )
    sticks = next(change.time for change in whole.changes if change.kind == "stick")
    there = integral(frozen_rod(), equal(alpha), window)
    return Frozen(alpha, whole, sticks, float(window), float(there.impulse[1]))


@dataclass(frozen=True)
class Findings:
    """What the experiment measured, for its numbers and its figure."""

    shock: Shock
    table: tuple[Integral, ...]  # at ALPHAS, over α^(-1/2)
    frozen: tuple[Frozen, ...]  # at the first four, with the Jacobian of the start
    frozen_long: Integral  # at the first, over LONG
    long: tuple[Integral, ...]  # at the first three, over LONG
    ratios: tuple[Integral, ...]  # at RATIOS, until the contact opens
    apart: FloatArray  # impulses of the second case over kn·depth at α = 1e6
    threshold: float  # kn·depth from which the second case jams
    opening: float  # kn over gamma_n from which the contact opens after the shock
    forces: tuple[tuple[FloatArray, FloatArray, FloatArray], ...]  # times, normal and friction force at SHOWN

    @property
    def errors(self) -> FloatArray:
        """(6, 2) distance of our integrals from Λ₂."""
        return np.array([one.impulse for one in self.table]) - self.shock.rest

    @property
    def frozen_errors(self) -> FloatArray:
        """(4, 2) the same with the frozen Jacobian."""
        return np.array([one.whole.impulse for one in self.frozen]) - self.shock.rest


def _forces(alpha: float, window: float, steps: int = 150) -> tuple[FloatArray, FloatArray, FloatArray]:
    run = Simulator(rod(), window / steps, scheme=equal(alpha)).run(window, progress=False)
    force = run.table.impulse[:, :2] / run.info["dt"]
    return run.times[1:], force[:, 0], force[:, 1]


def measure() -> Findings:
    """Every run."""
    shock = Shock()
    # sliding grows from what gravity does in a moment: ln(kn) over the growth rate, then stops in a few
    windows = [40.0 / math.sqrt(STIFF) for _ in RATIOS]
    return Findings(
        shock=shock,
        table=tuple(integral(rod(), equal(a), a**-0.5) for a in ALPHAS),
        frozen=tuple(frozen(a, p[0]) for a, p in zip(ALPHAS[:4], PRINTED)),
        frozen_long=integral(frozen_rod(), equal(ALPHAS[0]), LONG),
        long=tuple(integral(rod(), equal(a), LONG) for a in ALPHAS[:3]),
        ratios=tuple(until_open(rod(), ratio(c), window) for c, window in zip(RATIOS, windows)),
        apart=np.array([integral(rod(LIFTING, gap=-f / 1e6), equal(1e6), 0.02).impulse for f in LOADS]),
        threshold=bisect(jams, 7.0, 8.0, 12),
        opening=bisect(opens, 2.5, 3.0, 8),
        forces=tuple(_forces(a, window) for a, window in zip(SHOWN, (0.25, 0.008))),
    )


def reproduce() -> Outcome:
    """Table 1 by its limit and trend, the limits for other ratios, and the second case of the rod."""
    found = measure()
    shock, errors = found.shock, found.errors
    falls = np.abs(errors[:-1, 0] / errors[1:, 0])
    printed = np.array(PRINTED) - shock.rest
    reason = (
        "the contact does not break with the printed data, so “until contact breaks” has no end; ours: first α^(-1/2) s"
    )
    rows = [
        Quantity(f"∫λ_{name}, α = 1e{math.log10(a):.0f}", float(one.impulse[i]), record, "N s", paper[i],
                 reason=reason, comparable=False, record_tolerance=2e-5)
        for a, one, paper, records in zip(ALPHAS, found.table, TABLE_1, TABLE)
        for i, (name, record) in enumerate(zip("nt", records))
    ]  # fmt: skip
    excess = printed[0, 1] / printed[0, 0]
    straight = -float(shock.W[0, 1] / shock.W[1, 1])
    turned, kept = errors[0, 1] / errors[0, 0], found.frozen_errors[-1, 1] / found.frozen_errors[-1, 0]
    off_friction = max(abs(f.friction - p[1]) for f, p in zip(found.frozen, PRINTED))
    jacobian = (
        Quantity("excess of friction over that of the normal impulse, sticking, frozen Jacobian", float(kept), straight,
                 "", f"{excess:.2f}", record_within=5e-4, fitted=True,
                 reason=f"of two readings of J this one was chosen; printed at α = 1e3: {excess:.4f}; -W_nt/W_tt = "
                 f"{straight:.4f}; ours at α = 1e6, "
                 f"{found.frozen_errors[0, 1] / found.frozen_errors[0, 0]:.4f} at 1e3"),
        Quantity("the same where the Jacobian turns with the rod, α = 1e3", float(turned), 0.29248, "",
                 record_tolerance=1e-3, reason="the equations as printed (eq. 3 and 21): the authors froze J"),
        Quantity("window after which the frozen integral is the printed one, after sticking, α = 1e3",
                 found.frozen[0].after, 1.3180, "α^(-1/2) s", record_tolerance=2e-3,
                 reason="at 1e4, 1e5, 1e6: " + ", ".join(f"{f.after:.3f}" for f in found.frozen[1:])
                 + "; nothing happens to the contact then: this is what remains unexplained"),
        Quantity("friction at that window: largest distance from print", off_friction, 1e-4, "N s", record_within=5e-5,
                 reason="four printed digits; α = 1e3 to 1e6, one window for two numbers"),
    )  # fmt: skip
    opened = sum(change.kind == "separation" for one in found.long for change in one.changes)
    breaks = any(change.kind == "separation" for change in found.frozen_long.changes)
    peaks = [normal.max() for _, normal, _ in found.forces]
    stops = [t[int(np.argmax(friction))] for t, _, friction in found.forces]
    undamped, overdamped = found.ratios[0].impulse, found.ratios[-1].impulse
    off = max(float(np.abs(one.impulse - shock.limit(c)).max()) for c, one in zip(RATIOS, found.ratios))
    small = [integral(rod(LIFTING, gap=-4.0 / a), equal(a), 30.0 * a**-0.5).impulse[0] for a in (1e4, 1e6)]
    quantities = (
        Quantity("Λ₂, normal", float(shock.rest[0]), 0.32475953, "N s", "0.3248", reason="the limit of the table"),
        Quantity("Λ₂, friction", float(shock.rest[1]), 0.4375, "N s", "0.4375"),
        *rows,
        *jacobian,
        Quantity("error of ∫λ_n against Λ₂ per decade of α falls by", float(falls.mean()), 3.3220, "",
                 record_tolerance=2e-3, reason="like α^(-1/2) ln α; the printed rows fall by "
                 + ", ".join(f"{x:.2f}" for x in printed[:-2, 0] / printed[1:-1, 0])),
        claim("the contact later breaks (§5.1, figure 6 and Table 1)", opened > 0, record=False,
              reason="none does within 2.5 s at α = 1e3, 1e4, 1e5",
              tried=("the equations as printed, kn = gamma_n = gamma_t",
                     "a frozen Jacobian, α = 1e3: " + ("it breaks" if breaks else "it does not break either"),
                     "gamma_n = 0 to 30 sqrt(kn): it breaks, with other limits than Λ₂"),
              conclude="Table 1 and figure 6 were not made with the printed constants alone, or their integrals end by "
              "another rule than that the contact breaks. The limit Λ₂ holds all the same."),
        claim("stiffer contacts press harder and slip shorter", bool(peaks[1] > peaks[0] and stops[1] < stops[0]),
              f"α = 1e2 and 1e4: {peaks[0]:.3g} and {peaks[1]:.3g} N; slip ends after {1e3 * stops[0]:.3g} and "
              f"{1e3 * stops[1]:.3g} ms"),
        Quantity("spring force after the shock", float(shock.rest[0]), 0.32475953, "N",
                 reason="kn Λ₂/gamma_n, at kn = gamma_n: the damper takes the shock"),
        Quantity("force that the stuck rod needs", shock.load, 0.4471455, "N", reason="more: so it does not open"),
        Quantity("it opens from kn : gamma_n =", found.opening, 2.7666, "1/s", record_tolerance=2e-3,
                 reason=f"twice the ratio of the two forces, {2.0 * shock.load / shock.rest[0]:.4f}, in the limit"),
        Quantity("∫λ_n over 2.5 s, α = 1e5", float(found.long[-1].impulse[0]), 1.78466, "N s", record_tolerance=1e-4),
        Quantity("undamped: ∫λ_n until it opens, kn = 1e8", float(undamped[0]), 0.44950, "N s", record_tolerance=1e-4,
                 reason=f"limit {shock.limit(0.0)[0]:.5f}: the spring gives all of it back"),
        Quantity("gamma_n = 30 sqrt(kn): the same", float(overdamped[0]), 0.33457, "N s", record_tolerance=1e-4,
                 reason=f"limit {shock.limit(30.0)[0]:.5f}; Λ₂ only for gamma_n/sqrt(kn) → ∞"),
        Quantity("largest distance of an integral from its limit", off, 0.00370, "N s", record_tolerance=1e-4,
                 reason="kn = 1e8, eight ratios from 0 to 30; closed forms"),
        Quantity("second case, no gap and no overlap: ∫λ_n", float(found.apart[0, 0]), 0.0, "N s", 0.0, EXACT,
                 record_within=EXACT, reason="the contact opens at once"),
        Quantity("second case, kn·depth = 4 N: ∫λ_n falls over two decades of α by", small[0] / small[1], 10.0, "",
                 record_tolerance=0.02, reason="to 0, as α^(-1/2)"),
        Quantity("second case jams from kn·depth =", found.threshold, 7.55450, "N", record_tolerance=2e-4,
                 reason=f"the force of the sliding solution, {shock.dynamic:.5f}"),
        claim("second case: the limit does not depend on interpenetration", not jams(8.0), record=False,
              reason=f"above kn·depth = {found.threshold:.4f} N it jams, and the limit is Λ₂",
              tried=tuple(f"kn·depth = {load:g} N: {p[0]:.3f} N s" for load, p in zip(LOADS[::3], found.apart[::3])),
              conclude="It holds for depths that shrink faster than 7.55 N/kn, such as none. An overlap of fixed depth "
              "jams every rod that is stiff enough."),
        claim("the stiff limit depends on the ratio of kn and gamma_n", bool(np.ptp([shock.limit(c)[0] for c in RATIOS])
              > 0.01), "§6, expected there; closed forms"),
        Quantity("second case, kn·depth = 10 N: ∫λ_n over 0.02 s", float(found.apart[-1, 0]), 0.33398, "N s",
                 record_tolerance=1e-4, reason="Λ₂ and what the stuck rod needs after it"),
    )  # fmt: skip
    from .figures.pr11_compliance import peak_claim

    quantities += (peak_claim(found),)
    rigid = {name: pr11_table.loads(name)[1] for name in ("lemke", "newton", "proximal")}
    low, high = pr11_table.RANGE
    given = {name: pr11_table.loads(name, 1e-9)[1] for name in rigid}
    quantities += (
        *(Quantity(f"table on a ramp, rigid legs, {name}: friction", rigid[name], record, "N", record_tolerance=1e-4,
                   reason=f"anything from {low:.3f} to {high:.3f} N is a solution") for name, record in RIGID_TABLE),
        Quantity("legs of 1e9 N/m: friction, every solver", given["lemke"], 1.698715, "N", record_tolerance=1e-4,
                 reason=f"they agree to {np.ptp(list(given.values())):.0e} N; in the limit {pr11_table.ELASTIC:.4f} N"),
        Quantity("legs in motion on springs and dampers: friction", pr11_table.settled()[1], pr11_table.ELASTIC, "N",
                 record_tolerance=1e-4, reason="the same choice"),
    )  # fmt: skip
    every = (*found.table, *found.long, *found.ratios, found.frozen_long, *(f.whole for f in found.frozen))
    return Outcome(quantities, {"energy": max(one.error for one in every)}, lambda: _figures(found))


def _figures(found: Findings) -> dict[str, Figure]:
    from .figures import pr11_compliance as drawn
    from .figures.compliance import draw_compliance, draw_frozen

    return {
        "pr11-compliance-fig6": drawn.forces_over_time(found),
        "pr11-compliance-fig7": drawn.integrals_over_stiffness(found),
        "pr11-compliance": draw_compliance(found),
        "pr11-compliance-frozen": draw_frozen(found),
    }


EXPERIMENT = Experiment(
    "pr11-compliance",
    "Preclik, Rüde 2011 (§5)",
    "Painlevé's rod on a contact that gives way: the stiff limits",
    reproduce,
)
