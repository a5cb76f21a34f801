# ruff: noqa: E501
"""Malformed scenes: each gives clear lines that name the place and what would be right, and exit code 2."""

import re
import struct
import sys

import pytest

import stiction as st
from stiction.cli import main
from stiction.cli.new import starter

GOOD = """\
stiction = 1
[world]
kind = "space"
[run]
dt = 0.01
duration = 0.1
[materials.default]
friction = 0.4
[materials.ice]
friction = 0.1
[[bodies]]
name = "floor"
shape = { type = "Plane" }
[[bodies]]
name = "ball"
shape = { type = "Sphere", radius = 0.1 }
mass = 1.0
position = [0, 0, 0.5]
[[bodies]]
name = "block"
shape = { type = "Box", lengths = [0.1, 0.1, 0.1] }
mass = 1.0
position = [1, 0, 0.5]
[[joints]]
type = "Ball"
name = "tie"
a = "ball"
b = "block"
anchor = [0.5, 0, 0.5]
"""


def swapped(old, new, text=GOOD):
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


def cube(open_=False, flipped=False, inside_out=False):
    """An STL file of a unit cube, with a face left out, flipped, or all of them."""
    v = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    f = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]  # fmt: skip
    if open_:
        f = f[:-1]
    if flipped:
        f[0] = f[0][::-1]
    if inside_out:
        f = [face[::-1] for face in f]
    triangles = [struct.pack("<12fH", 0, 0, 0, *[float(x) for i in face for x in v[i]], 0) for face in f]
    return b"\0" * 80 + struct.pack("<I", len(triangles)) + b"".join(triangles)


FILES = {
    "open.stl": cube(open_=True),
    "flipped.stl": cube(flipped=True),
    "inside.stl": cube(inside_out=True),
    "noise.stl": bytes(range(256)) * 3,
    "empty.obj": b"",
}
SPHERE = '{ type = "Sphere", radius = 0.1 }'


def mesh(path):
    return swapped(SPHERE, f'{{ type = "Mesh", path = "{path}" }}')


def array(body):
    return GOOD + f"[[arrays]]\n{body}\n"


GRID = 'type = "Grid"\nname = "g"\nmass = 1.0\nshape = { type = "Sphere", radius = 0.1 }\nspacing = [1, 1, 1]\n'
CASES = {
    # name: (file, words that must be said)
    "empty": ("", ["stiction: is missing", "world: is missing", "run: is missing"]),
    "only comments": ("# nothing\n\n", ["world: is missing"]),
    "no version": (swapped("stiction = 1\n", ""), ["stiction: is missing: The version of the format"]),
    "future version": (swapped("stiction = 1", "stiction = 2"), ["format 2", "install a newer"]),
    "version as text": (swapped("stiction = 1", 'stiction = "1"'), ["stiction: must be 1"]),
    "no world": (swapped('[world]\nkind = "space"\n', ""), ["world: is missing"]),
    "no duration": (swapped("duration = 0.1\n", ""), ["line 4, run.duration: is missing: How long it runs"]),
    "no radius": (swapped(", radius = 0.1", ""), ["line 16, bodies[1] ('ball').shape.radius: is missing"]),
    "no mass": (swapped("mass = 1.0\nposition = [0", "position = [0"), ["bodies[1] ('ball')", "needs mass"]),
    "misspelt table": (swapped("[run]", "[rum]"), ["rum: is not known here; did you mean 'run'?", "run: is missing"]),
    "misspelt key": (swapped("radius = 0.1", "raduis = 0.1"), ["raduis: is not known here; did you mean 'radius'?"]),
    "misspelt shape": (swapped('"Sphere"', '"Spere"'), ["'Spere' is not known; did you mean 'Sphere'?"]),
    "shape in small letters": (swapped('"Sphere"', '"sphere"'), ["did you mean 'Sphere'?"]),
    "misspelt kind": (swapped('"space"', '"spaec"'), ["must be 'space' or 'plane'; got 'spaec'; did you mean 'space'?"]),
    "misspelt joint": (swapped('"Ball"', '"Bal"'), ["joints[0] ('tie').type", "did you mean 'Ball'?"]),
    "misspelt law": (swapped("friction = 0.4", 'friction = { type = "Coulumb", mu = 0.4 }'), ["did you mean 'Coulomb'?"]),
    "misspelt scheme": (swapped("dt = 0.01", 'dt = 0.01\nscheme = "Moreua"'), ["did you mean 'Moreau'?"]),
    "misspelt solver": (swapped("dt = 0.01", 'dt = 0.01\nsolver = "lemk"'), ["run.solver", "Did you mean 'lemke'?"]),
    "misspelt option": (swapped("dt = 0.01", "dt = 0.01\non_failure = 'rise'"), ["did you mean 'raise'?"]),
    "misspelt field of a recording": (GOOD + '[record]\nfields = ["velocty"]\n', ["record.fields", "'velocty' is not known"]),
    "key of another joint": (swapped("anchor =", "ratio = 2.0\nanchor ="), ["joints[0] ('tie').ratio: is not known here"]),
    "number as text": (swapped("dt = 0.01", 'dt = "0.01"'), ["run.dt: must be a number; got '0.01'"]),
    "number as boolean": (swapped("mass = 1.0", "mass = true"), ["mass: must be a number; got true"]),
    "number as date": (swapped("mass = 1.0", "mass = 1979-05-27"), ["mass: must be a number"]),
    "list as number": (swapped("position = [0, 0, 0.5]", "position = 0.5"), ["position: must be a list"]),
    "vector too short": (swapped("position = [0, 0, 0.5]", "position = [0, 0.5]"), ["position must have shape (3,)"]),
    "vector too long": (swapped("position = [0, 0, 0.5]", "position = [0, 0, 1, 0.5]"), ["position: must have at most 3"]),
    "text in a vector": (swapped("[0, 0, 0.5]", '[0, "0", 0.5]'), ["position[1]: must be a number; got '0'"]),
    "table as text": (swapped(SPHERE, '"Sphere"'), ["shape: must be a table with a type"]),
    "type left out": (swapped('type = "Sphere", ', ""), ["shape: needs a type: one of Sphere, Box"]),
    "bodies as a table": (GOOD.replace("[[bodies]]", "[bodies]", 1).split("[[bodies]]")[0], ["bodies: must be a list"]),
    "nan": (swapped("mass = 1.0", "mass = nan"), ["mass: must be a finite number; got nan"]),
    "infinite": (swapped("[0, 0, 0.5]", "[0, inf, 0.5]"), ["position[1]: must be a finite number; got inf"]),
    "infinite gravity": (swapped('"space"', '"space"\ngravity = [0, 0, -inf]'), ["world.gravity[2]: must be a finite"]),
    "negative mass": (swapped("mass = 1.0", "mass = -1.0"), ["mass: must be greater than 0; got -1.0"]),
    "negative friction": (swapped("friction = 0.4", "friction = -0.4"), ["materials.default.friction: must be greater than or equal to 0"]),
    "zero step": (swapped("dt = 0.01", "dt = 0"), ["run.dt: must be greater than 0"]),
    "negative edge": (swapped("[0.1, 0.1, 0.1]", "[0.1, -0.1, 0.1]"), ["lengths[1]: must be greater than 0"]),
    "restitution above one": (swapped("friction = 0.4", "restitution = 1.5"), ["restitution: must be less than or equal"]),
    "restitution without its scheme": (swapped("friction = 0.4", "restitution = 0.5"), ["restitution of 0.5"]),
    "zero axis": (swapped("anchor = [0.5", 'normal = [0, 0, 0]\nanchor = [0.5').replace('"Ball"', '"Planar"'),
                  ["normal must not be zero"]),
    "self-joint": (swapped('b = "block"', 'b = "ball"'), ["joints[0] ('tie')", "connects 'ball' with itself"]),
    "joint of two fixed": (swapped('a = "ball"\nb = "block"', 'a = "floor"'), ["two bodies that cannot be moved"]),
    "joint with nobody": (swapped('b = "block"', 'b = "blok"'), ["there is no body 'blok'. Did you mean 'block'?"]),
    "two of one name": (swapped('"block"', '"ball"'), ["two bodies are named 'ball'"]),
    "spring with nobody": (GOOD + '[[springs]]\na = "bll"\nstiffness = 1\n', ["springs[0]", "Did you mean 'ball'?"]),
    "spring on no joint": (GOOD + '[[springs]]\njoint = "hinge"\nstiffness = 1\n', ["there is no joint 'hinge'"]),
    "force on the floor": (GOOD + '[[forces]]\nbody = "floor"\nforce = [0, 0, 1]\n', ["'floor' is fixed"]),
    "unknown material": (swapped("mass = 1.0", 'mass = 1.0\nmaterial = "icy"'), ["no material 'icy'; did you mean 'ice'?"]),
    "contact of an unknown material": (GOOD + '[[contacts]]\nmaterials = ["ice", "gras"]\n', ["there is no material 'gras'"]),
    "contact of three": (GOOD + '[[contacts]]\nbodies = ["a", "b", "c"]\n', ["bodies: must have at most 2"]),
    "contact of nothing": (GOOD + "[[contacts]]\nfriction = 0.1\n", ["contacts[0]: needs bodies"]),
    "shape of the plane": (swapped(SPHERE, '{ type = "Disk", radius = 0.1 }'), ["shapes of a world in space are expected"]),
    "angle in space": (swapped("mass = 1.0", "mass = 1.0\nangle = 0.3"), ["angle is for worlds in the plane"]),
    "plane that moves": (swapped('{ type = "Plane" }', '{ type = "Plane" }\nkind = "dynamic"\nmass = 1.0'), ["no mass"]),
    "mass and density": (swapped("mass = 1.0", "mass = 1.0\ndensity = 5.0"), ["mass= or density=, not both"]),
    "every and fps": (GOOD + "[record]\nevery = 2\nfps = 30\n", ["record: give every or fps, not both"]),
    "step longer than the run": (GOOD.replace("dt = 0.01", "dt = 1e12"), ["run.dt: is longer than the whole run"]),
    "every of a half": (GOOD + "[record]\nevery = 0.5\n", ["record.every: must be a whole number"]),
    "missing mesh": (mesh("nothing.stl"), ["'nothing.stl': there is no such file"]),
    "unreadable mesh": (mesh("noise.stl"), ["noise.stl", "cannot be read"]),
    "empty mesh": (mesh("empty.obj"), ["empty.obj"]),
    "open mesh": (mesh("open.stl"), ["is open", "close its surface"]),
    "mesh with a flipped face": (mesh("flipped.stl"), ["flipped faces"]),
    "mesh inside out": (mesh("inside.stl"), ["inside out"]),
    "mesh outside": (mesh("../secret.stl"), ["leads out of the scene's folder"]),
    "mesh by an absolute path": (mesh("/etc/passwd"), ["must be relative to the scene file"]),
    "mesh through a link": (mesh("way/secret.stl"), ["leads out of the scene's folder"]),
    "mesh that is a folder": (mesh("."), ["there is no such file"]),
    "huge counts": (array(GRID + "counts = [100000, 100000, 100000]"), ["at most 200000 bodies"]),
    "huge count": (array(GRID + "counts = [1, 1, 1000000000000]"), ["counts[2]: must be less than or equal to 200000"]),
    "no count": (array(GRID + "counts = [1, 1, 0]"), ["counts[2]: must be greater than or equal to 1"]),
    "no room": (array('type = "Random"\nname = "r"\nmass = 1.0\nshape = { type = "Sphere", radius = 0.1 }\nseed = 1\n'
                      "number = 500\ndistance = 1.0\nlow = [0, 0, 0]\nhigh = [1, 1, 1]"), ["there is room for about"]),
    "no seed": (array('type = "Random"\nname = "r"\nnumber = 5\ndistance = 1.0\nlow = [0, 0, 0]\nhigh = [1, 1, 1]'),
                ["arrays[0] ('r').seed: is missing"]),
    "chain from nobody": (array('type = "Chain"\nname = "c"\nlinks = 2\nlength = 1\nradius = 0.1\nmass = 1\nstart = "bal"'),
                          ["there is no body 'bal'. Did you mean 'ball'?"]),
    "very many steps": (swapped("duration = 0.1", "duration = 1e18"), ["run: duration/dt is 1e+20 steps"]),
    "very large number": (swapped("mass = 1.0", f"mass = 1{'0' * 400}"), ["mass: must be a"]),
    "not TOML": ("stiction = 1\n[world\nkind = 3", ["this is not TOML", "line 2"]),
    "key twice": (swapped("dt = 0.01", "dt = 0.01\ndt = 0.02"), ["this is not TOML", "overwrite"]),
    "text without an end": (swapped('"space"', '"space'), ["this is not TOML", "line 3"]),
    "a number of many digits": (swapped("dt = 0.01", f"dt = {'1' * 5000}"), ["this is not TOML"]),
    "nested deeply": ("a = " + "[" * 20000 + "]" * 20000, ["this is not TOML"]),
    "binary": (bytes(range(256)) * 4, ["is not UTF-8 text"]),
    "UTF-16": (GOOD.encode("utf-16"), ["line 1 is not UTF-8 text"]),
    "Latin-1": (swapped("stiction = 1", "stiction = 1\ntitle = 'caf\xe9'").encode("latin-1"), ["line 2 is not UTF-8"]),
    "null characters": ("\0" * 100, ["this is not TOML"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("scenes")
    inside = made / "inside"
    inside.mkdir()
    for name, data in FILES.items():
        (inside / name).write_bytes(data)
    (made / "secret.stl").write_bytes(cube())
    (inside / "way").symlink_to(made)
    return inside


def command(*arguments, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["stiction", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize("name", CASES)
def test_a_malformed_scene_is_clear_lines_and_exit_code_2(name, folder, monkeypatch, capsys):
    text, words = CASES[name]
    path = folder / "scene.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert command("check", path, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said.startswith("error: ")
    assert str(path) in said
    for word in words:
        assert word in said
    assert len(said.splitlines()) <= 22
    assert all(len(line) < 400 for line in said.splitlines())


def test_there_are_at_least_forty():
    assert len(CASES) >= 40


def test_the_good_scene_is_good(folder, monkeypatch, capsys):
    (folder / "scene.toml").write_text(GOOD)
    assert command("check", folder / "scene.toml", monkeypatch=monkeypatch) == 0
    assert "good" in capsys.readouterr().out


def test_several_errors_are_shown_at_once(folder):
    text = (
        swapped("mass = 1.0", "mass = -1.0\nmassa = 2")
        .replace("friction = 0.4", "frction = 0.4")
        .replace("dt = 0.01", "")
    )
    (folder / "scene.toml").write_text(text)
    with pytest.raises(st.SceneError) as error:
        st.read_scene(folder / "scene.toml")
    assert len(error.value.problems) == 4
    assert all(re.match(r"line \d+, ", problem) for problem in error.value.problems)


def test_errors_of_the_world_are_shown_together_and_blame_no_followers(folder):
    text = swapped("mass = 1.0\nposition = [0,", "position = [0,").replace(
        'kind = "space"', 'kind = "space"\ngravity = [0, 1]'
    )
    (folder / "scene.toml").write_text(text)
    with pytest.raises(st.SceneError) as error:
        st.read_scene(folder / "scene.toml")
    assert len(error.value.problems) == 2  # the joint of the ball that could not be made is not at fault
    assert "gravity must have shape (3,)" in error.value.problems[0]
    assert "needs mass" in error.value.problems[1]


@pytest.mark.parametrize("name", ["no such file", "a folder", "no rights"])
def test_files_that_cannot_be_read(name, tmp_path):
    path = tmp_path / "scene.toml"
    if name == "a folder":
        path.mkdir()
    if name == "no rights":
        path = tmp_path / ("x" * 300)
    with pytest.raises(st.SceneError, match=r"there is no such file|is not a file|cannot be read"):
        st.read_scene(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("run.dt", "write key=value"),
        ("=3", "write key=value"),
        ("run.dt.x=3", "run.dt is a value"),
        ("bodies.nobody.mass=3", "there is no 'nobody' among floor, ball"),
        ("bodies.99.mass=3", "there is no '99'"),
        ("run.dtt=0.1", "did you mean 'dt'?"),
        ("run.dt=fast", "must be a number; got 'fast'"),
    ],
)
def test_changes_that_cannot_be_made(change, words, tmp_path):
    (tmp_path / "scene.toml").write_text(starter("tower"))
    with pytest.raises(st.SceneError) as error:
        st.read_scene(tmp_path / "scene.toml", [change])
    assert words in str(error.value)
