"""Motion does not depend on the units of length, mass and time: what stops a solve, and what counts as small.

A scene in units of 2^20 m, 2^40 kg and 2^10 s has the same numbers in a float but for their exponents, even ones so
that roots are exact as well. Where every decision is made by numbers without units, its steps end in the same bits.
"""

from collections.abc import Callable

import numpy as np
import pytest

import stiction as st

STEPS, H = 50, 2.0**-8
OTHER = (20, 40, 10)  # exponents of the units of length, mass and time
MORE = [(20, 0, 0), (-20, 0, 0), (0, 40, 0), (0, -40, 0), (0, 0, 10), (0, 0, -10), (-20, -40, -10), (-20, 40, 10)]


class Units:
    """How many of the usual units one unit of each quantity is."""

    def __init__(self, length: int = 0, mass: int = 0, time: int = 0):
        self.m, self.kg, self.s = 2.0**length, 2.0**mass, 2.0**time
        self.speed, self.spin, self.gravity = self.m / self.s, 1.0 / self.s, self.m / self.s**2
        self.force = self.kg * self.gravity
        self.torque = self.force * self.m

    def of(self, name: str, *values: float) -> tuple[float, ...]:
        return tuple(value * getattr(self, name) for value in values)


def world(u: Units, planar: bool = False, **law: object) -> st.World | st.PlanarWorld:
    made = st.PlanarWorld(u.of("gravity", 0, -9.81)) if planar else st.World(u.of("gravity", 0, 0, -9.81))
    made.set_material("default", **{"friction": 0.4, **law})
    made.add_plane()
    return made


def pieces(u: Units, **law: object) -> st.World:
    """A box that slides and turns, a capsule that falls on another box, a ball that hits a wall."""
    w = world(u, **law)
    w.add_plane((-1, 0, 0.1), offset=-0.9 * u.m)
    box = {"shape": st.Box(u.of("m", 0.2, 0.2, 0.1)), "mass": 2.0 * u.kg}
    w.add_body(
        **box, position=u.of("m", 0, 0, 0.05), velocity=u.of("speed", 1.5, 0.3, 0), angular_velocity=(0, 0, 2 * u.spin)
    )
    w.add_body(**box, position=u.of("m", 0, 0.6, 0.05))
    w.add_body(
        st.Capsule(0.03 * u.m, 0.2 * u.m), mass=0.5 * u.kg, position=u.of("m", 0.08, 0.62, 0.2),
        orientation=(0.8, 0.1, 0.55, 0.2), velocity=u.of("speed", -0.3, 0, -0.5),
    )  # fmt: skip
    w.add_body(
        st.Sphere(0.05 * u.m), mass=0.3 * u.kg, position=u.of("m", 0.75, 0.3, 0.06), velocity=u.of("speed", 2, 0, -1)
    )
    return w


def machine(u: Units, **law: object) -> st.World:
    """Two links with a limit, dry friction, a motor and springs, and a slider that swings a ball on a rope."""
    w = world(u, **law)
    turned = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    link = st.Capsule(0.02 * u.m, 0.3 * u.m)
    a = w.add_body(link, mass=1.2 * u.kg, position=u.of("m", 0.15, 0, 1), orientation=turned)
    b = w.add_body(link, mass=0.7 * u.kg, position=u.of("m", 0.45, 0, 1), orientation=turned)
    hinge = w.add_joint(
        st.Revolute(a, None, anchor=u.of("m", 0, 0, 1), axis=(0, 1, 0), limits=(-1.5, 0.1), friction=0.05 * u.torque)
    )
    motor = st.Motor(speed=2.0 * u.spin, bound=0.3 * u.torque)
    w.add_joint(st.Revolute(b, a, anchor=u.of("m", 0.3, 0, 1), axis=(0, 1, 0), motor=motor))
    w.add_spring(hinge, stiffness=1.5 * u.torque, damping=0.02 * u.torque * u.s)
    w.add_force(b, u.of("force", 0.3, 0, 0.2), torque=u.of("torque", 0, 0.01, 0))
    c = w.add_body(st.Box(u.of("m", 0.2, 0.1, 0.1)), mass=2 * u.kg, position=u.of("m", 0, 1, 0.3))
    d = w.add_body(
        st.Sphere(0.06 * u.m), mass=0.5 * u.kg, position=u.of("m", 0.1, 1, 0.13), velocity=u.of("speed", 0, 0.2, 0)
    )
    push = st.Motor(position=0.2 * u.m, bound=8 * u.force, time=0.05 * u.s)
    w.add_joint(st.Prismatic(c, None, axis=(1, 0, 0), motor=push))
    w.add_joint(st.Rope(d, c, anchor_a=u.of("m", 0.1, 1, 0.13), anchor_b=u.of("m", 0, 1, 0.3)))
    w.add_spring(
        d, None, stiffness=30 * u.force / u.m, damping=0.5 * u.force / u.speed,
        anchor_a=u.of("m", 0.1, 1, 0.13), anchor_b=u.of("m", 0.1, 1.02, 0.43),
    )  # fmt: skip
    return w


def plane(u: Units, **law: object) -> st.PlanarWorld:
    """Disks and a polygon that fall into a corner."""
    w = world(u, planar=True, **law)
    w.add_plane((1, 0.1), offset=-0.12 * u.m)
    for i in range(3):
        place = u.of("m", 0.01 * i, 0.06 + 0.11 * i)
        w.add_body(st.Disk(0.05 * u.m), mass=(1 + i) * u.kg, position=place, velocity=u.of("speed", -0.3, -1))
    corners = np.array([(-0.06, -0.03), (0.06, -0.03), (0.0, 0.05)]) * u.m
    w.add_body(st.Polygon(corners), mass=u.kg, position=u.of("m", 0.02, 0.45), angular_velocity=3 * u.spin)
    return w


def soft(u: Units) -> dict[str, object]:
    return {"compliance": st.Compliance(2e4 * u.force / u.m, 50 * u.force / u.speed, 80 * u.force / u.speed)}


SCHEMES: dict[
    str, tuple[Callable[[], st.schemes.Scheme] | None, dict[str, object] | Callable[[Units], dict[str, object]]]
] = {
    "default": (st.AnitescuHart, {}),
    "convex": (lambda: st.AnitescuHart(relaxation="convex"), {}),
    "compliant contacts": (st.AnitescuHart, soft),
    "Newton's impacts": (st.Moreau, {"restitution": 0.4}),
    "Poisson's impacts": (lambda: st.Moreau(impact="poisson"), {"restitution": 0.4}),
    "Stronge's impacts": (lambda: st.Moreau(impact="stronge"), {"restitution": 0.4}),
    "as printed": (st.Stewart, {"restitution": 0.4}),
    "fixed point": (lambda: st.AnitescuHart(relaxation="fixed-point"), {}),
    "pivots": (st.StewartTrinkle, {}),
    "nonlinear": (lambda: st.StewartTrinkle(nonlinear=True), {}),
    "implicit": (st.TzitzourisPang, {}),
    "springs": (None, {}),
}
RARER = ("Stronge's impacts", "as printed", "fixed point", "nonlinear")


def turning(u: Units) -> dict[str, object]:
    return {"friction": st.Torsional(0.4, er=0.02 * u.m)}


def springs(u: Units) -> st.Compliant:
    stiff, damped = 2e4 * u.force / u.m, u.force / u.speed
    return st.Compliant(kn=stiff, gamma_n=50 * damped, gamma_t=80 * damped)


def motion(make: Callable[..., object], scheme: str, u: Units, steps: int = STEPS, **more: object) -> list[np.ndarray]:
    """Positions, velocities and normal impulses of all steps, in the usual units."""
    build, law = SCHEMES[scheme]
    world = make(u, **{**(law(u) if callable(law) else law), **more})
    sim = st.Simulator(world, dt=H * u.s, scheme=springs(u) if build is None else build(), on_overlap="warn")
    system, found = sim.system, []
    metres = np.tile(np.where(np.arange(system.dof) < system.dim, u.m, 1.0), system.nb)
    for _ in range(steps):
        contacts = sim.step().contacts
        places = system.bodies(sim.state.q).copy()
        places[:, : system.dim] /= u.m
        counted = contacts.key >= 0  # impulses of joints have units of their own
        found += [places, sim.state.v * u.s / metres, contacts.key, contacts.impulse[counted, 0] / (u.force * u.s)]
    return found


def same(
    make: Callable[..., object], scheme: str, exponents: tuple[int, int, int], steps: int = STEPS,
    law: Callable[[Units], dict[str, object]] = lambda u: {}, atol: float = 1e-150,
) -> None:  # fmt: skip
    ends = []
    for u in (Units(), Units(*exponents)):
        ends.append(motion(make, scheme, u, steps, **law(u)))
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(b, a, rtol=0, atol=atol)  # to the bit, but for numbers whose squares fade away


@pytest.mark.parametrize("make", [pieces, machine, plane])
@pytest.mark.parametrize("scheme", ["default", "Newton's impacts", "pivots", "implicit"])
def test_motion_is_the_same_in_other_units(make, scheme):
    same(make, scheme, OTHER)


@pytest.mark.long
@pytest.mark.parametrize("exponents", MORE)
@pytest.mark.parametrize("make", [pieces, machine, plane])
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in (*RARER, "springs")])
def test_motion_is_the_same_in_all_units(make, scheme, exponents):
    same(make, scheme, exponents)


def test_stiff_integrators_see_no_units():
    """Hinges, limits, motors and ropes among springs and dampers: what turns has them times a length squared."""
    same(machine, "springs", OTHER, steps=4)


@pytest.mark.long
@pytest.mark.parametrize("make", [pieces, machine, plane])
@pytest.mark.parametrize("scheme", RARER)
def test_rarer_schemes_see_no_units(make, scheme):
    same(make, scheme, OTHER)


@pytest.mark.long
@pytest.mark.parametrize("make", [pieces, machine, plane])
def test_springs_and_dampers_see_no_units(make):
    same(make, "springs", OTHER)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["compliant contacts", "springs", "default", "implicit", "pivots"])
def test_friction_that_resists_turning_sees_no_units(scheme):
    same(pieces, scheme, OTHER, 10, turning, 1e-9 if scheme == "springs" else 1e-150)


@pytest.mark.parametrize("length", [-30, 20])
def test_what_a_world_is_made_of_sees_no_units(length):
    """Masses of hulls, polygons in place of an ellipsoid of slip and spin, and what a tilted hinge misses at first."""
    rng, made = np.random.default_rng(5), []
    points, places, axis = rng.normal(size=(9, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    turns = rng.normal(size=(2, 4))
    for u in (Units(), Units(length)):
        w = st.World()
        a, b = (
            w.add_body(st.ConvexHull(points * u.m), mass=1.0, position=place * u.m, orientation=turn)
            for place, turn in zip(places, turns)
        )
        w.add_joint(st.Revolute(a, b, anchor=places[2] * u.m, axis=axis))
        st.Simulator(w, 0.01, on_overlap="warn")  # whose round-off is that of an angle, whatever the size of the bodies
        disk = st.Torsional(0.3, 1.0, 0.7, 0.02 * u.m).polyhedral(3)
        made.append([w.bodies[1].inertia / u.m**2, w.bodies[1].com / u.m, disk.directions(3) / [1.0, 1.0, u.m]])
    for one, other in zip(*made):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mass", [1e-12, 1e12])
def test_bodies_of_any_mass_meet_the_default_tolerance(mass):
    w = st.World()
    w.add_plane()
    box = w.add_body(st.Box((10, 10, 10)), mass=mass, position=(0, 0, 5), velocity=(0.5, 0, 0))
    sim = st.Simulator(w, dt=0.005)
    for _ in range(20):
        step = sim.step()
        assert step.success
        assert step.solution.certificate.scaled_map < 1e-12
    slid = 20 * 0.005 * 0.5 - 0.5 * 9.81 * 0.005**2 * sum(range(1, 21))  # friction 0.5, in each step
    assert _place(sim, box) == pytest.approx(slid, rel=1e-12)


def _place(sim: st.Simulator, body: object) -> float:
    return float(sim.system.bodies(sim.state.q)[sim.system.names.index(body.name), 0])


def test_a_sliding_box_does_not_know_its_mass():
    """Four corners: the load is indeterminate, and which of the many motions is taken must not depend on the mass."""
    ends = []
    for mass in (1.0, 1e3 / 3, 1e-9):
        w = st.World()
        w.set_material("default", friction=0.3)
        w.add_plane()
        start = {"velocity": (1.5, 0.3, 0), "angular_velocity": (0, 0, 2.0)}
        w.add_body(st.Box((0.2, 0.2, 0.2)), mass=mass, position=(0, 0, 0.1), **start)
        sim = st.Simulator(w, dt=0.005)
        for _ in range(80):
            sim.step()
        ends.append(sim.state.q[7 * 2 :])
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=0, atol=1e-9)
