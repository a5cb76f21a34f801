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

# Threads that wait by spinning for long steal the cores from other work, ten times over on a busy machine; those that
# go to sleep at once take 40 µs to wake, and a sweep has several waits. So they spin for as long as it takes to wake
# some times over, and no longer. Read when the first parallel kernel starts, unless the user has chosen.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")

from numba import get_num_threads, prange, set_num_threads
from numba import njit as _njit
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


class _Announcer(_event.Listener):
    """Says once per process that kernels are being compiled."""

    done = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if self.done or not str(getattr(function, "__module__", "")).startswith("stiction"):
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
    """Lets Python look for garbage more rarely during a compilation: it was a tenth of the time, and found little."""

    depth, usual = 0, (0, 0, 0)

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.usual = gc.get_threshold()
            if self.usual[0]:
                gc.set_threshold(max(self.usual[0], 20_000), *self.usual[1:])
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            gc.set_threshold(*self.usual)


@cache
def _listen() -> None:
    _event.register("numba:compile", _Announcer())
    _event.register("numba:compile", _Collector())


@cache
def _start_threads() -> None:
    """Load Numba's threads before any kernel that rests on a parallel one is taken from the cache.

    A kernel that was compiled while the parallel kernel it calls came from the cache does not remember, in the cache,
    that it needs them: a process that loads it and nothing else would crash. Whoever calls one has imported it.
    """
    get_num_threads()
