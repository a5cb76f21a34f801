"""ah03 §3, the Brazil nut once more: is the printed rise an effect of the relaxed law, and of which order in h?

The scene of `ah03_brazil_nut` over seeds, steps h and four laws:

    relaxed    the convex form of the paper: sliding contacts are held apart by µ h times their slip speed λ (eq. 2.10)
    rigid      Coulomb's law (eq. 2.9), rigid contacts
    elastic    Coulomb's law on springs that are as stiff as the step allows, up to 1e7 N/m, with a remembered
               displacement (Cundall and Strack) and critical damping: a discrete-element run
    soft       the same with the stiffness that the longest step resolves, 3e5 N/m, at every step

What a run gives is the rise of the large disk through the bed: its height above the centre of the small disks after
the last shakes, less that at the start. Where the bed is thrown as a block, or flies, nothing rises. If µ h λ is the
cause, the rise of the relaxed law in excess of that of Coulomb's falls with h at first order, and what is left as h
falls is Coulomb's own. Means are over seeds, and their intervals hold 95 % of what resampling the seeds gives.

A run is a row of a table, a CSV file in the current folder; a study that was interrupted goes on after its last row.

The relaxed law is solved to 1e-6 in every step. Coulomb's is aimed at 1e-6 and taken up to 1e-3, the default of large
problems: in a bed that is thrown, rigid contacts get no further in most steps. The table says how many these are.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..errors import ModelError
from ..friction import Coulomb
from ..problem.laws import Mode
from ..schemes import AnitescuHart
from ..schemes.base import StepResult
from ..simulation import Simulator
from ..status import Status
from ..systems import Elastic
from .ah03_brazil_nut import LARGE, MU, PERIOD, TOL, nut
from .experiment import Outcome, Quantity
from .progress import track

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "ah03-brazil-nut-study.csv"
STEPS = (0.1, 0.025, 0.0125, 0.00625)
FINE = 0.025  # s: with longer steps the relaxed law has the disk near the surface before the last shakes
SEEDS = tuple(range(1, 11))
SHAKES, LAST = 24, 4  # shakes of a run, half of those of the paper, and those at its end whose mean is taken
# stiffness [N/m] and critical damping [N s/m] of two small disks (7.85 kg): None where contacts are rigid
LAWS: dict[str, Elastic | None] = {
    "relaxed": None, "rigid": None, "elastic": Elastic(1e7, damping=12_500.0), "soft": Elastic(3e5, damping=2_170.0),
}  # fmt: skip
ACCEPT = 1e-3  # of Coulomb's law; the relaxed one is solved to TOL
RESAMPLES = 4000


@dataclass(frozen=True)
class Row:
    """A run: its law, step [s] and seed, and what came of it.

    rise [m]: mean over the last shakes; above: how many small disks lie on the large one after them; slip [m/s]: mean
    slip speed of contacts that slide, weighted by their normal impulse; overlap [m]: the largest; accepted, failed:
    steps that missed the tolerance and were taken up to `ACCEPT`, or all the same; residual: the largest; cpu [s].
    rises [m]: after every shake.
    """

    law: str
    h: float
    seed: int
    shakes: int
    rise: float
    above: float
    slip: float
    overlap: float
    accepted: int
    failed: int
    residual: float
    cpu: float
    rises: str


@dataclass
class _Watch:
    """What is kept of the steps of a run while it goes on."""

    accepted: int = 0
    failed: int = 0
    residual: float = 0.0
    overlap: float = 0.0
    pressed: float = 0.0  # normal impulse of contacts that slide [N s]
    slid: float = 0.0  # the same times their slip speed
    rises: list[float] = field(default_factory=list)
    above: list[int] = field(default_factory=list)

    def step(self, result: StepResult) -> None:
        """A step."""
        self.accepted += result.status is Status.ACCEPTED
        self.failed += not (result.success or result.status is Status.ACCEPTED)
        if result.solution is not None and result.certificate is not None:
            self.residual = max(self.residual, result.solution.certificate.error)
            self.overlap = max(self.overlap, result.certificate.penetration)
        sliding = result.contacts.mode == Mode.SLIP
        p, u = result.contacts.impulse[sliding, 0], result.contacts.velocity[sliding, 1]
        self.pressed += float(p.sum())
        self.slid += float(np.sum(p * np.abs(u)))

    def shake(self, places: FloatArray, start: float) -> None:
        """A shake has ended, with the disks at `places` (201, 2), the large one first."""
        large, small = places[0], places[1:]
        self.rises.append(height(places) - start)
        self.above.append(int(((np.abs(small[:, 0] - large[0]) < LARGE) & (small[:, 1] > large[1])).sum()))


def height(places: FloatArray) -> float:
    """The large disk's height above the centre of the small ones [m]; places (201, 2), the large one first."""
    return float(places[0, 1] - places[1:, 1].mean())


def shake(law: str, h: float, seed: int, shakes: int = SHAKES) -> Row:
    """Shake the box, and see how far the large disk has come."""
    begin, per_shake = time.process_time(), round(PERIOD / h)
    world = nut(seed)
    world.set_material("default", friction=Coulomb(MU), compliance=LAWS[law])
    scheme = AnitescuHart(relaxation="convex" if law == "relaxed" else "none")
    accept = TOL if law == "relaxed" else ACCEPT
    sim = Simulator(world, h, scheme=scheme, tol=TOL, accept=accept, on_failure="continue")
    watch, start = _Watch(), height(sim.state.q.reshape(-1, 3)[2:, :2])
    for step in range(1, per_shake * (shakes + 1) + 1):
        watch.step(sim.step())
        if step % per_shake == 0 and step > per_shake:  # the first period is quiet
            watch.shake(sim.state.q.reshape(-1, 3)[2:, :2], start)
    return Row(
        law, h, seed, shakes, round(float(np.mean(watch.rises[-LAST:])), 4),
        round(float(np.mean(watch.above[-LAST:])), 2), float(f"{watch.slid / max(watch.pressed, 1e-300):.4g}"),
        float(f"{watch.overlap:.3g}"), watch.accepted, watch.failed, float(f"{watch.residual:.3g}"),
        round(time.process_time() - begin, 1), " ".join(f"{x:.3f}" for x in watch.rises),
    )  # fmt: skip


def read_rows(path: Path) -> list[Row]:
    """The rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(line for line in file if not line.startswith("#")))
    kinds = {one.name: {"str": str, "int": int, "float": float}[str(one.type)] for one in fields(Row)}
    if any(set(row) != set(kinds) or None in row.values() for row in found):
        raise ModelError(f"{path} is no table of this study; remove it, or run the study in another folder.")
    return [Row(**{name: kinds[name](row[name]) for name in kinds}) for row in found]


def append_row(path: Path, row: Row) -> None:
    """Write a row at the end of the table."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        lines = csv.DictWriter(file, [one.name for one in fields(Row)], lineterminator="\n")
        if new:
            file.write(f"# stiction reproduce ah03-brazil-nut --study, {time.strftime('%d %B %Y')}\n")
            lines.writeheader()
        lines.writerow(asdict(row))


def collect(path: Path, laws: Sequence[str], steps: Sequence[float], seeds: Sequence[int], shakes: int) -> list[Row]:
    """The rows of all these runs: those that the table has, and the others, which are run and added to it."""
    known = {(row.law, row.h, row.seed): row for row in read_rows(path) if row.shakes == shakes}
    rows = []
    for seed, law, h in track(list(product(seeds, laws, steps)), "seeds by laws by steps"):
        row = known.get((law, h, seed))
        if row is None:
            row = shake(law, h, seed, shakes)
            append_row(path, row)
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and the interval that holds 95 % of what resampling them gives."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, mean: float, resampled: FloatArray) -> Estimate:
        """From the values that resampling gives."""
        low, high = np.nanpercentile(resampled, (2.5, 97.5))
        return cls(mean, float(low), float(high))

    def __str__(self) -> str:
        return f"{self.low:.2f} to {self.high:.2f}"


@dataclass(frozen=True)
class Findings:
    """What the rows say; every resampling takes as many seeds as there are, with repetition, law by law."""

    rows: Sequence[Row]

    @property
    def steps(self) -> list[float]:
        """The steps [s], longest first."""
        return sorted({row.h for row in self.rows}, reverse=True)

    @property
    def laws(self) -> list[str]:
        """The laws, in the order of the study."""
        return [law for law in LAWS if any(row.law == law for row in self.rows)]

    def values(self, name: str, law: str, h: float) -> FloatArray:
        """(n,) of the seeds, in their order."""
        chosen = sorted((row for row in self.rows if row.law == law and row.h == h), key=lambda row: row.seed)
        return np.array([getattr(row, name) for row in chosen], dtype=np.float64)

    def _resampled(self, law: str, h: float) -> FloatArray:
        """(RESAMPLES,) mean rises [m]."""
        values = self.values("rise", law, h)
        rng = np.random.default_rng([list(LAWS).index(law), round(1e4 * h)])
        return np.asarray(values[rng.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1))

    def rise(self, law: str, h: float) -> Estimate:
        """The mean rise [m]."""
        return Estimate.of(float(self.values("rise", law, h).mean()), self._resampled(law, h))

    def excess(self, law: str, h: float) -> Estimate:
        """By how much more the disk rises than with Coulomb's law and rigid contacts [m]."""
        mean = self.values("rise", law, h).mean() - self.values("rise", "rigid", h).mean()
        return Estimate.of(float(mean), self._resampled(law, h) - self._resampled("rigid", h))

    def order(self, law: str) -> Estimate:
        """The order in h of the excess at steps of up to `FINE`, by least squares; none of resamplings below zero."""
        steps = [h for h in self.steps if h <= FINE]
        log_h = np.log(steps) - np.log(steps).mean()

        def slope(excess: FloatArray) -> FloatArray:
            log = np.log(np.where(excess > 0.0, excess, np.nan))
            return np.asarray(log_h @ (log - log.mean(axis=0)) / (log_h @ log_h))

        mean = slope(np.array([[self.excess(law, h).mean] for h in steps]))
        drawn = slope(np.array([self._resampled(law, h) - self._resampled("rigid", h) for h in steps]))
        return Estimate.of(float(mean[0]), drawn)

    def lift(self, law: str, h: float) -> float:
        """µ h λ [m]: the gap at which the relaxed law holds a contact that slides, with the mean slip speed λ."""
        return MU * h * float(self.values("slip", law, h).mean())


# rise [m]: mean and standard deviation over the seeds of the table in docs/data
RECORD = {
    ("relaxed", 0.1): (9.435, 0.91), ("relaxed", 0.025): (8.946, 0.88),
    ("relaxed", 0.0125): (5.606, 1.07), ("relaxed", 0.00625): (4.640, 1.56),
    ("rigid", 0.1): (2.440, 0.54), ("rigid", 0.025): (2.422, 0.50),
    ("rigid", 0.0125): (2.406, 0.37), ("rigid", 0.00625): (2.962, 0.72),
    ("elastic", 0.1): (4.025, 1.50), ("elastic", 0.025): (2.564, 0.55),
    ("elastic", 0.0125): (2.958, 0.60), ("elastic", 0.00625): (4.517, 1.30),
    ("soft", 0.1): (4.762, 1.75), ("soft", 0.025): (9.464, 3.18),
    ("soft", 0.0125): (9.909, 2.64), ("soft", 0.00625): (10.799, 2.62),
}  # fmt: skip


def study(table: Path | None = None) -> Outcome:
    """Run what the table does not have yet, and say what all of it shows; table: by default in the current folder."""
    found = Findings(collect(Path(TABLE) if table is None else table, tuple(LAWS), STEPS, SEEDS, SHAKES))
    quantities = []
    for law, h in product(found.laws, found.steps):
        rise, above = found.rise(law, h), found.values("above", law, h).mean()
        mean, deviation = RECORD[law, h]
        quantities.append(
            Quantity(f"{law}, h = {h:g} s: rise after {SHAKES} shakes, mean", rise.mean, mean, "m",
                     record_within=4.5 * deviation / np.sqrt(len(SEEDS)),
                     reason=f"{rise} with 95 % confidence, of {len(found.values('rise', law, h))} seeds; {above:.0f} "
                     f"disks lie on it; µ h λ = {found.lift(law, h):.2g} m")
        )  # fmt: skip
    order, coarse, fine = found.order("relaxed"), found.excess("relaxed", FINE), found.excess("relaxed", STEPS[-1])
    quantities += [
        Quantity(f"order in h of what the relaxed law adds, h = {FINE:g} to {STEPS[-1]:g} s", order.mean, 1.0,
                 record_within=0.5, reason=f"{order} with 95 % confidence; {coarse} m and {fine} m are added; 1 is "
                 "that of µ h λ"),
        Quantity("what the relaxed law adds is above zero at every step, 1 = yes",
                 float(all(found.excess("relaxed", h).low > 0.0 for h in found.steps)), 1.0),
        Quantity("rigid contacts under Coulomb's law leave the disk buried at every step, 1 = yes",
                 float(all(found.values("above", "rigid", h).min() > 10.0 for h in found.steps)), 1.0,
                 reason="more than ten disks lie on it after every run; 42 do at the start"),
        Quantity("soft contacts under Coulomb's law bring it up, h = 0.00625 s, 1 = yes",
                 float(found.excess("soft", STEPS[-1]).low > fine.high), 1.0,
                 reason=f"by {found.excess('soft', STEPS[-1])} m more than rigid ones, without any relaxation"),
    ]  # fmt: skip
    rows = found.rows
    missed = {law: sum(row.accepted + row.failed for row in rows if row.law == law) for law in found.laws}
    notes = (
        f"{len(rows)} runs of {SHAKES} shakes, {sum(row.cpu for row in rows) / 60:.0f} minutes of one core; steps "
        f"above {TOL:g}: " + ", ".join(f"{law} {count}" for law, count in missed.items()) +
        f"; not solved to {ACCEPT:g} either: {sum(row.failed for row in rows)}",
        f"a run is a row of {TABLE}; runs that are in it are not repeated",
    )  # fmt: skip
    certificate = {"scaled_map": max(row.residual for row in rows), "penetration": max(row.overlap for row in rows)}
    return Outcome(tuple(quantities), certificate, lambda: _figure(found), notes)


def _figure(found: Findings) -> dict[str, Figure]:
    from .figures.nut import nut_study

    rises = {law: [found.rise(law, h) for h in found.steps] for law in found.laws}
    excess = {law: [found.excess(law, h) for h in found.steps] for law in found.laws if law != "rigid"}
    lifts = [found.lift("relaxed", h) for h in found.steps]
    return {"ah03-brazil-nut-study": nut_study(np.array(found.steps), rises, excess, np.array(lifts), SHAKES)}
