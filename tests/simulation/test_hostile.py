"""Files from strangers: what is damaged, or would read other files, is refused in one line, as a whole."""

import h5py
import numpy as np
import pytest
from files import (
    HEADERS,
    NUMBERS,
    Damage,
    complaint,
    document,
    good_recording,
    rewrite,
    spoiled,
    with_flipped_bits,
)

import stiction as st
from stiction import ContactProblem, Delassus
from stiction.cli import main


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The bytes of a small recording."""
    return good_recording(tmp_path_factory.mktemp("good") / "a.h5")


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
        path.write_bytes(with_flipped_bits(good, rng))
        said.append(complaint(path))
    assert any(said)


@pytest.mark.parametrize("name", HEADERS)
@FEW_OR_MANY
def test_spoiled_headers_are_one_line_or_harmless(name, rounds, good, tmp_path):
    path, rng = tmp_path / "a.h5", np.random.default_rng(rounds)
    path.write_bytes(good)
    good_document, said = document(path, name), []
    for _ in range(rounds):
        path.write_bytes(good)
        rewrite(path, name, spoiled(good_document, rng))
        said.append(complaint(path))
    assert any(said)


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
    rewrite(path, "header", {**document(path, "header"), field: 3})
    for command in (["run", "--resume", path], ["run", "--from", path], ["plot", path], ["export", path, "a.csv"]):
        monkeypatch.setattr("sys.argv", ["stiction", *map(str, command)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert capsys.readouterr().err == f"error: {path} is damaged or incomplete: header.{field} is not {said}.\n"


@pytest.mark.parametrize("name", ["header", "shapes"])
def test_a_text_that_inflates_is_refused(name, good, tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        del file[name]
        file.create_dataset(name, (1 << 34,), "u1", chunks=(1 << 20,), compression="gzip")
    assert path.stat().st_size < 1 << 20
    assert f"{name} is a text of {1 << 34} bytes" in complaint(path)


@pytest.mark.parametrize("rounds", [16, pytest.param(400, marks=pytest.mark.long)])
def test_damaged_files_of_every_kind_are_one_line_or_harmless(rounds, tmp_path):
    damage = Damage(tmp_path)
    said = dict(damage.damage(seed) for seed in range(rounds))
    assert {"bits", "cut", "stretch", "header", "number", "problem"} <= set(said)
