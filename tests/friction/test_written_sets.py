"""Friction sets written in Python: what they are checked for, and contact problems solved with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stiction as st
from stiction import ContactProblem, ConvexSet, Coulomb, Dense, Law, Mode, Torsional

seeds = hs.integers(0, 2**32 - 1)
POLYHEDRAL = ["lemke", "nsgs", "newton", "proximal", "fixed-point", "auto"]


def norm(f):
    return np.linalg.norm(f)


def random_problem(seed, friction, contacts=2, **fields):
    """Contacts with one friction set each, and a joint, a motor and a dry bearing between them."""
    rng = np.random.default_rng(seed)
    sizes = [1 + f.rows if isinstance(f, ConvexSet) else 3 for f in [friction] * contacts] + [1, 1, 1]
    rows = sum(sizes)
    A = rng.normal(size=(rows + 2, rows + 2))
    return ContactProblem(
        Dense(A @ A.T / rows + 0.5 * np.eye(rows + 2), rng.normal(size=(rows, rows + 2))),
        row_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        law=[Law.UNILATERAL] * contacts + [Law.EQUALITY, Law.BOX, Law.DRY],
        friction=[*[friction] * contacts, None, None, 1.0],
        r0=np.append(np.zeros(contacts + 2), 0.2), lo=np.full(rows, -0.1), hi=np.full(rows, 0.2),
        v_free=rng.normal(size=rows + 2), **fields,
    )  # fmt: skip


@pytest.mark.parametrize("solver", POLYHEDRAL)
def test_a_disk_written_in_python_is_coulomb(solver):
    disk = ConvexSet(0.4, 2, gauge=norm)
    for seed in range(3):
        ours = st.solve(random_problem(seed, disk), solver, tol=1e-10)
        assert ours.success, ours.message
        exact = st.solve(random_problem(seed, Coulomb(0.4)), "auto", tol=1e-12)
        np.testing.assert_allclose(ours.u, exact.u, atol=1e-8)
        np.testing.assert_allclose(ours.p, exact.p, atol=1e-8)
        np.testing.assert_array_equal(ours.modes, exact.modes)


def test_the_certificate_is_that_of_the_true_set():
    """Residuals of a disk and of an ellipsoid, by their functions in Python, are those of the compiled kernels."""
    axes = np.array([1.0, 0.6, 0.1])
    for seed in range(4):
        rng = np.random.default_rng(seed)
        for ours, theirs, n, length in (
            (ConvexSet(0.4, 2, gauge=norm), Coulomb(0.4), 2, [1, 1]),
            (
                ConvexSet(0.4, 3, gauge=lambda f: norm(f / axes), subgradient=lambda f: f / axes**2 / norm(f / axes)),
                Torsional(0.4, *axes),
                3,
                [1, 1, 0.3],
            ),
            (
                ConvexSet(
                    0.4, 3, support=lambda u: norm(u * axes), support_point=lambda u: axes**2 * u / norm(axes * u)
                ),
                Torsional(0.4, *axes),
                3,
                [1, 1, 0.3],
            ),
        ):
            fields = {
                "row_ptr": [0, 1 + n, 1 + 2 * n], "law": [Law.UNILATERAL, Law.DRY], "r0": [0.1 * (seed % 2), 0.3],
                "length": [1, *length, *length], "associated": seed > 1,
            }  # fmt: skip
            A = rng.normal(size=(1 + 2 * n, 1 + 2 * n))
            p, q = rng.normal(size=(2, 1 + 2 * n))
            pair = [ContactProblem.from_delassus(A @ A.T, q, friction=[F, F], **fields) for F in (ours, theirs)]
            one, two = (problem.certify(p) for problem in pair)
            for name, value in two.as_dict().items():
                assert getattr(one, name) == pytest.approx(value, rel=1e-8, abs=1e-9), name
            np.testing.assert_array_equal(*(problem.modes(p) for problem in pair))


@given(seeds)
@settings(max_examples=4, deadline=None)
def test_every_written_set_is_solved_by_its_own_law(written_set, seed):
    """Normal complementarity, friction in its set, and no admissible friction that would do more work, to 1e-8."""
    F, n = written_set
    problem = random_problem(seed, F)
    s = st.solve(problem, "auto", tol=1e-9)
    assert s.success, s.message
    for k in range(2):
        rows = slice(k * (n + 1), (k + 1) * (n + 1))
        (p_n, *f), (u_n, *u) = s.p[rows], s.u[rows]
        f, u = np.array(f), np.array(u)
        assert min(p_n, u_n) == pytest.approx(0.0, abs=1e-8)
        assert F.gauge(f) <= F.mu * p_n + 1e-8
        assert -u @ f >= F.mu * p_n * F.support(-u) - 1e-8


def test_few_polyhedra_and_newton_steps(written_set):
    """The first polyhedral problem is near enough for Newton's method, which needs at most six steps."""
    for seed in range(2):
        s = st.solve(random_problem(seed, written_set[0]), "lemke", tol=1e-9)
        assert s.success, s.message
        if written_set[1] > 1:
            rounds, steps = (int(w) for w in s.message.split() if w.isdigit())
            assert rounds <= 2
            assert steps <= 6


def test_a_slider_on_a_superellipse_decelerates_along_its_support_point():
    """v changes by h g mu S(-v): with ψ = (f_1⁴ + f_2⁴)^(1/4), S(u) = (u_1, u_2)^(1/3) / |u^(1/3)|_4, not along u."""
    mu, h, g = 0.3, 0.01, 9.81
    F = ConvexSet(mu, 2, gauge=lambda f: (f**4).sum() ** 0.25)
    floor = st.Gap(lambda q: q[2], lambda q: [0, 0, 1], lambda q: [[1, 0, 0], [0, 1, 0]], F)
    block = st.GeneralizedSystem(
        mass=lambda q: np.eye(3),
        forces=lambda t, q, v: np.array([0.0, 0.0, -g]),
        gaps=[floor],
        q=[0, 0, 0],
        v=[1.0, 0.4, 0],
    )
    sim = st.Simulator(block, scheme=st.AnitescuHart(), dt=h, tol=1e-10)
    v = np.array([1.0, 0.4])
    for _ in range(5):
        sim.step()
        root = np.cbrt(-sim.state.v[:2])
        v = v + h * g * mu * root / (root**4).sum() ** 0.25
        np.testing.assert_allclose(sim.state.v[:2], v, atol=1e-8)


def test_in_a_world_with_a_law_of_speed():
    """A ball slides, spins up and rolls on a disk written in Python as on Coulomb's, with mu by Stribeck's law."""
    law, ends = st.Stribeck(0.4, 0.2, speed=0.5), []
    for friction in (Coulomb(law), ConvexSet(law, 2, gauge=norm, subgradient=lambda f: f / norm(f))):
        world = st.World(gravity=(0, 0, -9.81))
        floor = world.add_plane(normal=(0, 0, 1), offset=0.0)
        ball = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(0.5, 0.2, 0))
        world.set_contact(ball, floor, friction=friction)
        sim = st.Simulator(world, dt=0.02, tol=1e-9)
        sim.advance(4)
        ends.append(sim.state.v)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-7)


def test_worlds_ask_for_the_axis_of_a_set_that_is_not_round():
    world = st.World()
    floor = world.add_plane(normal=(0, 0, 1), offset=0.0)
    ball = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    square = ConvexSet(0.3, gauge=lambda f: np.abs(f).max())
    with pytest.raises(st.ModelError, match="axis="):
        world.set_contact(ball, floor, friction=square)


def test_sticking_needs_no_newton_step():
    F = ConvexSet(0.5, 2, gauge=norm)
    problem = ContactProblem(
        Dense(np.eye(3), np.eye(3)), row_ptr=[0, 3], law=[Law.UNILATERAL], friction=[F], v_free=[-1.0, 0.2, 0.1]
    )
    s = st.solve(problem, "lemke", tol=1e-12)
    assert s.success, s.message
    assert s.modes[0] == Mode.STICK
    assert "1 polyhedral problem and 0 Newton steps" in s.message
    np.testing.assert_allclose(s.v, 0.0, atol=1e-14)


def test_an_answer_above_tol_is_never_called_solved():
    """A gauge that is convex to a few digits only: its residual stays above tol, and the status says so."""
    F = ConvexSet(0.4, 2, gauge=lambda f: norm(f) * (1 + 1e-9 * np.sin(1e6 * np.arctan2(f[1], f[0]))))
    s = st.solve(random_problem(0, F), "lemke", tol=1e-13)
    assert s.success == (s.certificate.error <= 1e-13)
    assert s.success == s.status.success
    assert "Friction sets written in Python" in s.message


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ConvexSet(0.3), "either gauge= or support="),
        (lambda: ConvexSet(0.3, gauge=norm, support=norm), "not both"),
        (lambda: ConvexSet(0.3, gauge=norm, project=norm), "takes subgradient="),
        (lambda: ConvexSet(0.3, support=norm, subgradient=norm), "takes support_point="),
        (lambda: ConvexSet(0.3, gauge=3.0), "must be a function"),
        (lambda: ConvexSet(-0.3, gauge=norm), "mu"),
        (lambda: ConvexSet(0.3, 6, gauge=norm), "at most 5"),
        (lambda: ConvexSet(0.3, gauge=lambda f: f), "must give one number"),
        (lambda: ConvexSet(0.3, gauge=lambda f: norm(f) + np.nan), "finite"),
        (lambda: ConvexSet(0.3, gauge=lambda f: abs(f[0])), "positive.*unbounded"),
        (lambda: ConvexSet(0.3, support=lambda u: max(0.0, u[0])), "positive.*origin"),
        (lambda: ConvexSet(0.3, gauge=lambda f: norm(f) + 1), "0 at the origin"),
        (lambda: ConvexSet(0.3, gauge=lambda f: norm(f) ** 2), "degree one"),
        (lambda: ConvexSet(0.3, gauge=lambda f: (np.sqrt(np.abs(f)).sum()) ** 2), "convex"),
        (lambda: ConvexSet(0.3, gauge=norm, subgradient=lambda f: f), "subgradient.*gradient of gauge"),
        (lambda: ConvexSet(0.3, gauge=norm, subgradient=lambda f: f[0]), "shape"),
        (lambda: ConvexSet(0.3, support=norm, project=lambda f: 0.5 * f), "nearest"),
        (lambda: ConvexSet(0.3, support=norm, support_point=lambda u: 2 * u), "support_point.*gradient of support"),
        (lambda: ConvexSet(0.3, gauge=norm).packed(3), "2 friction rows"),
        (lambda: ConvexSet(0.3, 3, gauge=norm).contact_rows(2), "in the plane"),
        (lambda: ConvexSet(0.3, gauge=norm, axis=(0, 0, 0)), "axis of ConvexSet"),
    ],
)
def test_functions_that_are_no_friction_set_are_refused(make, words):
    with pytest.raises(st.ModelError, match=words):
        make()
