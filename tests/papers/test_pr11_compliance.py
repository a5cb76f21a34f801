"""pr11 §5 and §6: contacts that give way in the stiff limit, against closed forms; quantities are those on record."""

import math

import numpy as np
import pytest

import stiction as st
from stiction.papers import experiment, pr11_compliance, pr11_hammer, pr11_table, s00_painleve
from stiction.papers.pr11_rod import LIFTING, rod
from stiction.papers.pr11_shock import Shock


def test_the_shock_in_closed_form():
    shock = Shock()
    np.testing.assert_allclose(shock.rest, [0.3248, 0.4375], atol=5e-5)  # pr11 §3.1
    assert shock.dynamic == pytest.approx(7.5545, abs=5e-5)  # pr11 §2.2
    # without damping the spring gives back all it has taken: energy before and after slip ends
    thrown = shock.P * math.sqrt(-shock.A * (shock.S - shock.A))
    assert shock.rebound(0.0) == pytest.approx(thrown, rel=1e-12)
    rebounds = [shock.rebound(c) for c in (0.0, 0.5, 1.8027, 1.8029, 5.0, 50.0, 500.0)]
    assert rebounds == sorted(rebounds, reverse=True)
    # a strong damper takes the whole impulse: gamma_n depth = Λ₂
    assert rebounds[-1] == pytest.approx(math.sqrt(shock.S) * shock.rest[0] / 500.0, rel=1e-3)


@pytest.mark.parametrize("c", [0.0, 2.0])
def test_integrals_go_to_the_limit_of_their_damping(c):
    errors = []
    for kn in (1e6, 1e8):
        one = pr11_compliance.until_open(rod(), pr11_compliance.ratio(c, kn), 40.0 / math.sqrt(kn))
        errors.append(np.abs(one.impulse - Shock().limit(c)).max())
    assert errors[1] < 0.2 * errors[0] < 5e-3


def test_the_second_case_opens_or_jams():
    scheme = pr11_compliance.equal(1e5)
    opens, jams = (
        pr11_compliance.integral(rod(LIFTING, gap=-load / 1e5), scheme, 0.1).impulse[0] for load in (7.0, 8.0)
    )
    assert opens < 0.15 < 0.3 < jams


@pytest.mark.parametrize("stiff", [False, True])
def test_compliance_leaves_one_solution_of_a_step_only_if_it_is_soft(stiff):
    """The three solutions of pr11 §4.2 are one where C exceeds |A|: where h (h kn + gamma_n) < 1/|A|."""
    h, shock = 0.01, Shock()
    kn = (1.5 if stiff else 0.5) / (-shock.A * h**2)
    system = rod(LIFTING)
    problem = st.AnitescuHart().probe(system, system.initial_state(), h)
    soft = problem.replace(C=np.array([1.0 / (h * h * kn), 0.0]))
    lcp = soft.to_lcp(2)
    found = [soft.certify(lcp.impulses(z)) and lcp.impulses(z) for z in st.lcp.solutions(lcp.M, lcp.q)]
    distinct = {tuple(np.round(p, 9).tolist()) for p in found}
    assert len(distinct) == (3 if stiff else 1)


def test_legs_that_give_way_choose_one_way_down_the_ramp():
    """Rigid legs leave the friction open, and Lemke takes an end of its range; legs that give way do not."""
    rigid = [pr11_table.loads(solver)[1] for solver in ("lemke", "newton")]
    assert all(pr11_table.RANGE[0] - 1e-9 <= friction <= pr11_table.RANGE[1] + 1e-9 for friction in rigid)
    assert rigid[0] - rigid[1] > 0.5
    for solver in ("lemke", "newton", "proximal"):
        errors = [pr11_table.ELASTIC - pr11_table.loads(solver, c)[1] for c in (1e-8, 1e-9)]
        assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.02)
    loads, friction = pr11_table.settled()
    assert friction == pytest.approx(pr11_table.ELASTIC, rel=1e-4)
    np.testing.assert_allclose(loads, pr11_table.loads("lemke", 1e-10)[0], rtol=1e-3)


def test_the_hammer_between_its_two_limits():
    rigid, hinged = pr11_hammer.complementarity(True), pr11_hammer.complementarity(False)
    np.testing.assert_allclose(rigid[0], [0.0, 10.0 / 7.0], atol=1e-12)
    np.testing.assert_allclose(hinged[0], [0.25, 1.5], atol=1e-12)
    soft, stiff = pr11_hammer.run(1e-4, 4), pr11_hammer.run(1e4, 4)
    assert soft.impulse[0] > 0.25
    assert soft.velocity[0] > 1.0
    assert 0.0 < stiff.impulse[0] < 0.002
    assert stiff.impulse[1] == pytest.approx(10.0 / 7.0 * (1.0 + pr11_hammer.restitution()), rel=1e-3)


def test_the_rod_takes_an_impulse_without_impact():
    run = s00_painleve.simulate("AnitescuHart", 0.01, 0.2)
    np.testing.assert_allclose(s00_painleve.first_impulse(run), [0.3329, 0.4407], atol=5e-5)  # pr11 §4.1
    assert run.q[-1, 2] == pytest.approx(s00_painleve.pendulum(run.times)[-1], abs=2e-3)
    assert np.diff(run.energy.total).max() < 0.0


@pytest.mark.long
@pytest.mark.parametrize("name", ["pr11-compliance", "pr11-hammer", "s00-painleve"])
def test_quantities_are_those_on_record(name):
    outcome = experiment(name).run()
    assert [q.name for q in outcome.quantities if not q.ok] == []
    assert outcome.certificate["energy"] < 1e-4
    assert name in outcome.figures()
