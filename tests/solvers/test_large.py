"""What large problems rest on: memory that stays, work in equal parts, factors of bodies, looks when they are due."""

import math
import subprocess
import sys

import numpy as np
import pytest

import stiction as st
from stiction.problem.body_kernels import THREADS_MIN_BLOCKS, velocity_change
from stiction.runtime.jit import get_num_threads, set_num_threads
from stiction.simulation.loop import CompiledLoop
from stiction.solvers import Nsgs
from stiction.solvers.gauss_seidel.order import PHASES, find_cells, order_bodies, stride
from stiction.solvers.gauss_seidel.parameters import ATTEMPT
from stiction.solvers.gauss_seidel.point_contacts import BODY_FACTORS, compact_factors
from stiction.solvers.gauss_seidel.schedule import _sweeps_until_check


@pytest.mark.parametrize("n", [*range(1, 60), 100, 512])
def test_cells_are_dealt_once_each_and_evenly(n):
    """Cells that fall from 2 to 1 along an island: what two threads take differs by less than 12 %, not by 40 %."""
    order = [k * stride(n) % n for k in range(n)]
    assert sorted(order) == list(range(n))
    sizes = np.linspace(2.0, 1.0, n)[order]
    half = (n + 1) // 2
    assert n < 20 or abs(sizes[:half].mean() / sizes[half:].mean() - 1.0) < 0.12


def test_bodies_of_a_chunk_keep_their_order_and_cells_of_a_phase_share_none():
    """A grid of 80 x 60 bodies numbered at random, another of 3, and the ground, which a tenth of them touch."""
    rng = np.random.default_rng(0)
    name = rng.permutation(80 * 60).reshape(80, 60) + 1
    pairs = np.concatenate(
        [
            np.stack([name[1:].ravel(), name[:-1].ravel()], axis=1),
            np.stack([name[:, 1:].ravel(), name[:, :-1].ravel()], axis=1),
            np.stack([np.zeros(480, int), rng.permutation(4800)[:480] + 1], axis=1),
            [[4801, 4802], [4802, 4803], [-1, 4803]],
        ]
    )
    a, b = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    near, times = np.ones(len(a), np.bool_), np.ones(len(a), np.int64)
    near[5] = False
    Minv = np.tile(np.eye(3), (4804, 1, 1))
    Minv[0] = 0.0
    slot, begin, chunk = order_bodies(a, b, near, Minv)
    assert sorted(np.diff(begin)) == [3, 4800]
    assert slot[0] == 4803
    assert sorted(slot[1:]) == list(range(4803))
    (cell, _, taken, ends), phase = find_cells(False, a, b, near, times, slot, begin, chunk)
    assert taken.sum() == len(a) - 1
    bodies = np.where(pairs < 0, 0, pairs)
    assert np.array_equal(ends[near], slot[bodies][near])
    body = np.empty(4803, int)
    body[slot[1:]] = np.arange(1, 4804)
    for i in range(2):
        n = max(1, (begin[i + 1] - begin[i]) // chunk[i])
        part = np.arange(begin[i + 1] - begin[i]) * n // (begin[i + 1] - begin[i])
        for c in range(n if n > 1 else 0):
            assert (np.diff(body[begin[i] : begin[i + 1]][part == c]) > 0).all()
        for s in range(PHASES):
            used = [
                np.unique(ends[near & (cell == c)][ends[near & (cell == c)] < 4803])
                for c in range(phase[i, s], phase[i, s + 1])
            ]
            together = np.concatenate([*used, np.empty(0, int)])
            assert len(together) == len(np.unique(together))


def test_impulses_on_bodies_are_the_same_bits_for_threads():
    rng = np.random.default_rng(0)
    nk, nb = THREADS_MIN_BLOCKS + 17, 3001
    a, b = rng.integers(0, nb, nk), rng.integers(-1, nb, nk)
    Ja, Jb = rng.normal(size=(2, 3 * nk, 6))
    p = rng.normal(size=3 * nk) * (rng.random(3 * nk) < 0.6)
    Minv = rng.normal(size=(nb, 6, 6))
    row_ptr, one, two = 3 * np.arange(nk + 1), np.full((nb, 6), np.inf), np.full((nb, 6), np.inf)
    threads = get_num_threads()
    try:
        set_num_threads(min(2, threads))
        velocity_change(True, a, b, row_ptr, Ja, Jb, Minv, p, two)
    finally:
        set_num_threads(threads)
    velocity_change(False, a, b, row_ptr, Ja, Jb, Minv, p, one)
    assert np.array_equal(one, two)
    force = np.zeros((nb, 6))
    np.add.at(force, a, (Ja * p[:, None]).reshape(nk, 3, 6).sum(1))
    np.add.at(force, b[b >= 0], (Jb * p[:, None]).reshape(nk, 3, 6).sum(1)[b >= 0])
    np.testing.assert_allclose(one, np.einsum("bij,bj->bi", Minv, force), rtol=1e-11, atol=1e-10)


def inverse_mass(rng, inertia):
    Minv = np.zeros((1, 6, 6))
    Minv[0, range(3), range(3)] = 0.7
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    Minv[0, 3:, 3:] = Q @ np.diag(inertia) @ Q.T
    return Minv


def test_the_factor_of_a_body_gives_its_inverse_mass():
    """l² = 1/m and Λ Λᵀ the inverse inertia, whatever the inertia; a body that cannot turn has no Λ."""
    rng = np.random.default_rng(1)
    for inertia in ((1.0, 2.0, 3.0), (1e-3, 5.0, 2e3), (4.0, 4.0, 4.0), (0.0, 0.0, 0.0)):
        Minv, out = inverse_mass(rng, inertia), np.full((2, BODY_FACTORS), np.inf)
        assert compact_factors(Minv, 0, 1, out)
        l, a, b, c, d, e, f, none = out[1]
        L = np.array([[a, 0, 0], [b, c, 0], [d, e, f]])
        np.testing.assert_allclose(l * l, 0.7)
        np.testing.assert_allclose(L @ L.T, Minv[0, 3:, 3:], atol=1e-12 * max(inertia))
        assert none == 0.0


def test_bodies_of_another_form_are_told_apart():
    Minv, out = inverse_mass(np.random.default_rng(2), (1.0, 2.0, 3.0)), np.empty((1, BODY_FACTORS))
    uneven, coupled = Minv.copy(), Minv.copy()
    uneven[0, 1, 1] = 0.8
    coupled[0, 4, 1] = coupled[0, 1, 4] = 0.1
    assert compact_factors(Minv, 0, 0, out)
    assert not compact_factors(uneven, 0, 0, out)
    assert not compact_factors(coupled, 0, 0, out)


def test_the_next_look_is_due_when_the_tolerance_is():
    """An error that falls by a constant factor per sweep is looked at when it has reached the goal."""
    for rate in (0.95, 0.9, 0.7):
        error = 200.0
        due = math.ceil(math.log(error) / -math.log(rate**2))
        assert _sweeps_until_check(4, error, error / rate**8) == min(20, max(3, due))
    assert (
        _sweeps_until_check(4, 5.0, 5.0)
        == _sweeps_until_check(4, 5.0, math.inf)
        == _sweeps_until_check(4, math.nan, 5.0)
        == 20
    )


def falling(n):
    world = st.World()
    world.add_plane()
    for i in range(n):
        world.add_body(
            st.Sphere(0.05), mass=0.5, position=(0.11 * (i % 8), 0.11 * (i // 8 % 8), 0.06 + 0.12 * (i // 64))
        )
    return world


def test_room_for_contacts_does_not_change_a_step():
    """From room for one contact as from plenty: the loop makes room, and takes the same steps to the bit."""
    ends = []
    for capacity in (1, 10_000):
        sim = st.Simulator(falling(192), 0.005, tol=1e-3)
        assert isinstance(sim._loop, CompiledLoop)
        sim.system.capacity = capacity
        sim.advance(40)
        ends.append((sim.state.q, sim.state.v, sim.state.keys, sim.state.impulses))
    assert all(np.array_equal(a, b) for a, b in zip(*ends))


def jammed(seed, times):
    """Problems of 1000 spheres that fall into a box and come to rest."""
    rng = np.random.default_rng(seed)
    world = st.World()
    world.set_material("default", friction=st.Coulomb(0.5))
    world.add_plane()
    for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        world.add_plane(normal, -0.51)
    for i in range(1000):
        place = np.array([i % 8 - 3.5, i // 8 % 8 - 3.5, i // 64 + 1.0]) * 0.115 + rng.uniform(-5e-3, 5e-3, 3)
        world.add_body(st.Sphere(0.05), density=1000.0, position=place)
    sim = st.Simulator(world, 0.005, tol=1e-3, on_failure="continue")
    for t in times:
        sim._take_unrecorded(round((t - sim.time) / 0.005))
        yield sim.scheme.probe(sim.system, sim.state, 0.005)


@pytest.mark.long
def test_sweeps_that_go_in_circles_arrive_from_another_start():
    """Jammed piles to 1e-6: many a start wanders for ever, of three starts one mostly arrives.

    How hard the problems are depends on how the piles have fallen: of 40 problems of five piles 29 were solved.
    """
    first, all_three, problems = 0, 0, 0
    for seed in range(2):
        for problem in jammed(seed, (0.5, 0.55, 0.6, 0.65)):
            for p0 in (np.zeros(problem.nr), problem.p_warm):
                limits = (ATTEMPT.many_sweeps, 3 * ATTEMPT.many_sweeps)
                once, again = (Nsgs().solve(problem, tol=1e-6, p0=p0, maxiter=n) for n in limits)
                assert again.success == (again.certificate.error <= 1e-6)
                assert again.success or not once.success
                first, all_three, problems = first + once.success, all_three + again.success, problems + 1
    assert all_three > first
    assert all_three >= 0.65 * problems


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as glibc keeps freed arrays")
@pytest.mark.parametrize("limit", [None, 300_000_000])
def test_work_arrays_are_kept_and_no_memory_is_taken(limit):
    """Where there are no addresses left for the array that is freed, nothing happens."""
    code = f"""
import resource
import numpy as np
from stiction.runtime.memory import keep_work_arrays
limit = {limit}
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
before = resident()
for size in (0, 1 << 20, 1 << 26, 1 << 40):
    keep_work_arrays(size)
assert resident() - before < 1 << 24
print(bytearray(1 << 24)[-1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n"
