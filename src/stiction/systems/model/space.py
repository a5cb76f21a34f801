"""Bodies in space: quaternions, inertia tensors, and the 3D collision kernels."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._check import FloatArray, IntArray
from ...collision import CORE, CYLINDER, ELLIPSOID, HULL, PLANE, aabbs3, evaluate3, find3
from ...collision.records import Boxes, Cores, FoundContacts, Geometry, SpaceShapes, Surfaces
from ..base import State
from ..builder.bodies import quaternion_matrix, unit_quaternion
from ..builder.forces import BodyState
from ..shapes.basic import Plane
from ..shapes.solids import Cylinder, Ellipsoid, _Polyhedral
from .base import BodyModel
from .candidates import Features
from .kernels import space as space_kernels
from .kernels import space_contacts

FILLET_SHARE = 0.01  # of half the diagonal of a shape: the radius of its edges and corners
_STRETCHED = 1e-6  # what the squared length of a quaternion may miss; a step makes it 1 to round-off


class Model3(BodyModel):
    """The frozen model of a `World`: 7 numbers per body in q (x, y, z, then the quaternion w, x, y, z), 6 in v.

    At the end of q stand the angles of joints that are counted over full turns: those that limits, motors, springs,
    screws and gears depend on. A quaternion does not know how often a body has turned.
    """

    dim, dof, width = 3, 6, 7
    kernels: ClassVar[Any] = space_kernels
    contacts: ClassVar[Any] = space_contacts

    def _prepare_bodies(self) -> None:
        self.inertia = np.array([s.inertia for s in self.specs])
        whole = self.inertia + np.where(self.moves, 0.0, 1.0)[:, None, None] * np.eye(3)
        self.inverse_inertia = np.asarray(np.linalg.inv(whole), dtype=float)
        self.inverse_mass = np.where(self.moves, 1.0 / np.where(self.moves, self.mass_of, 1.0), 0.0)
        self.reach = np.array(
            [max((np.linalg.norm(s.position - b.com) + s.reach for s in b.shapes), default=0.0) for b in self.specs]
        )

    def _shape_arrays(self, shapes: list[tuple[int, Any]]) -> None:
        n = len(shapes)
        self.kind = np.array([kind_of(s) for _, s in shapes], dtype=np.int64)
        self.curved = bool((self.kind > PLANE).any())
        self.center = np.array([_centre(s) - self.specs[i].com for i, s in shapes]).reshape(n, 3)
        self.rot = np.array([quaternion_matrix(*s.orientation) for _, s in shapes]).reshape(n, 3, 3)
        cores = [(np.zeros(3), 0.0) if isinstance(s, Plane) else s.core() for _, s in shapes]
        self.half = np.array([half for half, _ in cores]).reshape(n, 3)
        self.radius = np.array([radius for _, radius in cores], dtype=float)
        if self.curved:
            self.geo = Cores(self.kind, self.half, *_hull_arrays([s for _, s in shapes]))

    def _component_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        q = tuple(f"{name}.{c}" for name in self.names for c in ("x", "y", "z", "qw", "qx", "qy", "qz"))
        q += tuple(f"turn{i}" for i in range(self.mechanism.rows.turns))
        v = tuple(f"{name}.{c}" for name in self.names for c in ("vx", "vy", "vz", "wx", "wy", "wz"))
        return q, v

    def _start(self) -> State:
        q = np.array([[*s.place.position, *s.quaternion] for s in self.specs])
        v = np.array([[*s.velocity, *s.spin] for s in self.specs])
        for i in self.kinematic:
            motion = self.specs[i].motion
            if motion is not None:
                q[i] = self._pose_of(i, motion(0.0), f"motion of {self.specs[i].name!r} at t = 0 s")
        start = np.concatenate([q.ravel(), np.zeros(self.mechanism.rows.turns)])
        return State(0.0, self.counted(start, start.copy(), np.zeros(self.nv)), v.ravel())

    def _pose_of(self, i: int, motion: Any, what: str) -> FloatArray:
        if isinstance(motion, tuple) and len(motion) == 2 and np.ndim(motion[0]) == 1:
            position, turn = motion[0], unit_quaternion(f"{what} (orientation)", motion[1])
        else:
            position, turn = motion, self.specs[i].quaternion
        return np.concatenate([_check.floats(f"{what} (position)", position, (3,)), turn])

    def stretched(self, q: FloatArray) -> tuple[str, float] | None:
        """The first body whose quaternion is no rotation, and its length; None where all are of length one."""
        Q = self.bodies(q)[:, 3:]
        with np.errstate(over="ignore"):
            off = np.flatnonzero(~(np.abs(np.einsum("ij,ij->i", Q, Q) - 1.0) <= _STRETCHED))
        return (self.specs[off[0]].name, math.hypot(*Q[off[0]])) if len(off) else None

    def turns(self, q: FloatArray) -> FloatArray:
        """The counted angles."""
        return q[self.nb * 7 :]

    def coordinate_turns(self, q: FloatArray, before: FloatArray) -> FloatArray:
        """The angles of joints: those in q, and others counted from one call to the next."""
        rows, known = self.mechanism.coordinates, self.mechanism.known_turns
        old, out = before.copy(), np.empty(rows.turns)
        old[known >= 0] = self.turns(q)[known[known >= 0]]
        space_kernels.count_turns(self.bodies(q), np.zeros((self.nb, 6)), rows.arrays, old, out)
        return out

    def counted(self, old: FloatArray, new: FloatArray, dq: FloatArray) -> FloatArray:
        """`new` with its turns counted on from those of `old` by a displacement of about dq."""
        if self.mechanism.rows.turns:
            Q, rows = self.bodies(new), self.mechanism.rows.arrays
            space_kernels.count_turns(Q, dq.reshape(self.nb, 6), rows, old[self.nb * 7 :], new[self.nb * 7 :])
        return new

    def _poses_at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        Q = self.bodies(q)
        R = np.empty((self.nb, 3, 3))
        space_kernels.rotations(Q, R)
        return np.ascontiguousarray(Q[:, :3]), R

    def _rotation(self, i: int, q: FloatArray) -> FloatArray:
        return quaternion_matrix(*q[7 * i + 3 : 7 * i + 7])

    @cached_property
    def shapes(self) -> SpaceShapes:
        """The shapes as kernels take them."""
        return SpaceShapes(
            self.kind, self.shape_body, self.shape_group, self.shape_mask, self.excluded, self.center, self.rot,
            self.half, self.radius,
        )  # fmt: skip

    def _boxes(self, x: FloatArray, turn: FloatArray, band: float) -> Boxes:
        boxes = Boxes(np.empty((self.ns, 3)), np.empty((self.ns, 3)), np.empty((self.ns, 4)))
        aabbs3(x, turn, self.shapes, band, boxes)
        return boxes

    def _find(self, x: FloatArray, turn: FloatArray, pairs: IntArray, band: float, out: FoundContacts) -> int:
        if not self.curved:
            return int(find3(x, turn, self.shapes, pairs, band, out))
        from ...collision.space.convex import find_convex3

        curved = (self.kind[pairs] > PLANE).any(axis=1)
        n = int(find3(x, turn, self.shapes, pairs[~curved], band, out))
        rest = FoundContacts(*(array[n:] for array in out))
        return n + int(find_convex3(x, turn, self.geo, self.shapes, pairs[curved], band, rest))

    def _measure(self, x: FloatArray, turn: FloatArray, f: Features, out: Geometry) -> None:
        evaluate3(x, turn, f.pairs, out)
        if self.curved:
            from ...collision.space.convex import evaluate_convex3

            evaluate_convex3(x, turn, self.geo, self.shapes, f.shape_a, f.shape_b, f.pairs, out)

    @cached_property
    def fillet(self) -> FloatArray:
        """(ns,) the radius of edges and corners [m], by default a hundredth of half the diagonal of the shape."""
        size = self.radius + np.linalg.norm(self.half, axis=1)
        return np.where(np.isnan(self.given_fillet), FILLET_SHARE * size, self.given_fillet)

    def _contact_sizes(self, turn: FloatArray, f: Features, geometry: Geometry, sizes: FloatArray) -> None:
        from ...collision.sizes import contact_sizes3

        surfaces = Surfaces(self.shapes, self.fillet, f.pairs, f.shape_a, f.shape_b, np.zeros((0, 2, 4)))
        if self.curved:
            from ...collision.space.curvature import hull_features

            surfaces = surfaces._replace(hulls=np.zeros((len(f), 2, 4)))
            hull_features(turn, self.geo, surfaces, geometry.normal, surfaces.hulls)
        contact_sizes3(turn, surfaces, np.arange(len(f)), geometry, sizes)

    def _mass_blocks(self, q: FloatArray, inverse: bool) -> FloatArray:
        R, M = self._poses(q)[1], np.empty((self.nb, 6, 6))
        if inverse:
            space_kernels.mass_blocks(R, self.inverse_mass, self.inverse_inertia, self.moves, M)
        else:
            space_kernels.mass_blocks(R, self.mass_of, self.inertia, self.moves, M)
        return M

    def _pushed(self, state: State, h: float, force: FloatArray) -> FloatArray:
        out = np.empty((self.nb, 6))
        Q, V = self.bodies(state.q), state.v.reshape(self.nb, 6)
        space_kernels.push(Q, V, force, self.mass_of, self.inverse_inertia, self.moves, h, out)
        return out.ravel()

    def move(self, q: FloatArray, v: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """Where free flight leads from q with v in a time h, and the velocity there: the spin of a top turns, too."""
        new_q, new_v = np.empty(self.nq), np.empty((self.nb, 6))
        V = v.reshape(self.nb, 6)
        space_kernels.move(self.bodies(q), V, h, self.inertia, self.moves, self.bodies(new_q), new_v)
        return self.counted(q, new_q, h * v), new_v.ravel()

    def carried(self, q: FloatArray, v: FloatArray, to: FloatArray) -> FloatArray:
        """v with the spins turned as the bodies are from q to `to`."""
        out = np.empty((self.nb, 6))
        space_kernels.turn_with(self.bodies(q), v.reshape(self.nb, 6), self.bodies(to), out)
        return out.ravel()

    def _kinetic(self, q: FloatArray, v: FloatArray) -> float:
        V = v.reshape(self.nb, 6)
        return float(space_kernels.kinetic_energy(self.bodies(q), V, self.mass_of, self.inertia, self.moves))

    def _gyroscopic(self, q: FloatArray, v: FloatArray) -> FloatArray:
        torque = np.zeros((self.nb, 6))
        V = v.reshape(self.nb, 6)
        M = self.mass(q)
        momentum = np.einsum("bij,bj->bi", M[:, 3:, 3:], V[:, 3:])
        torque[:, 3:] = _cross(momentum, V[:, 3:])
        return torque

    def retract(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """q ⊕ dq, rotations by the exponential map."""
        out = np.empty(self.nq)
        space_kernels.retract(self.bodies(q), dq.reshape(self.nb, 6), self.bodies(out))
        return self.counted(q, out, dq)

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """dq with q0 ⊕ dq = q1."""
        out = np.empty((self.nb, 6))
        space_kernels.difference(self.bodies(q0), self.bodies(q1), out)
        return out.ravel()

    def chart_rate(self, dq: FloatArray, v: FloatArray) -> FloatArray:
        """v with rotations through the inverse of the exponential map's derivative.

        Of R = exp(θ) R₀ with angular velocity ω: θ' = ω - ½ θ×ω + c θ×(θ×ω), c = (1 - ½|θ| cot ½|θ|)/|θ|².
        """
        rate = v.reshape(self.nb, 6).copy()
        turn, spin = dq.reshape(self.nb, 6)[:, 3:], rate[:, 3:].copy()
        half = 0.5 * np.linalg.norm(turn, axis=1)
        far = np.where(half > 1e-4, half, 1.0)
        c = np.where(half > 1e-4, (1.0 - far / np.tan(far)) / (4.0 * far**2), 1.0 / 12.0)
        across = _cross(turn, spin)
        rate[:, 3:] += c[:, None] * _cross(turn, across) - 0.5 * across
        return rate.ravel()

    def body_state(self, i: int, q: FloatArray, v: FloatArray) -> BodyState:
        """Position, orientation and velocities of a body's frame."""
        Q, V = q[7 * i : 7 * i + 7], v[6 * i : 6 * i + 6]
        arm = quaternion_matrix(*Q[3:]) @ self.specs[i].com
        return BodyState(Q[:3] - arm, Q[3:].copy(), V[:3] - np.cross(V[3:], arm), V[3:].copy())

    def __repr__(self) -> str:
        moving = int(self.moves.sum())
        return f"Model3({moving} dynamic bodies of {self.nb - 1}, {self.ns} shapes, {len(self.joints)} joints)"


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """a × b of rows (n, 3): a tenth of the time of np.cross on a few."""
    out = np.empty(a.shape)
    out[:, 0] = a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    out[:, 1] = a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
    out[:, 2] = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return out


def kind_of(shape: Any) -> int:
    """What the collision kernels take a shape for."""
    for code, cls in ((PLANE, Plane), (CYLINDER, Cylinder), (ELLIPSOID, Ellipsoid), (HULL, _Polyhedral)):
        if isinstance(shape, cls):
            return code
    return CORE


def _centre(shape: Any) -> FloatArray:
    """Where the kernels' frame of a shape lies in the body frame: of a polyhedron the middle of its box."""
    place: FloatArray = shape.position
    if isinstance(shape, _Polyhedral):
        return place + quaternion_matrix(*shape.orientation) @ _middle(shape)
    return place


def _middle(shape: Any) -> FloatArray:
    vertices = shape.polytope.vertices
    return np.asarray(0.5 * (vertices.min(axis=0) + vertices.max(axis=0)))


def _hull_arrays(shapes: list[Any]) -> tuple[Any, ...]:
    """Vertices, links and faces of all polyhedra, as `collision.space.support` reads them."""
    verts, normals = [np.zeros((0, 3))], [np.zeros((0, 3))]
    links: list[tuple[int, ...]] = []
    loops: list[tuple[int, ...]] = []
    vert_ptr, face_ptr = [0], [0]
    for s in shapes:
        first, faces = vert_ptr[-1], face_ptr[-1]
        if isinstance(s, _Polyhedral):
            p = s.polytope
            verts.append(p.vertices - _middle(s))
            normals.append(p.normals)
            links += [tuple(first + j for j in near) for near in p.links]
            loops += [tuple(first + j for j in loop) for loop in p.loops]
            first, faces = first + len(p.vertices), faces + len(p.loops)
        vert_ptr.append(first)
        face_ptr.append(faces)

    def flat(lists: list[tuple[int, ...]]) -> tuple[IntArray, IntArray]:
        ends = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
        return ends, np.array([i for one in lists for i in one], dtype=np.int64)

    link_ptr, link = flat(links)
    loop_ptr, loop = flat(loops)
    return (
        np.array(vert_ptr, dtype=np.int64), np.ascontiguousarray(np.vstack(verts)), link_ptr, link,
        np.array(face_ptr, dtype=np.int64), np.ascontiguousarray(np.vstack(normals)), loop_ptr, loop,
    )  # fmt: skip
