"""Convergence studies: norms against hand computation, orders, weak* limits, and the scaling of impulses."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import compare, convergence

STEPS = (0.02, 0.01, 0.005, 0.0025, 0.00125)


def particle(height=1.0, velocity=0.0, forces=(-9.81,), **options):
    gap = st.Gap(lambda q: q[0], lambda q: np.array([1.0]), name="floor")
    return st.GeneralizedSystem([[1.0]], np.array(forces), q=[height], v=[velocity], gaps=[gap], **options)


def fall(t, g=9.81):
    return np.array([1.0 - 0.5 * g * t * t]), np.array([-g * t])


def test_free_fall_converges_at_first_order_with_the_known_error():
    """Implicit Euler: v is exact at step ends, so ∫|v_h - v| = g h T / 2, and q is late by g h T / 2."""
    study = convergence(particle, STEPS, 0.4, exact=fall)
    np.testing.assert_allclose(study.velocity_error, 9.81 * study.steps * 0.4 / 2, rtol=1e-9)
    np.testing.assert_allclose(study.position_error, 9.81 * study.steps * 0.4 / 2, rtol=1e-9)
    assert study.order("velocity_error") == pytest.approx(1.0, abs=1e-6)


def test_errors_against_the_finest_run_by_hand():
    coarse = st.Simulator(particle(height=5.0), 0.2).run(0.4)
    fine = st.Simulator(particle(height=5.0), 0.1).run(0.4)
    study = compare([coarse, fine])
    g = 9.81
    # v: coarse (.2g, .4g), fine (.1g, .2g, .3g, .4g); differ by .1g on the first half of each coarse step
    assert study.velocity_error[0] == pytest.approx(2 * 0.1 * 0.1 * g)
    assert study.position_error[0] == pytest.approx(0.02 * g)
    assert study.velocity_variation[0] == pytest.approx(0.4 * g)
    assert np.isnan(study.velocity_error[1])


def test_an_impact_is_impulsive_and_its_impulse_converges_weakly():
    """A ball dropped from 1 m meets the floor at sqrt(2/g) with m sqrt(2 g); afterwards it rests with force m g."""
    study = convergence(particle, STEPS, 1.0)
    impact = study.scalings[0]
    assert impact.kind == "impulsive"
    assert abs(impact.exponent) < 0.1
    t, p, g = np.sqrt(2 / 9.81), np.sqrt(2 * 9.81), 9.81
    total = study.weak["floor"][:, study.tests.index("1")]
    moment = study.weak["floor"][:, study.tests.index("t")]
    np.testing.assert_allclose(total[-1], p + g * (1 - t), rtol=1e-2)
    np.testing.assert_allclose(moment[-1], p * t + g * (1 - t**2) / 2, rtol=1e-2)
    error = study.weak_error("floor")
    assert error[-1] < error[0] / 4


def test_a_resting_contact_is_a_finite_force():
    study = convergence(lambda: particle(height=0.0), STEPS, 0.5)
    assert {s.kind for s in study.scalings} == {"finite force"}
    assert study.scalings[0].exponent == pytest.approx(1.0, abs=1e-6)


def test_a_force_that_grows_like_an_inverse_root_is_in_between():
    """st96 §2: forces like 1/sqrt|t| are neither finite nor impulsive; pressed by one, p ~ h^(1/2)."""
    switch = 0.36  # the start of a step for every h; forces are taken at midpoints

    def force(t, q, v):
        return np.array([-1.0 / np.sqrt(t - switch)]) if t > switch + 1e-9 else np.zeros(1)

    def pressed():
        return st.GeneralizedSystem([[1.0]], force, q=[0.0], gaps=[st.Gap(lambda q: q[0], name="floor")])

    study = convergence(pressed, [0.02 / 4**k for k in range(5)], 0.6)
    assert [s.kind for s in study.scalings] == ["in between"]
    assert study.scalings[0].exponent == pytest.approx(0.5, abs=0.02)


def test_table_and_figure(tmp_path):
    study = convergence(particle, STEPS, 1.0)
    text = str(study)
    assert "velocity error" in text
    assert "impulsive" in text
    study.plot(path=tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 5000


@pytest.mark.parametrize("steps", [[0.01], [0.01, 0.01], [0.01, -0.01], [0.01, float("nan")]])
def test_bad_steps_are_refused(steps):
    with pytest.raises(st.ModelError, match="steps"):
        convergence(particle, steps, 0.1)
