"""Impacts that add energy: seen, refused, or capped."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st


def rod(e=1.0, mu=0.5, slip=0.5):
    """A rod of 1 kg and 1 m at 45° whose lower end comes down at 1 m/s and slides (s00 §1.1).

    W = ((5/2, -3/2), (-3/2, 5/2)). By Newton's law with e = 1 it sticks, p_t = 7/16, and gains ½ p_t slip = 7/64 J.
    """
    a = np.pi / 4

    def tip(q):
        return q[1] - 0.5 * np.sin(a + q[2])

    def along(q):
        return [1.0, 0.0, 0.5 * np.sin(a + q[2])]

    gap = st.Gap(tip, tangents=along, friction=mu, restitution=e, name="tip")
    start = [0.0, 0.5 * np.sin(a), 0.0]
    return st.GeneralizedSystem(np.diag([1, 1, 1 / 12]), q=start, v=[slip, -1.0, 0.0], gaps=[gap])


def gain(run):
    return run.energy.kinetic[-1] - run.energy.kinetic[0]


def simulate(system, **scheme):
    return st.Simulator(system, dt=1e-4, scheme=st.Moreau(**scheme), tol=1e-11).run(2e-4)


def test_newton_gains_and_the_event_says_how_much():
    run = simulate(rod())
    assert gain(run) == pytest.approx(7 / 64, abs=1e-9)
    events = [event for event in run.events if event.kind == "gain"]
    assert len(events) == 1
    assert events[0].contact == "tip"
    assert events[0].energy == pytest.approx(gain(run), rel=1e-6)
    assert "energy" in repr(events[0])


def test_capped_impacts_keep_the_energy_exactly(tmp_path):
    run = simulate(rod(), gains="cap")
    assert gain(run) == pytest.approx(0.0, abs=1e-8)
    run.save(tmp_path / "rod.h5")
    kinds = [[event.kind for event in r.events] for r in (run, st.load(tmp_path / "rod.h5"))]
    assert kinds[0].count("capped") == 1
    assert kinds[0] == kinds[1]


def test_refused_impacts_fail_the_step():
    with pytest.raises(st.SolverError, match="would add") as error:
        simulate(rod(), gains="refuse")
    assert error.value.status is st.Status.GAIN


@pytest.mark.parametrize("law", ["poisson", "stronge"])
@pytest.mark.parametrize("slip", [0.5, -0.5])
def test_poisson_and_stronge_need_no_cap(law, slip):
    free, capped = (simulate(rod(slip=slip), impact=law, gains=g) for g in ("allow", "cap"))
    assert gain(free) <= 1e-12
    assert np.array_equal(free.v, capped.v)
    assert not [event for event in free.events + capped.events if event.energy]


@pytest.mark.parametrize("gains", ["allow", "refuse", "cap"])
def test_impacts_that_lose_are_left_as_they_are(gains):
    """Also where a wall moves: what it brings is no gain of the law."""
    wall = st.Gap(lambda t, q: q[0] - (t - 0.0105), restitution=1.0)
    system = st.GeneralizedSystem([[3.0]], q=[0.0], gaps=[wall])
    run = st.Simulator(system, dt=0.002, scheme=st.Moreau(gains=gains), tol=1e-11).run(0.02)
    assert run.v[-1, 0] == pytest.approx(2.0, abs=1e-9)
    assert not [event for event in run.events if event.energy]


def test_bad_input():
    with pytest.raises(st.ModelError, match="gains"):
        st.Moreau(gains="ignore")
