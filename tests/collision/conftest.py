"""Small scenes for the collision tests: shapes by name, poses, and the kernels called with fresh buffers."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stiction.collision import ELLIPSE, PLANE, evaluate2, evaluate3, find2, find3
from stiction.collision.plane.ellipse import evaluate_ellipses2, find_ellipses2
from stiction.collision.records import FeaturePairs, FoundContacts, Geometry, PlaneShapes, SpaceShapes

ROOM = 64


@dataclass
class Features:
    """Records of a scene and their values at a configuration."""

    records: FoundContacts
    gap: np.ndarray
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray

    @property
    def code(self):
        return self.records.code

    @property
    def type(self):
        return self.records.type

    @property
    def least(self):
        return self.gap.min() if self.gap.size else np.inf


def _buffers(m, d):
    """Output arrays filled with values that no kernel writes."""
    integers = [np.full(m, -7, dtype=np.int64) for _ in range(6)]
    vectors = [np.full((m, d), np.nan) for _ in range(4)]
    return FoundContacts(*integers, *vectors, np.full(m, np.nan), np.full(m, np.nan))


def _filters(n):
    """Group, mask and excluded of shapes that may all touch."""
    return np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64), np.zeros(0, dtype=np.int64)


class _Scene:
    d = 0

    def find(self, band=0.1, pairs=((0, 1),), room=ROOM):
        """Features found at the present poses, evaluated there."""
        buffers = _buffers(room, self.d)
        count = self._find(np.array(pairs, dtype=np.int64).reshape(-1, 2), band, buffers)
        if count > room:
            return self.find(band, pairs, count)
        assert all((b[count:] == -7).all() for b in buffers if b.dtype == np.int64)
        return self.evaluate(FoundContacts(*(b[:count].copy() for b in buffers)))

    def evaluate(self, records):
        """Given records at the present poses."""
        n = len(records.code)
        out = Geometry(np.full(n, np.nan), *(np.full((n, self.d), np.nan) for _ in range(3)))
        self._evaluate(records, FeaturePairs(*(getattr(records, name) for name in FeaturePairs._fields)), out)
        result = Features(records, *out)
        assert all(np.isfinite(a).all() for a in (*records, *out))
        np.testing.assert_allclose(np.linalg.norm(result.normal, axis=1), 1.0, atol=1e-12)
        return result


@dataclass
class Scene3(_Scene):
    """One shape per body; `half` and `radius` per shape, or half None for a half-space."""

    shapes: list
    x: np.ndarray = None
    R: np.ndarray = None
    center: np.ndarray = None
    rot: np.ndarray = None
    d: int = field(default=3, init=False)

    def __post_init__(self):
        n = len(self.shapes)
        self.kind = np.array([int(half is None) for half, _ in self.shapes], dtype=np.int64)
        self.half = np.array([np.zeros(3) if half is None else half for half, _ in self.shapes], dtype=float)
        self.radius = np.array([radius for _, radius in self.shapes], dtype=float)
        self.body = np.arange(n)
        self.x = np.zeros((n, 3)) if self.x is None else np.array(self.x, dtype=float)
        self.R = np.tile(np.eye(3), (n, 1, 1)) if self.R is None else np.array(self.R, dtype=float)
        self.center = np.zeros((n, 3)) if self.center is None else self.center
        self.rot = np.tile(np.eye(3), (n, 1, 1)) if self.rot is None else self.rot

    @property
    def packed(self):
        filters = _filters(len(self.kind))
        return SpaceShapes(self.kind, self.body, *filters, self.center, self.rot, self.half, self.radius)

    def _find(self, pairs, band, out):
        return find3(self.x, self.R, self.packed, pairs, band, out)

    def _evaluate(self, records, pairs, out):
        evaluate3(self.x, self.R, pairs, out)

    def moved(self, velocity, turn):
        """The same scene with every body displaced by velocity (n, 3) and turned by rotation vectors (n, 3)."""
        R = Rotation.from_rotvec(turn).as_matrix() @ self.R
        return Scene3(self.shapes, self.x + velocity, R, self.center, self.rot)

    def exchanged(self):
        """The same two bodies in the other order."""
        parts = (a[::-1].copy() for a in (self.x, self.R, self.center, self.rot))
        return Scene3(self.shapes[::-1], *parts)


@dataclass
class Scene2(_Scene):
    """One shape per body: vertices and radius, ("plane", point, normal), or ("ellipse", centre, semi-axes, None)."""

    shapes: list
    x: np.ndarray = None
    angle: np.ndarray = None
    d: int = field(default=2, init=False)

    def __post_init__(self):
        n = len(self.shapes)
        self.kind = np.array([{2: 0, 3: PLANE, 4: ELLIPSE}[len(s)] for s in self.shapes], dtype=np.int64)
        vertices = []
        for s in self.shapes:
            rows = s[0] if len(s) == 2 else s[1:] if len(s) == 3 else (s[1], *s[2])
            vertices.append(np.array(rows, dtype=float).reshape(-1, 2))
        self.radius = np.array([s[1] if len(s) == 2 else 0.0 for s in self.shapes])
        self.vert_ptr = np.concatenate([[0], np.cumsum([len(v) for v in vertices])]).astype(np.int64)
        self.verts = np.concatenate(vertices)
        self.body = np.arange(n)
        self.x = np.zeros((n, 2)) if self.x is None else np.array(self.x, dtype=float)
        self.angle = np.zeros(n) if self.angle is None else np.array(self.angle, dtype=float)

    @property
    def packed(self):
        return PlaneShapes(self.kind, self.body, *_filters(len(self.kind)), self.vert_ptr, self.verts, self.radius)

    def _find(self, pairs, band, out):
        find = find_ellipses2 if (self.kind == ELLIPSE).any() else find2
        return find(self.x, self.angle, self.packed, pairs, band, out)

    def _evaluate(self, records, pairs, out):
        evaluate2(self.x, self.angle, pairs, out)
        if (self.kind == ELLIPSE).any():
            a, b = records.shape_a, records.shape_b
            evaluate_ellipses2(self.x, self.angle, self.packed, a, b, records.type, out)

    def world(self, s):
        """Vertices of shape s in the world."""
        c, d = np.cos(self.angle[s]), np.sin(self.angle[s])
        return self.verts[self.vert_ptr[s] : self.vert_ptr[s + 1]] @ np.array([[c, d], [-d, c]]) + self.x[s]

    def moved(self, velocity, turn):
        """The same scene with every body displaced by velocity (n, 2) and turned by turn (n,)."""
        return Scene2(self.shapes, self.x + velocity, self.angle + turn)

    def exchanged(self):
        """The same two bodies in the other order."""
        return Scene2(self.shapes[::-1], self.x[::-1].copy(), self.angle[::-1].copy())


@pytest.fixture(scope="session")
def scene3():
    return Scene3


@pytest.fixture(scope="session")
def scene2():
    return Scene2
