"""Handles: what tells a body or joint from those of the same name in other worlds.

A handle carries the mark that its body, joint or spring got when it was added, and so do the world, its copies and its
models: a body is known again wherever it is, and another one of its name is not taken for it. Names have no mark, and
stand for whatever is called so.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from typing import Any

from ..._check import describe
from ...errors import ModelError

Mark = tuple[int, int]

_count = itertools.count()


def new_mark() -> Mark:
    """A mark that nothing else has: the process and a number."""
    return os.getpid(), next(_count)


def name_of(which: Any, marks: Mapping[str, Mark | None] | None, what: str) -> Any:
    """The name that a handle, or a name, stands for; a handle is refused where `marks` tells it from what is called so.

    marks: those of the world, by name; None where they are not known, as of a recording from a file; what: for errors.
    """
    name, mark = getattr(which, "name", which), getattr(which, "mark", None)
    if not isinstance(name, str):
        raise ModelError(f"{what}: bodies, joints and contacts go by handle or name; got {describe(which)}.")
    if mark is not None and marks is not None and marks.get(name, mark) != mark:
        raise ModelError(
            f"{what}: the handle is of another {name!r}, in another world; give that of this world, or the name."
        )
    return name
