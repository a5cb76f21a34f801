"""Laws of speed: their values, what they refuse, and the certificate that judges by the true law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import brentq

import stiction as st
from stiction.solvers.any_law.coefficients import connected_zero
from stiction.solvers.any_law.speed_newton import refine_speeds

LAWS = [
    st.Stribeck(0.4, 0.25, speed=0.1),
    st.Stribeck(0.4, 0.25, speed=0.0, viscous=0.2),
    st.Stribeck(0.3, 0.3, speed=1.0, viscous=0.5),
    st.Coulomb(lambda s: 0.2 + 0.3 / (1.0 + s)).speed_law,
]


def block(mu, *, mass=2.0, pull=0.0, start=0.0, load=3.0):
    """One step of a block on a plane: normal and tangent momentum `load` and `pull` [N·s]; start: its slip speed."""
    return st.ContactProblem(
        st.Dense(mass * np.eye(2), np.eye(2)),
        row_ptr=[0, 2],
        law=[st.Law.UNILATERAL],
        v_free=[-load / mass, pull / mass],
        friction=st.Coulomb(mu),
        v_start=[0.0, start],
    )


def test_values_of_stribeck():
    law = st.Stribeck(0.4, 0.25, speed=0.1, viscous=0.2)
    assert law(0.0) == 0.4 == law.rest
    assert law(0.1) == pytest.approx(0.25 + 0.15 / np.e + 0.02)
    assert law(100.0) == pytest.approx(0.25 + 20.0)
    two = st.Stribeck(0.4, 0.25, speed=0.0)
    assert (two(0.0), two(1e-300), two(1.0)) == (0.4, 0.25, 0.25)


@pytest.mark.parametrize("law", LAWS)
def test_slopes_are_the_derivatives(law):
    s = np.array([1e-3, 0.05, 0.3, 2.0])
    differences = (law.values(s + 1e-6) - law.values(s - 1e-6)) / 2e-6
    np.testing.assert_allclose(law.slopes(s), differences, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "make",
    [
        lambda law: st.Coulomb(law),
        lambda law: st.Torsional(law, er=0.1),
        lambda law: st.Mixed(law, er=0.1),
        lambda law: st.Rolling(law, 0.01),
        lambda law: st.Polyhedral(law, directions=[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]),
    ],
)
def test_sets_keep_the_coefficient_at_rest_and_the_law(make):
    law = LAWS[0]
    made = make(law)
    assert made.mu == 0.4
    assert made.speed_law is law
    assert make(0.4).speed_law is None
    dim = len(made.contact_rows(3))
    assert made.polyhedral(dim).speed_law is law


def test_equal_laws_make_equal_sets_and_others_do_not():
    assert st.Coulomb(st.Stribeck(0.4, 0.2, 0.1)) == st.Coulomb(st.Stribeck(0.4, 0.2, 0.1))
    assert st.Coulomb(st.Stribeck(0.4, 0.2, 0.1)) != st.Coulomb(st.Stribeck(0.4, 0.3, 0.1))
    assert st.Coulomb(st.Stribeck(0.4, 0.2, 0.1)) != st.Coulomb(0.4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: st.Stribeck(-0.4, 0.2, 0.1), "static of Stribeck must be"),
        (lambda: st.Stribeck(0.4, np.nan, 0.1), "kinetic of Stribeck must be a finite"),
        (lambda: st.Stribeck(0.4, 0.2, -1.0), "speed of Stribeck must be at least 0"),
        (lambda: st.Stribeck(0.4, 0.2, 0.1, viscous=-1.0), "viscous of Stribeck must be at least 0"),
        (lambda: st.Stribeck(0.4, 0.5, 0.1), "kinetic of Stribeck must be at most static"),
        (lambda: st.Stribeck("0.4", 0.2, 0.1), "static of Stribeck must be a number"),
        (lambda: st.Coulomb(lambda s: 0.3 - s), r"mu\(speed\) at .* m/s must be at least 0"),
        (lambda: st.Coulomb(lambda s: np.nan), r"mu\(speed\) at 0 m/s must be a finite number"),
        (lambda: st.Coulomb(lambda s: "rough"), r"mu\(speed\) at 0 m/s must be a number"),
        (lambda: st.Coulomb(lambda s: s), "greater than zero at rest"),
        (lambda: st.Anisotropic(st.Stribeck(0.4, 0.2, 0.1), 0.3), "mu_x of Anisotropic friction must be a number"),
        (
            lambda: st.Polyhedral(LAWS[0], directions=np.eye(2)).contact_rows(2),
            "has one row in the plane; use Rolling",
        ),
    ],
)  # fmt: skip
def test_bad_laws_are_refused_with_a_reason(make, words):
    with pytest.raises(st.ModelError, match=words):
        make()


@pytest.mark.parametrize("law", LAWS)
@given(hs.floats(-3, 3), hs.floats(0, 2))
@settings(max_examples=40, deadline=None)
def test_one_step_is_the_scalar_equation(law, pull, start):
    """Slip: m s = |pull| - mu(s) p_n; rest: |pull| <= mu(0) p_n. A contact at rest stays if it can."""
    mass, load = 2.0, 3.0
    answer = st.solve(block(law, pull=pull, start=start), tol=1e-10)
    assert answer.success
    s, friction = abs(answer.u[1]), abs(answer.p[1])
    assert answer.p[0] == pytest.approx(load)
    if s <= 1e-8:
        assert friction <= law.rest * load * (1 + 1e-9)
    else:
        assert friction == pytest.approx(law(s) * load, rel=1e-7)
        assert mass * s == pytest.approx(abs(pull) - law(s) * load, abs=1e-7)
        if start == 0.0:
            assert abs(pull) > law.rest * load * (1 - 1e-7)
            first = brentq(lambda x: mass * x - abs(pull) + law(x) * load, 1e-12, 3.0) if law.slopes(np.array([s]))[0] > 0 else s  # fmt: skip  # noqa: E501
            assert s == pytest.approx(first, rel=1e-6)


def test_one_contact_takes_two_solves():
    answer = st.solve(block(st.Stribeck(0.3, 0.3, 1.0, viscous=0.5), pull=2.0, start=1.0), tol=1e-10)
    assert answer.rounds == 2
    assert "after 2 solves" in answer.message


def test_stick_and_slip_both_solve_a_long_step_and_the_start_decides():
    law, pull, load, mass = st.Stribeck(0.4, 0.1, speed=0.05), 1.0, 3.0, 2.0
    stays = st.solve(block(law, pull=pull, start=0.0))
    goes = st.solve(block(law, pull=pull, start=0.4))
    assert stays.success
    assert stays.u[1] == pytest.approx(0.0, abs=1e-10)
    assert goes.success
    assert goes.u[1] == pytest.approx((pull - 0.1 * load) / mass)  # far beyond the speed of the law
    problem = block(law, pull=pull)
    assert problem.certify(stays.p).ok(1e-8)
    assert problem.certify(goes.p).ok(1e-8)
    between = np.array([load, -0.5 * (0.4 + 0.1) * load])  # neither stuck nor at the coefficient of its speed
    assert not problem.certify(between).ok(1e-2)


def test_strong_viscous_friction_does_not_leap_over_a_slip_into_rest():
    """At the start mu is 1.1 and would stop the block, where 0.4 could hold it; but on the way down it slips on."""
    law, pull, load, mass = st.Stribeck(0.4, 0.1, speed=0.05, viscous=1.0), 1.0, 3.0, 2.0
    answer = st.solve(block(law, pull=pull, start=1.0), tol=1e-10)
    s = brentq(lambda x: mass * x - pull + law(x) * load, 0.13, 1.0)
    assert answer.success
    assert answer.u[1] == pytest.approx(s, rel=1e-8)
    assert st.solve(block(law, pull=pull, start=0.0)).u[1] == pytest.approx(0.0, abs=1e-10)


def test_the_certificate_judges_by_the_speed_of_the_answer():
    """Impulses that solve the problem with the coefficient at rest do not solve it with the law."""
    problem = block(st.Stribeck(0.4, 0.1, speed=0.05), pull=2.0)
    at_rest = st.solve(problem.with_coefficients(problem.friction.mu))
    assert at_rest.success
    assert at_rest.u[1] == pytest.approx(0.4)
    assert problem.certify(at_rest.p).error == pytest.approx(0.4 / problem.scale)  # as far from rest as it slips
    assert st.Mode(problem.modes(st.solve(problem).p)[0]) is st.Mode.SLIP


def test_two_coefficients_hold_a_contact_that_sticks_to_the_accuracy_of_a_solver():
    problem = block(st.Stribeck(0.4, 0.1, speed=0.0), pull=1.0)
    p = np.array([3.0, -1.0 + 1e-9])
    assert abs(problem.dynamics.velocity_rows(problem.velocity(p))[1]) > 0.0
    assert problem.certify(p).error < 1e-8
    assert st.Mode(problem.modes(p)[0]) is st.Mode.STICK
    creeping = np.array([3.0, -0.9])  # friction of rest at a speed of 0.05 m/s
    assert problem.certify(creeping).error > 0.02


def test_connected_zero_goes_to_the_nearest_in_the_direction_of_motion():
    law, one = st.Stribeck(0.4, 0.1, speed=0.05), np.ones(1)
    a, c = 0.5 * one, 0.6 * one  # F(0) = 0.1 > 0: rest; slip at 0.35, and an unstable zero between

    def force(s):
        return s - 0.5 + 0.6 * law(s) / 0.4

    unstable = brentq(force, 1e-9, 0.1)
    assert connected_zero(law, a, c, 0.0 * one) == 0.0
    assert connected_zero(law, a, c, 0.99 * unstable * one) == 0.0
    assert connected_zero(law, a, c, 1.01 * unstable * one) == pytest.approx(0.35)
    assert connected_zero(law, a, c, 5.0 * one) == pytest.approx(0.35)


def coupled(seed, law, contacts=4):
    """Contacts that all act on each other: random rows, and a start that is not the free motion."""
    rng = np.random.default_rng(seed)
    nv = max(6, 3 * contacts // 2)
    v = rng.normal(size=nv)
    return st.ContactProblem(
        st.Dense(np.diag(rng.uniform(0.5, 2.0, nv)), rng.normal(size=(3 * contacts, nv))),
        row_ptr=np.arange(0, 3 * contacts + 1, 3),
        law=[st.Law.UNILATERAL] * contacts,
        v_free=v,
        friction=st.Coulomb(law),
        v_start=v * rng.uniform(0.5, 1.5, nv),
    )


@pytest.mark.parametrize("law", [st.Stribeck(0.6, 0.3, 0.3), st.Stribeck(0.3, 0.3, 1.0, viscous=0.3)])
@pytest.mark.parametrize("seed", range(8))
def test_contacts_that_act_on_each_other(law, seed):
    """Friction of each sliding contact is mu(its speed) times its normal impulse, against its slip."""
    problem = coupled(seed, law)
    answer = st.solve(problem, tol=1e-8)
    assert answer.success
    for k in range(problem.nk):
        u, p = answer.u[3 * k : 3 * k + 3], answer.p[3 * k : 3 * k + 3]
        speed = np.hypot(u[1], u[2])
        if p[0] > 1e-6 and speed > 1e-6:
            np.testing.assert_allclose(p[1:], -law(speed) * p[0] * u[1:] / speed, atol=1e-6)
        else:
            assert np.hypot(p[1], p[2]) <= law.rest * p[0] + 1e-6


def test_newton_finishes_from_nearby():
    problem = coupled(1, st.Stribeck(0.3, 0.3, 1.0, viscous=0.3))
    answer = st.solve(problem, tol=1e-8)
    near = answer.p * (1.0 + 1e-3)
    assert problem.certify(near).error > 1e-5
    assert problem.certify(refine_speeds(problem, near, 1e-12)).error < 1e-11


def test_only_the_slip_of_rolling_friction_depends_on_the_speed():
    """A contact with rolling rows: |m_roll| <= mu_r p_n whatever the slip speed."""
    law = st.Stribeck(0.4, 0.1, speed=0.05)
    problem = st.ContactProblem(
        st.Dense(np.eye(3), np.eye(3)),
        row_ptr=[0, 3],
        law=[st.Law.UNILATERAL],
        v_free=[-1.0, 2.0, 2.0],
        friction=st.Rolling(law, 0.05),
    )
    for solver in ("lemke", "nsgs"):
        answer = st.solve(problem, solver)
        assert answer.success
        np.testing.assert_allclose(answer.p, [1.0, -0.1, -0.05], atol=1e-8)


def test_fclib_files_have_no_place_for_a_law(tmp_path):
    with pytest.raises(st.ModelError, match="depend on the slip speed"):
        st.write_fclib(block(LAWS[0]), tmp_path / "x.hdf5")
