"""What a step runs into holds it, though nothing at its start said so: every rigid scheme solves it again with that.

Impulses make a body faster than its free motion. A ball of 100 kg comes down at 1 m/s on a lever of 0.1 kg, 0.2 m from
its bearing: the far end, ten times as far away, rises ten times as fast as anything moved before. A step looks for
contacts within 2 cm, or 4 cm, and moves that end by 9 cm.

Bodies turn, so that other features of them come first than those that were nearest: boxes that spin hit each other.

Depths are measured here, from states alone: by support functions, and along the axes that can separate two boxes.
"""

import itertools

import numpy as np
import pytest

import stiction as st

H, ARM = 0.01, 1.9  # s; m from the bearing to below the obstacle
SCHEMES = [st.AnitescuHart(), st.StewartTrinkle(), st.TzitzourisPang(), st.Moreau()]
EACH_SCHEME = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)


def catapult(space, gap, radius=0.05, scheme=None, restitution=0.0, **options):
    """The lever lies along x, its bearing at the origin; an obstacle of this radius hangs `gap` above its far end."""
    world = st.World(gravity=(0, 0, 0)) if space else st.PlanarWorld(gravity=(0, 0))
    world.set_material("default", friction=0.0)
    if space:
        ball, beam, axis = st.Sphere, st.Box((2.2, 0.04, 0.04)), {"axis": (0, -1, 0)}
    else:
        ball, beam, axis = st.Disk, st.Rod(0.02, 2.2), {}

    def at(x, y):
        return (x, 0.0, y) if space else (x, y)

    lever = world.add_body(beam, mass=0.1, position=at(0.9, 0.0), name="lever")
    world.add_joint(st.Revolute(lever, None, anchor=at(0.0, 0.0), **axis))
    world.add_body(ball(0.1), mass=100.0, position=at(-0.2, 0.12), velocity=at(0.0, -1.0), name="weight")
    obstacle = world.add_body(ball(radius), kind="fixed", position=at(ARM, 0.02 + radius + gap), name="obstacle")
    if restitution:
        world.set_contact(lever, obstacle, restitution=restitution)
    return st.Simulator(world, H, scheme=scheme or st.AnitescuHart(), tol=1e-9, **options)


def turn(sim, space):
    """The lever's angular velocity [rad/s], up at the far end."""
    v = sim.state.v.reshape(sim.system.nb, -1)[1]
    return -v[4] if space else v[2]


@EACH_SCHEME
@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize(("gap", "radius"), [(0.03, 0.05), (0.05, 0.05), (0.08, 0.05), (0.05, 0.002)])
def test_a_struck_lever_stops_at_what_it_reaches(scheme, space, gap, radius):
    """The last one is so thin that it would lie behind the lever after the step, and overlap nothing."""
    sim = catapult(space, gap, radius, scheme)
    beyond = sim.scheme.band(sim.system, sim.state, H) < gap
    assert beyond or gap == 0.03
    result = sim.step()
    assert result.success
    # as far as it can go in this step; with gaps of its end an arc is a little shorter than its tangent
    arc = 2e-3 if isinstance(scheme, st.TzitzourisPang) else 1e-6
    assert turn(sim, space) == pytest.approx(gap / (ARM * H), rel=arc)
    assert result.certificate.penetration < gap**2  # the chord of its arc
    if isinstance(scheme, st.AnitescuHart):
        assert len(result.solves) == 2


@EACH_SCHEME
@pytest.mark.parametrize("space", [False, True])
def test_what_it_does_not_reach_does_not_act(scheme, space):
    sim = catapult(space, 0.2, scheme=scheme)
    result = sim.step()
    assert len(result.contacts.key) == 2  # bearing and weight
    if isinstance(scheme, st.AnitescuHart):
        assert len(result.solves) == 1


@pytest.mark.parametrize("scheme", [st.AnitescuHart(eps=0.01), st.StewartTrinkle(active=0.01)])
def test_contacts_that_were_said_to_act_are_kept(scheme):
    """Contacts further than eps do not act (ah03 eq. 2.13); that they were reached is said by the certificate."""
    sim = catapult(False, 0.05, scheme=scheme)
    result = sim.step()
    assert len(result.solves) == 1
    assert result.certificate.penetration > 0.03


@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize("radius", [0.05, 0.002])
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_moreau_throws_back_what_it_was_not_to_reach(space, radius, e):
    """The lever is put where it touches, with its speed; the next step finds that speed, and answers with e of it."""
    sim = catapult(space, 0.05, radius, st.Moreau(), e)
    first = sim.step()
    assert first.certificate.penetration < 1e-9
    speed = turn(sim, space)
    assert speed > 1.5 * 0.05 / (ARM * H)  # more than takes it there
    sim.step()
    assert turn(sim, space) == pytest.approx(-e * speed, rel=1e-3)  # the weight follows


@pytest.mark.parametrize("space", [False, True])
def test_the_compiled_loop_leaves_such_a_step_to_the_scheme(space):
    slow, fast = catapult(space, 0.05), catapult(space, 0.05)
    for _ in range(3):
        slow.step()
    fast._take_unrecorded(3)
    np.testing.assert_array_equal(fast.state.q, slow.state.q)
    np.testing.assert_array_equal(fast.state.v, slow.state.v)


# --- bodies that turn


def rotation(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def unit(x):
    return x / np.linalg.norm(x)


def strays(h, before, after, reach):
    """How far surfaces stray from straight lines in a step [m]: ½ (h ω)² times the size of each body."""
    spins = [np.linalg.norm(v.reshape(-1, 6)[:, 3:], axis=1) for v in (before, after)]
    return 0.5 * h * h * float((np.maximum(*spins) ** 2).sum()) * reach


def depths(sim, steps, depth, reach):
    """Of each step the true depth, the one that is certified, and how far surfaces stray in it."""
    seen = []
    for _ in range(steps):
        before = sim.state.v
        result = sim.step()
        places = [(x[:3], rotation(x[3:])) for x in sim.state.q.reshape(-1, 7)]
        seen.append((depth(places), result.certificate.penetration, strays(sim.dt, before, sim.state.v, reach)))
    return np.array(seen).T


SIZES = np.array([0.2, 0.15, 0.1])
CORNERS = SIZES * np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


def depth_of_boxes(places):
    """The least displacement [m] that separates two boxes: along a normal of a face or across two edges."""
    (_, (xa, Ra), (xb, Rb)) = places
    a, b = xa + CORNERS @ Ra.T, xb + CORNERS @ Rb.T
    across = [np.cross(u, v) for u in Ra.T for v in Rb.T]
    axes = [*Ra.T, *Rb.T, *(unit(n) for n in across if np.linalg.norm(n) > 1e-6)]
    return max(0.0, min(min((a @ n).max() - (b @ n).min(), (b @ n).max() - (a @ n).min()) for n in axes))


def thrown_boxes(scheme, h, spin, seed, restitution=0.0):
    rng = np.random.default_rng(seed)
    world = st.World(gravity=(0, 0, 0))
    world.set_material("default", friction=0.3, restitution=restitution)
    for side in (-1, 1):
        turning, orientation = spin * unit(rng.normal(size=3)), unit(rng.normal(size=4))
        place = (0.16 * side, 0.0, 0.0) + 0.03 * rng.normal(size=3)
        world.add_body(st.Box(tuple(SIZES)), density=1000, position=place, orientation=orientation,
                       velocity=(-1.0 * side, 0.0, 0.0), angular_velocity=turning)  # fmt: skip
    return st.Simulator(world, h, scheme=scheme)


THROWS = [(25.0, h, seed) for h in (0.01, 0.005, 0.0025) for seed in (2, 3, 11, 19)] + [(30.0, 0.01, 17)]


@EACH_SCHEME
def test_boxes_that_spin_into_each_other(scheme):
    """Seeds in which edges and corners come first that were not: without them depths are up to five times as large."""
    for spin, h, seed in THROWS:
        sim = thrown_boxes(scheme, h, spin, seed)
        true, said, least = depths(sim, round(0.15 / h), depth_of_boxes, 0.5 * np.linalg.norm(SIZES))
        assert (true <= said + 1e-9).all(), (spin, h, seed)
        assert (true <= 1.1 * least + 1e-9).all(), (spin, h, seed)  # of order h²


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_boxes_that_spin_and_bounce(e):
    for spin, h, seed in THROWS:
        sim = thrown_boxes(st.Moreau(gains="cap"), h, spin, seed, e)
        true, said, least = depths(sim, round(0.15 / h), depth_of_boxes, 0.5 * np.linalg.norm(SIZES))
        assert (true <= said + 1e-9).all(), (spin, h, seed)
        assert (true <= 1.1 * least + 1e-9).all(), (spin, h, seed)


def hull_of(count):
    points = np.random.default_rng(0).normal(size=(count, 3))
    return 0.1 * points / np.linalg.norm(points, axis=1)[:, None]


@EACH_SCHEME
@pytest.mark.parametrize("floor", ["plane", "block"])
def test_a_hull_that_spins_onto_the_ground(scheme, floor):
    """Of each step the depth is certified, and of order h²: twelve vertices, up to 0.2 rad in a step."""
    points = hull_of(12)
    for h, seed in itertools.product((0.01, 0.005, 0.0025), range(3)):
        rng = np.random.default_rng(seed)
        world = st.World()
        if floor == "plane":
            world.add_plane()
        else:
            world.add_body(st.Box((4.0, 4.0, 1.0)), kind="fixed", position=(0, 0, -0.5))
        orientation, turning = unit(rng.normal(size=4)), 20.0 * unit(rng.normal(size=3))
        world.add_body(st.ConvexHull(points), density=1000, position=(0, 0, 0.13), velocity=(1, 0, -1),
                       orientation=orientation, angular_velocity=turning)  # fmt: skip
        sim = st.Simulator(world, h, scheme=scheme)
        about = points - world.bodies[2].com

        def depth(places, about=about):
            x, R = places[2]
            return max(0.0, -(x + about @ R.T)[:, 2].min())

        true, said, least = depths(sim, round(0.3 / h), depth, 0.1)
        assert (true <= said + 1e-9).all(), (h, seed)
        assert (true <= 1.1 * least + 2e-6).all(), (h, seed)  # m: where it has come to rest


def test_what_it_goes_on_running_into_is_told(monkeypatch):
    """Contacts that no solve holds: the step has failed, and its message names one."""
    from stiction.schemes import missed_contacts

    monkeypatch.setattr(missed_contacts, "RETRIES_MAX", 0)
    for scheme in SCHEMES:
        result = catapult(False, 0.05, scheme=scheme, on_failure="continue").step()
        assert result.status is st.Status.NOT_CONVERGED
        assert "obstacle" in result.message
        assert result.certificate.penetration > 0.01


# --- nearest points that move to another place within a step


@EACH_SCHEME
@pytest.mark.parametrize("angle", [0.11, 0.15, 0.3])
def test_a_rod_that_tilts_on_one_end_of_a_ridge_stops_at_the_other(scheme, angle):
    """It touches the left end, tilted by 0.1 rad, and turns by `angle` in the step: up to 19 mm deep into the right."""
    world, tilt, pivot = st.World(gravity=(0, 0, 0)), 0.1, np.array([-0.05, 0.0, 0.0])
    ridge = [(x, y, -0.1) for x in (-0.05, 0.05) for y in (-0.1, 0.1)] + [(-0.05, 0, 0), (0.05, 0, 0)]
    world.add_body(st.ConvexHull(ridge), kind="fixed", name="ridge")
    axis, up = np.array([np.cos(tilt), 0, np.sin(tilt)]), np.array([-np.sin(tilt), 0, np.cos(tilt)])
    arm, half, spin = 0.02 * up + 0.05 * axis, np.pi / 4 - tilt / 2, np.array([0.0, angle / H, 0.0])
    world.add_body(
        st.Capsule(0.02, 0.2), mass=1.0, position=pivot + arm, orientation=(np.cos(half), 0, np.sin(half), 0),
        velocity=np.cross(spin, arm), angular_velocity=spin, name="rod",
    )  # fmt: skip
    result = st.Simulator(world, H, scheme=scheme).step()
    assert result.success
    assert result.certificate.penetration < 1e-9


@pytest.mark.parametrize("floor", ["plane", "block"])
def test_the_rim_of_a_cylinder_that_spins_onto_the_ground(floor):
    """Eight points of a rim are contacts; what reaches deeper between them is added, and depth is of order h².

    Half a millimetre is what a rim of 0.1 m that rolls on its edge left between its points, whatever the step.
    """
    worst = {}
    for h, seed in itertools.product((0.01, 0.0025), range(6)):
        rng = np.random.default_rng(seed)
        world = st.World()
        world.set_material("default", friction=0.5)
        if floor == "plane":
            world.add_plane()
        else:
            world.add_body(st.Box((2, 2, 0.2)), kind="fixed", position=(0, 0, -0.1))
        orientation, turning = unit(rng.normal(size=4)), rng.uniform(-15, 15, 3)
        world.add_body(st.Cylinder(0.1, 0.1), mass=1.0, position=(0, 0, 0.2), orientation=orientation,
                       angular_velocity=turning, velocity=rng.uniform(-1, 1, 3))  # fmt: skip
        sim = st.Simulator(world, h, tol=1e-8)

        def depth(places):
            x, R = places[2]
            return max(0.0, 0.1 * np.hypot(*R[2, :2]) + 0.05 * abs(R[2, 2]) - x[2])

        true, said, _ = depths(sim, round(0.6 / h), depth, 0.1)
        assert (true <= said + 1e-8).all(), (h, seed)
        worst[h] = max(worst.get(h, 0.0), true.max())
    assert worst[0.0025] < worst[0.01] / 6
    assert worst[0.0025] < 1e-4
