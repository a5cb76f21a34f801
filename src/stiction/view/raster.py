"""Pictures of bodies in space without a screen: triangles into pixels with depth, light and shadow.

Parallel projection along a fixed direction. Each pixel knows the nearest triangle (a depth buffer, so that bodies hide
each other rightly however they lie), its normal shades it, a second buffer as seen by the light says what lies in
shadow, and a line is drawn where bodies or faces meet. Twice as many pixels are computed as shown, and averaged.
"""

from __future__ import annotations

import math

import numpy as np

from .._check import FloatArray, IntArray
from ..runtime.jit import njit
from .web.reel import Frame
from .web.stage import Stage

SMOOTH_MIN_COSINE = 0.85  # cosine of the angle between faces above which an edge is rounded off
SHADOW_MAP_PIXELS = 1400  # pixels of the buffer seen by the light
GROUND = (250.0, 250.0, 251.0)  # planes
SUPERSAMPLING = 2  # pixels computed per pixel shown, each way


def _view(right: tuple[float, float, float], away: tuple[float, float, float]) -> FloatArray:
    """(3, 3) rows: to the right, up, and away from the eye."""
    a = np.array(away) / np.linalg.norm(away)
    r = np.array(right) - np.dot(right, a) * a
    r /= np.linalg.norm(r)
    return np.array([r, np.cross(r, a), a])


CAMERA = _view((0.8, 0.6, 0.0), (-0.54715290, 0.72953720, -0.41036468))  # from the front, a little above
LIGHT = _view((1.0, 0.0, 0.0), (0.25, 0.55, -0.85))  # from above, over the left shoulder


@njit
def fill(points: FloatArray, triangles: IntArray, depth: FloatArray, hit: IntArray) -> None:
    """Put triangles (m, 3) of points (n, 3), in pixels and depth, into buffers (rows, columns) that hold the nearest.

    depth: of the nearest so far; hit: the number of its triangle.
    """
    rows, columns = depth.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, bx, by, cx, cy = points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0.0:
            continue
        first_row, last_row = max(0, math.ceil(min(ay, by, cy))), min(rows - 1, math.floor(max(ay, by, cy)))
        first, last = max(0, math.ceil(min(ax, bx, cx))), min(columns - 1, math.floor(max(ax, bx, cx)))
        for i in range(first_row, last_row + 1):
            for j in range(first, last + 1):
                u = ((j - ax) * (cy - ay) - (cx - ax) * (i - ay)) / area  # weight of b
                w = ((bx - ax) * (i - ay) - (j - ax) * (by - ay)) / area  # weight of c
                if u < -1e-9 or w < -1e-9 or u + w > 1.0 + 1e-9:
                    continue
                z = points[a, 2] + u * (points[b, 2] - points[a, 2]) + w * (points[c, 2] - points[a, 2])
                if z < depth[i, j]:
                    depth[i, j] = z
                    hit[i, j] = t


def corner_normals(vertices: FloatArray, triangles: IntArray) -> FloatArray:
    """(m, 3, 3) unit normals at the corners of triangles, rounded off over edges that are not sharp."""
    corner = vertices[triangles]
    area = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    own = area / np.maximum(np.linalg.norm(area, axis=1), 1e-300)[:, None]
    owner = np.repeat(np.arange(len(triangles)), 3)
    order = np.argsort(triangles.ravel(), kind="stable")
    counts = np.bincount(triangles.ravel(), minlength=len(vertices))
    starts = np.concatenate([[0], np.cumsum(counts)])
    around = counts[triangles.ravel()]  # for every corner: the triangles about its vertex
    which = np.repeat(np.arange(3 * len(triangles)), around)
    within = np.arange(len(which)) - np.repeat(np.cumsum(around) - around, around)
    other = owner[order[starts[triangles.ravel()[which]] + within]]
    near = np.sum(own[owner[which]] * own[other], axis=1) > SMOOTH_MIN_COSINE
    total = np.zeros((3 * len(triangles), 3))
    np.add.at(total, which[near], area[other[near]])
    size = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(size > 0.0, total / np.maximum(size, 1e-300), own[owner]).reshape(-1, 3, 3)


@njit
def shade(
    points: FloatArray, triangles: IntArray, normals: FloatArray, local: IntArray, owner: IntArray, turns: FloatArray,
    colours: FloatArray, depth: FloatArray, hit: IntArray, place: FloatArray, light: FloatArray, shadow: FloatArray,
    at: FloatArray, facing: FloatArray, picture: FloatArray,
) -> None:  # fmt: skip
    """Colour each pixel by the light on its triangle, and say in `facing` (rows, columns, 3) where it faces.

    points, in the camera's axes and pixels; normals at corners in the body's frame, found by `local`; turns: matrices
    of bodies from their frames into the camera's axes; place: metres per pixel, and the corner of the picture (3,);
    light: the light's axes in the camera's (3, 3); shadow: depth seen by the light; at: its metres per pixel, corner.
    """
    rows, columns = hit.shape
    size = at[0]
    for i in range(rows):
        for j in range(columns):
            t = hit[i, j]
            if t < 0:
                continue
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            ax, ay = points[a, 0], points[a, 1]
            bx, by, cx, cy = points[b, 0] - ax, points[b, 1] - ay, points[c, 0] - ax, points[c, 1] - ay
            area = bx * cy - cx * by
            u = min(1.0, max(0.0, ((j - ax) * cy - cx * (i - ay)) / area))
            w = min(1.0, max(0.0, (bx * (i - ay) - (j - ax) * by) / area))
            k, body = local[t], owner[t]
            lx = (1.0 - u - w) * normals[k, 0, 0] + u * normals[k, 1, 0] + w * normals[k, 2, 0]
            ly = (1.0 - u - w) * normals[k, 0, 1] + u * normals[k, 1, 1] + w * normals[k, 2, 1]
            lz = (1.0 - u - w) * normals[k, 0, 2] + u * normals[k, 1, 2] + w * normals[k, 2, 2]
            nx = turns[body, 0, 0] * lx + turns[body, 0, 1] * ly + turns[body, 0, 2] * lz
            ny = turns[body, 1, 0] * lx + turns[body, 1, 1] * ly + turns[body, 1, 2] * lz
            nz = turns[body, 2, 0] * lx + turns[body, 2, 1] * ly + turns[body, 2, 2] * lz
            long = math.sqrt(nx * nx + ny * ny + nz * nz)
            if long == 0.0:
                long = 1.0
            if nz > 0.0:  # sheets have two sides
                long = -long
            nx, ny, nz = nx / long, ny / long, nz / long
            facing[i, j, 0], facing[i, j, 1], facing[i, j, 2] = nx, ny, nz
            lit = max(0.0, -(nx * light[2, 0] + ny * light[2, 1] + nz * light[2, 2]))
            if lit > 0.0:
                x = (j + 0.5) * place[0] + place[1] + 1.5 * size * nx  # a little off the surface
                y = (i + 0.5) * place[0] + place[2] + 1.5 * size * ny
                z = depth[i, j] + 1.5 * size * nz
                sx = math.floor((light[0, 0] * x + light[0, 1] * y + light[0, 2] * z - at[1]) / size)
                sy = math.floor((light[1, 0] * x + light[1, 1] * y + light[1, 2] * z - at[2]) / size)
                if 0 <= sx < shadow.shape[1] and 0 <= sy < shadow.shape[0]:
                    far = light[2, 0] * x + light[2, 1] * y + light[2, 2] * z
                    if far > shadow[sy, sx] + 2.0 * size:
                        lit *= 0.3
            bright = 0.56 + 0.42 * lit - 0.10 * nz
            for k in range(3):
                picture[i, j, k] = min(255.0, bright * colours[t, k])


@njit
def outline(owner: IntArray, hit: IntArray, facing: FloatArray, crease: float, ink: float, picture: FloatArray) -> None:
    """Multiply pixels beside another body, or at a sharp edge, by `ink`."""
    rows, columns = hit.shape
    for i in range(rows - 1):
        for j in range(columns - 1):
            t = hit[i, j]
            if t < 0:
                continue
            line = False
            for k in range(2):
                p, q = i + k, j + 1 - k
                s = hit[p, q]
                if s < 0 or owner[s] != owner[t]:
                    line = True
                elif s != t:
                    along = 0.0
                    for x in range(3):
                        along += facing[i, j, x] * facing[p, q, x]
                    line = line or along < crease
            if line:
                for k in range(3):
                    picture[i, j, k] *= ink


class Painter:
    """Draws the bodies of a stage; what does not change from frame to frame is made once."""

    def __init__(self, stage: Stage):
        self.stage = stage
        none = np.zeros((0, 3), dtype=np.int64)
        triangles, local, owner, colours, endless = [none], [none[:, 0]], [none[:, 0]], [np.zeros((0, 3))], [none[:, 0]]
        normals = [np.zeros((0, 3, 3))]
        points = known = 0
        for part in stage.parts:
            n, m, nb = len(part.vertices), len(part.triangles), len(part.bodies)
            normals.append(corner_normals(part.vertices, part.triangles))
            first = points + n * np.arange(nb)
            triangles.append((part.triangles[None] + first[:, None, None]).reshape(-1, 3))
            local.append(np.tile(known + np.arange(m), nb))
            owner.append(np.repeat(part.bodies, m))
            tint = stage.colours(part.bodies, part.tone).astype(float)
            colours.append(np.repeat(np.full_like(tint, GROUND) if part.endless else tint, m, axis=0))
            endless.append(np.full(m * nb, int(part.endless)))
            points, known = points + n * nb, known + m
        self._normals = np.concatenate(normals)
        self._triangles: IntArray = np.concatenate(triangles)
        self._local, self._owner, flat = (np.concatenate(x) for x in (local, owner, endless))
        self._colours = np.concatenate(colours)
        moving = stage.reach[~stage.fixed & (stage.reach > 0.0)]
        self._size = float(np.median(moving)) if len(moving) else stage.radius
        self._casting: IntArray = np.ascontiguousarray(self._triangles[flat == 0])

    def paint(self, frame: Frame, low: FloatArray, high: FloatArray, pixels: tuple[int, int]) -> np.ndarray:
        """(rows, columns, 3) uint8: what is seen between two corners [m] of the picture; pixels: columns and rows.

        The width of a pixel is its height: the corners have the same proportions as the pixels.
        """
        position, turn = self.stage.poses(frame)
        turns = CAMERA @ matrices(turn)
        seen = self._seen(position @ CAMERA.T, turns)
        columns, rows = SUPERSAMPLING * pixels[0], SUPERSAMPLING * pixels[1]
        size = float(high[0] - low[0]) / columns
        flat, depth, hit = self._buffer(seen, low, size, (rows, columns), self._triangles)
        light = np.ascontiguousarray(LIGHT @ CAMERA.T)
        shadow, at = self._shadow(seen @ light.T)
        picture, facing = np.full((rows, columns, 3), 255.0), np.zeros((rows, columns, 3))
        shade(
            flat, self._triangles, self._normals, self._local, self._owner, np.ascontiguousarray(turns), self._colours,
            depth, hit, np.array([size, low[0], low[1]]), light, shadow, at, facing, picture,
        )  # fmt: skip
        small = self._size / size < 40.0  # lines would be all that is seen of small bodies
        outline(self._owner, hit, facing, SMOOTH_MIN_COSINE, 0.8 if small else 0.5, picture)
        picture = picture.reshape(pixels[1], SUPERSAMPLING, pixels[0], SUPERSAMPLING, 3).mean(axis=(1, 3))
        return np.asarray(picture[::-1], dtype=np.uint8)

    def _seen(self, position: FloatArray, turns: FloatArray) -> FloatArray:
        """(n, 3) the vertices of every part of every body, in the camera's axes."""
        found = [np.zeros((0, 3))]
        for part in self.stage.parts:
            placed = position[part.bodies][:, None, :] + part.vertices @ turns[part.bodies].transpose(0, 2, 1)
            found.append(placed.reshape(-1, 3))
        return np.concatenate(found)

    @staticmethod
    def _buffer(
        seen: FloatArray, low: FloatArray, size: float, shape: tuple[int, int], triangles: IntArray
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        depth, hit = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)
        flat = np.ascontiguousarray(np.column_stack([(seen[:, :2] - low[:2]) / size - 0.5, seen[:, 2]]))
        fill(flat, triangles, depth, hit)
        return flat, depth, hit

    def _shadow(self, seen: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The depth that the light sees, and its metres per pixel and corner; vertices in the light's axes."""
        if not len(self._casting):
            return np.full((1, 1), np.inf), np.ones(3)
        corners = seen[self._casting].reshape(-1, 3)
        low, high = corners[:, :2].min(axis=0), corners[:, :2].max(axis=0)
        size = 1.001 * float((high - low).max()) / SHADOW_MAP_PIXELS + 1e-300
        _, depth, _ = self._buffer(seen, low, size, (SHADOW_MAP_PIXELS, SHADOW_MAP_PIXELS), self._casting)
        return depth, np.array([size, low[0], low[1]])


def matrices(quaternion: FloatArray) -> FloatArray:
    """(n, 3, 3) rotations of unit quaternions (w, x, y, z)."""
    w, x, y, z = quaternion.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.asarray(np.moveaxis(np.array(rows), 2, 0))
