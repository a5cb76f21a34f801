"""Time of the narrow phase per pair of each kind, and of the broad phase against the number of bodies.

python benchmarks/collision.py
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

import stiction as st
from stiction.collision import CONVEX, aabbs2, aabbs3, evaluate3, find2, find3, pairs
from stiction.collision.plane.ellipse import find_ellipses2
from stiction.collision.records import Boxes, FeaturePairs, Filters, FoundContacts, Geometry, PlaneShapes, SpaceShapes
from stiction.collision.space.convex import evaluate_convex3, find_convex3

SHAPES = {
    "sphere": ((0.0, 0.0, 0.0), 0.5),
    "capsule": ((0.0, 0.0, 0.4), 0.2),
    "box": ((0.5, 0.4, 0.3), 0.0),
    "plane": (None, 0.0),
}
POLYGONS = {
    "disk": (1, 0.5),
    "rod": (2, 0.1),
    "square": (4, 0.0),
    "12-gon": (12, 0.0),
}


def best(work: Callable[[], object], repeat: int = 5) -> float:
    """Least time of a call in seconds, after one that compiles."""
    work()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def room(m: int, d: int) -> FoundContacts:
    """Room for m contacts."""
    whole, vectors = (np.empty(m, dtype=np.int64) for _ in range(6)), (np.empty((m, d)) for _ in range(4))
    return FoundContacts(*whole, *vectors, np.empty(m), np.empty(m))


def pairs_of(found: FoundContacts) -> tuple[FeaturePairs, Geometry]:
    """The features of contacts, and room for their geometry."""
    n, d = found.pa.shape
    geometry = Geometry(np.empty(n), np.empty((n, d)), np.empty((n, d)), np.empty((n, d)))
    return FeaturePairs(*(getattr(found, name) for name in FeaturePairs._fields)), geometry


def free(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group, mask and excluded of shapes that may all touch."""
    return np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64), np.zeros(0, dtype=np.int64)


def space(first: str, second: str, n: int) -> tuple[float, float, float]:
    """Nanoseconds per pair to find, features per pair, and nanoseconds per feature to evaluate; near random poses."""
    rng = np.random.default_rng(0)
    kinds = [SHAPES[first]] * n + [SHAPES[second]] * n
    kind = np.array([int(half is None) for half, _ in kinds], dtype=np.int64)
    half = np.array([(0.0, 0.0, 0.0) if half is None else half for half, _ in kinds])
    radius = np.array([r for _, r in kinds])
    x = np.concatenate([rng.normal(size=(n, 3)), np.zeros((n, 3))])
    x[:n] *= 0.8 / np.linalg.norm(x[:n], axis=1)[:, None]
    R = Rotation.random(2 * n, rng=rng).as_matrix()
    eye = np.tile(np.eye(3), (2 * n, 1, 1))
    body = np.arange(2 * n)
    both = np.column_stack([np.arange(n), np.arange(n) + n])
    out = room(8 * n, 3)
    shapes = SpaceShapes(kind, body, *free(2 * n), np.zeros((2 * n, 3)), eye, half, radius)
    count = find3(x, R, shapes, both, 0.05, out)
    seconds = best(lambda: find3(x, R, shapes, both, 0.05, out))
    found, geometry = pairs_of(FoundContacts(*(o[:count].copy() for o in out)))
    evaluated = best(lambda: evaluate3(x, R, found, geometry))
    return 1e9 * seconds / n, count / n, 1e9 * evaluated / max(count, 1)


def plane(first: str, second: str, n: int) -> tuple[float, float]:
    """Nanoseconds per pair to find in the plane, and features per pair."""
    rng = np.random.default_rng(0)
    verts, counts, radius = [], [0], []
    for name in [first] * n + [second] * n:
        corners, r = POLYGONS[name]
        turn = 2 * np.pi / corners * np.arange(corners)
        verts.append(0.5 * np.column_stack([np.cos(turn), np.sin(turn)]) * (corners > 1))
        counts.append(corners)
        radius.append(r)
    x = np.concatenate([rng.normal(size=(n, 2)), np.zeros((n, 2))])
    x[:n] *= 0.9 / np.linalg.norm(x[:n], axis=1)[:, None]
    both = np.column_stack([np.arange(n), np.arange(n) + n])
    outline = np.cumsum(counts), np.concatenate(verts), np.array(radius)
    shapes = PlaneShapes(np.zeros(2 * n, dtype=np.int64), np.arange(2 * n), *free(2 * n), *outline)
    arguments = x, rng.uniform(-3, 3, 2 * n), shapes, both, 0.05, room(2 * n, 2)
    return 1e9 * best(lambda: find2(*arguments)) / n, find2(*arguments) / n


SOLIDS = {
    "sphere": st.Sphere(0.5),
    "capsule": st.Capsule(0.2, 0.8),
    "box": st.Box((1.0, 0.8, 0.6)),
    "cylinder": st.Cylinder(0.3, 0.8),
    "ellipsoid": st.Ellipsoid((0.5, 0.4, 0.3)),
    "hull": st.ConvexHull(np.random.default_rng(0).normal(size=(20, 3)) / 3),
    "plane": st.Plane(),
}


def solids(first: str, second: str, n: int) -> tuple[float, float, float]:
    """As `space`, for pairs with a cylinder, an ellipsoid or a hull; evaluation of the CONVEX records alone."""
    rng = np.random.default_rng(0)
    world = st.World(gravity=(0.0, 0.0, 0.0))
    for name in [first] * n + [second] * n:
        world.add_body(SOLIDS[name], **({"kind": "fixed"} if name == "plane" else {"mass": 1.0}))
    model = world.build()
    x = np.zeros((model.nb, 3))
    x[1 : n + 1] = rng.normal(size=(n, 3))
    x[1 : n + 1] *= 0.8 / np.linalg.norm(x[1 : n + 1], axis=1)[:, None]
    R = np.concatenate([np.eye(3)[None], Rotation.random(2 * n, rng=rng).as_matrix()])
    both = np.column_stack([np.arange(n), np.arange(n) + n])
    shapes = model.geo, model.shapes
    out = room(8 * n, 3)
    count = find_convex3(x, R, *shapes, both, 0.05, out)
    seconds = best(lambda: find_convex3(x, R, *shapes, both, 0.05, out), 3)
    chosen = np.flatnonzero(out.type[:count] == CONVEX)
    records = FoundContacts(*(o[chosen] for o in out))
    m, (found, geometry) = len(chosen), pairs_of(records)
    evaluated = best(lambda: evaluate_convex3(x, R, *shapes, records.shape_a, records.shape_b, found, geometry), 3)
    return 1e9 * seconds / n, count / n, 1e9 * evaluated / m if m else 0.0


def ellipses(second: str, n: int) -> tuple[float, float]:
    """As `plane`, for an ellipse and another shape."""
    rng = np.random.default_rng(0)
    ellipse = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.3]])
    corners, r = POLYGONS.get(second, (3, 0.0))
    turn = 2 * np.pi / corners * np.arange(corners)
    other = 0.5 * np.column_stack([np.cos(turn), np.sin(turn)]) * (corners > 1) if second in POLYGONS else ellipse
    kind = np.array([2] * n + [0 if second in POLYGONS else 2] * n)
    x = np.concatenate([rng.normal(size=(n, 2)), np.zeros((n, 2))])
    x[:n] *= 0.8 / np.linalg.norm(x[:n], axis=1)[:, None]
    ptr = np.cumsum([0] + [3] * n + [corners] * n)
    outline = ptr, np.concatenate([ellipse] * n + [other] * n), np.array([0.0] * n + [r] * n)
    shapes = PlaneShapes(kind, np.arange(2 * n), *free(2 * n), *outline)
    both = np.column_stack([np.arange(n), np.arange(n) + n])
    arguments = x, rng.uniform(-3, 3, 2 * n), shapes, both, 0.05, room(2 * n, 2)
    return 1e9 * best(lambda: find_ellipses2(*arguments), 3) / n, find_ellipses2(*arguments) / n


def broad(n: int, d: int, spread: float) -> tuple[float, float, int]:
    """Seconds for the boxes and for the pairs, and the number of pairs: spheres (disks) filling half of a box.

    The radii lie between 1/spread and 1; a half-space is the floor.
    """
    rng = np.random.default_rng(0)
    radius = np.exp(rng.uniform(-np.log(spread), 0, n)) if spread > 1 else np.ones(n)
    volume = (radius**d).sum() * (4 / 3 * np.pi if d == 3 else np.pi)
    x = rng.uniform(0, (volume / 0.5) ** (1 / d), (n, d))
    kind = np.zeros(n, dtype=np.int64)
    kind[0] = 1
    x[0] = radius[0] = 0.0
    body = np.arange(n)
    around = Boxes(np.empty((n, d)), np.empty((n, d)), np.empty((n, d + 1)))
    if d == 3:
        eye = np.tile(np.eye(3), (n, 1, 1))
        shapes = SpaceShapes(kind, body, *free(n), np.zeros((n, 3)), eye, np.zeros((n, 3)), radius)
        boxes = best(lambda: aabbs3(x, eye, shapes, 0.02, around))
    else:
        ptr = np.concatenate([[0], 2 + np.arange(n)])
        verts = np.zeros((n + 1, 2))
        verts[1] = 0.0, 1.0
        outlines = PlaneShapes(kind, body, *free(n), ptr, verts, radius)
        boxes = best(lambda: aabbs2(x, np.zeros(n), outlines, 0.02, around))
    group, mask, excluded = free(n)
    filters = Filters(body, group, mask, np.ones(n, dtype=bool), excluded)
    return boxes, best(lambda: pairs(around, kind, filters, False)), len(pairs(around, kind, filters, False))


def main() -> None:
    print(f"{'pair in space':<18s} {'ns/pair':>8s} {'features/pair':>14s} {'evaluate ns/feature':>20s}")
    names = list(SHAPES)
    for i, first in enumerate(names[:-1]):
        for second in names[i:]:
            find, features, evaluate = space(first, second, 20000)
            print(f"{first + '-' + second:<18s} {find:8.0f} {features:14.2f} {evaluate:20.0f}")
    names = list(SOLIDS)
    for i, first in enumerate(names[:-1]):
        for second in names[i:]:
            if {first, second} & {"cylinder", "ellipsoid", "hull"}:
                find, features, evaluate = solids(first, second, 2000)
                print(f"{first + '-' + second:<18s} {find:8.0f} {features:14.2f} {evaluate:20.0f}")
    print(f"\n{'pair in the plane':<18s} {'ns/pair':>8s} {'features/pair':>14s}")
    names = list(POLYGONS)
    for i, first in enumerate(names):
        for second in names[i:]:
            find, features = plane(first, second, 20000)
            print(f"{first + '-' + second:<18s} {find:8.0f} {features:14.2f}")
    for second in ["ellipse", *POLYGONS]:
        find, features = ellipses(second, 2000)
        print(f"{'ellipse-' + second:<18s} {find:8.0f} {features:14.2f}")
    sizes = [1000, 4000, 16000, 64000]
    for d, spread in ((3, 1.0), (3, 100.0), (2, 1.0), (2, 100.0)):
        print(f"\nbroad phase, d = {d}, radii 1:{spread:.0f}")
        print(f"{'bodies':>8s} {'boxes ms':>9s} {'pairs ms':>9s} {'pairs':>9s}")
        times = []
        for n in sizes:
            boxes, seconds, count = broad(n, d, spread)
            times.append(seconds)
            print(f"{n:8d} {1e3 * boxes:9.3f} {1e3 * seconds:9.3f} {count:9d}")
        print(f"time grows like bodies^{np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}")


if __name__ == "__main__":
    main()
