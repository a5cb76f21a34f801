"""The only place that calls Numba's `njit`.

Kernels are kept on disk by `runtime/cache.py`; large ones are compiled once for all their callers by
`runtime/sealed.py`. The first compilation of a process is announced when a person is watching, so that it is never
mistaken for a hang.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba
from numba import njit as _njit
from numba import prange
from numba.core import event as _event

from .sealed import prepare

__all__ = [
    "compiled",
    "get_num_threads",
    "njit",
    "prange",
    "set_num_threads",
]

_log = logging.getLogger("stiction")
# How threads wait for work. Those that spin for long take the cores from other work, ten times over on a busy machine;
# those that sleep at once take 40 µs to wake, and a sweep has several waits. So they spin for some times that long.
THREAD_WAIT = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "20000"}


def njit(
    function: Callable[..., Any] | None = None,
    *,
    inline: bool = False,
    leaf: bool = False,
    sealed: bool = False,
    parallel: bool = False,
    nogil: bool = False,
    boundscheck: bool | None = None,
) -> Any:
    """Compile a kernel with caching.

    `leaf=True` marks a function that neither makes nor returns arrays: it is compiled without counting references to
    those it is given. Counting is atomic, two increments of 5 ns for each array and call, on memory that all threads
    share; called once per contact it was half the time of a step. `inline=True` marks a leaf that LLVM inlines where it
    is called; `parallel=True` runs its loops over `prange` on several threads, and its callers must not depend on their
    number; `nogil=True` lets other threads run Python while it runs.
    `sealed=True` marks a large one that several call: it is compiled once and not into each of them
    (`runtime/sealed.py`), as are parallel ones.
    """
    if function is None:
        return partial(
            njit, inline=inline, leaf=leaf, sealed=sealed, parallel=parallel, nogil=nogil, boundscheck=boundscheck
        )
    _listen()
    _name_apart(function)
    if parallel:
        _start_threads()
    # references are counted or not, said of every kernel: unsaid, it would be as its first caller's; nothing in C calls
    unlisted: Any = {"_nrt": not (leaf or inline), "no_cfunc_wrapper": True}
    kernel = _njit(
        function, error_model="numpy", boundscheck=boundscheck, forceinline=inline, parallel=parallel, nogil=nogil,
        **unlisted,
    )  # fmt: skip
    if kernel is not function:  # Numba is switched on
        prepare(kernel, sealed or parallel)
    return kernel


def _name_apart(function: Callable[..., Any]) -> None:
    """Put the integers that a kernel closes over into its name, and a hash of the names of kernels.

    Symbols in machine code are made of a function's name and of a number that each process counts anew. Two kernels of
    one factory that two processes have compiled could have the same, and then one of them would take the other's
    constants when a third process loads both.
    """
    for cell in function.__closure__ or ():
        value = cell.cell_contents
        if isinstance(value, int):
            function.__qualname__ += f"_{value}"
        elif hasattr(value, "py_func"):
            name = f"{value.py_func.__module__}.{value.py_func.__qualname__}"
            function.__qualname__ += f"_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def compiled(kernel: Any) -> bool:
    """Whether a kernel needs no compilation: it was called before, or its machine code is on disk."""
    if not hasattr(kernel, "signatures") or kernel.signatures:  # plain Python where Numba is switched off
        return True
    return bool(kernel._cache.kept())


def _is_ours(event: Any) -> bool:
    """Whether a kernel of this package is being compiled, and not one of the user."""
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("stiction")


class _Announcer(_event.Listener):
    """Says once per process that kernels are being compiled."""

    done = False

    def on_start(self, event: Any) -> None:
        if self.done or not _is_ours(event):
            return
        self.done = True
        message = "stiction: compiling kernels (once; the result is cached)"
        if sys.stderr.isatty():
            print(message, file=sys.stderr)
        else:
            _log.info(message)

    def on_end(self, event: Any) -> None:
        """Nothing to say when a compilation ends."""


class _Collector(_event.Listener):
    """Lets Python look for garbage more rarely while a kernel is compiled: it was a tenth of the time, for little."""

    depth, usual = 0, (0, 0, 0)

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        if self.depth == 0:
            self.usual = gc.get_threshold()
            if self.usual[0]:
                gc.set_threshold(max(self.usual[0], 20_000), *self.usual[1:])
        self.depth += 1

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0:
            gc.set_threshold(*self.usual)


@cache
def _listen() -> None:
    _event.register("numba:compile", _Announcer())
    _event.register("numba:compile", _Collector())


def get_num_threads() -> int:
    """How many threads kernels may use: the user's choice, by `set_num_threads` or `NUMBA_NUM_THREADS`."""
    _start_threads()
    return int(numba.get_num_threads())


def set_num_threads(n: int) -> None:
    """Let kernels use n threads, from this thread of Python."""
    _start_threads()
    numba.set_num_threads(n)


@cache
def _start_threads() -> None:
    """Load Numba's threads before any kernel that rests on a parallel one is taken from the cache.

    A kernel that was compiled while the parallel kernel it calls came from the cache does not remember, in the cache,
    that it needs them: a process that loads it and nothing else would crash. Whoever calls one has imported it.

    The library of threads reads how they wait from the environment when it is loaded. It is told in between only, and
    only where the user has not chosen: the environment of the process, and of those it starts, stays as it was.
    """
    told = [] if any(name in os.environ for name in THREAD_WAIT) else list(THREAD_WAIT)
    os.environ.update({name: THREAD_WAIT[name] for name in told})
    try:
        numba.get_num_threads()
    finally:
        for name in told:
            os.environ.pop(name, None)
