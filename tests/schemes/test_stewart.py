"""The survey's scheme as printed: the sequence worked out by hand, exact ratios, friction, dissipation, drift."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st
from stiction.scene import parse_scene

G = 9.81


def particle(e=0.0, mu=0.0, tilt=0.0, height=0.0, v=(0.0, 0.0), mass=2.0):
    """A particle over a plane; x along the plane and y away from it, gravity turned by `tilt`."""
    table = st.Gap(
        lambda q: q[1], lambda q: np.array([0.0, 1.0]), lambda q: np.array([1.0, 0.0]), st.Coulomb(mu), restitution=e
    )
    weight = mass * G * np.array([np.sin(tilt), -np.cos(tilt)])
    return st.GeneralizedSystem(mass * np.eye(2), weight, q=[0.0, height], v=v, gaps=[table])


def by_hand(e, mu, tilt, height, v, h, n):
    """s00 eq. 3.9–3.13 for a particle on a plane, written out."""
    x, y, (vx, vy) = 0.0, height, v
    out = [(x, y, vx, vy)]
    for _ in range(n):
        free_x, free_y = vx + h * G * np.sin(tilt), vy - h * G * np.cos(tilt)
        if y + h * vy < 0.0:
            push = max(0.0, -e * vy - free_y)
            vy = free_y + push
            vx = free_x - np.clip(free_x, -mu * push, mu * push)
        else:
            vx, vy = free_x, free_y
        x, y = x + h * vx, y + h * vy
        out.append((x, y, vx, vy))
    return np.array(out)


@pytest.mark.parametrize(("e", "mu", "tilt"), [(0.0, 0.0, 0.0), (0.8, 0.1, 0.0), (1.0, 0.3, 0.2), (0.0, 0.5, 0.3)])
def test_steps_are_those_worked_out_by_hand(e, mu, tilt):
    h, v = 0.004, (0.7, -0.2)
    run = st.Simulator(particle(e, mu, tilt, 0.3, v), h, scheme=st.Stewart(), solver="lemke", tol=1e-13).run(1.2)
    expected = by_hand(e, mu, tilt, 0.3, v, h, len(run) - 1)
    assert np.abs(np.hstack([run.q, run.v]) - expected).max() < 1e-12
    assert run.certificate.worst["natural_map"] < 1e-12
    assert abs(run.certificate.worst["energy"]) < 1e-12


@pytest.mark.parametrize("e", [0.3, 0.9])
def test_every_approach_bounces_with_the_ratio_e_however_slow(e):
    h = 0.005
    run = st.Simulator(particle(e, height=0.2), h, scheme=st.Stewart(), solver="lemke", tol=1e-13).run(4.0)
    y, v = run.q[:, 1], run.v[:, 1]
    closing = (y[:-1] + h * v[:-1] < 0.0) & (v[:-1] < -1e-3 * G * h)
    assert closing.sum() > 5
    assert -v[1:][closing] / v[:-1][closing] == pytest.approx(np.full(closing.sum(), e), abs=1e-11)
    assert np.abs(v[:-1][closing]).min() < 1.1 * G * h  # `Moreau` takes what is slower than 2 g h for rest


@pytest.mark.parametrize("e", [0.5, 0.9])
def test_a_ball_rests_after_bounces_slower_than_a_step_makes_and_below_the_floor(e):
    h = 0.005
    run = st.Simulator(particle(e, height=0.02), h, scheme=st.Stewart(), solver="lemke", tol=1e-13).run(3.0)
    zeno = np.sqrt(2 * 0.02 / G) * (1 + e) / (1 - e)
    assert np.abs(run.v[run.times > 2.0 * zeno + 10 * h]).max() < 1e-6 * G * h
    assert np.abs(run.v[run.times < 1.5 * zeno][-20:]).max() > 1e-3 * G * h
    assert -G * h * h <= run.q[-1, 1] < 0.0


def test_what_overlaps_and_parts_may_slow_down_but_not_turn():
    """Eq. 3.11 bounds contacts that part, too: v⁺ >= -e v, here with a weight that would turn v within the step."""
    h, v = 0.01, 0.05
    for e in (0.0, 0.5):
        deep = particle(e, height=-0.001, v=(0.0, v))
        with pytest.warns(st.OverlapWarning):
            simulator = st.Simulator(deep, h, scheme=st.Stewart(), tol=1e-13, on_overlap="warn")
        run = simulator.run(h)
        assert run.v[1, 1] == pytest.approx(max(v - G * h, -e * v), abs=1e-12)


def test_inelastic_particle_sinks_in_by_at_most_g_h_squared_and_rests():
    h = 0.01
    for height in (0.1, 0.1037, 0.0):
        run = st.Simulator(particle(height=height), h, scheme=st.Stewart(), solver="lemke", tol=1e-13).run(0.6)
        assert -G * h * h * (1 + 1e-12) <= run.q[-1, 1] < 0.0
        assert run.v[-1, 1] == pytest.approx(0.0, abs=1e-14)
        assert run.certificate.worst["penetration"] == pytest.approx(-run.q[-1, 1], abs=1e-15)
    assert run.q[-1, 1] == pytest.approx(-G * h * h)  # from rest on the table: free in the first step, then held


def test_energy_never_rises_without_restitution():
    """Σ over a step: ½ Δvᵀ M Δv is lost, and the contact gives nothing (the argument of st96 §3.3)."""
    run = st.Simulator(particle(0.0, 0.2, 0.1, 0.4, (1.0, -1.0)), 0.005, scheme=st.Stewart(), tol=1e-12).run(1.0)
    lost = 0.5 * 2.0 * (np.diff(run.v, axis=0) ** 2).sum(axis=1)
    assert (np.diff(run.energy.total) <= -lost + 1e-12).all()


def test_modified_energy_of_an_elastic_particle():
    """Contact by contact with e = 1, E - ½ h m g v is kept to round-off (readings of s00)."""
    h = 0.01
    run = st.Simulator(particle(1.0, height=1.0), h, scheme=st.Stewart(), solver="lemke", tol=1e-13).run(5.0)
    kept = G * run.q[:, 1] + 0.5 * run.v[:, 1] ** 2 - 0.5 * h * G * run.v[:, 1]
    assert np.abs(kept / kept[0] - 1).max() < 1e-10


def slope(mu, tilt, planar, e=0.0):
    world = st.PlanarWorld(gravity=(G * np.sin(tilt), -G * np.cos(tilt))) if planar else st.World(
        gravity=(G * np.sin(tilt), 0.0, -G * np.cos(tilt))
    )  # fmt: skip
    if planar:
        world.add_plane(normal=(0, 1), offset=0.0)
        corners = [(-0.3, -0.1), (0.3, -0.1), (0.3, 0.1), (-0.3, 0.1)]
        world.add_body(st.Polygon(corners), mass=1.0, position=(0, 0.1), name="box")
    else:
        world.add_plane(normal=(0, 0, 1), offset=0.0)
        world.add_body(st.Box((0.6, 0.4, 0.2)), mass=1.0, position=(0, 0, 0.1), name="box")
    world.set_material("default", friction=mu, restitution=e)
    return world


@pytest.mark.parametrize("planar", [True, False])
def test_box_on_a_slope_sticks_or_slides(planar):
    """Below the cone it stays to round-off once it has sunk in; above, it slides with g (sin α - mu cos α)."""
    h, tilt = 0.005, 0.3
    for mu in (0.5, 0.2):
        run = st.Simulator(slope(mu, tilt, planar), h, scheme=st.Stewart(), tol=1e-11).run(0.5)
        speed = run.velocity("box")[:, 0]
        rate = np.diff(speed[5:]) / h
        expected = 0.0 if mu == 0.5 else G * (np.sin(tilt) - mu * np.cos(tilt))
        assert rate == pytest.approx(np.full(len(rate), expected), abs=1e-7)
        assert run.certificate.worst["penetration"] == pytest.approx(G * np.cos(tilt) * h * h, rel=1e-6)
        assert run.success


def test_impacts_in_space_agree_with_moreau():
    """A spinning ball: the step of the impact is the same in both, up to the weight of one step."""
    h, found = 0.002, []
    for scheme in (st.Stewart(directions=None), st.Moreau()):
        world = st.World()
        floor = world.add_plane()
        ball = world.add_body(st.Sphere(0.1), mass=2.0, position=(0, 0, 1.1), angular_velocity=(0, 40.0, 3.0))
        world.set_contact(ball, floor, friction=0.1, restitution=0.8)
        run = st.Simulator(world, h, scheme=scheme, tol=1e-12).run(0.6)
        found.append(np.hstack([run.velocity(ball)[-1], run.angular_velocity(ball)[-1]]))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_mass_at_the_new_configuration():
    """Eq. 3.9: M(q⁺) (v⁺ - v) = h k(q, v), here with M = 1 + q² and q⁺ = q + h v⁺; in contact too."""
    h, q, v = 0.05, 1.0, 2.0
    system = st.GeneralizedSystem(lambda x: np.array([[1.0 + x[0] ** 2]]), lambda t, x, w: -3.0 * x, q=[q], v=[v])
    new = st.Simulator(system, dt=h, scheme=st.Stewart()).step().state
    assert new.q[0] == pytest.approx(q + h * new.v[0], abs=1e-14)
    assert (1.0 + new.q[0] ** 2) * (new.v[0] - v) == pytest.approx(-3.0 * h * q, abs=1e-10)
    wall = st.Gap(lambda x: x[0] - 0.95, restitution=0.5)
    system = st.GeneralizedSystem(lambda x: np.array([[1.0 + x[0] ** 2]]), q=[q], v=[-v], gaps=[wall])
    result = st.Simulator(system, dt=h, scheme=st.Stewart(), tol=1e-12).step()
    new = result.state
    assert new.v[0] == pytest.approx(0.5 * v, abs=1e-12)
    assert result.contacts.impulse[0, 0] == pytest.approx((1.0 + new.q[0] ** 2) * 1.5 * v, rel=1e-9)


def test_curved_gap_drifts_and_a_projection_takes_it_back():
    """A particle inside a circle: each step at velocity level leaves it by ½ (h v)² / r."""

    def bowl():
        wall = st.Gap(lambda q: 1.0 - np.hypot(q[0], q[1]))
        return st.GeneralizedSystem(np.eye(2), q=[0.0, -1.0], v=[1.0, 0.0], gaps=[wall])

    h = 0.01
    free = st.Simulator(bowl(), h, scheme=st.Stewart(), solver="lemke", tol=1e-13).run(1.0)
    out = np.hypot(free.q[:, 0], free.q[:, 1]) - 1.0
    assert (np.diff(out) > 0.0).all()
    assert out[1] == pytest.approx(0.5 * h * h, rel=1e-4)
    kept = st.Simulator(bowl(), h, scheme=st.Stewart(drift=1e-8), solver="lemke", tol=1e-13).run(1.0)
    assert kept.certificate.worst["penetration"] < 1e-8
    assert abs(kept.certificate.worst["energy"]) < 1e-12


def test_moving_wall_and_limits_bounce():
    gap = st.Gap(lambda t, q: q[0] - (t - 0.1005), restitution=1.0)
    run = st.Simulator(st.GeneralizedSystem([[3.0]], q=[0.0], gaps=[gap]), dt=0.002, scheme=st.Stewart()).run(0.2)
    assert run.v[-1, 0] == pytest.approx(2.0, abs=1e-9)
    world = st.World(gravity=(0, 0, 0))
    slider = world.add_body(st.Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0), velocity=(1.0, 0, 0))
    world.add_joint(st.Prismatic(slider, None, axis=(1, 0, 0), limits=(-0.2, 0.2), restitution=0.5))
    run = st.Simulator(world, dt=0.007, scheme=st.Stewart(), tol=1e-11).run(1.5)
    assert np.unique(np.round(run.velocity(slider)[:, 0], 9)).tolist() == [-0.5, 0.25, 1.0]


def test_a_scene_file_names_it():
    world = slope(0.2, 0.3, planar=True, e=0.4)
    simulator = st.Simulator(world, 0.01, scheme=st.Stewart(directions=None, drift=1e-6))
    again = parse_scene(world.to_scene(simulator, duration=0.3).text)
    assert again.simulator().scheme == simulator.scheme
    assert np.array_equal(again.simulator().run(0.3, progress=False).q, simulator.run(0.3, progress=False).q)


def test_what_it_does_not_have_is_refused():
    def world(**law):
        made = st.World()
        made.set_material("default", friction=0.3, **law)
        made.add_plane()
        made.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
        return made

    with pytest.raises(st.ModelError, match="Newton's impact law"):
        st.Simulator(world(restitution=st.PoissonImpact(0.5)), 0.01, scheme=st.Stewart())
    with pytest.raises(st.ModelError, match="compliance"):
        st.Simulator(world(compliance=st.Compliance(kn=1e4)), 0.01, scheme=st.Stewart())
    with pytest.raises(st.ModelError, match="drift"):
        st.Stewart(drift=-1.0)
    with pytest.raises(st.ModelError, match="directions"):
        st.Stewart(directions="round")
    gap = st.Gap(lambda q: q[0], restitution=st.StrongeImpact(0.5))
    with pytest.raises(st.ModelError, match="Newton's impact law"):
        st.Simulator(st.GeneralizedSystem([[1.0]], [-G], q=[1.0], gaps=[gap]), 0.01, scheme=st.Stewart())
