"""Which steps of a run are recorded, and the bar that shows how far it is."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import _check
from ...errors import ModelError
from ..trajectory import MISSED

if TYPE_CHECKING:
    from ...schemes.base import StepResult

_log = logging.getLogger("stiction")


@dataclass(frozen=True)
class Schedule:
    """A run of `steps` steps after the first `start` ones of the simulator.

    Frames are each `every`-th step, or at `fps` frames per second: each at the first step that is not before its time.
    The last step is a frame in any case.
    """

    start: int
    steps: int
    every: int | None
    fps: float | None
    dt: float

    @classmethod
    def of(cls, start: int, duration: Any, every: Any, fps: Any, dt: float) -> Schedule:
        """Checked: `duration` [s], and one of `every` (steps) and `fps` (1/s), or none for every step."""
        steps = steps_in(_check.number("duration", duration, positive=True), dt)
        if every is not None and fps is not None:
            raise ModelError("give every= (steps) or fps= (frames per second), not both.")
        if fps is not None:
            return cls(start, steps, None, _check.number("fps", fps, positive=True), dt)
        return cls(start, steps, 1 if every is None else _check.count("every", every), None, dt)

    @property
    def end(self) -> int:
        """The number of the last step."""
        return self.start + self.steps

    def groups(self, done: int) -> Iterator[int]:
        """The numbers of steps from one frame to the next, after `done` steps of the simulator."""
        k = 0 if self.fps is None else int((done - self.start) * self.fps * self.dt)
        while done < self.end:
            if self.fps is None:
                assert self.every is not None
                target = self.start + ((done - self.start) // self.every + 1) * self.every
            else:
                target = done
                while target <= done:
                    target = self.start + steps_in(k / self.fps, self.dt) if k else self.start
                    k += 1
            target = min(target, self.end)
            yield target - done
            done = target


def steps_in(duration: float, dt: float) -> int:
    """The smallest whole number of steps that reaches `duration` [s]."""
    return max(1, math.ceil(duration / dt - 1e-9))


@contextmanager
def shown(n: int, wanted: bool | Callable[..., None] | None) -> Iterator[Callable[..., None]]:
    """A progress bar on standard error, when it is wanted or a person is watching; or the function that was given.

    Without a bar one line tells that steps miss their tolerance, at the first of them, unless progress=False.
    """
    if callable(wanted):
        yield wanted
        return
    if wanted is False:
        yield lambda *_: None
        return
    if wanted is None and (n < 200 or not sys.stderr.isatty()):
        yield _tell_once()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task, missed = bar.add_task("steps", total=n), [0]

        def advance(steps: int, result: StepResult | None, between: dict[str, float]) -> None:
            count = _missed(result, between)
            if count:
                missed[0] += count
                bar.update(task, description=f"steps ({missed[0]} above tol)")
            bar.advance(task, steps)

        yield advance


def _missed(result: StepResult | None, between: dict[str, float]) -> int:
    """How many steps missed their tolerance: those between two recorded ones, and the last."""
    return int(between.get(MISSED, 0)) + (result is not None and not result.success)


def _tell_once() -> Callable[..., None]:
    """A progress function that logs one line, at the first step that misses its tolerance."""
    told = False

    def advance(steps: int, result: StepResult | None, between: dict[str, float]) -> None:
        nonlocal told
        if not told and _missed(result, between):
            told = True
            at = "" if result is None else f" (t = {result.state.t:.4g} s)"
            _log.warning("stiction: from here%s steps miss tol; they are counted in run.certificate", at)

    return advance
