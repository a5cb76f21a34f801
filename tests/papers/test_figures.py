"""The figures of the papers: each has its picture on a page, and what their drawings rest on is true."""

from pathlib import Path

import numpy as np
import pytest

from stiction.friction import Coulomb, Polyhedral
from stiction.friction.ellipsoids import latitudes
from stiction.papers import pr11_rod, ttp01_seam_friction, ttp01_two_spheres
from stiction.papers.figures import drawings
from stiction.papers.ttp01_sphere import ROWS, forces, stewart
from stiction.papers.words import CAPTIONS

DOCS = Path(__file__).parents[2] / "docs"
SEAM = ttp01_two_spheres.SEAM


def test_every_figure_has_its_picture_in_the_gallery():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    summaries = {"st96-rod"}  # shown in the report only
    for name in CAPTIONS.keys() - summaries:
        assert f"(images/{name}.png)" in gallery
        assert (DOCS / "images" / f"{name}.png").is_file()


@pytest.mark.parametrize("sides", [4, 8])
def test_the_polyhedral_cone_lies_inside_the_round_one(sides):
    figure = drawings.cone(0.4, sides, "β")
    (polygon,) = figure.axes[1].patches
    corners = polygon.get_xy()[:-1]
    np.testing.assert_allclose(corners, 0.4 * Coulomb(0.4).directions(2, sides), atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(corners, axis=1), 0.4)


def test_set_ups_draw_with_the_symbols_of_their_paper():
    def said(figure):
        return {text.get_text() for axes in figure.axes for text in axes.texts}

    assert {"$N$", "$F = \\mu N$", "$(x_c, y_c)$", "θ"} <= said(drawings.painleve_rod(pr11_rod.ANGLE, 2.0, "s00"))
    assert {"$\\lambda_n$", "$\\lambda_t$", "$\\tau$", "φ"} <= said(drawings.painleve_rod(pr11_rod.ANGLE, 2.0, "pr11"))
    assert {"$\\hat t$, $c_t$", "π/4"} <= said(drawings.ball_on_plane(ROWS))


# --- ttp01 figure 23


def test_an_edge_is_where_two_faces_meet():
    octahedron = np.vstack([np.eye(3), -np.eye(3)])
    unit = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.4, 0.3, 0.3], [0.3, 0.3, 0.0], [0.0, 0.0, 0.0]])
    c = np.column_stack([np.full(5, 10.0), 0.2 * 10.0 * unit])
    marked = ttp01_seam_friction.on_edge(c, 0.2, octahedron)
    assert marked.tolist() == [True, True, False, False, False]  # edge, corner, face, inside, none
    assert ttp01_seam_friction.spans(np.arange(6.0), marked) == [(0.0, 2.0)]


def test_exact_friction_has_no_jump():
    exact = ttp01_two_spheres.reference()
    for turn in exact.starts[1:]:
        before, after = (ttp01_seam_friction.exact_size(SEAM, exact, turn + d) for d in (-1e-7, 1e-7))
        assert after == pytest.approx(before, abs=1e-5)


SET = ttp01_two_spheres.FRICTION
MANY = SET.rings(
    (24, 0.0), (20, 0.35), (20, -0.35), (16, 0.75), (16, -0.75), (8, 1.2), (8, -1.2), (1, np.pi / 2), (1, -np.pi / 2)
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("turned", "directions", "slips", "cusp"),
    [
        (17, SET.rings(*latitudes(8)), 2.60, 2.90),
        (45, SET.rings(*latitudes(8)), 2.56, 2.94),
        (0, SET.rings(*latitudes(16)), 2.66, 2.96),
        (0, MANY, 2.77, 2.97),
    ],
    ids=["20, turned by 17°", "20, turned by 45°", "38", "114"],
)
def test_the_kink_goes_with_the_polyhedron(turned, directions, slips, cusp):
    """docs/gallery.md: with t turned from the seam, or more directions, no edge is followed long before the cusp."""
    a = np.radians(turned)
    frame = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    directions = directions @ frame.T
    run = stewart(ttp01_two_spheres.seam(Polyhedral(0.2, directions=directions)), 0.1 / 27, 3.4)
    c = forces(run, ttp01_two_spheres.SPHERES[1])
    found = ttp01_seam_friction.find_bends(run, c, SEAM, directions)
    assert found.slips == pytest.approx(slips, abs=0.006)
    assert ttp01_seam_friction.cusp(run.times, c) == pytest.approx(cusp, abs=0.006)
    assert not any(first < cusp - 0.05 for first, _ in found.edges)
