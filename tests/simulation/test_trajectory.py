"""Trajectory: events at the right times, contacts and forces by name, and files that give back the same arrays."""

import json
import math

import h5py
import numpy as np
import pytest

import stiction as st
from stiction import Gap, GeneralizedSystem, Mode, Simulator
from stiction.simulation.recording.layout import VERSION

G, H = 9.81, 0.001
HEIGHT, SPEED, MU, LIFT = 0.1, 1.2, 0.3, 0.8


def thrown():
    """A particle that falls with a sideways speed, slides, sticks, and is lifted off at t = 0.8 s."""
    floor = Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], MU, name="floor")
    ceiling = Gap(lambda q: 50.0 - q[1], name="ceiling")
    return GeneralizedSystem(
        2 * np.eye(2), lambda t, q, v: [0.0, -2 * G if t < LIFT else 2 * G], q=[0.0, HEIGHT], v=[SPEED, 0.0],
        gaps=[floor, ceiling], names=["x", "y"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return Simulator(thrown(), H).run(1.0)


def test_events_come_at_the_right_times(run):
    fall = math.sqrt(2 * HEIGHT / G)
    left = SPEED - MU * math.sqrt(2 * G * HEIGHT)  # the impact's friction takes mu times the normal impulse
    assert left > 0
    events = run.events
    assert [e.kind for e in events] == ["impact", "stick", "separation"]
    assert {e.contact for e in events} == {"floor"}
    assert events[0].time == pytest.approx(fall, abs=2 * H)
    assert events[1].time == pytest.approx(fall + left / (MU * G), abs=5 * H)
    assert events[2].time == pytest.approx(LIFT, abs=2 * H)
    for event in events:
        assert run.times[event.step + 1] == event.time
    assert "impact at 'floor'" in repr(events[0])


def test_impact_impulse_is_the_momentum_lost(run):
    impact = run.events[0].step
    impulse = run.contacts("floor").impulse[impact : impact + 2, 0].sum()  # spread over two steps
    weight = 2 * G * 2 * H
    assert impulse == pytest.approx(2 * math.sqrt(2 * G * HEIGHT) + weight, abs=weight)


def test_slip_follows_stick():
    """A push that grows past the friction bound: stick, then slip."""
    floor = Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.5, name="floor")
    system = GeneralizedSystem(np.eye(2), lambda t, q, v: [10 * t, -G], q=[0.0, 0.0], gaps=[floor])
    run = Simulator(system, H).run(0.8)
    slips = [e for e in run.events if e.kind == "slip"]
    assert [e.contact for e in slips] == ["floor"]
    assert slips[0].time == pytest.approx(0.5 * G / 10, abs=2 * H)
    before = run.times < 0.49
    assert np.abs(run.q[before]).max() < 1e-14


def test_contact_series_has_a_row_per_step(run):
    series = run.contacts("floor")
    n = len(run) - 1
    assert series.name == "floor"
    assert series.impulse.shape == series.velocity.shape == (n, 6)
    np.testing.assert_array_equal(series.times, run.times[1:])
    flight = series.times < 0.1
    assert np.isnan(series.gap[flight]).all()
    assert (series.mode[flight] == Mode.OPEN).all()
    assert (series.impulse[flight] == 0).all()
    slide = (series.times > 0.16) & (series.times < 0.3)
    np.testing.assert_allclose(series.velocity[slide, 1], run.v[1:, 0][slide], atol=1e-12)


def test_forces_of_sliding_and_rest(run):
    force = run.force("floor")
    times = run.times[1:]
    slide, rest = (times > 0.16) & (times < 0.25), (times > 0.6) & (times < 0.79)
    np.testing.assert_allclose(force[slide, :2], np.tile([2 * G, -MU * 2 * G], (slide.sum(), 1)), rtol=1e-9)
    np.testing.assert_allclose(force[rest, :2], np.tile([2 * G, 0.0], (rest.sum(), 1)), atol=1e-9)


def test_contact_by_object(run):
    floor = Gap(lambda q: q[0], name="floor")
    system = GeneralizedSystem([[3.0]], [-3 * G], q=[0.0], gaps=[floor])
    own = Simulator(system, 0.01).run(0.1)
    np.testing.assert_allclose(own.force(floor)[:, 0], 3 * G)


def test_contact_that_never_acted_has_no_force(run):
    series = run.contacts("ceiling")
    assert np.isnan(series.gap).all()
    assert (run.force("ceiling") == 0).all()


def test_unknown_names_are_refused(run):
    with pytest.raises(st.ModelError, match=r"'flor'.*'floor'"):
        run.contacts("flor")
    with pytest.raises(KeyError, match="v_y"):
        run["z"]


def test_components_by_name(run):
    np.testing.assert_array_equal(run["y"], run.q[:, 1])
    np.testing.assert_array_equal(run["v_x"], run.v[:, 0])


def test_energy_record(run):
    np.testing.assert_allclose(run.energy.kinetic, (run.v**2).sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(run.energy.total, run.energy.kinetic + run.energy.potential)


def test_repr_is_short(run):
    assert "1000 steps" in repr(run)
    assert len(repr(run)) < 200
    assert len(run) == 1001


def compare(one, two):
    for name in ("times", "q", "v"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in vars(one.table):
        a, b = getattr(one.table, name), getattr(two.table, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype, name
        assert a.shape == b.shape, name
    for name in one.energy.work:
        np.testing.assert_array_equal(one.energy.work[name], two.energy.work[name])
    np.testing.assert_array_equal(one.energy.total, two.energy.total)
    assert one.certificate.worst == two.certificate.worst
    np.testing.assert_array_equal(one.certificate.success, two.certificate.success)
    assert dict(one.info) == dict(two.info)
    assert repr(one.events) == repr(two.events)


def test_saved_and_loaded_is_the_same(run, tmp_path):
    run.save(tmp_path / "a.h5")
    again = st.load(tmp_path / "a.h5")
    compare(run, again)
    assert again.coordinate_names == ("x", "y")
    np.testing.assert_array_equal(again.force("floor"), run.force("floor"))
    assert [p.name for p in tmp_path.iterdir()] == ["a.h5"]
    again.save(str(tmp_path / "b.h5"))
    compare(run, st.load(str(tmp_path / "b.h5")))


def test_free_flight_can_be_saved(tmp_path):
    free = Simulator(GeneralizedSystem([[1.0]], q=[0.0], v=[1.0]), 0.1).run(0.5)
    free.save(tmp_path / "free.h5")
    compare(free, st.load(tmp_path / "free.h5"))
    assert free.events == []


def test_info_says_how_it_was_made(run):
    assert run.info["dt"] == H
    assert run.info["solver"] == "auto"
    assert "StewartTrinkle" in run.info["scheme"]


def test_bad_files_are_refused_by_name(tmp_path, run):
    with pytest.raises(st.ModelError, match=r"there is no file .*missing\.h5"):
        st.load(tmp_path / "missing.h5")
    text = tmp_path / "text.h5"
    text.write_text("not a trajectory")
    with pytest.raises(st.ModelError, match=r"text\.h5 is not an HDF5 file"):
        st.load(text)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1.0
    with pytest.raises(st.ModelError, match=r"other\.h5 is not a stiction trajectory"):
        st.load(tmp_path / "other.h5")
    with pytest.raises(st.ModelError, match="is not an HDF5 file"):
        st.load(tmp_path)
    with pytest.raises(st.ModelError, match="there is no folder"):
        run.save(tmp_path / "no" / "a.h5")


def test_damaged_and_newer_files_are_refused(tmp_path, run):
    path = tmp_path / "a.h5"
    run.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = 99
    with pytest.raises(st.RecordingError, match="newer stiction"):
        st.load(path)
    with h5py.File(path, "r+") as file:
        file.attrs["format_version"] = VERSION
        del file["contacts/gap"]
    with pytest.raises(st.RecordingError, match="contacts/gap"):
        st.load(path)


def write_old(run, path, version):
    """A file as versions 1 and 2 were."""
    with h5py.File(path, "w") as file:
        info = {key: value for key, value in run.info.items() if version == 2 or key not in ("joints", "gains")}
        file.attrs.update(format="stiction-trajectory", format_version=version, info=json.dumps(info))
        for name in ("times", "q", "v", "joints") if version == 2 else ("times", "q", "v"):
            file[name] = getattr(run, name)
        for name in vars(run.table):
            if version == 2 or name != "tangent":
                values = getattr(run.table, name)
                file[f"contacts/{name}"] = values if version == 2 or values.ndim < 2 else values[:, :3]
        file["energy/kinetic"], file["energy/potential"] = run.energy.kinetic, run.energy.potential
        for name, values in run.energy.work.items():
            file[f"energy/{'parts' if version == 2 else 'work'}/{name}"] = values
        for name, values in run.certificate.residuals.items():
            file[f"certificate/{name}"] = values
        file["success"] = run.certificate.success


def test_files_of_older_versions_load(tmp_path, run):
    write_old(run, tmp_path / "two.h5", 2)
    compare(run, st.load(tmp_path / "two.h5"))
    write_old(run, tmp_path / "one.h5", 1)
    one = st.load(tmp_path / "one.h5")
    np.testing.assert_array_equal(one.force("floor"), run.force("floor"))
    assert repr(one.events) == repr(run.events)
    with pytest.raises(st.RecordingError, match="older stiction, without the tangents"):
        one.table.tangent  # noqa: B018


def test_resting_contact_of_a_second_run_is_no_new_impact():
    """Going on from a state in which the contact already carried an impulse is not an impact."""
    floor = Gap(lambda q: q[0], name="floor")
    sim = Simulator(GeneralizedSystem([[1.0]], [-G], q=[0.05], gaps=[floor]), 0.01)
    first, second = sim.run(0.5), sim.run(0.5)
    assert [e.kind for e in first.events] == ["impact"]
    assert second.events == []
