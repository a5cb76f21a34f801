"""Impacts with friction that are found before touching: their spin does not depend on when in the step they are.

A ball that slides through an impact receives the tangential impulse µ (1 + e) m v_n at its surface, so that R ω is
m R²/I times µ (1 + e) v_n: 5/2 for a ball, 2 for a disk.
"""

import numpy as np
import pytest

import stiction as st

H, MU = 0.004, 0.25
FALL, ALONG = 2.0, 5.0  # m/s: h FALL is 8 mm
GAPS = [0.0, 0.003, 0.0079]  # m: the impact at the beginning, within and at the end of the first step


def thrown(dim, radius, gap, e, floor):
    """A ball or disk thrown flat at a floor that is fixed or prescribed, and its spin after some steps."""
    world = st.World(gravity=(0, 0, 0)) if dim == 3 else st.PlanarWorld(gravity=(0, 0))
    world.set_material("default", friction=MU, restitution=e)
    shape = st.Sphere(radius) if dim == 3 else st.Disk(radius)
    side = (0.0,) * (dim - 2)
    if floor == "fixed":
        world.add_plane()
    else:
        belt = st.Box((6.0, 1.0, 0.2)) if dim == 3 else st.Polygon([(-3, -0.1), (3, -0.1), (3, 0.1), (-3, 0.1)])
        world.add_body(belt, kind="kinematic", position=(0, *side, -0.1), velocity=(-1.0, *side, 0.0))
    world.add_body(
        shape, mass=2.0, position=(0, *side, radius + max(gap, 0.0)), velocity=(ALONG, *side, -FALL), name="ball"
    )
    return world


def spin(sim, dim, steps=4):
    for _ in range(steps):
        sim.step()
    return sim.state.v[-2] if dim == 3 else -sim.state.v[-1]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("gap", [*GAPS, -1e-4])
@pytest.mark.parametrize("e", [0.0, 0.6])
@pytest.mark.parametrize("floor", ["fixed", "prescribed"])
def test_spin_of_an_impact_does_not_depend_on_its_moment(dim, gap, e, floor):
    radius = 0.02
    sim = st.Simulator(thrown(dim, radius, gap, e, floor), H, scheme=st.Moreau(), tol=1e-10)
    if gap < 0.0:  # an overlap
        state = sim.state
        state.q[-5 if dim == 3 else -2] += gap
        sim.start_from(state)
    exact = (2.5 if dim == 3 else 2.0) * MU * (1 + e) * FALL / radius
    assert spin(sim, dim) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("gap", GAPS)
def test_spin_of_an_inelastic_impact_in_two_steps(dim, gap):
    """Stabilised rows let the ball come to the floor in the first step and take the rest of its fall in the second."""
    radius = 0.02
    sim = st.Simulator(thrown(dim, radius, gap, 0.0, "fixed"), H, scheme=st.AnitescuHart(), tol=1e-10)
    assert spin(sim, dim) == pytest.approx((2.5 if dim == 3 else 2.0) * MU * FALL / radius, rel=1e-8)


@pytest.mark.parametrize("gap", GAPS)
def test_ball_on_a_turning_drum_takes_the_speed_of_its_surface(gap):
    """Sticking, v + R ω is the surface speed Ω D of the drum: v = 2/7 Ω D, whatever the gap at which it is found."""
    radius, drum, rate = 0.02, 0.05, 30.0
    world = st.World(gravity=(0, 0, 0))
    world.set_material("default", friction=3.0)
    world.add_body(st.Sphere(drum), kind="kinematic", position=(0, 0, -drum), angular_velocity=(0, rate, 0))
    world.add_body(st.Sphere(radius), mass=0.3, position=(0, 0, radius + gap), velocity=(0, 0, -FALL))
    sim = st.Simulator(world, H, scheme=st.Moreau(), tol=1e-10)
    spun = spin(sim, 3, 2)
    assert sim.state.v[-6] == pytest.approx(2 / 7 * rate * drum, rel=1e-8)
    assert sim.state.v[-6] - spun * radius == pytest.approx(rate * drum, rel=1e-8)


@pytest.mark.parametrize("scheme", [st.Moreau(), st.AnitescuHart()], ids=["Moreau", "AnitescuHart"])
@pytest.mark.parametrize("dim", [2, 3])
def test_two_rough_balls_keep_their_angular_momentum(scheme, dim):
    """Friction between bodies that both move acts at one point: also where they are found before they touch."""
    world = st.World(gravity=(0, 0, 0)) if dim == 3 else st.PlanarWorld(gravity=(0, 0))
    world.set_material("default", friction=0.7, restitution=0.0 if isinstance(scheme, st.AnitescuHart) else 0.5)
    for place, speed, turn, mass in (((0, 0, 0), (1.5, 0.3, 0.2), (3, -8, 5), 2.0), ((0.105, 0.03, 0.02), (-1, 0.5, 0), (-20, 4, 9), 0.7)):  # fmt: skip  # noqa: E501
        if dim == 3:
            world.add_body(st.Sphere(0.05), mass=mass, position=place, velocity=speed, angular_velocity=turn)
        else:
            world.add_body(
                st.Disk(0.05), mass=mass, position=place[:2], velocity=speed[:2], angular_velocity=float(turn[0])
            )
    sim = st.Simulator(world, 0.003, scheme=scheme, tol=1e-10)

    def angular_momentum():
        q = sim.state.q.reshape(3, -1)[1:, :dim]
        v, total = sim.state.v.reshape(3, -1)[1:], 0.0
        for x, (mass, inertia), rate in zip(q, ((2.0, 2.0), (0.7, 0.7)), v):
            share = (0.4 if dim == 3 else 0.5) * 0.05**2 * inertia
            arm = np.cross(x, rate[:3]) if dim == 3 else x[0] * rate[1] - x[1] * rate[0]
            total = total + mass * arm + share * rate[dim:]
        return total

    before, speeds = angular_momentum(), sim.state.v.copy()
    for _ in range(8):
        sim.step()
        np.testing.assert_allclose(angular_momentum(), before, atol=1e-12)
    assert np.abs(sim.state.v - speeds).max() > 1.0  # they have met
