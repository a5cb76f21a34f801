"""Collects the steps of a run: as a Trajectory in memory, or into a recording on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ..._check import FloatArray
from ...errors import RecordingError
from ...schemes.base import Contacts, Gain, StepResult
from ...status import Status
from ...systems.base import Energy, State, System
from ...systems.elastic import MEMORY, has_springs
from ..events import EventTracker, closed_before
from ..trajectory import (
    ACCEPTED,
    BALANCE,
    CERTIFICATE,
    COUNTED,
    LIGHT,
    MISSED,
    REGULARISED,
    UNEXPLAINED,
    ContactTable,
    EnergyRecord,
    RunCertificate,
    Trajectory,
)
from .checkpoints import Checkpoint, read_checkpoint
from .layout import CONTACTS, Layout, is_light
from .reader import Recording
from .writer import RecordingWriter


def residuals(result: StepResult) -> dict[str, float]:
    """The residuals of a step by name: those of its last solve, and of the step itself."""
    certificate, solution = result.certificate, result.solution
    assert certificate is not None
    solved = {} if solution is None else solution.certificate.as_dict()
    values = {
        "penetration": certificate.penetration,
        "joint_drift": certificate.joint_drift,
        "contradiction": certificate.contradiction,
        "energy": certificate.energy.residual,
        "unexplained_energy": certificate.unexplained_energy,
        UNEXPLAINED: float(certificate.unexplained_energy > 0.0),
        ACCEPTED: float(result.status is Status.ACCEPTED),
        REGULARISED: float(result.status is Status.REGULARISED),
    }
    return {name: values[name] if name in values else solved.get(name, 0.0) for name in CERTIFICATE}


def keep_worst(found: Mapping[str, float], worst: dict[str, float]) -> None:
    """Keep the residuals of steps that are not recorded, where they are the worst so far, and count what is counted."""
    for name, value in found.items():
        before = worst.get(name, 0.0)
        worst[name] = before + value if name in (MISSED, *COUNTED) else max(before, value)


def book(result: StepResult, worst: dict[str, float]) -> None:
    """Keep the residuals of a step that is not recorded, where they are the worst so far."""
    keep_worst(residuals(result), worst)
    worst[MISSED] = worst.get(MISSED, 0.0) + (not result.success)


@dataclass(frozen=True)
class Frame:
    """What is recorded of a step: the new state, and what led to it."""

    state: State
    energy: Energy
    joints: FloatArray
    contacts: Contacts
    work: tuple[float, ...]
    residuals: tuple[float, ...]
    success: bool
    gains: tuple[Gain, ...]


class Observer:
    """Makes frames of steps; nothing is computed that the step has not computed already.

    `turns` are counted from frame to frame, of joints that turn.
    """

    def __init__(self, system: System, light: bool = False):
        self.system: Any = system
        self._residuals = len(LIGHT if light else CERTIFICATE)
        mechanism = getattr(system, "mechanism", None)
        self._coordinates = None if mechanism is None else mechanism.coordinates
        self.joints = 0 if self._coordinates is None else self._coordinates.n
        self.turns = np.zeros(self._coordinates.turns if self._coordinates is not None else 0)

    def start(self, state: State) -> Frame:
        """The frame of a state to which no step led."""
        none = (0.0,) * len(BALANCE), (0.0,) * self._residuals
        energy = self.system.energy(state.q, state.v)
        return Frame(state, energy, self._measure(state), Contacts.none(), *none, True, ())

    def step(self, result: StepResult, between: dict[str, float]) -> Frame:
        """The frame of a step; `between`: the worst residuals of steps before it that are not recorded."""
        state, certificate = result.state, result.certificate
        assert certificate is not None
        values = residuals(result)
        keep_worst(between, values)
        return Frame(
            state,
            self.system.energy(state.q, state.v),
            self._measure(state),
            result.contacts,
            tuple(getattr(certificate.energy, name) for name in BALANCE),
            tuple(values[name] for name in CERTIFICATE),
            result.success and not between.get(MISSED),
            result.gains,
        )

    def passing(self, state: State, between: dict[str, float]) -> Frame:
        """The frame of a state alone; `between`: the worst residuals of all steps since the last frame."""
        worst, none = tuple(between.get(name, 0.0) for name in LIGHT), Energy(0.0, 0.0)  # not looked at
        return Frame(state, none, self._measure(state), Contacts.none(), (), worst, not between.get(MISSED), ())

    def _measure(self, state: State) -> FloatArray:
        """(m, 2) the coordinates of joints and their speeds."""
        if not self.joints:
            return np.zeros((0, 2))
        now, self.turns = self.system.coordinates(state.q, state.v, self.turns)
        return np.asarray(now)


class MemoryRecorder:
    """Keeps every frame; `trajectory` makes one of them."""

    light = False

    def __init__(self, system: System, state: State, info: dict[str, Any]):
        self._observer = Observer(system)
        self._system, self._info = system, info
        self._frames = [self._observer.start(state)]

    def add(self, steps: int, result: StepResult, between: dict[str, float]) -> None:
        """Record a step that was taken, the `steps`-th of the simulator."""
        self._frames.append(self._observer.step(result, between))

    def close(self) -> None:
        """Nothing to do: memory needs no closing."""

    def trajectory(self) -> Trajectory:
        """The run so far."""
        frames, taken = self._frames, self._frames[1:]
        n, states = len(taken), [frame.state for frame in frames]
        work = np.array([f.work for f in taken], dtype=float).reshape(n, len(BALANCE))
        residuals = np.array([f.residuals for f in taken], dtype=float).reshape(n, len(CERTIFICATE))
        system, table = self._system, self._table()
        info = {**self._info, **start_info(system, states[0])}
        info |= end_info(info, system, states[0], states[-1])
        if info["world"] is None:  # names of contacts between bodies are in their keys
            acted = np.unique(table.key).tolist()
            info["constraints"] |= {str(key): system.constraint_name(key) for key in acted}
        info["gains"] = [(i, gain.key, gain.energy, gain.capped) for i, f in enumerate(taken) for gain in f.gains]
        run = Trajectory(
            times=np.array([s.t for s in states]),
            q=np.array([s.q for s in states]),
            v=np.array([s.v for s in states]),
            table=table,
            energy=EnergyRecord(
                kinetic=np.array([f.energy.kinetic for f in frames]),
                potential=np.array([f.energy.potential for f in frames]),
                work={name: work[:, i] for i, name in enumerate(BALANCE)},
            ),
            certificate=RunCertificate(
                {name: residuals[:, i] for i, name in enumerate(CERTIFICATE)},
                np.array([f.success for f in taken], dtype=bool),
            ),
            info=info,
            joints=np.array([f.joints for f in frames]).reshape(len(frames), self._observer.joints, 2),
        )
        run.__dict__["_shapes"] = lambda: shapes_of(system)
        return run

    def _table(self) -> ContactTable:
        contacts = [frame.contacts for frame in self._frames[1:]]
        step = np.repeat(np.arange(len(contacts)), [len(c) for c in contacts]).astype(np.int64)

        def join(name: str) -> Any:
            return np.concatenate([getattr(c, name) for c in (*contacts, Contacts.none())])

        return ContactTable(step, *(join(field.name) for field in fields(Contacts)))


class FileRecorder:
    """Writes every frame into a recording and keeps only the last; the last frame of a block has a checkpoint.

    light: states are enough, because nothing is recorded of what happened in the steps themselves.
    """

    def __init__(self, writer: RecordingWriter, observer: Observer, tracker: EventTracker, first: State):
        self.light = is_light(writer.header["fields"])
        self._writer, self._observer, self._tracker, self._first = writer, observer, tracker, first
        self._last: State = first
        self._marked = True  # the last frame has a checkpoint, or there is none

    @classmethod
    def begin(
        cls, path: str | Path, system: System, state: State, steps: int, chosen: tuple[str, ...],
        header: dict[str, Any],
    ) -> FileRecorder:  # fmt: skip
        """A new recording that starts at `state`, after `steps` steps of the simulator."""
        observer = Observer(system, light=is_light(chosen))
        info = {**header["info"], **start_info(system, state)}
        widths = {"q": system.nq, "v": system.nv, "joints": observer.joints, "turns": len(observer.turns)}
        if has_springs(system):
            widths["springs"] = MEMORY
        whole = run_header(info, chosen, widths) | {name: header[name] for name in header if name != "info"}
        recorder = cls(
            RecordingWriter(path, Layout.of(whole), whole, shapes=shapes_of(system)), observer, _tracker(info), state
        )
        recorder._start(steps)
        return recorder

    @classmethod
    def go_on(
        cls, recording: Recording, system: System, checkpoint: Checkpoint, changes: dict[str, Any]
    ) -> FileRecorder:
        """Go on with a recording after a checkpoint of `last_block`; frames after it are left out.

        The frames before it are copied into a new file, which then takes the place of the old one.
        """
        header, first = recording.header | changes, read_checkpoint(recording, 0)
        block = recording.chunk_sizes()[0]
        kept_frames = (checkpoint.frame + 1) // block * block  # or none, where the first block is not complete
        memory = checkpoint.groups if checkpoint.frame else None
        observer = Observer(system, light=is_light(header["fields"]))
        if len(checkpoint.turns) != len(observer.turns):
            raise RecordingError(f"{recording.path} is of another system: it counts the turns of other joints.")
        if kept_frames:
            observer.turns = checkpoint.turns
        writer = RecordingWriter(recording.path, Layout.of(header), header, copy=recording, frames=kept_frames)
        recorder = cls(writer, observer, _tracker(header["info"], memory), first.state)
        recorder._last = checkpoint.state
        if not kept_frames:
            recorder._start(first.steps)
        return recorder

    def _start(self, steps: int) -> None:
        self._put(steps, self._observer.start(self._first), {})
        if self._writer.waiting:
            self._checkpoint()
            self._writer.flush(complete=False)  # a run that is killed at once can begin again

    @property
    def path(self) -> Path:
        """Where the recording is."""
        return self._writer.path

    def add(self, steps: int, result: StepResult, between: dict[str, float]) -> None:
        """Record a step that was taken, the `steps`-th of the simulator."""
        frame = self._observer.step(result, between)
        self._put(steps, frame, self._tracker.update(frame.contacts, frame.gains))

    def pass_by(self, steps: int, state: State, between: dict[str, float]) -> None:
        """Record a state alone, where that is enough."""
        self._put(steps, self._observer.passing(state, between), {})

    def _put(self, steps: int, frame: Frame, events: dict[str, Any]) -> None:
        state = self._last = frame.state
        self._marked = False
        named = dict(zip(LIGHT if self.light else CERTIFICATE, frame.residuals))
        # a recording of an older version has fewer
        residual_values = [named[name] for name in self._writer.header["certificate"]]
        row = {
            "step": steps, "time": state.t, "q": state.q, "v": state.v, "success": frame.success,
            "energy": (frame.energy.kinetic, frame.energy.potential), "work": frame.work,
            "certificate": residual_values, "joints": frame.joints, "checkpoint": 0, "turns": self._observer.turns,
        }  # fmt: skip
        contacts = {column.name: getattr(frame.contacts, column.name) for column in CONTACTS}
        self._writer.add(row, {"contacts": contacts, "events": events})
        if self._writer.full:
            self._checkpoint()
            self._writer.flush()
        self._writer.tick()

    def _checkpoint(self) -> None:
        """Add to the last frame what a simulator needs to go on from it."""
        if self._marked:
            return
        self._marked = True
        memory = {"key": self._last.keys, "impulse": self._last.impulses}
        if self._writer.header["widths"].get("springs"):
            kept = self._last.springs
            memory["springs"] = kept if len(kept) else np.zeros((len(self._last.keys), MEMORY))
        self._writer.amend({"checkpoint": 1}, {"memory": memory, "groups": self._tracker.memory()})

    def close(self) -> None:
        """Write what waits, with a checkpoint of the last frame, and what the run says of itself at its end."""
        if self._writer.closed:
            return
        try:
            self._checkpoint()
            info = self._writer.header["info"]
            self._writer.log(end_info(info, self._observer.system, self._first, self._last))
        finally:
            self._writer.close()

    def trajectory(self) -> Trajectory:
        """The run so far, read from the file when it is looked at."""
        from .recording import load

        return load(self._writer.path)


def run_header(info: dict[str, Any], chosen: tuple[str, ...], widths: dict[str, int]) -> dict[str, Any]:
    """What a recording says of itself before its first frame."""
    world = info.get("world")
    return {
        "info": info,
        "fields": list(chosen),
        "widths": widths,
        "bodies": widths["q"] if world is None else len(world["bodies"]),
        "work": list(BALANCE),
        "certificate": list(LIGHT if is_light(chosen) else CERTIFICATE),
    }


def _tracker(info: Mapping[str, Any], memory: Mapping[str, Any] | None = None) -> EventTracker:
    world = info["world"]
    return EventTracker(0 if world is None else len(world["bodies"]), closed_before(info), memory)


def start_info(system: System, state: State) -> dict[str, Any]:
    """What a run says of itself before its first step."""
    mechanism = getattr(system, "mechanism", None)
    names, near = _constraints(system, state)
    return {
        "version": __version__,
        "coordinates": list(system.coordinate_names),
        "velocities": list(system.velocity_names),
        "constraints": names,
        "near": near,
        "world": _world(system),
        "joints": [] if mechanism is None else mechanism.coordinate_names,
        "indeterminate": _indeterminate(system, state, state),
        "weight": getattr(system, "mean_weight", None),
        "closed": state.keys[state.impulses[:, 0] > 0].tolist(),
        "gains": [],
    }


def end_info(info: Mapping[str, Any], system: System, first: State, last: State) -> dict[str, Any]:
    """What takes the place of some of that, `info`, when the run is over."""
    names, near = _constraints(system, last)
    return {
        "constraints": {**info["constraints"], **names},
        "near": sorted({*info.get("near", []), *near}),
        "indeterminate": _indeterminate(system, first, last),
    }


def _constraints(system: System, state: State) -> tuple[dict[str, str], list[int]]:
    """The constraints that could act: their names, and the keys of contacts between bodies, whose names follow."""
    keys = system.detect(state.t, state.q, 0.0).key.tolist()
    bodies = hasattr(system, "specs")
    named = {str(key): system.constraint_name(key) for key in keys if key < 0 or not bodies}
    return named, [key for key in keys if key >= 0 and bodies]


def _indeterminate(system: Any, first: State, last: State) -> list[str] | None:
    """The joints whose impulses are not unique, at the first and at the last recorded configuration."""
    if getattr(system, "mechanism", None) is None:
        return []
    one, two = (system.indeterminate(state.q) for state in (first, last))
    return None if one is None or two is None else sorted({*one} & {*two})


def shapes_of(system: Any) -> dict[str, Any] | None:
    """What the bodies of a system look like."""
    from ...systems.shapes.surfaces import drawn

    specs = getattr(system, "specs", None)
    if specs is None:
        return None
    return {**drawn(specs), "kinds": [spec.kind for spec in specs], "pins": system.mechanism.anchors()}


def _world(system: Any) -> dict[str, Any] | None:
    """What is needed to read positions of bodies from q, and names of contacts from keys; None without bodies."""
    specs = getattr(system, "specs", None)
    if specs is None:
        return None
    return {
        "dim": len(specs[0].com),
        "bodies": [s.name for s in specs],
        "com": [s.com.tolist() for s in specs],
        "shapes": system.shape_body.tolist(),
    }
