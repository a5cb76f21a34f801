"""The stages of a compiled step, called one by one: each is a function of records, and together they are the loop."""

import numpy as np
import pytest

import stiction as st
from stiction.collision.neighbours import no_neighbours
from stiction.schemes.steps import detection, motion, problem, solve
from stiction.schemes.steps.exchange import step_options, world_arrays
from stiction.schemes.steps.records import WarmStart
from stiction.solvers.gauss_seidel.outcome import SOLVED


def boxes():
    world = st.PlanarWorld()
    world.add_plane()
    for i in range(3):
        world.add_body(st.Polygon.box(0.2, 0.2), mass=1.0, position=(0.03 * i, 0.11 + 0.205 * i), angle=0.05 * i)
    return world


def balls():
    world = st.World()
    world.add_plane()
    for i in range(3):
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0.02 * i, 0.0, 0.1 + 0.201 * i), velocity=(1.0, 0.0, 0.0))
    return world


@pytest.mark.parametrize("make", [boxes, pytest.param(balls, marks=pytest.mark.long)])
def test_stages_called_one_by_one_are_a_step_of_the_loop(make):
    sim = st.Simulator(make(), 0.005, tol=1e-8)
    model, state, h = sim.system, sim.state, sim.dt
    d = 3 if model.dim == 2 else 6
    new_start, begin, finish, kinetic, _ = motion.planar if d == 3 else motion.spatial
    detect, _ = detection.planar if d == 3 else detection.spatial
    assemble = problem.assemble_planar if d == 3 else problem.assemble_spatial
    world, options = world_arrays(model), step_options(sim.scheme, h, sim.tol, sim.accept)
    q, v, turns = model.bodies(state.q), state.v.reshape(model.nb, -1), model.turns(state.q)

    start = new_start(world.bodies)
    band = begin(options, q, v, world.bodies, start)
    assert band == pytest.approx(sim.scheme.band(model, state, h), rel=1e-15)
    weight = model.mass_of[model.moves, None] * model.gravity
    pushed = (start.v_free - v)[model.moves, : model.dim] * model.mass_of[model.moves, None]
    np.testing.assert_allclose(pushed, h * weight, rtol=1e-12)  # what forces do is h m g

    _, found, geometry = detect(start, band, 10, False, no_neighbours(model.dim), world.shapes, world.bodies.moves)
    candidates = model.detect(state.t, state.q, band)
    np.testing.assert_array_equal(geometry.gap, model.gaps(candidates, state.t, state.q))

    made = assemble(
        options,
        world.shapes,
        q,
        turns,
        v,
        start,
        WarmStart(state.keys, state.impulses, state.springs),
        found,
        geometry,
        world.constraints,
    )
    np.testing.assert_array_equal(made.keys, candidates.key)
    first = made.laws.row_ptr[:-1]
    np.testing.assert_array_equal(made.demand[first], geometry.gap / h)  # ah03 eq. 2.12
    solved_v, held = np.empty_like(v), np.empty(model.nb, np.bool_)
    ended, _, error, _ = solve.attempts[d, 0](options, made, v, start.v_free, solved_v, held)
    assert ended == SOLVED
    assert error <= sim.tol

    new_q, new_turns, new_v = np.empty_like(q), turns.copy(), np.empty_like(v)
    assert finish(options, q, turns, solved_v, world, held, new_q, new_turns, new_v)
    assert kinetic(new_q, new_v, world.bodies) == pytest.approx(kinetic(q, solved_v, world.bodies), rel=1e-12)
    sim.advance(1)
    np.testing.assert_array_equal(model.bodies(sim.state.q), new_q)
    np.testing.assert_array_equal(sim.state.v, new_v.ravel())
