"""s00 §3.2: the scheme exactly as printed (eq. 3.9–3.13, `Stewart`) beside `Moreau`, on the survey's own examples.

`Moreau` has what the survey does not print: contacts that approach slowly are no impacts, contacts that touch are held,
and overlaps are projected away. The printed rule lets a contact act where f(q + h v) < 0, and nothing else. Here both
meet a single bounce (§4.2), balls that should come to rest, billiards (figure 3), and Painlevé's rod (§1.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..schemes import Moreau, Stewart
from ..schemes.base import Scheme
from ..simulation import Simulator, Trajectory
from .experiment import EXACT, ORDER, Experiment, Outcome, Quantity
from .pr11_shock import Shock
from .s00_ball import GRAVITY, HEIGHT, LOW, LOW_STEP, STEPS, ZENO_E, bounce_steps, drop, energies, zeno_time
from .s00_billiards import HARD_THROW, closing_ratio, play
from .s00_painleve import STEPS as ROD_STEPS
from .s00_painleve import UNTIL, order, pendulum, rod
from .s00_phase import RESTITUTION, ratios
from .s00_weak import Limit, limit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES: dict[str, Scheme] = {"as printed": Stewart(), "Moreau": Moreau()}
BALLS: dict[str, Scheme] = {"as printed": Stewart(directions=8), "Moreau": Moreau(directions=8)}
RESTING = 0.1  # s after the Zeno time
PLAYS, PLAYED = (0.01, 0.005), 1.0  # s
BOUNCES = 100  # without loss


def vault(scheme: Scheme, h: float) -> Trajectory:
    """Painlevé's rod."""
    return Simulator(rod(), h, scheme=scheme, solver="lemke", tol=1e-9).run(UNTIL, progress=False)


@dataclass(frozen=True)
class Findings:
    """By scheme: ratios of a bounce at every phase, bounces by step, a ball without restitution, a hundred bounces
    without loss, billiards by step, the rod by step, and theorem 1's particle."""

    ratio: dict[str, FloatArray]
    bounces: dict[str, tuple[Trajectory, ...]]
    inelastic: dict[str, Trajectory]
    hundred: dict[str, Trajectory]
    billiards: dict[str, tuple[Trajectory, ...]]
    rods: dict[str, tuple[Trajectory, ...]]
    limits: dict[str, Limit]

    def tremor(self, scheme: str) -> FloatArray:
        """(steps,) the largest speed from 0.1 s after the Zeno time on, over g h."""
        runs = self.bounces[scheme]
        return np.array([
            np.abs(run.v[run.times > zeno_time(ZENO_E) + RESTING]).max() / (GRAVITY * h) for run, h in zip(runs, STEPS)
        ])  # fmt: skip

    def apart(self, k: int) -> float:
        """The largest distance of a ball of the billiards at the end between the schemes [m]."""
        one, other = (self.billiards[name][k] for name in SCHEMES)
        return max(
            float(np.abs(one.position(f"ball {i}")[-1] - other.position(f"ball {i}")[-1]).max()) for i in range(1, 5)
        )

    def impulse_errors(self, scheme: str) -> FloatArray:
        """(steps,) distance of the impulse without impact from Λ₂, in the first step that has one [N s]."""
        return np.array([np.abs(run.table.impulse[0, :2] - Shock().rest).max() for run in self.rods[scheme]])

    def angle_errors(self, scheme: str) -> FloatArray:
        """(steps,) distance of the rod's angle from the pendulum's at the end [rad]."""
        return np.array([abs(run.q[-1, 2] - pendulum(run.times)[-1]) for run in self.rods[scheme]])


def measure() -> Findings:
    """Every run."""
    long = 0.92 * BOUNCES * 2.0 * np.sqrt(2.0 * LOW / GRAVITY)
    zeno = zeno_time(ZENO_E) + 4.0 * RESTING
    both = SCHEMES.items()
    return Findings(
        {name: ratios(scheme, RESTITUTION)[0] for name, scheme in both},
        {name: tuple(drop([HEIGHT], ZENO_E, h, zeno, scheme) for h in STEPS) for name, scheme in both},
        {name: drop([HEIGHT], 0.0, STEPS[0], 0.6, scheme) for name, scheme in both},
        {name: drop([LOW], 1.0, LOW_STEP, long, scheme) for name, scheme in both},
        {name: tuple(play(HARD_THROW, h, PLAYED, scheme=scheme) for h in PLAYS) for name, scheme in BALLS.items()},
        {name: tuple(vault(scheme, h) for h in ROD_STEPS) for name, scheme in both},
        {name: limit(scheme) for name, scheme in both},
    )


def reproduce() -> Outcome:
    """Where the two agree, and what the printed rule does not do."""
    found = measure()
    printed, ours = SCHEMES
    kept = {name: energies(found.hundred[name])[1] for name in SCHEMES}
    deep = [1e3 * float(-run.q.min()) for run in found.bounces[printed]]
    sunk = {name: float(-found.inelastic[name].q[-1, 0]) / (GRAVITY * STEPS[0] ** 2) for name in SCHEMES}
    late = float(rest(found.bounces[printed][0]) - rest(found.bounces[ours][0]))
    turns = {name: [len(bounce_steps(run.v[:, 0])) for run in found.bounces[name]] for name in SCHEMES}
    rods, angles = ({n: f(n) for n in SCHEMES} for f in (found.impulse_errors, found.angle_errors))
    first = {name: int(found.rods[name][0].table.step[0]) for name in SCHEMES}
    plays = {name: found.billiards[name][-1] for name in SCHEMES}
    quantities = []
    for name in SCHEMES:
        quantities += [
            Quantity(f"{name}: largest distance of a bounce from e, any phase",
                     float(np.abs(found.ratio[name] - RESTITUTION).max()), 0.0, "", 0.0, EXACT, "eq. 3.11",
                     record_within=1e-12),
            Quantity(f"{name}: E - ½ h m g v changes over a hundred bounces by",
                     float(np.abs(kept[name] / kept[name][0] - 1.0).max()), 0.0, "", record_within=1e-10,
                     reason="e = 1, relative"),
        ]  # fmt: skip
    quantities += [
        Quantity("the runs of these bounces differ by",
                 float(np.abs(found.hundred[printed].q - found.hundred[ours].q).max()), 0.0, "m", record_within=1e-12,
                 reason="the schemes differ in what rests and touches, not in impacts"),
        Quantity("as printed: the ball rests later than by Moreau, e = 0.5, h = 0.008 s", late, 0.088, "s",
                 record_within=1e-9,
                 reason=f"{turns[printed][0]} bounces instead of {turns[ours][0]}: slow approaches bounce, too"),
        Quantity("as printed: it sinks in by up to, h = 0.008 s", deep[0], 0.529, "mm", record_within=0.001,
                 reason="; ".join(f"{d:.3f} mm at {1e3 * h:g} ms" for d, h in zip(deep[1:], STEPS[1:]))),
        Quantity("as printed: without restitution it rests below the floor by", sunk[printed], 0.23751, "g h²",
                 record_within=1e-3, reason="between 0 and 1: where the step finds it; Moreau rests on the floor"),
        Quantity("billiards: ratio of normal velocities, as printed", closing_ratio(plays[printed]), 0.9, "", "0.9"),
        Quantity("billiards: the printed scheme's balls after 1 s are away from Moreau's by, h = 0.005 s",
                 1e3 * found.apart(-1), 12.66, "mm", record_within=0.05,
                 reason=f"{1e3 * found.apart(0):.1f} mm at h = 0.01 s; the same balls hit at the same times"),
        Quantity("billiards: balls of the printed scheme overlap by up to", 1e3 *
                 plays[printed].certificate.worst["penetration"], 9.1, "mm", record_within=0.1,
                 reason="contacts act a step late, and nothing is projected"),
        Quantity("Painlevé's rod, as printed: steps before the impulse without impact", float(first[printed]), 1.0, "",
                 reason="f(q + h v) = 0 is not < 0: it falls for one step first; Moreau holds what touches"),
        *(Quantity(f"Painlevé's rod, {name}: impulse goes to Λ₂ with order", order(rods[name]), 1.0, "", 1.0, ORDER,
                   f"{rods[name][-1]:.4f} N s away at h = {ROD_STEPS[-1]:g} s", record_within=0.01)
          for name in SCHEMES),
        *(Quantity(f"Painlevé's rod, {name}: angle after 1 s, order", order(angles[name]), 1.0, "", 1.0, ORDER,
                   f"{1e3 * angles[name][-1]:.2f} mrad away at h = {ROD_STEPS[-1]:g} s", record_within=0.02)
          for name in SCHEMES),
        *(Quantity(f"theorem 1, {name}: order of q uniformly", found.limits[name].study.order("position_error"), 1.266,
                   "", record_within=0.005) for name in SCHEMES),
        *(Quantity(f"theorem 1, {name}: order of v in L¹", found.limits[name].study.order(), 1.4445, "",
                   record_within=0.005) for name in SCHEMES),
    ]  # fmt: skip
    runs = [run for name in SCHEMES for runs in (found.bounces[name], found.billiards[name], found.rods[name])
            for run in runs]  # fmt: skip
    worst = [run.certificate.worst for run in runs]
    certificate = {name: max(w[name] for w in worst) for name in ("natural_map", "scaled_map", "energy")}
    return Outcome(tuple(quantities), certificate, lambda: _figures(found))


def rest(run: Trajectory) -> float:
    """The end of the first step after which the ball is slower than a hundredth of what gravity makes in a step [s]."""
    fast = np.abs(run.v[:, 0]) > 0.01 * GRAVITY * run.info["dt"]
    return float(run.times[np.flatnonzero(fast)[-1] + 1]) if not fast[-1] else float("inf")


def _figures(found: Findings) -> dict[str, Figure]:
    from .figures.s00_printed import draw_printed

    return {"s00-as-printed": draw_printed(found)}


EXPERIMENT = Experiment(
    "s00-as-printed",
    "Stewart, survey (§3.2)",
    "Eq. 3.9–3.13 exactly as printed, beside Moreau",
    reproduce,
)
