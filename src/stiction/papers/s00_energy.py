"""s00 §1.1: Newton's law "is known to sometimes give an increase in the total energy when friction is involved", and
"Poisson impact laws are known to give loss of energy for some situations with e = 1". No example is printed.

Newton's law is tried on Kane's double pendulum and on an oblique rod, Poisson's law on balls without friction: what it
loses there is not friction's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from .experiment import Experiment, Outcome, Quantity, claim
from .impacts import LAWS, Blow, Exactly, double_pendulum, oblique_rod, three_balls

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = ("in phases", "followed through")
KANE_E, KANE_MU = 0.5, 0.5
ROD_ANGLE, ROD_MU, ROD_SLIP, ROD_E = 70.0, 0.2, 0.4, 1.0
ANGLES, SLIPS, MUS, ES = np.arange(5.0, 89.0, 7.0), (-1.0, -0.2, 0.2, 1.0), (0.1, 0.2, 0.5, 1.0), (0.25, 0.5, 0.75, 1.0)
GAIN = 1e-9  # of the energy before: what counts as gained or lost
AWAY = np.linspace(0.0, 1.2, 49)  # m/s
CASES, SEED = 2000, 0


def energies(blow: Blow, e: float, by: Exactly) -> FloatArray:
    """(2, 3) kinetic energy after over that before, by form and law."""
    return np.array(
        [
            [blow.energy(blow.after(law, e, by)) for law in LAWS],
            [blow.energy(blow.followed(law, e)) for law in LAWS],
        ]
    )


def rod_cases(by: Exactly) -> FloatArray:
    """(768, 2, 3) the energies of every rod of the grid."""
    grid = product(ANGLES, SLIPS, MUS, ES)
    return np.array([energies(oblique_rod(np.radians(angle), slip, mu), e, by) for angle, slip, mu, e in grid])


@dataclass(frozen=True)
class Gains:
    """Energies after over before: kane (2, 3), rod (2, 3), and the cases (768, 2, 3)."""

    kane: FloatArray
    rod: FloatArray
    cases: FloatArray


def reproduce_gains() -> Outcome:
    """Kane's pendulum, a rod, and 768 rods by the three laws in both forms."""
    by = Exactly()
    found = Gains(
        energies(double_pendulum(KANE_MU), KANE_E, by),
        energies(oblique_rod(np.radians(ROD_ANGLE), ROD_SLIP, ROD_MU), ROD_E, by),
        rod_cases(by),
    )
    gains = (found.cases > 1.0 + GAIN).sum(axis=0)
    most = found.cases.max(axis=0)
    recorded: dict[str, list[list[float]]] = {
        "pendulum": [[1.587495, 0.544866, 0.587076], [0.737153, 0.545078, 0.553188]],
        "rod": [[1.117688, 0.970838, 1.008069], [1.013996, 0.893315, 0.910582]],
        "gains": [[52, 0, 22], [36, 0, 0]],
    }
    quantities = [
        claim("Newton's law can add energy", found.kane[0, 0] > 1.0, "Kane's double pendulum, e = 0.5, mu = 0.5"),
    ]  # fmt: skip
    for name, values in (("pendulum", found.kane), ("rod", found.rod)):
        for (i, form), (k, law) in product(enumerate(FORMS), enumerate(LAWS)):
            quantities.append(
                Quantity(f"{name}: energy after over before, {law}, {form}", float(values[i, k]), recorded[name][i][k])
            )
    for (i, form), (k, law) in product(enumerate(FORMS), enumerate(LAWS)):
        quantities.append(
            Quantity(f"rods that gain, of {len(found.cases)}: {law}, {form}", float(gains[i, k]),
                     float(recorded["gains"][i][k]), reason=f"at most {100 * (most[i, k] - 1):+.2f} %")
        )  # fmt: skip
    return Outcome(tuple(quantities), by.worst, lambda: _gain_figure(found))


def lost(blow: Blow, by: Exactly) -> float:
    """The share of the kinetic energy that Poisson's law loses with e = 1."""
    return 1.0 - blow.energy(blow.after("poisson", 1.0, by))


def random_blow(rng: np.random.Generator, contacts: int, approaching: bool) -> Blow:
    """Bodies without friction that touch at several contacts, at least one of which approaches."""
    root = rng.normal(size=(contacts, contacts))
    u = rng.normal(size=contacts)
    u[0] = -abs(u[0])
    return Blow(
        np.asarray(np.linalg.inv(root @ root.T + 0.1 * np.eye(contacts)), dtype=np.float64),
        np.eye(contacts),
        -np.abs(u) if approaching else u,
        rows_each=1,
    )


@dataclass(frozen=True)
class Losses:
    """Of three balls by AWAY: what is lost, the same in closed form, velocities after; and random cases by kind."""

    balls: FloatArray
    exact: FloatArray
    after: FloatArray
    single: FloatArray
    approaching: FloatArray
    mixed: FloatArray


def closed_form(away: FloatArray) -> FloatArray:
    """min(s, 1 - s)²/4 over (1 + s²)/2 for the third ball leaving at s < 1 m/s, else nothing."""
    return np.asarray(0.25 * np.maximum(0.0, np.minimum(away, 1.0 - away)) ** 2 / (0.5 * (1.0 + away**2)))


def reproduce_losses() -> Outcome:
    """Three balls, and a search over random contacts without friction."""
    rng, by = np.random.default_rng(SEED), Exactly()
    balls = [three_balls(float(s)) for s in AWAY]
    found = Losses(
        np.array([lost(blow, by) for blow in balls]),
        closed_form(AWAY),
        np.array([blow.after("poisson", 1.0, by) for blow in balls]),
        np.array([lost(random_blow(rng, 1, True), by) for _ in range(CASES // 10)]),
        np.array([lost(random_blow(rng, 3, True), by) for _ in range(CASES)]),
        np.array([lost(random_blow(rng, 3, False), by) for _ in range(CASES)]),
    )
    worst = int(found.balls.argmax())
    share = (found.mixed > GAIN).mean()
    quantities = (
        claim("Poisson's law can lose energy with e = 1", found.balls[worst] > GAIN,
              "three balls without friction: the loss is not friction's"),
        Quantity("largest loss of the three balls", float(found.balls[worst]), 0.1, "", record_tolerance=1e-9,
                 reason=f"of the energy, the third ball leaving at {AWAY[worst]:g} m/s"),
        Quantity("largest distance from min(s, 1 - s)²/4", float(np.abs(found.balls - found.exact).max()), 0.0, "",
                 record_within=1e-12, reason="relative to the energy before"),
        Quantity("random impacts at one contact that lose", float((np.abs(found.single) > GAIN).sum()), 0.0, "",
                 reason=f"of {len(found.single)}, without friction"),
        Quantity("at three contacts that all approach", float((np.abs(found.approaching) > GAIN).sum()), 0.0, "",
                 reason=f"of {CASES}: none loses"),
        Quantity("at three contacts some of which part, share that loses", float(share), 0.2435, "",
                 record_tolerance=1e-6,
                 reason=f"of {CASES}; on average {100 * found.mixed.mean():.1f} % of the energy, at most "
                        f"{100 * found.mixed.max():.0f} %"),
        Quantity("random impacts that gain", float(sum((x < -GAIN).sum() for x in
                 (found.single, found.approaching, found.mixed))), 0.0),
    )  # fmt: skip
    return Outcome(quantities, by.worst, lambda: _loss_figure(found))


def _gain_figure(found: Gains) -> dict[str, Figure]:
    from .figures.impacts import draw_gains

    return {"s00-newton-gains": draw_gains(found)}


def _loss_figure(found: Losses) -> dict[str, Figure]:
    from .figures.impacts import draw_losses

    return {"s00-poisson-loses": draw_losses(found)}


GAINS = Experiment(
    "s00-newton-gains",
    "Stewart, survey (§1.1)",
    "Newton's law adds energy where there is friction: Kane's double pendulum and an oblique rod",
    reproduce_gains,
)
LOSSES = Experiment(
    "s00-poisson-loses",
    "Stewart, survey (§1.1)",
    "Poisson's law with e = 1 loses energy at several contacts, without friction",
    reproduce_losses,
)
