"""The same world gives the same motion: again, by names or handles, and in whatever order bodies were added."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st

STEP = st.AnitescuHart(directions=8)
seeds = hs.integers(0, 2**32 - 1)


def parts(seed, dim, count=5, boxes=True):
    """Bodies above a floor, as (name, shape, options)."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        if dim == 3:
            shape = [st.Sphere(0.2), st.Box((0.3, 0.4, 0.2)), st.Capsule(0.1, 0.3)][int(rng.integers(3))]
            shape = shape if boxes or not isinstance(shape, st.Box) else st.Sphere(0.25)
            options = {"orientation": rng.normal(size=4), "angular_velocity": rng.normal(size=3)}
        else:
            shape = [st.Disk(0.2), st.Polygon.box(0.3, 0.4), st.Rod(0.1, 0.3)][int(rng.integers(3))]
            options = {"angle": float(rng.normal()), "angular_velocity": float(rng.normal())}
        place = np.zeros(dim)
        place[0], place[-1] = 0.25 * rng.normal(), 0.4 + 0.55 * i
        found.append((f"part{i}", shape, {"mass": float(rng.uniform(0.5, 2)), "position": place, **options}))
    return found


def build(bodies, dim, floor_at):
    world = st.World() if dim == 3 else st.PlanarWorld()
    for i, (name, shape, options) in enumerate(bodies):
        if i == floor_at:
            world.add_plane(name="floor")
        world.add_body(shape, name=name, **options)
    if floor_at >= len(bodies):
        world.add_plane(name="floor")
    return world


def contact_set(world, band):
    """Contacts as {(names): sorted (gap, point)}, whatever the numbers of bodies."""
    model = world.build()
    q = model.initial_state().q
    found = model.detect(0.0, q, band)
    place = model.contact_geometry(found, q)
    gaps = model.gaps(found, 0.0, q)
    seen = {}
    for (a, b), gap, point in zip(place.bodies.tolist(), gaps.tolist(), place.point.tolist()):
        seen.setdefault(frozenset((model.names[a], model.names[b])), []).append(
            (round(gap, 11), *np.round(point, 9) + 0.0)
        )
    return {pair: sorted(entries) for pair, entries in seen.items()}


@pytest.mark.parametrize("dim", [2, 3])
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_contacts_do_not_depend_on_the_order(dim, seed):
    rng = np.random.default_rng(seed)
    bodies = parts(seed, dim, 7)
    for _, _, options in bodies:  # crowd them
        options["position"][-1] *= 0.5
    first = contact_set(build(bodies, dim, 0), 0.2)
    assert first
    order = rng.permutation(7)
    assert contact_set(build([bodies[i] for i in order], dim, int(rng.integers(8))), 0.2) == first


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_trajectories_do_not_depend_on_the_order(dim, seed):
    """Half a second of falling and colliding. No boxes in space: how four corners share a load is not unique, and with
    friction neither is the motion that follows; which of the solutions is found may depend on their order."""
    bodies = parts(seed, dim, 4, boxes=dim == 2)
    rng = np.random.default_rng(seed)
    runs = []
    for order, floor_at in (((0, 1, 2, 3), 0), (tuple(rng.permutation(4)), 2), ((3, 2, 1, 0), 4)):
        run = st.Simulator(build([bodies[i] for i in order], dim, floor_at), 0.01, scheme=STEP).run(0.5)
        runs.append(np.concatenate([run.position(f"part{i}") for i in range(4)], axis=1))
    assert np.abs(np.diff(runs[0], 2, axis=0)).max() > 1e-3  # they did collide
    for other in runs[1:]:
        np.testing.assert_allclose(other, runs[0], atol=1e-9)


def test_a_standing_tower_does_not_depend_on_the_order():
    """Redundant contacts: impulses are not unique, the motion is."""
    positions = []
    for order in itertools.permutations(range(3)):
        world = st.World()
        for i in order:
            world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0 + i, position=(0.01 * i, 0, 0.1 + 0.2 * i), name=f"b{i}")
        world.add_plane()
        run = st.Simulator(world, 0.01, scheme=STEP).run(0.1)
        positions.append(np.concatenate([run.position(f"b{i}") for i in range(3)], axis=1))
    for other in positions[1:]:
        np.testing.assert_allclose(other, positions[0], atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scheme", [STEP, st.StewartTrinkle()], ids=["AnitescuHart", "StewartTrinkle"])
def test_reruns_are_equal_to_the_bit(dim, scheme):
    bodies = parts(11, dim)
    one = st.Simulator(build(bodies, dim, 0), 0.01, scheme=scheme).run(0.5)
    sim = st.Simulator(build(bodies, dim, 0), 0.01, scheme=scheme)
    two = sim.run(0.5)
    sim.reset()
    three = sim.run(0.5)
    for other in (two, three):
        np.testing.assert_array_equal(other.q, one.q)
        np.testing.assert_array_equal(other.v, one.v)
        np.testing.assert_array_equal(other.table.impulse, one.table.impulse)


def test_two_halves_of_a_run_are_the_whole():
    bodies = parts(5, 2)
    whole = st.Simulator(build(bodies, 2, 0), 0.01).run(0.6)
    sim = st.Simulator(build(bodies, 2, 0), 0.01)
    first, second = sim.run(0.3), sim.run(0.3)
    np.testing.assert_array_equal(np.vstack([first.q, second.q[1:]]), whole.q)
    np.testing.assert_array_equal(np.concatenate([first.times, second.times[1:]]), whole.times)


def test_handles_and_names_are_the_same():
    world = st.PlanarWorld()
    floor = world.add_plane(name="floor")
    disk = world.add_body(st.Disk(0.1), mass=1.0, position=(0, 0.1), name="disk")
    rod = world.add_body(st.Rod(0.05, 0.5), mass=1.0, position=(0.5, 0.3), name="rod")
    hinge = world.add_joint(st.Revolute("rod", disk, anchor=(0.2, 0.2), name="hinge"))
    world.set_contact("disk", floor, friction=0.2)
    world.add_force("disk", (1.0, 0))
    run = st.Simulator(world, 0.01).run(0.1)
    for read in (run.position, run.velocity, run.angle, run.angular_velocity):
        np.testing.assert_array_equal(read(disk), read("disk"))
        np.testing.assert_array_equal(read(rod), read("rod"))
    np.testing.assert_array_equal(run.force(disk, "floor"), run.force("disk", floor))
    np.testing.assert_array_equal(run.joint(hinge).impulse, run.joint("hinge").impulse)


@pytest.mark.parametrize("dim", [2, 3])
def test_moving_the_whole_scene_moves_the_motion(dim):
    """Far from the origin by a power of two: the same to round-off."""
    shift = np.zeros(dim)
    shift[0] = 64.0
    runs = []
    for offset in (np.zeros(dim), shift):
        bodies = parts(2, dim, 3)
        for _, _, options in bodies:
            options["position"] = options["position"] + offset
        run = st.Simulator(build(bodies, dim, 0), 0.01, scheme=STEP).run(0.3)
        runs.append(np.concatenate([run.position(f"part{i}") - offset for i in range(3)], axis=1))
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-9)
