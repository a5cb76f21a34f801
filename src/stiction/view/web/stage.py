"""What there is to see of a world, and where it is at a frame: arrays for a renderer, none of its objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.laws import Law, Mode
from ...simulation.motion import world_impulse
from .reel import Frame, Reel
from .surfaces import fewer_triangles, is_smooth, patterned

Colour = tuple[int, int, int]
MODE_RGB: dict[int, Colour] = {  # Okabe and Ito: told apart with any colour vision
    int(Mode.STICK): (0, 114, 178),
    int(Mode.SLIP): (230, 159, 0),
    int(Mode.OPEN): (150, 150, 150),
}
FIXED_RGB: Colour = (176, 182, 190)
PIN_RGB: Colour = (204, 121, 167)
BONE_RGB: Colour = (86, 160, 120)
BODY_RGB = np.array(  # none like those of contacts
    [(86, 160, 120), (214, 186, 80), (200, 110, 150), (140, 120, 190), (160, 170, 60), (225, 140, 120), (120, 180, 190)]
)
LAYERS = 8  # bodies in the plane are drawn in so many layers, so that linked ones do not flicker


@dataclass(frozen=True)
class Part:
    """A surface (vertices (n, 3), triangles (m, 3)) that the bodies of these numbers have; tone: 1, darker below."""

    vertices: FloatArray
    triangles: IntArray
    bodies: IntArray
    smooth: bool
    tone: float
    endless: bool


@dataclass(frozen=True)
class Marks:
    """Contacts at a frame: point (m, 3) [m], normal (m, 3), force (m, 3) [N] on the first body, mode, bodies (m, 2)."""

    point: FloatArray
    normal: FloatArray
    force: FloatArray
    mode: IntArray
    bodies: IntArray

    def colours(self) -> np.ndarray:
        """(m, 3) by mode."""
        return np.array([MODE_RGB[int(m)] for m in self.mode], dtype=np.uint8).reshape(-1, 3)


class Stage:
    """The bodies of a world: their parts, colours and joints, and how large the picture is."""

    def __init__(self, reel: Reel):
        world, shapes = reel.info["world"], reel.shapes
        self.names: list[str] = list(world["bodies"])
        self.dim, self.com = int(world["dim"]), [np.asarray(com) for com in world["com"]]
        self.dt = float(reel.info["dt"])
        self.count = len(self.names)
        kinds = shapes.get("kinds") or ["dynamic" if shapes["bodies"][i] and i else "fixed" for i in range(self.count)]
        self.fixed = np.array([kind == "fixed" for kind in kinds])
        self.pins: list[Mapping[str, Any]] = list(shapes.get("pins", []))
        self.reach = np.array([self._reach(shapes, mine) for mine in shapes["bodies"]])
        self.drawn = np.array([bool(mine) for mine in shapes["bodies"]])
        for pin in self.pins:  # bodies without a shape reach as far as they are held
            for body, point in ((pin["a"], pin["pa"]), (pin["b"], pin["pb"])):
                if not self.drawn[body] and not self.fixed[body]:
                    self.reach[body] = max(self.reach[body], float(np.linalg.norm(point)))
        self.low, self.high = self._bounds(reel)
        self.centre, self.radius = 0.5 * (self.low + self.high), 0.5 * float(np.linalg.norm(self.high - self.low))
        self.parts = self._parts(shapes)

    @staticmethod
    def _reach(shapes: Mapping[str, Any], mine: list[int]) -> float:
        """The farthest point of a body from its centre of mass; 0 for planes and bodies without a shape."""
        surfaces = [shapes["surfaces"][k] for k in mine if not shapes["surfaces"][k]["endless"]]
        return max((float(np.linalg.norm(s["vertices"], axis=1).max()) for s in surfaces), default=0.0)

    def _bounds(self, reel: Reel) -> tuple[FloatArray, FloatArray]:
        """The corners of what moves, over a few frames; of all bodies where nothing moves."""
        chosen = np.flatnonzero(~self.fixed & (self.reach > 0.0))
        if not len(chosen):
            chosen = np.flatnonzero(self.reach > 0.0)
        if not len(chosen):
            return np.full(3, -1.0), np.full(3, 1.0)
        ends = sorted({0, len(reel) // 2, len(reel) - 1})
        at = np.array([self.poses(reel.frame(k))[0][chosen] for k in ends])
        reach = self.reach[chosen][:, None]
        if reel.growing:  # they will fall
            at = np.concatenate([at, *(feet[None] for feet in self._feet(reel, at[0]))])
        return (at - reach).min(axis=(0, 1)), (at + reach).max(axis=(0, 1))

    def _feet(self, reel: Reel, points: FloatArray) -> list[FloatArray]:
        """Points (n, 3) moved onto each endless surface."""
        position, turn = self.poses(reel.frame(0))
        found = []
        for body, mine in enumerate(reel.shapes["bodies"]):
            for k in mine:
                if reel.shapes["surfaces"][k]["endless"]:
                    local = np.array(reel.shapes["surfaces"][k]["vertices"], dtype=float)
                    square = position[body] + rotated(np.repeat(turn[body][None], len(local), axis=0), local)
                    along, across = square[-1] - square[0], np.array([0.0, 0.0, 1.0])
                    if self.dim == 3:
                        across = square[1] - square[0]
                    normal = np.cross(along, across)
                    normal /= np.linalg.norm(normal)
                    found.append(points - np.outer((points - square[0]) @ normal, normal))
        return found

    def _parts(self, shapes: Mapping[str, Any]) -> list[Part]:
        users: dict[int, list[int]] = {}
        for body, mine in enumerate(shapes["bodies"]):
            for k in mine:
                users.setdefault(k, []).append(body)
        parts = []
        for k, bodies in users.items():
            given = shapes["surfaces"][k]
            vertices, triangles = np.array(given["vertices"], dtype=float), np.array(given["triangles"], dtype=np.int64)
            if given["endless"]:
                middle = vertices.mean(axis=0) if self.dim == 3 else 0.5 * (vertices[0] + vertices[-1])
                far = 3.0 * self.radius + float(np.linalg.norm(self.centre - middle))
                vertices = middle + far * (vertices - middle)
            smooth = self.dim == 3 and is_smooth(vertices, triangles)
            if smooth:
                vertices, triangles = fewer_triangles(vertices, triangles, len(bodies))
            for tone, some in patterned(vertices, triangles, self.dim):
                parts.append(Part(some[0], some[1], np.array(bodies), smooth, tone, bool(given["endless"])))
        return parts

    def colours(self, bodies: IntArray, tone: float = 1.0, picked: int | None = None) -> np.ndarray:
        """(n, 3) uint8 of bodies; the picked one stands out."""
        colour = np.where(self.fixed[bodies][:, None], FIXED_RGB, BODY_RGB[bodies % len(BODY_RGB)])
        colour = np.where((bodies == picked)[:, None], (255, 80, 60), colour)
        return np.asarray(tone * colour, dtype=np.uint8)

    def poses(self, frame: Frame) -> tuple[FloatArray, FloatArray]:
        """Centres of mass (bodies, 3) [m] and quaternions (w, x, y, z)."""
        nb = self.count
        if self.dim == 3:
            q = frame.q[: 7 * nb].reshape(nb, 7)
            return q[:, :3], q[:, 3:]
        q = frame.q[: 3 * nb].reshape(nb, 3)
        layer = 1e-3 * getattr(self, "radius", 0.0) * (np.arange(nb) % LAYERS)
        half, zero = 0.5 * q[:, 2], np.zeros(nb)
        return np.column_stack([q[:, :2], layer]), np.column_stack([np.cos(half), zero, zero, np.sin(half)])

    def marks(self, frame: Frame) -> Marks:
        """The contacts of the frame's step."""
        c = frame.contacts
        rows = np.flatnonzero(c["law"] == int(Law.UNILATERAL))
        rows = rows[np.linalg.norm(c["normal"][rows], axis=1) > 0.5]  # limits of joints have no place
        point, normal = c["point"][rows].astype(float), c["normal"][rows].astype(float)
        force = np.zeros((len(rows), 3))
        force[:, : self.dim] = world_impulse(normal, c["tangent"][rows], c["impulse"][rows], self.dim)[:, : self.dim]
        if self.dim == 2:
            point = point + np.array([0.0, 0.0, 1e-2 * self.radius])  # in front of the bodies
        return Marks(
            point, normal, force / self.dt, c["mode"][rows].astype(np.int64), c["bodies"][rows].astype(np.int64)
        )

    def shown_forces(self, marks: Marks, picked: int | None = None) -> FloatArray:
        """(m, 3) forces [N] on the bodies that move; of two the later one, and those on the picked one in any case."""
        a, b = marks.bodies[:, 0], marks.bodies[:, 1]
        on_b = np.where(self.fixed[a] == self.fixed[b], b > a, self.fixed[a])
        if picked is not None:
            on_b = np.where(b == picked, True, np.where(a == picked, False, on_b))
        return np.where(on_b[:, None], -marks.force, marks.force)

    def joints(self, frame: Frame) -> FloatArray:
        """(m, 2, 3) the anchors of joints on their two bodies [m]: the same point, or the ends of a link or spring."""
        if not self.pins:
            return np.zeros((0, 2, 3))
        position, turn = self.poses(frame)
        ends = np.zeros((len(self.pins), 2, 3))
        for side, (body, point) in enumerate((("a", "pa"), ("b", "pb"))):
            which = np.array([pin[body] for pin in self.pins])
            local = np.zeros((len(which), 3))
            local[:, : self.dim] = [pin[point] for pin in self.pins]
            ends[:, side] = position[which] + rotated(turn[which], local)
        if self.dim == 2:
            ends[:, :, 2] = 1.1e-2 * self.radius
        return ends

    def bones(self, frame: Frame) -> FloatArray:
        """(m, 2, 3) bodies without a shape: lines from their centres of mass to where joints hold them [m]."""
        position, ends = self.poses(frame)[0], self.joints(frame)
        lines = []
        for k, pin in enumerate(self.pins):
            for side, body in enumerate((pin["a"], pin["b"])):
                if not self.drawn[body] and not self.fixed[body]:
                    lines.append(np.array([position[body], ends[k, side]]))
        return np.array(lines).reshape(-1, 2, 3)

    def trail(self, reel: Reel, k: int, bodies: IntArray, length: int = 60, every: int = 1) -> FloatArray:
        """(m, 2, 3) segments of the paths of centres of mass over the frames before the k-th."""
        frames = range(max(0, k - length * every), k + 1, every)
        at = np.array([self.poses(reel.frame(i))[0][bodies] for i in frames])
        if self.dim == 2:
            at[:, :, 2] = 9e-3 * self.radius
        return np.stack([at[:-1], at[1:]], axis=2).reshape(-1, 2, 3)

    def force_scale(self, reel: Reel, samples: int = 20) -> float:
        """Metres per newton: the typical largest force of a frame comes out of the body that it acts on."""
        chosen = np.unique(np.linspace(0, len(reel) - 1, samples).astype(int))
        sizes = [np.linalg.norm(self.marks(reel.frame(int(k))).force, axis=1) for k in chosen]
        sizes = [float(s.max()) for s in sizes if len(s) and s.max() > 0.0]
        typical = float(np.median(sizes)) if sizes else 0.0
        return min(0.6 * self.radius, 2.6 * self._size()) / typical if typical > 0.0 else 0.0

    def _size(self) -> float:
        """The size of a typical body that moves [m]."""
        moving = self.reach[~self.fixed & (self.reach > 0.0)]
        return float(np.median(moving)) if len(moving) else self.radius

    @property
    def mark_size(self) -> float:
        """The radius of a contact point's mark [m]."""
        return min(0.012 * self.radius, 0.12 * self._size())

    def numbers(self, frame: Frame, body: int) -> list[tuple[str, str]]:
        """What is told of a body: names and values with units."""
        d, position, turn = self.dim, *self.poses(frame)
        com = np.zeros(3)
        com[:d] = self.com[body][:d]
        arm = rotated(turn[body][None], com[None])[0]
        rows = [("position [m]", _vector((position[body] - arm)[:d]))]
        if d == 3:
            rows.append(("quaternion", _vector(turn[body])))
        else:
            rows.append(("angle [rad]", f"{frame.q[3 * body + 2]:.4g}"))
        if frame.v is not None:
            width = 6 if d == 3 else 3
            v = frame.v[width * body : width * (body + 1)]
            spin = np.array([0.0, 0.0, v[2]]) if d == 2 else v[3:]
            velocity = np.append(v[:2], 0.0) if d == 2 else v[:3]
            velocity = velocity - np.cross(spin, arm)
            rows += [("velocity [m/s]", _vector(velocity[:d])), ("speed [m/s]", f"{np.linalg.norm(velocity):.4g}")]
            rows.append(("angular velocity [rad/s]", _vector(spin) if d == 3 else f"{v[2]:.4g}"))
        return rows + self._touching(frame, body)

    def _touching(self, frame: Frame, body: int) -> list[tuple[str, str]]:
        marks = self.marks(frame)
        mine = np.flatnonzero((marks.bodies == body).any(axis=1))
        sign = np.where(marks.bodies[mine, 0] == body, 1.0, -1.0)
        total = (sign[:, None] * marks.force[mine]).sum(axis=0)
        rows = [("contacts", str(len(mine))), ("contact force [N]", _vector(total[: self.dim]))]
        order = mine[np.argsort(-np.linalg.norm(marks.force[mine], axis=1), kind="stable")]
        for k in order[:6]:
            a, b = (int(i) for i in marks.bodies[k])
            other = self.names[b if a == body else a]
            rows.append(
                (f"with {other}", f"{Mode(int(marks.mode[k])).name.lower()}, {np.linalg.norm(marks.force[k]):.4g} N")
            )
        return rows


def _vector(values: FloatArray) -> str:
    return "(" + ", ".join(f"{0.0 if abs(x) < 5e-13 else x:.4g}" for x in values) + ")"


def rotated(quaternion: FloatArray, vectors: FloatArray) -> FloatArray:
    """(n, 3) vectors turned by unit quaternions (n, 4)."""
    w, u = quaternion[:, :1], quaternion[:, 1:]
    t = 2.0 * np.cross(u, vectors)
    return np.asarray(vectors + w * t + np.cross(u, t))
