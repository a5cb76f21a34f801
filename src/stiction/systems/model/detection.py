"""Which shapes of a world may touch, and where: the part of the model that asks the collision kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.laws import UNILATERAL
from ..base import Candidates
from ..builder.materials import LawTable
from .candidates import Features, WorldCandidates
from .mechanism import Mechanism

if TYPE_CHECKING:
    from ...collision.records import Boxes, FoundContacts, Geometry

GEOMETRIES_KEPT = 4  # geometries that are kept: of a step's contacts, and of those ahead, at both its ends
CODES = 1 << 22  # feature codes per shape pair: room for polygons of a thousand vertices


def same_bits(a: FloatArray, b: FloatArray) -> bool:
    """Whether two contiguous arrays are the same to the bit: 0.0 and -0.0 are not."""
    return a.shape == b.shape and np.array_equal(a.view(np.int64), b.view(np.int64))


class Detection(ABC):
    """The shapes of a model as the kernels read them, and contacts between them as pairs of features.

    nb, ns: bodies and shapes; capacity: contacts for which there is room at first. Of shapes (ns,): kind, body,
    collision group and mask, material; excluded: pairs of bodies, a·nb + b. moves (nb,): whether forces move a body.
    """

    dim: ClassVar[int]
    nb: int
    ns: int
    capacity: int
    kind: IntArray
    shape_body: IntArray
    shape_group: IntArray
    shape_mask: IntArray
    shape_material: IntArray
    excluded: IntArray
    moves: np.ndarray
    laws: LawTable
    mechanism: Mechanism
    _detected: tuple[float, FloatArray, WorldCandidates] | None = None  # band, q, and what was found
    _measured: list[tuple[Features, FloatArray, Any]]  # features, q, and their geometry
    _posed: list[tuple[FloatArray, tuple[FloatArray, FloatArray]]]  # q, and the poses there

    def _forget(self) -> None:
        """Keep nothing of what was detected and measured."""
        self._detected, self._measured, self._posed = None, [], []

    @abstractmethod
    def _poses_at(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`_poses`, worked out."""

    def _poses(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions (nb, dim) and rotations (matrices or angles) of all bodies, not to be written to."""
        for place, poses in self._posed:
            if same_bits(place, q):
                return poses
        poses = self._poses_at(q)
        self._posed = [(q.copy(), poses), *self._posed[:1]]  # both ends of a step
        return poses

    @abstractmethod
    def _rotation(self, i: int, q: FloatArray) -> FloatArray:
        """The rotation matrix of one body."""

    @abstractmethod
    def _boxes(self, x: FloatArray, turn: FloatArray, band: float) -> Boxes:
        """Boxes of shapes, half of `band` larger (`collision.broad`)."""

    @abstractmethod
    def _find(self, x: FloatArray, turn: FloatArray, pairs: IntArray, band: float, out: FoundContacts) -> int:
        """Narrow phase into the room `out`; the number of contacts, which may exceed its size."""

    @abstractmethod
    def _measure(self, x: FloatArray, turn: FloatArray, f: Features, out: Geometry) -> None:
        """Gap, normal and surface points of features."""

    def detect(self, t: float, q: FloatArray, band: float) -> WorldCandidates:
        """Joints, and contacts with a gap of up to `band` [m]; the same object where it is asked for again at once.

        The last step is certified by what the next one begins with.
        """
        if self._detected is None or self._detected[0] != band or not np.array_equal(self._detected[1], q):
            found = self._between(q, self._pairs(self._boxes(*self._poses(q), float(band))), float(band))
            self.remember_detected(q, band, found)
            return found
        return self._detected[2]

    def remember_detected(self, q: FloatArray, band: float, found: WorldCandidates) -> None:
        """Say what `detect` finds at q within `band`, where something else has found it already."""
        self._detected = (band, q.copy(), found)

    def detect_on_the_way(self, t: float, q: FloatArray, to: FloatArray, band: float, reach: float) -> WorldCandidates:
        """Also contacts with a gap of up to `reach` of shapes that may meet on the way: their boxes, moved, overlap."""
        start, end = (self._boxes(*self._poses(c), float(band)) for c in (q, to))
        both = start._replace(lo=np.minimum(start.lo, end.lo), hi=np.maximum(start.hi, end.hi))
        pairs = np.concatenate([self._pairs(both), self._pairs(both._replace(planes=end.planes))])
        return self._between(q, np.unique(pairs, axis=0), float(reach))

    def joined(self, found: WorldCandidates, more: WorldCandidates) -> WorldCandidates:
        """The contacts of both, which have none in common, sorted by key."""
        nj = self.mechanism.n
        key = np.concatenate([found.key[nj:], more.key[nj:]])
        order = np.argsort(key, kind="stable")
        both = zip(vars(found.features).values(), vars(more.features).values())
        return self.candidates(Features(*(np.concatenate(pair)[order] for pair in both)), key[order])

    def _between(self, q: FloatArray, pairs: IntArray, band: float) -> WorldCandidates:
        """Joints, and contacts within `band` of pairs (n, 2) of shapes; buffers grow until every contact fits."""
        from ...collision.records import FoundContacts

        x, turn = self._poses(q)
        while True:
            out = self._room(self.capacity)
            count = self._find(x, turn, pairs, band, out) if len(pairs) else 0
            if count <= self.capacity:
                break
            self.capacity = int(1.5 * count)
        found = FoundContacts(*(array[:count] for array in out))
        key = (found.shape_a * self.ns + found.shape_b) * CODES + found.code
        order = np.argsort(key, kind="stable")
        f = Features(*(getattr(found, name)[order] for name in Features.__dataclass_fields__))
        return self.candidates(f, key[order])

    def candidates(self, f: Features, key: IntArray) -> WorldCandidates:
        """Joints, and contacts that were found, sorted by `key` (n,)."""
        materials = self.shape_material[f.shape_a], self.shape_material[f.shape_b]
        law = self.laws.lookup(*materials, f.body_a, f.body_b, self.nb)
        mechanism, sizes = self.mechanism, np.concatenate([self.mechanism.size, self.laws.rows[law]])
        return WorldCandidates(
            key=np.concatenate([np.arange(-mechanism.n, 0), key]),
            law=np.concatenate([mechanism.law, np.full(len(f), UNILATERAL)]),
            row_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            friction=self.laws.table(law, mechanism.law),
            features=f, mechanism=mechanism, number=law, laws=self.laws,
        )  # fmt: skip

    def with_planes(self, candidates: Candidates, q: FloatArray) -> Candidates:
        """The same contacts, with vertices of cores without radius against planes, whose normals are those at q.

        The distance of a vertex from a vertex or an edge has no normal where it is zero, and jumps to a depth beyond:
        no contact can rest there. The plane holds on to one of the normals that are possible, fixed in the body of the
        edge. `candidates` themselves where there are none of these.
        """
        from ...collision.features import LINE_POINT, PLANE_POINT, POINT_LINE, POINT_PLANE, POINT_POINT

        assert isinstance(candidates, WorldCandidates)
        f = candidates.features
        planar = self.dim == 2  # where lines are planes
        bare = (f.ra + f.rb == 0.0) & np.isin(
            f.type, (POINT_POINT,) if planar else (POINT_POINT, POINT_LINE, LINE_POINT)
        )
        if not bare.any():
            return candidates
        normal = self._geometry(f, q).normal
        type, da, db = f.type.copy(), f.da.copy(), f.db.copy()
        for k in np.flatnonzero(bare).tolist():
            if f.type[k] == LINE_POINT:
                type[k], da[k] = PLANE_POINT, -self._rotation(int(f.body_a[k]), q).T @ normal[k]
            else:
                type[k] = POINT_LINE if planar else POINT_PLANE
                db[k] = self._rotation(int(f.body_b[k]), q).T @ normal[k]
        return replace(candidates, features=replace(f, type=type, da=da, db=db))

    def jumps(self, f: Features) -> np.ndarray:
        """Whether each is the nearest points of two shapes with flat sides, which are elsewhere at once as they turn.

        The rim of a cylinder is such an edge of a flat side.
        """
        from ...collision.features import CONVEX, CORE, CYLINDER, HULL, PLANE

        flat = np.isin(self.kind, (CORE, CYLINDER, HULL, PLANE))
        return np.asarray((f.type == CONVEX) & flat[f.shape_a] & flat[f.shape_b])

    def rims(self, f: Features) -> np.ndarray:
        """Whether each is a contact of a cylinder."""
        from ...collision.features import CYLINDER

        return np.asarray((self.dim == 3) & ((self.kind[f.shape_a] == CYLINDER) | (self.kind[f.shape_b] == CYLINDER)))

    def held_where_they_meet(self, candidates: WorldCandidates, q: FloatArray, taken: IntArray) -> WorldCandidates:
        """The same contacts, those that jump as a point and a plane, fixed to the bodies as they are at q.

        A contact whose key is among those `taken` gets one of its own, from the end of its pair's codes.
        """
        from ...collision.features import POINT_PLANE

        nj, f, key = self.mechanism.n, candidates.features, candidates.key.copy()
        type, pa, pb, db, ra, rb = (getattr(f, name).copy() for name in ("type", "pa", "pb", "db", "ra", "rb"))
        x, (_, normal, point_a, point_b) = self._poses(q)[0], self._geometry(f, q)
        for k in np.flatnonzero(self.jumps(f)).tolist():
            a, b = int(f.body_a[k]), int(f.body_b[k])
            type[k], ra[k], rb[k] = POINT_PLANE, 0.0, 0.0
            pa[k] = self._rotation(a, q).T @ (point_a[k] - x[a])
            pb[k], db[k] = (self._rotation(b, q).T @ w for w in (point_b[k] - x[b], normal[k]))
        last = (f.shape_a * self.ns + f.shape_b) * CODES + CODES - 1
        while (known := np.isin(key[nj:], taken)).any():
            key[nj:][known] = last[known]
            last -= 1
        fixed = replace(f, type=type, pa=pa, pb=pb, db=db, ra=ra, rb=rb)
        return replace(candidates, features=fixed, key=key)

    def _pairs(self, boxes: Boxes) -> IntArray:
        """(n, 2) shapes that may touch, and whose boxes overlap."""
        if not self.ns:
            return np.zeros((0, 2), dtype=np.int64)
        from ...collision import pairs
        from ...collision.records import Filters

        filters = Filters(self.shape_body, self.shape_group, self.shape_mask, self.moves, self.excluded)
        found: IntArray = pairs(boxes, self.kind, filters, False)
        return found

    def _room(self, m: int) -> FoundContacts:
        from ...collision.records import FoundContacts

        parts: list[Any] = [np.empty(m, dtype=np.int64) for _ in range(6)]
        parts += [np.empty((m, self.dim)) for _ in range(4)] + [np.empty(m) for _ in range(2)]
        return FoundContacts(*parts)

    def _geometry(self, f: Features, q: FloatArray) -> Geometry:
        """Where contacts are at q, not to be written to; kept for the same f and q."""
        from ...collision.records import Geometry

        for features, place, out in self._measured:
            if features is f and np.array_equal(place, q):
                return out
        n, d = len(f), self.dim
        out = Geometry(np.empty(n), np.empty((n, d)), np.empty((n, d)), np.empty((n, d)))
        if n:
            self._measure(*self._poses(q), f, out)
        self._measured = [(f, q.copy(), out), *self._measured[: GEOMETRIES_KEPT - 1]]
        return out
