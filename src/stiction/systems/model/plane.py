"""Bodies in the plane: angles, and the 2D collision kernels."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._check import FloatArray, IntArray
from ...collision import CORE, ELLIPSE, PLANE, aabbs2, evaluate2, find2
from ...collision.records import Boxes, FoundContacts, Geometry, PlaneShapes
from ..base import State
from ..builder.forces import BodyState
from ..shapes.basic import Ellipse, HalfPlane
from .base import BodyModel
from .candidates import Features
from .kernels import plane as plane_kernels


class Model2(BodyModel):
    """The frozen model of a `PlanarWorld`: (x, y, angle) per body in q, their rates in v."""

    dim, dof, width = 2, 3, 3
    kernels: ClassVar[Any] = plane_kernels
    contacts: ClassVar[Any] = plane_kernels

    def _prepare_bodies(self) -> None:
        self.inertia = np.array([float(s.inertia) for s in self.specs])
        scale = np.column_stack([self.mass_of, self.mass_of, self.inertia])
        self.blocks = np.einsum("bi,ij->bij", scale, np.eye(3))
        inverse = np.where(self.moves[:, None], 1.0 / np.where(self.moves[:, None], scale, 1.0), 0.0)
        self.inverse_blocks = np.einsum("bi,ij->bij", inverse, np.eye(3))
        self.inverse = inverse
        self.reach = np.array([max((_reach(s, b.com) for s in b.shapes), default=0.0) for b in self.specs])

    def _shape_arrays(self, shapes: list[tuple[int, Any]]) -> None:
        self.kind = np.array([kind_of(s) for _, s in shapes], dtype=np.int64)
        self.curved = bool((self.kind == ELLIPSE).any())
        vertices, radius = [], []
        for i, s in shapes:
            com = self.specs[i].com
            if isinstance(s, HalfPlane):
                vertices.append(np.array([s.position - com, s.normal]))
                radius.append(0.0)
            elif isinstance(s, Ellipse):
                vertices.append(np.array([s.position - com, *s.semi_axes()]))
                radius.append(0.0)
            else:
                core, r = s.core()
                vertices.append(core - com)
                radius.append(r)
        self.vert_ptr = np.concatenate([[0], np.cumsum([len(v) for v in vertices])]).astype(np.int64)
        self.verts = np.ascontiguousarray(np.vstack(vertices)) if vertices else np.zeros((0, 2))
        self.radius = np.array(radius, dtype=float)

    def _component_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        q = tuple(f"{name}.{c}" for name in self.names for c in ("x", "y", "angle"))
        v = tuple(f"{name}.{c}" for name in self.names for c in ("vx", "vy", "w"))
        return q, v

    def _start(self) -> State:
        q = np.array([[*s.place.position, s.place.angle] for s in self.specs])
        v = np.array([[*s.velocity, *s.spin] for s in self.specs])
        for i in self.kinematic:
            motion = self.specs[i].motion
            if motion is not None:
                q[i] = self._pose_of(i, motion(0.0), f"motion of {self.specs[i].name!r} at t = 0 s")
        return State(0.0, q.ravel(), v.ravel())

    def _pose_of(self, i: int, motion: Any, what: str) -> FloatArray:
        if isinstance(motion, tuple) and len(motion) == 2 and np.ndim(motion[0]) == 1:
            position, angle = motion[0], _check.number(f"{what} (angle)", motion[1])
        else:
            position, angle = motion, self.specs[i].place.angle
        return np.array([*_check.floats(f"{what} (position)", position, (2,)), angle])

    def turns(self, q: FloatArray) -> FloatArray:
        """The differences of angles at the start: angles in the plane are counted anyway."""
        return self.mechanism.rows.start

    def coordinate_turns(self, q: FloatArray, before: FloatArray) -> FloatArray:
        """As `turns`."""
        return self.mechanism.coordinates.start

    def _poses_at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        Q = q.reshape(self.nb, 3)
        return np.ascontiguousarray(Q[:, :2]), np.ascontiguousarray(Q[:, 2])

    def _rotation(self, i: int, q: FloatArray) -> FloatArray:
        c, s = np.cos(q[3 * i + 2]), np.sin(q[3 * i + 2])
        return np.array([[c, -s], [s, c]])

    @cached_property
    def shapes(self) -> PlaneShapes:
        """The shapes as kernels take them."""
        return PlaneShapes(
            self.kind, self.shape_body, self.shape_group, self.shape_mask, self.excluded, self.vert_ptr, self.verts,
            self.radius,
        )  # fmt: skip

    def _boxes(self, x: FloatArray, turn: FloatArray, band: float) -> Boxes:
        boxes = Boxes(np.empty((self.ns, 2)), np.empty((self.ns, 2)), np.empty((self.ns, 3)))
        aabbs2(x, turn, self.shapes, band, boxes)
        return boxes

    def _find(self, x: FloatArray, turn: FloatArray, pairs: IntArray, band: float, out: FoundContacts) -> int:
        if not self.curved:
            return int(find2(x, turn, self.shapes, pairs, band, out))
        from ...collision.plane.ellipse import find_ellipses2

        curved = (self.kind[pairs] == ELLIPSE).any(axis=1)
        n = int(find2(x, turn, self.shapes, pairs[~curved], band, out))
        rest = FoundContacts(*(array[n:] for array in out))
        return n + int(find_ellipses2(x, turn, self.shapes, pairs[curved], band, rest))

    def _measure(self, x: FloatArray, turn: FloatArray, f: Features, out: Geometry) -> None:
        evaluate2(x, turn, f.pairs, out)
        if self.curved:
            from ...collision.plane.ellipse import evaluate_ellipses2

            evaluate_ellipses2(x, turn, self.shapes, f.shape_a, f.shape_b, f.type, out)

    def _mass_blocks(self, q: FloatArray, inverse: bool) -> FloatArray:
        return self.inverse_blocks if inverse else self.blocks

    def _pushed(self, state: State, h: float, force: FloatArray) -> FloatArray:
        return np.asarray(state.v + h * (force * self.inverse).ravel())

    def _contact_sizes(self, turn: FloatArray, f: Features, geometry: Geometry, sizes: FloatArray) -> None:
        from ...collision.sizes import contact_sizes2

        contact_sizes2(f.shape_a, f.shape_b, np.arange(len(f)), geometry, sizes)

    def move(self, q: FloatArray, v: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """q + h v and v."""
        return q + h * v, v

    def _kinetic(self, q: FloatArray, v: FloatArray) -> float:
        from ...problem.body_kernels import quadratic_form

        return 0.5 * float(quadratic_form(self.blocks, v.reshape(self.nb, self.dof)))

    def body_state(self, i: int, q: FloatArray, v: FloatArray) -> BodyState:
        """Position, angle and velocities of a body's frame."""
        Q, V = q[3 * i : 3 * i + 3], v[3 * i : 3 * i + 3]
        arm = self._rotation(i, q) @ self.specs[i].com
        velocity = V[:2] - V[2] * np.array([-arm[1], arm[0]])
        return BodyState(Q[:2] - arm, float(Q[2]), velocity, float(V[2]))

    def __repr__(self) -> str:
        moving = int(self.moves.sum())
        return f"Model2({moving} dynamic bodies of {self.nb - 1}, {self.ns} shapes, {len(self.joints)} joints)"


def _reach(shape: Any, com: FloatArray) -> float:
    if isinstance(shape, HalfPlane):
        return np.inf
    if isinstance(shape, Ellipse):
        return float(np.linalg.norm(shape.position - com)) + max(shape.a, shape.b)
    core, radius = shape.core()
    return float(np.linalg.norm(core - com, axis=1).max()) + radius


def kind_of(shape: Any) -> int:
    """What the collision kernels take a shape for."""
    return ELLIPSE if isinstance(shape, Ellipse) else PLANE if isinstance(shape, HalfPlane) else CORE
