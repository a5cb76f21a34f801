"""A rocking block (Housner, 1963): what an impact leaves of the angular velocity, and when the next impact comes.

A block b wide and H high rocks about its lower corners, mu high, inelastic. With R half its diagonal, tan α = b/H and
p² = 3g/(4R): released at θ₀, it falls onto its base after arccosh(1/(1 - θ₀/α))/p, and the impact leaves 1 - 3/2 sin²α
of the angular velocity, since its moment about the other corner is kept.
"""

import numpy as np
import pytest

import stiction as st

G, WIDTH, HIGH = 9.81, 0.2, 0.8
ALPHA, R = np.arctan2(WIDTH, HIGH), 0.5 * np.hypot(WIDTH, HIGH)
P = np.sqrt(3 * G / (4 * R))
START = 0.4 * ALPHA
KEPT = 1 - 1.5 * np.sin(ALPHA) ** 2
SCHEMES = [st.Moreau(), st.StewartTrinkle(), st.AnitescuHart()]


def rocking(scheme, h, duration, mu=2.0):
    """The block released at START, standing on its lower left corner."""
    world = st.PlanarWorld(gravity=(0, -G))
    floor = world.add_plane(normal=(0, 1), offset=0.0)
    x, y = WIDTH / 2, HIGH / 2
    c, s = np.cos(START), np.sin(START)
    block = world.add_body(
        st.Polygon([(-x, -y), (x, -y), (x, y), (-x, y)]),
        mass=1.0,
        position=(c * x - s * y, s * x + c * y),
        angle=START,
    )
    world.set_contact(block, floor, friction=mu)
    run = st.Simulator(world, dt=h, scheme=scheme, solver="lemke", tol=1e-9).run(duration)
    return run.times, run.angle(block), run.angular_velocity(block), run


def impacts(times, angle, spin):
    """When the block passes upright [s], and the ratio of its angular velocities there, without what gravity does."""
    found = []
    pull = P**2 * np.sin(ALPHA)  # the angular acceleration near upright
    for i in np.flatnonzero(angle[:-1] * angle[1:] < 0):
        t = times[i] - angle[i] * (times[i + 1] - times[i]) / (angle[i + 1] - angle[i])
        before = abs(spin[i - 3]) + pull * (t - times[i - 3])
        after = abs(spin[i + 4]) + pull * (times[i + 4] - t)
        found.append((t, after / before))
    return np.array(found)


def quarter(angle):
    """Housner's quarter period from rest at an angle [s]."""
    return np.arccosh(1 / (1 - angle / ALPHA)) / P


@pytest.mark.parametrize("scheme", SCHEMES)
def test_angular_velocity_that_an_impact_leaves(scheme):
    h = 0.001
    times, angle, spin, run = rocking(scheme, h, 0.32)
    (first, ratio), *_ = impacts(times, angle, spin)
    assert first == pytest.approx(quarter(START), rel=0.01)
    assert ratio == pytest.approx(KEPT, abs=10 * h)  # of first order, by where in the step it falls
    assert run.energy.total.max() <= run.energy.total[0] * (1 + 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("scheme", SCHEMES)
def test_free_rocking_follows_housner(scheme):
    """Each impact leaves the same ratio; the angle shrinks, and the half periods with it."""
    times, angle, spin, _ = rocking(scheme, 0.0005, 1.5)
    found = impacts(times, angle, spin)
    assert found[:3, 1] == pytest.approx(np.full(3, KEPT), abs=0.01)
    top, expected = START, [quarter(START)]
    for _ in range(2):
        top = ALPHA * (1 - np.sqrt(1 - KEPT**2 * (1 - (1 - top / ALPHA) ** 2)))
        expected.append(expected[-1] + 2 * quarter(top))
    assert found[:3, 0] == pytest.approx(np.array(expected), rel=0.012)
    # the highest angle between the first two impacts, from the energy that is left
    between = (times > found[0, 0]) & (times < found[1, 0])
    top = ALPHA * (1 - np.sqrt(1 - KEPT**2 * (1 - (1 - START / ALPHA) ** 2)))
    assert np.abs(angle[between]).max() == pytest.approx(top, rel=0.03)
