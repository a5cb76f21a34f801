"""Handles mean their own body and no other of its name; a world that changes is noticed by its simulators."""

import copy
import pickle

import numpy as np
import pytest

import stiction as st


def scene():
    """A ball on a floor and a driven arm."""
    world = st.World()
    floor = world.add_plane(name="floor")
    ball = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), name="ball")
    arm = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 2, 1), name="arm")
    motor = st.Motor(speed=1.0, bound=50.0)
    hinge = world.add_joint(st.Revolute(arm, None, anchor=(0, 2, 1.5), axis=(0, 1, 0), motor=motor, name="hinge"))
    spring = world.add_spring(ball, arm, stiffness=1.0, anchor_a=(0, 0, 0.1), anchor_b=(0, 2, 1), name="spring")
    return world, floor, ball, arm, hinge, spring


CHANGES = {
    "gravity": lambda w: setattr(w, "gravity", (0, 0, -1.6)),
    "gravity in place": lambda w: w.gravity.__setitem__(2, -1.6),
    "add_body 'late'": lambda w: w.add_body(st.Sphere(0.1), mass=1.0, position=(3, 0, 1), name="late"),
    "add_body 'wall'": lambda w: w.add_plane((1, 0, 0), -5.0, name="wall"),
    "set_material 'default'": lambda w: w.set_material("default", friction=0.9),
    "set_contact of 'ball' and 'floor'": lambda w: w.set_contact("ball", "floor", friction=0.9),
    "exclude of 'ball' and 'floor'": lambda w: w.exclude("ball", "floor"),
    "add_force on 'ball'": lambda w: w.add_force("ball", (1.0, 0, 0)),
    "add_joint 'pin'": lambda w: w.add_joint(st.Ball("ball", None, anchor=(0, 0, 0.1), name="pin")),
    "add_spring 'more'": lambda w: w.add_spring("hinge", stiffness=1.0, name="more"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_world_that_changes_is_noticed_at_the_next_step(change):
    world = scene()[0]
    first, other = st.Simulator(world, 0.005), st.Simulator(scene()[0], 0.005)
    first.step()
    CHANGES[change](world)
    words = "the world has changed since this simulator was made" + (
        f" .last by {change}" if "in place" not in change else ""
    )
    for go_on in (first.step, lambda: first.advance(2), lambda: first.run(0.01), lambda: first.run(0.02, every=2)):
        with pytest.raises(st.ModelError, match=words):
            go_on()
    assert first.time == 0.005
    st.Simulator(world, 0.005).step()
    other.step()


def test_change_acts_in_a_simulator_made_after_it():
    """A ball pushed along a floor slides with friction 0.1 and rolls with 0.9."""
    world = st.World()
    world.add_plane(name="floor")
    world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), velocity=(1, 0, 0), name="box")
    speeds = []
    for mu in (0.1, 0.9):
        world.set_contact("box", "floor", friction=mu)
        sim = st.Simulator(world, 0.01)
        sim.step()
        speeds.append(float(sim.state.v[12]))
    np.testing.assert_allclose(speeds, [1 - 0.1 * 9.81 * 0.01, 1 - 0.9 * 9.81 * 0.01], atol=1e-9)
    world.gravity[2] = -5.0  # in place: the model is made anew
    sim = st.Simulator(world, 0.01)
    sim.step()
    assert sim.state.v[12] == pytest.approx(1 - 0.9 * 5.0 * 0.01, abs=1e-9)


def test_handles_of_another_world_are_refused():
    world, _, ball, *_ = scene()
    _, floor, foreign, arm, hinge, _ = scene()
    assert foreign == ball  # by name and place they look the same
    anchors = {"anchor_a": (0, 0, 0.1), "anchor_b": (0, 0, 1)}
    for use in (
        lambda: world.add_force(foreign, (1, 0, 0)),
        lambda: world.exclude("floor", foreign),
        lambda: world.set_contact(foreign, "floor", friction=0.5),
        lambda: world.set_contact("floor", foreign, friction=0.5),
        lambda: world.add_joint(st.Ball(foreign, None, anchor=(0, 0, 0.1))),
        lambda: world.add_spring(foreign, stiffness=1.0, **anchors),
    ):
        with pytest.raises(st.ModelError, match="the handle is of another 'ball', in another world"):
            use()
    with pytest.raises(st.ModelError, match="the handle is of another 'hinge'"):
        world.add_spring(hinge, stiffness=1.0)
    sim = st.Simulator(world, 0.005)
    with pytest.raises(st.ModelError, match="set_motor: the handle is of another 'hinge'"):
        sim.set_motor(hinge, 2.0)
    run = sim.run(0.01)
    for read in (
        lambda: run.position(foreign),
        lambda: run.angular_velocity(foreign),
        lambda: run.contacts(foreign, "floor"),
        lambda: run.force("ball", floor),
        lambda: run.plot("states", of=foreign),
    ):
        with pytest.raises(st.ModelError, match=r"the run: the handle is of another '(ball|floor)', in another world"):
            read()
    with pytest.raises(st.ModelError, match="the run: the handle is of another 'hinge'"):
        run.joint(hinge)
    assert arm.index == 3


def test_handles_and_names_stay_interchangeable(tmp_path):
    world, floor, ball, arm, hinge, spring = scene()
    foreign = scene()[2]
    sim = st.Simulator(world, 0.005)
    sim.set_motor(hinge, 2.0)
    sim.set_motor("hinge", 1.0)
    run = sim.run(0.02, record=tmp_path / "run.h5")
    for one, other in ((ball, "ball"), (arm, st.Body("arm", 0))):
        np.testing.assert_array_equal(run.position(one), run.position(other))
    np.testing.assert_array_equal(run.force(ball, floor), run.force("ball", "floor"))
    assert run.joint(hinge).coordinate[-1] == run.joint("hinge").coordinate[-1]
    assert run.joint(spring).name == "spring"
    with pytest.raises(st.ModelError, match="another world"):  # recorded here: its world is known
        run.position(foreign)
    loaded = st.load(tmp_path / "run.h5")  # from a file: handles are names
    np.testing.assert_array_equal(loaded.position(foreign), run.position(ball))


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_copies_of_a_world_know_the_handles_of_its_bodies_and_change_alone(way):
    world, floor, ball, _, hinge, _ = scene()
    sim = st.Simulator(world, 0.005)
    twin = way(world)
    twin.add_force(ball, (0, 0, 2 * 9.81))
    twin.set_contact(ball, floor, friction=0.1)
    twin.gravity[0] = 1.0
    mine, theirs = (each.add_body(st.Sphere(0.1), mass=1.0, position=(5, 5, 5)) for each in (world, twin))
    assert mine == theirs
    with pytest.raises(st.ModelError, match="another world"):
        twin.add_force(mine, (0, 0, 1))
    assert world.forces == []
    assert world.gravity[0] == 0.0
    with pytest.raises(st.ModelError, match="the world has changed"):
        sim.step()
    copied = st.Simulator(twin, 0.005)
    copied.set_motor(hinge, 2.0)
    run = copied.run(0.05)
    assert run.position(ball)[-1][2] > 0.1
    run.position(theirs)
    with pytest.raises(st.ModelError, match="another world"):
        run.position(mine)


def test_one_joint_may_serve_in_two_worlds():
    hinge = st.Revolute("arm", None, anchor=(0, 2, 1.5), axis=(0, 1, 0), motor=st.Motor(speed=1.0, bound=1.0), name="h")
    for _ in range(2):
        world = st.World()
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 2, 1), name="arm")
        world.add_joint(hinge)
        st.Simulator(world, 0.005).set_motor(hinge, 2.0)
