"""Which contacts a pair has: the same wherever it lies, and all that can touch first.

The contacts of a pair belong to the pair: every pair of the table in docs/collision.md, side by side with ends, edges
and faces in line, at angles that numbers represent exactly and at others. There the round-off of a rotation must not
decide whether a contact is there. And over a half-space or a face all vertices are listed that a step may bring down.
"""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction as st

CORNERS = np.array(list(itertools.product((-0.25, 0.25), repeat=3)))
SIX = np.arange(6) * np.pi / 3
SOLIDS = {
    "sphere": st.Sphere(0.25),
    "capsule": st.Capsule(0.125, 0.5),
    "box": st.Box((0.5, 0.5, 0.5)),
    "brick": st.Box((0.5, 0.25, 0.125)),
    "cylinder": st.Cylinder(0.25, 0.5),
    "ellipsoid": st.Ellipsoid((0.25, 0.25, 0.125)),
    "hull": st.ConvexHull(CORNERS * (2.0, 1.0, 0.5)),
    "prism": st.ConvexHull([(0.25 * np.cos(t), 0.25 * np.sin(t), z) for t in SIX for z in (-0.25, 0.25)]),
    "plane": st.Plane(),
}
FLATS = {
    "disk": st.Disk(0.25),
    "rod": st.Rod(0.125, 0.5),
    "segment": st.Segment((-0.25, 0), (0.25, 0)),
    "square": st.Polygon.box(0.5, 0.5),
    "triangle": st.Polygon([(0, 0), (0.5, 0), (0, 0.5)]),
    "ellipse": st.Ellipse(0.25, 0.125),
    "plane": st.HalfPlane(),
}
BAND = 0.03


def turn(*v):
    return Rotation.from_rotvec(v)


def top(s, n):
    """The support function of a shape, or its height over a half-space, along n in its frame."""
    if isinstance(s, st.Plane | st.HalfPlane):
        return 0.0
    if isinstance(s, st.Box | st.Sphere | st.Capsule):
        half, radius = s.core()
        return np.abs(n) @ half + radius
    if isinstance(s, st.Cylinder):
        return s.radius * np.hypot(n[0], n[1]) + 0.5 * s.length * abs(n[2])
    if isinstance(s, st.Ellipsoid):
        return np.linalg.norm(n * s.semi_axes)
    if isinstance(s, st.ConvexHull):
        return (s.points @ n).max()
    if isinstance(s, st.Ellipse):
        return np.linalg.norm(s.semi_axes() @ n)
    core, radius = s.core()
    return (core @ n).max() + radius


class Pair:
    """Two bodies of one shape each in an empty world, posed at will."""

    def __init__(self, *shapes):
        self.dim = 2 if isinstance(shapes[0], tuple(type(s) for s in FLATS.values())) else 3
        world = st.World() if self.dim == 3 else st.PlanarWorld()
        for s in shapes:
            fixed = isinstance(s, st.Plane | st.HalfPlane)
            made = {} if fixed else {"mass": 1.0, "com": (0.0,) * self.dim}
            if self.dim == 2 and not fixed:
                made["inertia"] = 1.0
            world.add_body(s, kind="fixed" if fixed else "dynamic", **made)
        self.model = world.build()

    def find(self, x, turns, band=BAND):
        """Gaps, normals and places of the contacts with the bodies at x and turned by rotations, or by angles."""
        q = self.model.initial_state().q.copy()
        for k in range(2):
            pose = [turns[k]] if self.dim == 2 else turns[k].as_quat(scalar_first=True)
            q.reshape(self.model.nb, -1)[k - 2] = [*x[k], *pose]
        found = self.model.detect(0.0, q, band)
        assert (np.diff(found.key) > 0).all()
        gap, normal, a, b = self.model._geometry(found.features, q)
        return gap, normal, 0.5 * (a + b)


def apart(p, q):
    """The largest distance of a row of p from its own in q."""
    left, worst = list(q), 0.0
    for x in p:
        far = [np.linalg.norm(x - y) for y in left]
        worst = max(worst, min(far))
        left.pop(int(np.argmin(far)))
    return worst


def same(one, two, where, whole):
    """Whether two sets of contacts are the same; `whole`: also their normals and places."""
    assert len(one[0]) == len(two[0]), where
    np.testing.assert_allclose(np.sort(one[0]), np.sort(two[0]), atol=3e-9, err_msg=str(where))
    assert not whole or (apart(one[1], two[1]) < 1e-6 and apart(one[2], two[2]) < 1e-6), where


def places(a, b, rotated, directions, across):
    """Where the body a touches b, comes near it or overlaps it a little, in line with it or shifted."""
    plane = isinstance(b, st.Plane | st.HalfPlane)
    for d in [directions[0]] if plane else directions:
        for gap in (0.0, 0.0078125, -0.0078125):
            for shift in across(d)[: 1 if plane else None]:
                yield d * (top(a, -d @ rotated) + top(b, d) + gap) + shift, gap


@pytest.mark.parametrize(("a", "b"), [p for p in itertools.combinations_with_replacement(SOLIDS, 2) if p[0] != "plane"])
def test_contacts_in_space_move_with_the_pair(a, b):
    one, other = SOLIDS[a], SOLIDS[b]
    pair, exchanged = Pair(one, other), Pair(other, one)
    directions = [np.array(d) / np.linalg.norm(d) for d in ((0, 0, 1), (1, 0, 0), (0, 1, 1), (1, 1, 1))]
    quarter = np.pi / 2
    motions = [
        (turn(quarter, 0, 0), np.zeros(3)),
        (turn(0, 0, 0.5 * quarter), np.array([0.1, 0.3, 0.7])),
        (turn(0.3, -1.1, 0.7), np.array([3.0, -5.0, 2.0])),
    ]

    def across(d):
        e = np.eye(3)[np.abs(d) < 0.5]
        shifts = [np.zeros(3), 0.125 * e[0], 0.5 * e[-1]] if len(e) else [np.zeros(3)]
        return [s - d * (s @ d) for s in shifts]

    none = turn(0, 0, 0)
    # Edges that touch, or overlap and get free in two directions, have the normal of either. Of equally short ways out
    # one is chosen in the frame of the pair; where curved shapes and hulls just touch, it is left to chance.
    cores = not {a, b} & {"cylinder", "ellipsoid", "hull", "prism"}
    for of_a in (none, turn(quarter, 0, 0), turn(0, 0, 0.5 * quarter), turn(quarter, 0, 0) * turn(0, 0, 0.5 * quarter)):
        for x, gap in places(one, other, of_a.as_matrix(), directions, across):
            where, whole = (a, b, of_a.as_rotvec(), x), cores or gap != 0.0
            found = pair.find((x, np.zeros(3)), (of_a, none))
            for R, t in motions:
                poses = (R.apply(x) + t, t), (R * of_a, R)
                g, n, p = pair.find(*poses)
                same(found, (g, n @ R.as_matrix(), (p - t) @ R.as_matrix()), where, whole)
                g, n, p = exchanged.find(*(pose[::-1] for pose in poses))
                same(found, (g, -n @ R.as_matrix(), (p - t) @ R.as_matrix()), where, whole)
            if cores or gap >= 0.0:
                near = pair.find((x + 1e-9 * np.array([0.3, -0.5, 0.8]), np.zeros(3)), (of_a, none))
                same(found, near, where, False)
    # One inside the other: of equally short ways out one is taken.
    inside = pair.find(np.zeros((2, 3)), (none, none))[0]
    turned = exchanged.find(np.zeros((2, 3)), (motions[2][0], motions[2][0]))[0]
    if b != "plane":
        assert inside.min() == pytest.approx(turned.min(), abs=1e-12)
        assert len(inside) == len(turned) or not cores


@pytest.mark.parametrize(("a", "b"), [p for p in itertools.combinations_with_replacement(FLATS, 2) if p[0] != "plane"])
def test_contacts_in_the_plane_move_with_the_pair(a, b):
    one, other = FLATS[a], FLATS[b]
    pair, exchanged = Pair(one, other), Pair(other, one)
    directions = [np.array(d) / np.linalg.norm(d) for d in ((0, 1), (1, 0), (1, 1))]

    def matrix(angle):
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def across(d):
        return [s * np.array([-d[1], d[0]]) for s in (0.0, 0.125, 0.5)]

    for of_a in (0.0, np.pi / 2, np.pi / 4, np.pi):
        for x, gap in places(one, other, matrix(of_a), directions, across):
            where, whole = (a, b, of_a, x), gap > 0.0 or not {a, b} & {"segment", "ellipse"}
            found = pair.find((x, np.zeros(2)), (of_a, 0.0))
            for angle, t in ((np.pi / 2, np.zeros(2)), (np.pi / 4, np.array([0.1, 0.3])), (0.7, np.array([3.0, -5.0]))):
                R = matrix(angle)
                poses = (R @ x + t, t), (angle + of_a, angle)
                g, n, p = pair.find(*poses)
                same(found, (g, n @ R, (p - t) @ R), where, whole)
                g, n, p = exchanged.find(*(pose[::-1] for pose in poses))
                same(found, (g, -n @ R, (p - t) @ R), where, whole)
            near = pair.find((x + 1e-9 * np.array([0.3, -0.5]), np.zeros(2)), (of_a, 0.0))
            same(found, near, where, False)


@pytest.mark.parametrize("kind", [k for k in SOLIDS if k != "plane"])
def test_the_deepest_point_over_a_half_space_is_listed(kind):
    rng = np.random.default_rng(3)
    pair = Pair(SOLIDS[kind], SOLIDS["plane"])
    for k in range(40):
        turns = Rotation.random(2, rng=rng)
        n = turns[1].as_matrix()[:, 2]
        lowest = -top(SOLIDS[kind], -n @ turns[0].as_matrix())
        depth = (0.5 * rng.random(), 1e-3 * rng.random(), 0.0, -0.02)[k % 4]
        gap, _, _ = pair.find(((-depth - lowest) * n, np.zeros(3)), turns)
        assert gap.min() == pytest.approx(-depth, abs=1e-10)


def test_the_deepest_corner_over_a_half_plane_is_listed():
    rng = np.random.default_rng(3)
    for s in (s for name, s in FLATS.items() if name != "plane"):
        pair = Pair(s, FLATS["plane"])
        for k in range(40):
            angle, depth = rng.uniform(-3, 3), (0.5 * rng.random(), 1e-3 * rng.random(), 0.0, -0.02)[k % 4]
            lowest = -top(s, -np.array([np.sin(angle), np.cos(angle)]))
            gap, _, _ = pair.find(((0, -depth - lowest), (0, 0)), (angle, 0.0))
            assert gap.min() == pytest.approx(-depth, abs=1e-10)


def rounded(corners, seed):
    p = np.random.default_rng(seed).normal(size=(corners, 3))
    return 0.1 * p / np.linalg.norm(p, axis=1)[:, None]


GROUNDS = {
    "plane": (st.Plane(), 0.0),
    "box": (st.Box((4, 4, 1)), 0.5),
    "hull": (st.ConvexHull(CORNERS * (16, 16, 4)), 1.0),
}


@pytest.mark.parametrize("corners", [6, 12, 60, 1000])
@pytest.mark.parametrize("ground", GROUNDS)
def test_no_vertex_gets_below_those_that_are_listed(ground, corners):
    """Of a body turned by up to 0.3 rad the lowest of the vertices within the band is a listed one.

    Of the finest hulls, where one stands for those near it, none is lower by more than that distance times the turn.
    """
    rng = np.random.default_rng(corners)
    points, (below, height) = rounded(corners, 0), GROUNDS[ground]
    pair, none, more = Pair(st.ConvexHull(points), below), turn(0, 0, 0), 0
    for k in range(40 if corners < 1000 else 8):
        R = Rotation.random(rng=rng)
        z = 0.004 * (k % 3 - 1) - R.apply(points)[:, 2].min()
        gap, normal, place = pair.find(((0.1, 0.2, z), (0, 0, -height)), (R, none))
        world = R.apply(points) + np.array([0.1, 0.2, z])
        near = world[world[:, 2] <= BAND]
        assert gap.min() == pytest.approx(near[:, 2].min(), abs=1e-12)
        np.testing.assert_allclose(normal, [[0, 0, 1]] * len(gap), atol=1e-9)
        assert len(gap) <= 64
        more = max(more, len(gap))
        far = np.linalg.norm(near[:, None, :2] - place[None, :, :2], axis=2)
        listed = near[np.unique(far.argmin(axis=0))]
        assert len(listed) == len(gap)
        for _ in range(20):
            axis = rng.normal(size=3)
            angle = 0.3 * rng.random()
            lower = turn(*(angle * axis / np.linalg.norm(axis))).as_matrix()[2]
            slack = 1e-12 if corners < 1000 else 0.0174 * angle  # a tenth of the size of such a hull
            assert (near @ lower).min() >= (listed @ lower).min() - slack
    assert (more > 4) == (corners >= 60)


def test_a_prism_stands_on_all_its_corners_and_a_polygon_lists_the_next_ones():
    twelve = np.arange(12) * np.pi / 6
    prism = st.ConvexHull([(0.1 * np.cos(t), 0.1 * np.sin(t), z) for t in twelve for z in (-0.01, 0.01)])
    for below, height in GROUNDS.values():
        gap, _, place = Pair(prism, below).find(((0, 0, 0.01), (0, 0, -height)), (turn(0, 0, 0.1), turn(0, 0, 0)))
        assert len(gap) == 12
        np.testing.assert_allclose(gap, 0.0, atol=1e-15)
        np.testing.assert_allclose(np.linalg.norm(place[:, :2], axis=1), 0.1)
    gon = Pair(st.Polygon(0.1 * np.column_stack([np.cos(twelve), np.sin(twelve)])), st.HalfPlane())
    gap, _, place = gon.find(((0, 0.1), (0, 0)), (-np.pi / 2, 0.0))
    np.testing.assert_allclose(
        gap, 0.1 * (1 - np.cos(np.pi / 6)) * np.array([0, 1, 1])[np.argsort(np.abs(place[:, 0]))], atol=1e-12
    )


def disc(corners, radius, height):
    t = 2 * np.pi * np.arange(corners) / corners
    x, y = radius * np.cos(t), radius * np.sin(t)
    return st.ConvexHull(np.concatenate([np.column_stack([x, y, 0 * t + z]) for z in (-height / 2, height / 2)]))


@pytest.mark.parametrize("ground", ["plane", "box", "disc"])
def test_a_disc_of_400_corners_rests_on_every_one(ground):
    below = {"plane": st.Plane(), "box": st.Box((4, 4, 1)), "disc": disc(400, 1.1, 1.0)}[ground]
    height = 0.0 if ground == "plane" else 0.5
    pair, angle = Pair(disc(400, 1.0, 0.1), below), turn(0, 0, 0.7)
    gap, normal, place = pair.find(((0, 0, 0.05), (0, 0, -height)), (angle, turn(0, 0, 0)), 1e-3)
    t = 2 * np.pi * np.arange(400) / 400 + 0.7
    corners = np.column_stack([np.cos(t), np.sin(t), 0 * t])
    far = np.linalg.norm(corners[:, None] - place[None], axis=2).min(axis=1)
    assert len(gap) == 400
    assert far.max() < 1e-12
    np.testing.assert_allclose(gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(normal, np.tile([0.0, 0.0, 1.0], (400, 1)), atol=1e-15)

    world = st.World()
    world.add_body(below, kind="fixed", position=(0, 0, -height))
    world.add_body(disc(400, 1.0, 0.1), mass=1.0, position=(0, 0, 0.05))
    sim = st.Simulator(world, dt=0.01)
    sim.run(0.05)
    np.testing.assert_allclose(sim.state.q[-7:-4], [0, 0, 0.05], atol=1e-12)
    assert np.abs(sim.state.v).max() == 0.0


def test_a_face_has_all_its_corners():
    """A block that stands 0.2 mm inside the rim of a disc of 400 corners stands on its own corners."""
    block = st.ConvexHull(CORNERS * (4 * 0.9998 / np.sqrt(2), 4 * 0.9998 / np.sqrt(2), 1))
    pair = Pair(block, disc(400, 1.0, 0.5))
    for angle in np.pi / 4 + np.pi / 96 * np.arange(4):
        gap, _, place = pair.find(((0, 0, 0.5), (0, 0, 0)), (turn(0, 0, angle), turn(0, 0, 0)), 1e-3)
        assert len(gap) == 4
        np.testing.assert_allclose(gap, 0.0, atol=1e-15)
        np.testing.assert_allclose(np.linalg.norm(place[:, :2], axis=1), 0.9998, atol=1e-12)


def test_every_corner_over_a_face_is_listed_beside_the_crossings():
    """A box on a corner-to-corner turned box: what lies over the other face is there, whatever else spans more area."""
    rng = np.random.default_rng(0)
    one, other = st.Box((0.5, 0.4, 0.3)), st.Box((0.45, 0.5, 0.3))
    pair, most = Pair(one, other), 0
    for _ in range(300):
        R = turn(*rng.uniform(-0.01, 0.01, 2), rng.uniform(-3, 3))
        x = np.array([*rng.uniform(-0.2, 0.2, 2), 0.305])
        gap, _, place = pair.find((x, np.zeros(3)), (R, turn(0, 0, 0)))
        for p in R.apply(CORNERS * 2 * (0.5, 0.4, 0.3)) + x:
            if p[2] < 0.15 + BAND and abs(p[0]) < 0.224 and abs(p[1]) < 0.249:
                assert np.linalg.norm(place[:, :2] - p[:2], axis=1).min() < 1e-3
        most = max(most, len(gap))
    assert 4 < most <= 8


@pytest.mark.parametrize("dim", [2, 3])
def test_the_lists_of_a_world_grow_until_every_contact_fits(dim):
    """With room for one contact to begin with, a heap has the same contacts and takes the same steps."""

    def heap(room):
        world = st.PlanarWorld() if dim == 2 else st.World()
        world.add_plane()
        shape = st.Polygon.box(1, 1) if dim == 2 else st.Box((1, 1, 1))
        for k in range(40):
            place = (1.01 * (k % 8), 0.5 + k // 8) if dim == 2 else (1.01 * (k % 8), 0, 0.5 + k // 8)
            world.add_body(shape, mass=1.0, position=place)
        model = world.build()
        model.capacity = room
        return st.Simulator(model, dt=0.01)

    tight, roomy = heap(1), heap(1 << 16)
    found, wanted = (sim.system.detect(0.0, sim.state.q, 0.05) for sim in (tight, roomy))
    assert len(found.key) == len(wanted.key) >= 40 * 2 ** (dim - 1)
    np.testing.assert_array_equal(found.key, wanted.key)
    tight.system.capacity = 1
    for sim in (tight, roomy):
        sim.run(0.05)
    assert tight.state.q.tobytes() == roomy.state.q.tobytes()
    assert tight.state.v.tobytes() == roomy.state.v.tobytes()
