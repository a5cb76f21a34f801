"""pr11 §6: Chatterjee's rod on a table, hit with a hammer on the end that stands out over the edge.

A rod of mass 1 and length 2 lies on a table up to 1.5 from its inner end. A blow of impulse 1 on its outer end turns it
about the edge. If the rod is rigid, the inner end lifts and so, by the velocity Signorini condition, has no reaction. A
rod with a torsion spring in its middle bends first: without the spring's help the inner end would go *down*, at
1 m/s, and so the table answers, although the end lifts afterwards. pr11 expects the answer of the complementarity
problem where the torsion spring is stiffer than the table, the other one where it is softer: so it is.

Heights of the middle and angles of the halves are small; there is no gravity, so that a run depends on the ratio of the
two stiffnesses alone and is its own stiff limit. Blow, table and rod are ours: the paper prints no numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..problem import ContactProblem, Dense
from ..schemes import Compliant
from ..simulation import Simulator
from ..solvers import solve
from ..systems import Gap, GeneralizedSystem
from .experiment import Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGE, BLOW = 1.5, 1.0
TABLE, ZETA, TORSION_ZETA = 1e6, 3.0, 0.3  # N/m; damping ratios of the edge under the rigid rod, and of the spring
RATIOS = tuple(10.0 ** np.arange(-6.0, 6.5, 1.0))  # torsion stiffness over table stiffness [m²]
SHOWN = (1e-3, 1e3)
DULL = 10.0  # so much more damping leaves hardly a bounce

# height of the middle, angles of the inner and of the outer half: halves of length 1 and mass 1/2
MASS: FloatArray = np.array([[1.0, -0.25, 0.25], [-0.25, 1.0 / 6.0, 0.0], [0.25, 0.0, 1.0 / 6.0]])
ROWS: FloatArray = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, EDGE - 1.0]])  # inner end, edge
TIP: FloatArray = np.array([1.0, 0.0, 1.0])
STRAIGHT: FloatArray = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # the rigid rod among these motions
BEND: FloatArray = np.array([0.0, -1.0, 1.0])


def struck(rigid: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mass, rows and velocity of the rod just after the blow, before the table answers."""
    span = STRAIGHT if rigid else np.eye(3)
    M = span.T @ MASS @ span
    return M, ROWS @ span, np.asarray(np.linalg.solve(M, -BLOW * span.T @ TIP), dtype=np.float64)


def complementarity(rigid: bool) -> tuple[FloatArray, FloatArray]:
    """Impulses and velocities (2,) of inner end and edge by the impulse–velocity problem, rigid or freely hinged."""
    M, H, v = struck(rigid)
    answer = solve(ContactProblem(Dense(M, H), v_free=v, row_ptr=[0, 1, 2], law=[1, 1]), solver="lemke", tol=1e-12)
    return answer.p, answer.u


def table_damping(zeta: float = ZETA) -> float:
    """gamma_n for which the edge under the rigid rod has the damping ratio `zeta` [N s/m]."""
    M, H, _ = struck(True)
    return 2.0 * zeta * math.sqrt(TABLE / float(H[1] @ np.linalg.solve(M, H[1])))


def restitution() -> float:
    """The coefficient of restitution of a mass on that spring and damper."""
    return math.exp(-ZETA * math.acosh(ZETA) / math.sqrt(ZETA**2 - 1.0))


def hammered(ratio: float) -> GeneralizedSystem:
    """The rod after the blow, with a torsion spring of `ratio` times the table's stiffness."""
    stiff = ratio * TABLE
    damping = 2.0 * TORSION_ZETA * math.sqrt(stiff / float(BEND @ np.linalg.solve(MASS, BEND)))

    def forces(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return -(stiff * float(BEND @ q) + damping * float(BEND @ v)) * BEND

    def contact(row: FloatArray, name: str) -> Gap:
        return Gap(lambda q: row @ q, lambda q: row, name=name)

    gaps = [contact(ROWS[0], "inner end"), contact(ROWS[1], "edge")]
    return GeneralizedSystem(
        MASS, forces, q=np.zeros(3), v=struck(False)[2], gaps=gaps, names=("middle", "inner", "outer"),
        potential=lambda q: 0.5 * stiff * float(BEND @ q) ** 2,
    )  # fmt: skip


@dataclass(frozen=True)
class Blow:
    """A run: times, forces (n, 2) of inner end and edge, total impulses and velocities (2,) when all is over."""

    times: FloatArray
    force: FloatArray
    impulse: FloatArray
    velocity: FloatArray
    error: float


def run(ratio: float, steps: int = 8, part: float = 1.0, zeta: float = ZETA) -> Blow:
    """Simulate until the spring is at rest; `part`: only so much of it."""
    duration = part * 30.0 / math.sqrt(TABLE * min(1.0, ratio))
    scheme = Compliant(TABLE, table_damping(zeta), 1.0)
    done = Simulator(hammered(ratio), duration / steps, scheme=scheme).run(duration, progress=False)
    force = done.table.impulse[:, 0].reshape(-1, 2) / done.info["dt"]
    error = float(np.abs(done.energy.work["truncation"]).max())
    return Blow(done.times[1:], force, force.sum(axis=0) * done.info["dt"], ROWS @ done.v[-1], error)


@dataclass(frozen=True)
class Findings:
    """What the experiment measured."""

    blows: tuple[Blow, ...]  # at RATIOS
    early: tuple[Blow, ...]  # at SHOWN, the first moments
    dull: Blow  # the softest rod on a table that hardly bounces
    rigid: tuple[FloatArray, FloatArray]
    hinged: tuple[FloatArray, FloatArray]

    @property
    def inner(self) -> FloatArray:
        """The impulse at the inner end, over the ratios [N s]."""
        return np.array([blow.impulse[0] for blow in self.blows])

    @property
    def half(self) -> float:
        """The ratio at which half of the soft rod's impulse is left."""
        logs = np.log10(RATIOS)
        return float(10.0 ** np.interp(-0.5 * self.inner[0], -self.inner, logs))


def measure() -> Findings:
    """Every run."""
    early = (run(SHOWN[0], 100, 0.0012), run(SHOWN[1], 100, 0.038))
    blows, dull = tuple(run(r) for r in RATIOS), run(RATIOS[0], zeta=DULL * ZETA)
    return Findings(blows, early, dull, complementarity(True), complementarity(False))


def reproduce() -> Outcome:
    """Which answer in which limit."""
    found = measure()
    soft, stiff = found.blows[0], found.blows[-1]
    inner = found.inner
    quantities = (
        claim("a soft rod presses at its inner end although that lifts", bool(soft.impulse[0] > 0.1
              and soft.velocity[0] > 0.0), "against the velocity Signorini condition"),
        claim("a rod stiffer than the table recovers the solution of the LCP", stiff.impulse[0] < 1e-3,
              "the inner end lifts without a reaction"),
        Quantity("rigid rod, complementarity: impulse at the inner end", float(found.rigid[0][0]), 0.0, "N s",
                 reason=f"it lifts, at {found.rigid[1][0]:.4f} m/s"),
        Quantity("the same at the edge", float(found.rigid[0][1]), 10.0 / 7.0, "N s"),
        Quantity("hinged rod: velocity of the inner end before the table answers", float((ROWS @ struck(False)[2])[0]),
                 -1.0, "m/s", reason="down: of a rigid rod +2"),
        Quantity("hinged rod, complementarity: impulse at the inner end", float(found.hinged[0][0]), 0.25, "N s"),
        Quantity("torsion spring 1e6 times stiffer: impulse at the inner end", float(stiff.impulse[0]), 1.5976e-4,
                 "N s", record_tolerance=5e-3, reason="the complementarity problem's 0, recovered as pr11 says"),
        Quantity("it falls, per decade of the ratio, by", float(inner[-2] / inner[-1]), 3.1520, "",
                 record_tolerance=0.01, reason="the square root of the ratio"),
        Quantity("the same at the edge", float(stiff.impulse[1]), 1.6489, "N s", record_tolerance=1e-4,
                 reason=f"10/7 and the bounce of its spring and damper, 1 + e = {1.0 + restitution():.4f}"),
        Quantity("torsion spring 1e6 times softer: impulse at the inner end", float(soft.impulse[0]), 0.27389, "N s",
                 record_tolerance=1e-4, reason="0.25 of the hinged rod, and a tenth more by the bounce of the table: "
                 "its damper acts on approach only, and the spring gives back what it took"),
        Quantity("and yet it lifts, at", float(soft.velocity[0]), 2.2278, "m/s", record_tolerance=1e-3,
                 reason="impulse and lift-off at once: not a solution of the velocity Signorini condition"),
        Quantity("half of that impulse is left at a ratio of", found.half, 0.1409, "m²", record_tolerance=1e-3,
                 reason="torsion over table stiffness"),
        Quantity(f"softer rod, table damped {DULL:g} times as much: inner end", float(found.dull.impulse[0]),
                 0.25216, "N s", record_tolerance=1e-4, reason="the bounce goes as 1 / damping, and 0.25 is left"),
    )  # fmt: skip
    worst = max(blow.error for blow in (*found.blows, *found.early, found.dull))
    return Outcome(quantities, {"energy": worst}, lambda: _figures(found))


def _figures(found: Findings) -> dict[str, Figure]:
    from .figures.hammer import draw_hammer

    return {"pr11-hammer": draw_hammer(found)}


EXPERIMENT = Experiment(
    "pr11-hammer",
    "Preclik, Rüde 2011 (§6)",
    "A rod over the edge of a table, hit with a hammer: bending or table",
    reproduce,
)
