"""Contacts that give way inside the complementarity problem: rest, indeterminate loads, every scheme and solver."""

from __future__ import annotations

import numpy as np
import pytest

import stiction as st
from stiction.solvers import SOLVERS

GRAVITY, HALF = 9.81, (0.6, 0.4)


def table(compliance: object, friction: object = None, com: tuple[float, float] = (0.0, 0.0)) -> st.World:
    """A table of 4 kg on four spheres as legs, at (±0.6, ±0.4), its centre of mass above `com`."""
    world = st.World()
    legs = [st.Sphere(0.05, position=(x, y, 0.05)) for x in (-HALF[0], HALF[0]) for y in (-HALF[1], HALF[1])]
    world.add_body(legs, mass=4.0, inertia=(1.0, 1.0, 1.5), com=(*com, 0.5), name="table")
    floor = world.add_plane(name="floor")
    world.set_contact("table", floor, friction=friction, compliance=compliance)
    return world


def loads(world: st.World, seconds: float, dt: float = 0.01, **options: object) -> np.ndarray:
    """(4,) what the legs carry at last [N], by x and then y."""
    simulator = st.Simulator(world, dt, **options)  # type: ignore[arg-type]
    for _ in range(round(seconds / dt)):
        simulator.step()
    contacts = simulator.contacts
    assert contacts is not None
    order = np.argsort(2 * (contacts.point[:, 0] > 0) + (contacts.point[:, 1] > 0))
    return contacts.impulse[order, 0] / dt


def elastic(com: tuple[float, float]) -> np.ndarray:
    """Equal springs under a rigid plate: loads are an affine function of the place, here in closed form [N]."""
    weight = 4.0 * GRAVITY
    x, y = np.repeat([-HALF[0], HALF[0]], 2), np.tile([-HALF[1], HALF[1]], 2)
    return 0.25 * weight * (1.0 + com[0] * x / HALF[0] ** 2 + com[1] * y / HALF[1] ** 2)


@pytest.mark.parametrize("com", [(0.0, 0.0), (0.2, 0.1)])
def test_legs_that_give_way_share_the_load_as_springs_do(com: tuple[float, float]) -> None:
    world = table(st.Compliance(1e7, 2e5), com=com)  # the table tilts by 1e-6 and its weight moves by as much
    np.testing.assert_allclose(loads(world, 0.5, solver="newton", tol=1e-10), elastic(com), rtol=1e-5)


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"lemke", "enumeration", "conic", "fixed-point"}))
def test_stiffness_to_infinity_selects_one_distribution(solver: str) -> None:
    """One problem, W p + C p = -q: as C falls, p goes to the smallest loads that carry the table, by O(C)."""
    errors = []
    for kn in (1e5, 1e6, 1e7):
        model = table(1.0 / kn, com=(0.2, 0.1)).build()
        problem = st.AnitescuHart().probe(model, model.initial_state(), 0.01)
        answer = st.solve(problem, solver=solver, tol=1e-10)
        assert answer.success
        points = model.contact_geometry(model.detect(0.0, model.initial_state().q, 0.1), model.initial_state().q).point
        order = np.lexsort((points[:, 1], points[:, 0]))
        errors.append(np.abs(answer.p[order] / 0.01 - elastic((0.2, 0.1))).max())
    assert errors[2] < 0.11 * errors[1] < 0.02 * errors[0]


@pytest.mark.parametrize("scheme", [st.AnitescuHart(), st.StewartTrinkle(), st.TzitzourisPang()])
def test_a_mass_sinks_by_weight_over_stiffness_in_every_scheme(scheme: object) -> None:
    floor = st.Gap(lambda q: q[0], lambda q: np.ones(1), compliance=st.Compliance(1e4, 300.0))
    system = st.GeneralizedSystem(2.0 * np.eye(1), [-2.0 * GRAVITY], q=[0.0], gaps=[floor])
    run = st.Simulator(system, 0.01, scheme=scheme).run(1.5)
    assert run.q[-1, 0] == pytest.approx(-2.0 * GRAVITY / 1e4, rel=1e-6)
    assert np.abs(run.certificate["energy"]).max() < 1e-12


def test_a_step_goes_to_the_spring_and_damper_as_it_shrinks() -> None:
    """The bounce of rows with compliance against the closed form of spring and damper: first order in h."""
    zeta, kn, m = 0.2, 1e3, 1.0
    floor = st.Gap(lambda q: q[0], lambda q: np.ones(1), compliance=st.Compliance(kn, 2 * zeta * np.sqrt(kn * m)))
    system = st.GeneralizedSystem(m * np.eye(1), q=[0.0], v=[-1.0], gaps=[floor])
    errors = []
    for h in (2e-4, 1e-4, 5e-5):
        run = st.Simulator(system, h, scheme=st.AnitescuHart()).run(0.06)
        deepest = np.exp(-zeta * np.arccos(zeta) / np.sqrt(1 - zeta**2)) / np.sqrt(kn / m)
        errors.append(abs(-run.q[:, 0].min() - deepest) / deepest)
    assert errors[2] < 0.6 * errors[1] < 0.36 * errors[0] < 0.01


def test_sticking_contacts_creep_at_their_force_over_gamma_t() -> None:
    world = st.PlanarWorld(gravity=(1.0, -GRAVITY))
    world.add_body(st.Polygon([(-0.2, 0), (0.2, 0), (0.2, 0.1), (-0.2, 0.1)]), mass=2.0, name="block")
    floor = world.add_half_plane()
    world.set_contact("block", floor, friction=0.5, compliance=st.Compliance(1e5, 1e3, 200.0))
    run = st.Simulator(world, 0.01).run(1.0)
    assert run.velocity("block")[-1, 0] == pytest.approx(2.0 * 1.0 / (2 * 200.0), rel=1e-4)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_takes_rows_that_give_way(solver: str) -> None:
    """Contacts with friction whose C is of the size of W, and every certificate by the same law."""
    C = np.array([0.5, 0.25, 1.0])
    sticks = st.ContactProblem(
        st.Dense(np.eye(3), np.eye(3)), v_free=[-1.0, 0.1, 0.05], C=C, row_ptr=[0, 3], law=[1], friction=[0.4],
        associated=solver in ("conic", "apgd"),
    )  # fmt: skip
    if solver in ("lemke", "enumeration"):
        sticks = sticks.polyhedral(4)
    expected = -sticks.v_free / (1.0 + C)  # inside its cone, each row by itself
    np.testing.assert_allclose(st.solve(sticks, solver=solver, tol=1e-8).p, expected, atol=1e-6)
    rng = np.random.default_rng(7)
    for _ in range(5):
        H = rng.normal(size=(6, 5))
        problem = st.ContactProblem(
            st.Dense(np.eye(5), H), v_free=rng.normal(size=5) - H[0] - H[3], C=rng.uniform(0.05, 1.0, 6),
            row_ptr=[0, 3, 6], law=[1, 1], friction=[0.4, 0.4], associated=solver in ("conic", "apgd"),
        )  # fmt: skip
        if solver in ("lemke", "enumeration"):
            problem = problem.polyhedral(4)
        answer = st.solve(problem, solver=solver, tol=1e-6)
        assert answer.success, answer.message
        np.testing.assert_allclose(answer.u, H @ answer.v + problem.C * answer.p, atol=1e-12)


def test_bad_compliance_is_refused() -> None:
    world = table(None)
    for bad, words in ((-1.0, "at least 0"), ("soft", "must be a number"), (True, "must be a number")):
        with pytest.raises(st.ModelError, match=words):
            world.set_contact("table", "floor", compliance=bad)
    with pytest.raises(st.ModelError, match="bounces by its damping"):
        world.set_contact("table", "floor", restitution=0.5, compliance=1e-5)
    with pytest.raises(st.ModelError, match="kn"):
        st.Compliance(0.0)
    with pytest.raises(st.ModelError, match="Moreau has rigid contacts"):
        st.Simulator(table(1e-5), 0.01, scheme=st.Moreau())
    world.set_material("rubber", compliance=1e-4)
    world.set_material("steel")
    world.add_body(st.Sphere(0.1), mass=1.0, position=(3, 0, 1), material="rubber")
    world.add_body(st.Sphere(0.1), mass=1.0, position=(4, 0, 1), material="steel")
    with pytest.raises(st.ModelError, match="no rule of combination"):
        world.build()
