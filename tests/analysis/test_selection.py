"""Rules of selection on the rod of pr11, and which of its motions a step follows."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import Choosing, all_motions, followed, force_acceleration, select, time_stepping
from stiction.analysis.selection import RULES, without_friction
from stiction.papers.pr11_rod import LIFTING, rod


@pytest.mark.parametrize(
    ("rule", "modes"), [("least impulse", "o"), ("continuity", "-"), ("painleve", "o"), ("least energy", "s")]
)
def test_each_rule_takes_its_motion(rule, modes):
    motions = all_motions(rod(LIFTING), h=0.01)
    assert [motion.modes for motion in select(motions, rule)] == [modes]
    sim = st.Simulator(rod(LIFTING), 0.01, scheme=st.AnitescuHart(), solver=Choosing(rule))
    sim.step()
    assert motions.find(sim.state.v).modes == modes


def test_painleves_principle_leaves_a_single_way_of_pressing():
    """Without torque the smooth rod presses, so that the rough one may."""
    (motion,) = select(all_motions(rod(), h=0.01), "painleve")
    assert motion.modes == "s"
    (motion,) = select(all_motions(force_acceleration(rod(LIFTING))), "painleve")
    assert motion.modes == "o"


def test_lemke_comes_to_rest_where_it_can():
    taken = followed(rod(LIFTING), h=0.01, solver="lemke")
    assert taken.motion.modes == "s"
    assert taken.rules == ("least energy",)
    assert "took motion 3 of 3: tip comes to rest (rules that lead there: least energy)" in taken.words


@pytest.mark.parametrize("scheme", [st.StewartTrinkle(), st.Moreau(), st.TzitzourisPang()])
def test_every_scheme_with_coulombs_law_has_the_three_motions_of_the_paper(scheme):
    motions = all_motions(time_stepping(rod(LIFTING), h=0.01, scheme=scheme))
    assert [motion.modes for motion in motions] == ["o", "-", "s"]


def test_the_convex_relaxation_has_one():
    """pr11 §6: without complementarity there are "convex quadratic programming problems with unique solutions"."""
    motions = all_motions(time_stepping(rod(LIFTING), h=0.01, scheme=st.AnitescuHart(relaxation="convex")))
    assert motions.unique
    assert motions[0].modes == "s"


def test_a_scheme_without_complementarity_has_no_problem_of_a_step():
    with pytest.raises(st.ModelError, match="a step of Compliant has no contact problem"):
        time_stepping(rod(), h=0.01, scheme=st.Compliant(1e4, 1e2, 1e2))


def test_where_there_is_one_motion_every_rule_takes_it():
    taken = followed(rod(), h=0.01)
    assert taken.rules == RULES


def test_smooth_problem_of_a_sliding_contact_acts_along_its_row():
    problem = without_friction(force_acceleration(rod()).problem)
    assert problem.delassus() == pytest.approx(np.array([[1.75]]))
    assert all_motions(problem).unique


def test_a_rule_that_does_not_exist():
    with pytest.raises(st.ModelError, match="rule must be one of 'least impulse'"):
        Choosing("least action")
