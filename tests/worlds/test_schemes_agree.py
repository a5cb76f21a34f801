"""The schemes on the same worlds: they meet as the step shrinks, and each keeps its promise about gaps."""

import math

import numpy as np
import pytest

import stiction as st

G = 9.81
AH, ST, STN = st.AnitescuHart(directions=8), st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)


def dropped_ball():
    """Thrown, lands, slides and then rolls."""
    world = st.World()
    world.add_plane()
    ball = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.3), velocity=(1.0, 0, 0))
    return world, ball


def pushed_box():
    """Pushed off its centre it slides and turns."""
    world = st.PlanarWorld()
    world.add_plane()
    box = world.add_body(st.Polygon.box(0.4, 0.2), mass=1.0, position=(0, 0.1))
    world.add_force(box, lambda t, s: (8.0 if t < 0.2 else 0.0, 0.0))
    return world, box


def disk_over_disk():
    world = st.PlanarWorld()
    world.add_body(st.Disk(1.0), kind="fixed")
    disk = world.add_body(st.Disk(0.2), mass=1.0, position=1.2 * np.array([math.sin(0.2), math.cos(0.2)]))
    return world, disk


def box_on_its_edge():
    """A tilted box that falls flat."""
    world = st.PlanarWorld()
    world.add_plane()
    c, s = math.cos(0.3), math.sin(0.3)
    height = 0.2 * s + 0.1 * c
    box = world.add_body(st.Polygon.box(0.4, 0.2), mass=1.0, position=(0, height), angle=0.3)
    return world, box


SCENES = {
    "ball": (dropped_ball, 0.5),
    "box": (pushed_box, 0.5),
    "hill": (disk_over_disk, 0.6),
    "edge": (box_on_its_edge, 0.4),
}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("other", [ST, STN], ids=["linearised", "nonlinear"])
def test_schemes_meet_as_the_step_shrinks(scene, other):
    make, duration = SCENES[scene]
    apart = []
    for h in (0.016, 0.001):
        ends = []
        for scheme in (AH, other):
            world, body = make()
            run = st.Simulator(world, h, scheme=scheme).run(duration)
            ends.append(run.position(body)[-1])
        apart.append(np.abs(ends[0] - ends[1]).max())
    assert apart[-1] < 8e-3
    assert apart[-1] < 1e-9 or apart[-1] < 0.5 * apart[0]


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("h", [0.02, 0.005])
def test_nonlinear_version_never_overlaps(scene, h):
    """st96 §3.6: the gap function itself is complementary to the impulse at the new configuration."""
    make, duration = SCENES[scene]
    world, _ = make()
    run = st.Simulator(world, h, scheme=STN).run(duration)
    assert run.certificate.worst["penetration"] < 1e-10
    pressed = run.table.impulse[:, 0] > 1e-9
    np.testing.assert_allclose(run.table.gap[pressed], 0.0, atol=1e-8)


@pytest.mark.parametrize("scheme", [AH, ST, STN], ids=["anitescu-hart", "linearised", "nonlinear"])
def test_flat_contacts_are_met_exactly_by_all(scheme):
    """Where the gap is linear in the motion there is nothing to choose: landing flat leaves no gap and no overlap."""
    world = st.World()
    floor = world.add_plane()
    box = world.add_body(st.Box((0.4, 0.3, 0.2)), mass=1.0, position=(0, 0, 0.5), velocity=(0.5, 0, 0))
    run = st.Simulator(world, 0.01, scheme=scheme).run(0.6)
    assert run.certificate.worst["penetration"] < 1e-13
    np.testing.assert_allclose(run.position(box)[-10:, 2], 0.1, atol=1e-12)
    assert run.force(box, floor)[-1, 2] == pytest.approx(G, rel=1e-9)


def test_overlap_of_the_linearised_steps_is_of_second_order():
    """A box that falls on its face turns into the floor by O(h²) per step; the nonlinear version by nothing."""
    worst = {}
    for name, scheme in (("ah", AH), ("st", ST)):
        worst[name] = []
        for h in (0.02, 0.01, 0.005):
            world, _ = box_on_its_edge()
            worst[name].append(st.Simulator(world, h, scheme=scheme).run(0.4).certificate.worst["penetration"])
    for values in worst.values():
        assert max(values) < 1e-12 or values[2] < 0.35 * values[0]


def test_active_distance_decides_what_is_seen():
    """With eps far too small a fast ball is found only when it is inside; the default band never misses it."""

    def deepest(scheme):
        world = st.World()
        world.add_plane()
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 1.0), velocity=(0, 0, -10.0))
        return st.Simulator(world, 0.005, scheme=scheme).run(0.3).certificate["penetration"].max()

    assert deepest(AH) < 1e-12
    assert deepest(st.AnitescuHart(directions=8, eps=0.2)) < 1e-12
    inside = deepest(st.AnitescuHart(directions=8, eps=0.0))
    assert inside == 0.0 or inside < 0.06  # found one step late at most: h v


@pytest.mark.parametrize(("scheme", "speed"), [(s, v) for s in (AH, ST) for v in (5.0, 50.0, 500.0)])
def test_fast_bodies_do_not_pass_through_each_other(scheme, speed):
    """Head on, at many radii per step: also where the prediction lies behind the other body (st96)."""
    world = st.World(gravity=(0, 0, 0))
    a = world.add_body(st.Sphere(0.05), mass=1.0, position=(-1, 0, 0), velocity=(speed, 0, 0))
    b = world.add_body(st.Sphere(0.05), mass=1.0, position=(1, 0, 0), velocity=(-speed, 0, 0))
    run = st.Simulator(world, 0.01, scheme=scheme).run(0.5)
    assert (run.position(b)[:, 0] - run.position(a)[:, 0]).min() > 0.1 - 1e-12
    np.testing.assert_allclose(run.velocity(a)[-1], 0.0, atol=1e-12)
