"""Plots: every preset and any component, of any kind of run, with errors that name what there is."""

import numpy as np
import pytest

import stiction as st
from stiction.papers.st96_rod import rod
from stiction.view.contact_plots import groups
from stiction.view.plots import PRESETS

MOTION = sorted(set(PRESETS) - {"frames"})


@pytest.fixture(scope="module")
def run():
    return st.Simulator(rod(), 0.005).run(0.7)


@pytest.fixture(scope="module")
def pile():
    """Twelve balls in a row on a plane, two of which are hit."""
    world = st.World()
    world.add_plane()
    for i in range(12):
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0.3 * i, 0, 0.1), name=f"ball {i}")
    world.add_body(st.Sphere(0.1), mass=1.0, position=(-0.3, 0, 0.1), velocity=(4, 0, 0), name="cue")
    return st.Simulator(world, 0.01).run(0.2, every=2, progress=False)


@pytest.mark.parametrize("preset", MOTION)
def test_presets_draw_and_write(run, preset, tmp_path):
    figure = run.plot(preset, path=tmp_path / "figure.png")
    assert figure.axes
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_components_show_the_recorded_values(run):
    figure = run.plot(["y", "v_theta"])
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), run["y"])
    np.testing.assert_array_equal(figure.axes[1].lines[0].get_ydata(), run["v_theta"])


def test_a_phase_plot_is_position_against_velocity(run, pile):
    figure = run.plot("phase", of="theta")
    (axes,) = figure.axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), run["theta"])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), run["v_theta"])
    assert len(run.plot("phase").axes) == 3
    axes = pile.plot("phase", of=["cue"]).axes
    assert [a.get_xlabel() for a in axes] == ["cue.x [m]", "cue.y [m]", "cue.z [m]"]
    assert axes[0].get_ylabel() == "cue.vx [m/s]"
    with pytest.raises(st.ModelError, match="quaternion"):
        pile.plot("phase", of="cue.qx")


def test_modes_cover_the_whole_run(run):
    axes = run.plot("modes").axes[0]
    widths = sum(bar.get_width() for bar in axes.patches)
    assert widths == pytest.approx(2 * run.times[-1])  # two contacts


def test_many_bodies_make_few_panels_and_a_sentence_says_how_to_choose(pile):
    figure = pile.plot("states")
    assert len(figure.axes) == 6 * 4
    assert "first 6 of 13" in figure.get_supxlabel()
    chosen = pile.plot("states", of=["cue", "ball 1"])
    assert len(chosen.axes) == 2 * 4
    np.testing.assert_array_equal(chosen.axes[0].lines[0].get_ydata(), pile.position("cue")[:, 0])


def test_many_contacts_are_added_up_and_those_of_a_body_are_shown_alone(pile):
    figure = pile.plot("impulses")
    assert len(figure.axes) == 2
    total = np.bincount(pile.table.step, pile.table.impulse[:, 0], len(pile) - 1)
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), total)
    names = [axes.get_title(loc="left") for axes in pile.plot("impulses", of="cue").axes]
    assert {*names} <= {g.name for g in groups(pile, ["cue"])}
    assert "plane0/cue" in names
    assert all("cue" in name for name in names)
    counted = pile.plot("modes", of="ball 0")
    assert {label.get_text() for label in counted.axes[0].get_yticklabels()} >= {"plane0/ball 0"}


def test_work_is_not_added_up_where_steps_were_not_recorded(run, pile):
    assert pile.plot("energy").axes[1].get_ylabel() == "power [W]"
    low = run.plot("energy").axes[1]
    lines = {line.get_label(): line.get_ydata() for line in low.lines}
    change = lines.pop("change of total")
    np.testing.assert_allclose(change, run.energy.total[1:] - run.energy.total[0])
    assert set(lines) <= {name.replace("_", " ") for name in run.energy.work}
    np.testing.assert_allclose(sum(lines.values()), change, atol=1e-9)  # every joule is in one of them


def test_a_recording_is_plotted_from_its_file(pile, tmp_path):
    pile.save(tmp_path / "pile.h5")
    loaded = st.load(tmp_path / "pile.h5")
    for preset in MOTION:
        assert len(loaded.plot(preset).axes) == len(pile.plot(preset).axes)


def test_unknown_names_get_a_suggestion(run, pile):
    with pytest.raises(st.ModelError, match="Did you mean 'energy'"):
        run.plot("enegry")
    with pytest.raises(st.ModelError, match="no folder"):
        run.plot("energy", path="no/such/folder/x.png")
    with pytest.raises(st.ModelError, match="there is no body 'bal'"):
        pile.plot("states", of="bal")
    with pytest.raises(st.ModelError, match="neither a body nor what acted"):
        pile.plot("impulses", of="bal")
    with pytest.raises(st.ModelError, match="whole run"):
        pile.plot("energy", of="cue")
    with pytest.raises(st.ModelError, match="components are named alone"):
        pile.plot(["cue.x"], of="cue")
    with pytest.raises(st.ModelError, match="generalized system"):
        run.plot("frames")


def test_a_run_without_contacts_can_be_plotted():
    free = st.Simulator(st.GeneralizedSystem([[1.0]], [-9.81], q=[0.0]), 0.01).run(0.1)
    for preset in MOTION:
        assert free.plot(preset).axes
