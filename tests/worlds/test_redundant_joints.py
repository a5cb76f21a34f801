"""Joints that hold the same thing more than once, and positions in which the number of what they hold changes."""

import math
from itertools import pairwise

import numpy as np
import pytest

import stiction as st
from stiction.problem import ContactProblem, Dense
from stiction.problem.laws import EQUALITY, UNILATERAL
from stiction.problem.redundant import find_agreement

G = 9.81


def bricard(floor=None):
    """IFToMM's Bricard mechanism: five unit rods in a closed chain of six hinges, of whose 30 rows one is redundant."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1.0]])
    axes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    world = st.World(gravity=(0, -G, 0))
    rods = []
    for i, (p, q) in enumerate(pairwise(corners)):
        e = q - p
        inertia = (np.eye(3) - np.outer(e, e)) / 12 + 1e-4 * np.outer(e, e)
        shape = None if floor is None else st.Sphere(0.05)
        rods.append(world.add_body(shape, mass=1.0, inertia=inertia, position=(p + q) / 2, name=f"rod{i}"))
    for i, p in enumerate(corners):
        other = None if i in (0, 5) else rods[i - 1]
        world.add_joint(st.Revolute(rods[min(i, 4)], other, anchor=p, axis=axes[i % 3], name=f"hinge{i}"))
    if floor is not None:
        world.add_plane(normal=(0, 1, 0), offset=floor)
    return world


def windows(n, angle=0.5 * math.pi, speed=1.0):
    """IFToMM's N-four-bar: n + 1 cranks and n couplers, unit rods; the cranks stand at `angle` and fall clockwise."""
    world = st.PlanarWorld(gravity=(0, -G))
    along = np.array([math.cos(angle), math.sin(angle)])
    tip = speed * np.array([along[1], -along[0]])
    for i in range(n + 1):
        world.add_body(None, mass=1.0, inertia=1 / 12, position=np.array([i, 0]) + 0.5 * along, velocity=0.5 * tip,
                       angular_velocity=-speed, name=f"crank{i}")  # fmt: skip
    for i in range(n):
        middle = np.array([i + 0.5, 0]) + along
        world.add_body(None, mass=1.0, inertia=1 / 12, position=middle, velocity=tip, name=f"coupler{i}")
    for i in range(n + 1):
        world.add_joint(st.Revolute(f"crank{i}", None, anchor=(i, 0)))
    for i in range(n):
        for j in (i, i + 1):
            world.add_joint(st.Revolute(f"coupler{i}", f"crank{j}", anchor=np.array([j, 0]) + along))
    return world


def door(heights=(0.2, 1.0, 1.8)):
    """A door on hinges along an axis that leans."""
    world = st.World(gravity=(0, 0, -G))
    axis = np.array([0.1, 0, 1]) / math.hypot(0.1, 1)
    center = np.array([0.45, 0, 1.0])
    leaf = world.add_body(st.Box((0.9, 0.04, 2.0)), mass=25.0, position=center, name="leaf",
                          angular_velocity=2 * axis, velocity=np.cross(2 * axis, center))  # fmt: skip
    for z in heights:
        world.add_joint(st.Revolute(leaf, None, anchor=z * axis, axis=axis, name=f"hinge at {z:g}"))
    return world


def parallelogram():
    """Three cranks and what they carry, in space: a bar too many, and all that hinges hold out of their plane twice."""
    world = st.World(gravity=(0, -G, 0))
    lean = np.array([math.sin(0.5), math.cos(0.5), 0])
    w = np.array([0, 0, -1.5])
    tip, inertia = np.cross(w, lean), np.eye(3) / 12
    top = world.add_body(None, mass=2.0, inertia=4 * inertia, position=np.array([1, 0, 0]) + lean, velocity=tip,
                         name="top")  # fmt: skip
    for i in range(3):
        foot = np.array([i, 0, 0.0])
        crank = world.add_body(None, mass=1.0, inertia=inertia, position=foot + 0.5 * lean, velocity=0.5 * tip,
                               angular_velocity=w, name=f"crank{i}")  # fmt: skip
        world.add_joint(st.Revolute(crank, None, anchor=foot, axis=(0, 0, 1)))
        world.add_joint(st.Revolute(top, crank, anchor=foot + lean, axis=(0, 0, 1)))
    return world


def ring(n=20):
    """A closed chain of unit rods in the plane, hung up at one hinge."""
    world = st.PlanarWorld(gravity=(0, -G))
    turn = 2 * math.pi * np.arange(n) / n
    corners = 0.5 / math.sin(math.pi / n) * np.stack([np.sin(turn), np.cos(turn)], axis=1)
    for i in range(n):
        p, q = corners[i], corners[(i + 1) % n]
        angle = math.atan2(*(q - p)[::-1])
        world.add_body(None, mass=1.0, inertia=1 / 12, position=(p + q) / 2, angle=angle, name=f"rod{i}")
    for i in range(n):
        world.add_joint(st.Revolute(f"rod{i}", f"rod{(i + 1) % n}", anchor=corners[(i + 1) % n]))
    world.add_joint(st.Revolute("rod0", None, anchor=corners[0]))
    return world


# --- the problem


def twice(b, share=1.0, mass=2.0):
    """A particle whose velocity is given by two rows, the second in other units."""
    H = np.array([[1.0, 0.0], [share, 0.0]])
    return ContactProblem(Dense(mass * np.eye(2), H), row_ptr=[0, 1, 2], law=[EQUALITY] * 2, b=b, v_free=[0.0, 3.0])


@pytest.mark.parametrize("share", [1.0, -1e-6, 1e4])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_rows_that_differ_a_little_meet_in_the_middle(share, mass):
    """Whatever the units of rows and masses are: each row counts by what it takes to move it."""
    found = find_agreement(twice([-1.0, -1.02 * share], share, mass), np.zeros(2))
    np.testing.assert_allclose(found.b, [-1.01, -1.01 * share], rtol=1e-12)
    assert found.left == pytest.approx(0.01 * max(1.0, abs(share)))
    solved = st.solve(twice(found.b, share, mass), tol=1e-8)
    assert solved.success
    np.testing.assert_allclose(solved.v, [1.01, 3.0], rtol=1e-7)


def test_what_agrees_or_does_not_fit_at_all_is_left_as_it_is():
    same = find_agreement(twice([-1.0, -2.0], 2.0), np.zeros(2))
    assert same is None or same.left < 1e-15
    assert find_agreement(twice([-1.0, -9.0]), np.zeros(2)) is None  # no truncation
    assert st.solve(twice([-1.0, -1.02])).status is st.Status.SINGULAR


def test_joints_that_do_not_fit_together_still_fail():
    pins = [st.Bilateral(lambda t, q, a=a: q - a * t, name=f"pin {a}") for a in (0.0, 1.0)]
    sim = st.Simulator(st.GeneralizedSystem([[1.0]], q=[0.0], v=[0.0], constraints=pins), 0.01)
    with pytest.raises(st.SolverError):
        sim.run(0.1)
    world = st.PlanarWorld(gravity=(0, 0))
    ends = [
        world.add_body(None, position=(x, 0), kind="kinematic", motion=lambda t, x=x: (x * (1 + t), 0))
        for x in (-1.0, 1.0)
    ]
    rod = world.add_body(None, mass=1.0, inertia=0.1, position=(0, 0))
    for end, x in zip(ends, (-1.0, 1.0)):
        world.add_joint(st.Revolute(rod, end, anchor=(x, 0)))
    with pytest.raises(st.SolverError):
        st.Simulator(world, 0.01).run(0.1)


# --- mechanisms


@pytest.mark.parametrize(
    "scheme", [st.AnitescuHart(), st.StewartTrinkle(), st.Moreau()], ids=lambda s: type(s).__name__
)
def test_bricard(scheme):
    """It swings: energy is kept, joints drift at second order, and the contradiction is far below the drift."""
    worst = []
    for h in (0.008, 0.004):
        run = st.Simulator(bricard(), h, scheme=scheme).run(0.4)
        assert run.success
        assert np.ptp(run.energy.total) < 4.0 * h
        worst.append((run.certificate.worst["joint_drift"], run.certificate.worst["contradiction"]))
    (coarse, undone), (fine, less) = worst
    if isinstance(scheme, st.AnitescuHart):
        assert 3.0 < coarse / fine < 8.0
        assert 0.0 < less < undone < 1e-2 * coarse
        assert less < 0.3 * undone  # of third order
    else:  # what is projected, or implicit, has little to contradict: third order at most
        assert coarse < 1e-6
        assert fine < 0.2 * coarse + 1e-9


def test_bricard_falls_on_its_elbow():
    """A contact in the same problem: it keeps its own demand, and the mechanism stops on it without gaining energy."""
    run = st.Simulator(bricard(floor=-1.3), 0.004).run(1.0)
    assert run.success
    assert run.certificate.worst["penetration"] < 1e-3
    touched = (run.table.law == int(UNILATERAL)) & (run.table.impulse[:, 0] > 0.0)
    assert np.count_nonzero(touched) > 2
    assert run.certificate.worst["contradiction"] > 0.0
    assert run.energy.total.max() < run.energy.total[0] + 0.05


def test_a_door_on_three_hinges_moves_as_on_one():
    one = st.Simulator(door([1.0]), 0.004).run(0.5)
    three = st.Simulator(door(), 0.004).run(0.5)
    np.testing.assert_allclose(three.position("leaf"), one.position("leaf"), atol=1e-6)


@pytest.mark.parametrize("n", [1, 6])
def test_four_bars_pass_the_singular_position(n):
    """All bars lie in a line there and could fold; the cranks go on turning together, as fast as energy says.

    In the position itself each crank is free for one step, and for N > 1 they do not carry the same weight.
    """
    for angle in (math.radians(20.0), 0.0):
        h = 0.002
        run = st.Simulator(windows(n, angle, speed=5.0), h).run(0.2)
        assert run.success
        turned = np.array([run.angle(f"crank{i}") for i in range(n + 1)])
        np.testing.assert_allclose(turned, np.tile(turned[0], (n + 1, 1)), atol=2 * h**2)
        at = angle + turned[0]
        assert at[-1] < -0.5  # far through
        inertia, height = (n + 1) / 3 + n, 0.5 * (n + 1) + n
        rate = np.sqrt(25.0 + 2 * G * height * (math.sin(angle) - np.sin(at)) / inertia)
        np.testing.assert_allclose(-run.angular_velocity("crank0"), rate, atol=10 * h)
        coupler = np.array([run.angle(f"coupler{i}") for i in range(n)])
        np.testing.assert_allclose(coupler, 0.0, atol=2 * h**2)


def test_a_slider_crank_of_equal_lengths_passes_its_singular_position():
    """Where the rod lies on the crank it could stay there and turn with it; wherever steps fall, it swings through."""
    for start, h in ((70.0, 0.004), (77.3, 0.004), (80.1, 0.002), (84.9, 0.001)):
        c, s, rate = math.cos(math.radians(start)), math.sin(math.radians(start)), 5.0
        world = st.PlanarWorld(gravity=(0, -G))
        crank = world.add_body(None, mass=1.0, inertia=1 / 12, position=(0.5 * c, 0.5 * s), angular_velocity=rate,
                               velocity=(-0.5 * rate * s, 0.5 * rate * c), name="crank")  # fmt: skip
        rod = world.add_body(None, mass=1.0, inertia=1 / 12, position=(1.5 * c, 0.5 * s), angular_velocity=-rate,
                             velocity=(-1.5 * rate * s, 0.5 * rate * c), name="rod")  # fmt: skip
        slider = world.add_body(None, mass=1.0, inertia=1.0, position=(2 * c, 0), velocity=(-2 * rate * s, 0))
        world.add_joint(st.Revolute(crank, None, anchor=(0, 0)))
        world.add_joint(st.Revolute(rod, crank, anchor=(c, s)))
        world.add_joint(st.Revolute(rod, slider, anchor=(2 * c, 0)))
        world.add_joint(st.Prismatic(slider, None, axis=(1, 0)))
        run = st.Simulator(world, h).run(0.2)
        assert run.position(slider)[-1, 0] < -0.3
        np.testing.assert_allclose(run.angle("crank"), -run.angle("rod"), atol=10 * h**2)
        assert np.ptp(run.energy.total) < 0.1 * rate * h * run.energy.total[0]  # of first order, and no kick


@pytest.mark.long
@pytest.mark.parametrize("make", [bricard, door, parallelogram, ring], ids=lambda f: f.__name__)
def test_ten_seconds_at_three_steps(make):
    drift = []
    for h in (0.004, 0.002, 0.001):
        run = st.Simulator(make(), h, tol=1e-6).run(10.0, every=20)
        assert run.success
        drift.append(run.certificate.worst["joint_drift"])
    assert drift[0] / drift[2] > 8.0


@pytest.mark.long
@pytest.mark.parametrize(("n", "h", "every"), [(1, 1e-3, 10), (6, 2e-4, 10), (40, 6e-5, 200)])
def test_four_bars_turn_for_ten_seconds(n, h, every):
    """IFToMM A02: upright, with 1 m/s; all cranks turn together, and the energy is kept to 0.1 J."""
    sim = st.Simulator(windows(n), h)
    run = sim.run(10.0, every=every)
    assert np.ptp([run.angle(f"crank{i}")[-1] for i in range(n + 1)]) < 1e-5
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 0.1


def test_the_contradiction_is_recorded(tmp_path):
    sim = st.Simulator(bricard(), 0.004)
    run = sim.run(0.24, every=4)
    assert run.certificate["contradiction"].max() > 0.0
    run.save(tmp_path / "run.h5")
    saved = st.load(tmp_path / "run.h5").certificate["contradiction"]
    np.testing.assert_array_equal(saved, run.certificate["contradiction"])
    sim.reset()
    light = sim.run(0.24, every=4, record=tmp_path / "light.h5", fields=["velocity", "certificate", "checkpoints"])
    np.testing.assert_array_equal(light.certificate["contradiction"], saved)
