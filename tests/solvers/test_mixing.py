"""Anderson's method on large islands: what it combines, and when it takes turns with momentum."""

import numpy as np
import pytest

import stiction as st
from stiction.solvers.gauss_seidel.accelerate import new_history
from stiction.solvers.gauss_seidel.mixing import mix_sweeps, switch_acceleration
from stiction.solvers.gauss_seidel.nsgs import BodySweeps, _restart_shares
from stiction.solvers.gauss_seidel.parameters import ACCELERATION, WINDOWS
from stiction.solvers.gauss_seidel.sweep_island import body_state


def sweeps_of_a_pile():
    """Sweeps on the contacts of a step of elastic balls that lie in a heap."""
    world = st.World()
    world.set_material("default", friction=0.5, compliance=st.Elastic(1e6))
    world.add_plane()
    for i in range(4):
        for j in range(4):
            for k in range(3):
                world.add_body(st.Sphere(0.05), density=2500, position=(0.0999 * i, 0.0999 * j, 0.05 + 0.0999 * k))
    simulator = st.Simulator(world, 0.005)
    problem = simulator.scheme.probe(simulator.system, simulator.state, 0.005)
    return BodySweeps(problem, np.zeros(problem.nr), 1.0, True, (1e-12, 0))


def test_groups_are_combined_so_that_their_changes_cancel_best():
    """Against least squares in NumPy, for groups at random; the bodies' states belong to the new impulses."""
    run, rng = sweeps_of_a_pile(), np.random.default_rng(0)
    work = run.work
    n, root = len(work.p), np.sqrt(work.local.weight)
    history = new_history(True, True, work)
    r, g = [], []
    for _ in range(6):
        history.x[:] = rng.normal(size=n)
        work.p[:] = history.x + rng.normal(size=n)
        g.append(work.p.copy())
        r.append(g[-1] - history.x)
        mix_sweeps(0, False, work, history)
        dR, dG = (np.diff(np.array(s), axis=0) for s in (r, g))
        if len(r) > 1:
            c = np.linalg.lstsq((dR * root).T, r[-1] * root, rcond=None)[0]
            assert work.p == pytest.approx(g[-1] - c @ dG, rel=1e-6, abs=1e-7)
    w = work.w.copy()
    body_state(0, False, work.entries, work.packed, work.p, work.w)
    assert np.array_equal(w, work.w)


def test_momentum_and_mixing_take_turns_when_they_do_not_help():
    history = new_history(True, True, sweeps_of_a_pile().work)
    turn, patience = switch_acceleration.py_func, ACCELERATION.momentum_sweeps
    assert not turn(0, 10, 1.0, 0.25, history)
    assert not turn(0, 10 + patience, 0.3, 0.25, history)
    assert not turn(0, 11 + patience, 0.2, 0.25, history)  # halved
    assert turn(0, 12 + 2 * patience, 0.19, 0.25, history)
    assert history.mixing[0]
    start, patience = 12 + 2 * patience, ACCELERATION.mixing_sweeps
    assert not turn(0, start + patience, 0.19, 0.25, history)
    assert turn(0, start + patience + 1, 0.19, 0.25, history)
    assert not history.mixing[0]


def test_stalled_elastic_problems_start_again_from_none_and_from_shares_that_differ():
    problem = sweeps_of_a_pile().problem
    none, *shares = _restart_shares(problem, True)
    assert none == 0.0
    assert len(shares) == WINDOWS.restarts_elastic - 1
    for one, again in zip(shares, [*_restart_shares(problem, True)][1:], strict=True):
        assert np.array_equal(one, again)
        contacts = one.reshape(-1, 3)
        assert (contacts == contacts[:, :1]).all()
        assert (contacts >= 0.0).all()
        assert (contacts <= WINDOWS.most_share_elastic).all()
        assert np.ptp(one) > 0.1
    assert (*_restart_shares(problem, False),) == WINDOWS.restart_shares
