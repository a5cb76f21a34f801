"""How the process holds the memory of large steps, where the C library is glibc.

A step asks for its arrays anew. By default the library returns large ones to the system and asks for them again, page
by page, in every step: a tenth of the time of a step of 16 000 spheres. And it lays them out in pages of 4 KiB, so
that loops which gather bodies and contacts from all over a large problem wait for the tables of pages.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

_TRIM, _MMAP = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
_MOST = 1 << 30  # bytes: larger arrays are none of ours
_HUGE, _ADVICE = 1 << 21, 14  # bytes of a huge page; MADV_HUGEPAGE


@cache
def _library() -> ctypes.CDLL | None:
    """The C library, told to keep what is freed; None where it is not glibc, or where the user has set it up."""
    if not sys.platform.startswith("linux") or any(k.startswith("MALLOC_") for k in os.environ):
        return None
    library = ctypes.CDLL(None)
    if not all(hasattr(library, name) for name in ("mallopt", "malloc", "free", "madvise")):
        return None
    library.mallopt(_MMAP, _MOST)
    library.mallopt(_TRIM, _MOST)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@cache
def keep_memory(size: int) -> None:
    """Keep the memory of arrays between steps, and ask for huge pages in the next `size` bytes of it.

    Addresses are set aside for that, not memory: pages come into being when they are first written to.
    """
    library = _library()
    if library is None or size < _HUGE:
        return
    size = min(size, _MOST - _HUGE)  # beyond `_MOST` it would be given back at once
    block = library.malloc(size)
    if block is None:
        return
    start, stop = -(-block // _HUGE) * _HUGE, (block + size) // _HUGE * _HUGE
    if stop > start:
        library.madvise(start, stop - start, _ADVICE)
    library.free(block)
