"""Wedge, screw and capstan: what friction holds, and from where on it does not."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stiction as st

G = 9.81
MARGIN = 0.01  # on both sides of the limit


def capstan(drum, n, turn, mu, ratio):
    """A chain of n beads on a drum, each at an angle `turn` from the next, pulled at its ends by 1 N and by `ratio`.

    On the "prism" the beads are blocks, each flat on a face; on the "disk" they are disks, too sluggish to roll.
    """
    radius, size = 1.0, 0.1
    world = st.PlanarWorld(gravity=(0, 0))
    world.set_material("default", friction=mu)
    faces = np.arange(round(2 * math.pi / turn)) * turn
    corners = radius / math.cos(turn / 2) * np.column_stack([np.cos(faces - turn / 2), np.sin(faces - turn / 2)])
    world.add_body(st.Disk(radius) if drum == "disk" else st.Polygon(corners), kind="fixed", name="drum")
    beads, places = [], []
    for angle in faces[:n]:
        out = np.array([math.cos(angle), math.sin(angle)])
        places.append((radius + 0.5 * size) * out)
        bead = {"position": places[-1], "angle": angle, "mass": 0.1}
        if drum == "disk":
            beads.append(world.add_body(st.Disk(0.5 * size), inertia=1e6, **bead))
        else:
            beads.append(world.add_body(st.Polygon.box(size, size), **bead))
        if len(beads) > 1:
            world.add_joint(st.Rope(beads[-1], beads[-2], anchor_a=places[-1], anchor_b=places[-2]))
    for bead, angle, pull in ((beads[0], -0.5 * turn, -1.0), (beads[-1], faces[n - 1] + 0.5 * turn, ratio)):
        world.add_force(bead, pull * np.array([-math.sin(angle), math.cos(angle)]))
    return world, beads


@pytest.mark.parametrize("drum", ["prism", "disk"])
@pytest.mark.parametrize(
    ("n", "turn", "mu"), [(6, math.pi / 6, 0.3), (18, math.pi / 18, 0.25), (22, math.pi / 12, 0.2)]
)
def test_capstan(drum, n, turn, mu):
    """A link leaves a bead at half the angle between two: N = (T + T') sin, F = (T' - T) cos, and F <= µ N gives

    T'/T <= (1 + µ tan(β/2))/(1 - µ tan(β/2)), whose product over all beads tends to e^{µθ} from above.
    """
    t = mu * math.tan(turn / 2)
    limit = ((1 + t) / (1 - t)) ** n
    euler = math.exp(mu * n * turn)
    assert euler < limit < euler ** (1 + turn**2 / 8)
    for ratio, holds in ((limit / (1 + MARGIN), True), (limit * (1 + MARGIN), False)):
        world, beads = capstan(drum, n, turn, mu, ratio)
        run = st.Simulator(world, 0.002, tol=1e-9).run(0.1)
        moved = [float(np.linalg.norm(run.position(b)[-1] - run.position(b)[0])) for b in beads]
        if holds:
            assert max(moved) < 1e-7
        else:
            assert min(moved) > 1e-5  # all of them, towards the greater pull


def wedge(angle, under, over):
    """A light wedge on a floor, under a block that slides up and down in a guide and is pressed down with 100 N."""
    world = st.PlanarWorld(gravity=(0, 0))
    floor = world.add_half_plane()
    rise = math.tan(angle)
    body = world.add_body(st.Polygon([(-1, 0), (1, 0), (1, 0.2 + 2 * rise), (-1, 0.2)]), mass=0.5, name="wedge")
    left, right = 0.2 + 0.7 * rise, 0.2 + 1.3 * rise
    outline = [(-0.3, left), (0.3, right), (0.3, right + 0.5), (-0.3, right + 0.5)]
    block = world.add_body(st.Polygon(outline), mass=1.0, name="block")
    world.add_joint(st.Prismatic(block, None, axis=(0, 1)))
    world.add_force(block, (0, -100.0))
    world.set_contact(body, floor, friction=under)
    world.set_contact(body, block, friction=over)
    return world, body


@pytest.mark.parametrize(("under", "over"), [(0.2, 0.2), (0.1, 0.4), (0.5, 0.0)])
def test_wedge_locks_itself(under, over):
    """The reactions of floor and block on a light wedge lie on one line: it stays when angle < atan µ1 + atan µ2."""
    limit = math.atan(under) + math.atan(over)
    for angle, stays in ((limit * (1 - MARGIN), True), (limit * (1 + MARGIN), False)):
        world, body = wedge(angle, under, over)
        run = st.Simulator(world, 0.002, tol=1e-8).run(0.2)
        moved = run.position(body)[-1, 0] - run.position(body)[0, 0]
        if stays:
            assert abs(moved) < 1e-6
        else:
            assert moved > 1e-3  # out, with its thick end ahead


@pytest.mark.parametrize("lead", [0.98, 1.02, 1.5])
def test_screw_locks_itself_by_the_friction_of_its_joint(lead):
    """A nut under its weight on threads of radius r, whose friction is a torque µ m g r; k = pitch/2π = r tan(angle).

    It stays when k < µ r; beyond, (I + m k²) w' = m g (k - µ r). `lead` is k/(µ r).
    """
    mu, r, m, inertia = 0.12, 0.02, 3.0, 2e-3
    k = r * lead * mu
    world = st.World()
    nut = world.add_body(None, mass=m, inertia=(inertia, inertia, inertia))
    thread = world.add_joint(
        st.Screw(nut, None, anchor=(0, 0, 0), axis=(0, 0, 1), pitch=2 * math.pi * k, friction=mu * m * G * r)
    )
    run = st.Simulator(world, 0.005, tol=1e-10).run(0.5)
    rate = max(0.0, m * G * (k - mu * r)) / (inertia + m * k**2)
    np.testing.assert_allclose(run.joint(thread).speed, -rate * run.times[1:], atol=1e-7)
    np.testing.assert_allclose(run.position(nut)[1:, 2], k * run.joint(thread).coordinate, atol=1e-9)


def three_start_screw(slope, mu):
    """A nut in a bush, on three pads at radius r, each on its own thread: a ramp that rises along the circle."""
    r, pad = 0.5, 0.005  # small: the point of contact lies off the middle by pad·sin(slope)
    world = st.World()
    world.set_material("default", friction=mu)
    pads, ramps = [], []
    for turn in (Rotation.from_euler("z", a) for a in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)):
        pads.append(st.Sphere(pad, position=turn.apply([r, 0, 0])))
        ramp = turn * Rotation.from_euler("x", slope)  # at (r, 0, 0) the circle runs along y
        middle = turn.apply([r, 0, 0]) - ramp.apply([0, 0, pad + 0.05])
        ramps.append(st.Box((0.3, 0.3, 0.1), position=middle, orientation=ramp.as_quat(scalar_first=True)))
    world.add_body(ramps, kind="fixed", name="threads")
    nut = world.add_body(pads, mass=2.0, inertia=(0.3, 0.3, 0.5), com=(0, 0, 0), name="nut")
    bush = world.add_joint(st.Cylindrical(nut, None, anchor=(0, 0, 0), axis=(0, 0, 1)))
    return world, nut, bush


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_screw_locks_itself_on_threads_that_touch(mu):
    """The same by contact: three pads on ramps at the lead angle hold while tan(lead) < µ.

    Beyond, with slip s: m s'' sin = m g - N (cos + µ sin) and I s'' cos/r² = N (sin - µ cos).
    """
    h, r, m, inertia = 0.005, 0.5, 2.0, 0.5
    for factor in (1 - MARGIN, 1 + MARGIN, 1.4):
        lead = factor * math.atan(mu)
        world, nut, bush = three_start_screw(lead, mu)
        run = st.Simulator(world, h, tol=1e-8).run(0.2)
        t, c, s = run.times[1:], math.cos(lead), math.sin(lead)
        fallen = -run.joint(bush).coordinate
        if factor < 1:
            assert np.abs(fallen).max() < 1e-7
        else:
            along = m * G / (m * s + inertia * c * (c + mu * s) / (r**2 * (s - mu * c)))
            np.testing.assert_allclose(fallen, along * s * t * (t + h) / 2, rtol=2e-3, atol=1e-7)
            assert fallen[-1] > 1e-5
            turned = 2 * run.orientation(nut)[-1, 3]
            assert turned == pytest.approx(-fallen[-1] / (r * math.tan(lead)), rel=2e-3)
