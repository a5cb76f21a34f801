"""Steps taken ahead: the compiled loop goes on with the next ones while the last is judged and recorded.

The loop's kernel runs without the interpreter, so that a thread can be in it while another one makes certificates,
books energy and writes frames. What was taken ahead counts only if it is asked for from the very state and loop from
which it began, and is forgotten otherwise.
"""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..systems.base import State
from .loop import CompiledLoop, Group

WORTH = 300  # bodies and contacts from which a step takes longer than handing it over
# Up to so many, where one thread does as well as several: larger steps use all of them, and Numba's threads may be used
# from one place only.
MOST = 20_000
SWITCH = 1e-4  # s that a thread which comes out of the kernel waits for the interpreter, at most


@dataclass(frozen=True)
class _Task:
    loop: CompiledLoop
    start: tuple[np.ndarray, ...]
    steps: int
    stop: threading.Event
    group: Future[Group]

    def fits(self, loop: CompiledLoop, state: State, steps: int) -> bool:
        """Whether it is what would be done now: a progress function may have changed anything."""
        same = loop is self.loop and steps == self.steps
        return same and all(map(np.array_equal, _arrays(state), self.start))


class Ahead:
    """At most one group of steps that is being taken ahead."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._task: _Task | None = None
        self._patience = sys.getswitchinterval()

    def begin(self, loop: CompiledLoop, state: State, steps: int) -> None:
        """Let the thread take `steps` steps from `state`, where that is worth it."""
        self.drop()
        if steps < 1 or not WORTH <= len(state.keys) + loop.model.nb <= MOST or (os.cpu_count() or 1) < 2:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="stiction steps", initializer=_on_one_core)
            sys.setswitchinterval(min(SWITCH, self._patience))
        stop = threading.Event()
        group = self._pool.submit(loop.group, state, steps, stop)
        self._task = _Task(loop, tuple(array.copy() for array in _arrays(state)), steps, stop, group)

    def collect(self, loop: CompiledLoop, state: State, steps: int) -> Group:
        """The group of steps from `state`: what was taken ahead, or else taken now."""
        task = self._task
        if task is None or not task.fits(loop, state, steps):
            self.drop()
            return loop.group(state, steps)
        group = task.group.result()
        self._task = None
        return group

    def drop(self) -> None:
        """Forget what is being taken ahead, and wait until the thread has left the kernel."""
        task, self._task = self._task, None
        if task is not None:
            task.stop.set()
            task.group.exception()

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            self.drop()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                sys.setswitchinterval(self._patience)


def _arrays(state: State) -> tuple[np.ndarray, ...]:
    """All that a step of the loop depends on: warm starts as well."""
    return state.q, state.v, state.keys, state.impulses


def _on_one_core() -> None:
    """The kernels that this thread runs do not use several themselves."""
    from ..runtime.jit import set_num_threads

    set_num_threads(1)
