"""Files that a disk or a stranger has damaged: how it is done, and what must be said of them."""

from __future__ import annotations

import json
import warnings

import h5py
import numpy as np

import stiction as st
from stiction.simulation.recording import writer

DT = 0.01
WRONG = [None, -1, 10**30, 0.5, float("nan"), "text", [], {}, True, [-3], ["x", 2]]
HEADERS = ("header", "shapes", "log")
NUMBERS = (
    "committed", "frames/step", "frames/time", "frames/q", "frames/checkpoint", "contacts/first", "contacts/count",
    "contacts/key", "contacts/bodies", "contacts/mode", "events/kind", "events/group", "memory/count", "groups/group",
)  # fmt: skip
MESHES = ("stl", "obj", "ply", "glb", "off")


def world():
    """A disk that bounces on the ground, and one on a hinge, so that every table has rows."""
    made = st.PlanarWorld()
    made.set_material("default", friction=st.Coulomb(0.3))
    made.add_plane()
    made.add_body(st.Disk(0.1), mass=1.0, position=(0.0, 0.12), velocity=(0.5, 0.0), name="ball")
    arm = made.add_body(st.Disk(0.05), mass=1.0, position=(2.0, 1.0), angular_velocity=9.0, name="arm")
    made.add_joint(st.Revolute("world", arm, anchor=(1.85, 1.0), name="hinge"))
    return made


def simulator():
    """Of that world."""
    return st.Simulator(world(), DT, solver="lemke")


def good_recording(path):
    """The bytes of a small recording of several blocks, which is made at a path."""
    before, writer.BLOCK_MAX_FRAMES = writer.BLOCK_MAX_FRAMES, 8
    try:
        simulator().run(0.2, record=path)
    finally:
        writer.BLOCK_MAX_FRAMES = before
    return path.read_bytes()


def look_at_everything(path):
    """Read all of a recording, in the ways in which it is read; what comes out are stiction's errors only."""
    run = st.load(path)
    run.shapes()
    for name in ("times", "q", "v", "joints", "events", "success", "constraint_names", "physical", "steps"):
        getattr(run, name)
    for column in ("key", "step", "mode", "bodies", "impulse"):
        getattr(run.table, column)
    assert isinstance(run.energy.total, np.ndarray)
    run.remarks()
    run.position("ball"), run.joint("hinge"), run.contacts("ball", "world"), run.force("hinge")
    run.export(path.with_suffix(".npz"))
    run.export(path.with_suffix(".csv"))
    run.save(path.with_suffix(".copy"))
    simulator().restore(path, 0.1)
    simulator().resume(path, duration=0.22)


def complaint(path, look=look_at_everything):
    """What is said against a file, one line; empty: nothing."""
    said = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, of noise that is read as numbers
            look(path)
    except st.StictionError as error:
        said = str(error)
    assert "\n" not in said
    return said


def with_flipped_bits(good, rng, count=1):
    """Bytes of which some bits are other ones."""
    bad = bytearray(good)
    for _ in range(count):
        bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
    return bytes(bad)


def places(value, path=()):
    """The path of every value in a JSON document."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def spoiled(document, rng):
    """A copy of a JSON document with one value missing or of another kind."""
    every = list(places(document))
    where = every[rng.integers(len(every))]
    copy = json.loads(json.dumps(document))
    if not where:
        return WRONG[rng.integers(len(WRONG))]
    inner = copy
    for key in where[:-1]:
        inner = inner[key]
    if rng.integers(3) == 0:
        del inner[where[-1]]
    else:
        inner[where[-1]] = WRONG[rng.integers(len(WRONG))]
    return copy


def document(path, name):
    """A JSON document in a recording."""
    with h5py.File(path) as file:
        return json.loads(bytes(file[name][()]).decode())


def rewrite(path, name, document):
    """Put a JSON document into a recording."""
    with h5py.File(path, "r+") as file:
        del file[name]
        file[name] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
        file["committed"][1] = len(file["log"])


def mesh_of(ending, path):
    """The bytes of a box in a mesh file."""
    import trimesh

    trimesh.creation.box((1, 1, 1)).export(path.with_suffix(f".{ending}"))
    return path.with_suffix(f".{ending}").read_bytes()


class Damage:
    """Good files of every kind in a folder, and one damaged after the other."""

    def __init__(self, folder):
        self.folder = folder
        self.recording = good_recording(folder / "good.h5")
        dynamics = st.Dense(np.eye(2), np.eye(2)[::-1].copy())
        problem = st.ContactProblem(dynamics, row_ptr=[0, 2], law=[1], v_free=[0.5, -1.0], friction=0.5)
        st.write_fclib(problem, folder / "good.hdf5")
        self.problem = (folder / "good.hdf5").read_bytes()
        self.meshes = {ending: mesh_of(ending, folder / "good") for ending in MESHES}

    def damage(self, seed):
        """What was done to a file, and what is said against it."""
        rng = np.random.default_rng([24, seed])
        what = ("bits", "bits", "cut", "stretch", "header", "number", "problem", "mesh")[seed % 8]
        path, look = self.folder / "a.h5", look_at_everything
        if what == "problem":
            path, look = self.folder / "a.hdf5", st.read_fclib
            path.write_bytes(self._noisy(self.problem, rng))
        elif what == "mesh":
            ending = MESHES[rng.integers(len(MESHES))]
            path, look, what = self.folder / f"a.{ending}", st.Mesh, f"mesh {ending}"
            path.write_bytes(self._noisy(self.meshes[ending], rng))
        elif what == "header":
            path.write_bytes(self.recording)
            name = HEADERS[rng.integers(len(HEADERS))]
            rewrite(path, name, spoiled(document(path, name), rng))
        elif what == "number":
            path.write_bytes(self.recording)
            name = NUMBERS[rng.integers(len(NUMBERS))]
            with h5py.File(path, "r+") as file:
                data = file[name]
                ends = np.iinfo(data.dtype) if data.dtype.kind == "i" else np.finfo(data.dtype)
                value = (-1, 0, 1, ends.max, ends.min)[rng.integers(5)]
                data[int(rng.integers(len(data)))] = value
        else:
            path.write_bytes(self._noisy(self.recording, rng, what))
        return what, complaint(path, look)

    def _noisy(self, good, rng, what=None):
        what = what or ("bits", "cut", "stretch")[rng.integers(3)]
        if what == "bits":
            return with_flipped_bits(good, rng, int(rng.integers(1, 9)))
        begin = int(rng.integers(len(good)))
        if what == "cut":
            return good[:begin]
        noise = rng.bytes(min(int(2 ** rng.uniform(0, 12)), len(good) - begin))
        return good[:begin] + noise + good[begin + len(noise) :]
