"""AnitescuHart(relaxation="fixed-point"): a sequence of convex problems that ends at Coulomb's law."""

import numpy as np
import pytest

import stiction as st


def sliding_box():
    world = st.World()
    world.add_plane()
    box = world.add_body(st.Box((1, 1, 0.5)), mass=2.0, position=(0, 0, 0.25), velocity=(2.0, 0, 0))
    return world, box


@pytest.mark.parametrize("solver", ["conic", "auto", "apgd"])
def test_sliding_does_not_lift_as_it_does_in_the_relaxation(solver):
    """The relaxed law lifts a sliding box by mu·h·|slip|; the fixed point takes that back, whatever the solver."""
    heights, speeds = {}, {}
    for relaxation in ("none", "convex", "fixed-point"):
        world, box = sliding_box()
        name = "auto" if relaxation == "none" else solver
        sim = st.Simulator(
            world, 0.01, scheme=st.AnitescuHart(relaxation=relaxation, tolerance=1e-6), solver=name, tol=1e-8
        )
        run = sim.run(0.2)
        heights[relaxation], speeds[relaxation] = run.position(box)[-1, 2], run.velocity(box)[-1, 0]
    assert heights["convex"] > 0.25 + 1e-3
    assert heights["fixed-point"] == pytest.approx(heights["none"], abs=1e-6)
    assert speeds["fixed-point"] == pytest.approx(speeds["none"], abs=1e-4)


def test_solves_are_recorded_with_their_role_and_the_last_is_coulomb():
    world, _ = sliding_box()
    sim = st.Simulator(world, 0.01, scheme=st.AnitescuHart(relaxation="fixed-point"), solver="conic", tol=1e-8)
    result = sim.step()
    roles = [role for role, _ in result.solves]
    assert roles[-1] == "Coulomb"
    assert set(roles[:-1]) == {"convex"}
    assert len(roles) >= 3
    problem = st.AnitescuHart().probe(sim.system, sim.system.initial_state(), 0.01)
    assert not problem.associated
    assert problem.certify(result.solution.p).error <= 1e-5
    assert result.solution.certificate.natural_map == problem.certify(result.solution.p).natural_map


def test_too_few_rounds_are_reported():
    world, _ = sliding_box()
    scheme = st.AnitescuHart(relaxation="fixed-point", maxiter=1, tolerance=1e-9)
    sim = st.Simulator(world, 0.01, scheme=scheme, solver="conic", tol=1e-10, on_failure="continue")
    result = sim.step()
    assert not result.success
    assert result.status in (st.Status.NOT_CONVERGED, st.Status.INACCURATE)
    assert np.isfinite(result.state.v).all()


@pytest.mark.parametrize(("name", "value"), [("tolerance", 0.0), ("maxiter", -1), ("relaxation", "fixed")])
def test_bad_values_are_refused_by_name(name, value):
    with pytest.raises(st.ModelError, match=name):
        st.AnitescuHart(**{name: value})
