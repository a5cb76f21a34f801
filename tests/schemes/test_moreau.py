"""The velocity-level scheme with restitution: exact ratios, energy, rest, and drift that is projected away."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st
from stiction.problem.laws import Mode

G = 9.81
LAWS = ["newton", "poisson", "stronge"]


def dropped(e, h, duration, impact="newton", height=1.0, mu=0.0, tilt=0.0, **motion):
    """A ball of radius 0.1 m over a plane tilted about y, with its centre `height` above touching."""
    n = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    world = st.World(gravity=tuple(-G * n))
    floor = world.add_plane(normal=tuple(n), offset=0.0)
    ball = world.add_body(st.Sphere(0.1), mass=2.0, position=tuple((0.1 + height) * n), **motion)
    world.set_contact(ball, floor, friction=mu, restitution=e)
    run = st.Simulator(world, dt=h, scheme=st.Moreau(impact=impact), tol=1e-11).run(duration)
    return run.position(ball) @ n - 0.1, run.velocity(ball) @ n, run, ball


def bounces(v):
    """Steps after which the normal velocity has turned upwards."""
    return np.flatnonzero((v[:-1] < 0.0) & (v[1:] > 0.0))


@pytest.mark.parametrize("impact", LAWS)
@pytest.mark.parametrize("e", [0.5, 0.9, 1.0])
def test_every_bounce_has_the_ratio_e(impact, e):
    for h, tilt in ((0.005, 0.0), (0.0037, 0.4)):
        _, v, run, _ = dropped(e, h, 1.5, impact, tilt=tilt)
        k = bounces(v)
        fast = k[-v[k] > 4 * G * h]
        assert len(fast) >= 2
        assert -v[fast + 1] / v[fast] == pytest.approx(np.full(len(fast), e), abs=1e-10)
        assert run.certificate.worst["penetration"] < 1e-12


@pytest.mark.parametrize("impact", LAWS)
def test_spinning_ball_on_a_slope_has_the_ratio_e(impact):
    """Gravity straight down, friction and spin: the normal velocities keep their ratio all the same."""
    n = np.array([np.sin(0.4), 0.0, np.cos(0.4)])
    world = st.World(gravity=(0.0, 0.0, -G))
    slope = world.add_plane(normal=tuple(n), offset=0.0)
    ball = world.add_body(st.Sphere(0.1), mass=2.0, position=tuple(1.1 * n), angular_velocity=(3.0, 40.0, -5.0))
    world.set_contact(ball, slope, friction=0.2, restitution=0.8)
    run = st.Simulator(world, dt=0.0037, scheme=st.Moreau(impact=impact), tol=1e-11).run(1.5)
    v = run.velocity(ball) @ n
    k = bounces(v)
    fast = k[-v[k] > 4 * G * 0.0037]
    assert len(fast) >= 2
    assert -v[fast + 1] / v[fast] == pytest.approx(np.full(len(fast), 0.8), abs=1e-10)


def test_inelastic_ball_stops_and_rests():
    z, v, run, _ = dropped(0.0, 0.005, 1.0)
    assert z[-1] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(v[run.times > 0.6]).max() < 1e-12


@pytest.mark.parametrize("impact", LAWS)
def test_bounces_are_impacts(impact):
    """Whatever the law: one event of impact for every bounce, that slips or sticks as the ball does."""
    _, v, run, _ = dropped(0.8, 0.002, 1.2, impact, mu=0.1, angular_velocity=(0.0, 40.0, 0.0))
    hits = [event for event in run.events if event.kind == "impact"]
    assert [event.step for event in hits] == bounces(v).tolist()
    assert all(event.impulse[0] > 1.0 for event in hits)
    modes = run.table.mode[run.table.impulse[:, 0] > 0]
    assert modes.tolist() == [Mode.SLIP, Mode.STICK]  # 40 rad/s are gone after the second bounce


@pytest.mark.parametrize("impact", LAWS)
def test_modified_energy_of_an_elastic_ball(impact):
    """s00 eq. 3.9–3.13 keep E - ½ h m g v to round-off, so that E swings by O(h) and does not drift (readings)."""
    swing = []
    for h in (0.01, 0.005):
        z, v, _, _ = dropped(1.0, h, 6.0, impact)
        kept = G * z + 0.5 * v**2 - 0.5 * h * G * v
        assert np.abs(kept / kept[0] - 1).max() < 1e-10
        swing.append(np.abs((G * z + 0.5 * v**2) / G - 1).max())
    assert swing[1] == pytest.approx(0.5 * swing[0], rel=0.2)


def test_apex_tends_to_e_squared_with_the_step():
    """The first rebound reaches e² times the height, up to the first order of the step."""
    error = []
    for h in (0.008, 0.004, 0.002, 0.001):
        z, v, _, _ = dropped(0.8, h, 1.0)
        first = bounces(v)[0]
        error.append(abs(z[first + 1 :].max() - 0.64))
        assert error[-1] < 5 * h
    assert error[-1] < 0.5 * error[0]


def test_bounces_end_in_finite_time():
    """The ball rests soon after the Zeno time sqrt(2H/g) (1 + e)/(1 - e)."""
    z, v, run, _ = dropped(0.5, 0.001, 1.6)
    zeno = np.sqrt(2 / G) * 3.0
    assert np.abs(v[run.times > zeno + 0.05]).max() < 1e-12
    assert np.abs(v[(run.times > zeno - 0.1) & (run.times < zeno - 0.05)]).max() > 0.05
    assert z[-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("impact", LAWS)
def test_spinning_ball_takes_friction_at_the_bounce(impact):
    """Sliding through the impact: tangential impulse mu (1 + e) m |v_n|; all three laws agree for a sphere."""
    e, mu, spin = 0.8, 0.1, 40.0
    _, v, run, ball = dropped(e, 0.002, 0.6, impact, mu=mu, angular_velocity=(0.0, spin, 0.0))
    k = bounces(v)[0]
    gain = run.velocity(ball)[k + 1, 0]
    # in the step of the impact the floor also takes up the weight, which slides too
    assert gain == pytest.approx(mu * ((1 + e) * -v[k] + G * 0.002), rel=1e-9)
    lost = 2.0 * gain * 0.1 / (0.4 * 2.0 * 0.1**2)  # though the impact is met while there is a gap left
    assert run.angular_velocity(ball)[k + 1, 1] == pytest.approx(spin - lost, rel=1e-9)


def test_speed_dependent_restitution():
    def e(speed):
        return 0.8 if speed > 4.0 else 0.2

    _, v, _, _ = dropped(e, 0.002, 1.4)
    k = bounces(v)
    assert -v[k[0] + 1] / v[k[0]] == pytest.approx(0.8, abs=1e-10)
    later = [i for i in k if 0.1 < -v[i] < 4.0]
    assert later
    assert [-v[i + 1] / v[i] for i in later] == pytest.approx([0.2] * len(later), abs=1e-10)


def test_gap_functions_bounce_too():
    gap = st.Gap(lambda q: q[0], restitution=0.7)
    system = st.GeneralizedSystem([[1.0]], [-G], q=[1.0], gaps=[gap])
    run = st.Simulator(system, dt=0.003, scheme=st.Moreau(), tol=1e-12).run(1.0)
    v = run.v[:, 0]
    k = bounces(v)[0]
    assert -v[k + 1] / v[k] == pytest.approx(0.7, abs=1e-12)


def test_moving_wall_throws_back():
    """A wall that comes at 1 m/s against a particle at rest, e = 1: it leaves at 2 m/s."""
    gap = st.Gap(lambda t, q: q[0] - (t - 0.1005), restitution=1.0)
    run = st.Simulator(st.GeneralizedSystem([[3.0]], q=[0.0], gaps=[gap]), dt=0.002, scheme=st.Moreau()).run(0.2)
    assert run.v[-1, 0] == pytest.approx(2.0, abs=1e-9)


def test_momentum_of_colliding_spheres():
    world = st.World(gravity=(0, 0, 0))
    a = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0), velocity=(1, 0.2, 0), angular_velocity=(0, 3, 5))
    b = world.add_body(st.Sphere(0.15), mass=2.0, position=(0.4, 0.05, 0.02))
    world.set_contact(a, b, friction=0.3, restitution=0.6)
    run = st.Simulator(world, dt=0.01, scheme=st.Moreau(impact="poisson"), tol=1e-11).run(0.4)
    momentum = run.velocity(a) + 2.0 * run.velocity(b)
    assert momentum[-1] == pytest.approx(momentum[0], abs=1e-12)
    assert np.linalg.norm(run.velocity(b)[-1]) > 0.1


def test_blocks_rest_without_buzzing():
    world = st.World()
    world.add_plane(normal=(0, 0, 1), offset=0.0)
    for i in range(4):
        world.add_body(st.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0.01 * i, 0, 0.05 + 0.1 * i))
    world.set_material("default", friction=0.5, restitution=0.8)
    run = st.Simulator(world, dt=0.005, scheme=st.Moreau(), tol=1e-9).run(0.5)
    assert np.abs(run.v).max() < 1e-7


def test_drift_is_projected_and_booked():
    """A pendulum as a joint at velocity level: its length stays, and the work of the projection is in the books."""
    rod = st.Bilateral(lambda q: np.hypot(q[0], q[1]) - 1.0)
    system = st.GeneralizedSystem(np.eye(2), [0, -G], q=[1.0, 0.0], constraints=[rod])
    run = st.Simulator(system, dt=0.01, scheme=st.Moreau(), tol=1e-11).run(1.0)
    assert np.abs(np.hypot(run.q[:, 0], run.q[:, 1]) - 1.0).max() < 1e-8
    assert abs(run.certificate.worst["energy"]) < 1e-12
    assert np.abs(run.energy.work["stabilisation"]).max() > 1e-6


def test_a_thin_disc_is_projected_all_the_way():
    """It would rather turn than rise, so that one linear displacement reaches far less than it asks for.

    What three of them left was pushed out in every later step: sixteen times the energy after as many steps as here.
    """
    world = st.World()
    world.set_material("default", friction=0.0)
    world.add_plane()
    disc = world.add_body(
        st.Ellipsoid((0.0964384, 0.0853025, 0.000195645)), density=1000.0, position=(0, 0, 0.0388904),
        orientation=(0.06305779, -0.17154084, -0.13326135, 0.9740836), velocity=(-0.92663266, -0.17067029, 0),
        angular_velocity=(-3.54168305, -4.3197023, 7.09486279),
    )  # fmt: skip
    run = st.Simulator(world, dt=0.0176922, scheme=st.Moreau(), tol=1e-10, on_overlap="warn").run(60 * 0.0176922)
    assert run.certificate["penetration"].max() < 1e-9
    assert run.energy.total.max() <= run.energy.total[0] + 1e-12
    assert run.position(disc)[-1, 2] > 0.0


def test_bad_input():
    with pytest.raises(st.ModelError, match="impact"):
        st.Moreau(impact="kinetic")
    with pytest.raises(st.ModelError, match="at most 1"):
        st.Gap(lambda q: q[0], restitution=1.2)
    with pytest.raises(st.ModelError, match="10 m/s"):
        st.Gap(lambda q: q[0], restitution=lambda v: v / 5)


@pytest.mark.parametrize("impact", LAWS)
def test_limits_of_joints_bounce(impact):
    """A slider between two stops: each returns e of the speed, also through a function of it."""
    world = st.World(gravity=(0, 0, 0))
    slider = world.add_body(st.Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0), velocity=(1.0, 0, 0))
    world.add_joint(
        st.Prismatic(slider, None, axis=(1, 0, 0), limits=(-0.2, 0.2), restitution=lambda v: 0.5 if v > 0.8 else 1.0)
    )
    run = st.Simulator(world, dt=0.007, scheme=st.Moreau(impact=impact), tol=1e-11).run(1.5)
    v, x = run.velocity(slider)[:, 0], run.position(slider)[:, 0]
    assert np.unique(np.round(v, 9)).tolist() == [-0.5, 0.5, 1.0]
    assert np.abs(x).max() <= 0.2 + 1e-12
    with pytest.raises(st.ModelError, match="restitution"):
        st.Simulator(world, dt=0.007)


def test_a_pendulum_against_a_stop():
    """Dropped from the horizontal onto a stop at the lowest point, e = 0.5: it rises to a quarter of the height."""
    world = st.World()
    bob = world.add_body(st.Sphere(0.01), mass=1.0, position=(1.0, 0, 0))
    hinge = st.Revolute(bob, None, anchor=(0, 0, 0), axis=(0, 1, 0), limits=(None, np.pi / 2), restitution=0.5)
    joint = world.add_joint(hinge)
    run = st.Simulator(world, dt=0.001, scheme=st.Moreau(), tol=1e-10).run(1.2)
    speed = run.joint(joint).speed
    k = int(np.flatnonzero((speed[:-1] > 0.5) & (speed[1:] < 0.0))[0])
    assert -speed[k + 1] / speed[k] == pytest.approx(0.5, abs=1e-9)
    rise = run.position(bob)[k + 1 :, 2].max() + 1.0
    assert rise == pytest.approx(0.25, abs=0.01)


def test_mass_at_the_new_configuration():
    """s00 eq. 3.9: M(q⁺) (v⁺ - v) = h k(q, v), here with M = 1 + q² and q⁺ = q + h v⁺."""
    h, q, v = 0.05, 1.0, 2.0
    system = st.GeneralizedSystem(lambda x: np.array([[1.0 + x[0] ** 2]]), lambda t, x, w: -3.0 * x, q=[q], v=[v])
    new = st.Simulator(system, dt=h, scheme=st.Moreau(mass="new")).step().state
    assert new.q[0] == pytest.approx(q + h * new.v[0], abs=1e-14)
    assert (1.0 + new.q[0] ** 2) * (new.v[0] - v) == pytest.approx(-3.0 * h * q, abs=1e-10)
    old = st.Simulator(system, dt=h, scheme=st.Moreau()).step().state
    assert (1.0 + q**2) * (old.v[0] - v) == pytest.approx(-3.0 * h * q, abs=1e-12)
