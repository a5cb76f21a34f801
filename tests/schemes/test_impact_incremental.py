"""Impact at one contact, followed through it."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st
from stiction.schemes.impact.incremental import LAWS, incremental


def random_impact(rng, n):
    A = rng.normal(size=(n, n))
    u = rng.normal(size=n)
    u[0] = -abs(u[0]) - 0.1
    return A @ A.T + 0.05 * np.eye(n), u, rng.uniform(0, 1.5), rng.uniform(0, 1)


def small_steps(W, u, mu, e, law, count):
    """The same impact by many small normal impulses with friction taken implicitly."""
    start, p, work, dp = u[0], 0.0, 0.0, abs(u[0]) / W[0, 0] / count
    compression = compressed = None
    while True:
        slip = u[1:] + W[1:, 0] * dp
        f = np.linalg.solve(W[1:, 1:], -slip)
        if np.linalg.norm(f) > mu * dp:
            low, high = 0.0, np.linalg.norm(slip) / (mu * dp)
            for _ in range(50):  # (W_tt + λ) f = -slip with |f| = mu dp
                middle = 0.5 * (low + high)
                f = np.linalg.solve(W[1:, 1:] + middle * np.eye(len(f)), -slip)
                low, high = (middle, high) if np.linalg.norm(f) > mu * dp else (low, middle)
        new = u + W @ np.concatenate([[dp], f])
        p, work, u = p + dp, work + 0.5 * (u[0] + new[0]) * dp, new
        if compression is None and u[0] >= 0.0:
            compression, compressed = p, work
        if compression is not None:
            ends = {
                "newton": u[0] >= -e * start,
                "poisson": p >= (1 + e) * compression,
                "stronge": work >= (1 - e * e) * compressed,
            }
            if ends[law]:
                return u


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [2, 3])
def test_against_small_steps(law, n):
    rng = np.random.default_rng(n)
    for _ in range(2):
        W, u, mu, e = random_impact(rng, n)
        assert incremental(W, u, mu, e, law).u == pytest.approx(small_steps(W, u, mu, e, law, 500), abs=8e-3)


@pytest.mark.parametrize("law", LAWS)
def test_without_friction_the_laws_agree(law):
    r = incremental(np.array([[2.0]]), np.array([-3.0]), 0.0, 0.6, law)
    assert r.u == pytest.approx([1.8])
    assert r.p == pytest.approx([2.4])


def test_impulse_explains_the_velocity_and_friction_stays_in_its_cone():
    rng = np.random.default_rng(0)
    for i in range(300):
        n = 1 + i % 3
        W, u, mu, e = random_impact(rng, n)
        r = incremental(W, u, mu, e, LAWS[i % 3])
        assert r.u == pytest.approx(u + W @ r.p, abs=1e-9)
        assert np.linalg.norm(r.p[1:]) <= mu * r.p[0] * (1 + 1e-9)


def test_poisson_and_stronge_never_add_energy():
    rng = np.random.default_rng(1)
    for i in range(2000):
        W, u, mu, e = random_impact(rng, 2)
        r = incremental(W, u, mu, e, LAWS[1 + i % 2])
        assert 0.5 * r.p @ (u + r.u) <= 1e-12


def test_newton_can_add_energy():
    """Kinematic restitution knows nothing of the work done: among random impacts some gain (s00 §1.1)."""
    rng = np.random.default_rng(2)
    gain = 0.0
    for _ in range(1000):
        W, u, mu, _ = random_impact(rng, 2)
        r = incremental(W, u, mu, 1.0, "newton")
        gain = max(gain, 0.5 * r.p @ (u + r.u))
    assert gain > 0.01


def test_slip_that_stops_and_reverses_is_seen():
    """W_nt beyond mu W_tt: slip that has stopped starts again the other way."""
    r = incremental(np.array([[2.0, -0.9], [-0.9, 1.0]]), np.array([-1.0, 0.3]), 0.5, 0.5)
    assert r.phases[:2] == ("slip", "reversal")
    assert r.u[1] < 0.0


def test_separating_contact_has_no_impact():
    r = incremental(np.eye(2), np.array([0.5, 1.0]), 0.5, 0.5)
    assert not r.p.any()
    assert r.u == pytest.approx([0.5, 1.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [({"e": 1.5}, "at most 1"), ({"mu": -0.1}, "mu"), ({"law": "energy"}, "law"), ({"W": -np.eye(2)}, "W")],
)
def test_bad_input(change, message):
    given = {"W": np.eye(2), "u": np.array([-1.0, 0.0]), "mu": 0.3, "e": 0.5, "law": "poisson"} | change
    with pytest.raises(st.ModelError, match=message):
        incremental(**given)


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
@pytest.mark.parametrize(("light", "speed"), [(2.0**40, 2.0**10), (2.0**-40, 2.0**-20)])
def test_impact_in_which_slip_turns_sees_no_units(law, light, speed):
    """Of a body of a picogram as of a ton: the integrator's tolerances are not those of a kilogram."""
    W = np.array([[2.0, 0.5, -0.3], [0.5, 3.0, 0.4], [-0.3, 0.4, 2.5]])
    u = np.array([-1.0, 0.7, 0.4])
    one, other = incremental(W, u, 0.3, 0.5, law), incremental(light * W, speed * u, 0.3, 0.5, law)
    np.testing.assert_array_equal(other.p, one.p * speed / light)
    np.testing.assert_array_equal(other.u, one.u * speed)
    assert other.work == one.work * speed**2 / light
