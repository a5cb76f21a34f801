"""The rod of st96 §4: its quantities are those on record, and its verdicts are honest."""

import numpy as np
import pytest
from scipy.optimize import brentq

from stiction import Simulator, StewartTrinkle
from stiction.papers import experiment, experiments
from stiction.papers import st96_rod as rod


@pytest.fixture(scope="module")
def outcome():
    return experiment("st96-rod").run()


def by_name(outcome, start):
    return next(q for q in outcome.quantities if q.name.startswith(start))


def test_every_quantity_is_the_one_on_record(outcome):
    assert [q.name for q in outcome.quantities if not q.ok] == []


def test_contact_times_and_the_spike(outcome):
    assert by_name(outcome, "first contact").verdict == "fitted"  # the start height, from it
    assert by_name(outcome, "second contact").verdict == "reproduced"  # nothing was chosen for it
    assert abs(rod.START_HEIGHT - 0.9907) < 5e-5
    assert by_name(outcome, "sliding").verdict == "reproduced"
    assert by_name(outcome, "steps of the angular-velocity spike").ours == 1


def test_the_free_flight_touches_where_the_closed_form_says():
    """y0 - g t²/2 - l/2 sin(θ0 + ω t) = ρ; implicit Euler falls early by half a step."""
    t = by_h = None
    for h in (0.00125, 0.000625):
        run = Simulator(rod.rod(), h).run(0.4)
        t, by_h = rod.touch_time(run, "end -"), h
    height = rod.START_HEIGHT - 0.5 * rod.GRAVITY * t**2
    gap = height - rod.LENGTH / 2 * np.sin(rod.START_ANGLE + rod.SPIN * t) - rod.RADIUS
    assert abs(gap) < 0.5 * rod.GRAVITY * t * by_h * 1.1


def test_force_acceleration_has_no_solution_at_first_contact_and_stepping_has(outcome):
    instant = by_name(outcome, "force-acceleration")
    assert instant.ours == 0
    assert instant.verdict == "reproduced"
    assert by_name(outcome, "time-stepping").ours == 1


def test_printed_friction_vectors_would_leave_a_solution():
    """Without the radius the arm of friction is shorter and a_n = A N + b has A > 0: the reading that was not taken."""
    half = rod.LENGTH / 2

    def gap(t):
        return rod.START_HEIGHT - 0.5 * rod.GRAVITY * t**2 - half * np.sin(rod.START_ANGLE + rod.SPIN * t) - rod.RADIUS

    t = brentq(gap, 0.3, 0.45)
    assert t == pytest.approx(rod.FIRST_CONTACT, abs=1e-12)
    q = np.array([0.0, rod.START_HEIGHT - 0.5 * rod.GRAVITY * t**2, rod.START_ANGLE + rod.SPIN * t])
    v = np.array([0.0, -rod.GRAVITY * t, rod.SPIN])
    n = np.array([0.0, 1.0, -half * np.cos(q[2])])
    printed = np.array([1.0, 0.0, half * np.sin(q[2])])
    assert n @ np.diag([1 / rod.MASS, 1 / rod.MASS, 1 / rod.INERTIA]) @ (n - rod.MU * printed) > 0
    true = rod.instant_contact(q, v, "end -")
    assert true.stiffness < 0
    assert (true.solutions, true.complete) == (0, True)


def test_nonlinear_version_does_not_penetrate():
    run = Simulator(rod.rod(), 0.01, scheme=StewartTrinkle(nonlinear=True)).run(0.7)
    assert run.certificate.worst["penetration"] <= 1e-10


def test_figures_are_drawn(outcome, tmp_path):
    figures = outcome.figures()
    assert {"st96-rod-fig2", "st96-rod-fig3", "st96-rod-fig4", "st96-rod-fig5"} <= set(figures)
    figures["st96-rod-fig2"].savefig(tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 10_000


def test_list_of_experiments():
    assert "st96-rod" in experiments()
