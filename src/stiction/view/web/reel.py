"""Frames to look at: those of a trajectory in memory, of a recording that may still be written, or of a live run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._check import FloatArray, IntArray
from ...errors import ModelError, RecordingError
from ...problem.laws import Law, Mode
from ...simulation.recording.reader import Recording, in_use
from ...simulation.recording.recorder import Observer, shapes_of, start_info
from ...simulation.trajectory import CERTIFICATE, Trajectory

COLUMNS = ("law", "mode", "gap", "impulse", "bodies", "normal", "point", "tangent")
COUNTED_MODES = (Mode.STICK, Mode.SLIP, Mode.OPEN)
BLOCKS_KEPT = 4  # blocks of a recording in memory
BLOCK_MAX_FRAMES = 64  # frames read at once, at most
CHART_RESIDUALS = ("scaled_map", "natural_map", "penetration", "joint_drift")  # residuals in the charts


@dataclass(frozen=True)
class Frame:
    """One moment: time [s], q, v (None where it was not recorded), and the columns of the contact table of its step."""

    time: float
    q: FloatArray
    v: FloatArray | None
    contacts: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Series:
    """What the charts show, one entry per frame from the second on; None where it was not recorded.

    times (n,) [s]; energy (2, n): kinetic and potential [J]; contacts (3, n): how many stick, slip and are open;
    residuals: the largest since the frame before, by name.
    """

    times: FloatArray
    energy: FloatArray | None
    contacts: IntArray | None
    residuals: dict[str, FloatArray]


class Reel:
    """Numbered frames; more may come (`refresh`). `info` and `shapes` are those of a trajectory."""

    info: Mapping[str, Any]
    shapes: Mapping[str, Any]
    growing = False

    def __init__(self, info: Mapping[str, Any], shapes: Mapping[str, Any] | None):
        if info.get("world") is None:
            raise ModelError("only worlds have bodies to look at; this is the run of a generalized system (use plots).")
        if shapes is None:
            raise ModelError(
                "the shapes of the bodies are not known: the file is from an older stiction; run it again."
            )
        self.info, self.shapes = info, shapes

    @property
    def times(self) -> FloatArray:
        """(n,) the times of the frames [s]."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.times)

    def frame(self, k: int) -> Frame:
        """The k-th frame; the first has no contacts, as no step led to it."""
        raise NotImplementedError

    def series(self) -> Series:
        """What the charts show."""
        raise NotImplementedError

    def refresh(self) -> bool:
        """Look for new frames; whether there are any."""
        return False


class RunReel(Reel):
    """A trajectory in memory."""

    def __init__(self, run: Trajectory):
        super().__init__(run.info, run.shapes())
        self._run = run
        n = len(run)
        self._ends = [0, 0, *np.searchsorted(run.table.step, np.arange(n - 1), side="right").tolist()]

    @property
    def times(self) -> FloatArray:
        """(n,) [s]."""
        return self._run.times

    def frame(self, k: int) -> Frame:
        """Slices of the arrays."""
        run, mine = self._run, slice(self._ends[k], self._ends[k + 1])
        return Frame(run.times[k], run.q[k], run.v[k], {name: getattr(run.table, name)[mine] for name in COLUMNS})

    def series(self) -> Series:
        """Of the whole run."""
        run = self._run
        energy = np.array([run.energy.kinetic[1:], run.energy.potential[1:]])
        counts = count_modes(np.diff(self._ends[1:]), run.table.law, run.table.mode)
        residuals = {
            name: np.abs(run.certificate[name]) for name in CHART_RESIDUALS if name in run.certificate.residuals
        }
        return Series(run.times[1:], energy, counts, residuals)


class FileReel(Reel):
    """A recording, read some frames at a time, also while it is written."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._open(Recording(path))
        super().__init__(self._recording.info, self._recording.shapes())
        self._seen: tuple[int, int] | None = None

    def _open(self, recording: Recording) -> None:
        self._recording = recording
        self.growing = in_use(self.path)
        self._times = recording.frames("time")
        self._blocks: OrderedDict[int, dict[str, np.ndarray]] = OrderedDict()
        self._columns = [name for name in COLUMNS if recording.has(f"contacts/{name}")]
        if self._columns != list(COLUMNS):
            self._columns = []  # without all of them a contact cannot be drawn

    @property
    def times(self) -> FloatArray:
        """(n,) [s], of the frames that are complete."""
        return self._times

    def refresh(self) -> bool:
        """Read the list of frames again where the file has changed."""
        state = self.path.stat() if self.path.exists() else None
        seen = None if state is None else (state.st_size, state.st_mtime_ns)
        if seen is None or seen == self._seen:
            return False
        try:
            recording = Recording(self.path)
        except RecordingError:  # replaced or being mended: what was read stays
            return False
        self._seen, self.growing = seen, in_use(self.path)
        if recording.last == len(self):
            return False
        self._open(recording)
        return True

    def _block(self, number: int) -> dict[str, np.ndarray]:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        part = slice(number * BLOCK_MAX_FRAMES, min((number + 1) * BLOCK_MAX_FRAMES, len(self)))
        recording = Recording.__new__(Recording)
        recording.__dict__.update(vars(self._recording), first=part.start, last=part.stop)
        block = {"q": recording.frames("q")}
        if "velocity" in recording.fields:
            block["v"] = recording.frames("v")
        if self._columns:
            block["ends"] = np.concatenate([[0], np.cumsum(recording.counts("contacts"))])
            block |= {name: recording.table("contacts", name, part) for name in self._columns}
        self._blocks[number] = block
        if len(self._blocks) > BLOCKS_KEPT:
            self._blocks.popitem(last=False)
        return block

    def frame(self, k: int) -> Frame:
        """From the block of frames around it."""
        block, i = self._block(k // BLOCK_MAX_FRAMES), k % BLOCK_MAX_FRAMES
        mine = slice(*block["ends"][i : i + 2]) if self._columns else slice(0)
        contacts = {name: block[name][mine] for name in self._columns} or no_contacts()
        return Frame(float(self._times[k]), block["q"][i], block["v"][i] if "v" in block else None, contacts)

    def series(self) -> Series:
        """Of what was recorded."""
        r, fields = self._recording, self._recording.fields
        energy = r.frames("energy")[1:].T if "energy" in fields else None
        counts = None
        if self._columns:
            counts = count_modes(r.counts("contacts")[1:], r.table("contacts", "law"), r.table("contacts", "mode"))
        residuals = {}
        if "certificate" in fields:
            rows, names = np.abs(r.frames("certificate")[1:]), r.header["certificate"]
            residuals = {name: rows[:, names.index(name)] for name in CHART_RESIDUALS if name in names}
        return Series(self._times[1:], energy, counts, residuals)


class LiveReel(Reel):
    """The frames of a simulator, as they are added."""

    growing = True

    def __init__(self, simulator: Any):
        system, state = simulator.system, simulator.state
        super().__init__({**simulator.settings(), **start_info(system, state)}, shapes_of(system))
        self._observer = Observer(system)
        self._frames = [self._observer.start(state)]
        self._known = 1

    def add(self, steps: int, result: Any, between: dict[str, float]) -> None:
        """Take a step's result, as `Simulator.run` hands it to `progress`."""
        self._frames.append(self._observer.step(result, between))

    def refresh(self) -> bool:
        """Let the frames be seen that were added since."""
        before, self._known = self._known, len(self._frames)
        return self._known > before

    @property
    def times(self) -> FloatArray:
        """(n,) [s]."""
        return np.array([frame.state.t for frame in self._frames[: self._known]])

    def __len__(self) -> int:
        return self._known

    def frame(self, k: int) -> Frame:
        """As it was added."""
        f = self._frames[k]
        return Frame(f.state.t, f.state.q, f.state.v, {name: getattr(f.contacts, name) for name in COLUMNS})

    def series(self) -> Series:
        """So far."""
        frames = self._frames[1 : self._known]
        energy = np.array([(f.energy.kinetic, f.energy.potential) for f in frames]).reshape(-1, 2).T
        law, mode = (
            np.concatenate([np.zeros(0, dtype=np.int64), *(getattr(f.contacts, name) for f in frames)])
            for name in ("law", "mode")
        )
        counts = count_modes(np.array([len(f.contacts.law) for f in frames], dtype=np.int64), law, mode)
        residuals = np.abs(np.array([f.residuals for f in frames]).reshape(-1, len(CERTIFICATE)))
        named = {name: residuals[:, CERTIFICATE.index(name)] for name in CHART_RESIDUALS}
        return Series(self.times[1:], energy, counts, named)


def reel_of(what: Any) -> Reel:
    """The frames of a trajectory or of a recording's path."""
    if isinstance(what, (str, Path)):
        from ...simulation import load

        what = load(what)  # older versions are read whole
    return RunReel(what) if what.recording is None else FileReel(what.recording.path)


def no_contacts() -> dict[str, np.ndarray]:
    """The columns of an empty table."""
    widths = {"impulse": (6,), "bodies": (2,), "normal": (3,), "point": (3,), "tangent": (3,)}
    return {name: np.zeros((0, *widths.get(name, ()))) for name in COLUMNS}


def count_modes(sizes: np.ndarray, law: np.ndarray, mode: np.ndarray) -> IntArray:
    """(3, n) how many contacts stick, slip and are open in each of n steps; sizes (n,): rows of the steps."""
    step, contact = np.repeat(np.arange(len(sizes)), sizes), law == int(Law.UNILATERAL)
    counts = [np.bincount(step[contact & (mode == int(m))], minlength=len(sizes)) for m in COUNTED_MODES]
    return np.array(counts, dtype=np.int64)
