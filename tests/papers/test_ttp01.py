"""ttp01: what its experiments give is what is on record, and their exact answers are exact."""

import numpy as np
import pytest

from stiction import Coulomb, Polyhedral, Simulator, StewartTrinkle
from stiction.papers import experiment
from stiction.papers import ttp01_sphere as sphere
from stiction.papers.ttp01_reference import sliding_ball, sliding_ball_polyhedral

SHORT = ("ttp01-spin-aligned", "ttp01-spin-misaligned", "ttp01-slide-aligned", "ttp01-slide-misaligned")
LONG = ("ttp01-bowling",)


@pytest.fixture(scope="module", params=[*SHORT, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)])
def outcome(request):
    return experiment(request.param).run()


def test_every_quantity_is_the_one_on_record(outcome):
    assert [(q.name, q.ours) for q in outcome.quantities if not q.ok] == []


def test_every_solve_is_certified(outcome):
    assert max(outcome.certificate["natural_map"], outcome.certificate["scaled_map"]) <= 1e-10


def test_figures_are_drawn(outcome, tmp_path):
    figures = outcome.figures()
    assert len(figures) >= 2
    for name, figure in figures.items():
        figure.savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def test_references_agree_with_the_closed_form_of_sliding():
    """Along x the ODE, the polyhedral flow with a direction along -x, and the closed form are one motion."""
    q, v = np.array([0.0, 0, 1, 0, 0, 0]), np.array([2.0, 0, 0, 0, 0, 0])
    rows = sphere.ROWS[1:]
    smooth = sliding_ball(rows, 0.2, np.array([1.0, 1.0, 0.4]), q, v)
    flat = sliding_ball_polyhedral(rows, 0.2, sphere.ALIGNED, q, v)
    assert smooth.starts[-1] == pytest.approx(2 * 2 / (7 * 0.2 * 9.81), abs=1e-9)
    assert flat.starts[-1] == pytest.approx(2 * 2 / (7 * 0.2 * 9.81), abs=1e-12)
    for t in np.linspace(0.0, 1.0, 21):
        exact = sphere.sliding(t)
        for found in (smooth(t), flat(t)):
            np.testing.assert_allclose(found[0], exact[0], atol=1e-9)
            np.testing.assert_allclose(found[1], exact[1], atol=1e-9)


def test_both_forms_of_stewarts_method_agree_on_a_plane():
    """Linearised at the start or at the prediction, a plane is a plane."""
    system = sphere.ball(Polyhedral(0.2, directions=sphere.SLIDE_MISALIGNED), (2.0, 0.3, 0.0, 0.1, 0.0, 1.0))
    start = sphere.stewart(system, 0.05, 1.0)
    prediction = Simulator(system, 0.05, scheme=StewartTrinkle(), solver="lemke", tol=1e-10).run(1.0)
    np.testing.assert_allclose(start.v, prediction.v, atol=1e-12)


def test_implicit_run_of_a_ball_without_spin_is_that_of_plain_coulomb_friction():
    """With no spin the ellipsoid's tangent disk alone acts."""
    torsional = sphere.implicit(sphere.ball(sphere.FRICTION, (2.0, 0.5, 0.0, 0.3, 0.0, 0.0)), 0.05, 0.6)
    world = sphere.ball(Coulomb(0.2), (2.0, 0.5, 0.0, 0.3, 0.0, 0.0), tangents=2)
    np.testing.assert_allclose(torsional.v, sphere.implicit(world, 0.05, 0.6).v, atol=1e-8)
