"""What joints, motors, springs and motions refuse, each with a sentence that names the culprit."""

import math

import pytest

import stiction as st

NAN, INF = math.nan, math.inf


def refused(text):
    return pytest.raises(st.ModelError, match=text)


def plane(**options):
    world = st.PlanarWorld()
    world.add_body(None, mass=1.0, inertia=1.0, name="lever")
    return world, st.Revolute("lever", None, anchor=(0, 0), name="hinge", **options)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ((1.0, -1.0), "'hinge' limits.*lo < hi"),
        ((0.5, 0.5), "'hinge' limits.*lo < hi"),
        ((NAN, 1.0), "'hinge' limits lo"),
        ((0.0, "far"), "'hinge' limits hi"),
        (1.0, "'hinge' limits.*pair"),
        ((1.0, 2.0, 3.0), "'hinge' limits.*pair"),
    ],
)
def test_limits(limits, text):
    world, joint = plane(limits=limits)
    with refused(text):
        world.add_joint(joint)


def test_limits_are_checked_at_the_start():
    world, joint = plane(limits=(0.2, 1.0))
    world.add_joint(joint)
    with refused("'hinge lower limit' is violated by 0.2"):
        st.Simulator(world, 0.01)


def test_motors():
    with refused("Motor needs a bound"):
        st.Motor(speed=1.0)
    for bound in (0.0, -1.0, NAN, INF, "strong"):
        with refused("Motor bound"):
            st.Motor(speed=1.0, bound=bound)
    with refused("speed= or position="):
        st.Motor(bound=1.0)
    with refused("speed= or position="):
        st.Motor(speed=1.0, position=1.0, bound=1.0)
    for target in (NAN, INF, "fast"):
        with refused("Motor target"):
            st.Motor(speed=target, bound=1.0)
    with refused("Motor time"):
        st.Motor(position=1.0, bound=1.0, time=-1.0)
    world, joint = plane(motor=5.0)
    with refused("'hinge' motor"):
        world.add_joint(joint)
    world, joint = plane(motor=st.Motor(speed=lambda t: NAN, bound=1.0))
    world.add_joint(joint)
    with refused("'hinge' motor at t"):
        st.Simulator(world, 0.01).run(0.1)


def test_set_motor():
    world, joint = plane(motor=st.Motor(speed=1.0, bound=1.0))
    world.add_joint(joint)
    world.add_body(None, mass=1.0, inertia=1.0, name="other")
    world.add_joint(st.Revolute("other", None, anchor=(0, 0), name="plain"))
    sim = st.Simulator(world, 0.01)
    for name in ("hing", "plain", "lever"):
        with refused(f"{name!r} with a motor; there are 'hinge'"):
            sim.set_motor(name, 1.0)
    with refused("target of 'hinge motor'"):
        sim.set_motor(joint, NAN)
    system = st.GeneralizedSystem([[1.0]], q=[0.0])
    with refused("only the joints of a world"):
        st.Simulator(system, 0.01).set_motor("hinge", 1.0)


@pytest.mark.parametrize("value", [-1.0, NAN, INF, "rough"])
def test_friction_and_compliance(value):
    world, joint = plane(friction=value)
    with refused("'hinge' friction"):
        world.add_joint(joint)
    world, joint = plane(compliance=value)
    with refused("'hinge' compliance"):
        world.add_joint(joint)
    world, joint = plane(compliance=(0.0, 0.0, 1.0))
    with refused("'hinge' compliance.*shape"):
        world.add_joint(joint)


def test_springs():
    world, joint = plane()
    world.add_joint(joint)
    for stiffness in (-1.0, NAN, INF, None):
        with refused("'coil' stiffness"):
            world.add_spring(joint, stiffness=stiffness, name="coil")
    with refused("'coil' damping"):
        world.add_spring(joint, damping=-1.0, name="coil")
    with refused("'coil' needs a stiffness"):
        world.add_spring(joint, name="coil")
    with refused("'coil'.*no joint|'coil'.*no body"):
        world.add_spring("hing", stiffness=1.0, name="coil")
    with refused("'coil' rest"):
        world.add_spring(joint, stiffness=1.0, rest=NAN, name="coil")
    with refused("'coil' between bodies needs anchor_a"):
        world.add_spring("lever", None, stiffness=1.0, name="coil")
    with refused("'coil' anchor_a.*shape"):
        world.add_spring("lever", None, stiffness=1.0, anchor_a=(0, 0, 0), anchor_b=(0, 1), name="coil")
    with refused("'coil' length"):
        world.add_spring("lever", None, stiffness=1.0, anchor_a=(0, 0), anchor_b=(0, 1), length=-1.0, name="coil")
    with refused("'coil' must connect two bodies"):
        world.add_spring(None, None, stiffness=1.0, anchor_a=(0, 0), anchor_b=(0, 1), name="coil")
    with refused("no second body and no anchors"):
        world.add_spring(joint, stiffness=1.0, anchor_a=(0, 0), name="coil")
    world.add_spring(joint, stiffness=1.0, name="coil")
    for add in (
        lambda: world.add_spring("hinge", stiffness=1.0, name="coil"),
        lambda: world.add_joint(st.Fixed("lever", None, name="coil")),
        lambda: world.add_spring("hinge", stiffness=1.0, name="hinge"),
    ):
        with refused("two joints"):
            add()
    other = st.Revolute("lever", None, anchor=(0, 0), name="elsewhere")
    with refused("no joint 'elsewhere'"):
        world.add_spring(other, stiffness=1.0)
    fixed = world.add_joint(st.Fixed("lever", None, name="weld"))
    with refused("'weld'.*no single coordinate"):
        world.add_spring(fixed, stiffness=1.0)


def test_couplings():
    world = st.PlanarWorld()
    for name in "ab":
        world.add_body(None, mass=1.0, inertia=1.0, name=name)
    for ratio in (0.0, NAN, INF, "two"):
        with refused("Gear 'pair' ratio"):
            world.add_joint(st.Gear("a", "b", ratio=ratio, name="pair"))
    with refused("'c'"):
        world.add_joint(st.Gear("a", "c", ratio=1.0))
    with refused("Rack radius"):
        world.add_joint(st.Rack("a", "b", radius=0.0, direction=(1, 0)))
    with refused("Rack direction"):
        world.add_joint(st.Rack("a", "b", radius=1.0, direction=(0, 0)))
    with refused("Rope.*length"):
        world.add_joint(st.Rope("a", "b", anchor_a=(0, 0), anchor_b=(0, 0), length=0.0))
    with refused("in space"):
        world.add_joint(st.Screw("a", "b", anchor=(0, 0), axis=(1, 0), pitch=1.0))
    for kind in (st.Universal("a", "b", (0, 0), (1, 0), (0, 1)), st.Planar("a", "b", (0, 0), (0, 1)),
                 st.Cylindrical("a", "b", (0, 0), (1, 0))):  # fmt: skip
        with refused("in space"):
            world.add_joint(kind)
    space = st.World()
    for name in "ab":
        space.add_body(None, mass=1.0, inertia=1.0, name=name)
    with refused("axis_a and axis_b must be at a right angle"):
        space.add_joint(st.Universal("a", "b", anchor=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(1, 1, 0)))
    with refused("Screw pitch"):
        space.add_joint(st.Screw("a", "b", anchor=(0, 0, 0), axis=(1, 0, 0), pitch=0.0))
    with refused("Gear needs an axis_a"):
        space.add_joint(st.Gear("a", "b", ratio=1.0))
    with refused("normal must not be zero"):
        space.add_joint(st.Planar("a", "b", anchor=(0, 0, 0), normal=(0, 0, 0)))


@pytest.mark.parametrize(
    ("motion", "text"),
    [
        (st.Oscillation(0.0, amplitude=(1, 0, 0)), "frequency"),
        (st.Oscillation(1.0), "needs an amplitude or an angle"),
        (st.Oscillation(1.0, amplitude=(1, 0)), "amplitude.*shape"),
        (st.Oscillation(1.0, angle=1.0), "needs an axis"),
        (st.Oscillation(1.0, amplitude=(1, 0, 0), axis=(0, 0, 1)), "axis only where it turns"),
        (st.Rotation(NAN, axis=(0, 0, 1)), "rate"),
        (st.Rotation(1.0), "needs an axis"),
        (st.Rotation(1.0, axis=(0, 0, 0)), "axis must not be zero"),
        (st.Rotation(1.0, axis=(0, 0, 1), center=(0, 0)), "center.*shape"),
        (st.Table([0.0], positions=[(0, 0, 0)]), "times must be at least two"),
        (st.Table([0.0, 0.0], positions=[(0, 0, 0)] * 2), "each later"),
        (st.Table([0.0, 1.0]), "needs positions or angles"),
        (st.Table([0.0, 1.0], positions=[(0, 0)] * 2), "positions.*shape"),
        (st.Table([0.0, 1.0], angles=[0.0], axis=(0, 0, 1)), "angles.*shape"),
        (st.Table([0.0, 1.0], angles=[0.0, INF], axis=(0, 0, 1)), "angles.*finite"),
        (3.0, "motion= is a Motion or a function"),
    ],
)
def test_motions(motion, text):
    with refused(f"'cam'.*{text}"):
        st.World().add_body(st.Sphere(0.1), kind="kinematic", name="cam", motion=motion)
