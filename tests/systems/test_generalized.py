"""GeneralizedSystem: what it takes, what it refuses by name, and what it computes by itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import Bilateral, DryFriction, Gap, GeneralizedSystem

NAN = float("nan")


def make(**change):
    """A good planar particle, changed where asked."""
    mass = change.pop("mass", np.eye(2))
    forces = change.pop("forces", [0.0, -9.81])
    return GeneralizedSystem(mass, forces, **({"q": [0.0, 1.0]} | change))


def flat(q):
    return q[1]


def along(q):
    return [1.0, 0.0]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"q": [NAN, 0.0]}, r"q\[0\] is nan"),
        ({"q": [0.0, math.inf]}, r"q\[1\] is inf"),
        ({"q": []}, "at least one coordinate"),
        ({"q": "up"}, "q must be an array"),
        ({"q": [1j, 0]}, "complex"),
        ({"q": [[0.0, 1.0]]}, "q must have shape"),
        ({"q": None}, "q must be an array"),
        ({"v": [1.0]}, "v must have shape"),
        ({"v": [NAN, 0.0]}, r"v\[0\]"),
        ({"t": NAN}, "t must be"),
        ({"mass": np.eye(3)}, "mass must have shape"),
        ({"mass": [[1.0, 0.0], [0.0, 0.0]]}, "mass must be positive definite, but it is singular"),
        ({"mass": [[1.0, 2.0], [2.0, 1.0]]}, "indefinite"),
        ({"mass": [[1.0, 0.5], [0.0, 1.0]]}, r"mass must be symmetric; entry \(0, 1\)"),
        ({"mass": [[NAN, 0.0], [0.0, 1.0]]}, "mass must be finite"),
        ({"mass": lambda q: np.eye(3)}, r"mass\(q\)"),
        ({"mass": lambda q: np.zeros((2, 2))}, r"mass\(q\).*singular"),
        ({"mass": lambda q: None}, r"mass\(q\)"),
        ({"forces": [1.0]}, "forces must have shape"),
        ({"forces": [NAN, 1.0]}, r"forces\[0\]"),
        ({"forces": lambda t, q, v: [1.0]}, r"forces\(t, q, v\) must have shape"),
        ({"forces": lambda t, q, v: [1.0, NAN]}, r"forces\(t, q, v\)"),
        ({"forces": lambda t, q, v: None}, r"forces\(t, q, v\)"),
        ({"names": ["x", "x"]}, "names"),
        ({"names": ["x"]}, "names"),
        ({"potential": lambda q: NAN, "forces": lambda t, q, v: [0, 0]}, "potential"),
        ({"gaps": [3]}, "int"),
        ({"gaps": [Gap(flat, name="a"), Gap(flat, name="a")]}, "two constraints are named 'a'"),
        ({"gaps": [Gap(flat, name="a")], "constraints": [Bilateral(lambda q: q[0], name="a")]}, "'a'"),
        ({"gaps": [Gap(flat, friction=0.3, name="floor")]}, "gap 'floor' has friction but no tangents"),
        ({"gaps": [Gap(flat, None, lambda q: [1.0], 0.3, name="floor")]}, "gap 'floor': tangents"),
        ({"gaps": [Gap(flat, None, lambda q: np.eye(3), 0.3, name="floor")]}, "gap 'floor': tangents"),
        ({"gaps": [Gap(flat, None, lambda q: np.ones((3, 2)), 0.3, name="floor")]}, "tangent rows"),
        ({"gaps": [Gap(lambda q: q, name="floor")]}, r"gap 'floor': phi must return one number.*shape \(2,\)"),
        ({"gaps": [Gap(lambda q: None, name="floor")]}, "gap 'floor': phi must return a real number; got NoneType"),
        ({"gaps": [Gap(lambda q: "0.1", name="floor")]}, "gap 'floor': phi"),
        ({"gaps": [Gap(lambda q: NAN, name="floor")]}, "gap 'floor': phi returned nan"),
        ({"gaps": [Gap(lambda q: 1.0, name="floor")]}, "gap 'floor': the normal .* is zero"),
        ({"gaps": [Gap(flat, lambda q: [0.0, 0.0], name="floor")]}, "gap 'floor': the normal"),
        ({"gaps": [Gap(flat, lambda q: [0.0, NAN], name="floor")]}, r"gap 'floor': normal\(q\)"),
        ({"gaps": [Gap(flat, lambda q: [1.0], name="floor")]}, r"gap 'floor': normal\(q\) must have shape"),
        ({"constraints": [Bilateral(lambda q: [], name="pin")]}, "constraint 'pin'"),
        ({"constraints": [Bilateral(lambda q: [NAN], name="pin")]}, "constraint 'pin'"),
        ({"constraints": [Bilateral(lambda q: q, lambda q: np.eye(3), name="pin")]}, "constraint 'pin': jacobian"),
        ({"constraints": [Bilateral(lambda q: np.ones(7), name="pin")]}, "1 to 6"),
        ({"friction": [DryFriction([1.0], 2.0, name="gear")]}, "dry friction 'gear': rows"),
        ({"friction": [DryFriction([1.0, 0.0], lambda q: -1.0, name="gear")]}, "dry friction 'gear': bound"),
    ],
)  # fmt: skip
def test_bad_models_are_refused_by_name(change, word):
    with pytest.raises(st.ModelError, match=word):
        make(**change)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: Gap(3.0, name="floor"), "gap 'floor': phi must be a function"),
        (lambda: Gap(lambda a, b, c: 0.0), "takes 3 arguments"),
        (lambda: Gap(flat, None, along, -0.2, name="floor"), "friction of gap 'floor'"),
        (lambda: Gap(flat, None, along, NAN), "friction of gap"),
        (lambda: Gap(flat, None, along, "rough"), "friction of gap"),
        (lambda: Bilateral(np.eye(2)), "phi must be a function"),
        (lambda: DryFriction([1.0], -1.0, name="gear"), "dry friction 'gear': bound"),
        (lambda: DryFriction([NAN], 1.0, name="gear"), "dry friction 'gear': rows"),
    ],
)
def test_bad_constraints_are_refused_by_name(call, word):
    with pytest.raises(st.ModelError, match=word):
        call()


def test_model_error_is_a_value_error():
    with pytest.raises(ValueError, match="q"):
        make(q=[NAN, 0.0])


@given(hs.floats(-50, 50), hs.floats(-3, 3), hs.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_gradients_are_computed(x, y, z):
    gap = Gap(lambda q: math.sin(q[0]) * math.exp(q[1]) + q[2] ** 2 + 0.1 * q[0])
    system = GeneralizedSystem(np.eye(3), q=[1.0, 0.0, 0.0], gaps=[gap])
    q = np.array([x, y, z])
    rows = system.evaluate(system.detect(0.0, q, 0.0), 0.0, q).rows[0]
    exact = [math.cos(x) * math.exp(y) + 0.1, math.sin(x) * math.exp(y), 2 * z]
    np.testing.assert_allclose(rows, exact, atol=1e-9 * (1 + abs(x)) * math.exp(abs(y)))


def test_functions_may_take_time():
    gap = Gap(lambda t, q: q[1] - t, lambda t, q: [0, 1 + t], lambda t, q: [1 + t, 0], 0.2)
    system = make(gaps=[gap])
    found = system.evaluate(system.detect(2.0, np.zeros(2), 0.0), 2.0, np.zeros(2))
    np.testing.assert_array_equal(found.value, [-2.0, 0.0])
    np.testing.assert_array_equal(found.rows, [[0, 3], [3, 0]])


def test_optional_arguments_are_not_time():
    system = make(gaps=[Gap(lambda q, radius=0.1: q[1] - radius)])
    start = system.initial_state()
    candidates = system.detect(0.0, start.q, 0.0)
    assert system.gaps(candidates, 5.0, start.q)[0] == start.q[1] - 0.1  # the default, not the time


def test_dry_friction_rows_and_bound_may_depend_on_the_configuration():
    gear = DryFriction(lambda q: [1.0, q[1]], lambda t, q: 2.0 + t)
    found = make(friction=[gear]).evaluate(make(friction=[gear]).detect(0, np.ones(2), 0), 1.0, np.array([0.0, 5.0]))
    np.testing.assert_array_equal(found.rows, [[1.0, 5.0]])
    np.testing.assert_array_equal(found.bound, [3.0])


def test_energy_of_constant_forces_is_known():
    energy = make(mass=2 * np.eye(2), v=[3.0, 0.0]).energy(np.array([0.0, 4.0]), np.array([3.0, 0.0]))
    assert energy.kinetic == 9.0
    assert energy.potential == pytest.approx(9.81 * 4)
    assert energy.total == energy.kinetic + energy.potential


def test_power_of_the_forces_without_potential():
    """T + V changes by v·k + ½vᵀṀv + ∂V·v: here only the damper is left."""
    system = GeneralizedSystem(
        lambda q: [[1 + q[0] ** 2]], lambda t, q, v: -q * v**2 - 3 * q - 0.5 * v, q=[0.4], v=[2.0],
        potential=lambda q: 1.5 * q[0] ** 2,
    )  # fmt: skip
    q, v = np.array([0.4]), np.array([2.0])
    assert system.applied_power(0.0, q, v) == pytest.approx(-0.5 * v[0] ** 2, abs=1e-9)
    unknown = GeneralizedSystem(np.eye(1), lambda t, q, v: -q, q=[0.4])
    assert unknown.applied_power(0.0, q, v) is None


def test_constraints_are_named_and_found():
    floor, pin = Gap(flat), Bilateral(lambda q: q[0])
    system = make(gaps=[floor, Gap(flat, name="wall")], constraints=[pin], friction=[DryFriction([1.0, 0.0], 1.0)])
    assert [system.constraint_name(key) for key in range(4)] == ["contact0", "wall", "joint0", "friction0"]
    assert system.constraint_key("wall") == 1
    assert system.constraint_key(pin) == 2
    with pytest.raises(st.ModelError, match=r"'flor'.*'wall'"):
        system.constraint_key("flor")


def test_coordinates_are_named():
    system = make(names=["x", "y"])
    assert system.coordinate_names == ("x", "y")
    assert system.velocity_names == ("v_x", "v_y")


def test_callers_arrays_are_copied():
    q, v, M, k = np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.eye(2), np.array([0.0, -9.81])
    system = GeneralizedSystem(M, k, q=q, v=v)
    for array in (q, v, M, k):
        array[:] = 7.0
    np.testing.assert_array_equal(system.initial_state().q, [0.0, 1.0])
    np.testing.assert_array_equal(system.initial_state().v, [1.0, 0.0])
    np.testing.assert_array_equal(system.mass(q), np.eye(2))
    np.testing.assert_array_equal(system.forces(0.0, q, v), [0.0, -9.81])


def test_constraints_can_be_used_in_another_system():
    one, two = Gap(flat), Gap(lambda q: q[0] + 5)
    first = make(gaps=[one])
    second = make(gaps=[two, one])
    assert second.constraint_key(two) == 0
    assert second.constraint_key(one) == 1
    assert second.constraint_name(0) != second.constraint_name(1)
    assert first.constraint_name(0) == "contact0"
    assert first.constraint_key(one) == 0
