"""ttp01: what its experiments give is what is on record, and their exact answers are exact."""

from dataclasses import replace

import numpy as np
import pytest

from stiction import AnitescuHart, Coulomb, Polyhedral, Simulator, Sphere, StewartTrinkle, World
from stiction.papers import experiment
from stiction.papers import ttp01_bowling as bowling
from stiction.papers import ttp01_sphere as sphere
from stiction.papers import ttp01_two_spheres as two
from stiction.papers.ttp01_reference import sliding_ball, sliding_ball_polyhedral

SHORT = ("ttp01-spin-aligned", "ttp01-spin-misaligned", "ttp01-slide-aligned", "ttp01-slide-misaligned")
LONG = ("ttp01-bowling", "ttp01-two-spheres")


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


def test_exact_motion_in_the_seam_keeps_its_contacts_and_its_energy():
    """Rolling takes no energy, sliding does, and the gaps stay closed until the times at which they open."""
    exact = two.reference()
    _, slides, leaves, flies = exact.starts
    assert 0.0 < slides < leaves < flies
    energy = []
    for t in np.linspace(0.0, 4.0, 81):
        q, v = exact(t)
        gaps = np.linalg.norm(q[:3] - two.CENTRES, axis=1) - two.REACH
        assert gaps.min() > -1e-9
        assert abs(gaps[0]) < 1e-9 or t > leaves
        assert abs(gaps[1]) < 1e-9 or t > flies
        energy.append(0.5 * v[:3] @ v[:3] + 0.2 * v[3:] @ v[3:] - two.FORCE @ q)
    assert np.diff(energy).max() <= 1e-9
    in_flight = np.linspace(0.0, 4.0, 81)[1:] > flies + 0.05
    assert np.abs(np.diff(energy)[in_flight]).max() < 1e-9


def test_implicit_method_tends_to_the_exact_motion_in_the_seam():
    """Backward Euler: half the step, half the error."""
    exact = two.reference()
    errors = [np.abs(sphere.implicit(two.seam(two.FRICTION), h, 2.0).v[-1] - exact(2.0)[1]).max() for h in (0.1, 0.05)]
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("eps", two.RULES)
def test_bouncing_begins_where_the_lift_of_a_step_passes_the_rule(eps):
    """Linearised at the start, the gap to a sphere ends (h v)²/(2 R) above 0; beyond eps the contact is dropped."""
    h = 0.1
    run = sphere.stewart(two.seam(two.POLYHEDRON), h, 2.5, eps)
    step = next(e.step for e in run.events if e.kind == "separation")
    lift = (h * np.linalg.norm(run.v[:, :3], axis=1)) ** 2 / (2 * two.REACH[1])
    assert lift[step - 1] < 1.01 * eps < 1.03 * lift[step]


@pytest.mark.parametrize(
    ("friction", "v", "position", "h"),
    [
        (sphere.FRICTION, (0.0, 0.0, 0.0, 0.0, 0.0, 1.962), (0.0, 0.0, 1.0), 0.07),
        (sphere.FRICTION, (2.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.12),
        (bowling.FRICTION, bowling.VELOCITY, bowling.POSITION, 0.05),
    ],
)
def test_a_ball_of_a_world_moves_as_the_papers_own_form(friction, v, position, h):
    world = World(gravity=(0.0, 0.0, -9.81))
    world.set_material("default", friction=friction)
    world.add_plane()
    world.add_body(Sphere(1.0), mass=1.0, position=position, velocity=v[:3], angular_velocity=v[3:], name="ball")
    run = sphere.implicit(world, h, 1.0)
    found = np.hstack([run.velocity("ball"), run.angular_velocity("ball")])
    np.testing.assert_allclose(found, sphere.implicit(sphere.ball(friction, v, position), h, 1.0).v, atol=1e-10)


def test_a_world_of_two_spheres_moves_as_the_papers_own_form():
    run = sphere.implicit(two.seam_world(), 0.1, 4.0)
    found = np.hstack([run.velocity("ball"), run.angular_velocity("ball")])
    np.testing.assert_allclose(found, sphere.implicit(two.seam(two.FRICTION), 0.1, 4.0).v, atol=1e-10)


def test_the_impulses_of_a_step_do_not_depend_on_lemkes_path():
    system = two.seam(two.POLYHEDRON)
    v = np.array([0.8, 0.0, 0.0, 0.1, 0.5, -0.2])
    scheme = AnitescuHart(eps=1.0)
    problem = scheme.probe(system, replace(system.initial_state(), v=v), 0.01)
    answers = [path.solve(problem, tol=1e-10) for path in two.PATHS]
    assert all(answer.success for answer in answers)
    assert len({answer.iterations for answer in answers}) > 1  # the paths differ
    for answer in answers[1:]:
        np.testing.assert_allclose(answer.p, answers[0].p, atol=1e-9)
