"""Recordings: the file has what memory would hold; runs go on from it to the same bits; errors are one line."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest

import stiction as st
from stiction.simulation.recording import writer
from stiction.simulation.recording.checkpoints import checkpoint
from stiction.simulation.recording.schedule import Schedule
from stiction.solvers import Nsgs

DT, LONG = 0.005, 0.6


def balls(friction=0.3):
    """Three balls that fall in turn on a plane, and a pendulum that turns over."""
    world = st.World()
    world.set_material("default", friction=st.Coulomb(friction))
    world.add_plane()
    for k in range(3):
        place = (0.3 * k + 0.05 * k, 0.0, 0.12 + 0.1 * k)
        world.add_body(st.Sphere(0.1), mass=1.0, position=place, velocity=(0.4 - 0.2 * k, 0, 0), name=f"ball {k}")
    arm = world.add_body(st.Capsule(0.02, 0.2), mass=0.5, position=(0, 2, 1), angular_velocity=(12, 0, 0), name="arm")
    world.add_joint(st.Revolute("world", arm, anchor=(0, 2, 1.15), axis=(1, 0, 0), name="hinge"))
    return world


def particle():
    """A particle in generalized coordinates that lands and slides."""
    floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.3, name="floor")
    return st.GeneralizedSystem(np.eye(2), [0.0, -9.81], q=[0.0, 0.05], v=[1.2, 0.0], gaps=[floor], names=["x", "y"])


def bouncing():
    world = st.PlanarWorld()
    world.set_material("default", friction=st.Coulomb(0.3), restitution=0.6)
    world.add_plane()
    for k in range(2):
        world.add_body(st.Disk(0.1), mass=1.0, position=(0.15 * k, 0.2 + 0.3 * k), name=f"disk {k}")
    return world


SIMULATORS = {
    "compiled loop": lambda: st.Simulator(balls(), DT),
    "step by step": lambda: st.Simulator(balls(), DT, solver="newton"),
    "Moreau in the plane": lambda: st.Simulator(bouncing(), DT, scheme=st.Moreau()),
    "generalized": lambda: st.Simulator(particle(), DT),
}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of eight frames, so that short runs have several."""
    monkeypatch.setattr(writer, "BLOCK_MAX_FRAMES", 8)


def same(one, two):
    for name in ("times", "q", "v", "joints"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("step", "key", "law", "mode", "gap", "impulse", "velocity", "bodies", "normal", "point", "tangent"):
        a, b = getattr(one.table, name), getattr(two.table, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    np.testing.assert_array_equal(one.energy.total, two.energy.total)
    for name, values in one.energy.work.items():
        np.testing.assert_array_equal(values, two.energy.work[name])
    for name, values in one.certificate.residuals.items():
        np.testing.assert_array_equal(values, two.certificate[name])
    np.testing.assert_array_equal(one.certificate.success, two.certificate.success)
    assert one.constraint_names == two.constraint_names
    assert repr(one.events) == repr(two.events)
    assert {k: v for k, v in one.info.items() if k not in ("constraints", "gains")} == {
        k: v for k, v in two.info.items() if k not in ("constraints", "gains")
    }


@pytest.mark.parametrize("kind", SIMULATORS)
def test_recorded_is_what_memory_holds_and_a_resumed_run_too(kind, tmp_path):
    make = SIMULATORS[kind]
    memory = make().run(LONG, every=2)
    assert any(e.kind == "impact" for e in memory.events)
    recorded = make().run(LONG, every=2, record=tmp_path / "a.h5")
    same(memory, recorded)
    assert recorded.success
    part = make().run(0.6 * LONG, every=2, record=tmp_path / "b.h5")
    assert len(part) < len(memory)
    same(memory, make().resume(tmp_path / "b.h5", duration=LONG))
    same(memory, make().resume(tmp_path / "b.h5"))  # nothing is left to do, and nothing changes
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.h5", "b.h5"]


def test_interrupted_run_is_kept_and_goes_on(tmp_path):
    def stop(steps, result, between):
        if result.state.t > 0.3:
            raise KeyboardInterrupt

    sim, path = SIMULATORS["compiled loop"](), tmp_path / "a.h5"
    with pytest.raises(KeyboardInterrupt):
        sim.run(LONG, fps=100, record=path, progress=stop)
    kept = st.load(path)
    assert kept.times[-1] == sim.time
    with h5py.File(path, "r") as file:  # any reader opens it
        assert len(file["frames/time"]) == len(kept)
    same(SIMULATORS["compiled loop"]().run(LONG, fps=100), SIMULATORS["compiled loop"]().resume(path))


def test_branch_with_other_friction_starts_at_the_recorded_state(tmp_path):
    path, make = tmp_path / "a.h5", SIMULATORS["compiled loop"]
    run = make().run(LONG, record=path)
    sim = make()
    sim.restore(path, 0.05)
    i = int(np.searchsorted(run.times, 0.05 - 1e-9))
    np.testing.assert_array_equal(sim.state.q, run.q[i])
    slick = st.Simulator(balls(friction=0.0), DT)
    slick.start_from(sim.state)
    other = slick.run(0.1, record=tmp_path / "b.h5")
    np.testing.assert_array_equal(other.times[0], run.times[i])
    np.testing.assert_array_equal(other.q[0], run.q[i])
    assert other.velocity("ball 0")[-1, 0] > run.velocity("ball 0")[i + 20, 0]
    again = st.Simulator(balls(friction=0.0), DT)
    again.restore(tmp_path / "b.h5")
    np.testing.assert_array_equal(again.state.q, other.q[-1])
    assert again.time == other.times[-1]


def test_checkpoint_outside_the_recording_and_other_simulators_are_refused(tmp_path):
    path = tmp_path / "a.h5"
    SIMULATORS["compiled loop"]().run(0.1, record=path)
    with pytest.raises(st.RecordingError, match=r"from t = 0 s to 0.1 s; there is no t = 3 s"):
        checkpoint(path, 3.0)
    with pytest.raises(st.ModelError, match=r"made with dt 0.005, and this simulator has 0.01"):
        st.Simulator(balls(), 0.01).resume(path)
    with pytest.raises(st.ModelError, match="another system"):
        st.Simulator(lonely(), DT).resume(path)
    with pytest.raises(st.ModelError, match="coordinates"):
        st.Simulator(lonely(), DT).start_from(checkpoint(path).state)


def lonely():
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0, name="alone")
    return world


def test_frames_per_second_are_never_early_and_end_with_the_run():
    for dt, fps in ((0.005, 60.0), (0.01, 100.0), (0.003, 7.0), (0.01, 1000.0)):
        groups = list(Schedule.of(0, 1.0, None, fps, dt).groups(0))
        steps = np.cumsum(groups)
        assert min(groups) >= 1
        assert steps[-1] == np.ceil(1.0 / dt - 1e-9)
        wanted = np.unique(np.minimum(np.ceil(np.arange(1, fps + 1) / fps / dt - 1e-9), steps[-1]))
        assert set(wanted) <= set(steps) or fps * dt > 1
        middle = len(groups) // 2
        assert list(Schedule.of(0, 1.0, None, fps, dt).groups(int(steps[middle]))) == groups[middle + 1 :]


def test_chosen_fields(tmp_path):
    make, path = SIMULATORS["compiled loop"], tmp_path / "a.h5"
    full = make().run(0.3, every=3)
    light = make().run(0.3, every=3, record=path, fields=["velocity", "certificate", "joints", "checkpoints"])
    np.testing.assert_array_equal(light.q, full.q)
    np.testing.assert_array_equal(light.joints, full.joints)
    for name in ("scaled_map", "penetration", "joint_drift"):
        np.testing.assert_allclose(light.certificate[name], full.certificate[name], rtol=1e-9, atol=1e-15)
    with pytest.raises(st.RecordingError, match="recorded without contacts"):
        light.table.key  # noqa: B018
    with pytest.raises(st.RecordingError, match="recorded without events"):
        light.events  # noqa: B018
    with pytest.raises(st.RecordingError, match="recorded without energy"):
        light.energy.total  # noqa: B018
    sim = make()
    sim.restore(path, 0.195)
    np.testing.assert_array_equal(sim.state.q, full.q[13])
    some = make().run(0.3, every=3, record=path, fields=["contacts.gap"])
    np.testing.assert_array_equal(some.table.gap, full.table.gap)
    with pytest.raises(st.RecordingError, match="recorded without velocity"):
        some.velocity("ball 0")
    with pytest.raises(st.RecordingError, match="without checkpoints"):
        make().resume(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fields": ["contacts"]}, "give record= too"),
        ({"record": "x.h5", "fields": ["forces"]}, "'forces' is not known"),
        ({"record": "x.h5", "fields": ["checkpoints"]}, "need the velocity"),
        ({"every": 2, "fps": 60.0}, "not both"),
        ({"fps": 0.0}, "fps must be"),
        ({"record": "/no/such/folder/x.h5"}, "there is no folder /no/such/folder"),
    ],
)
def test_bad_options_are_refused(options, said, tmp_path):
    if options.get("record") == "x.h5":
        options = {**options, "record": tmp_path / "x.h5"}
    with pytest.raises(st.ModelError, match=said):
        SIMULATORS["generalized"]().run(0.1, **options)
    assert not list(tmp_path.iterdir())


def test_missed_tolerances_between_frames_are_counted():
    """Steps that are not recorded are certified all the same."""
    sim = st.Simulator(balls(), DT, solver=Nsgs(maxiter=2, accelerate=False), tol=1e-300, on_failure="continue")
    each = sim.run(0.2)
    sim.reset()
    few = sim.run(0.2, every=5)
    missed = np.add.reduceat(~each.certificate.success, np.arange(0, 40, 5)) > 0
    assert missed.any()
    np.testing.assert_array_equal(~few.certificate.success, missed)


def test_parts_of_a_body_are_read_alone(tmp_path):
    run = SIMULATORS["compiled loop"]().run(0.2, record=tmp_path / "a.h5")
    place = run.position("ball 1")
    assert "q" not in vars(run)
    assert "table" not in vars(run)
    np.testing.assert_array_equal(place, SIMULATORS["compiled loop"]().run(0.2).position("ball 1"))


def complaint(path):
    """What reading the whole file says against it."""
    try:
        run = st.load(path)
        for name in ("times", "q", "v", "joints", "events", "success"):
            getattr(run, name)
        run.table.impulse.sum()
    except st.RecordingError as error:
        return str(error)
    return None


def test_foreign_damaged_and_newer_files_are_one_line(tmp_path):
    path = tmp_path / "a.h5"
    SIMULATORS["generalized"]().run(0.2, record=path)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for trial in range(60):
        bad = bytearray(good)
        if trial % 2:
            bad = bad[: int(rng.integers(1, len(bad)))]
        else:
            for at in rng.integers(0, len(bad), 30):
                bad[at] = int(rng.integers(256))
        path.write_bytes(bad)
        said = complaint(path)
        assert said is None or ("\n" not in said and str(path) in said)


def test_the_scene_is_in_the_recording(tmp_path):
    sim = SIMULATORS["generalized"]()
    sim.scene = "[world]\n"
    run = sim.run(0.05, record=tmp_path / "a.h5")
    assert run.recording.scene == "[world]\n"
    assert run.recording.size == (tmp_path / "a.h5").stat().st_size
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert json.loads(bytes(file["header"][()]))["scene"] == "[world]\n"


FULL = """
import json, os, resource, sys
import numpy as np, stiction as st
from stiction.simulation.recording import writer
writer.BLOCK_MAX_FRAMES = 8
floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.3, name="floor")
system = st.GeneralizedSystem(np.eye(2), [0.0, -9.81], q=[0.0, 0.05], v=[1.2, 0.0], gaps=[floor])
for room in map(int, sys.argv[2:]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    said = ""
    try:
        st.Simulator(system, 0.001).run(0.1, record=sys.argv[1])
    except st.RecordingError as error:
        said = str(error)
    left = os.listdir(os.path.dirname(sys.argv[1]))
    frames = [len(st.load(sys.argv[1]).q) for name in left]
    for name in left:
        os.remove(sys.argv[1])
    print(json.dumps([said, left, frames]))
"""


def test_full_disk_is_one_error_and_earlier_frames_stay_readable(tmp_path):
    """Wherever the disk is full, from a few kilobytes before the file has begun to the end of a run."""
    path = tmp_path / "a.h5"
    sizes = [*range(4096, 20480, 4096), *range(97_000, 119_000, 2000)]
    command = [sys.executable, "-c", FULL, str(path), *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    full = f"cannot write {path}: the disk is full"
    assert ends[:4] == [[f"{full}.", [], []]] * 4
    assert ends[-1] == ["", ["a.h5"], [101]]
    for said, left, frames in ends[4:]:
        if frames:
            what = f"its first {frames[0]} frames" if frames[0] > 1 else "its start"
            assert said == ("" if frames == [101] else f"{full}; {what} can be read.")
            assert left == ["a.h5"]
    assert len({tuple(frames) for _, _, frames in ends}) > 4


def test_a_file_that_a_run_is_writing_is_refused_to_others_and_the_run_goes_on(tmp_path):
    path, link, said = tmp_path / "a.h5", tmp_path / "link.h5", []

    def other(steps, result, between):
        if not said:
            link.symlink_to(path)
            for write in (
                lambda: SIMULATORS["generalized"]().run(0.1, record=path),
                lambda: SIMULATORS["generalized"]().resume(path),
                lambda: short.save(path),
                lambda: SIMULATORS["generalized"]().resume(link),
            ):
                with pytest.raises(st.RecordingError) as caught:
                    write()
                said.append(str(caught.value))

    short = SIMULATORS["generalized"]().run(0.05)
    run = SIMULATORS["generalized"]().run(0.2, record=path, progress=other)
    names = [path, path, path, link]
    assert said == [f"another run is writing {name}; wait for its end, or choose another name." for name in names]
    assert link.is_symlink()
    link.unlink()
    same(run, SIMULATORS["generalized"]().run(0.2))
    assert [p.name for p in tmp_path.iterdir()] == ["a.h5"]


def test_what_a_killed_run_left_behind_is_no_claim(tmp_path):
    for end in ("lock", "part"):
        (tmp_path / f"a.h5.{end}").write_bytes(b"x")
    run = SIMULATORS["generalized"]().run(0.1, record=tmp_path / "a.h5")
    assert run.success
    assert [p.name for p in tmp_path.iterdir()] == ["a.h5"]
