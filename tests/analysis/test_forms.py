"""The three problems of pr11 against forces, impulses and accelerations known in closed form."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import all_motions
from stiction.analysis.forms import force_acceleration, impulse_velocity, time_stepping
from stiction.analysis.slip import opposing_face
from stiction.papers.pr11_rod import rod, sliding_inertia

G = 9.81


def only(form, solver="lemke"):
    answer = st.solve(form.problem, solver, tol=1e-10)
    assert answer.success, answer.message
    return answer.p


def test_the_sliding_rod_has_friction_along_another_direction_than_its_row():
    form = force_acceleration(rod())
    dynamics = form.problem.dynamics
    assert form.problem.nr == 1
    assert dynamics.delassus() == pytest.approx(np.array([[sliding_inertia(np.pi / 3, 1.5)]]))  # pr11 eq. 10
    assert form.problem.q == pytest.approx([-1.0])
    assert st.solve(form.problem, "enumeration").status == st.Status.NO_SOLUTION


def test_velocity_products_are_in_the_acceleration_of_the_rod():
    """pr11 eq. 4: (l/2) sin φ ω² in the normal and (l/2) cos φ ω² in the tangential row."""
    w, phi = 2.0, 0.7
    form = force_acceleration(rod(angle=phi, slide=-3.0, spin=w, mu=0.1))
    free = form.relative(np.zeros(1))
    assert free == pytest.approx([-1.0 + np.sin(phi) * w**2, np.cos(phi) * w**2], abs=1e-9)


def test_friction_of_a_sliding_contact_is_reported_with_its_normal_force():
    form = force_acceleration(rod(mu=0.2))
    force = form.forces(only(form))
    assert force[1] == pytest.approx(0.2 * force[0], abs=1e-12)
    assert force[0] > 0
    assert form.relative(only(form))[0] == pytest.approx(0.0, abs=1e-12)


def test_a_disk_over_a_disk_is_lighter_by_the_centripetal_force():
    world = st.PlanarWorld(gravity=(0, -G))
    world.add_body(st.Disk(2.0), kind="fixed", name="hill")
    world.add_body(st.Disk(0.5), mass=3.0, position=(0, 2.5), velocity=(1.2, 0.0), name="disk")
    form = force_acceleration(world)
    assert form.forces(only(form))[0] == pytest.approx(3.0 * (G - 1.2**2 / 2.5), rel=1e-9)


def test_a_block_at_rest_on_a_ramp_keeps_its_friction_set():
    angle = 0.3
    world = st.PlanarWorld(gravity=(G * np.sin(angle), -G * np.cos(angle)))
    floor = world.add_plane(normal=(0, 1), offset=0.0)
    block = world.add_body(st.Polygon([(-1, -0.2), (1, -0.2), (1, 0.2), (-1, 0.2)]), mass=2.0, position=(0, 0.2))
    world.set_contact(block, floor, friction=0.5)
    form = force_acceleration(world)
    assert form.problem.nr == 4
    total = form.forces(only(form)).reshape(2, -1).sum(axis=0)
    assert total == pytest.approx([2.0 * G * np.cos(angle), -2.0 * G * np.sin(angle)])


def test_a_floor_that_accelerates_upwards_presses_harder():
    world = st.PlanarWorld(gravity=(0, -G))
    world.add_body(
        st.Polygon([(-1, -1), (1, -1), (1, 0), (-1, 0)]),
        kind="kinematic",
        motion=lambda t: ((0.0, 0.5 * 2.0 * t**2), 0.0),
    )
    world.add_body(st.Disk(0.5), mass=2.0, position=(0, 0.5))
    form = force_acceleration(world)
    assert form.forces(only(form))[0] == pytest.approx(2.0 * (G + 2.0), rel=1e-7)


def test_a_moving_floor_of_a_generalized_system_enters_the_impulse():
    floor = st.Gap(lambda t, q: q[0] - 0.7 * t, name="floor")
    form = impulse_velocity(st.GeneralizedSystem([[2.0]], [-2 * G], q=[0.0], v=[-1.0], gaps=[floor]))
    p = only(form)
    assert form.forces(p) == pytest.approx([2.0 * 1.7])
    assert form.motion(p) == pytest.approx([0.7])


def test_a_floor_that_starts_from_rest_presses_with_its_acceleration():
    floor = st.Gap(lambda t, q: q[0] - 0.5 * 3.0 * t**2, name="floor")
    form = force_acceleration(st.GeneralizedSystem([[2.0]], [-2 * G], q=[0.0], gaps=[floor]))
    assert form.forces(only(form)) == pytest.approx([2.0 * (G + 3.0)], rel=1e-8)


def test_contacts_that_close_are_refused_and_those_that_part_do_not_act():
    with pytest.raises(st.ModelError, match=r"tip is closing at 0\.5 m/s"):
        force_acceleration(rod(drop=0.5))
    assert force_acceleration(rod(drop=-0.5)).problem.nr == 0


def test_pendulum_rod_force_by_its_joint():
    world = st.PlanarWorld(gravity=(0, -G))
    bob = world.add_body(st.Disk(0.1), mass=2.0, position=(0, -1.5), velocity=(1.0, 0.0))
    world.add_joint(st.Distance(bob, None, anchor_a=(0, -1.5), anchor_b=(0, 0)))
    form = force_acceleration(world)
    p = only(form)
    assert abs(form.forces(p)[0]) == pytest.approx(2.0 * (G + 1.0 / 1.5), rel=1e-9)


def test_a_joint_that_is_pulled_apart_needs_an_impulse_first():
    world = st.PlanarWorld(gravity=(0, -G))
    bob = world.add_body(st.Disk(0.1), mass=2.0, position=(0, -1.5), velocity=(0.0, -0.5))
    world.add_joint(st.Distance(bob, None, anchor_a=(0, -1.5), anchor_b=(0, 0), name="rod"))
    with pytest.raises(st.ModelError, match=r"rod is pulled apart at 0\.5 m/s"):
        force_acceleration(world)
    form = impulse_velocity(world)
    assert form.motion(only(form)) == pytest.approx(np.zeros(6), abs=1e-12)


def test_motors_drive_with_their_bound_until_they_have_their_speed():
    """A rod of length 1 about its end: I = m/3; a motor of bound 3 N m that wants 2 rad/s."""

    def rod_on_motor(speed):
        world = st.PlanarWorld(gravity=(0, 0))
        rod = world.add_body(
            st.Disk(0.1),
            mass=2.0,
            inertia=2.0 / 12.0,
            position=(0.5, 0),
            velocity=(0, 0.5 * speed),
            angular_velocity=speed,
        )
        world.add_joint(st.Revolute(rod, None, anchor=(0, 0), motor=st.Motor(speed=2.0, bound=3.0)))
        form = force_acceleration(world)
        return form.motion(only(form))[-3:]

    assert rod_on_motor(1.0)[2] == pytest.approx(3.0 / (2.0 / 3.0))
    assert rod_on_motor(2.0) == pytest.approx([-0.5 * 4.0, 0.0, 0.0], abs=1e-8)  # it holds the speed; centripetal


def test_springs_are_known_forces_and_give_no_impulse():
    world = st.PlanarWorld(gravity=(0, 0))
    body = world.add_body(st.Disk(0.1), mass=2.0, position=(1.5, 0), velocity=(0.3, 0))
    world.add_spring(body, None, anchor_a=(1.5, 0), anchor_b=(0, 0), length=1.0, stiffness=40.0, damping=5.0)
    form = force_acceleration(world)
    assert form.problem.nr == 0
    assert form.motion(np.zeros(0))[-3] == pytest.approx(-(40.0 * 0.5 + 5.0 * 0.3) / 2.0)
    assert impulse_velocity(world).problem.nr == 0


@pytest.mark.parametrize("friction", [st.Torsional(0.4, 1.0, 0.7, 0.05), st.Anisotropic(0.2, 0.5)])
def test_smooth_sets_oppose_slip_by_the_formula_of_ttp01(friction):
    """ttp01 eq. 2: c_i = -e_i² mu c_n v_i / sqrt(Σ e_j² v_j²)."""
    e = friction.packed(3 if isinstance(friction, st.Torsional) else 2).semi
    v = np.array([0.3, -1.1, 4.0])[: len(e)]
    face = opposing_face(friction, friction.slope, v, np.zeros(len(e)))
    assert face.left is None
    assert face.point == pytest.approx(-(e**2) * v / np.sqrt((e**2 * v**2).sum()))


def test_a_factor_at_rest_keeps_its_set():
    face = opposing_face(st.Mixed(0.3, 1.0, 1.0, 0.1), 0.3, np.array([2.0, 0.0, 0.0]), np.full(3, 1e-9))
    assert face.point == pytest.approx([-1, 0, 0])
    assert face.basis == pytest.approx(np.eye(3)[2:])
    assert face.left.support(np.array([2.0])) == pytest.approx(0.2)


def test_slip_across_an_edge_of_a_polygon_leaves_the_edge():
    square = st.Polyhedral(0.5, directions=[(1, 1), (-1, 1), (-1, -1), (1, -1)])
    face = opposing_face(square, 0.5, np.array([0.0, 3.0]), np.full(2, 1e-9))
    assert face.point == pytest.approx([0, -1])
    assert np.abs(face.basis) == pytest.approx(np.array([[1.0, 0.0]]))
    assert face.left.support(np.array([1.0])) == pytest.approx(1.0)


def test_a_spinning_sliding_ball_slows_as_its_torsional_set_says():
    world = st.World(gravity=(0, 0, -G))
    floor = world.add_plane(normal=(0, 0, 1), offset=0.0)
    ball = world.add_body(
        st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(3.0, 0, 0), angular_velocity=(0, 0, 40.0)
    )
    world.set_contact(ball, floor, friction=st.Torsional(0.3, 1.0, 1.0, 0.02))
    form = force_acceleration(world)
    a = form.motion(only(form))[-6:]
    size = np.hypot(3.0, 0.02 * 40.0)
    assert a[0] == pytest.approx(-0.3 * G * 3.0 / size)
    assert a[5] == pytest.approx(-0.3 * G * 0.02**2 * 40.0 / size / (0.4 * 0.01))


def test_stepping_is_the_scheme_of_the_paper():
    form = time_stepping(rod(), h=0.01)
    assert form.forces(only(form)) == pytest.approx([0.3329, 0.4407], abs=5e-5)
    assert form.h == 0.01
    assert form.names == ("tip",)


@pytest.mark.parametrize("gamma_t", [3.0, np.inf])
def test_a_compliant_contact_presses_by_its_spring_and_gives_no_impulse(gamma_t):
    floor = st.Gap(
        lambda q: q[1],
        tangents=lambda q: [1.0, 0.0],
        friction=0.5,
        compliance=st.Compliance(kn=100.0, gamma_n=2.0, gamma_t=gamma_t),
    )
    block = st.GeneralizedSystem(
        np.eye(2), [0.7, -G], q=[0.0, -0.05], v=[0.1 * np.isfinite(gamma_t), -0.3], gaps=[floor]
    )
    form = force_acceleration(block)
    p = only(form)
    load = 100.0 * 0.05 + 2.0 * 0.3
    friction = -0.3 if np.isfinite(gamma_t) else -0.7  # a damper, or what holds it against the pull
    assert form.forces(p) == pytest.approx([load, friction])
    assert form.motion(p) == pytest.approx([0.7 + friction, load - G])
    assert impulse_velocity(block).problem.nr == 0


@pytest.mark.long
def test_a_box_that_slides_and_spins_has_a_continuum_of_accelerations_and_a_step_takes_one():
    """Four feet bear the load in many ways, and friction points elsewhere at each."""
    world = st.World(gravity=(0, 0, -G))
    floor = world.add_plane(normal=(0, 0, 1), offset=0.0)
    box = world.add_body(
        st.Box((1, 0.6, 0.4)), mass=1.0, position=(0, 0, 0.2), velocity=(1.0, 0.2, 0), angular_velocity=(0, 0, 2.0)
    )
    world.set_contact(box, floor, friction=0.3)
    (slides,) = all_motions(force_acceleration(world))
    assert (slides.dimension, slides.freedom) == (1, 0)
    h = 1e-7
    sim = st.Simulator(world, h, scheme=st.AnitescuHart(), tol=1e-10)
    before = sim.state.v.copy()
    sim.step()
    a, b = slides.ends[:, -6:]
    took = ((sim.state.v - before) / h)[-6:]
    share = np.dot(took - a, b - a) / np.dot(b - a, b - a)
    assert 0.0 <= share <= 1.0
    assert took == pytest.approx(a + share * (b - a), abs=1e-5)
