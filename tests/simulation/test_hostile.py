"""Files from strangers: what is damaged, or would read other files, is refused in one line, as a whole."""

import json

import h5py
import numpy as np
import pytest

import stiction as st
from stiction import ContactProblem, Delassus
from stiction.cli import main
from stiction.simulation import writer

DT = 0.01


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
    return st.Simulator(world(), DT, solver="lemke")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The bytes of a small recording."""
    path, before = tmp_path_factory.mktemp("good") / "a.h5", writer.MOST
    writer.MOST = 8
    simulator().run(0.2, record=path)
    writer.MOST = before
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


def complaint(path):
    """What is said against a recording, one line; empty: nothing."""
    said = ""
    try:
        look_at_everything(path)
    except st.StictionError as error:
        said = str(error)
    assert "\n" not in said
    return said


def test_a_good_recording_passes(good, tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(good)
    assert not complaint(path)


FEW_OR_MANY = pytest.mark.parametrize("rounds", [10, pytest.param(120, marks=pytest.mark.long)])


@FEW_OR_MANY
def test_flipped_bits_are_one_line_or_harmless(rounds, good, tmp_path):
    path, rng = tmp_path / "a.h5", np.random.default_rng(rounds)
    said = []
    for _ in range(rounds):
        bad = bytearray(good)
        bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        said.append(complaint(path))
    assert any(said)


def places(value, path=()):
    """The path of every value in a JSON document."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


WRONG = [None, -1, 10**30, 0.5, float("nan"), "text", [], {}, True, [-3], ["x", 2]]


def spoiled(document, where, rng):
    """A copy of a JSON document with one value missing or of another kind."""
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


def rewrite(path, name, document):
    with h5py.File(path, "r+") as file:
        del file[name]
        file[name] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)


@pytest.mark.parametrize("name", ["header", "shapes", "log"])
@FEW_OR_MANY
def test_spoiled_headers_are_one_line_or_harmless(name, rounds, good, tmp_path):
    path, rng = tmp_path / "a.h5", np.random.default_rng(rounds)
    path.write_bytes(good)
    with h5py.File(path) as file:
        document = json.loads(bytes(file[name][()]).decode())
    every, said = list(places(document)), []
    for k in rng.integers(len(every), size=rounds):
        path.write_bytes(good)
        bad = spoiled(document, every[k], rng)
        rewrite(path, name, bad)
        with h5py.File(path, "r+") as file:
            file["committed"][1] = len(file["log"])
        said.append(complaint(path))
    assert any(said)


NUMBERS = (
    "committed", "frames/step", "frames/time", "frames/q", "frames/checkpoint", "contacts/first", "contacts/count",
    "contacts/key", "contacts/bodies", "contacts/mode", "events/kind", "events/group", "memory/count", "groups/group",
)  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_out_of_range_are_one_line_or_harmless(name, good, tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(good)
    with h5py.File(path) as file:
        kind, middle = file[name].dtype, len(file[name]) // 2
    ends = np.iinfo(kind) if kind.kind == "i" else np.finfo(kind)
    for value in (-1, ends.max):
        path.write_bytes(good)
        with h5py.File(path, "r+") as file:
            file[name][middle] = value
        complaint(path)
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        del file[name]
    assert complaint(path)


@pytest.mark.parametrize("kind", ["external link", "raw storage", "virtual dataset"])
def test_files_that_read_other_files_are_refused(kind, good, tmp_path):
    path, secret = tmp_path / "a.h5", tmp_path / "secret"
    path.write_bytes(good)
    problem = ContactProblem(Delassus(np.eye(3)), b=np.ones(3), row_ptr=[0, 3], law=[st.Law.UNILATERAL], friction=[0.5])
    st.write_fclib(problem, tmp_path / "f.hdf5")
    with h5py.File(secret, "w") as file:
        file["q"] = np.full((21, 9), 3.0)
    for file, name in ((path, "frames/q"), (tmp_path / "f.hdf5", None)):
        with h5py.File(file, "r+") as opened:
            name = name or f"{next(iter(opened))}/vectors/mu"
            shape = opened[name].shape
            del opened[name]
            if kind == "external link":
                opened[name] = h5py.ExternalLink(str(secret), "q")
            elif kind == "raw storage":
                opened.create_dataset(name, shape, "f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
            else:
                layout = h5py.VirtualLayout(shape, "f8")
                layout[...] = h5py.VirtualSource(str(secret), "q", shape)
                opened.create_virtual_dataset(name, layout)
        with pytest.raises(st.ModelError, match=f"{file}.*would read other files: {name}"):
            st.load(file) if file == path else st.read_fclib(file)


@pytest.mark.parametrize(
    ("field", "said"), [("schedule", "an object"), ("info", "an object"), ("scene", "a text"), ("fields", "a list")]
)
def test_a_spoiled_header_is_exit_code_2(field, said, good, tmp_path, monkeypatch, capsys):
    path = tmp_path / "a.h5"
    path.write_bytes(good)
    with h5py.File(path) as file:
        header = json.loads(bytes(file["header"][()]).decode())
    rewrite(path, "header", {**header, field: 3})
    for command in (["run", "--resume", path], ["run", "--from", path], ["plot", path], ["export", path, "a.csv"]):
        monkeypatch.setattr("sys.argv", ["stiction", *map(str, command)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert capsys.readouterr().err == f"error: {path} is damaged or incomplete: header.{field} is not {said}.\n"
