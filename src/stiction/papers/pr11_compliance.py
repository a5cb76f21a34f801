"""pr11 §5: Painlevé's rod with a contact that gives way, as its stiffness goes to infinity.

Table 1 prints force integrals "until contact breaks" for kn = gamma_n = gamma_t = α. With the printed data the contact
does not break: the damper has taken the shock, gamma_n depth = Λ₂, so that the spring then carries kn Λ₂/gamma_n =
0.325 N, less than the 0.447 N that the stuck rod needs, and it closes further. So only the limit Λ₂ and the trend can
be compared; our integrals are over the first α^(-1/2) seconds, a window that shrinks as the shock does but more slowly.
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
from ..systems import GeneralizedSystem
from . import pr11_table
from .experiment import Experiment, Outcome, Quantity
from .pr11_rod import LIFTING, rod
from .pr11_shock import Shock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = tuple(10.0**e for e in range(3, 9))
PRINTED = ((0.3688, 0.4551), (0.3374, 0.4426), (0.3285, 0.4391), (0.3259, 0.4380), (0.3251, 0.4377), (0.3249, 0.4376))
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
class Findings:
    """What the experiment measured, for its numbers and its figure."""

    shock: Shock
    table: tuple[Integral, ...]  # at ALPHAS, over α^(-1/2)
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
    reason = "the contact does not break with the printed data; ours: first α^(-1/2) s"
    rows = [
        Quantity(f"∫λ_{name}, α = 1e{math.log10(a):.0f}", float(one.impulse[i]), record, "N s", paper=paper[i],
                 tolerance=5e-5, reason=reason, record_tolerance=2e-5)
        for a, one, paper, records in zip(ALPHAS, found.table, PRINTED, TABLE)
        for i, (name, record) in enumerate(zip("nt", records))
    ]  # fmt: skip
    opened = sum(change.kind == "separation" for one in found.long for change in one.changes)
    undamped, overdamped = found.ratios[0].impulse, found.ratios[-1].impulse
    off = max(float(np.abs(one.impulse - shock.limit(c)).max()) for c, one in zip(RATIOS, found.ratios))
    small = [integral(rod(LIFTING, gap=-4.0 / a), equal(a), 30.0 * a**-0.5).impulse[0] for a in (1e4, 1e6)]
    quantities = (
        Quantity("Λ₂, normal", float(shock.rest[0]), 0.32475953, "N s", paper=0.3248, tolerance=5e-5,
                 reason="the limit of the table"),
        Quantity("Λ₂, friction", float(shock.rest[1]), 0.4375, "N s", paper=0.4375, tolerance=5e-5),
        *rows,
        Quantity("error of ∫λ_n against Λ₂ per decade of α falls by", float(falls.mean()), 3.3220, "",
                 record_tolerance=2e-3, reason="like α^(-1/2) ln α; the printed rows fall by "
                 + ", ".join(f"{x:.2f}" for x in printed[:-2, 0] / printed[1:-1, 0])),
        Quantity("openings within 2.5 s, α = 1e3, 1e4, 1e5", float(opened), 0.0),
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
        Quantity("second case, no gap and no overlap: ∫λ_n", float(found.apart[0, 0]), 0.0, "N s", paper=0.0,
                 tolerance=5e-5, reason="the contact opens at once"),
        Quantity("second case, kn·depth = 4 N: ∫λ_n falls over two decades of α by", small[0] / small[1], 10.0, "",
                 record_tolerance=0.02, reason="to 0, as α^(-1/2)"),
        Quantity("second case jams from kn·depth =", found.threshold, 7.55450, "N", record_tolerance=2e-4,
                 reason=f"the force of the sliding solution, {shock.dynamic:.5f}; pr11 says that overlap has no "
                 "influence, which holds below it"),
        Quantity("second case, kn·depth = 10 N: ∫λ_n over 0.02 s", float(found.apart[-1, 0]), 0.33398, "N s",
                 record_tolerance=1e-4, reason="Λ₂ and what the stuck rod needs after it"),
    )  # fmt: skip
    from .pr11_compliance_figures import peak_claim

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
    every = (*found.table, *found.long, *found.ratios)
    return Outcome(quantities, {"energy": max(one.error for one in every)}, lambda: _figures(found))


def _figures(found: Findings) -> dict[str, Figure]:
    from ..view.compliance import draw_compliance
    from . import pr11_compliance_figures as drawn

    return {
        "pr11-compliance-fig6": drawn.forces_over_time(found),
        "pr11-compliance-fig7": drawn.integrals_over_stiffness(found),
        "pr11-compliance": draw_compliance(found),
    }


EXPERIMENT = Experiment(
    "pr11-compliance",
    "Preclik, Rüde 2011 (§5)",
    "Painlevé's rod on a contact that gives way: the stiff limits",
    reproduce,
)
