"""Prefetched steps: the compiled loop takes the next steps while the last one is certified and recorded.

The loop's kernel runs without the interpreter, so that a thread can be in it while another one makes certificates,
books energy and writes frames. Prefetched steps count only if they are asked for from the very state and loop from
which they began, and are forgotten otherwise.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..systems.base import State
from .loop import CompiledLoop, StepGroup

PREFETCH_MIN_BLOCKS = 300  # bodies and contacts from which a step takes longer than handing it over
# Larger steps use several threads themselves, and Numba's threads may be used from one place only.
PREFETCH_MAX_BLOCKS = 20_000
ENTRY_TIMEOUT_S = 0.01  # that the caller waits for the thread to be in the kernel, at most


@dataclass(frozen=True)
class _Task:
    loop: CompiledLoop
    start: tuple[np.ndarray, ...]
    steps: int
    stop: threading.Event
    group: Future[StepGroup]

    def fits(self, loop: CompiledLoop, state: State, steps: int) -> bool:
        """Whether it is what would be done now: a progress function may have changed anything."""
        same = loop is self.loop and steps == self.steps
        return same and all(map(np.array_equal, _arrays(state), self.start))


class StepPrefetcher:
    """At most one group of steps that a thread is taking."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._task: _Task | None = None

    def begin(self, loop: CompiledLoop, state: State, steps: int) -> None:
        """Let the thread take `steps` steps from `state`, where they are long enough for that."""
        self.drop()
        blocks = len(state.keys) + loop.model.nb
        if steps < 1 or not PREFETCH_MIN_BLOCKS <= blocks <= PREFETCH_MAX_BLOCKS or (os.cpu_count() or 1) < 2:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="stiction steps", initializer=_use_one_core)
        stop, entered = threading.Event(), threading.Event()
        group = self._pool.submit(loop.take_group, state, steps, stop, entered.set)
        # Without the wait this thread would keep the interpreter, and the other one would not come to its kernel.
        entered.wait(ENTRY_TIMEOUT_S)
        self._task = _Task(loop, tuple(array.copy() for array in _arrays(state)), steps, stop, group)

    def collect(self, loop: CompiledLoop, state: State, steps: int) -> StepGroup:
        """The group of steps from `state`: the prefetched one, or else one that is taken now."""
        task = self._task
        if task is None or not task.fits(loop, state, steps):
            self.drop()
            return loop.take_group(state, steps)
        group = task.group.result()
        self._task = None
        return group

    def drop(self) -> None:
        """Forget the prefetched steps, and wait until the thread has left the kernel."""
        task, self._task = self._task, None
        if task is not None:
            task.stop.set()
            task.group.exception()

    def __enter__(self) -> StepPrefetcher:
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            self.drop()
        finally:
            if self._pool is not None:
                self._pool.shutdown()


def _arrays(state: State) -> tuple[np.ndarray, ...]:
    """All that a step of the loop depends on: warm starts as well."""
    return state.q, state.v, state.keys, state.impulses, state.springs


def _use_one_core() -> None:
    """The kernels that this thread runs do not use several themselves."""
    from ..runtime.jit import set_num_threads

    set_num_threads(1)
