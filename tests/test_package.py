"""The package as a whole: light to import, documented, deterministic to compile."""

import ast
import enum
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import stiction as st

PACKAGE = Path(st.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
ROOT = Path(__file__).parents[1]
HEAVY = ("numba", "scipy", "h5py", "matplotlib", "pydantic", "trimesh", "typer", "rich")


def test_import_is_light():
    code = f"import sys, stiction; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_process_of_the_user_stays_as_it_was():
    """Nothing that other code of a process relies on is changed by an import or a run, with prefetched steps too."""
    code = """
import faulthandler, gc, locale, os, signal, sys, warnings
import numpy as np

def settings():
    handlers = {s: signal.getsignal(s) for s in signal.valid_signals()}
    hooks = sys.excepthook, sys.displayhook, faulthandler.is_enabled()
    return (
        dict(os.environ), sys.getswitchinterval(), handlers, np.geterr(), list(warnings.filters), gc.get_threshold(),
        locale.setlocale(locale.LC_ALL), sys.getrecursionlimit(), hooks, np.get_printoptions(), list(sys.meta_path),
    )

before = settings()
import stiction as st
assert settings() == before, "import stiction"
from stiction.simulation import prefetch
assert prefetch.PREFETCH_MIN_BLOCKS > 0
prefetch.PREFETCH_MIN_BLOCKS = 0
world = st.World()
world.add_plane()
world.add_body(st.Sphere(0.1), mass=1.0, position=(0.0, 0.0, 0.1))
seen = []
st.Simulator(world, 0.01).run(0.05, progress=lambda *_: seen.append(sys.getswitchinterval()))
assert set(seen) == {before[1]}
assert settings() == before, "a run"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_light_names_stay_light():
    """Building a model and a friction set needs no compiler."""
    code = (
        "import sys, stiction as st; st.Coulomb(0.3); st.StictionError; st.Status.SOLVED; "
        "print([m for m in ('numba', 'h5py', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", st.__all__)
def test_public_name_has_a_docstring(name):
    value = getattr(st, name)
    assert (inspect.getdoc(value) or "").strip(), f"stiction.{name} has no docstring"
    if inspect.isclass(value):
        assert value.__doc__ != getattr(object, "__doc__", None)


def public_methods():
    for name in st.__all__:
        value = getattr(st, name)
        if not inspect.isclass(value):
            continue
        for attribute, member in inspect.getmembers(value):
            if attribute.startswith("_") or (issubclass(value, enum.Enum) and attribute in value.__members__):
                continue
            function = member.fget if isinstance(member, property) else getattr(member, "func", member)
            if inspect.isroutine(function) and str(getattr(function, "__module__", "")).startswith("stiction"):
                yield f"{name}.{attribute}", function


def test_public_methods_have_docstrings():
    found = dict(public_methods())
    assert len(found) > 40
    missing = [name for name, function in found.items() if not (function.__doc__ or "").strip()]
    assert missing == []


def test_public_functions_of_modules_have_docstrings():
    for module in (st.lcp,):
        for name in module.__all__:
            assert (inspect.getdoc(getattr(module, name)) or "").strip(), f"{module.__name__}.{name}"


def test_modules_that_moved_are_found_under_their_old_paths():
    from stiction._moved import MOVED

    for old, new in MOVED.items():
        module, moved = importlib.import_module(f"stiction.{new}"), importlib.import_module(f"stiction.{old}")
        name = next(name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
        with pytest.warns(DeprecationWarning, match=f"is now stiction.{new}"):
            assert getattr(moved, name) is getattr(module, name)
        assert not hasattr(moved, "__file__")
    with pytest.warns(DeprecationWarning, match="missed_contacts.solve_with_missed_contacts"):
        from stiction.schemes.unforeseen import foresee
    assert foresee.__name__ == "solve_with_missed_contacts"
    from stiction.systems import meshes
    from stiction.systems.shapes import surfaces

    before = surfaces.SIDES_UP
    with pytest.warns(DeprecationWarning, match="SIDES_UP"):
        meshes.SIDES_UP = before + 1
    changed, surfaces.SIDES_UP = surfaces.SIDES_UP, before
    assert changed == before + 1
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        meshes.nothing_of_that_name  # noqa: B018


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'Boxx'"):
        st.Boxx  # noqa: B018
    assert set(st.__all__) <= set(dir(st))


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


def test_four_files_know_numba():
    users = [path.name for path in SOURCES if any(name.split(".")[0] == "numba" for name in imports(path))]
    assert sorted(users) == ["cache.py", "jit.py", "lanes.py", "sealed.py"]


def test_files_fit_in_the_head():
    long = {path.name: n for path in SOURCES if (n := len(path.read_text().splitlines())) > 800}
    assert long == {}


def mixed_cases():
    """Every law, every kind of friction set, every solver, from Python and through the Simulator."""
    rng = np.random.default_rng(0)
    sets = [st.Coulomb(0.5), st.Polyhedral(0.3, directions=rng.normal(size=(5, 2))), st.Frictionless(), st.Coulomb(0.0)]
    for f in sets[:2]:
        f.support([1.0, 2.0]), f.gauge([0.1, 0.2]), f.project([3.0, 4.0])
    A = rng.normal(size=(10, 10))
    problem = st.ContactProblem.from_delassus(
        A @ A.T + np.eye(10), rng.normal(size=10), row_ptr=[0, 1, 4, 7, 8, 9, 10],
        law=[st.Law.UNILATERAL] * 3 + [st.Law.EQUALITY, st.Law.BOX, st.Law.DRY],
        friction=[None, sets[0], sets[1], None, None, 1.0], r0=[0, 0, 0.1, 0, 0, 0.2],
    )  # fmt: skip
    problem.certify(rng.normal(size=10))
    problem.certify(np.arange(10))
    for associated in (False, True):
        lcp = problem.replace(associated=associated).polyhedral(4)
        st.solve(lcp, "lemke")
    st.solve(
        st.ContactProblem.from_delassus(
            np.eye(2), [-1.0, 1.0], row_ptr=[0, 2], law=[st.Law.UNILATERAL], friction=[0.5]
        ),
        "enumeration",
    )
    floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.3)
    gear = st.DryFriction([1.0, 0.0], 1.0)
    pin = st.Bilateral(lambda q: q[0] - 0.1 * q[1])
    system = st.GeneralizedSystem(
        np.eye(2), [0, -9.81], q=[0.001, 0.01], gaps=[floor], friction=[gear], constraints=[pin]
    )
    st.Simulator(system, 0.01).run(0.1)


def test_kernels_have_one_signature_each(signatures):
    mixed_cases()
    compiled = signatures("stiction")
    assert "stiction.problem.residuals.block_residuals" in compiled
    assert {name: kinds for name, kinds in compiled.items() if len(kinds) > 1} == {}


# Functions with more than 12 parameters, by the reason that each has.
MANY_PARAMETERS = {
    "springs of an impact driven by work": {
        "kernels.springs",
    },
    "users say each option by its name": {
        "contact_problem.__init__",
        "world.add_body",
    },
    "a picture is made in one pass over its pixels": {
        "raster.shade",
    },
    "another method of a paper, apart from the package's own": {
        "penalty._touch",
        "penalty.penalty_run",
    },
}
# Functions of more than 80 lines, by the reason that each has.
LONG = {
    "a table of a paper, entry by entry": {
        "pr11_compliance.reproduce",
    },
}


def functions():
    """Every function of the package with its module: `broad.pairs`."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.stem}.{node.name}", node


def test_functions_take_records():
    """What belongs together is handed on together (`problem/records.py`); exceptions are few, each with a reason."""
    many = {
        name
        for name, node in functions()
        if len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs) > 12
    }
    assert many == set().union(*MANY_PARAMETERS.values())


def test_functions_fit_in_the_head():
    long = {name for name, node in functions() if node.end_lineno - node.lineno >= 80}
    assert long == set().union(*LONG.values())


# Records and tables of kernels: their fields and columns have names.
NAMED = {
    "body_rows", "boxes", "entries", "facts", "form", "found", "geo", "geometry", "history", "joints", "kept", "laws",
    "near_pairs", "progress", "rules", "shapes", "tableau",
}  # fmt: skip
KERNELS = ("collision", "friction", "lcp", "problem", "schemes", "simulation", "solvers", "systems")


def test_no_tuple_of_kernels_is_cut_by_number():
    """A field of a record has a name: nothing says `facts[:12]` or `found[3]`, and no column of a table is a number."""
    wrong = []
    for path in SOURCES:
        folder = path.relative_to(PACKAGE).parts[0]
        if folder not in KERNELS or path.stem == "siconos":  # there `found` is a match of a pattern
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name | ast.Attribute):
                continue
            name = getattr(node.value, "id", None) or node.value.attr
            index = node.slice
            if (name in NAMED and _is_number(index)) or (
                name == "par" and isinstance(index, ast.Tuple) and isinstance(index.elts[1], ast.Constant)
            ):
                wrong.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert wrong == []


def _is_number(index):
    """Whether an index is a number, or a slice with a number at an end."""
    if isinstance(index, ast.Slice):
        return any(_is_number(end) for end in (index.lower, index.upper) if end is not None)
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


def test_leaves_neither_make_nor_return_arrays():
    """They do not count references: an array of their own would leak, and one that they return could vanish."""
    makers = {"copy", "ravel", "reshape", "flatten", "astype"}
    leaves, wrong = 0, []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or not _is_leaf(node):
                continue
            leaves += 1
            given = {part.arg for part in node.args.args}
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute) and part.attr in makers:
                    wrong.append(f"{path.name}: {node.name} calls {part.attr}")
                if isinstance(part, ast.Return) and part.value is not None:
                    values = part.value.elts if isinstance(part.value, ast.Tuple) else [part.value]
                    for value in values:
                        if isinstance(value, ast.Name) and _is_indexed(value.id, node) and value.id in given:
                            wrong.append(f"{path.name}: {node.name} returns {value.id}")
                        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
                            wrong.append(f"{path.name}: {node.name} returns a slice")
    assert leaves > 200
    assert wrong == []


def _is_indexed(name, function):
    """Whether a name is used as an array: with an index that is no constant."""
    return any(
        isinstance(part, ast.Subscript)
        and getattr(part.value, "id", "") == name
        and not isinstance(part.slice, ast.Constant)
        for part in ast.walk(function)
    )


def _is_leaf(function):
    return any(
        isinstance(mark, ast.Call)
        and getattr(mark.func, "id", "") == "njit"
        and {key.arg for key in mark.keywords} & {"leaf", "inline"}
        for mark in function.decorator_list
    )


def test_kernels_rest_on_the_modules_that_they_import_by_name(tmp_path):
    """On no others of their package; on the package itself where a name is none of its modules."""
    from stiction.runtime.cache import _read

    texts = {"__init__": "from . import other\nN = 1\n", "b": "", "other": "", "one": "from . import b as c\n"}
    for name, text in {**texts, "two": "from . import N, b\n", "three": "from .b import f as g\n"}.items():
        (tmp_path / f"{name}.py").write_text(text)

    def rests_on(name):
        return {path.stem for path in _read(tmp_path / f"{name}.py")[1]}

    assert rests_on("one") == rests_on("three") == {"b"}
    assert rests_on("two") == {"__init__", "b"}


@pytest.mark.long
def test_kernels_from_the_cache_find_their_threads(tmp_path):
    """A caller compiled while its parallel callee comes from the cache, then loaded alone by a third process."""
    (tmp_path / "leaf.py").write_text(
        "from stiction.runtime.jit import njit, prange\n"
        "@njit(parallel=True)\ndef double(x, y):\n    for i in prange(len(x)):\n        y[i] = 2.0 * x[i]\n"
    )
    (tmp_path / "caller.py").write_text(
        "from stiction.runtime.jit import njit\nfrom leaf import double\n"
        "@njit\ndef twice(x, y):\n    double(x, y)\n    double(y, x)\n    return x.sum()\n"
    )
    run = "import numpy as np; x, y = np.ones(1000), np.ones(1000);"
    scripts = (
        "from leaf import double; double(x, y); print(y.sum())",
        "from caller import twice; print(twice(x, y))",
        "from caller import twice; print(twice(x, y))",
    )
    environment = dict(
        os.environ, STICTION_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", f"{run} {script}"], env=environment, capture_output=True, text=True, check=False
        )
        for script in scripts
    ]
    assert [(r.returncode, r.stdout.strip()) for r in said] == [(0, "2000.0"), (0, "4000.0"), (0, "4000.0")], said


@pytest.mark.long
def test_kernels_of_one_factory_do_not_take_each_others_constants(tmp_path):
    """Two processes compile one each, a third loads both."""
    (tmp_path / "pair.py").write_text(
        "import numpy as np\nfrom stiction.runtime.jit import njit\n"
        "def make(n):\n"
        "    @njit\n    def fill(x):\n"
        "        if n == 2:\n            return np.full(n, x), np.zeros(n, np.int64)\n"
        "        return np.zeros(n, np.int32), np.zeros(n, np.int64), np.full(n, x)\n"
        "    return fill\n"
        "two, three = make(2), make(3)\n"
    )
    environment = dict(
        os.environ, STICTION_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])
    )
    for names in (["two"], ["three"], ["two", "three"], ["three", "two"]):
        script = "import pair; print(" + ", ".join(f"pair.{name}(1.0)[-1].dtype" for name in names) + ")"
        said = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
        )
        assert said.stdout.split() == [{"two": "int64", "three": "float64"}[name] for name in names], said


def test_hashed_requirements_are_complete_and_name_no_address():
    text = (ROOT / "requirements" / "dev.txt").read_text()
    listed = {match[1]: match[2] for match in re.finditer(r"^([a-z0-9-]+)==([^ ]+).*\\$", text, re.MULTILINE)}
    assert text.count("\n    --hash=sha256:") >= len(listed) > 100
    assert "://" not in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    for needed in [*project["project"]["dependencies"], *groups["dev"], *groups["docs"], *groups["build"]]:
        assert re.match(r"[A-Za-z0-9-]+", needed)[0].lower() in listed, needed
