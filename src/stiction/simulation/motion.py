"""The motion of one body, read from a trajectory of a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .._check import FloatArray
from ..errors import ModelError


class BodyMotion:
    """Positions and velocities of the body frame's origin; q and v hold those of the centre of mass."""

    def __init__(self, world: Mapping[str, Any] | None, columns: Callable[[str, slice], FloatArray], name: Any):
        """columns: gives some columns of "q" or "v"."""
        if world is None:
            raise ModelError("this trajectory is of a generalized system; its columns are q and v.")
        if name not in world["bodies"]:
            raise ModelError(f"there is no body {name!r}; there are {', '.join(world['bodies'][1:])}.")
        i, self.dim = world["bodies"].index(name), int(world["dim"])
        width, dof = (7, 6) if self.dim == 3 else (3, 3)
        self._columns, self._places = (
            columns,
            {"q": slice(i * width, (i + 1) * width), "v": slice(i * dof, (i + 1) * dof)},
        )
        self.com = np.asarray(world["com"][i])

    @cached_property
    def q(self) -> FloatArray:
        """(n, 7) or (n, 3)."""
        return self._columns("q", self._places["q"])

    @cached_property
    def v(self) -> FloatArray:
        """(n, 6) or (n, 3)."""
        return self._columns("v", self._places["v"])

    def arm(self) -> FloatArray:
        """(n, dim) from the origin to the centre of mass, in the world."""
        if self.dim == 2:
            c, s = np.cos(self.q[:, 2]), np.sin(self.q[:, 2])
            return np.column_stack([c * self.com[0] - s * self.com[1], s * self.com[0] + c * self.com[1]])
        w, u = self.q[:, 3:4], self.q[:, 4:]
        t = 2.0 * np.cross(u, np.broadcast_to(self.com, u.shape))
        return self.com + w * t + np.cross(u, t)

    def position(self) -> FloatArray:
        """(n, dim)."""
        return self.q[:, : self.dim] - self.arm()

    def velocity(self) -> FloatArray:
        """(n, dim)."""
        arm = self.arm()
        if self.dim == 2:
            return self.v[:, :2] - self.v[:, 2:3] * np.column_stack([-arm[:, 1], arm[:, 0]])
        return self.v[:, :3] - np.cross(self.v[:, 3:], arm)


def world_impulse(normal: FloatArray, tangent: FloatArray, impulse: FloatArray, dim: int) -> FloatArray:
    """(m, dim) impulses in world axes from rows normal, tangent 1, tangent 2; the last along normal × tangent."""
    out = impulse[:, :1] * normal + impulse[:, 1:2] * tangent
    if dim == 3:
        out += impulse[:, 2:3] * np.cross(normal, tangent)
    return out[:, :dim]
