"""Wrong arguments: every public callable answers with a `StictionError` that says which argument is wrong."""

import inspect
import random

import numpy as np
import pytest
from calls import Made, callables, random_call, sweep

import stiction as st
from stiction._arguments import checks_arguments


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("arguments"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # "wrong" is the name of a file that can be written


def test_the_right_arguments_are_right(made):
    """Else the wrong ones would not be what is refused."""
    refused = {}
    for name, function, call in callables():
        try:
            call(made, made.arguments(name, function))
        except Exception as error:
            refused[name] = str(error)
    assert refused == {"Trajectory.orientation": "bodies in the plane have an angle; use run.angle(body)."}
    assert len(callables()) > 150


def test_wrong_arguments_are_named(made):
    faults = sweep(made, share=0.2)
    assert not faults, "\n".join(faults)


@pytest.mark.long
def test_all_wrong_arguments_are_named(made):
    faults = sweep(made, share=1.0)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.long)])
def test_random_wrong_arguments_are_refused_or_harmless(first, made):
    faults = [fault for seed in range(first, 10 * first + 300) for fault in random_call(made, random.Random(seed))[1]]
    assert not faults, "\n".join(faults)


@checks_arguments
def example(x: float, n: int = 1, *, names: list[str] | None = None, way: st.SpeedLaw | None = None, **more: object):
    """An example."""
    return x


def test_what_annotations_ask_for():
    assert example(1) == 1
    assert example(1, names=(name for name in "ab")) == 1
    assert example(np.float32(0.5), np.int64(2), names=["a"], way=st.Stribeck(0.5, 0.3, 1.0), other=3) == 0.5
    for wrong, said in (
        ({"x": True}, "x must be a number; got bool True"),
        ({"x": float("nan")}, "x must be a number; got float nan"),
        ({"x": 1.0, "n": 1.0}, "n must be an integer; got float 1.0"),
        ({"x": 1.0, "names": "abc"}, r"names must be a list \(each a string\) or None; got str 'abc'"),
        ({"x": 1.0, "names": ["a", 2]}, r"names\[1\] must be a string; got int 2"),
        ({"x": 1.0, "names": np.array(1.0)}, "names must be a list"),
        ({"x": np.zeros((2, 2))}, r"x must be a number; got ndarray array\(\[\[0., 0.\], \[0., 0.\]\]\)\.$"),
        ({"x": 1.0, "names": 10**5000}, r"got int \(ValueError in its repr\)\.$"),
        ({"x": 1.0, "way": st.Stribeck}, "way must be a SpeedLaw or None; got"),
    ):
        with pytest.raises(st.ModelError, match=said):
            example(**wrong)


def test_checked_functions_look_as_before():
    assert str(inspect.signature(example)).startswith("(x: float, n: int = 1, *, names: list[str] | None")
    assert example.__doc__ == "An example."
    for wrong in (lambda: example(), lambda: example(1.0, 2, 3), lambda: example(1.0, x=2)):
        with pytest.raises(TypeError, match=r"example\(\)"):  # of a wrong signature Python speaks
            wrong()


def test_the_viewer_opens_nothing_for_wrong_arguments(made):
    run = made.world_run
    for name, call in (
        ("wait", lambda: run.view(wait="wrong")),
        ("host", lambda: run.view(host=1)),
        ("port", lambda: run.view(port=0.5)),
        ("playing", lambda: run.view(playing=None)),
        ("open_browser", lambda: run.view(open_browser="wrong")),
        ("duration", lambda: made.simulator().view("wrong")),
        ("fps", lambda: made.simulator().view(0.02, fps=float("nan"))),
        ("record", lambda: made.simulator().view(0.02, record=1)),
    ):
        with pytest.raises(st.ModelError, match=name):
            call()
