"""Trajectory: what a run left behind: states, contacts, energy, certificates and events, as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..problem.laws import Law, Mode
from ..systems.builder.handles import name_of
from ..systems.model.base import CODES
from .events import Event, event_rows, read_events
from .motion import BodyMotion, world_impulse
from .recording.lazy import Lazy
from .recording.tables import ContactSeries, ContactTable, JointSeries

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..view.web.viewer import Viewer
    from .recording.reader import Recording

BALANCE = (
    "applied",
    "friction",
    "impact",
    "joints",
    "motors",
    "springs",
    "stabilisation",
    "truncation",
    "mass_change",
    "residual",
)
# How many steps did what their name says: counted, where of all other residuals the largest is kept.
UNEXPLAINED, ACCEPTED, REGULARISED = COUNTED = ("unexplained_steps", "accepted_steps", "regularised_steps")
MISSED = "missed"  # beside the residuals of steps that are not recorded: how many missed their tolerance
CERTIFICATE = (
    "natural_map", "scaled_map", "dynamics", "penetration_rate", "tension", "complementarity", "friction_excess",
    "dissipation_defect", "equality", "bounds", "impulse_error", "penetration", "joint_drift", "contradiction",
    "energy", "unexplained_energy", *COUNTED,
)  # fmt: skip
# of steps that are not recorded themselves
LIGHT = ("scaled_map", "penetration", "joint_drift", "contradiction", "unexplained_energy", *COUNTED)


@dataclass(frozen=True)
class EnergyRecord(Lazy):
    """Energy over time [J]: kinetic and potential (n+1,), and the work in each step (n,), by where it went."""

    kinetic: FloatArray
    potential: FloatArray
    work: Mapping[str, FloatArray]

    @property
    def total(self) -> FloatArray:
        """Kinetic plus potential energy (n+1,)."""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class RunCertificate(Lazy):
    """The residuals of every step (n,), by name: those of `SolveCertificate`, and penetration, drift and energy."""

    residuals: Mapping[str, FloatArray]
    success: np.ndarray

    def __getitem__(self, name: str) -> FloatArray:
        return self.residuals[name]

    @property
    def worst(self) -> dict[str, float]:
        """The largest residual of each kind over the run."""
        sizes = {name: values for name, values in self.residuals.items() if name not in COUNTED}
        return {name: float(np.abs(values).max(initial=0.0)) for name, values in sizes.items()}

    @property
    def unexplained(self) -> int:
        """How many steps gained energy by their own error (`StepCertificate.unexplained_energy`)."""
        return self._count(UNEXPLAINED)

    @property
    def accepted(self) -> int:
        """How many steps missed `tol` by no more than `accept` (`Status.ACCEPTED`)."""
        return self._count(ACCEPTED)

    @property
    def regularised(self) -> int:
        """How many steps were solved with a little compliance in every contact (`Status.REGULARISED`)."""
        return self._count(REGULARISED)

    def _count(self, name: str) -> int:
        return int(np.sum(self.residuals.get(name, 0.0)))

    @property
    def failed(self) -> int:
        """How many recorded steps failed, or others before them, and were taken all the same (`on_failure`)."""
        taken = self.residuals.get(ACCEPTED, 0.0) + self.residuals.get(REGULARISED, 0.0)
        return int(np.sum(~self.success & (taken == 0.0)))

    @property
    def failed_steps(self) -> IntArray:
        """The recorded steps that missed `tol`, or before which others did: accepted, regularised, or failed."""
        return np.flatnonzero(~self.success)

    def __str__(self) -> str:
        return "\n".join(f"{name:<20s} {value:.3e}" for name, value in self.worst.items())


@checks_arguments
@dataclass(frozen=True)
class Trajectory(Lazy):
    """The result of a run. times (n+1,) [s]; q (n+1, nq); v (n+1, nv); the first row is the initial state.

    `run["theta"]` is a coordinate or velocity by name. `info` holds the step, scheme, solver, tolerance and names;
    joints (n+1, m, 2): coordinate and speed of the joints that have one, see `joint`. That of a recording reads each
    array from the file when it is first asked for.
    """

    times: FloatArray
    q: FloatArray
    v: FloatArray
    table: ContactTable
    energy: EnergyRecord
    certificate: RunCertificate
    info: Mapping[str, Any]
    joints: FloatArray

    @property
    def recording(self) -> Recording | None:
        """The recording that this is read from: its `path`, `size` [bytes], `fields`, `scene`; None in memory."""
        return self.__dict__.get("_recording")

    @property
    def success(self) -> bool:
        """Whether every step met its tolerance."""
        return bool(self.certificate.success.all())

    def remarks(self) -> list[str]:
        """What a reader of the run should know: steps that were not solved to `tol`, and energy from nowhere."""
        c, tol, accept = self.certificate, self.info["tol"], self.info.get("accept")
        found, missed = [], self._worst_missed()
        if c.accepted:
            level = "accept" if accept is None else f"accept = {accept:g}"
            found.append(f"{c.accepted} of {self.steps} steps between tol = {tol:g} and {level}{missed}")
        if c.regularised:
            found.append(f"{c.regularised} regularised")
        if c.failed:
            steps = "" if len(c.success) == self.steps else "recorded times before which "
            found.append(f"{c.failed} {steps}steps failed and were taken all the same")
        if c.unexplained:
            found.append(f"unexplained energy in {c.unexplained} steps")
        return found

    def _worst_missed(self) -> str:
        """The largest residual of a solve above `tol` and the time of its step, or of the recorded one after it."""
        error = np.where(self.certificate.success, 0.0, self.certificate["scaled_map"])
        at = int(np.argmax(error)) if len(error) else 0
        return f", worst {error[at]:.1e} at t = {self.times[1 + at]:.4g} s" if error.any() else ""

    @property
    def steps(self) -> int:
        """How many steps the run took, recorded or not."""
        count = float(self.times[-1] - self.times[0]) / float(self.info["dt"])
        if not math.isfinite(count):
            raise ModelError(f"the times of this run are not numbers that steps of {self.info['dt']:g} s lead to.")
        return round(count)

    @property
    def physical(self) -> dict[str, float | None]:
        """What the residuals of the recorded steps leave, at most, in the sizes of the scene.

        approach [m/s]: the velocity with which bodies still meet at a contact, and overlap [m], what it makes in a
        step; force [N]: by how much the force of a contact or joint misses its law, and share, that over the mean
        weight of a body (None without gravity).
        """
        return left_by(self.certificate.worst, float(self.info["dt"]), self.info.get("weight"))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the columns of q."""
        return tuple(self.info["coordinates"])

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """The names of the columns of v."""
        return tuple(self.info["velocities"])

    @cached_property
    def constraint_names(self) -> dict[int, str]:
        """What each constraint key is called."""
        names = {int(key): str(name) for key, name in self.info["constraints"].items()}
        contacts = set(self.info.get("near", []))
        if self.recording is None or self.recording.has("contacts"):
            contacts |= set(np.unique(self.table.key).tolist())
        return names | {key: self.constraint_name(key) for key in sorted(contacts) if key not in names}

    def constraint_name(self, key: int) -> str:
        """What the constraint of a key is called: contacts by their bodies, shapes and feature."""
        name = self.info["constraints"].get(str(key))
        if name is not None:
            return str(name)
        world = self.info["world"]
        pair, code = divmod(key, CODES)
        if world is None or not 0 <= pair < len(world.get("shapes", ())) ** 2:
            raise ModelError(f"the run has no constraint with the key {key}.")
        a, b = divmod(pair, len(world["shapes"]))
        return f"{world['bodies'][world['shapes'][a]]}/{world['bodies'][world['shapes'][b]]} {a}-{b}-{code}"

    def __getitem__(self, name: str) -> FloatArray:
        if name in self.coordinate_names:
            return self.q[:, self.coordinate_names.index(name)]
        if name in self.velocity_names:
            return self.v[:, self.velocity_names.index(name)]
        names = [*self.coordinate_names, *self.velocity_names]
        raise KeyError(f"no coordinate or velocity {name!r}; there are {', '.join(names)}")

    def position(self, body: Any) -> FloatArray:
        """(n+1, 3) or, in the plane, (n+1, 2): the origin of a body's frame [m], by handle or name."""
        return self._motion(body).position()

    def velocity(self, body: Any) -> FloatArray:
        """(n+1, 3) or (n+1, 2): the velocity of the origin of a body's frame [m/s]."""
        return self._motion(body).velocity()

    def orientation(self, body: Any) -> FloatArray:
        """(n+1, 4): the quaternion (w, x, y, z) of a body in space."""
        motion = self._motion(body)
        if motion.dim == 2:
            raise ModelError("bodies in the plane have an angle; use run.angle(body).")
        return motion.q[:, 3:]

    def angle(self, body: Any) -> FloatArray:
        """(n+1,): the angle of a body in the plane [rad]."""
        motion = self._motion(body)
        if motion.dim == 3:
            raise ModelError("bodies in space have a quaternion; use run.orientation(body).")
        return motion.q[:, 2]

    def angular_velocity(self, body: Any) -> FloatArray:
        """(n+1, 3) in world axes, or (n+1,) in the plane [rad/s]."""
        motion = self._motion(body)
        return motion.v[:, 3:] if motion.dim == 3 else motion.v[:, 2]

    def _motion(self, body: Any) -> BodyMotion:
        return BodyMotion(self.info.get("world"), self._columns, self.name_of(body, "body"))

    def name_of(self, which: Any, kind: str) -> Any:
        """The name of a "body" or "joint" (or spring) by handle or name; refused where the handle is of another world.

        A recording from a file knows no handles: there they stand for their names.
        """
        _check.choice("kind", kind, ["body", "joint"])
        marks = self.__dict__.get("_marks")
        return name_of(which, None if marks is None else marks[kind], "the run")

    def _columns(self, name: str, part: slice) -> FloatArray:
        """Some columns of q or v; from a file only these are kept."""
        if self.recording is not None and name not in self.__dict__:
            return self.recording.frames(name, part, field={"v": "velocity"}.get(name))
        return np.asarray(getattr(self, name)[:, part])

    def joint(self, which: Any) -> JointSeries:
        """A joint or spring over time, by handle or name: its coordinate, its speed and what it carries."""
        series = self._series(which)
        n, names = len(series.times), self.info.get("joints", [])
        track = self.joints[1:, names.index(series.name)] if series.name in names else np.full((n, 2), np.nan)
        keys = {name: key for key, name in self.constraint_names.items()}

        def part(name: str) -> FloatArray:
            key = keys.get(f"{series.name} {name}")
            return np.zeros(n) if key is None else self._rows(key)[1][:, 0]

        doubted = self.info.get("indeterminate", [])
        return JointSeries(
            **vars(series),
            coordinate=track[:, 0],
            speed=track[:, 1],
            force=series.impulse / self.info["dt"],
            motor=part("motor"),
            limit=part("lower limit") - part("upper limit"),
            friction=part("friction"),
            unique=None if doubted is None else series.name not in doubted,
        )

    def contacts(self, which: Any, other: Any = None) -> Any:
        """One constraint over time, by its name or by the object that defined it: a `ContactSeries`.

        With two bodies (handles or names): every contact between them, a `ContactTable` with the first body first.
        """
        if other is not None:
            return self._between(which, other)
        return self._series(which)

    def _between(self, a: Any, b: Any) -> ContactTable:
        """The rows of the table between two bodies, turned so that normals point from b to a."""
        world = self.info.get("world") or {"bodies": []}
        names = [self.name_of(x, "body") for x in (a, b)]
        for name in names:
            if name not in world["bodies"]:
                raise ModelError(f"there is no body {name!r}; there are {', '.join(world['bodies'][1:])}.")
        i, j = (world["bodies"].index(name) for name in names)
        t = self.table
        same, turned = (t.bodies == [i, j]).all(axis=1), (t.bodies == [j, i]).all(axis=1)
        rows = np.flatnonzero((same | turned) & (t.law == int(Law.UNILATERAL)))
        picked = {field.name: getattr(t, field.name)[rows] for field in fields(ContactTable)}
        flip = turned[rows]
        # With -n and -t1 the third direction stays, tangent 2 or, in the plane, that of rolling; and impulses on the
        # other body are opposite: only what is along it changes.
        for name in ("normal", "tangent"):
            picked[name] = np.where(flip[:, None], -picked[name], picked[name])
        for name in ("impulse", "velocity"):
            picked[name][np.ix_(flip, (2, 5) if world["dim"] == 3 else (4,))] *= -1.0
        picked["bodies"] = np.where(flip[:, None], picked["bodies"][:, ::-1], picked["bodies"])
        return ContactTable(**picked)

    def _series(self, which: Any) -> ContactSeries:
        key = self._key(which)
        return ContactSeries(self.constraint_names[key], self.times[1:], *self._rows(key))

    def _rows(self, key: int) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Gap, impulse, velocity and mode of a constraint over time."""
        n = len(self.times) - 1
        gap, mode = np.full(n, np.nan), np.full(n, int(Mode.OPEN))
        impulse, velocity = np.zeros((n, 6)), np.zeros((n, 6))
        rows = np.flatnonzero(self.table.key == key)
        at = self.table.step[rows]
        gap[at], mode[at] = self.table.gap[rows], self.table.mode[rows]
        impulse[at], velocity[at] = self.table.impulse[rows], self.table.velocity[rows]
        return gap, impulse, velocity, mode

    def force(self, which: Any, other: Any = None) -> FloatArray:
        """(n, 6) the mean force of a constraint in each step [N, N·m]: its impulse divided by the step.

        With two bodies: (n, 3), or (n, 2) in the plane, the total contact force on the first in world axes.
        """
        h = float(self.info["dt"])  # of steps between recorded ones no impulse is kept
        if other is None:
            return self._series(which).impulse / h
        pairs = self._between(which, other)
        dim = int(self.info["world"]["dim"])
        along = world_impulse(pairs.normal, pairs.tangent, pairs.impulse, dim)
        total = np.zeros((len(self.times) - 1, dim))
        np.add.at(total, pairs.step, along)
        return total / h

    def _key(self, which: Any) -> int:
        wanted = self.name_of(which, "joint")
        for key, name in self.constraint_names.items():
            if name == wanted:
                return key
        raise ModelError(f"there is no constraint {wanted!r}; there are {list(self.constraint_names.values())}.")

    @cached_property
    def events(self) -> list[Event]:
        """Impacts, separations, changes between stick and slip, and gains of energy, in the order of time."""
        world = self.info.get("world")
        found: list[Event] = []
        for step, rows in enumerate(self.event_rows()):
            if rows:
                found += read_events(float(self.times[step + 1]), step, rows, self.constraint_name, world)
        return found

    def event_rows(self) -> list[dict[str, Any]]:
        """The events of each step as arrays: kind, by its number in the layout, group, impulse and energy."""
        if self.recording is not None:
            return self.recording.event_rows()
        return event_rows(len(self) - 1, self.table, self.info)

    def body_pair(self, row: int) -> str:
        """The two bodies of a row of `table`, in the order of the world."""
        if not 0 <= row < len(self.table.bodies):
            raise ModelError(f"row must be one of {len(self.table.bodies)} rows; got {_check.describe(row)}.")
        a, b = sorted(self.table.bodies[row].tolist())
        names = self.info["world"]["bodies"]
        return f"{names[a]}/{names[b]}"

    def save(self, path: str | Path) -> None:
        """Write the trajectory to an HDF5 file; `stiction.load` reads it."""
        from .recording.recording import save

        save(self, path)

    def shapes(self) -> dict[str, Any] | None:
        """What the bodies look like: `surfaces` of triangles, and those of each body; None where it is not known."""
        if self.recording is not None:
            return self.recording.shapes()
        shapes = self.__dict__.get("_shapes")
        return shapes() if callable(shapes) else shapes

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: what the bodies look like, without the system that knows it."""
        state = super().__getstate__()
        return state if self.recording is not None else {**state, "_shapes": self.shapes()}

    def export(self, path: str | Path, format: str | None = None) -> Path:
        """Write for other programs, by the ending of the name or by `format`: "csv", "npz", "vtk" or "gltf" (.glb).

        Returns the file to open there; docs/recordings.md says what is in it.
        """
        from ..export import export

        return export(self, path, format)

    def plot(self, what: str | list[str] = "states", *, of: Any = None, path: str | Path | None = None) -> Figure:
        """A figure: a preset, or one panel for each of some components; with `path` it is also written to a file.

        Presets: "states", "phase" (position against velocity), "energy" (and where it went), "impulses", "modes" (what
        contacts do, over time), "certificate", "frames" (the bodies at a few moments). of: the bodies, coordinates or
        contacts that states, phase, impulses and modes show; by default a few, or all together.
        """
        from ..view.plots import plot

        return plot(self, what, of=of, path=path)

    def picture(self, time: float | None = None, *, forces: bool = True, path: str | Path | None = None) -> Figure:
        """The bodies at a moment [s], by default the last, with the forces at their contacts."""
        from ..view.silhouettes import moment
        from ..view.style import finish

        return finish(moment(self, time, forces), path)

    def film(self, path: str | Path, *, fps: float = 25.0, speed: float = 1.0, forces: bool = False) -> int:
        """Write the bodies as they move, as .gif or .mp4 (extra `view`), and return the number of pictures.

        fps: pictures per second of the film; speed: seconds of the run per second of the film; forces: at contacts.
        """
        from ..view.silhouettes import film

        return film(self, path, fps=fps, speed=speed, forces=forces)

    def view(self, *, wait: bool | None = None, **options: Any) -> Viewer:
        """Show the run in the browser (extra `view`); returns the `Viewer`, which runs beside the program until `stop`.

        wait: stay until Ctrl-C; by default outside of an interactive session. options: `host` ("127.0.0.1": only this
        machine), `port`, `speed`, `playing`, `open_browser`.
        """
        from ..view.web.viewer import show

        return show(self, wait=wait, **options)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        steps = f"{len(self.times) - 1} steps to t = {self.times[-1]:g} s"
        more = "".join(f", {part}" for part in self.remarks())
        if self.recording is not None:
            return f"Trajectory({steps}, in {self.recording.path}{more})"
        worst = self.certificate.worst["scaled_map"]
        return f"Trajectory({steps}, {len(self.events)} events, largest residual {worst:.1e}{more})"


def left_by(worst: Mapping[str, float], h: float, weight: float | None) -> dict[str, float | None]:
    """What residuals leave in a step of h [s], with bodies of the mean weight [N]; see `Trajectory.physical`."""
    approach, force = worst.get("penetration_rate", 0.0), worst.get("impulse_error", 0.0) / h
    share = force / weight if weight else None
    return {"approach": approach, "overlap": h * approach, "force": force, "share": share}
