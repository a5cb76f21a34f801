"""Kernels that their callers know by a symbol: over processes, through exceptions, after edits and damage."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

BIG = """
import numpy as np
from stiction.runtime.jit import njit, prange

@njit(parallel=True)
def double(x, y):
    for i in prange(len(x)):
        y[i] = 2.0 * x[i]

@njit(sealed=True)
def big(x, k):
    y = np.empty_like(x)
    double(x, y)
    if k == 3:
        raise ValueError("three")
    return y, x.sum()

@njit
def squared(x):
    return x * x

@njit
def cubed(x):
    return x * x * x

def make(inner):
    @njit(sealed=True)
    def power(x):
        return inner(x)
    return power

square, cube = make(squared), make(cubed)
"""
TOP = """
from stiction.runtime.jit import njit
from big import big, cube, square

@njit
def middle(x, k):
    y, s = big(x, k)
    return y, square(s) + cube(s)

@njit(sealed=True)
def top(x, k):
    y, s = middle(x, k)
    z, t = middle(y, 1)
    return z.sum() + s + t
"""
RUN = """
import numpy as np
from numba.core import event

class Compiled(event.Listener):
    def on_start(self, event):
        said.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

said = []
event.register("numba:compile", Compiled())
import top
print(top.top(np.ones(4), 1))
try:
    top.top(np.ones(4), 3)
except ValueError as error:
    print(error)
mine = {"double", "big", "middle", "top", "power"}
print(*sorted(set(said) & mine))
"""
ANSWER = str(16.0 + (4**2 + 4**3) + (8**2 + 8**3))


@pytest.fixture
def run(tmp_path):
    """A process that calls the kernel `top`: says what it answers, how it fails, and what it has compiled."""
    for name, text in (("big", BIG), ("top", TOP), ("run", RUN)):
        (tmp_path / f"{name}.py").write_text(text)
    environment = dict(
        os.environ, STICTION_CACHE_DIR=str(tmp_path / "cache"), PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])
    )

    def start():
        return subprocess.Popen(
            [sys.executable, "run.py"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def finish(process):
        out, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        return out.splitlines()

    start.finish = finish
    start.again = lambda: finish(start())
    return start


def kept(tmp_path, name):
    return list((tmp_path / "cache").rglob(f"{name}.kernel"))


def test_callers_from_disk_find_their_sealed_kernels(run, tmp_path):
    first, second = run(), run()  # two that start cold side by side
    for process in (first, second):
        assert run.finish(process)[:2] == [ANSWER, "three"]
    assert run.again() == [ANSWER, "three", ""]  # a third compiles nothing
    # what is lost or damaged is compiled again and nothing else, and `top`, which links a kernel from disk, remembers
    # what that one needs
    for file in kept(tmp_path, "double*") + kept(tmp_path, "top*"):
        file.unlink()
    for file in kept(tmp_path, "big*"):
        file.write_bytes(b"damaged")
    assert run.again() == [ANSWER, "three", "big double top"]
    assert run.again() == [ANSWER, "three", ""]
    # a sealed kernel that has changed is not mistaken for the one its callers were compiled with
    path = tmp_path / "big.py"
    path.write_text(path.read_text().replace("2.0 * x", "4.0 * x"))
    assert run.again()[0] == str(64.0 + (4**2 + 4**3) + (16**2 + 16**3))


def test_callers_do_not_contain_sealed_kernels(monkeypatch, tmp_path):
    from stiction.runtime.jit import njit

    monkeypatch.setenv("STICTION_CACHE_DIR", str(tmp_path))  # what comes from disk cannot be inspected

    @njit(sealed=True)
    def hidden(x):
        return x * 12345.0

    @njit
    def caller(x):
        return hidden(x) + 1.0

    assert caller(2.0) == 24691.0
    code = caller.inspect_llvm(caller.signatures[0])
    assert "sealed." in code
    assert "hidden" not in code
