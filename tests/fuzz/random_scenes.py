# ruff: noqa: E501
"""Mutated scenes and torn texts: how they are made, and what must hold of them."""

import contextlib
import copy
import tomllib
import warnings

from hypothesis import strategies as st_

import stiction as st
from stiction.cli.new import kinds, starter
from stiction.scene import parse_scene
from stiction.scene.toml import write_toml

DATA = {name: tomllib.loads(starter(name)) for name in kinds()}
for data in DATA.values():  # few bodies, so that many scenes can be tried
    for array in data.get("arrays", []):
        for key in ("number", "stones", "links", "columns", "rows"):
            array[key] = min(array[key], 4) if key in array else None
            if array[key] is None:
                del array[key]

WORDS = sorted(
    {word for data in DATA.values() for word in [*data, *(k for t in data.values() if isinstance(t, dict) for k in t)]}
)
TYPES = ["Sphere", "Box", "Capsule", "Cylinder", "Ellipsoid", "ConvexHull", "Mesh", "Plane", "HalfPlane", "Disk", "Ellipse",
         "Rod", "Polygon", "Segment", "Fixed", "Ball", "Universal", "Planar", "Revolute", "Prismatic", "Cylindrical", "Screw",
         "Gear", "Rack", "Distance", "Rope", "Coulomb", "Anisotropic", "Torsional", "Mixed", "Rolling", "Polyhedral", "Stribeck",
         "AnitescuHart", "Moreau", "StewartTrinkle", "TzitzourisPang", "Compliant", "Grid", "Pile", "Wall", "Arch", "Chain",
         "Random", "Oscillation", "Rotation", "Table"]  # fmt: skip
NUMBERS = st_.one_of(
    st_.floats(allow_nan=True, allow_infinity=True),
    st_.integers(-3, 3),
    st_.sampled_from([0.0, -0.0, 1e-320, 1e-30, 1e30, 1e200, 1.7e308, 10**18, 10**400, -1.0, 0.5]),
)
VALUES = st_.recursive(
    st_.one_of(
        NUMBERS, st_.booleans(), st_.text(max_size=8), st_.sampled_from([*TYPES, *WORDS, "ball", "floor", "world"])
    ),
    lambda inside: st_.one_of(
        st_.lists(inside, max_size=4),
        st_.lists(NUMBERS, min_size=2, max_size=4),
        st_.dictionaries(
            st_.sampled_from([*WORDS, "type", "radius", "length", "mu", "axis", "anchor"]), inside, max_size=4
        ),
    ),
    max_leaves=8,
)


def places(value, path=()):
    """Every place of nested tables and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield (*path, key)
        yield from places(inside, (*path, key))


@st_.composite
def mutated(draw):
    """A starter scene with one to four of its values changed, dropped, doubled, moved or added."""
    data = copy.deepcopy(DATA[draw(st_.sampled_from(sorted(DATA)))])
    for _ in range(draw(st_.integers(1, 4))):
        every = list(places(data))
        if not every:
            break
        path = draw(st_.sampled_from(every))
        parent = data
        for step in path[:-1]:
            parent = parent[step]
        last = path[-1]
        act = draw(st_.sampled_from(["change", "type", "number", "drop", "double", "move", "add"]))
        if act == "drop":
            del parent[last]
        elif act == "double" and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        elif act == "move" and isinstance(parent, dict):
            parent[draw(st_.sampled_from(WORDS))] = parent.pop(last)
        elif act == "add" and isinstance(parent, dict):
            parent[draw(st_.one_of(st_.sampled_from(WORDS), st_.text(min_size=1, max_size=6)))] = draw(VALUES)
        elif act == "type":
            parent[last] = draw(st_.sampled_from(TYPES))
        elif act == "number":
            parent[last] = draw(NUMBERS)
        else:
            parent[last] = draw(VALUES)
    return write_toml(data)


def attempt(text):
    """Read, write and read again, make the simulator: each succeeds, or says why not in clear lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", st.OverlapWarning)
        warnings.simplefilter("ignore", st.StepWarning)
        refused = None
        try:
            scene = parse_scene(text)
        except st.SceneError as error:
            refused = error
        if refused is not None:
            assert refused.problems
            assert all(len(line) < 1000 for line in str(refused).splitlines())
            return
        again = parse_scene(scene.text)
        assert again.text == scene.text
        with contextlib.suppress(st.ModelError):
            scene.simulator()


@st_.composite
def torn(draw):
    """The text of a starter scene, cut, spliced and sprinkled."""
    text = starter(draw(st_.sampled_from(sorted(DATA))))
    for _ in range(draw(st_.integers(1, 4))):
        i, j = sorted(draw(st_.lists(st_.integers(0, len(text)), min_size=2, max_size=2)))
        piece = draw(
            st_.one_of(
                st_.just(""), st_.text(max_size=6), st_.sampled_from(['"', "[", "]]", "=", "\n", "nan", "-", "e9"])
            )
        )
        text = draw(st_.sampled_from([text[:i] + piece + text[j:], text[:i] + piece + text[i:], text[:j] + text[i:]]))
    return text
