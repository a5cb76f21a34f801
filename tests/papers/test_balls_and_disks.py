"""The balls of st96 and the disks of ah03: their quantities are those on record."""

import numpy as np
import pytest

from stiction.papers import ah03_disks, experiment, st96_balls


def by_name(outcome, start):
    return next(q for q in outcome.quantities if q.name.startswith(start))


def test_two_balls():
    outcome = experiment("st96-balls-two").run()
    assert [q.name for q in outcome.quantities if not q.ok] == []


@pytest.fixture(scope="module")
def four():
    return experiment("st96-balls-four").run()


def test_four_balls_are_those_on_record(four):
    assert [q.name for q in four.quantities if not q.ok] == []


def test_table_1_within_five_percent_and_variations_within_a_thousandth(four):
    for h, (velocity, position, variation) in st96_balls.TABLE.items():
        assert by_name(four, f"velocity variation, h = {h:g} s").ours == pytest.approx(float(variation), rel=1e-3)
        if h >= 0.005:
            assert by_name(four, f"velocity error, h = {h:g} s").ours == pytest.approx(float(velocity), rel=0.05)
            assert by_name(four, f"position error, h = {h:g} s").ours == pytest.approx(float(position), rel=0.05)


def test_another_g_comes_nearer_to_table_1(four):
    assert by_name(four, "g = 9.82 m/s²").ours < 0.0105
    off = [q.ours / q.value - 1 for q in four.quantities if q.name.startswith(("velocity error", "position error"))]
    assert 0.1 < np.abs(off).max() < 0.12  # at 9.81, the default


def test_impulses_of_figure_6(four):
    for claim in ("friction lifts the thrown", "the table pushes", "the table's friction", "the second ball spins"):
        assert by_name(four, claim).verdict == "reproduced"
    assert by_name(four, "largest LCP").ours == 70


@pytest.mark.long
def test_disks_are_those_on_record():
    outcome = experiment("ah03-disks").run()
    assert [q.name for q in outcome.quantities if not q.ok] == []
    assert by_name(outcome, "disks on the table").ours == 21
    assert by_name(outcome, "infeasibility at the end, stabilised").ours < 1e-6
    assert by_name(outcome, "infeasibility at the end, unstabilised").ours > 1e-3
    # its overlap may be as deep as that of a disk that falls through eps in a step: which phase it hits in decides
    assert by_name(outcome, "step of a penalty").ours < ah03_disks.STEP / 10


def test_the_pile_starts_without_overlap():
    places = ah03_disks.pile()
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(21, 1)] - 2 * ah03_disks.RADIUS
    assert gaps.min() >= 0
    assert (gaps < 1e-4).sum() == 45  # the contacts of the cannonball arrangement


@pytest.mark.long
def test_claims_of_ah03_hold():
    outcome = experiment("ah03-claims").run()
    assert [q.name for q in outcome.quantities if not q.ok] == []
    for claim in ("order of the joint drift", "order of the infeasibility in h", "order of the infeasibility in v"):
        assert by_name(outcome, claim).verdict == "reproduced"
