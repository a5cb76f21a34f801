"""Compiled kernels on disk: never stale, and no trouble where files are damaged or cannot be written."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stiction

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

KERNELS = """
from stiction.runtime.jit import njit

@njit
def double(x):
    return 2.0 * x

@njit
def first_field(pair):
    return pair.first
"""
RECORDS = """
from typing import NamedTuple

class Pair(NamedTuple):
    first: float
    second: float
"""
RUN = """
from numba.core import event

class Compiled(event.Listener):
    def on_start(self, event):
        said.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

said = []
event.register("numba:compile", Compiled())
from kernels import double, first_field
from records import Pair
print(double(1.5), first_field(Pair(first=1.0, second=2.0)), *said)
"""


class Program:
    """A program in a folder of its own, with its own kernel cache."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        for name, text in (("kernels", KERNELS), ("records", RECORDS), ("run", RUN)):
            (folder / f"{name}.py").write_text(text)

    def run(self, script="run.py", limits="", packages=(), **environment):
        """What the program prints, and what it says besides."""
        known = {**os.environ, "STICTION_CACHE_DIR": str(self.cache), **environment}
        known["PYTHONPATH"] = os.pathsep.join([*map(str, packages), str(self.folder), *sys.path])
        command = [sys.executable, script]
        if limits:
            command = ["bash", "-c", f'{limits}; exec "$@"', "bash", *command]
        said = subprocess.run(command, cwd=self.folder, env=known, capture_output=True, text=True, timeout=300)
        assert said.returncode == 0, said.stderr
        return said.stdout.split(), said.stderr.splitlines()

    def files(self):
        return sorted(self.cache.rglob("*.kernel"))


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


ANSWER = ["3.0", "1.0"]
BOTH = ["double", "first_field"]


def test_damaged_files_are_compiled_again_and_replaced(program):
    assert program.run() == ([*ANSWER, *BOTH], [])
    assert program.run() == (ANSWER, [])
    good = {file: file.read_bytes() for file in program.files()}
    assert len(good) == 2
    for damage in (lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:500] + bytes([b[500] ^ 1]) + b[501:]):
        for file, content in good.items():
            file.write_bytes(damage(content))
        out, said = program.run()
        assert out == [*ANSWER, *BOTH]
        assert len(said) == 1
        assert str(program.cache) in said[0]
        assert "damaged" in said[0]
        assert program.run() == (ANSWER, [])


def test_without_a_folder_kernels_stay_in_memory(program):
    program.cache.write_text("a file where the folder should be")
    out, said = program.run()
    assert out == [*ANSWER, *BOTH]
    assert len(said) == 1
    assert "cannot be kept" in said[0]
    assert "STICTION_CACHE_DIR" in said[0]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_full_disk_is_one_line(program):
    out, said = program.run(limits="ulimit -f 1")  # no file may grow beyond a kilobyte
    assert out == [*ANSWER, *BOTH]
    assert len(said) == 1
    assert "cannot be kept" in said[0]
    assert not program.files()
    assert not list(program.cache.rglob("*.part"))


def test_fields_of_a_record_in_another_order_are_another_record(program):
    """Numba itself tells records apart by class and types of fields: it would read `second` here."""
    program.run()
    records = program.folder / "records.py"
    records.write_text(RECORDS.replace("first: float\n    second: float", "second: float\n    first: float"))
    assert program.run() == ([*ANSWER, "first_field"], [])


def test_a_leaf_of_the_caller_in_another_file(program):
    leaf = "from stiction.runtime.jit import njit\n\n@njit\ndef leaf(x):\n    return x + {}\n"
    outer = leaf.replace("\n\n", "\nfrom leaves import leaf\n\n", 1).replace(
        "leaf(x):\n    return x + {}", "outer(x):\n    return leaf(x)"
    )
    run = "import outer\nprint(outer.outer(1.0))"
    for name, text in {"leaves": leaf.format(1.0), "outer": outer, "add": run}.items():
        (program.folder / f"{name}.py").write_text(text)
    assert program.run("add.py") == (["2.0"], [])
    (program.folder / "leaves.py").write_text(leaf.format(100.0))
    assert program.run("add.py") == (["101.0"], [])


def test_a_cache_may_be_moved_with_its_program(program, tmp_path_factory):
    program.run()
    elsewhere = Program(tmp_path_factory.mktemp("elsewhere"))
    shutil.copytree(program.cache, elsewhere.cache)
    assert elsewhere.run() == (ANSWER, [])


def test_folders_that_nobody_uses_are_removed(program):
    program.run()
    old = program.cache / "old-0123456789abcdef"
    old.mkdir()
    (old / "kernel-0.kernel").write_bytes(b"0")
    long_ago = time.time() - 365 * 86400
    os.utime(old, (long_ago, long_ago))
    elsewhere = program.cache / "something of the user"
    elsewhere.mkdir()
    os.utime(elsewhere, (long_ago, long_ago))
    program.run()  # compiles nothing, removes nothing
    assert old.exists()
    for file in program.files():
        if file.parent != old:
            file.unlink()
    program.run()
    assert not old.exists()
    assert elsewhere.exists()
    assert program.run() == (ANSWER, [])


PROJECT = """
import stiction as st
print(st.__file__, *st.Polyhedral(0.3, directions=[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).project([3.0, 4.0]))
"""


def test_an_upgrade_in_which_only_a_leaf_changed(program):
    """The kernel that projects lies in another file than its leaf that changes, and must not come from the cache."""
    site = program.folder / "site"
    shutil.copytree(Path(stiction.__file__).parent, site / "stiction", ignore=shutil.ignore_patterns("__pycache__"))
    (program.folder / "project.py").write_text(PROJECT)
    (place, *before), _ = program.run("project.py", packages=[site])
    assert place.startswith(str(site))
    leaf = site / "stiction" / "friction" / "nnls.py"
    text = leaf.read_text()
    changed = text.replace("best = 1e-15 * scale", "best = 1e15 * scale")
    assert changed != text
    leaf.write_text(changed)
    (_, *after), _ = program.run("project.py", packages=[site])
    (_, *fresh), _ = program.run("project.py", packages=[site], STICTION_CACHE_DIR=str(program.folder / "fresh"))
    assert after == fresh
    assert after != before
