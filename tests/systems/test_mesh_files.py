"""Mesh files from strangers: bombs, false counts and other people's files are refused, and say why."""

import bz2
import json
import os
import struct
import zipfile

import numpy as np
import pytest
import trimesh

import stiction as st
from stiction.systems.shapes import mesh_files

BOX = trimesh.creation.box()
SCENE = """stiction = 1
[world]
kind = "space"
[run]
dt = 0.01
duration = 1.0
[[bodies]]
name = "body"
mass = 1.0
shape = {{ type = "Mesh", path = "{}" }}
"""


def refused(path, said):
    """Both a mesh in Python and one of a scene are refused with these words."""
    with pytest.raises(st.ModelError, match=said):
        st.Mesh(path)
    (path.parent / "scene.toml").write_text(SCENE.format(path.name))
    with pytest.raises(st.SceneError, match=said):
        st.read_scene(path.parent / "scene.toml")


@pytest.mark.parametrize("count", [0, 1, 11, 13, 10**6, 4 * 10**9])
def test_a_false_count_of_triangles_is_named(count, tmp_path):
    data = BOX.export(file_type="stl")
    (tmp_path / "a.stl").write_bytes(data[:80] + struct.pack("<I", count) + data[84:])
    refused(tmp_path / "a.stl", f"counts {count} triangles; the file has room for 12")


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "stl.bz2"])
def test_archives_are_measured_as_they_are_unpacked(ending, tmp_path, monkeypatch):
    path, data = tmp_path / f"a.{ending}", BOX.export(file_type="stl")
    if ending == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.stl", data)
    elif ending == "tar.gz":
        import io
        import tarfile

        with tarfile.open(path, "w:gz") as file:
            one = tarfile.TarInfo("a.stl")
            one.size = len(data)
            file.addfile(one, io.BytesIO(data))
    else:
        path.write_bytes(bz2.compress(data))
    assert len(st.Mesh(path).vertices) == 8
    monkeypatch.setattr(mesh_files, "MESH_MAX_BYTES", len(data) - 1)
    assert path.stat().st_size < len(data)
    refused(path, "bytes when it is unpacked")


@pytest.mark.parametrize("where", ["..", "{}", "link"])
def test_a_gltf_that_names_a_file_outside_its_folder_is_refused(where, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    files = BOX.export(file_type="gltf")
    for name, data in files.items():
        (home / name).write_bytes(data)
    assert len(st.Mesh(home / "model.gltf").vertices) == 8
    document = json.loads(files["model.gltf"])
    for buffer in document["buffers"]:
        (home / buffer["uri"]).rename(tmp_path / buffer["uri"])
        buffer["uri"] = where.format(tmp_path) + "/" + buffer["uri"]
    (home / "link").symlink_to(tmp_path)
    (home / "model.gltf").write_text(json.dumps(document))
    refused(home / "model.gltf", "names a file outside of its own folder")


@pytest.mark.parametrize("ending", ["gltf", "glb"])
def test_a_gltf_that_counts_what_it_does_not_have_is_refused(ending, tmp_path):
    document = json.loads(BOX.export(file_type="gltf")["model.gltf"])
    del document["accessors"][0]["bufferView"]
    document["accessors"][0]["count"] = 10**9
    text = json.dumps(document).encode()
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A)
    path = tmp_path / f"a.{ending}"
    path.write_bytes(text if ending == "gltf" else head + text)
    refused(path, "counts 1000000000 items that are not in it")


def test_an_error_without_words_is_one_line(tmp_path):
    document = json.loads(BOX.export(file_type="gltf")["model.gltf"])
    document["bufferViews"][0]["byteOffset"] = 10**15
    for name, data in {**BOX.export(file_type="gltf"), "model.gltf": json.dumps(document).encode()}.items():
        (tmp_path / name).write_bytes(data)
    refused(tmp_path / "model.gltf", "cannot be read")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_has_no_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "a.obj")
    with pytest.raises(st.ModelError, match="is not a file"):
        st.Mesh(tmp_path / "a.obj")


def test_a_format_that_reads_other_files_is_refused_in_scenes(tmp_path):
    (tmp_path / "a.xdmf").write_text("<Xdmf/>")
    (tmp_path / "scene.toml").write_text(SCENE.format("a.xdmf"))
    with pytest.raises(st.SceneError, match=r"a\.xdmf is not read; meshes end in stl, ply"):
        st.read_scene(tmp_path / "scene.toml")


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200])
def test_hulls_of_no_size_are_refused(size):
    points = size * np.random.default_rng(0).uniform(size=(20, 3))
    for make in (st.ConvexHull, lambda points: st.Mesh(points, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])):
        with pytest.raises(st.ModelError, match=r"span .* m; sizes from 1e-50 to 1e\+50 m"):
            make(points)
