"""Work arrays of large steps: how the C library comes to keep them.

A step allocates its arrays anew. By default glibc returns large ones to the system and asks for them again, page by
page, in every step: 7 to 13 % of the time of a step of 16 000 spheres. It keeps arrays that are no larger than the
largest it has freed before, up to 32 MiB (its "dynamic mmap threshold", `man mallopt`). So one array of that size is
allocated and freed, once: no setting of the process is changed, and what the user has set by `MALLOC_…` holds.
"""

from __future__ import annotations

import contextlib
from functools import cache

import numpy as np

KEPT_BYTES = (1 << 25) - (1 << 16)  # as large as glibc goes, with room for what it stores beside an array
STEP_BYTES = 1 << 21  # of a step's arrays, from which it matters


def keep_work_arrays(step_bytes: int) -> None:
    """Let glibc keep freed arrays for the next step, where the arrays of a step are large; memory is not taken."""
    if step_bytes >= STEP_BYTES:
        _free_a_large_array()


@cache
def _free_a_large_array() -> None:
    with contextlib.suppress(MemoryError):  # where there is no room, nothing is lost
        np.empty(KEPT_BYTES, dtype=np.uint8)
