"""Pictures of solution spaces: what they show is what was solved."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import force_acceleration, impulse_velocity, mode_map, time_stepping
from stiction.papers.pr11_rod import LIFTING, rod
from stiction.view.solution_space import mode_diagram, solution_space


def said(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_solutions_lie_where_the_two_laws_meet():
    figure = solution_space(time_stepping(rod(LIFTING), h=0.01))
    lines = {line.get_label(): line.get_xydata() for line in figure.axes[0].lines}
    dots = np.array([line.get_xydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"])
    assert dots == pytest.approx(np.array([[0, 0], [0.0755, 0.1133], [0.3266, 0.4516]]), abs=1e-4)
    for law in ("Signorini", "Coulomb"):
        nearest = [np.linalg.norm(lines[law] - dot, axis=1).min() for dot in dots]
        assert max(nearest) < 2e-3  # of a curve drawn with 800 points
    assert said(figure) == ["opens", "slides along -t", "comes to rest"]


def test_a_sliding_contact_is_a_line_and_its_corner(tmp_path):
    figure = solution_space(force_acceleration(rod()), path=tmp_path / "none.png")
    assert said(figure) == ["no solution"]
    assert (tmp_path / "none.png").stat().st_size > 1000
    assert said(solution_space(force_acceleration(rod(LIFTING)))) == ["opens", "slides along -t"]


def test_two_contacts_are_too_many():
    block = [st.Gap(lambda q: q[1], tangents=lambda q: [1.0, 0.0], friction=0.5) for _ in range(2)]
    with pytest.raises(st.ModelError, match="solution_space draws one contact"):
        solution_space(impulse_velocity(st.GeneralizedSystem(np.eye(2), q=[0, 0], v=[1, -1], gaps=block)))


def test_a_map_of_modes_has_one_colour_for_each_outcome():
    found = mode_map(lambda a, mu: force_acceleration(rod(angle=a, mu=mu)), [0.3, 1.1], [0.5, 2.0])
    assert found.modes == ((("-",), ("-",)), (("-",), ()))
    assert found.count.tolist() == [[1, 1], [1, 0]]
    assert found.labels == [("-",), ()]
    figure = mode_diagram(found, x="φ", y="µ")
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert legend == ["slides (-)", "no solution"]
    closing = mode_map(lambda drop, mu: force_acceleration(rod(drop=drop, mu=mu)), [0.0, 1.0], [0.5])
    assert closing.modes == ((("-",), None),)
