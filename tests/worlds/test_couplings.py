"""Screws, gears, racks and the joints of space: what they couple, what they let through, and what is not unique."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction as st

G = 9.81
SCHEMES = [st.AnitescuHart(), st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)]
ANCHOR, AXIS = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -2.0]) / 3
ACROSS = np.array([2.0, -2.0, -1.0]) / 3
ROWS = {
    "universal": (lambda a, b: st.Universal(a, b, anchor=ANCHOR, axis_a=AXIS, axis_b=ACROSS), 4),
    "planar": (lambda a, b: st.Planar(a, b, anchor=ANCHOR, normal=AXIS), 3),
    "cylindrical": (lambda a, b: st.Cylindrical(a, b, anchor=ANCHOR, axis=AXIS), 4),
    "screw": (lambda a, b: st.Screw(a, b, anchor=ANCHOR, axis=AXIS, pitch=0.3), 5),
    "gear": (lambda a, b: st.Gear(a, b, ratio=-1.7, axis_a=AXIS, axis_b=(0.2, 0.3, 1.0)), 1),
    "rack": (lambda a, b: st.Rack(a, b, radius=0.4, direction=(0.2, 0.3, 1.0), axis=AXIS), 1),
    "rope": (lambda a, b: st.Rope(a, b, anchor_a=ANCHOR, anchor_b=(1.0, 1.0, 0.2)), 1),
    "limits": (lambda a, b: st.Revolute(a, b, anchor=ANCHOR, axis=AXIS, limits=(-9.0, 9.0)), 7),
    "slider limits": (lambda a, b: st.Prismatic(a, b, axis=AXIS, anchor=ANCHOR, limits=(-9.0, 9.0)), 7),
}


def scheme_name(scheme):
    return type(scheme).__name__ + (" nonlinear" if getattr(scheme, "nonlinear", False) else "")


def pair(name, seed=0):
    rng = np.random.default_rng(seed)
    world = st.World(gravity=(0, 0, 0))
    a, b = (
        world.add_body(
            st.Box((0.3, 0.2, 0.4)), mass=1.0 + i, name="ab"[i], position=rng.normal(size=3),
            orientation=rng.normal(size=4), com=0.1 * rng.normal(size=3),
        )
        for i in range(2)
    )  # fmt: skip
    return world, a, b, world.add_joint(ROWS[name][0](a, b))


def rows_and_values(model, q):
    found = model.evaluate(model.detect(0.0, q, 0.0), 0.0, q)
    return model.dynamics(q, found).matrix.toarray(), found.value.copy()


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_the_derivatives_of_the_values(name):
    """By central differences, at the start and elsewhere, also where the joint is pulled apart."""
    for seed in range(6):
        model = pair(name, seed)[0].build()
        rng = np.random.default_rng(seed)
        q = model.initial_state().q
        moves = np.repeat(model.moves, model.dof)
        q = model.retract(q, np.where(moves, 0.8 * (seed % 2) * rng.normal(size=model.nv), 0.0))
        H, _ = rows_and_values(model, q)
        for _ in range(3):
            d = np.where(moves, rng.normal(size=model.nv), 0.0)
            ahead, behind = (rows_and_values(model, model.retract(q, s * 1e-6 * d))[1] for s in (1, -1))
            np.testing.assert_allclose(H @ d, (ahead - behind) / 2e-6, atol=3e-8)


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_met_at_the_start_and_let_rigid_motion_through(name):
    world, a, b, _ = pair(name, 3)
    model = world.build()
    q = model.initial_state().q
    H, value = rows_and_values(model, q)
    count = ROWS[name][1]
    assert H.shape[0] == count
    held = min(count, 5)  # limits repeat the coordinate, once with each sign
    np.testing.assert_allclose(value[:held], 0.0, atol=1e-14)
    assert np.linalg.matrix_rank(H, tol=1e-9) == held + (count > 5)
    if name in ("gear", "rack"):
        return  # these are against the world
    rng = np.random.default_rng(1)
    linear, spin = rng.normal(size=3), rng.normal(size=3)
    v = np.zeros((model.nb, 6))
    for body in (a, b):
        v[body.index] = [*(linear + np.cross(spin, model.bodies(q)[body.index, :3])), *spin]
    np.testing.assert_allclose(H @ v.ravel(), 0.0, atol=1e-13)


@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_nut_falls_down_its_screw(scheme):
    """m g k = (I + m k²) α with k = pitch/2π, through many turns, and the angle counts them all."""
    pitch, m, side = 0.05, 2.0, 0.2
    world = st.World()
    nut = world.add_body(st.Box((side, side, 0.1)), mass=m)
    screw = world.add_joint(st.Screw(nut, None, anchor=(0, 0, 0.3), axis=(0, 0, 1), pitch=pitch))
    run = st.Simulator(world, 0.002, scheme=scheme, tol=1e-9).run(2.0)
    k, inertia = pitch / (2 * math.pi), m * side**2 / 6
    alpha = -m * G * k / (inertia + m * k**2)
    joint = run.joint(screw)
    np.testing.assert_allclose(joint.speed, alpha * joint.times, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(run.position(nut)[1:, 2], k * joint.coordinate, atol=1e-6)
    assert joint.coordinate[-1] < -20.0
    assert run.certificate.worst["joint_drift"] < 1e-6


def test_a_screw_turns_force_into_torque():
    """Held by a motor, the nut needs the torque m g pitch/2π, and not more."""
    world = st.World()
    nut = world.add_body(st.Box((0.2, 0.2, 0.1)), mass=3.0)
    hold = st.Motor(speed=0.0, bound=1.0)
    screw = world.add_joint(st.Screw(nut, None, anchor=(0, 0, 0), axis=(0, 0, 1), pitch=-0.05, motor=hold))
    joint = st.Simulator(world, 0.01, tol=1e-10).run(0.2).joint(screw)
    np.testing.assert_allclose(joint.motor / 0.01, -3.0 * G * 0.05 / (2 * math.pi), rtol=1e-7)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES, ids=scheme_name)
def test_gears_share_a_torque_by_their_ratio(dim, scheme):
    """T on the first wheel: α₁ = T/(I₁ + I₂/r²), α₂ = α₁/r, over many turns and without drift."""
    r, T, inertia = -2.0, 1.0, (0.5, 3.0)
    world = st.World(gravity=(0, 0, 0)) if dim == 3 else st.PlanarWorld(gravity=(0, 0))
    up = {"axis": (0, 0, 1)} if dim == 3 else {}
    wheels = []
    for i in range(2):
        place = np.eye(dim)[0] * i
        wheels.append(world.add_body(None, mass=1.0, inertia=inertia[i], position=place))
        world.add_joint(st.Revolute(wheels[i], None, anchor=place, name=f"hinge{i}", **up))
    world.add_joint(st.Gear(*wheels, ratio=r, **({"axis_a": (0, 0, 1)} if dim == 3 else {})))
    world.add_force(wheels[0], torque=(0, 0, T) if dim == 3 else T)
    run = st.Simulator(world, 0.01, scheme=scheme, tol=1e-9).run(5.0)
    first, second = run.joint("hinge0"), run.joint("hinge1")
    np.testing.assert_allclose(first.speed, T / (inertia[0] + inertia[1] / r**2) * first.times, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(second.coordinate, first.coordinate / r, atol=1e-6)
    assert first.coordinate[-1] > 9.0
    assert run.certificate.worst["joint_drift"] < 1e-6


def test_bevel_gears_turn_about_different_axes():
    world = st.World(gravity=(0, 0, 0))
    a = world.add_body(None, mass=1.0, inertia=0.5, angular_velocity=(0, 0, 4.0))
    b = world.add_body(None, mass=1.0, inertia=0.5, position=(1, 0, 0), angular_velocity=(2.0, 0, 0))
    one = world.add_joint(st.Revolute(a, None, anchor=(0, 0, 0), axis=(0, 0, 1)))
    two = world.add_joint(st.Revolute(b, None, anchor=(1, 0, 0), axis=(1, 0, 0), friction=0.3))
    world.add_joint(st.Gear(a, b, ratio=2.0, axis_a=(0, 0, 1), axis_b=(1, 0, 0)))
    run = st.Simulator(world, 0.01, tol=1e-10).run(3.0)
    np.testing.assert_allclose(run.joint(one).coordinate, 2.0 * run.joint(two).coordinate, atol=1e-7)
    # friction on the slow shaft: I_total about it is 0.5 + 4·0.5
    np.testing.assert_allclose(run.joint(two).speed, 2.0 - 0.3 / 2.5 * run.joint(two).times, atol=1e-7)


@pytest.mark.parametrize("dim", [2, 3])
def test_rack_and_pinion(dim):
    """A weight on the rack turns the wheel: (m + I/r²) a = m g."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    m, inertia, r = 2.0, 0.1, 0.2
    down = -np.eye(dim)[-1]
    wheel = world.add_body(None, mass=1.0, inertia=inertia)
    rack = world.add_body(None, mass=m, inertia=1.0, position=np.eye(dim)[0] * r)
    axis = {"axis": (0, 1, 0)} if dim == 3 else {}
    hinge = world.add_joint(st.Revolute(wheel, None, anchor=np.zeros(dim), **axis))
    world.add_joint(st.Prismatic(rack, None, axis=down))
    world.add_joint(st.Rack(wheel, rack, radius=r, direction=down, **axis))
    run = st.Simulator(world, 0.01, tol=1e-10).run(1.0)
    fall = m * G / (m + inertia / r**2)
    np.testing.assert_allclose(run.velocity(rack)[:, -1], -fall * run.times, atol=1e-7)
    np.testing.assert_allclose(run.joint(hinge).speed, fall / r * run.times[1:], atol=1e-6)


def test_cylindrical_joint_slides_and_turns_on_its_own():
    world = st.World()
    body = world.add_body(st.Box((0.2, 0.3, 0.4)), mass=2.0, angular_velocity=(0, 0, 5.0))
    joint = world.add_joint(st.Cylindrical(body, None, anchor=(0, 0, 1), axis=(0, 0, 1), limits=(-0.5, None)))
    run = st.Simulator(world, 0.01, tol=1e-10).run(1.0)
    np.testing.assert_allclose(run.angular_velocity(body)[:, 2], 5.0, atol=1e-7)
    assert run.joint(joint).coordinate[-1] == pytest.approx(-0.5, abs=1e-7)
    np.testing.assert_allclose(run.joint(joint).limit[-10:] / 0.01, 2.0 * G, rtol=1e-6)


def test_planar_joint_keeps_a_body_in_its_plane():
    world = st.World(gravity=(0.3, -0.4, -G))
    body = world.add_body(
        st.Box((0.2, 0.3, 0.1)), mass=2.0, velocity=(1.0, 0.5, 0), angular_velocity=(0, 0, 3.0), position=(0, 0, 1)
    )
    joint = world.add_joint(st.Planar(body, None, anchor=(0, 0, 1), normal=(0, 0, 1)))
    run = st.Simulator(world, 0.01, tol=1e-10).run(1.0)
    np.testing.assert_allclose(run.position(body)[:, 2], 1.0, atol=1e-9)
    np.testing.assert_allclose(
        run.velocity(body)[:, :2], np.array([1, 0.5]) + np.outer(run.times, [0.3, -0.4]), atol=1e-8
    )
    np.testing.assert_allclose(run.angular_velocity(body), np.tile([0, 0, 3.0], (101, 1)), atol=1e-8)
    np.testing.assert_allclose(run.joint(joint).force[:, 0], 2.0 * G, rtol=1e-7)


def test_universal_joint_has_its_uneven_ratio():
    """Two shafts at an angle β: tan θ₂ = tan θ₁ cos β, for a cross whose first arm starts across their plane."""
    beta, rate = 0.6, 4.0
    world = st.World(gravity=(0, 0, 0))
    out = np.array([math.cos(beta), math.sin(beta), 0])
    first = world.add_body(None, kind="kinematic", motion=st.Rotation(rate, axis=(1, 0, 0)))
    second = world.add_body(None, mass=1.0, inertia=0.1, angular_velocity=rate * math.cos(beta) * out)
    shaft = world.add_joint(st.Revolute(second, None, anchor=out, axis=out))
    side = np.cross(out, [0, 0, 1.0])
    world.add_joint(st.Universal(first, second, anchor=(0, 0, 0), axis_a=(0, 0, 1), axis_b=side))
    errors = []
    for h in (0.004, 0.002):
        run = st.Simulator(world, h, tol=1e-7).run(1.5)
        angle = run.joint(shaft).coordinate
        turned = rate * run.times[1:]
        exact = np.unwrap(np.arctan2(np.sin(turned) * math.cos(beta), np.cos(turned)))
        errors.append(np.abs(angle - exact).max())
    assert errors[1] < 2e-3
    assert errors[1] < 0.6 * errors[0]


# --- redundant joints


def door(hinges):
    world = st.World(gravity=(0.0, 0.0, -G))
    leaf = world.add_body(st.Box((0.8, 0.04, 2.0)), mass=20.0, position=(0.4, 0, 1.0), angular_velocity=(0, 0, 1.5),
                          velocity=(0, 0.6, 0), name="leaf")  # fmt: skip
    for height in hinges:
        world.add_joint(st.Revolute(leaf, None, anchor=(0, 0, height), axis=(0, 0, 1), name=f"hinge at {height:g}"))
    return world


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids=scheme_name)
def test_a_door_on_two_hinges_moves_as_on_one(scheme):
    one = st.Simulator(door([1.0]), 0.005, scheme=scheme, tol=1e-9).run(1.0)
    sim = st.Simulator(door([0.3, 1.7]), 0.005, scheme=scheme, tol=1e-9)
    two = sim.run(1.0)
    np.testing.assert_allclose(two.position("leaf"), one.position("leaf"), atol=2e-6)
    np.testing.assert_allclose(two.orientation("leaf"), one.orientation("leaf"), atol=2e-6)
    assert one.joint("hinge at 1").unique
    assert sim.indeterminate() == ["hinge at 0.3", "hinge at 1.7"]
    assert not two.joint("hinge at 0.3").unique
    # what is determined: the sum of the forces
    total = two.joint("hinge at 0.3").force[:, :3] + two.joint("hinge at 1.7").force[:, :3]
    np.testing.assert_allclose(total, one.joint("hinge at 1").force[:, :3], atol=2e-3)


def test_compliant_hinges_share_the_load_determinately():
    """Given way, equal hinges carry equal shares of the weight."""
    world = st.World()
    leaf = world.add_body(st.Box((0.8, 0.04, 2.0)), mass=20.0, position=(0.4, 0, 1.0))
    hinges = [
        world.add_joint(st.Revolute(leaf, None, anchor=(0, 0, z), axis=(0, 0, 1), compliance=1e-6)) for z in (0.3, 1.7)
    ]
    sim = st.Simulator(world, 0.005, tol=1e-9)
    assert sim.indeterminate() == []
    run = sim.run(0.5)
    for hinge in hinges:
        assert run.joint(hinge).unique
        assert run.joint(hinge).force[-1, 2] == pytest.approx(10.0 * G, rel=1e-3)


def four_bar(ground, coupler):
    """A spatial parallelogram in the x-z plane; four parallel hinges hold what is out of the plane several times."""
    world = st.World(gravity=(0, 0, -G))
    spin, lean = 2.0, 0.4
    up = np.array([math.sin(lean), 0, math.cos(lean)])
    turn = Rotation.from_rotvec([0, lean, 0]).as_quat(scalar_first=True)
    w = np.array([0, spin, 0])
    low, high = np.zeros(3), np.array([2.0, 0, 0])
    bars = [
        world.add_body(
            st.Box((0.05, 0.05, 1.0)), mass=1.0, name=f"bar{i}", position=foot + 0.5 * up, orientation=turn,
            angular_velocity=w, velocity=np.cross(w, 0.5 * up),
        )
        for i, foot in enumerate((low, high))
    ]  # fmt: skip
    middle = 0.5 * high + up
    link = world.add_body(st.Box((2.0, 0.05, 0.05)), mass=1.0, name="link", position=middle, velocity=np.cross(w, up))
    for i in range(2):
        ground(world, bars[i], (2.0 * i, 0, 0), f"ground{i}", i)
        coupler(world, bars[i], link, np.array([2.0 * i, 0, 0]) + up, f"coupler{i}", i)
    return world


def test_a_spatial_four_bar_moves_as_its_determinate_model():
    def hinge(world, a, *rest):
        b, anchor, name = (None, *rest[:2]) if len(rest) == 3 else rest[:3]
        world.add_joint(st.Revolute(a, b, anchor=anchor, axis=(0, 1, 0), name=name))

    def loose(world, a, b, anchor, name, i):
        """One hinge, and at the other end only what closes the loop in the plane."""
        if i == 0:
            world.add_joint(st.Revolute(a, b, anchor=anchor, axis=(0, 1, 0), name=name))
        else:
            for along in ((1, 0, 0), (0, 0, 1)):
                world.add_joint(_Slot(a, b, anchor=anchor, normal=along, name=f"{name} {along}"))

    redundant = st.Simulator(four_bar(hinge, hinge), 0.004, tol=1e-9)
    simple = st.Simulator(four_bar(hinge, loose), 0.004, tol=1e-9)
    assert len(redundant.indeterminate()) == 4
    assert simple.indeterminate() == []
    one, two = simple.run(0.8), redundant.run(0.8)
    for name in ("bar0", "bar1", "link"):
        np.testing.assert_allclose(two.position(name), one.position(name), atol=2e-5)
    assert not two.joint("ground0").unique
    assert one.joint("ground0").unique
    # the coupler of a parallelogram stays level
    np.testing.assert_allclose(np.abs(two.orientation("link")[:, 0]), 1.0, atol=1e-5)


class _Slot(st.Planar):
    """A point of a in a plane of b: the one row that closes a loop."""

    def primitives(self, a, b):
        return super().primitives(a, b)[:1]


# --- closed chains with motors


def test_slider_crank_driven_by_a_motor_is_kinematic():
    r, l, rate = 0.2, 0.7, 4.0
    world = st.PlanarWorld()
    crank = world.add_body(None, mass=1.0, inertia=r**2 / 12, position=(r / 2, 0), velocity=(0, rate * r / 2),
                           angular_velocity=rate)  # fmt: skip
    rod = world.add_body(None, mass=1.0, inertia=l**2 / 12, position=(r + l / 2, 0), velocity=(0, rate * r / 2),
                         angular_velocity=-rate * r / l)  # fmt: skip
    slider = world.add_body(None, mass=0.5, inertia=1e-3, position=(r + l, 0))
    main = world.add_joint(st.Revolute(crank, None, anchor=(0, 0), motor=st.Motor(speed=rate, bound=1e3)))
    world.add_joint(st.Revolute(rod, crank, anchor=(r, 0)))
    world.add_joint(st.Revolute(rod, slider, anchor=(r + l, 0)))
    guide = world.add_joint(st.Prismatic(slider, None, axis=(1, 0)))
    errors = []
    for h in (0.01, 0.005):
        run = st.Simulator(world, h, tol=1e-9).run(4.0)
        joint = run.joint(main)
        np.testing.assert_allclose(joint.coordinate, rate * joint.times, atol=1e-6)  # 2.5 turns, counted
        a = joint.coordinate
        exact = r * np.cos(a) + np.sqrt(l**2 - (r * np.sin(a)) ** 2)
        errors.append(np.abs(run.joint(guide).coordinate + r + l - exact).max())
        np.testing.assert_allclose(run.certificate["energy"], 0.0, atol=1e-10)
    assert errors[1] < 1e-3
    assert errors[1] < 0.3 * errors[0]


def test_four_bar_follows_its_closure_equation():
    """Crank-rocker: lengths 0.2, 0.6, 0.5 on a ground of 0.7; Freudenstein's equation gives the rocker."""
    a, b, c, d, rate = 0.2, 0.6, 0.5, 0.7, 3.0

    def rocker(theta):
        p = a * np.array([np.cos(theta), np.sin(theta)]) - np.array([d, 0])
        f = np.hypot(*p)
        return np.arctan2(p[1], p[0]) - np.arccos((f**2 + c**2 - b**2) / (2 * f * c))

    psi = float(rocker(0.0))
    pin, top = np.array([a, 0]), np.array([d, 0]) + c * np.array([math.cos(psi), math.sin(psi)])
    world = st.PlanarWorld(gravity=(0, 0))
    along = top - pin
    crank = world.add_body(None, kind="kinematic", motion=st.Rotation(rate))
    link = world.add_body(None, mass=1.0, inertia=b**2 / 12, position=0.5 * (pin + top), angle=math.atan2(*along[::-1]))
    arm = world.add_body(None, mass=1.0, inertia=c**2 / 12, position=0.5 * (top + np.array([d, 0])), angle=psi)
    world.add_joint(st.Revolute(link, crank, anchor=pin))
    world.add_joint(st.Revolute(link, arm, anchor=top))
    out = world.add_joint(st.Revolute(arm, None, anchor=(d, 0)))
    errors = []
    for h in (0.008, 0.004):
        run = st.Simulator(world, h, tol=1e-9).run(4.0)
        exact = np.unwrap([rocker(rate * t) for t in run.times])[1:] - psi
        errors.append(np.abs(run.joint(out).coordinate - exact).max())
    assert errors[1] < 1e-3
    assert errors[1] < 0.35 * errors[0]
