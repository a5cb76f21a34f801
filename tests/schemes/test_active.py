"""Which contacts act: each rule does what its paper says, and no more."""

import numpy as np
import pytest

import stiction as st
from stiction import Closing, Growing, Speculative, StewartTrinkle, Within

G, H = 9.81, 0.01
RULES = ["growing", "closing", "speculative", 0.05]


def ball(height, speed, rule, *, force=-G, h=H):
    """A unit mass above a floor."""
    floor = st.Gap(lambda q: q[0], name="floor")
    system = st.GeneralizedSystem([[1.0]], [force], q=[height], v=[speed], gaps=[floor])
    return st.Simulator(system, h, scheme=StewartTrinkle(active=rule))


def acting(result):
    return result.contacts.key.tolist()


def test_rules_choose_as_documented():
    gap = np.array([0.0, 0.02, 0.3, 0.3])
    predicted = np.array([0.1, -0.01, -0.1, 0.2])
    before = np.array([False, False, False, True])
    assert Growing().choose(gap, predicted, before).tolist() == [False, True, True, True]
    assert Closing().choose(gap, predicted, before).tolist() == [False, True, True, False]
    assert Within(0.02).choose(gap, predicted, before).tolist() == [True, True, False, False]
    assert Speculative().choose(gap, predicted, before).tolist() == [True] * 4
    assert [r.grows for r in (Growing(), Closing(), Within(0.0), Speculative())] == [True, False, False, False]


def test_growing_adds_a_contact_that_only_the_solve_violates():
    """At rest just above the floor: neither active before nor violated at q + h v, but gravity would carry it below."""
    sim = ball(1e-6, 0.0, "growing")
    result = sim.step()
    assert acting(result) == [0]
    assert result.state.q[0] == pytest.approx(0.0, abs=1e-15)
    assert [role for role, _ in result.solves] == ["step", "step"]


def test_growing_adds_contacts_that_other_contacts_cause():
    """A cart pushed by a closing wall runs into a buffer that the free motion would never reach."""
    wall = st.Gap(lambda t, q: q[0] - 2 * t, name="wall")
    buffer = st.Gap(lambda q: 0.015 - q[1], name="buffer")
    touch = st.Gap(lambda q: q[1] - q[0], name="touch")
    system = st.GeneralizedSystem(np.eye(2), q=[0.0, 0.0], gaps=[wall, buffer, touch])
    result = st.Simulator(system, 0.0075).step()  # the wall comes to 0.015: all three just touch
    assert acting(result) == [0, 2]
    np.testing.assert_allclose(result.state.q, [0.015, 0.015], atol=1e-14)
    near = st.Gap(lambda q: 0.1 - q[1] - q[0] / 2, name="near")
    system = st.GeneralizedSystem(np.diag([1.0, 1.0]), q=[0.0, 0.08], v=[0.0, 1.0], gaps=[wall, near])
    result = st.Simulator(system, H).step()
    assert acting(result) == [0]
    result = st.Simulator(system, 2 * H).step()  # now the wall brings q0 to 0.04 and 0.08 + 0.02 + 0.02 > 0.1
    assert acting(result) == [0, 1]
    assert 0.1 - result.state.q[1] - result.state.q[0] / 2 >= -1e-12


def test_a_broken_contact_is_dropped():
    """A force that lifts: in the first step the contact still acts, later it is not even looked at."""
    sim = ball(0.0, -1.0, "growing", force=5.0)
    first = sim.step()
    assert first.contacts.impulse[0, 0] > 0
    second = sim.step()
    assert acting(second) == [0]
    assert second.contacts.impulse[0, 0] == 0.0
    assert second.contacts.mode[0] == st.Mode.OPEN
    assert acting(sim.step()) == []


def test_within_acts_by_distance_alone():
    for eps, acts in ((0.049, False), (0.05, True)):
        result = ball(0.05, 3.0, Within(eps)).step()  # moving away
        assert acting(result) == ([0] if acts else [])
        assert result.state.v[0] == pytest.approx(3.0 - G * H)
    fast = ball(0.05, -20.0, Within(0.01)).step()  # too fast for its eps: it goes through, and the certificate says so
    assert acting(fast) == []
    assert fast.certificate.penetration == pytest.approx(20 * H + G * H**2 - 0.05)


def test_closing_acts_by_prediction_alone():
    assert acting(ball(0.05, -4.0, "closing").step()) == []
    assert acting(ball(0.05, -6.0, "closing").step()) == [0]
    rest = ball(0.0, 0.0, "closing").step()  # at rest q + h v does not overlap: gravity sinks it by g h²
    assert acting(rest) == []
    assert rest.certificate.penetration == pytest.approx(G * H**2)


def test_speculative_acts_at_any_distance():
    result = ball(5.0, 1.0, "speculative").step()
    assert acting(result) == [0]
    assert result.contacts.impulse[0, 0] == 0.0
    assert result.state.v[0] == pytest.approx(1.0 - G * H)


@pytest.mark.parametrize("rule", ["growing", "speculative", 10.0])
def test_rules_that_see_the_contact_give_the_same_motion(rule):
    one, other = ball(0.3, -1.0, "growing"), ball(0.3, -1.0, rule)
    np.testing.assert_allclose(other.run(0.6).q, one.run(0.6).q, atol=1e-13)


def test_a_number_is_a_distance():
    assert StewartTrinkle(active=0.25)._rule == Within(0.25)
    assert StewartTrinkle(active=1)._rule == Within(1)
    assert StewartTrinkle(active="closing")._rule == Closing()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: StewartTrinkle(active="growin"), "Did you mean 'growing'"),
        (lambda: StewartTrinkle(active=-0.1), "active eps"),
        (lambda: StewartTrinkle(active=None), "active must be a rule"),
        (lambda: StewartTrinkle(active=True), "active must be a rule"),
        (lambda: Within(float("nan")), "active eps"),
        (lambda: StewartTrinkle(evaluate="midpiont"), "Did you mean 'midpoint'"),
        (lambda: StewartTrinkle(directions=2), "directions"),
        (lambda: StewartTrinkle(directions=8.0), "directions must be an integer"),
        (lambda: StewartTrinkle(tolerance=0.0), "tolerance"),
        (lambda: StewartTrinkle(maxiter=0), "maxiter"),
    ],
)
def test_bad_options_are_refused_by_name(call, word):
    with pytest.raises(st.ModelError, match=word):
        call()
