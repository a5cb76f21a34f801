"""Which motions are possible over two parameters: a map of contact modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from .instant_rows import NeedsImpulse
from .motions import Motions, all_motions


@dataclass(frozen=True)
class ModeMap:
    """What is possible at (x, y): `modes[j, i]` is a tuple with the `modes` of every motion at (x[i], y[j]).

    It is empty where there is no motion, and None where the problem could not be posed (a contact that is closing
    has no force problem). `labels` are the different ones, the most frequent first.
    """

    x: FloatArray
    y: FloatArray
    modes: tuple[tuple[tuple[str, ...] | None, ...], ...]

    @property
    def labels(self) -> list[tuple[str, ...] | None]:
        """The different outcomes, the most frequent first."""
        flat = [one for row in self.modes for one in row]
        return sorted(set(flat), key=lambda one: (-flat.count(one), str(one)))

    @property
    def count(self) -> FloatArray:
        """(ny, nx) how many motions there are, continua counting as one; NaN where the problem could not be posed."""
        return np.array([[np.nan if one is None else len(one) for one in row] for row in self.modes], dtype=float)


@checks_arguments
def mode_map(make: Callable[[float, float], Any], x: Sequence[float] | FloatArray, y: Any) -> ModeMap:
    """The motions of `make(x, y)`, a `Form` or contact problem, over a grid x (nx,), y (ny,).

    The modes of each motion are letters, one per contact: see `Motion.modes`.
    """
    xs, ys = _check.floats("x", x, (None,)), _check.floats("y", y, (None,))

    def at(a: float, b: float) -> tuple[str, ...] | None:
        try:
            motions: Motions = all_motions(make(a, b))
        except NeedsImpulse:
            return None
        return tuple(sorted({motion.modes for motion in motions}))

    return ModeMap(xs, ys, tuple(tuple(at(float(a), float(b)) for a in xs) for b in ys))
