"""Energy: dissipativity (st96 eq. 24), the exact balance of every step, and who books what."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from scipy.optimize import brentq

import stiction as st

seeds = hs.integers(0, 2**32 - 1)
PARTS = ("applied", "friction", "impact", "joints", "motors", "springs", "stabilisation", "truncation", "mass_change")


def half_spaces(seed, contacts=3, n=4, joint=False, gear=False, force=None):
    """Constant M and k, half-spaces nᵀq >= α₀ with friction, started inside and thrown at them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    M, k = A @ A.T + 0.5 * np.eye(n), 3 * rng.normal(size=n)
    normals = rng.normal(size=(contacts, n))
    tangents = rng.normal(size=(contacts, 2, n))
    alpha = -rng.uniform(0.0, 0.05, size=contacts)
    mu = rng.uniform(0.0, 1.0, size=contacts)
    gaps = [
        st.Gap(lambda q, a=a, c=c: a @ q - c, lambda q, a=a: a, lambda q, T=T: T, float(m))
        for a, c, T, m in zip(normals, alpha, tangents, mu)
    ]
    row = rng.normal(size=(1, n))
    system = st.GeneralizedSystem(
        M, k if force is None else force, q=np.zeros(n), v=2 * rng.normal(size=n), gaps=gaps,
        constraints=[st.Bilateral(lambda q: row @ q, lambda q: row)] if joint else [],
        friction=[st.DryFriction(rng.normal(size=n), 1.5)] if gear else [],
    )  # fmt: skip
    return system, M, k, normals, alpha, tangents, mu


@given(seeds, hs.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_dissipative_on_half_spaces(seed, contacts):
    """½v⁺ᵀMv⁺ - kᵀq⁺ <= ½vᵀMv - kᵀq - Σ λµc_n - ½ΔvᵀMΔv, and nᵀq >= α₀ at every step end."""
    system, M, k, normals, alpha, tangents, mu = half_spaces(seed, contacts)
    sim = st.Simulator(system, 0.01, tol=1e-8)
    angle = 2 * np.pi * np.arange(8) / 8
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(25):
        old = sim.state
        result = sim.step()
        new = result.state
        friction = 0.0
        for key, p in zip(result.contacts.key.tolist(), result.contacts.impulse):
            speed = max(0.0, (-ring @ (tangents[key] @ new.v)).max())  # λ
            friction += speed * mu[key] * p[0]
        dv = new.v - old.v
        before = 0.5 * old.v @ M @ old.v - k @ old.q
        after = 0.5 * new.v @ M @ new.v - k @ new.q
        size = 1 + abs(before) + 0.5 * old.v @ M @ old.v
        assert after <= before - friction - 0.5 * dv @ M @ dv + 1e-10 * size
        assert (normals @ new.q >= alpha - 1e-12).all()


@given(seeds, hs.booleans(), hs.booleans())
@settings(max_examples=20, deadline=None)
def test_energy_balance_closes(seed, joint, gear):
    system, M, k, *_ = half_spaces(seed, joint=joint, gear=gear)
    sim = st.Simulator(system, 0.01, tol=1e-8)
    for _ in range(15):
        old = sim.state
        result = sim.step()
        new, balance = result.state, result.certificate.energy
        change = 0.5 * new.v @ M @ new.v - 0.5 * old.v @ M @ old.v - k @ (new.q - old.q)
        size = 1 + 0.5 * old.v @ M @ old.v
        assert balance.change == pytest.approx(change, abs=1e-11 * size)
        assert sum(getattr(balance, part) for part in PARTS) == pytest.approx(change, abs=1e-10 * size)
        assert abs(balance.residual) <= 1e-10 * size
        assert balance.mass_change == pytest.approx(0.0, abs=1e-12 * size)
        assert balance.applied == 0.0  # constant forces have a potential
        # the discrete identity ΔT = ½ (v + v⁺)ᵀ (h k + Hᵀ p), from the states alone
        kinetic = 0.5 * (new.v + old.v) @ M @ (new.v - old.v)
        contact_work = balance.friction + balance.impact + balance.joints + balance.stabilisation
        assert kinetic == pytest.approx(0.005 * (new.v + old.v) @ k + contact_work, abs=1e-10 * size)


def double_pendulum(gaps=()):
    m1, m2, l1, l2, g = 1.0, 0.7, 0.8, 0.5, 9.81

    def mass(q):
        c = m2 * l1 * l2 * math.cos(q[0] - q[1])
        return [[(m1 + m2) * l1**2, c], [c, m2 * l2**2]]

    def potential(q):
        return -(m1 + m2) * g * l1 * math.cos(q[0]) - m2 * g * l2 * math.cos(q[1])

    return (
        st.GeneralizedSystem.from_lagrangian(mass, potential, q=[1.2, 0.3], v=[0.5, -2.0], gaps=gaps),
        mass,
        potential,
    )


def test_energy_balance_closes_for_a_mass_that_changes():
    wall = st.Gap(lambda q: 0.8 * math.sin(q[0]) + 0.5 * math.sin(q[1]) + 0.3, name="wall")
    system, mass, potential = double_pendulum([wall])
    sim = st.Simulator(system, 0.005, scheme=st.StewartTrinkle(nonlinear=True))
    changes, hits = [], 0
    for _ in range(200):
        old = sim.state
        result = sim.step()
        new, balance = result.state, result.certificate.energy
        energy = [0.5 * s.v @ np.array(mass(s.q)) @ s.v + potential(s.q) for s in (old, new)]
        assert balance.change == pytest.approx(energy[1] - energy[0], abs=1e-10)
        assert sum(getattr(balance, part) for part in PARTS) == pytest.approx(balance.change, abs=1e-10)
        assert balance.applied == 0.0
        changes.append(balance.mass_change)
        hits += balance.impact < -1e-3
    assert hits >= 1
    assert np.abs(changes).max() > 1e-3


def test_applied_work_is_that_of_the_forces_without_potential():
    """A motor force of 3 N on a mass with a spring: applied work 3 Δx up to the error of one step."""
    system = st.GeneralizedSystem(
        [[2.0]], lambda t, q, v: 3.0 - 5.0 * q, q=[0.1], v=[0.7], potential=lambda q: 2.5 * q[0] ** 2
    )
    run = st.Simulator(system, 1e-3).run(1.0)
    assert run.energy.work["applied"].sum() == pytest.approx(3 * (run.q[-1, 0] - 0.1), abs=5e-3)
    assert np.abs(run.certificate["energy"]).max() < 1e-13


def test_friction_work_is_force_times_way():
    floor = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [1, 0], 0.4)
    system = st.GeneralizedSystem(2 * np.eye(2), [0, -19.62], q=[0.0, 0.0], v=[2.0, 0.0], gaps=[floor])
    run = st.Simulator(system, 0.001).run(0.3)
    work = run.energy.work
    mean = 0.5 * (run.v[1:, 0] + run.v[:-1, 0])
    np.testing.assert_allclose(work["friction"], -0.4 * 19.62 * 0.001 * mean, atol=1e-12)
    assert np.abs(work["impact"] + work["truncation"]).max() < 1e-12
    np.testing.assert_allclose(run.energy.total[-1] - run.energy.total[0], work["friction"].sum(), atol=1e-11)


def test_impact_takes_the_normal_kinetic_energy():
    floor = st.Gap(lambda q: q[0])
    system = st.GeneralizedSystem([[2.0]], q=[0.0], v=[-3.0], gaps=[floor])
    balance = st.Simulator(system, 0.01).step().certificate.energy
    assert balance.impact == pytest.approx(-9.0)
    assert balance.change == pytest.approx(-9.0)
    assert balance.stabilisation == 0.0


def test_pushing_an_overlap_out_is_booked_as_stabilisation():
    """A start that overlaps by less than is refused: the step pushes out and the energy says so."""
    system = st.GeneralizedSystem([[2.0]], q=[-5e-10], v=[0.0], gaps=[st.Gap(lambda q: q[0])])
    balance = st.Simulator(system, 1e-6).step().certificate.energy
    speed = 5e-10 / 1e-6
    assert balance.change == pytest.approx(0.5 * 2 * speed**2)
    assert balance.stabilisation == pytest.approx(balance.change)
    assert balance.impact == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize(("sign", "name"), [(1.0, "convex"), (-1.0, "concave")])
@pytest.mark.parametrize("power", [2, 4])
def test_eq_20_follows_the_shape_of_the_potential(sign, name, power):
    """m(v⁺ - v) = -h∇V(q⁺), q⁺ = q + h(v + v⁺)/2 loses energy for convex V and gains it for concave V."""
    m, h = 1.5, 0.1

    def V(q):
        return sign * q**power

    def slope(q):
        return sign * power * q ** (power - 1)

    rng = np.random.default_rng(0)
    for q, v in rng.uniform(-1, 1, size=(200, 2)):
        new = brentq(lambda x, q=q, v=v: x - q - h * v + 0.5 * h**2 / m * slope(x), -3, 3, xtol=1e-14)
        v_new = v - h / m * slope(new)
        change = 0.5 * m * v_new**2 + V(new) - 0.5 * m * v**2 - V(q)
        # exactly: ΔE = V(q⁺) - V(q) - ∇V(q⁺)(q⁺ - q), the gap of a tangent, <= 0 for convex V
        assert change == pytest.approx(V(new) - V(q) - slope(new) * (new - q), abs=1e-11)
        assert sign * change <= 1e-12


def test_free_flight_loses_order_h_squared_per_step():
    """st96 §3.3: between contacts the loss ½ΔvᵀMΔv is numerical and of second order per step."""
    losses = []
    for h in (0.02, 0.01):
        system = st.GeneralizedSystem([[1.0]], [-9.81], q=[0.0], v=[1.0])
        losses.append(-st.Simulator(system, h).step().certificate.energy.change)
    np.testing.assert_allclose(losses, [0.5 * (9.81 * h) ** 2 for h in (0.02, 0.01)], rtol=1e-10)


@pytest.mark.long
@given(seeds, hs.integers(1, 5))
@settings(max_examples=300, deadline=None)
def test_energy_never_grows_on_half_spaces(seed, contacts):
    system, *_ = half_spaces(seed, contacts, gear=bool(seed % 2))
    run = st.Simulator(system, 0.02, tol=1e-8).run(0.6)
    assert (np.diff(run.energy.total) <= 1e-9 * (1 + np.abs(run.energy.kinetic[:-1]))).all()
    assert run.certificate.worst["penetration"] < 1e-12
