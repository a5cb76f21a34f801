"""The experiments of s00 on impact: their quantities are those on record."""

import numpy as np
import pytest

from stiction import Moreau, StewartTrinkle
from stiction.papers import experiment, s00_ball, s00_energy, s00_weak
from stiction.papers.impacts import Exactly, double_pendulum, oblique_rod, three_balls


def off_record(outcome):
    return [(q.name, q.ours, q.record) for q in outcome.quantities if not q.ok]


def test_bounces_pass_through_the_zeno_time():
    for e, h in ((0.5, 0.004), (0.3, 0.002)):
        run = s00_ball.drop([1.0], e, h, s00_ball.zeno_time(e) + 0.1)
        assert s00_ball.rest_time(run) == pytest.approx(s00_ball.zeno_time(e), abs=15 * h)
        assert np.abs(run.v[-1]).max() == 0.0


def test_first_rebound_is_of_first_order():
    errors = [np.abs(s00_ball.apex_errors(h)).max() for h in (0.008, 0.004)]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.long
def test_bouncing_ball_is_on_record():
    outcome = experiment("s00-bouncing-ball").run()
    assert off_record(outcome) == []
    assert list(outcome.figures()) == ["s00-bouncing-ball"]


def test_restitution_against_the_phase_of_the_impact():
    outcome = experiment("s00-random-restitution").run()
    assert off_record(outcome) == []
    assert [q.verdict for q in outcome.quantities].count("differs") == 1  # s00's claim, with eq. 3.10 as printed
    assert list(outcome.figures()) == ["s00-random-restitution"]


def test_billiards_are_on_record():
    outcome = experiment("s00-billiards").run()
    assert off_record(outcome) == []
    assert outcome.certificate["natural_map"] < 1e-8


def test_newton_gains_where_poisson_and_stronge_lose():
    """Kane's pendulum; and a slip that is followed through never gives Poisson or Stronge energy."""
    by = Exactly()
    for mu in (0.5, 1.0):
        in_phases = s00_energy.energies(double_pendulum(mu), 0.5, by)[0]
        assert in_phases[0] > 1.5
        assert (in_phases[1:] < 0.6).all()
    rod = s00_energy.energies(oblique_rod(np.radians(70.0), 0.4, 0.2), 1.0, by)
    assert (rod[:, 0] > 1.01).all()
    assert (rod[1, 1:] < 0.92).all()
    assert by.worst["natural_map"] < 1e-11


@pytest.mark.long
def test_energies_are_on_record():
    for name in ("s00-newton-gains", "s00-poisson-loses"):
        outcome = experiment(name).run()
        assert off_record(outcome) == []
        assert list(outcome.figures()) == [name]


def test_three_balls_lose_by_poisson_what_the_closed_form_says():
    for away in (0.1, 0.5, 0.8, 1.1):
        lost = s00_energy.lost(three_balls(away), Exactly())
        assert lost == pytest.approx(float(s00_energy.closed_form(np.array(away))), abs=1e-13)


def test_poisson_without_friction_loses_only_where_contacts_part():
    rng = np.random.default_rng(5)
    for contacts in (1, 2, 4):
        for _ in range(20):
            assert abs(s00_energy.lost(s00_energy.random_blow(rng, contacts, True), Exactly())) < 1e-9


def test_impulses_converge_weak_star_and_not_in_norm():
    coarse, fine = (s00_weak.measure(h) for h in (0.008, 0.002))
    assert fine.weak.max() < 0.35 * coarse.weak.max()
    for found in (coarse, fine):
        assert found.norm == pytest.approx(np.full(s00_weak.PHASES, 2.0), abs=0.02)
        assert found.jump.max() > 0.49


@pytest.mark.parametrize("scheme", [Moreau(), StewartTrinkle()])
def test_limit_of_theorem_1(scheme):
    """Energy never grows, the landing is inelastic in the limit, and friction keeps its law in every step."""
    found = s00_weak.limit(scheme, (0.008, 0.002))
    assert found.gain.max() <= 1e-12
    assert found.friction.max() <= 1e-12
    assert found.normal[1] <= 0.35 * found.normal[0] + 1e-12
    assert found.study.position_error[1] < 0.35 * found.study.position_error[0]


@pytest.mark.long
def test_weak_star_is_on_record():
    outcome = experiment("s00-weak-star").run()
    assert off_record(outcome) == []
    assert list(outcome.figures()) == ["s00-weak-star"]
