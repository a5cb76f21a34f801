"""Trajectory: what a run left behind: states, contacts, energy, certificates and events, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..problem.laws import Mode
from .events import Event, find_events

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BALANCE = (
    "applied",
    "friction",
    "impact",
    "joints",
    "motors",
    "stabilisation",
    "truncation",
    "mass_change",
    "residual",
)
CERTIFICATE = (
    "natural_map", "scaled_map", "dynamics", "penetration_rate", "tension", "complementarity", "friction_excess",
    "dissipation_defect", "equality", "bounds", "penetration", "joint_drift", "energy",
)  # fmt: skip


@dataclass(frozen=True)
class ContactTable:
    """Every active constraint of every step, in the order of the steps.

    step (m,), 0 for the first; key, law, mode (m,); gap (m,) at the end of the step; impulse, velocity (m, 6).
    """

    step: IntArray
    key: IntArray
    law: IntArray
    mode: IntArray
    gap: FloatArray
    impulse: FloatArray
    velocity: FloatArray


@dataclass(frozen=True)
class ContactSeries:
    """One constraint over time, one row per step; where it was not active, gap is NaN and the impulse zero.

    times (n,): the ends of the steps [s]; gap (n,) [m]; impulse (n, 6) [N·s] and velocity (n, 6) [m/s] in the rows
    normal, tangent 1, tangent 2, spin, roll 1, roll 2; mode (n,) of `Mode`.
    """

    name: str
    times: FloatArray
    gap: FloatArray
    impulse: FloatArray
    velocity: FloatArray
    mode: IntArray


@dataclass(frozen=True)
class EnergyRecord:
    """Energy over time [J]: kinetic and potential (n+1,), and the work in each step (n,), by where it went."""

    kinetic: FloatArray
    potential: FloatArray
    work: Mapping[str, FloatArray]

    @property
    def total(self) -> FloatArray:
        """Kinetic plus potential energy (n+1,)."""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class RunCertificate:
    """The residuals of every step (n,), by name: those of `SolveCertificate`, and penetration, drift and energy."""

    residuals: Mapping[str, FloatArray]
    success: np.ndarray

    def __getitem__(self, name: str) -> FloatArray:
        return self.residuals[name]

    @property
    def worst(self) -> dict[str, float]:
        """The largest residual of each kind over the run."""
        return {name: float(np.abs(values).max(initial=0.0)) for name, values in self.residuals.items()}

    @property
    def failed_steps(self) -> IntArray:
        """The steps that missed their tolerance; empty unless failures were accepted."""
        return np.flatnonzero(~self.success)

    def __str__(self) -> str:
        return "\n".join(f"{name:<20s} {value:.3e}" for name, value in self.worst.items())


@dataclass(frozen=True)
class Trajectory:
    """The result of a run. times (n+1,) [s]; q (n+1, nq); v (n+1, nv); the first row is the initial state.

    `run["theta"]` is a coordinate or velocity by name. `info` holds the step, scheme, solver, tolerance and names.
    """

    times: FloatArray
    q: FloatArray
    v: FloatArray
    table: ContactTable
    energy: EnergyRecord
    certificate: RunCertificate
    info: Mapping[str, Any]

    @property
    def success(self) -> bool:
        """Whether every step met its tolerance."""
        return bool(self.certificate.success.all())

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the columns of q."""
        return tuple(self.info["coordinates"])

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The names of the columns of v."""
        return tuple(self.info["velocities"])

    @property
    def constraint_names(self) -> dict[int, str]:
        """What each constraint key is called."""
        return {int(key): name for key, name in self.info["constraints"].items()}

    def __getitem__(self, name: str) -> FloatArray:
        if name in self.coordinate_names:
            return self.q[:, self.coordinate_names.index(name)]
        if name in self.velocity_names:
            return self.v[:, self.velocity_names.index(name)]
        known = [*self.coordinate_names, *self.velocity_names]
        raise KeyError(f"no coordinate or velocity {name!r}; there are {', '.join(known)}")

    def contacts(self, which: Any) -> ContactSeries:
        """One constraint over time, by its name or by the object that defined it."""
        key = self._key(which)
        n = len(self.times) - 1
        gap, mode = np.full(n, np.nan), np.full(n, int(Mode.OPEN))
        impulse, velocity = np.zeros((n, 6)), np.zeros((n, 6))
        rows = np.flatnonzero(self.table.key == key)
        at = self.table.step[rows]
        gap[at], mode[at] = self.table.gap[rows], self.table.mode[rows]
        impulse[at], velocity[at] = self.table.impulse[rows], self.table.velocity[rows]
        return ContactSeries(self.constraint_names[key], self.times[1:], gap, impulse, velocity, mode)

    def force(self, which: Any) -> FloatArray:
        """(n, 6) the mean force of a constraint in each step [N]: its impulse divided by the step."""
        return self.contacts(which).impulse / np.diff(self.times)[:, None]

    def _key(self, which: Any) -> int:
        wanted = getattr(which, "name", which)
        for key, name in self.constraint_names.items():
            if name == wanted:
                return key
        raise ModelError(f"there is no constraint {wanted!r}; there are {list(self.constraint_names.values())}.")

    @cached_property
    def events(self) -> list[Event]:
        """Impacts, separations and changes between stick and slip, in the order of time."""
        return find_events(self.times, self.table, self.constraint_names, set(self.info["closed"]))

    def save(self, path: str | Path) -> None:
        """Write the trajectory to an HDF5 file; `stiction.load` reads it."""
        from .recording import save

        save(self, path)

    def plot(self, what: str | list[str] = "states", *, path: str | Path | None = None) -> Figure:
        """A figure: "states", "energy", "impulses", "modes", "certificate", or one or more component names.

        With `path` it is also written to a file.
        """
        from ..view.plots import plot

        return plot(self, what, path=path)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        worst = self.certificate.worst["natural_map"]
        return (
            f"Trajectory({len(self.times) - 1} steps to t = {self.times[-1]:g} s, {len(self.events)} events, "
            f"largest residual {worst:.1e})"
        )
