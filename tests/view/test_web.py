"""What the viewer shows, without a browser: frames, poses, contacts, numbers, playing."""

import contextlib
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import stiction as st
from stiction.errors import ModelError
from stiction.problem.laws import Mode
from stiction.view.web.panel import charts, past, thinned
from stiction.view.web.play import Playhead
from stiction.view.web.reel import BLOCK_MAX_FRAMES, FileReel, LiveReel, RunReel, reel_of
from stiction.view.web.stage import MODE_RGB, Stage
from stiction.view.web.surfaces import SHAPE_MAX_TRIANGLES, fewer_triangles, is_smooth, patterned

STEPS = BLOCK_MAX_FRAMES + 8  # more than one block of a recording


@pytest.fixture(scope="module")
def simulator():
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    world.add_plane(normal=(0.0, 1.0), offset=0.0)
    world.add_body(st.Disk(0.1), name="disk", mass=2.0, position=(0.0, 0.1), com=(0.0, -0.02))
    a = world.add_body(st.Rod(0.02, 0.4), name="arm", mass=1.0, position=(1.2, 1.0))
    b = world.add_body(st.Rod(0.02, 0.4), name="hand", mass=1.0, position=(1.65, 1.0))
    world.add_joint(st.Revolute(a, b, anchor=(1.425, 1.0)))
    return st.Simulator(world, dt=0.005)


@pytest.fixture(scope="module")
def run(simulator):
    simulator.reset()
    return simulator.run(STEPS * 0.005)


@pytest.fixture(scope="module")
def file(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("web") / "run.h5"
    run.save(path)
    return path


def test_a_recording_shows_the_frames_of_the_run_in_memory(run, file):
    one, two = RunReel(run), reel_of(file)
    assert isinstance(two, FileReel)
    assert np.array_equal(one.times, two.times)
    for k in (0, 1, BLOCK_MAX_FRAMES - 1, BLOCK_MAX_FRAMES, STEPS):
        a, b = one.frame(k), two.frame(k)
        assert a.time == b.time
        assert np.array_equal(a.q, b.q)
        assert np.array_equal(a.v, b.v)
        for name in a.contacts:
            assert np.array_equal(a.contacts[name], b.contacts[name]), (k, name)
    first, second = one.series(), two.series()
    assert np.array_equal(first.energy, second.energy)
    assert np.array_equal(first.contacts, second.contacts)
    assert all(np.array_equal(first.residuals[name], second.residuals[name]) for name in first.residuals)


def test_a_live_run_shows_the_frames_of_the_run_in_memory(simulator, run):
    simulator.reset()
    reel = LiveReel(simulator)
    simulator.run(STEPS * 0.005, progress=reel.add)
    assert len(reel) == 1  # frames are seen when one looks for them
    assert Stage(reel).low[1] <= 0.0  # what is not yet on the floor will be
    assert reel.refresh()
    assert not reel.refresh()
    assert np.array_equal(reel.times, run.times)
    assert np.array_equal(reel.frame(STEPS).q, run.q[-1])
    assert np.array_equal(reel.series().contacts, RunReel(run).series().contacts)


def test_a_recording_that_is_resumed_is_followed(simulator, run, tmp_path):
    simulator.reset()
    path = tmp_path / "resumed.h5"
    half = simulator.run(STEPS // 2 * 0.005, record=path)
    reel = FileReel(path)
    assert len(reel) == len(half)
    assert not reel.growing
    simulator.resume(path, duration=STEPS * 0.005)
    assert reel.refresh()
    assert np.array_equal(reel.times, run.times)
    assert np.array_equal(reel.frame(STEPS).q, run.q[-1])


@pytest.mark.long
def test_a_recording_in_progress_is_followed(tmp_path):
    """Another process writes; the reel sees complete blocks of frames, and at the end all of them."""
    code = (
        "import sys, time, stiction as st\n"
        "world = st.PlanarWorld(gravity=(0.0, -9.81)); world.add_plane(normal=(0.0, 1.0), offset=0.0)\n"
        "world.add_body(st.Disk(0.1), mass=1.0, position=(0.0, 0.5))\n"
        "wait = lambda *_: time.sleep(0.004)\n"
        "st.Simulator(world, dt=0.001).run(1.0, record=sys.argv[1], progress=wait)\n"
    )
    path = tmp_path / "growing.h5"
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as writer:
        reel, sizes = None, []
        while writer.poll() is None:
            time.sleep(0.05)
            if reel is None:
                with contextlib.suppress(st.StictionError):
                    reel = FileReel(path)
            elif reel.refresh():
                sizes.append((len(reel), reel.growing))
                assert reel.frame(len(reel) - 1).time == pytest.approx(0.001 * (len(reel) - 1))
        assert writer.wait() == 0
    reel.refresh()
    assert len(reel) == 1001
    assert not reel.growing
    assert any(growing and size < 1001 for size, growing in sizes)


@pytest.mark.long
def test_the_command_serves_a_page_on_this_machine_only_until_it_is_interrupted(file):
    code = "from stiction.cli import main; main()"
    command = [sys.executable, "-c", code, "view", str(file), "--no-open", "--port", "8290"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        url = re.search(r"http://localhost:(\d+)/\?token=\S+", line)
        with urllib.request.urlopen(url.group(), timeout=30) as answer:
            assert b"<html" in answer.read()
        port = int(url.group(1))
        table = Path("/proc/net/tcp")
        if table.exists():
            sockets = [row.split() for row in table.read_text().splitlines()[1:]]
            listening = [row[1] for row in sockets if row[1].endswith(f":{port:04X}") and row[3] == "0A"]
            assert listening == [f"0100007F:{port:04X}"]
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 0


def test_forces_of_contacts_carry_the_weight(run):
    stage = Stage(RunReel(run))
    frame = RunReel(run).frame(STEPS)
    marks = stage.marks(frame)
    disk = stage.names.index("disk")
    mine = (marks.bodies == disk).any(axis=1)
    assert stage.shown_forces(marks)[mine].sum(axis=0)[:2] == pytest.approx([0.0, 2.0 * 9.81], abs=1e-3)
    plane = int(next(i for i in marks.bodies[mine][0] if i != disk))
    on_plane = stage.shown_forces(marks, picked=plane)[mine]
    assert np.array_equal(on_plane, -stage.shown_forces(marks)[mine])
    assert {tuple(c) for c in marks.colours().tolist()} <= set(MODE_RGB.values())
    assert np.allclose(marks.point[mine, 1], 0.0, atol=1e-4)


def test_the_numbers_of_a_body_are_those_of_the_trajectory(run):
    stage, frame = Stage(RunReel(run)), RunReel(run).frame(STEPS)
    told = dict(stage.numbers(frame, stage.names.index("arm")))
    x, y = run.position("arm")[-1]
    assert told["position [m]"] == f"({x:.4g}, {y:.4g})"
    assert told["speed [m/s]"] == f"{np.linalg.norm(run.velocity('arm')[-1]):.4g}"
    assert told["contacts"] == "0"
    told = dict(stage.numbers(frame, stage.names.index("disk")))
    assert told["contacts"] == "1"
    assert "N" in next(value for label, value in told.items() if label.startswith("with "))


def test_anchors_of_a_joint_stay_together(run):
    reel = RunReel(run)
    stage = Stage(reel)
    for k in (0, STEPS // 2, STEPS):
        ends = stage.joints(reel.frame(k))
        assert ends.shape == (1, 2, 3)
        assert np.linalg.norm(ends[0, 0] - ends[0, 1]) < 1e-6
    assert stage.joints(reel.frame(0))[0, 0, :2] == pytest.approx([1.425, 1.0])


def test_trails_end_where_bodies_are(run):
    reel = RunReel(run)
    stage = Stage(reel)
    bodies = np.flatnonzero(~stage.fixed)
    path = stage.trail(reel, STEPS, bodies, length=10)
    assert len(path) == 10 * len(bodies)
    assert np.array_equal(path[-len(bodies) :, 1, :2], stage.poses(reel.frame(STEPS))[0][bodies, :2])


def test_the_picture_holds_all_that_moves_and_parts_are_shared(run):
    stage = Stage(RunReel(run))
    assert stage.low[0] <= -0.1 + 1e-9
    assert stage.high[0] >= 1.87 - 1e-9
    rods = [part for part in stage.parts if len(part.bodies) == 2]
    assert rods  # arm and hand are of one shape: instances of one mesh
    assert sum(part.endless for part in stage.parts) == 1


def test_round_surfaces_are_shaded_smoothly_and_show_their_rotation():
    from stiction.systems.shapes.surfaces import surface

    ball, box, can = surface(st.Sphere(1.0)), surface(st.Box((1, 1, 1))), surface(st.Cylinder(1.0, 2.0))
    assert is_smooth(*ball)
    assert not is_smooth(*box)
    assert not is_smooth(*can)
    assert len(patterned(*box, 3)) == 1
    tones = patterned(*ball, 3)
    assert sum(len(triangles) for _, (_, triangles) in tones) == len(ball[1])
    assert len({tone for tone, _ in tones}) == 2
    disk = patterned(*surface(st.Disk(1.0)), 2)
    area = [0.5 * np.abs(np.cross(*(v[t][:, 1:] - v[t][:, :1]).transpose(1, 0, 2))[:, 2]).sum() for _, (v, t) in disk]
    assert area[0] == pytest.approx(area[1])  # quadrants


@pytest.mark.parametrize("shape", [st.Sphere(0.3), st.Ellipsoid((0.3, 0.2, 0.1)), st.Capsule(0.1, 0.3)])
@pytest.mark.parametrize("users", [1, 1000, 10_000])
def test_crowds_of_round_bodies_are_drawn_with_fewer_triangles(shape, users):
    from stiction.systems.shapes.surfaces import surface

    vertices, triangles = surface(shape)
    points, faces = fewer_triangles(vertices, triangles, users)
    assert len(faces) * users <= max(SHAPE_MAX_TRIANGLES, len(triangles), 32 * users)  # fewer would not look round
    assert {tuple(p) for p in points} <= {tuple(v) for v in vertices}
    assert np.ptp(points, axis=0) == pytest.approx(np.ptp(vertices, axis=0), rel=0.05)
    corner = points[faces]
    outward = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    assert (np.sum(outward * corner.mean(axis=1), axis=1) > 0.0).all()
    if users == 1:
        assert faces is triangles


def test_playing_takes_the_time_that_the_run_took():
    times = np.linspace(0.0, 2.0, 201)
    head = Playhead(playing=True)
    for _ in range(30):
        head.tick(1.0 / 30.0, times)
    assert head.frame == 100
    head.speed = 0.5
    for _ in range(30):
        head.tick(1.0 / 30.0, times)
    assert head.frame == 150
    head.tick(100.0, times)
    assert (head.frame, head.playing) == (200, False)
    head.toggle(201)  # at the end: from the start
    assert (head.frame, head.playing) == (0, True)
    head.step(1, 201)
    assert (head.frame, head.playing) == (1, False)
    head.go(999, 201)
    assert head.frame == 200
    head.go(-5, 201)
    assert head.frame == 0


def test_at_the_end_of_a_growing_run_playing_waits_for_more():
    head = Playhead(playing=True)
    head.tick(10.0, np.linspace(0.0, 1.0, 11), growing=True)
    assert (head.frame, head.playing) == (10, True)
    head.tick(0.1, np.linspace(0.0, 2.0, 21), growing=True)
    assert head.frame == 11
    head = Playhead(follow=True)
    assert head.tick(0.1, np.linspace(0.0, 2.0, 21), growing=True) == 20
    assert head.tick(0.1, np.linspace(0.0, 2.1, 22), growing=False) == 21  # the last frame, too
    head.toggle(22)
    assert (head.frame, head.follow) == (0, False)


def test_charts_are_thinned_without_losing_the_worst_residual(run):
    lines = [np.arange(5000.0), np.random.default_rng(0).random(5000)]
    thin = thinned(lines, points=100, worst=True)
    assert all(len(line) == 100 for line in thin)
    assert thin[1].max() == lines[1].max()
    made = charts(RunReel(run).series())
    assert list(made) == ["energy", "contacts", "certificate"]
    names, values = made["certificate"]
    worst = run.certificate.worst["natural_map"]
    assert values[names.index("natural map")].max() == pytest.approx(np.log10(max(worst, 1e-17)))
    names, values = made["energy"]
    assert np.array_equal(values[names.index("total")], run.energy.total[1:])
    assert np.array_equal(past([np.arange(4.0), np.array([1.0, 5.0, 2.0, 3.0])], 1.0), [5.0, 5.0, 1.0, 1.0])
    assert np.array_equal(past([np.arange(3.0), np.array([-9.0, -7.0, -8.0])], 1.0), [-9.0, -9.0, -7.0])


def test_modes_are_counted(run):
    counts = RunReel(run).series().contacts
    table = run.table
    assert counts[0].sum() == ((table.mode == int(Mode.STICK)) & (table.law == 1)).sum()
    assert counts.shape == (3, STEPS)


def test_a_generalized_system_has_nothing_to_look_at():
    system = st.GeneralizedSystem(mass=np.eye(1), forces=lambda t, q, v: np.array([-9.81]), q=[1.0], v=[0.0])
    run = st.Simulator(system, dt=0.1).run(0.2)
    with pytest.raises(ModelError, match="only worlds"):
        run.view(wait=False)


def test_the_package_does_not_load_viser():
    code = "import sys, stiction; stiction.Simulator, stiction.load; assert 'viser' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bodies_without_a_shape_are_seen_by_their_joints():
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    mount = world.add_body(st.Disk(0.05), name="mount", kind="fixed", position=(0.0, 0.0))
    arm = world.add_body((), name="arm", mass=1.0, inertia=0.01, position=(0.3, 0.0))
    world.add_joint(st.Revolute(arm, mount, anchor=(0.0, 0.0)))
    reel = LiveReel(st.Simulator(world, dt=0.01))
    stage = Stage(reel)
    assert stage.bones(reel.frame(0))[:, :, :2].tolist() == [[[0.3, 0.0], [0.0, 0.0]]]
    assert stage.low[0] <= 0.0
    assert stage.high[0] >= 0.3
