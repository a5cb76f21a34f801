"""`stiction run`: a scene from start to end, into a recording; again from where it stopped, or from a moment of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ModelError, RecordingError, SolverError
from ..scene import Scene, parse_scene, read_scene
from ..simulation import Simulator, Trajectory
from ..simulation.recording.claim import Claim
from ..simulation.recording.reader import Recording
from ..simulation.recording.writer import DiskError
from ..simulation.trajectory import ACCEPTED, REGULARISED, UNEXPLAINED, left_by
from .compile import solver_compiled_beside
from .output import console, failure, write_json
from .progress import Interrupted, Watch

DONE, FAILED, INTERRUPTED = 0, 1, 130


@dataclass(frozen=True)
class Job:
    """What is to be run: a scene, its simulator at the start, and the file; goes_on: that of a run begun before."""

    scene: Scene
    simulator: Simulator
    file: Path
    goes_on: bool
    duration: float  # of the whole run if it goes on, else from here [s]

    def run(self, watch: Watch) -> Trajectory:
        """Take the steps."""
        if self.goes_on:
            return self.simulator.resume(self.file, duration=self.duration, progress=watch)
        return self.simulator.run(self.duration, record=self.file, progress=watch, **self.scene.recording)


def run_scene(
    path: Path | None,
    *,
    out: Path | None,
    changes: Sequence[str],
    resume: Path | None,
    start: str | None,
    json: Path | None,
    quiet: bool,
) -> int:
    """Run a scene; the exit code."""
    if json is not None:
        write_json(json, None)  # fail before the work, not after it
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: failure(str(message), "warning")
        job = _job(path, out, changes, resume, start)
        begun = time.perf_counter()
        with Watch(job.simulator, job.scene, quiet=quiet) as watch:
            code, reason = _take(job, watch)
    report = _report(job, watch, code, reason, time.perf_counter() - begun)
    if not quiet or code != DONE:
        _show(report, watch)
    if json is not None:
        write_json(json, report)
    return code


def _take(job: Job, watch: Watch) -> tuple[int, str]:
    try:
        job.run(watch)
    except Interrupted:
        return INTERRUPTED, "interrupted"
    except SolverError as error:
        return FAILED, str(error)
    except RecordingError as error:
        if not watch.steps and not isinstance(error, DiskError):
            raise  # the file cannot be written at all
        return FAILED, str(error)
    return DONE, ""


def _job(path: Path | None, out: Path | None, changes: Sequence[str], resume: Path | None, start: str | None) -> Job:
    if resume is not None:
        if path is not None or out is not None or start is not None:
            raise ModelError("--resume goes on with a recording, which holds its scene: give it alone.")
        return _resumed(resume, changes)
    if start is not None:
        return _branch(path, out, changes, start)
    if path is None:
        raise ModelError("give a scene file, or --resume a recording; stiction new writes a scene to begin with.")
    scene = read_scene(path, changes)
    file = free(Path(f"{path.stem}.h5") if out is None else out)
    return Job(scene, _simulator(scene), file, False, scene.duration)


def _simulator(scene: Scene) -> Simulator:
    if scene.document.run.solver not in ("auto", "nsgs"):
        return scene.simulator()
    with solver_compiled_beside(3 if scene.document.world.kind == "space" else 2):
        return scene.simulator()


def _resumed(file: Path, changes: Sequence[str]) -> Job:
    """A recording that did not come to its end, or shall have a later one."""
    for change in changes:
        if change.partition("=")[0].strip() != "run.duration":
            raise ModelError(
                f"--set {change}: a run that goes on can only get another run.duration; use --from to branch."
            )
    recording = Recording(file)
    scene = _scene_of(recording, changes)
    schedule = recording.schedule
    origin = float(recording.header["origin"])
    planned = schedule.steps * schedule.dt  # the scene's, or what an earlier --set made of it
    if not changes and int(recording.frames("step")[-1]) >= schedule.end:
        later = 2 * (origin + planned)
        raise ModelError(f"{file} is complete; to run on, give a later end: --set run.duration={later:g}")
    return Job(scene, scene.simulator(), file, True, scene.duration - origin if changes else planned)


def _scene_of(recording: Recording, changes: Sequence[str]) -> Scene:
    if recording.scene is None:
        raise ModelError(
            f"{recording.path} was not made from a scene file; go on with it in Python (Simulator.resume)."
        )
    return parse_scene(recording.scene, changes, name=f"the scene in {recording.path}")


def _branch(path: Path | None, out: Path | None, changes: Sequence[str], start: str) -> Job:
    """Another run from a moment of a recording: RUN.h5@TIME."""
    name, sign, moment = start.rpartition("@")
    source = Path(name if sign else start)
    try:
        at = float(moment) if sign else None
    except ValueError:
        raise ModelError(f"--from {start}: write FILE@TIME, the time in seconds, such as run.h5@1.5.") from None
    recording = Recording(source)
    before = _scene_of(recording, ()).simulator()
    before.restore(source, at)
    scene = _scene_of(recording, changes) if path is None else read_scene(path, changes)
    left = scene.duration - before.time
    if not left > 0.0:
        raise ModelError(
            f"--from {start}: the scene ends at {scene.duration:g} s; give a later end: --set run.duration=..."
        )
    stem = source.stem if path is None else path.stem
    file = Path(f"{stem}-from-{before.time:g}.h5") if out is None else out
    if file.exists() and file.samefile(source):
        raise ModelError(f"--out {file} is the recording that the run begins from; choose another name.")
    simulator = scene.simulator()
    simulator.start_from(before.state)
    return Job(scene, simulator, free(file), False, left)


def free(file: Path) -> Path:
    """A file that may be written: a recording of a complete run is replaced, an incomplete one is kept."""
    if not file.parent.is_dir():
        raise ModelError(f"--out {file}: there is no folder {file.parent}.")
    if not file.exists():
        return file
    Claim(file).release()  # a run that goes on is not one that was stopped
    try:
        recording = Recording(file)
        end = recording.schedule.end
    except RecordingError as error:
        if file.is_file() and file.stat().st_size == 0:
            return file
        raise ModelError(
            f"--out {file} exists and would be replaced; remove it, or choose another name ({error})"
        ) from None
    last = int(recording.frames("step")[-1])
    if last < end and recording.scene is not None:
        raise ModelError(
            f"{file} holds a run that was stopped after {last} of {end} steps: go on with it by "
            f"stiction run --resume {file}, remove it, or choose another --out."
        )
    return file


def _report(job: Job, watch: Watch, code: int, reason: str, seconds: float) -> dict[str, Any]:
    size = job.file.stat().st_size if job.file.exists() else 0
    return {
        "scene": str(job.scene.path or job.file),
        "recording": str(job.file),
        "status": {DONE: "done", FAILED: "failed", INTERRUPTED: "interrupted"}[code],
        "reason": reason,
        "time": job.simulator.time,
        "steps": watch.steps,
        "missed": watch.missed,
        "accepted": int(watch.worst.get(ACCEPTED, 0)),
        "regularised": int(watch.worst.get(REGULARISED, 0)),
        "worst missed": {"residual": watch.least_accurate[0], "time": watch.least_accurate[1]},
        "physical": _physical(job.simulator, watch.worst),
        "worst": watch.worst,
        "contacts": watch.contacts,
        "bytes": size,
        "seconds": round(seconds, 3),
        "ms per step": round(1e3 * watch.seconds / max(1, watch.steps), 4),
    }


def _physical(simulator: Simulator, worst: dict[str, float]) -> dict[str, float | None]:
    """What the residuals of recorded steps leave, as `Trajectory.physical` says it."""
    return left_by(worst, simulator.dt, getattr(simulator.system, "mean_weight", None))


def _show(report: dict[str, Any], watch: Watch) -> None:
    screen = console()
    said = [
        f"{report['steps']} steps to t = {report['time']:g} s in {report['seconds']:.1f} s "
        f"({report['ms per step']:.2f} ms each)",
        f"largest residual {report['worst'].get('scaled_map', 0.0):.1e}",
        f"deepest overlap {report['worst'].get('penetration', 0.0):.1e} m",
    ]
    if report["accepted"]:
        level = "accept" if watch.simulator.accept is None else f"accept = {watch.simulator.accept:g}"
        worst = report["worst missed"]
        said.append(
            f"{report['accepted']} of {report['steps']} steps between tol = {watch.simulator.tol:g} and {level}, worst "
            f"{worst['residual']:.1e} at t = {worst['time']:.4g} s"
        )
    if report["regularised"]:
        said.append(f"{report['regularised']} steps regularised")
    if report["physical"]["force"]:
        share = report["physical"]["share"]
        weight = f" ({100 * share:.1g} % of a body's weight)" if share else ""
        said.append(
            f"left at contacts: {report['physical']['approach']:.1e} m/s, {report['physical']['force']:.1e} N{weight}"
        )
    if report["worst"].get(UNEXPLAINED):
        said.append(f"unexplained energy in {report['worst'][UNEXPLAINED]:.0f} steps")
    if report["worst"].get("contradiction", 0.0) > 0.0:
        said.append(f"redundant joints contradict each other by {report['worst']['contradiction']:.1e} m")
    failed = report["missed"] - report["accepted"] - report["regularised"]
    if failed > 0:
        said.append(f"{failed} steps failed and were taken all the same")
    if report["steps"]:
        written = _size(report["bytes"]) if report["bytes"] else "nothing was written"
        screen.print(f"{report['recording']}: {', '.join(said)}; {written}", highlight=False)
    if report["status"] == "failed":
        failure(report["reason"])
    if report["status"] == "interrupted":
        go_on = f"stiction run --resume {report['recording']}"
        failure(f"stopped at t = {report['time']:g} s; the recording is kept, go on with: {go_on}", "interrupted")


def _size(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} bytes"
