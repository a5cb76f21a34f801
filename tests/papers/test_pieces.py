"""Solvers where solutions are several, st96's large velocities, s00's scheme as printed."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import all_motions, impulse_velocity, time_stepping
from stiction.papers import pr11_solvers as several
from stiction.papers import st96_curved as curved
from stiction.papers.pr11_rod import LIFTING, rod
from stiction.papers.s00_printed import vault
from stiction.solvers import SOLVERS, solve

NAMES = ["st96-large-velocities", "s00-as-printed", "s00-inclusion", "pr11-solvers"]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_the_one_on_record(name):
    outcome = st.papers.experiment(name).run()
    for quantity in outcome.quantities:
        assert quantity.ok, quantity
        assert quantity.verdict in ("reproduced", "no printed value"), quantity
    assert outcome.residual < 1e-8


def test_where_three_motions_are_possible_solvers_from_nothing_open_or_rest():
    form = time_stepping(rod(LIFTING), h=0.01)
    assert len(all_motions(form)) == 3
    taken = {name: several.branch(several.answer(form.problem, name)) for name in several.NAMES}
    assert taken == {
        "lemke": several.RESTS, "nsgs": several.OPENS, "newton": several.OPENS, "proximal": several.OPENS,
        "apgd": several.RESTS,
    }  # fmt: skip


@pytest.mark.parametrize("solver", ["lemke", "nsgs", "newton", "proximal"])
def test_what_solvers_call_solved_is_one_of_all_motions(solver):
    """Of random problems, from nothing and from random impulses; a solver may fail, but not invent."""
    rng = np.random.default_rng(3)
    counts = set()
    for _ in range(25):
        problem = several.random_problem(rng)
        motions = all_motions(problem)
        counts.add(len(motions))
        guess = np.column_stack([rng.uniform(0.1, 1.0, several.CONTACTS), np.zeros(several.CONTACTS)]).ravel()
        for p0 in (None, guess):
            found = solve(problem, solver, tol=1e-11, p0=p0)
            if found.success and motions.complete and not any(motion.dimension for motion in motions):
                apart = min(np.abs(found.v - motion.v).max() for motion in motions)
                assert apart < 1e-5, (solver, apart)
    assert {1, 3} <= counts


def test_two_motions_of_the_impulse_problem_follow_the_first_guess():
    """nsgs goes where its first guess leads; Lemke's path and proximal points do not ask for one."""
    form = impulse_velocity(rod())
    rests = np.array([0.3247595, 0.4375])
    assert several.branch(solve(form.problem, "nsgs", tol=1e-10)) == several.OPENS
    assert several.branch(solve(form.problem, "nsgs", tol=1e-10, p0=rests)) == several.RESTS
    assert several.branch(solve(form.problem, "lemke", tol=1e-10, p0=np.zeros(2))) == several.RESTS
    assert set(several.NAMES) < set(SOLVERS)


@pytest.mark.parametrize("phase", [0.1, 0.55, 0.68, 0.9])
def test_the_linearised_step_sends_a_lever_where_the_formula_says(phase):
    run = curved.swing(st.StewartTrinkle(), phase, steps=1)
    start = run.q[0, 0]
    ahead = start - curved.STEP * curved.SPEED
    end = ahead + (np.cos(ahead) - curved.REACH) / np.sin(ahead)
    assert run.q[1, 0] == pytest.approx(end, abs=1e-12)
    assert run.v[1, 0] == pytest.approx((end - start) / curved.STEP, abs=1e-9)


def test_near_the_dead_centre_the_lever_is_thrown_and_the_step_is_marked():
    """1/θ̂ of the prediction: at phase 0.7 it lies 1.5 mrad from the dead centre, and 20 rad/s become 640."""
    run = curved.swing(st.StewartTrinkle(), 0.7, steps=1)
    assert run.v[1, 0] > 30 * curved.SPEED
    assert run.certificate.unexplained == 1
    for scheme in (st.AnitescuHart(), st.Moreau(), st.Stewart()):
        assert np.abs(curved.swing(scheme, 0.7).v[1:]).max() <= curved.SPEED * (1 + 1e-12)


def test_gaps_of_the_random_systems_have_the_gradients_that_they_say():
    rng = np.random.default_rng(0)
    for family in curved.FAMILIES.values():
        system, potential = family(rng)
        state = system.initial_state()
        found = system.detect(0.0, state.q, 1.0)
        assert (system.gaps(found, 0.0, state.q) > 0.0).all()
        assert potential >= 0.0


def test_as_printed_painleves_shock_comes_a_step_late():
    """f(q + h v) = 0 at the start: the printed rule is < 0, so that the rod falls by g h² before anything acts."""
    late, now = (vault(scheme, 0.01) for scheme in (st.Stewart(), st.Moreau()))
    assert (late.table.step[0], now.table.step[0]) == (1, 0)
    assert late.certificate.worst["penetration"] == pytest.approx(1.0 * 0.01**2, rel=1e-6)
    assert late.table.impulse[0, 0] == pytest.approx(now.table.impulse[0, 0], rel=0.05)
