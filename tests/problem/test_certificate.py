"""Certificates: natural maps against independent projections, and each wrong impulse in its own residual."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import minimize_scalar, nnls

import stiction as st
from stiction import ContactProblem, Delassus, Dense, Law, Mode
from stiction.problem.certificate import UNITS

seeds = hs.integers(0, 2**32 - 1)


def spd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.3 * np.eye(n)


def contacts(W, q, friction, count, rows=3, **options):
    ptr = rows * np.arange(count + 1)
    return ContactProblem.from_delassus(W, q, row_ptr=ptr, law=[Law.UNILATERAL] * count, friction=friction, **options)


def soc(x, mu):
    """Nearest point of {|p_t| <= mu p_n}, in closed form."""
    s = np.linalg.norm(x[1:])
    if s <= mu * x[0]:
        return x
    if mu * s <= -x[0]:
        return np.zeros(3)
    t = (x[0] + mu * s) / (1 + mu**2)
    return np.array([t, *(mu * t * x[1:] / s)])


@given(seeds, hs.integers(1, 5), hs.booleans())
@settings(max_examples=60, deadline=None)
def test_natural_map_of_smooth_cones(seed, count, associated):
    rng = np.random.default_rng(seed)
    W, q, p = spd(rng, 3 * count), rng.normal(size=3 * count), rng.normal(size=3 * count)
    mu = rng.uniform(0.0, 1.5, size=count)
    mu[rng.random(count) < 0.2] = 0.0
    problem = contacts(W, q, [st.Coulomb(m) for m in mu], count, associated=associated)
    u = (W @ p + q).reshape(-1, 3)
    natural, scaled = [], []
    for k, (r, uk) in enumerate(zip(p.reshape(-1, 3), u)):
        hat = uk + (0.0 if associated else mu[k] * np.linalg.norm(uk[1:])) * np.array([1.0, 0, 0])
        natural.append(np.linalg.norm(r - soc(r - hat, mu[k])))
        rho = 3 / np.trace(W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3])
        scaled.append(np.linalg.norm(r - soc(r - rho * hat, mu[k])) / rho)
    certificate = problem.certify(p)
    assert certificate.natural_map == pytest.approx(np.linalg.norm(natural) / np.linalg.norm(q), rel=1e-10)
    assert certificate.scaled_map == pytest.approx(np.linalg.norm(scaled) / np.linalg.norm(q), rel=1e-10)
    assert certificate.blocks["scaled_map"] == int(np.argmax(scaled))
    assert certificate.error == certificate.scaled_map
    assert problem.replace(measure="natural_map").certify(p).error == certificate.natural_map


@given(seeds, hs.integers(3, 9), hs.booleans())
@settings(max_examples=60, deadline=None)
def test_natural_map_of_polyhedral_cones(seed, m, associated):
    rng = np.random.default_rng(seed)
    D, mu = rng.normal(size=(m, 2)), rng.uniform(0.1, 1.5)
    W, q, p = spd(rng, 3), rng.normal(size=3), rng.normal(size=3)
    problem = contacts(W, q, [st.Polyhedral(mu, directions=D)], 1, associated=associated)
    u = W @ p + q
    if not associated:
        u[0] += mu * max(0.0, (-D @ u[1:]).max())
    generators = np.column_stack([[1.0, 0.0, 0.0], *[[1.0, *(mu * d)] for d in D]])
    weights, _ = nnls(generators, p - u)
    wanted = np.linalg.norm(p - generators @ weights) / np.linalg.norm(q)
    assert problem.certify(p).natural_map == pytest.approx(wanted, rel=1e-7, abs=1e-10)


@given(seeds, hs.booleans())
@settings(max_examples=60, deadline=None)
def test_natural_map_of_stretched_cones(seed, associated):
    """A disk in rows of different length is an ellipse; the oracle searches the boundary rays of its cone."""
    rng = np.random.default_rng(seed)
    mu, length = rng.uniform(0.1, 1.5), np.array([1.0, *rng.uniform(0.2, 3.0, size=2)])
    W, q, p = spd(rng, 3), rng.normal(size=3), rng.normal(size=3)
    problem = contacts(W, q, [mu], 1, associated=associated, length=length)
    u, r = (W @ p + q) * length, p / length
    if not associated:
        u[0] += mu * np.linalg.norm(u[1:] / length[1:])
    x = r - u

    def ray(a):
        return np.array([1.0, mu * np.cos(a) / length[1], mu * np.sin(a) / length[2]])

    def along(a):
        return x @ ray(a) / np.linalg.norm(ray(a))

    if np.linalg.norm(x[1:] * length[1:]) <= mu * x[0]:
        nearest = x
    else:
        start = max(np.linspace(0, 2 * np.pi, 200), key=along)
        best = minimize_scalar(
            lambda a: -along(a), bounds=(start - 0.05, start + 0.05), method="bounded", options={"xatol": 1e-10}
        ).x
        nearest = max(0.0, along(best)) * ray(best) / np.linalg.norm(ray(best))
    wanted = np.linalg.norm(r - nearest) / np.linalg.norm(q * length)
    assert problem.certify(p).natural_map == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_natural_map_of_dry_friction_and_boxes(seed):
    rng = np.random.default_rng(seed)
    W, q, p = spd(rng, 4), rng.normal(size=4), rng.normal(size=4)
    r0 = rng.uniform(0, 2)
    lo, hi = np.sort(rng.normal(size=(2, 4)), axis=0)
    problem = ContactProblem.from_delassus(
        W, q, row_ptr=[0, 2, 4], law=[Law.DRY, Law.BOX], friction=[1.0, None], r0=[r0, 0.0], lo=lo, hi=hi
    )
    u = W @ p + q
    x = p[:2] - u[:2]
    disk = x * min(1.0, r0 / np.linalg.norm(x))
    box = np.clip(p[2:] - u[2:], lo[2:], hi[2:])
    wanted = np.linalg.norm(p - np.concatenate([disk, box])) / np.linalg.norm(q)
    assert problem.certify(p).natural_map == pytest.approx(wanted, rel=1e-10)


def scene(**options):
    """Blocks that do not act on each other, unit masses: pressed, open, sliding at mu = 0.5, joint, motor, gear box."""
    q = [-2.0, 3.0, -4.0, 5.0, 0.0, 1.5, -6.0, 2.0]
    return ContactProblem.from_delassus(
        np.eye(8), q, row_ptr=[0, 1, 2, 5, 6, 7, 8],
        law=[Law.UNILATERAL, Law.UNILATERAL, Law.UNILATERAL, Law.EQUALITY, Law.BOX, Law.DRY],
        friction=[None, None, 0.5, None, None, 1.0], r0=[0, 0, 0, 0, 0, 0.5],
        lo=np.full(8, -4.0), hi=np.full(8, 4.0), **options,
    )  # fmt: skip


ANSWER = np.array([2.0, 0.0, 4.0, -2.0, 0.0, -1.5, 4.0, -0.5])


def test_right_impulses_leave_no_residual():
    certificate = scene().certify(ANSWER)
    assert set(certificate.as_dict().values()) == {0.0}
    assert set(certificate.blocks.values()) == {-1}
    assert certificate.ok(0.0)
    modes = [Mode.SLIP, Mode.OPEN, Mode.SLIP, Mode.BILATERAL, Mode.BOUND, Mode.SLIP]
    np.testing.assert_array_equal(scene().modes(ANSWER), modes)


@pytest.mark.parametrize(
    ("row", "impulse", "residual", "block", "size"),
    [
        (0, 1.25, "penetration_rate", 0, 0.75),
        (0, 2.5, "complementarity", 0, 0.5 * 2.5),
        (1, -0.25, "tension", 1, 0.25),
        (3, -3.0, "friction_excess", 2, 1.0),
        (4, 0.5, "friction_excess", 2, np.hypot(2.0, 0.5) - 2.0),
        (3, -1.0, "dissipation_defect", 2, 2.0 * 4.0 - 4.0),  # the most at slip 4 is mu p_n 4
        (5, -1.0, "equality", 3, 0.5),
        (6, 5.0, "bounds", 4, 1.0),
        (6, -4.5, "bounds", 4, 0.5),
        (6, 3.0, "complementarity", 4, 1.0 * 3.0),
        (7, -0.75, "friction_excess", 5, 0.25),
        (7, 0.0, "dissipation_defect", 5, 0.5 * 2.0),
    ],
)
def test_wrong_impulse_shows_in_its_residual(row, impulse, residual, block, size):
    p = ANSWER.copy()
    p[row] = impulse
    certificate = scene().certify(p)
    assert getattr(certificate, residual) == pytest.approx(size, rel=1e-12)
    assert certificate.blocks[residual] == block
    assert certificate.error > 1e-2
    assert not certificate.ok(1e-2)
    assert f"{size:.3e}" in str(certificate)


def test_velocity_not_explained_shows_as_dynamics():
    problem = ContactProblem(
        Dense(2 * np.eye(2), [[0.0, 1.0]]), row_ptr=[0, 1], law=[Law.UNILATERAL], v_free=[1.0, -3.0]
    )
    right = problem.certify([6.0], v=[1.0, 0.0])
    assert right.dynamics == 0.0
    assert right.error == 0.0
    assert problem.certify([6.0], v=[1.5, 0.0]).dynamics == 0.5


def test_nan_is_never_ok():
    p = ANSWER.copy()
    p[3] = np.nan
    certificate = scene().certify(p)
    assert certificate.error == np.inf
    assert not certificate.ok(1e300)


@pytest.mark.parametrize("law", [Law.EQUALITY, Law.UNILATERAL, Law.BOX])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_never_ok_whatever_the_law(law, bad):
    """max and min lose a NaN, a contact that opens infinitely fast obeys its law, and x/inf is zero."""
    problem = ContactProblem(Dense(np.eye(2), [[0.0, 1.0]]), row_ptr=[0, 1], law=[law], v_free=[1.0, 1.0])
    with np.errstate(all="ignore"):
        assert problem.certify([bad]).error == np.inf
        assert problem.certify([0.0], v=[1.0, bad]).error == np.inf
        assert problem.certify([0.0], v=[bad, 1.0]).error == np.inf  # in no row
        problem = problem.replace(v_start=None)
        problem.v_free[1] = bad
        assert problem.certify([0.0]).error == np.inf
        assert not st.solve(problem, "nsgs").success


def test_one_map_that_is_not_a_number_is_enough():
    good = scene().certify(ANSWER)
    for name in ("natural_map", "scaled_map", "dynamics", "scale"):
        assert replace(good, **{name: np.nan}).error == np.inf


def test_units_scale():
    """Doubling velocities and impulses doubles m/s and N s, quadruples J, and leaves relative errors alone."""
    rng = np.random.default_rng(4)
    p = ANSWER + 0.1 * rng.normal(size=8)
    one = scene().certify(p)
    big = ContactProblem.from_delassus(
        np.eye(8), 2 * scene().q, row_ptr=scene().row_ptr, law=scene().law, friction=scene().friction,
        r0=2 * scene().r0, lo=2 * scene().lo, hi=2 * scene().hi,
    ).certify(2 * p)  # fmt: skip
    factor = {"": 1, "m/s": 2, "N s": 2, "J": 4}
    for name, value in one.as_dict().items():
        assert getattr(big, name) == pytest.approx(factor[UNITS[name]] * value, rel=1e-12), name


def test_unit_of_mass_does_not_touch_the_scaled_map():
    rng = np.random.default_rng(5)
    W, q, p = spd(rng, 6), rng.normal(size=6), rng.normal(size=6)
    kilograms = contacts(W, q, [0.4, 0.7], 2).certify(p)
    grams = contacts(W / 1000, q, [0.4, 0.7], 2).certify(p * 1000)
    assert grams.scaled_map == pytest.approx(kilograms.scaled_map, rel=1e-12)
    assert grams.natural_map != pytest.approx(kilograms.natural_map, rel=0.1)


def test_scaled_map_sees_a_doubled_impulse_of_a_light_body():
    m = 1e-6
    problem = ContactProblem(Dense(m * np.eye(1), [[1.0]]), row_ptr=[0, 1], law=[Law.UNILATERAL], v_free=[-1.0])
    assert problem.certify([m]).error == 0.0
    doubled = problem.certify([2 * m])  # the body is thrown back at 1 m/s
    assert doubled.natural_map < 1e-5
    assert doubled.scaled_map == pytest.approx(1.0)
    assert not doubled.ok(1e-3)


@given(seeds, hs.floats(0.05, 20.0))
@settings(max_examples=40, deadline=None)
def test_unit_of_angle_does_not_matter(seed, s):
    """Measuring the spin and a joint angle in other units, with `length` to match, leaves every residual."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(6, 6))
    M, v, p, D = spd(rng, 6), rng.normal(size=6), rng.normal(size=6), rng.normal(size=(8, 3))
    length = np.array([1, 1, 1, 0.2, 0.3, 0.4])
    lo, hi = np.sort(rng.normal(size=(2, 6)), axis=0)
    unit = np.array([1, 1, 1, s, s, s])  # the last three rows are rotational: spin, joint, motor
    b = rng.normal(size=6)

    def certificate(unit):
        problem = ContactProblem(
            Dense(M, H * unit[:, None]), row_ptr=[0, 4, 5, 6], law=[Law.UNILATERAL, Law.EQUALITY, Law.BOX], v_free=v,
            friction=[st.Polyhedral(0.6, directions=D / unit[1:4]), None, None], length=length / unit, b=b * unit,
            lo=lo / unit, hi=hi / unit,
        )  # fmt: skip
        return problem.certify(p / unit).as_dict()

    one, other = certificate(np.ones(6)), certificate(unit)
    for name in one:
        assert other[name] == pytest.approx(one[name], rel=1e-8, abs=1e-11), name


def test_scale_has_a_floor_where_large_terms_cancel():
    """Two bodies that move together at 1000 m/s: round-off of q must not count as a relative error of order 1."""
    problem = ContactProblem(
        Dense(np.eye(2), [[1.0, -1.0]]), row_ptr=[0, 1], law=[Law.EQUALITY], v_free=[1000.0, np.nextafter(1000.0, 0)]
    )
    assert problem.certify([0.0]).error < 1e-6


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"row_ptr": [0, 2]}, "row_ptr"),
        ({"row_ptr": [0, 0, 3]}, "block 0"),
        ({"law": [7]}, "law"),
        ({"law": [1, 1]}, "law"),
        ({"v_free": [np.nan, 0, 0]}, r"v_free\[0\]"),
        ({"b": [1.0]}, "b must have shape"),
        ({"C": [-1.0, 0, 0]}, r"C\[0\]"),
        ({"length": [1.0, 0, 1]}, r"length\[1\]"),
        ({"length": [0.5, 1, 1]}, "normal row"),
        ({"r0": [-0.1]}, "r0"),
        ({"lo": [1.0, 0, 0], "hi": [0.0, 0, 0]}, r"lo\[0\]"),
        ({"friction": [0.1, 0.2]}, "one set per block"),
        ({"friction": [None]}, "friction rows"),
        ({"friction": [-0.3]}, "friction of block 0"),
        ({"friction": [st.Polyhedral(1.0, directions=[[1.0, 0, 0]])]}, "3 rows"),
        ({"p_warm": [0.0]}, "p_warm"),
    ],
)
def test_bad_problems_are_refused_by_name(options, word):
    good = {"row_ptr": [0, 3], "law": [Law.UNILATERAL], "friction": [0.5]}
    with pytest.raises(st.ModelError, match=word):
        ContactProblem(Dense(np.eye(3), np.eye(3)), **(good | options))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Dense([[1.0, 2.0], [0.0, 1.0]], np.eye(2)), "symmetric"),
        (lambda: Dense([[1.0, 1.0], [1.0, 1.0]], np.eye(2)), "singular"),
        (lambda: Dense(-np.eye(2), np.eye(2)), "indefinite"),
        (lambda: Dense(np.eye(2), np.eye(3)), "H must have shape"),
        (lambda: Dense(np.eye(2), np.eye(2), np.eye(3)), "G must have shape"),
        (lambda: Dense([[np.inf]], [[1.0]]), "M must be finite"),
        (lambda: Delassus(np.ones((2, 3))), "square"),
        (lambda: Delassus([[np.nan]]), "W"),
        (lambda: ContactProblem("M", row_ptr=[0], law=[]), "dynamics"),
        (lambda: scene().certify([1.0]), "p must have shape"),
    ],
)
def test_bad_dynamics_are_refused_by_name(make, word):
    with pytest.raises(st.ModelError, match=word):
        make()
