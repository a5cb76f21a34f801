"""pr11 §2–§4 and appendix A: every printed digit, the counts of solutions, and the orders in h."""

import math

import numpy as np
import pytest

import stiction as st
from stiction.analysis import all_motions, impulse_velocity, search_dead_ends
from stiction.analysis.dead_ends import after_impulses
from stiction.papers.pr11_corner import corner
from stiction.papers.pr11_critical import critical_friction, steepest, unsolvable
from stiction.papers.pr11_impulse import impulses
from stiction.papers.pr11_stepping import distances, order, step

NAMES = ["pr11-painleve-none", "pr11-painleve-many", "pr11-impulse", "pr11-stepping", "pr11-critical"]


@pytest.mark.parametrize("name", NAMES)
def test_every_printed_number_is_reproduced(name):
    outcome = st.papers.experiment(name).run()
    for quantity in outcome.quantities:
        assert quantity.ok, quantity
        assert quantity.verdict in ("reproduced", "no printed value"), quantity
    assert outcome.certificate["natural_map"] < 1e-12


def test_a_step_is_first_order_away_from_the_impulse():
    away = distances()
    assert order(away["pressed, to Λ₂"]) == pytest.approx(1.0, abs=1e-6)
    assert order(away["lifted, to Λ₂"]) == pytest.approx(1.0, abs=1e-6)
    assert away["lifted, sliding, to h λ₂"].max() < 1e-14


def test_the_step_comes_to_rest_as_the_impulse_does():
    (only,) = step(0.0, 1e-6)
    assert only.v == pytest.approx(impulses()[1].v, abs=1e-5)
    assert only.modes == "s"


@pytest.mark.parametrize("kappa", [0.7, 1.0, 3.0])
def test_the_critical_friction_of_any_rod(kappa):
    """2 √(1/κ² + 1/κ), κ = m l²/(4I)."""
    assert critical_friction(1.0 / kappa) == pytest.approx(2.0 * math.sqrt(1.0 / kappa**2 + 1.0 / kappa))


def test_forces_are_missing_between_the_roots_of_a_quadratic():
    mu = 2.0
    low, high = unsolvable(mu)
    for angle in (low, high):
        t = math.tan(angle)
        assert t**2 - 3.0 * mu * t + 4.0 == pytest.approx(0.0, abs=1e-6)
    assert low < steepest(mu) < high


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn(name, tmp_path):
    figures = st.papers.experiment(name).run().figures()
    assert figures
    for label, figure in figures.items():
        figure.savefig(tmp_path / f"{label}.png")


def test_the_only_impulse_can_lead_to_a_state_without_forces():
    """pr11 §3.1's open question, answered: a body tips into a corner (every number by hand, in fractions)."""
    (hit,) = motions = all_motions(corner())
    assert hit.modes == "--"
    assert hit.forces == pytest.approx([4 / 75, 4 / 75, 31 / 150, 31 / 150])
    after = hit.next.form.problem
    A, b = after.delassus(), after.q
    assert pytest.approx(np.array([[35 / 8, 5 / 2], [-11 / 2, -1]])) == A
    assert b[0] < 0  # neither bears: the floor is entered
    assert b[1] - A[1, 0] / A[0, 0] * b[0] < 0  # the floor alone: the wall is
    assert b[0] - A[0, 1] / A[1, 1] * b[1] < 0  # the wall alone: the floor is
    assert np.linalg.solve(A, -b).min() < 0  # both: one would have to pull
    assert after_impulses(motions) == "later"
    further = all_motions(impulse_velocity(corner(), hit.after))
    assert [motion.modes for motion in further] == ["tt", "os"]
    assert [motion.goes_on for motion in further] == [False, True]


@pytest.mark.long
def test_no_dead_end_among_random_states():
    """Every state has a way out, if not by one impulse then by two."""
    found = search_dead_ends(900, bodies=1, contacts=2)
    assert found.dead == ()
    assert found.undecided == 0
    assert found.some > 0
