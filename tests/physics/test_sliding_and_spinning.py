"""Bodies that slide and spin on many contacts: both motions stop together, in a ratio that the pressure decides."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

import stiction as st

_SPEC = importlib.util.spec_from_file_location("sliding_coin", Path(__file__).parents[2] / "examples/sliding_coin.py")
coin = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(coin)


def rim_friction(ratio):
    """Force and moment (over mu m g and mu m g R) of a ring that slides with v/(R w) = ratio, by elliptic integrals.

    The mean of |ratio + exp(iφ)| over the ring is (2/π)(1 + ratio) E(m) with m = 4 ratio/(1 + ratio)²; force and moment
    are its derivatives with respect to v and R w.
    """
    e, m = ratio, 4 * ratio / (1 + ratio) ** 2
    mean = 2 / np.pi * (1 + e) * ellipe(m)
    force = ((1 + e) * ellipe(m) - (1 - e) * ellipk(m)) / (np.pi * e)
    return force, mean - e * force


def disk_friction(ratio):
    """The same of a disk under even pressure: rings of radius s with weight 2 s ds."""
    force = quad(lambda s: 2 * s * rim_friction(ratio / s)[0], 0, 1, points=[ratio], limit=200)[0]
    moment = quad(lambda s: 2 * s * s * rim_friction(ratio / s)[1], 0, 1, points=[ratio], limit=200)[0]
    return force, moment


def test_closed_form_of_a_ring_is_the_limit_of_many_spots():
    angle = 2 * np.pi * (np.arange(20000) + 0.5) / 20000
    for ratio in (0.3, 0.8, 1.7):
        slip = np.column_stack([ratio - np.sin(angle), np.cos(angle)])
        way = slip / np.linalg.norm(slip, axis=1)[:, None]
        moment = np.cos(angle) * way[:, 1] - np.sin(angle) * way[:, 0]
        np.testing.assert_allclose(rim_friction(ratio), (way[:, 0].mean(), moment.mean()), atol=1e-6)


def test_the_limit_of_a_uniform_disk_is_0_653():
    """Where v and R w fall in proportion: (force/m)/v = (moment R/I)/(w R), with I = m R²/2."""

    def unequal(ratio):
        force, moment = disk_friction(ratio)
        return force / ratio - 2 * moment

    assert brentq(unequal, 0.5, 0.9, xtol=1e-8) == pytest.approx(0.653, abs=5e-4)


@pytest.mark.parametrize("start", coin.STARTS)
@pytest.mark.parametrize("spots", [12, 24])
def test_a_hoop_ends_pivoting_about_a_point_of_its_rim(spots, start):
    history = coin.slow_down(*coin.hoop(spots), *start)
    assert history[-1, 2] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("start", coin.STARTS)
@pytest.mark.parametrize(("name", "body"), [("hoop", coin.hoop(24)), ("coin", coin.coin(2))])
def test_slide_and_spin_stop_in_the_same_step(name, body, start):
    v, rim = start
    h = 0.005
    sim = st.Simulator(coin.sliding(*body, np.zeros(3), [v, 0.0, rim / coin.RADIUS]), h, scheme=st.AnitescuHart())
    slide, spin = v, rim
    for _ in range(200):
        before = slide, spin
        sim.step()
        slide, spin = np.hypot(*sim.state.v[:2]), coin.RADIUS * abs(sim.state.v[2])
        if min(slide, spin) < 1e-6:
            break
    assert max(slide, spin) < 1e-6
    # both moved until then; friction takes at most mu g h from v in a step, and twice that from R w of a disk
    assert before[0] <= coin.MU * coin.G * h * 1.001
    assert before[1] <= 2 * coin.MU * coin.G * h * 1.001


def test_a_ring_slows_as_the_elliptic_integrals_say():
    """One short step from v/(R w) = 2: the impulse and moment of 96 spots are those of a ring."""
    h, v, rim = 1e-4, 2.0, 1.0
    spots, inertia = coin.hoop(96)
    sim = st.Simulator(
        coin.sliding(spots, inertia, np.zeros(3), [v, 0.0, rim / coin.RADIUS]), h, scheme=st.AnitescuHart()
    )
    sim.step()
    force, moment = rim_friction(2.0)
    slide, spin = sim.state.v[0], coin.RADIUS * sim.state.v[2]
    assert (v - slide) / (coin.MU * coin.G * h) == pytest.approx(force, abs=1e-3)
    assert (rim - spin) / (coin.MU * coin.G * h) == pytest.approx(moment, abs=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("start", [coin.STARTS[0], coin.STARTS[2]])
@pytest.mark.parametrize(("rings", "near"), [(3, 0.04), (4, 0.02), (6, 0.01), (8, 0.01)])
def test_a_coin_ends_in_the_ratio_of_a_disk(rings, near, start):
    """54 to 384 spots; the step matters only for how long the ratio takes to settle, since it is kept by the scheme."""
    history = coin.slow_down(*coin.coin(rings), *start)
    assert history[-1, 2] == pytest.approx(0.653, abs=near)
