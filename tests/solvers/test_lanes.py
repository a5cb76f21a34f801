"""Eight contacts side by side: lanes compute what floats do, packs share no body, and nothing depends on them."""

import numpy as np
import pytest

import stiction as st
from stiction import Bodies, ContactProblem, Law
from stiction.problem.records import Laws
from stiction.runtime.jit import njit
from stiction.runtime.lanes import (
    PREFETCH_TURNS,
    WIDTH,
    add_sixes,
    any_lane,
    largest_lane,
    load,
    load_rows,
    load_sixes,
    load_triples,
    prefetch,
    select,
    sqrt,
    store,
    store_triples,
    sum_lanes,
)
from stiction.solvers import Nsgs
from stiction.solvers.gauss_seidel.kinds import DISK_GUESS, DISK_INVERSE, DISK_MU, PARAMETERS
from stiction.solvers.gauss_seidel.point_contacts import (
    POINT_CONTACT_SIZE,
    apply_point_contacts,
    measure_point_contacts,
    sweep_point_contacts,
)
from stiction.solvers.gauss_seidel.point_contacts_simd import (
    PACK_COMPLIANCE,
    PACK_SIZE,
    apply_packs,
    fill_packs,
    load_packs,
    measure_packs,
    sweep_packs,
)
from stiction.solvers.gauss_seidel.records import LocalProblems, PackedRows, SweepList


@njit
def everything(x, y, out):
    a, b = load(x, 0), load(y, 0)
    store(out, 0, a + b * 2.0)
    store(out, 8, (a - b) / (1.0 + b * b))
    store(out, 16, select((a < b) | (b >= 1.0), sqrt(abs(a)), -b))
    store(out, 24, select((a > 0.0) & ~(b != b), a, 0.5))
    return sum_lanes(a), largest_lane(b), any_lane(a > 100.0), any_lane(a <= 100.0)


def test_lanes_are_floats_side_by_side():
    """Each lane ends in the bits of the same formula on floats."""
    rng = np.random.default_rng(0)
    x, y, out = rng.normal(size=WIDTH), rng.normal(size=WIDTH), np.empty(4 * WIDTH)
    s, largest, none, all_ = everything(x, y, out)
    assert np.array_equal(out[:8], x + y * 2.0)
    assert np.array_equal(out[8:16], (x - y) / (1.0 + y * y))
    assert np.array_equal(out[16:24], np.where((x < y) | (y >= 1.0), np.sqrt(np.abs(x)), -y))
    assert np.array_equal(out[24:], np.where(x > 0.0, x, 0.5))
    assert s == sum(x.tolist())
    assert (largest, none, all_) == (y.max(), False, True)


@njit
def there_and_back(triples, rows, sixes, index, out):
    a, b, c = load_triples(triples, 0)
    store_triples(out, 0, (b, c, a))
    columns = load_rows(rows, index, 0)
    store(out, 24, columns[0] + columns[7])
    w = load_sixes(sixes, index, 0)
    add_sixes(sixes, index, 0, w)
    store(out, 32, w[5])


def test_rows_come_and_go_in_columns():
    rng = np.random.default_rng(1)
    triples, rows, sixes = rng.normal(size=(8, 3)), rng.normal(size=(20, 8)), rng.normal(size=(20, 6))
    index = np.array([3, 19, 0, 7, 8, 2, 11, 5])
    before, out = sixes.copy(), np.empty(40)
    there_and_back(triples.ravel(), rows.ravel(), sixes.ravel(), index, out)
    assert np.array_equal(out[:24].reshape(8, 3), triples[:, [1, 2, 0]])
    assert np.array_equal(out[24:32], rows[index, 0] + rows[index, 7])
    assert np.array_equal(out[32:], before[index, 5])
    before[index] *= 2.0
    assert np.array_equal(sixes, before)


def random_contacts(rng, n, bodies):
    """Contacts between bodies, the world being the last: a, b, F, B, parameters, q, p as the sweeps hold them."""
    a = rng.integers(0, bodies, size=n)
    b = (a + 1 + rng.integers(0, bodies, size=n)) % (bodies + 1)
    F = rng.normal(size=(n, POINT_CONTACT_SIZE))
    F[:, :9] = np.array([np.linalg.qr(f.reshape(3, 3))[0].ravel() for f in F[:, :9]])
    B = 0.3 * rng.normal(size=(bodies + 1, 8))
    B[:, [0, 1, 3, 6]] = np.abs(B[:, [0, 1, 3, 6]]) + 0.5
    B[-1] = 0.0
    par = np.zeros((n, PARAMETERS))
    par[:, 0] = rng.uniform(0.1, 1.0, n)
    par[:, 1:3] = 0.3 * rng.normal(size=(n, 2))
    par[:, 3:5] = rng.uniform(1.0, 9.0, size=(n, 2))
    par[:, 5] = 10 ** rng.uniform(-1.5, 0.5, n)
    par[:, 7] = 1.0 / par[:, 0]
    p = rng.normal(size=(n, 3)) * (rng.random((n, 1)) < 0.7)
    p[:, 0] = np.abs(p[:, 0])
    return a, b, F, B, par, rng.normal(size=3 * n), p.ravel()


def records(ptr, a, b, par, F, B, Cb, packs, set_of, mu, semi):
    """Contacts of points as the kernels take them: what they do not read is empty."""
    n, ints, floats, rows = len(a), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 6))
    cells = np.zeros((1, 6), np.int64)
    entries = SweepList(
        ints, cells[:, :5].copy(), ints, cells, np.zeros(n, np.int8), np.arange(n), ptr, np.arange(3 * n), a, b, ints,
        ints,
    )  # fmt: skip
    local = LocalProblems(par, floats, floats, rows, Cb, rows, floats, rows, floats)
    K = np.zeros(packs * PACK_COMPLIANCE if len(Cb) else 0)
    packed = PackedRows(rows, F, B, True, ints, np.zeros(packs * PACK_SIZE), K)
    laws = Laws(
        ints, ints, set_of, mu, floats, ints, semi, rows, ints, rows, ints, floats, floats, floats, floats, False
    )  # fmt: skip
    return entries, local, packed, laws


def compliance(rng, n):
    """Cb (3 n, 6) of contacts whose tangents give way alike."""
    Cb = np.zeros((3 * n, 6))
    Cb[::3, 0], Cb[1::3, 1] = rng.uniform(0.0, 1e-2, size=(2, n))
    Cb[2::3, 2] = Cb[1::3, 1]
    return Cb


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("springs", [False, True])
def test_packs_share_no_body_and_sweep_to_the_same_bits(springs, seed):
    """Three sweeps, full and not, the state and the natural map: as contact by contact in the order of the packs."""
    rng = np.random.default_rng(seed)
    n, bodies = int(rng.integers(1, 400)), int(rng.integers(2, 120))
    a, b, F, B, par, q, p = random_contacts(rng, n, bodies)
    order = np.full(n, -1)
    packs = fill_packs(a, b, bodies, order)
    assert sorted(order) == list(range(n))
    for k in range(packs):
        pack = order[WIDTH * k : WIDTH * (k + 1)]
        used = [i for i in (*a[pack], *b[pack]) if i != bodies]
        assert len(set(used)) == len(used)
    a, b, F, par, p = a[order], b[order], F[order], par[order], p.reshape(n, 3)[order].ravel()
    q = q.reshape(n, 3)[order].ravel()
    m, ptr, Cb = WIDTH * packs, 3 * np.arange(n + 1), compliance(rng, n) if springs else np.zeros((0, 6))
    set_of, mu, semi, rho = np.zeros(n, np.int64), par[:, DISK_MU].copy(), np.ones((1, 5)), par[:, DISK_INVERSE] + 1
    entries, local, packed, laws = records(ptr, a, b, par, F, B, Cb, packs, set_of, mu, semi)
    load_packs(0, 0, packs, entries, local, packed, laws, rho)
    w, w8 = np.zeros((2, bodies + 1, 6))
    apply_point_contacts(0, m, entries, packed, p, w)
    apply_packs(0, packs, 0, entries, packed, p, w8)
    assert np.array_equal(w, w8)
    p8 = p.copy()
    for full in (True, False, True):
        one = sweep_point_contacts(0, m, full, entries, local, packed, q, p, w)
        eight = sweep_packs(0, packs, full, 0, entries, packed, q, p8, w8)
        if full:  # a pack with one closed contact visits all eight
            assert one == eight
            assert np.array_equal(p, p8)
            assert np.array_equal(w, w8)
        else:
            p, w = p8.copy(), w8.copy()
            par[:m, DISK_GUESS] = packed.Z.reshape(packs, PACK_SIZE // WIDTH, WIDTH)[
                :, POINT_CONTACT_SIZE + DISK_GUESS
            ].ravel()
    missed = measure_point_contacts(0, m, entries, Cb, packed, q, p, w, laws, rho)
    assert measure_packs(0, packs, 0, entries, packed, q, p, w) == pytest.approx(missed, rel=1e-12)


def test_a_far_contact_that_closes_is_taken_in():
    """A fast ball hits a second one, which reaches a third only then, among four thousand slow contacts.

    These make the third contact look far. Unit masses, no bounce: 1, 2 and 3 share the momentum; the gap between
    2 and 3 takes 0.1 m/s of it, so that v1 = v2 = (1 + 0.1) / 3 and v3 = v2 - 0.1.
    """
    slow = 4000
    a, b = np.r_[np.arange(slow), slow + 1, slow + 2], np.r_[np.full(slow, -1), slow, slow + 1]
    J = np.zeros((slow + 2, 6))
    J[:, 0] = 1.0
    form = Bodies(a, b, J, -J, np.tile(np.eye(6), (slow + 3, 1, 1)), np.arange(slow + 3))
    v, gap = np.zeros((slow + 3, 6)), np.zeros(slow + 2)
    v[:slow, 0], v[slow, 0], gap[-1] = -1e-3, 1.0, 0.1
    problem = ContactProblem(form, row_ptr=form.row_ptr, law=[Law.UNILATERAL] * (slow + 2), v_free=v.ravel(), b=gap)
    solution = Nsgs().solve(problem, tol=1e-12)
    assert solution.success
    speed = solution.v.reshape(-1, 6)[:, 0]
    assert np.allclose(speed[slow:], [1.1 / 3, 1.1 / 3, 1.1 / 3 - 0.1], atol=1e-11)
    assert np.abs(speed[:slow]).max() <= 1e-11


def test_nothing_acts():
    """Contacts that part: no sweep, no impulse."""
    n, J = 1200, np.tile(np.eye(3, 6), (1200, 1))
    form = Bodies(np.arange(n), np.full(n, -1), J, -J, np.tile(np.eye(6), (n, 1, 1)), 3 * np.arange(n + 1))
    laws = {"law": [Law.UNILATERAL] * n, "friction": [0.5] * n}
    problem = ContactProblem(form, row_ptr=form.row_ptr, v_free=np.ones(6 * n), **laws)
    solution = st.solve(problem, "nsgs")
    assert solution.success
    assert solution.iterations == 0
    assert not solution.p.any()


@njit
def gathered(table, values, order):
    s = 0.0
    for i in range(len(order)):
        if i + PREFETCH_TURNS < len(order):
            prefetch(table, order[i + PREFETCH_TURNS], 2)
            prefetch(values, order[i + PREFETCH_TURNS], 1)
        s += table[order[i], 3] * values[order[i]]
    return s


def test_fetching_ahead_changes_nothing():
    rng = np.random.default_rng(0)
    table, values, order = rng.normal(size=(500, 9)), rng.normal(size=500), rng.permutation(500)
    expected = 0.0
    for k in order:
        expected += table[k, 3] * values[k]
    assert gathered(table, values, order) == expected
    assert gathered(table[::2], values[::2], order[order < 250]) == sum(
        (table[2 * k, 3] * values[2 * k] for k in order if k < 250), 0.0
    )
