"""What a person sees while a scene runs, and how Ctrl-C ends it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from ..problem.laws import Law
from ..scene import Scene
from ..schemes.base import StepResult
from ..simulation import Simulator
from ..simulation.recording.recorder import keep_worst, residuals
from ..simulation.trajectory import ACCEPTED, MISSED, REGULARISED
from . import Stopped
from .output import clock


class Interrupted(Exception):
    """Ctrl-C was pressed; what is recorded is kept."""


class Watch:
    """Watches a run: called at each recorded step, it keeps the worst residuals and draws a line about them.

    The first Ctrl-C ends the run at the next recorded step, so that the recording is whole; the second ends it at once.
    """

    def __init__(self, simulator: Simulator, scene: Scene, *, quiet: bool):
        self.simulator, self.end, self.dt = simulator, scene.duration, scene.dt
        self.steps, self.missed, self.contacts, self.seconds = 0, 0, 0, 0.0
        self.worst: dict[str, float] = {}
        self.least_accurate = (0.0, 0.0)  # the largest residual above the tolerance, and when
        self._told = quiet
        self._stop = False
        self._first = self._last = 0.0
        self._begin = simulator.time
        self._bar = None if quiet or not sys.stderr.isatty() else self._made_bar()

    def _made_bar(self) -> Progress:
        return Progress(
            SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}"),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip

    def __enter__(self) -> Watch:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("preparing (the first run compiles, for a minute or two)", total=None)
        if threading.current_thread() is threading.main_thread():
            self._before: Any = signal.signal(signal.SIGINT, self._interrupt)
        self._last = time.perf_counter()
        return self

    def __exit__(self, *_: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)
        if self._bar is not None:
            self._bar.stop()

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._stop:
            raise Stopped
        self._stop = True
        text = "stopping at the next recorded step; Ctrl-C again to stop at once"
        if self._bar is not None:
            self._bar.update(self._task, description=text)
        else:
            print(text, file=sys.stderr)

    def __call__(self, steps: int, result: StepResult | None, between: dict[str, float]) -> None:
        """After a recorded step; without a result where the compiled loop took it."""
        now = time.perf_counter()
        self.steps += steps
        self.missed += int(between.get(MISSED, 0))
        self.contacts = int(np.count_nonzero(self.simulator.state.keys >= 0))
        own = {}
        if result is not None:
            self.missed += not result.success
            self.contacts = int(np.count_nonzero(result.contacts.law == int(Law.UNILATERAL)))
            own = residuals(result)
        for found in (own, between):
            keep_worst({name: abs(value) for name, value in found.items() if name != MISSED}, self.worst)
        error = max(own.get("scaled_map", 0.0), between.get("scaled_map", 0.0))
        if error > max(self.simulator.tol, self.least_accurate[0]):
            self.least_accurate = error, self.simulator.time
        if not self._told and (self.worst.get(ACCEPTED) or self.worst.get(REGULARISED)):
            self._told = True
            t, tol = self.simulator.time, self.simulator.tol
            self._say(f"from t = {t:.4g} s on, steps miss tol = {tol:g} and are counted")
        if self._first == 0.0:  # what came before it was compiled, perhaps
            self._first, self._skipped = now, self.steps
        self.seconds = (now - self._first) / max(1, self.steps - self._skipped) * self.steps
        if self._bar is not None:
            self._draw()
        if self._stop:
            raise Interrupted

    def _draw(self) -> None:
        assert self._bar is not None
        t = self.simulator.time
        each = self.seconds / max(1, self.steps)
        left = max(0.0, self.end - t) / self.dt * each
        words = (
            f"t = {t:.3f} of {self.end:g} s  {self.contacts} contacts  {1e3 * each:.2f} ms/step  "
            f"residual {self.worst.get('scaled_map', 0.0):.0e}  "
            + (f"{self.missed} above tol  " if self.missed else "")
            + f"{clock(left)} left"
        )
        total = self.end - self._begin
        self._bar.update(self._task, description=words, total=total, completed=t - self._begin)
