"""Cylinders, ellipsoids, hulls and meshes: mass properties, refusals, and closed-form motions."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.spatial.transform import Rotation
from scipy.stats import qmc

import stiction as st

CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
CUBE_FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def inside(shape, points):
    if isinstance(shape, st.Cylinder):
        return (np.hypot(points[:, 0], points[:, 1]) <= shape.radius) & (np.abs(points[:, 2]) <= 0.5 * shape.length)
    if isinstance(shape, st.Ellipsoid):
        return ((points / shape.semi_axes) ** 2).sum(axis=1) <= 1
    p = shape.polytope
    offsets = np.array([n @ p.vertices[loop[0]] for n, loop in zip(p.normals, p.loops)])
    return (points @ p.normals.T <= offsets).all(axis=1)


SHAPES = [
    st.Cylinder(0.4, 1.2),
    st.Cylinder(0.7, 0.1),
    st.Ellipsoid((0.5, 0.8, 0.3)),
    st.ConvexHull(np.random.default_rng(3).normal((0.3, 0.1, -0.2), 1.0, (15, 3))),
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_mass_properties_against_quadrature(shape):
    reach = shape.reach
    points = qmc.scale(qmc.Sobol(3, seed=1).random_base2(18), [-reach] * 3, [reach] * 3)
    weight = (2 * reach) ** 3 / len(points)
    points = points[inside(shape, points)]
    own = shape.mass_properties()
    about = points - own.com
    assert own.volume == pytest.approx(weight * len(points), rel=3e-3)
    np.testing.assert_allclose(own.com, points.mean(axis=0), atol=3e-3)
    square = np.einsum("ni,ni->", about, about) * np.eye(3) - about.T @ about
    np.testing.assert_allclose(own.inertia, weight * square, atol=4e-3 * np.trace(own.inertia))


@settings(max_examples=30, deadline=None)
@given(seed=hs.integers(0, 2**32 - 1))
def test_a_hull_of_a_turned_box_is_the_box(seed):
    rng = np.random.default_rng(seed)
    lengths, turn, shift = rng.uniform(0.1, 2, 3), Rotation.random(rng=rng), rng.normal(size=3)
    inner = rng.uniform(-0.5, 0.5, (20, 3))
    hull = st.ConvexHull(turn.apply(lengths * np.vstack([CORNERS - 0.5, inner])) + shift)
    box = st.Box(lengths).mass_properties()
    own = hull.mass_properties()
    assert len(hull.polytope.vertices) == 8
    assert sorted(map(len, hull.polytope.loops)) == [4] * 6
    assert own.volume == pytest.approx(box.volume, rel=1e-12)
    np.testing.assert_allclose(own.com, shift, atol=1e-12)
    R = turn.as_matrix()
    np.testing.assert_allclose(own.inertia, R @ box.inertia @ R.T, atol=1e-12 * np.trace(box.inertia))


def l_shape():
    """An L of three unit cubes, as a closed surface."""
    trimesh = pytest.importorskip("trimesh")
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    triangles = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    vertices = np.array([(*p, z) for z in (0.0, 1.0) for p in outline])
    n = len(outline)
    faces = [(a, c, b) for a, b, c in triangles] + [(a + n, b + n, c + n) for a, b, c in triangles]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, j + n), (i, j + n, i + n)]
    return trimesh, vertices, np.array(faces)


def test_meshes_from_arrays_and_files(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    mesh = st.Mesh(CORNERS, CUBE_FACES)
    assert len(mesh.parts) == 1
    assert mesh.mass_properties().volume == pytest.approx(1.0)
    np.testing.assert_allclose(mesh.mass_properties().com, [0.5] * 3)
    for suffix in ("stl", "obj", "ply"):
        path = tmp_path / f"cube.{suffix}"
        trimesh.Trimesh(CORNERS, CUBE_FACES).export(path)
        read = st.Mesh(path)
        assert len(read.parts[0].polytope.vertices) == 8
        np.testing.assert_allclose(read.mass_properties().inertia, mesh.mass_properties().inertia, rtol=1e-6, atol=1e-9)
    world = st.World()
    world.add_plane()
    body = world.add_body(st.Mesh(tmp_path / "cube.stl"), density=1000.0, position=(0, 0, 0))
    run = st.Simulator(world, 0.01).run(0.2)
    np.testing.assert_allclose(run.position(body)[-1], 0, atol=1e-9)


def test_a_mesh_that_is_not_convex_is_refused_or_split(monkeypatch):
    _, vertices, faces = l_shape()
    with pytest.raises(st.ModelError, match=r"not convex.*decompose=True"):
        st.Mesh(vertices, faces)
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(st.ModelError, match=r"stiction\[mesh\]"):
        st.Mesh(vertices, faces, decompose=True)


def test_a_split_mesh_keeps_its_mass_and_stands():
    pytest.importorskip("coacd")
    _, vertices, faces = l_shape()
    mesh = st.Mesh(vertices, faces, decompose=True)
    assert len(mesh.parts) >= 2
    own = mesh.mass_properties()
    assert own.volume == pytest.approx(3.0)
    np.testing.assert_allclose(own.com, [5 / 6, 5 / 6, 0.5])
    volume = sum(part.mass_properties().volume for part in mesh.parts)
    assert volume == pytest.approx(3.0, rel=0.1)
    world = st.World()
    world.add_plane()
    body = world.add_body(mesh, density=100.0)
    run = st.Simulator(world, 0.01).run(0.3)
    np.testing.assert_allclose(run.position(body)[-1], 0, atol=1e-2)


FLAT_SQUARE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)], dtype=float)
REFUSED = {
    "radius must be greater than zero": lambda: st.Cylinder(0.0, 1.0),
    "length must be greater than zero": lambda: st.Cylinder(1.0, -1.0),
    "semi_axes must be greater than zero": lambda: st.Ellipsoid((1.0, 0.0, 1.0)),
    "semi_axes": lambda: st.Ellipsoid((1.0, 1.0)),
    "Ellipse a must be greater than zero": lambda: st.Ellipse(0.0, 1.0),
    "ConvexHull points lie in one plane": lambda: st.ConvexHull(FLAT_SQUARE),
    "at least 4 points": lambda: st.ConvexHull(FLAT_SQUARE[:3]),
    "ConvexHull points must be finite": lambda: st.ConvexHull(np.where(CORNERS > 0.5, np.nan, CORNERS)),
    "Mesh vertices must be finite": lambda: st.Mesh(np.where(CORNERS > 0.5, np.nan, CORNERS), CUBE_FACES),
    "is open: 3 edges": lambda: st.Mesh(CORNERS, CUBE_FACES[1:]),
    "flipped faces": lambda: st.Mesh(CORNERS, np.vstack([CUBE_FACES[:1, ::-1], CUBE_FACES[1:]])),
    "inside out": lambda: st.Mesh(CORNERS, CUBE_FACES[:, ::-1]),
    "no volume": lambda: st.Mesh(CORNERS * [1, 1, 0], CUBE_FACES),
    "faces must name vertices 0 to 7": lambda: st.Mesh(CORNERS, CUBE_FACES + 1),
    "faces must be whole numbers": lambda: st.Mesh(CORNERS, CUBE_FACES[:, :2]),
    "does not exist": lambda: st.Mesh("nowhere.stl"),
    "a path, or vertices and faces": lambda: st.Mesh(CORNERS),
}


@pytest.mark.parametrize("message", REFUSED)
def test_bad_shapes_are_refused(message):
    with pytest.raises(st.ModelError, match=message):
        REFUSED[message]()


def test_unreadable_files_are_refused(tmp_path):
    bad = tmp_path / "bad.stl"
    bad.write_text("not a mesh")
    with pytest.raises(st.ModelError, match=r"bad\.stl"):
        st.Mesh(bad)


@pytest.mark.parametrize("ground", ["plane", "box"])
def test_a_cylinder_rolls_down_a_slope(ground):
    """a = 2/3 g sin(slope) without slip, and it neither sinks nor leaves its line."""
    slope, g, r = 0.3, 9.81, 0.2
    world = st.World(gravity=(g * np.sin(slope), 0.0, -g * np.cos(slope)))
    if ground == "plane":
        world.add_plane()
    else:
        world.add_body(st.Box((20, 4, 1)), kind="fixed", position=(0, 0, -0.5))
    body = world.add_body(
        st.Cylinder(r, 1.0), mass=2.0, position=(0, 0, r), orientation=(0.5**0.5, 0.5**0.5, 0, 0)
    )  # fmt: skip
    h = 0.002
    run = st.Simulator(world, h).run(0.5)
    t = run.times
    np.testing.assert_allclose(run.position(body)[:, 0], g * np.sin(slope) / 3 * t * (t + h), atol=1e-6)
    np.testing.assert_allclose(run.position(body)[:, 2], r, atol=1e-7)
    np.testing.assert_allclose(run.position(body)[:, 1], 0, atol=1e-9)
    np.testing.assert_allclose(run.angular_velocity(body)[:, 1] * r, run.velocity(body)[:, 0], atol=1e-6)


def test_a_cone_rolls_in_a_circle():
    """A cone of 200 sides, on its side, rolls about its tip: once round in 2π/Ω with Ω = ω tan(half angle)."""
    sides, length, half_angle = 200, 1.0, 0.3
    base = length * np.tan(half_angle)
    t = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.full(sides, length), base * np.cos(t), base * np.sin(t)])
    cone = st.ConvexHull(np.vstack([[0.0, 0.0, 0.0], ring]))
    apothem = base * np.cos(np.pi / sides)  # of a side face, on which it lies
    tilt = np.arctan2(apothem, length)
    turn = Rotation.from_euler("y", -tilt) * Rotation.from_euler("x", np.pi / sides)
    rate = 1.0  # of the circle, about the vertical
    # The line of contact is at rest: the angular velocity points along it, horizontally.
    spin = -rate / np.tan(tilt)
    world = st.World(gravity=(0.0, 0.0, -9.81))
    world.set_material("default", friction=st.Coulomb(2.0))
    world.add_plane()
    body = world.add_body(
        cone, mass=1.0, orientation=turn.as_quat(scalar_first=True), angular_velocity=(spin, 0.0, 0.0)
    )  # fmt: skip
    run = st.Simulator(world, 0.002).run(1.0)
    axis = Rotation.from_quat(run.orientation(body), scalar_first=True).apply([1.0, 0.0, 0.0])
    heading = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    tip = run.position(body)
    assert np.abs(tip).max() < 0.02
    assert heading[-1] / run.times[-1] == pytest.approx(rate, rel=0.03)


def test_a_standing_cylinder_falls_beyond_its_rim_only():
    """On a slope it stands while the weight falls within the disc: tan(slope) < 2 r/length."""
    r, length = 0.2, 1.0
    for slope, stands in ((0.95 * np.arctan(2 * r / length), True), (1.05 * np.arctan(2 * r / length), False)):
        for direction in (0.0, 0.4):  # between the eight points of the rim as well
            down = np.array([np.sin(slope) * np.cos(direction), np.sin(slope) * np.sin(direction), -np.cos(slope)])
            world = st.World(gravity=9.81 * down)
            world.set_material("default", friction=st.Coulomb(2.0))
            world.add_plane()
            body = world.add_body(st.Cylinder(r, length), mass=1.0, position=(0, 0, 0.5 * length))
            run = st.Simulator(world, 0.01).run(1.0)
            tilt = Rotation.from_quat(run.orientation(body)[-1], scalar_first=True).apply([0, 0, 1])[2]
            assert (tilt > 0.999) == stands


def test_piles_of_all_shapes_come_to_rest_without_sinking():
    world = st.World()
    world.add_plane()
    rng = np.random.default_rng(2)
    shapes = [st.Cylinder(0.2, 0.3), st.Ellipsoid((0.25, 0.2, 0.15)), st.ConvexHull(0.3 * (CORNERS - 0.5)),
              st.Capsule(0.1, 0.2), st.Box((0.3, 0.2, 0.25)), st.Sphere(0.15)]  # fmt: skip
    for i, s in enumerate(shapes * 2):
        turn = Rotation.random(rng=rng).as_quat(scalar_first=True)
        world.add_body(s, density=500.0, position=(*rng.uniform(-0.1, 0.1, 2), 0.4 + 0.6 * i), orientation=turn)
    run = st.Simulator(world, 0.005).run(1.5)
    assert run.certificate.worst["penetration"] < 0.02
    assert np.isfinite(run.q).all()


def test_a_pile_of_logs_stays():
    """Six cylinders in three layers between two walls, each touching its neighbours along lines."""
    r = 0.2
    world = st.World()
    world.add_plane()
    for side in (-1, 1):
        world.add_body(st.Box((0.2, 4, 1)), kind="fixed", position=(side * (0.1 + 3 * r), 0, 0.5))
    logs = []
    for layer in range(3):
        for k in range(3 - layer):
            place = ((k - (2 - layer) / 2) * 2 * r, 0, r + layer * 3**0.5 * r)
            turn = (0.5**0.5, 0.5**0.5, 0, 0)
            logs.append(world.add_body(st.Cylinder(r, 1.5), density=500.0, position=place, orientation=turn))
    run = st.Simulator(world, 0.005).run(1.0)
    assert run.certificate.worst["penetration"] < 1e-6
    for log in logs:
        np.testing.assert_allclose(run.position(log)[-1], run.position(log)[0], atol=1e-5)


def test_a_coin_rolls_straight_on_its_rim():
    """Upright and fast it rolls on: speed, height and heading stay."""
    r, speed = 0.1, 1.0
    world = st.World()
    world.set_material("default", friction=st.Coulomb(0.4))
    world.add_plane()
    coin = world.add_body(
        st.Cylinder(r, 0.01), density=8000.0, position=(0, 0, r), orientation=(0.5**0.5, 0.5**0.5, 0, 0),
        velocity=(speed, 0, 0), angular_velocity=(0, speed / r, 0),
    )  # fmt: skip
    run = st.Simulator(world, 0.005).run(1.0)
    np.testing.assert_allclose(run.position(coin)[:, 0], speed * run.times, atol=1e-9)
    np.testing.assert_allclose(run.position(coin)[:, 1:], [[0, r]] * len(run.times), atol=1e-9)
