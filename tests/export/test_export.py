"""Exports read back by other readers: numbers to the bit in tables, geometry and animation in VTK and glTF."""

import csv
import json
import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import stiction as st
from stiction.systems.shapes.surfaces import surface


def world():
    world = st.World()
    world.set_material("default", friction=st.Coulomb(0.3))
    world.add_plane()
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.15), velocity=(0.5, 0, 0), name="ball")
    parts = [st.Box((0.2, 0.1, 0.1)), st.Capsule(0.05, 0.2, position=(0.2, 0, 0))]
    world.add_body(parts, density=500.0, position=(1, 0, 0.4), angular_velocity=(0, 9, 1), name="tool")
    return world


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return st.Simulator(world(), 0.005).run(0.4, every=4, record=tmp_path_factory.mktemp("run") / "run.h5")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_csv_reads_back_to_the_bit(run, tmp_path):
    assert run.export(tmp_path / "a.csv") == tmp_path / "a.csv"
    head, *lines = rows(tmp_path / "a.csv")
    values = np.array(lines, dtype=float)
    np.testing.assert_array_equal(values[:, 0], run.times)
    at = head.index(run.coordinate_names[9])
    np.testing.assert_array_equal(values[:, at], run.q[:, 9])
    np.testing.assert_array_equal(values[:, head.index("kinetic")], run.energy.kinetic)
    head, *lines = rows(tmp_path / "a.contacts.csv")
    assert len(lines) == len(run.table.key)
    column = head.index("impulse normal")
    np.testing.assert_array_equal([float(line[column]) for line in lines], run.table.impulse[:, 0])
    assert [int(line[head.index("key")]) for line in lines] == run.table.key.tolist()
    head, *lines = rows(tmp_path / "a.events.csv")
    assert [line[head.index("kind")] for line in lines] == [event.kind for event in run.events]


def test_npz_has_every_array(run, tmp_path):
    run.export(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        np.testing.assert_array_equal(file["q"], run.q)
        np.testing.assert_array_equal(file["contacts_impulse"], run.table.impulse)
        np.testing.assert_array_equal(file["certificate_natural_map"], run.certificate["natural_map"])
        assert file["bodies"].tolist() == ["world", "plane0", "ball", "tool"]


def test_vtk_frames_have_the_bodies_where_they_are(run, tmp_path):
    meshio = pytest.importorskip("meshio")
    run.export(tmp_path / "a.pvd")
    listed = ET.parse(tmp_path / "a.pvd").getroot().findall("Collection/DataSet")
    assert [float(item.get("timestep")) for item in listed] == run.times.tolist()
    for i in (0, len(run) - 1):
        mesh = meshio.read(tmp_path / listed[i].get("file"))
        body, triangles = mesh.cell_data["body"][0], mesh.cells_dict["triangle"]
        mine = mesh.points[np.unique(triangles[body == 2])]
        np.testing.assert_allclose(mine.mean(axis=0), run.position("ball")[i], atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(mine - run.position("ball")[i], axis=1), 0.1, rtol=1e-9)
    touched = ET.parse(tmp_path / "a-contacts.pvd").getroot().findall("Collection/DataSet")
    last = meshio.read(tmp_path / touched[-1].get("file"))
    rows = run.table.step == len(run) - 2
    pressed = np.linalg.norm(run.table.impulse[rows, :3], axis=1) / run.info["dt"]
    np.testing.assert_allclose(np.linalg.norm(last.point_data["force"], axis=1), pressed, rtol=1e-9)
    assert pressed.max() > 9.0  # the ball's weight


def glb(path):
    """The JSON of a binary glTF file, and its numbers: read by hand."""
    data = path.read_bytes()
    magic, version, length = struct.unpack("<4sII", data[:12])
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack("<I4s", data[12:20])
    assert kind == b"JSON"
    tree = json.loads(data[20 : 20 + size])
    blob = data[20 + size + 8 :]

    def numbers(accessor):
        a = tree["accessors"][accessor]
        view = tree["bufferViews"][a["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
        dtype = {5126: "<f4", 5125: "<u4"}[a["componentType"]]
        at = view["byteOffset"]
        assert at % 4 == 0
        return np.frombuffer(blob[at : at + view["byteLength"]], dtype).reshape(a["count"], width)

    return tree, numbers


def test_gltf_has_meshes_and_one_animation(run, tmp_path):
    pytest.importorskip("pygltflib")
    run.export(tmp_path / "a.glb")
    tree, numbers = glb(tmp_path / "a.glb")
    (animation,) = tree["animations"]
    names = [node["name"] for node in tree["nodes"]]
    channels = {
        (names[c["target"]["node"]], c["target"]["path"]): animation["samplers"][c["sampler"]]
        for c in animation["channels"]
    }
    moved = channels["ball", "translation"]
    np.testing.assert_allclose(numbers(moved["input"])[:, 0], run.times, atol=1e-7)
    np.testing.assert_allclose(numbers(moved["output"]), run.position("ball"), atol=1e-6)
    turned = numbers(channels["tool", "rotation"]["output"])
    w_last = run.orientation("tool")[:, [1, 2, 3, 0]]
    np.testing.assert_allclose(np.abs((turned * w_last).sum(axis=1)), 1.0, atol=1e-6)
    assert ((turned[1:] * turned[:-1]).sum(axis=1) > 0).all()
    assert not any(name == "plane0" for name, _ in channels)  # what does not move has no channel


def test_gltf_opens_in_another_reader(run, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    run.export(tmp_path / "a.glb")
    scene = trimesh.load(tmp_path / "a.glb")
    assert {"ball", "tool", "plane0"} <= set(scene.graph.nodes)
    node = next(name for name in scene.graph.nodes_geometry if name.startswith("ball"))
    place, geometry = scene.graph[node]
    mesh = scene.geometry[geometry]
    mesh.merge_vertices()
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(4 / 3 * np.pi * 0.1**3, rel=0.03)
    x, y, z = run.position("ball")[0]
    np.testing.assert_allclose(place[:3, 3], [x, z, -y], atol=1e-6)  # y up there


def test_plane_worlds_and_generalized_systems(tmp_path):
    flat = st.PlanarWorld()
    flat.add_plane()
    flat.add_body(st.Disk(0.1), mass=1.0, position=(0, 0.3), name="disk")
    run = st.Simulator(flat, 0.01).run(0.1)
    run.export(tmp_path / "a.glb")
    run.export(tmp_path / "a.pvd")
    run.save(tmp_path / "a.h5")
    st.load(tmp_path / "a.h5").export(tmp_path / "b.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()
    free = st.Simulator(st.GeneralizedSystem([[1.0]], q=[0.0], v=[1.0]), 0.1).run(0.5)
    free.export(tmp_path / "free.csv")
    free.export(tmp_path / "free.npz")
    with pytest.raises(st.ModelError, match="generalized system"):
        free.export(tmp_path / "free.glb")
    with pytest.raises(st.ModelError, match="cannot tell the format"):
        free.export(tmp_path / "free.txt")
    with pytest.raises(st.ModelError, match="there is no format 'doc'"):
        free.export(tmp_path / "free.txt", "doc")


SOLIDS = [
    st.Sphere(0.3, position=(1, 2, 3)), st.Box((1, 2, 3), orientation=(1, 1, 0, 0)), st.Capsule(0.2, 1.0),
    st.Cylinder(0.2, 1.0), st.Ellipsoid((1, 2, 3)), st.ConvexHull(np.random.default_rng(0).standard_normal((20, 3))),
]  # fmt: skip
AREAS = [
    st.Disk(0.3, position=(1, 2)), st.Ellipse(1, 2, angle=0.3), st.Rod(0.1, 1.0, angle=0.4),
    st.Polygon([[0, 0], [1, 0], [0, 1]]),
]  # fmt: skip


@pytest.mark.parametrize("shape", SOLIDS, ids=lambda s: type(s).__name__)
def test_surfaces_are_closed_and_hold_the_volume(shape):
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(*surface(shape))
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume == pytest.approx(shape.mass_properties().volume, rel=0.03)


@pytest.mark.parametrize("shape", AREAS, ids=lambda s: type(s).__name__)
def test_flat_surfaces_face_up_and_hold_the_area(shape):
    vertices, triangles = surface(shape)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(shape.mass_properties().volume, rel=0.03)
