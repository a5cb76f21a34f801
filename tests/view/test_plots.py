"""Plots: every preset and any component, with errors that name what there is."""

import numpy as np
import pytest

import stiction as st
from stiction.papers.st96_rod import rod
from stiction.view.plots import PRESETS


@pytest.fixture(scope="module")
def run():
    return st.Simulator(rod(), 0.005).run(0.7)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_presets_draw_and_write(run, preset, tmp_path):
    figure = run.plot(preset, path=tmp_path / "figure.png")
    assert figure.axes
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_components_show_the_recorded_values(run):
    figure = run.plot(["y", "v_theta"])
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), run["y"])
    np.testing.assert_array_equal(figure.axes[1].lines[0].get_ydata(), run["v_theta"])


def test_modes_cover_the_whole_run(run):
    axes = run.plot("modes").axes[0]
    widths = sum(bar.get_width() for bar in axes.patches)
    assert widths == pytest.approx(2 * run.times[-1])  # two contacts


def test_unknown_names_get_a_suggestion(run):
    with pytest.raises(st.ModelError, match="Did you mean 'energy'"):
        run.plot("enegry")
    with pytest.raises(st.ModelError, match="no folder"):
        run.plot("energy", path="no/such/folder/x.png")


def test_a_run_without_contacts_can_be_plotted():
    free = st.Simulator(st.GeneralizedSystem([[1.0]], [-9.81], q=[0.0]), 0.01).run(0.1)
    for preset in PRESETS:
        assert free.plot(preset).axes
