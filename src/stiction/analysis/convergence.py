"""Does the answer converge as the step goes to zero, how fast, and in which sense?

Errors in the norms of st96 Table 1, and the measure sense of s00 §4.2–4.3, eq. 4.2: q uniformly, v in L¹ with bounded
variation, and impulses weak*: `∫φ dp_h` for continuous φ. Whether what they converge to can be a solution is asked by
s00 eq. 4.1, which `inclusion` tests on each run. The behaviour of impulses as h → 0 is also the only thing
that tells an impulse from a large force (st96 §1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..problem.laws import UNILATERAL
from ..schemes.base import Scheme
from ..simulation.simulator import Simulator
from ..simulation.trajectory import Trajectory
from ..solvers import Solver
from ..systems import PlanarWorld, World
from ..systems.base import System
from .inclusion import Inclusion, inclusion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Exact = Callable[[float], tuple[FloatArray, FloatArray]]
ERRORS = ("position_error", "velocity_error", "inclusion_error")

# Continuous test functions on [0, 1] (time over duration) for the weak* convergence of impulses.
TEST_FUNCTIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "1": np.ones_like,
    "t": lambda s: s,
    "sin πt": lambda s: np.sin(np.pi * s),
    "cos 3πt": lambda s: np.cos(3 * np.pi * s),
    "exp(-t)": lambda s: np.exp(-s),
}


@dataclass(frozen=True)
class ImpulseScaling:
    """How the normal impulse of one contact scales with h around one moment: p ~ h^exponent.

    time [s] and events: when, and what happened there at the finest step; impulses (n,): the largest impulse of two
    consecutive steps at each step size [N·s] (a position-level scheme spreads an impact over two); kind: "finite
    force" (exponent near 1), "impulsive" (near 0), "in between", or "unresolved" (absent at too many step sizes).
    """

    contact: str
    time: float
    events: tuple[str, ...]
    impulses: FloatArray
    exponent: float
    kind: str


@dataclass(frozen=True)
class Convergence:
    """The result of a convergence study; `print(study)` shows its table. Arrays have one entry per step size.

    position_error: sup over time of the ∞-norm of q_h - q; velocity_error: ∫ |v_h - v|_∞ dt; velocity_variation: the
    largest componentwise total variation of v_h; weak: for each contact (n, tests) of `∫φ dp_h` [N·s] of the normal
    impulse; scalings: how the impulses of each contact event scale. With the finest run as reference its own errors
    are NaN.
    """

    steps: FloatArray
    position_error: FloatArray
    velocity_error: FloatArray
    velocity_variation: FloatArray
    weak: Mapping[str, FloatArray]
    tests: tuple[str, ...]
    scalings: tuple[ImpulseScaling, ...]
    runs: tuple[Trajectory, ...]
    reference: str
    inclusions: tuple[Inclusion, ...] = ()

    @property
    def inclusion_error(self) -> FloatArray:
        """(n,) the worst distance of each run from the inclusion; NaN where that was not asked for."""
        return np.array([made.worst for made in self.inclusions] or [np.nan] * len(self.steps))

    @checks_arguments
    def order(self, error: str = "velocity_error") -> float:
        """The observed order: the least-squares slope of log error against log h, over the steps with an error."""
        _check.choice("error", error, ERRORS)
        values = getattr(self, error)
        good = np.isfinite(values) & (values > 0)
        if good.sum() < 2:
            return float("nan")
        return float(np.polyfit(np.log(self.steps[good]), np.log(values[good]), 1)[0])

    @checks_arguments
    def weak_error(self, contact: str) -> FloatArray:
        """(n-1,) the largest |∫φ dp_h - ∫φ dp| over the test functions, against the finest step [N·s]."""
        values = self.weak[_check.choice("contact", contact, list(self.weak))]
        return np.abs(values[:-1] - values[-1]).max(axis=1)

    def __str__(self) -> str:
        lines = [f"{'h [s]':>10s} {'velocity error':>15s} {'position error':>15s} {'velocity variation':>19s}"]
        for row in zip(self.steps, self.velocity_error, self.position_error, self.velocity_variation):
            cells = [f"{x:15.5g}" if np.isfinite(x) else f"{'-':>15s}" for x in row[1:3]]
            lines.append(f"{row[0]:10.6g} {cells[0]} {cells[1]} {row[3]:19.5g}")
        if self.inclusions:
            lines[0] += f" {'outside cones':>15s}"
            lines[1:] = [f"{line} {x:15.3g}" for line, x in zip(lines[1:], self.inclusion_error)]
        orders = [f"{self.order(name):15.2f}" for name in ("velocity_error", "position_error")]
        lines.append(f"{'order':>10s} {orders[0]} {orders[1]}   (against {self.reference})")
        for s in self.scalings:
            lines.append(f"{s.time:10.4f} s: {s.contact}: p ~ h^{s.exponent:.2f}, {s.kind} ({', '.join(s.events)})")
        return "\n".join(lines)

    @checks_arguments
    def plot(self, *, path: str | Path | None = None) -> Figure:
        """Errors against h in logarithmic axes, with a line of order one; written to `path` if given."""
        from ..view.convergence import plot_convergence

        return plot_convergence(self, path=path)


@checks_arguments
def convergence(
    make: System | World | PlanarWorld | Callable[[], System | World | PlanarWorld],
    steps: Sequence[float],
    duration: float,
    *,
    scheme: Scheme | None = None,
    solver: str | Solver = "auto",
    tol: float = 1e-6,
    exact: Exact | None = None,
    member: bool = False,
) -> Convergence:
    """Run a scene at several step sizes and compare.

    make: a system, or a function that makes one; steps: step sizes [s]; duration [s]. exact: t -> (q, v) gives the
    exact solution; without it the finest run is the reference, as in st96 Table 1. member: test each run for membership
    in the weak measure differential inclusion (`inclusion`), which takes about as long as the runs.
    """
    sizes = np.sort(_check.floats("steps", steps, (None,)))[::-1]
    if len(sizes) < 2 or sizes[-1] <= 0 or (np.diff(sizes) == 0).any():
        raise ModelError("steps must hold at least two different positive step sizes.")
    system_of = make if callable(make) else (lambda: make)
    strict: dict[str, Any] = {"scheme": scheme, "solver": solver, "tol": tol, "accept": tol}
    runs = tuple(Simulator(system_of(), float(h), **strict).run(duration) for h in sizes)
    return compare(runs, exact=exact, system=system_of() if member else None)


@checks_arguments
def compare(runs: Sequence[Trajectory], *, exact: Exact | None = None, system: Any = None) -> Convergence:
    """The convergence study of runs that exist already, of the same scene at different steps, coarsest first.

    system: the system or world of these runs, to test each for membership in the measure differential inclusion.
    """
    runs = tuple(runs)
    if not runs:
        raise ModelError("runs must hold at least one trajectory.")
    finest = runs[-1]
    errors = []
    for run in runs:
        if exact is not None:
            errors.append(_errors_exact(run, exact))
        else:
            errors.append((np.nan, np.nan) if run is finest else _errors(run, finest))
    names = _contact_names(runs)
    span = float(min(run.times[-1] for run in runs))
    return Convergence(
        steps=np.array([run.info["dt"] for run in runs]),
        position_error=np.array([e[0] for e in errors]),
        velocity_error=np.array([e[1] for e in errors]),
        velocity_variation=np.array([np.abs(np.diff(run.v, axis=0)).sum(axis=0).max() for run in runs]),
        weak={name: np.array([_weak(run, name, span) for run in runs]) for name in names},
        tests=tuple(TEST_FUNCTIONS),
        scalings=tuple(_scalings(runs, names)),
        runs=runs,
        reference="the exact solution" if exact is not None else f"the run at h = {finest.info['dt']:g} s",
        inclusions=() if system is None else tuple(inclusion(system, run) for run in runs),
    )


def _errors(run: Trajectory, reference: Trajectory) -> tuple[float, float]:
    """Both runs are piecewise linear in q and constant in v between steps, so the union of their grids is exact."""
    end = min(run.times[-1], reference.times[-1])
    grid = np.unique(np.concatenate([run.times, reference.times]))
    grid = grid[grid <= end * (1 + 1e-12)]
    position = np.abs(_at(run, grid) - _at(reference, grid)).max()
    middle = 0.5 * (grid[1:] + grid[:-1])
    velocity = np.abs(_velocity(run, middle) - _velocity(reference, middle)).max(axis=1) @ np.diff(grid)
    return float(position), float(velocity)


def _errors_exact(run: Trajectory, exact: Exact, parts: int = 8) -> tuple[float, float]:
    t = run.times
    middle = (t[:-1, None] + np.diff(t)[:, None] * (np.arange(parts) + 0.5) / parts).ravel()
    q, _ = _solution(exact, t)
    q_middle, v_middle = _solution(exact, middle)
    position = max(np.abs(run.q - q).max(), np.abs(_at(run, middle) - q_middle).max())
    gaps = np.abs(_velocity(run, middle) - v_middle).max(axis=1)
    return float(position), float(gaps @ np.repeat(np.diff(t) / parts, parts))


def _solution(exact: Exact, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(len(t), nq) and (len(t), nv): the exact solution at some times."""
    found = [exact(float(s)) for s in t]
    if any(not isinstance(one, (tuple, list)) or len(one) != 2 for one in found):
        raise ModelError(f"exact must be a function of t that returns (q, v); it returned {_check.describe(found[0])}.")
    q, v = (_check.floats(f"{name} of exact(t)", [np.atleast_1d(x) for x in xs]) for name, xs in zip("qv", zip(*found)))
    return q, v


def _at(run: Trajectory, t: FloatArray) -> FloatArray:
    return np.column_stack([np.interp(t, run.times, column) for column in _coordinates(run).T])


def _coordinates(run: Trajectory) -> FloatArray:
    """q, or for bodies in space positions and integrals of the angular velocity: quaternions are no vectors."""
    world = run.info.get("world")
    if world is None or world["dim"] == 2:
        return run.q
    moved = np.zeros_like(run.v)
    np.cumsum(run.v[1:] * np.diff(run.times)[:, None], axis=0, out=moved[1:])
    return moved


def _velocity(run: Trajectory, t: FloatArray) -> FloatArray:
    """v_h(t) = v^{l+1} on (t_l, t_{l+1}]: the slope of q_h."""
    index = np.searchsorted(run.times, t, side="left")
    return run.v[np.clip(index, 1, len(run.times) - 1)]


def _contact_names(runs: Sequence[Trajectory]) -> list[str]:
    """The contacts that acted in any run: by name, or by the two bodies of a world, in the order of their keys."""
    names: dict[tuple[int, int], str] = {}
    for run in runs:
        acting = np.flatnonzero(run.table.law == UNILATERAL)
        _, first = np.unique(run.table.key[acting], return_index=True)
        for row in acting[first].tolist():
            a, b = sorted(run.table.bodies[row].tolist())
            key = int(run.table.key[row])
            names[(a, b) if a >= 0 else (-1, key)] = run.body_pair(row) if a >= 0 else run.constraint_names[key]
    return [names[key] for key in sorted(names)]


def _normal(run: Trajectory, name: str) -> FloatArray:
    """The normal impulse of a contact, or of all contact points of two bodies, in each step."""
    if run.info.get("world") is None:
        known = name in run.constraint_names.values()
        p: FloatArray = run.contacts(name).impulse[:, 0] if known else np.zeros(len(run.times) - 1)
        return p
    total = np.zeros(len(run.times) - 1)
    a, b = (run.info["world"]["bodies"].index(part) for part in name.split("/"))
    t = run.table
    rows = np.flatnonzero((np.sort(t.bodies, axis=1) == sorted((a, b))).all(axis=1) & (t.law == UNILATERAL))
    np.add.at(total, t.step[rows], t.impulse[rows, 0])
    return total


def _weak(run: Trajectory, name: str, span: float) -> FloatArray:
    p, s = _normal(run, name), run.times[1:] / span
    return np.array([float(phi(s) @ p) for phi in TEST_FUNCTIONS.values()])


def _scalings(runs: Sequence[Trajectory], names: list[str]) -> list[ImpulseScaling]:
    """Cluster the events of the finest run, and follow the largest impulse near each cluster through the runs.

    Events of all contacts are clustered together: an impact at one contact sends impulses through the others.
    """
    reach = 2.0 * max(float(run.info["dt"]) for run in runs)
    clusters: list[list[Any]] = []
    for event in runs[-1].events:
        if event.contact not in names:
            continue
        if clusters and event.time - clusters[-1][-1].time <= reach:
            clusters[-1].append(event)
        else:
            clusters.append([event])
    found = [_scaling(runs, name, cluster, reach) for cluster in clusters for name in names]
    return [scaling for scaling in found if scaling.impulses.any()]


def _scaling(runs: Sequence[Trajectory], name: str, cluster: list[Any], reach: float) -> ImpulseScaling:
    sizes = np.array([float(run.info["dt"]) for run in runs])
    largest = []
    for run in runs:
        p = _normal(run, name)
        pairs = p + np.append(p[1:], 0.0)
        near = (run.times[1:] >= cluster[0].time - reach) & (run.times[1:] <= cluster[-1].time + reach)
        largest.append(float(pairs[near].max(initial=0.0)))
    impulses = np.array(largest)
    good = impulses > 1e-14 * max(impulses.max(), 1e-300)
    exponent = float("nan")
    kind = "unresolved"
    if good.sum() >= 3:
        exponent = float(np.polyfit(np.log(sizes[good]), np.log(impulses[good]), 1)[0])
        kind = "finite force" if exponent > 0.75 else "impulsive" if exponent < 0.25 else "in between"
    events = tuple(f"{e.kind} of {e.contact}" for e in cluster)
    return ImpulseScaling(name, cluster[0].time, events, impulses, exponent, kind)
