"""Random worlds and contact problems: every answer is certified or reported, and nothing is ever not a number."""

import warnings
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest
from build import random_choice, random_world
from problems import SOLVERS_TRIED, TOL, answer, check_answer

import stiction as st
from stiction.solvers import make_solver

WORLDS, STEPS = 200, 50  # 10 000 steps


class Witness:
    """A solver that looks over the shoulder of another one."""

    def __init__(self, name, counts):
        self.inner, self.name, self.counts = make_solver(name), name, counts

    def refuses(self, problem):
        return self.inner.refuses(problem)

    def solve(self, problem, *, tol, maxiter=None, p0=None):
        s = self.inner.solve(problem, tol=tol, maxiter=maxiter, p0=p0)
        check_answer(problem, s, tol)
        self.counts[f"{self.name} {s.status}"] += 1
        return s


def check_step(result):
    state, contacts = result.state, result.contacts
    assert np.isfinite(state.q).all()
    assert np.isfinite(state.v).all()
    for name in ("gap", "impulse", "velocity", "normal", "point"):
        assert np.isfinite(getattr(contacts, name)).all(), name
    c = result.certificate
    assert c is not None
    assert np.isfinite([c.penetration, c.joint_drift]).all()
    assert all(np.isfinite(getattr(c.energy, f.name)) for f in fields(c.energy))
    assert result.success == result.status.success
    if result.success:
        assert all(s.certificate.error <= TOL for role, s in result.solves[-1:])
    else:
        assert result.message


@pytest.mark.long
@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_worlds(dim, rich):
    """100 worlds of each kind, 50 steps each, masses over four decades, friction to 1.5, steps of 0.1 to 20 ms.

    A quarter of them where shapes are curved and joints driven: those take longer.
    """
    counts = Counter()
    worlds = WORLDS // 8 if rich else WORLDS // 2
    for seed in range(worlds):
        rng = np.random.default_rng([dim, seed])
        world, (scheme, name, dt) = random_world(rng, dim, rich), random_choice(rng)
        options = {"scheme": scheme, "tol": TOL, "on_failure": "continue"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = st.Simulator(world, dt, solver=Witness(name, counts), **options)
            try:
                for _ in range(STEPS):
                    check_step(sim.step())
                    counts["steps"] += 1
                loop = st.Simulator(world, dt, solver=name, **options)  # compiled, where it can be
                check_step(loop.advance(STEPS))
            except st.SolverError:
                counts["raised"] += 1
                continue
        assert loop.state.q.tobytes() == sim.state.q.tobytes(), (dim, seed)
    print(dict(counts))
    assert counts["steps"] > 0.9 * STEPS * worlds


@pytest.mark.long
@pytest.mark.parametrize("solver", SOLVERS_TRIED)
def test_problems(solver):
    """Hard ones included (no solution, several, redundant rows): what counts is that nothing passes unseen."""
    many = 100 if solver in ("auto", "fixed-point") else 400  # these try long where there is no solution
    counts = Counter(answer(seed, solver) for seed in range(many))
    print(solver, dict(counts))
    assert counts["solved"] >= 0.5 * (many - counts["refused"])
