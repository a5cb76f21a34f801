"""Rules of selection on the rod of pr11, and which of its motions a step follows."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import Choosing, all_motions, followed, force_acceleration, select
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
