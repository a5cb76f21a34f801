"""Simulator: owns time, the failure policy and the recording; knows no equations.

Time is counted: it is t0 + n·dt, so that two runs of a second equal one of two, to the bit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from ..errors import ModelError, SolverError
from ..problem.contact_problem import ContactProblem
from ..schemes.anitescu_hart import AnitescuHart
from ..schemes.base import Contacts, Scheme, StepResult, with_scene_sizes
from ..schemes.solves import refuse_deep_overlap
from ..schemes.springs import unresolved_restitution
from ..schemes.stewart_trinkle import StewartTrinkle
from ..solvers import Solution, Solver, make_solver, solve_any_law
from ..solvers.acceptance import largest_accepted
from ..status import Status
from ..systems.base import State, System, unusable
from ..systems.builder.handles import name_of
from .dump import Dump
from .loop import CompiledLoop, StepGroup
from .prefetch import StepPrefetcher
from .recording.checkpoints import Checkpoint, checkpoint, last_block
from .recording.claim import Claim
from .recording.layout import chosen_fields
from .recording.reader import Recording
from .recording.recorder import FileRecorder, MemoryRecorder, book, keep_worst
from .recording.schedule import Schedule, shown, steps_in
from .report import leave_report
from .separate import overlaps, separate
from .trajectory import ACCEPTED, MISSED, UNEXPLAINED, Trajectory

if TYPE_CHECKING:
    from ..view.web.viewer import Viewer


class StepWarning(UserWarning):
    """A step failed and was taken all the same (`on_failure="warn"`)."""


class OverlapWarning(UserWarning):
    """Bodies overlap at the start."""


class Simulator:
    """Steps a system through time.

    system: what moves, a world or a `GeneralizedSystem`; dt: the step [s]; scheme: how time advances, by default
    `AnitescuHart()` for worlds and `StewartTrinkle()` for generalized systems; solver: a name or a solver; tol: the
    certificate error that a solve aims at; accept: the largest that is still taken, by default `tol` itself up to 300
    rows and 1e-3 above; `accept=tol` takes nothing else, a larger number holds for all sizes. A step between the two is
    taken and counted (`Status.ACCEPTED`); one of a large problem that misses `accept` too is solved once more with a
    little compliance in every contact, and counted apart (`Status.REGULARISED`). on_failure: what happens to a step
    that ends otherwise: "raise" a `SolverError` with the certificate, "warn" and go on, or "continue". A step that
    raises leaves the simulator as it was. on_overlap: what happens when contacts overlap at the start: "raise" (the
    default for gap functions), "warn" (the default for worlds), or "separate" the bodies by the smallest displacement.
    dump: a folder into which hard contact problems are written as FCLIB files (`st.read_fclib`, `stiction solve`),
    named by step, solve of the step and contacts; a solve is hard when it missed `tol`, when `auto` needed more than
    two stages, or when it took 1000 iterations or more. What FCLIB cannot hold (`st.write_fclib`) is skipped with one
    warning; the run itself does not change. report: the folder in which a step that raises leaves its state, its
    problem and the reason; by default a new temporary one, or beside the recording; the error says where. A combination
    that cannot work is refused here, with the reason.
    """

    def __init__(
        self,
        system: Any,
        dt: float,
        *,
        scheme: Scheme | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-6,
        accept: float | None = None,
        on_failure: str = "raise",
        on_overlap: str | None = None,
        dump: str | Path | None = None,
        report: str | Path | None = None,
    ):
        self._world = system if not isinstance(system, type) and hasattr(system, "build") else None
        if self._world is not None:
            system, self._revision = self._world.build(), self._world.revision
        if isinstance(system, type) or not hasattr(system, "initial_state"):
            raise ModelError(f"system must be a world or a GeneralizedSystem; got {_check.describe(system)}.")
        self.system: System = system
        self.dt = _check.number("dt", dt, positive=True)
        world = hasattr(system, "body_state")
        self.scheme: Scheme = scheme if scheme is not None else AnitescuHart() if world else StewartTrinkle()
        if isinstance(scheme, type) or not hasattr(self.scheme, "step"):
            raise ModelError(f"scheme must be a scheme such as StewartTrinkle(); got {_check.describe(scheme)}.")
        self.solver = make_solver(solver)
        self.tol = _check.number("tol", tol, positive=True)
        self.accept = None if accept is None else _check.number("accept", accept, positive=True)
        if self.accept is not None and self.accept < self.tol:
            raise ModelError(f"accept must be at least tol, {self.tol:g}; got {self.accept:g}.")
        self._dump = None if dump is None else Dump(dump)
        if report is not None and not isinstance(report, (str, Path)):
            raise ModelError(f"report must be the path of a folder; got {_check.describe(report)}.")
        self._report = None if report is None else Path(report)
        self.on_failure = _check.choice("on_failure", continued(on_failure), ["raise", "warn", "continue"])
        overlap = ("warn" if world else "raise") if on_overlap is None else on_overlap
        _check.choice("on_overlap", overlap, ["raise", "warn", "separate"])
        self._initial = system.initial_state()
        self._check_start(overlap)
        reason = self.scheme.refuses(system) or unresolved_restitution(system, self.dt)
        if reason is not None:
            raise ModelError(reason)
        reason = self.solver.refuses(self.scheme.probe(system, self._initial, self.dt))
        if reason is not None:
            raise ModelError(f"{type(self.scheme).__name__} with solver {self.solver.name!r} cannot run: {reason}")
        self._built: System = system
        self._loop = self._compiled()
        self.scene: str | None = None
        """The scene file that it was made from, as TOML text; kept in recordings. None where there is none."""
        self.reset()

    def _compiled(self) -> CompiledLoop | None:
        # A dump wants to see every problem, and the loop shows none.
        return (
            None
            if self._dump
            else CompiledLoop.of(self.system, self.scheme, self.solver, self.dt, self.tol, self.accept)
        )

    def set_motor(self, joint: Any, target: Any) -> None:
        """Give the motor of a joint (handle or name) another target: a speed or position, or a function of time."""
        if not hasattr(self.system, "with_target"):
            raise ModelError("set_motor: only the joints of a world have motors.")
        model: Any = self.system
        self.system = model.with_target(str(name_of(joint, model.marks["joint"], "set_motor")), target)
        self._loop = self._compiled()

    def indeterminate(self) -> list[str] | None:
        """The joints whose impulses are not unique at the present configuration: those that hold what others hold.

        The motion is unique all the same. A door on two hinges is held twice along its axis and against tilting, and
        only the sum of what the hinges carry there is determined; compliance makes it determinate. None where closed
        loops of joints have more than 1500 rows: too many to tell.
        """
        return self.system.indeterminate(self.state.q) if hasattr(self.system, "indeterminate") else []

    def reset(self) -> None:
        """Back to the initial state, with the motors' first targets."""
        if self.system is not self._built:
            self.system = self._built
            self._loop = self._compiled()
        first = self._initial
        self._steps, self._origin = 0, first.t
        self.state: State = State(first.t, first.q.copy(), first.v.copy())
        self._last: StepResult | None = None

    @property
    def time(self) -> float:
        """The time of the present state [s]."""
        return self.state.t

    @property
    def contacts(self) -> Contacts | None:
        """What the constraints did in the last step; None before the first, or if the compiled loop took it."""
        return None if self._last is None else self._last.contacts

    def step(self) -> StepResult:
        """One step; the new state is `simulator.state`, and the result says how it went."""
        self._hard: tuple[ContactProblem, Solution] | None = None  # the last solve of this step that failed
        if self._dump is not None:
            self._dump.new_step()
        self._check_ready()
        replayed = None if self._loop is None else self._loop.replayed(self.state)
        result = replayed or self._computed_step()
        if not result.status.taken:
            self._handle_failure(result)
        elif replayed is None and self._loop is not None:
            self._loop.keep_fixed_point(self.state, result)
        return self._accept(result)

    def _check_ready(self) -> None:
        """Refuse a world that is no longer the one simulated, and a state that is none: both can be changed."""
        if self._world is not None and self._world.revision != self._revision:
            raise ModelError(
                f"the world has changed since this simulator was made (last by {self._world.last_change}), and the "
                "simulator does not know of it; build a new one, Simulator(world, dt), and go on with start_from."
            )
        bad = unusable(self.system, self.state)
        if bad is not None:
            raise ModelError(f"the simulator cannot step from its state, which {bad}.")

    def _computed_step(self) -> StepResult:
        """The scheme's step, with its residual in sizes of the scene; a failure where it gives way too far."""
        result = self.scheme.step(self.system, self.state, self.dt, _SolveHandle(self))
        return self._refuse_nonfinite(refuse_deep_overlap(with_scene_sizes(result, self.system, self.dt), self.system))

    def _refuse_nonfinite(self, result: StepResult) -> StepResult:
        """The result; a failure where a scheme or solver takes what is not finite."""
        if not result.status.taken or _all_finite(self.system, result):
            return result
        bad = Status.NONFINITE
        return replace(result, state=self.state, success=False, status=bad, message=bad.sentence, certificate=None)

    def _accept(self, result: StepResult) -> StepResult:
        """Go on with a step, and return it with its time counted in steps."""
        self._advance_time(result.state, 1)
        self._last = replace(result, state=self.state)
        return self._last

    def _advance_time(self, state: State, steps: int) -> None:
        # Time by counting steps: sums of dt would drift, and two runs of half the length would differ from one.
        self._steps, self._last = self._steps + steps, None
        t = self._origin + self._steps * self.dt
        self.state = replace(state, t=t)

    def advance(self, steps: int) -> StepResult:
        """Take `steps` steps and return the last one's result: the way to go far without recording each step.

        A world whose forces and motions need no Python runs them in one compiled loop (`AnitescuHart` with the solvers
        "auto" or "nsgs"); other systems step by step. Both end in the same bits, and both treat a step that misses its
        tolerance by `on_failure`.
        """
        with StepPrefetcher() as prefetcher:
            return self._take_steps(_check.count("steps", steps), 0, prefetcher, self._loop)[0]

    def _take_steps(
        self, steps: int, following: int, prefetcher: StepPrefetcher, loop: CompiledLoop | None
    ) -> tuple[StepResult, dict[str, float]]:
        """Take steps: the last one's result, and the worst residuals before it; following: how many steps come next."""
        worst: dict[str, float] = {}
        while True:
            if loop is not None:
                self._check_ready()
                group = prefetcher.collect(loop, self.state, steps)
                steps -= self._adopt(group, worst)
                if group.after is not None:
                    prefetcher.begin(loop, group.after, following)
                    result = loop.to_step_result(self.state, group.after, group.last)
                    if result is not None and _all_finite(self.system, result):
                        return self._accept(result), worst
                    prefetcher.drop()
            result = self.step()  # a hard step, or one that needs Python
            steps -= 1
            if steps == 0:
                return result, worst
            book(result, worst)

    def _take_unrecorded(self, steps: int) -> dict[str, float]:
        """Take steps of which only the worst residuals are kept."""
        worst: dict[str, float] = {}
        while steps > 0:
            if self._loop is not None:
                self._check_ready()
                steps -= self._adopt(self._loop.take_steps(self.state, steps), worst)
            if steps > 0:
                book(self.step(), worst)
                steps -= 1
        return worst

    def _adopt(self, group: StepGroup, worst: dict[str, float]) -> int:
        """Go to the state before the last step of a group; returns how many steps that were."""
        if group.taken:
            self._advance_time(group.before, group.taken)
            error, depth, drift, _, energy, steps, accepted = group.worst.tolist()
            residuals = {"scaled_map": error, "penetration": depth, "joint_drift": drift, "unexplained_energy": energy}
            keep_worst(residuals | {UNEXPLAINED: steps, ACCEPTED: accepted, MISSED: accepted}, worst)
        return group.taken

    @checks_arguments
    def run(
        self,
        duration: float,
        *,
        every: int | None = None,
        fps: float | None = None,
        record: str | Path | None = None,
        fields: Sequence[str] | None = None,
        progress: bool | Callable[[int, StepResult | None, dict[str, float]], None] | None = None,
    ) -> Trajectory:
        """Take the smallest whole number of steps that reaches `duration` [s] from here, and return the trajectory.

        every: record each `every`-th step, or fps: frames per second of simulated time, and the last step; by
        default every step. Steps between are certified all the same and their worst residuals stand in the next
        recorded one, but their contacts and energy balance are not kept (see `advance`). record: a file into which
        frames go as they come, instead of memory; the trajectory then reads from it. fields: what is recorded there
        (`velocity`, `energy`, `certificate`, `joints`, `contacts`, `events`, `checkpoints`; by default all); without
        energy, contacts and events the compiled loop takes every step. progress: a bar on the terminal; by default
        when a person is watching; or a function of the steps taken since the last call, the last step's result (None
        where the loop took it) and the worst residuals of the steps between, called at each recorded step; what it
        raises ends the run. If a step fails, the recorded steps before it are in the error's `trajectory`.
        """
        self._check_ready()
        schedule = Schedule.of(self._steps, duration, every, fps, self.dt)
        if record is None:
            if fields is not None:
                raise ModelError("fields= chooses what goes into a file; give record= too.")
            return self._record(MemoryRecorder(self.system, self.state, self.settings()), schedule, progress)
        chosen = chosen_fields(fields)
        header = {"info": self.settings(), "schedule": vars(schedule), "origin": self._origin, "scene": self.scene}
        recorder = FileRecorder.begin(record, self.system, self.state, self._steps, chosen, header)
        return self._record(recorder, schedule, progress)

    @checks_arguments
    def view(self, duration: float, *, fps: float = 60.0, record: str | Path | None = None, **options: Any) -> Viewer:
        """Run and look: as `run`, with a page in the browser (extra `view`) that shows the frames as they come.

        The run is not faster than the clock (times `speed`). Returns the `Viewer`, which goes on with the frames so far
        until it is stopped; its `run` is the trajectory. options: those of `Trajectory.view`, without `wait`.
        """
        from ..view.web.live import watch

        return watch(self, duration, fps=fps, record=record, **options)

    @checks_arguments
    def resume(
        self,
        path: str | Path,
        *,
        duration: float | None = None,
        progress: bool | Callable[[int, StepResult | None, dict[str, float]], None] | None = None,
    ) -> Trajectory:
        """Go on with a recording whose run was interrupted or killed, to the same bits as if it had not been.

        The simulator must be made as that of the recording was. duration: that of the whole run [s], where it shall end
        at another time than first planned. Motors that `set_motor` changed must be set again before.
        """
        Claim(Path(path)).release()  # refused here already, since a file that another run writes changes
        recording = Recording(path)
        schedule = recording.schedule
        if duration is not None:
            schedule = replace(schedule, steps=steps_in(_check.number("duration", duration, positive=True), self.dt))
        checkpoint = last_block(recording, schedule.end)
        self._go_to(checkpoint)
        recorder = FileRecorder.go_on(recording, self.system, checkpoint, {"schedule": vars(schedule)})
        return self._record(recorder, schedule, progress)

    @checks_arguments
    def restore(self, path: str | Path, time: float | None = None) -> None:
        """Put the simulator into the state that a recording had at `time` [s]; None: at its last checkpoint.

        The last checkpoint before it is taken, and from there steps up to `time`: the very steps of the recording,
        since the simulator must be made as that of the recording was.
        """
        found = checkpoint(path, time)
        self._go_to(found)
        if time is not None and self.state.t < time - 1e-9 * self.dt:
            self.advance(steps_in(time - self.state.t, self.dt))

    @checks_arguments
    def start_from(self, state: State) -> None:
        """Go on from a state, such as one of a simulator with other friction; time is counted from it."""
        q, v = (_check.floats(f"state.{name}", getattr(state, name), (None,), finite=False) for name in "qv")
        state = replace(state, t=float(_check.floats("state.t", state.t, (), finite=False)), q=q, v=v)
        sizes = (len(q), len(v))
        if sizes != (self.system.nq, self.system.nv):
            raise ModelError(
                f"the state has {sizes[0]} coordinates and {sizes[1]} velocities; "
                f"this system has {self.system.nq} and {self.system.nv}."
            )
        bad = unusable(self.system, state)
        if bad is not None:
            raise ModelError(f"the state to start from {bad}.")
        self.state, self._origin, self._steps, self._last = state, state.t, 0, None

    def _go_to(self, found: Checkpoint) -> None:
        """Go to the state of a checkpoint; refused where another kind of simulator made it."""
        mine = {**self.settings(), "coordinates": list(self.system.coordinate_names)}
        for name, value in mine.items():
            theirs = found.info.get(name)
            if theirs != value:
                if name == "coordinates":
                    raise ModelError("the recording is of another system: its bodies or coordinates are not the same.")
                raise ModelError(f"the recording was made with {name} {theirs}, and this simulator has {value}.")
        bad = unusable(self.system, found.state)
        if bad is not None:
            raise ModelError(f"the state of the recording {bad}.")
        self.state, self._origin, self._steps, self._last = found.state, found.origin, found.steps, None

    def _record(
        self, recorder: MemoryRecorder | FileRecorder, schedule: Schedule, progress: bool | Callable[..., None] | None
    ) -> Trajectory:
        """Take the steps of a schedule that are left."""
        failed: SolverError | None = None
        given = self._report
        if given is None and isinstance(recorder, FileRecorder):
            self._report = recorder.path.with_name(recorder.path.stem + "-failure")
        try:
            left = schedule.end - self._steps
            with shown(left, progress) as advance, StepPrefetcher() as prefetcher:
                # Where every step is recorded, both ways give the same frames to the bit.
                slow = schedule.every == 1 and self._loop is not None and not self._loop.pays_off(left)
                for group, following in pairwise(chain(schedule.groups(self._steps), (0,))):
                    result: StepResult | None = None
                    if isinstance(recorder, FileRecorder) and recorder.light:
                        between = self._take_unrecorded(group)
                        recorder.pass_by(self._steps, self.state, between)
                    else:
                        result, between = self._take_steps(group, following, prefetcher, None if slow else self._loop)
                        recorder.add(self._steps, result, between)
                    advance(group, result, between)
        except SolverError as error:
            failed = error
            raise
        finally:
            self._report = given
            recorder.close()
            if failed is not None:
                failed.trajectory = self._with_marks(recorder.trajectory())  # type: ignore[attr-defined]
        return self._with_marks(recorder.trajectory())

    def _with_marks(self, run: Trajectory) -> Trajectory:
        """The run, which knows handles of this world from those of others."""
        run.__dict__["_marks"] = getattr(self.system, "marks", None)
        return run

    def _solve(self, problem: ContactProblem, tol: float) -> Solution:
        solution = solve_any_law(self.solver, problem, tol=tol, accept=self.accept, p0=problem.p_warm)
        if not solution.taken:
            self._hard = (problem, solution)
        if self._dump is not None:
            self._dump.look(self._steps, self.state.t, problem, solution, tol)
        return solution

    def _handle_failure(self, result: StepResult) -> None:
        where = f"step {self._steps} from t = {self.state.t:.6g} s failed ({result.status}): {result.message}"
        where += self._worst_contact()
        finite = np.isfinite(result.state.q).all() and np.isfinite(result.state.v).all()
        if self.on_failure == "raise" or result.certificate is None or not finite:
            solution = result.solution
            certificate = None if solution is None else solution.certificate
            left = leave_report(self, self._report, where, self._hard)
            where += "" if left is None else f" (report in {left})"
            raise SolverError(where, certificate=certificate, status=result.status, result=result, report=left)
        if self.on_failure == "warn":
            warnings.warn(where, StepWarning, stacklevel=3)

    def _worst_contact(self) -> str:
        """Where the problem that was not solved is missed most, for its message."""
        if self._hard is None:
            return ""
        problem, solution = self._hard
        block = solution.culprit if solution.culprit >= 0 else solution.certificate.blocks.get(problem.measure, -1)
        return f" Worst at {self.system.constraint_name(int(problem.key[block]))!r}." if block >= 0 else ""

    def _check_start(self, overlap: str) -> None:
        state = self._initial
        if overlap == "separate":
            state = self._initial = separate(self.system, state)
        worst = overlaps(self.system, state, bool(getattr(self.scheme, "soft", False)))
        if not worst:
            return
        name, depth = max(worst.items(), key=lambda item: item[1])
        more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
        message = f"contact {name!r} overlaps by {depth:.3g} m at the start{more}; move the bodies apart"
        if overlap == "raise":
            raise ModelError(f"{message}.")
        warnings.warn(f'{message}, or use on_overlap="separate".', OverlapWarning, stacklevel=3)

    def settings(self) -> dict[str, Any]:
        """Step, scheme, solver, tolerance and kind of system, as recordings keep them."""
        return {
            "dt": self.dt,
            "scheme": repr(self.scheme),
            "solver": self.solver.name,
            "tol": self.tol,
            "accept": self.accept,
            "system": type(self.system).__name__,
        }


def continued(on_failure: str) -> str:
    """The policy, by its present name: what was "accept" is "continue"."""
    if not isinstance(on_failure, str) or on_failure != "accept":
        return on_failure
    text = 'on_failure="accept" is now called "continue"; accept= is the largest residual that a step may have.'
    warnings.warn(text, FutureWarning, stacklevel=3)
    return "continue"


def _all_finite(system: System, result: StepResult) -> bool:
    """Whether the state that a step ends in, and what is certified of it, are finite."""
    certificate = result.certificate
    if certificate is not None:
        energy = sum(vars(certificate.energy).values())
        if not math.isfinite(certificate.penetration + certificate.joint_drift + energy):
            return False
    return unusable(system, result.state) is None


class _SolveHandle:
    """What a scheme calls to solve the problems of a step: the simulator's solver."""

    def __init__(self, simulator: Simulator):
        self.simulator, self.tol = simulator, simulator.tol

    def largest(self, rows: int) -> float:
        """The largest error that a step goes on with, of a problem with `rows` rows."""
        return largest_accepted(rows, self.tol, self.simulator.accept)

    def __call__(self, problem: ContactProblem, *, tol: float | None = None) -> Solution:
        return self.simulator._solve(problem, self.tol if tol is None else tol)
