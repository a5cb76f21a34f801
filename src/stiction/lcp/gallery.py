"""Complementarity problems (s00 eq. 2.1) with known properties, for tests, benchmarks and first steps.

Each function gives (M, q).
"""

from __future__ import annotations

import numpy as np

from .._check import FloatArray

Problem = tuple[FloatArray, FloatArray]


def friction_lcp(
    inverse_mass: FloatArray, n: FloatArray, D: FloatArray, mu: FloatArray, v: FloatArray, gap: FloatArray
) -> Problem:
    """The time-stepping problem of p frictional contacts (st96 eq. 17, 29 for p > 1), unknowns (β, c_n, λ).

    Its matrix is copositive (st96 eq. 18, s00 eq. 2.2), and where no gap is negative Lemke's method ends at a solution
    (st96 eq. 19).

    `inverse_mass` (nv, nv), normals `n` (nv, p), friction directions `D` (nv, p k) contact by contact, friction
    coefficients `mu` (p,), velocity `v` (nv,) at the end of a free step, and `gap` (p,) the gaps divided by the time
    step, in m/s.
    """
    p = n.shape[1]
    E = np.kron(np.eye(p), np.ones((D.shape[1] // p, 1)))
    zero = np.zeros((p, p))
    G = np.hstack([D, n])
    W = G.T @ inverse_mass @ G
    side = np.vstack([E, zero])
    M = np.block([[W, side], [-E.T, np.diag(mu), zero]])
    return M, np.concatenate([D.T @ v, n.T @ v + gap, np.zeros(p)])


def dry_friction_lcp(inverse_mass: FloatArray, D: FloatArray, v: FloatArray, bound: float) -> Problem:
    """The problem of friction without a contact, a gear box for example (st96 eq. 32), unknowns (β, λ).

    `inverse_mass` (nv, nv), directions `D` (nv, k), free velocity `v` (nv,), and the `bound` on the sum of β, the time
    step in st96.
    """
    k = D.shape[1]
    e = np.ones((k, 1))
    M = np.block([[D.T @ inverse_mass @ D, e], [-e.T, np.zeros((1, 1))]])
    return M, np.concatenate([D.T @ v, [bound]])


def random_friction(
    rng: np.random.Generator, contacts: int, *, directions: int = 8, bodies: int | None = None, regular: bool = False
) -> Problem:
    """A problem of the form (st96 eq. 29) of rigid bodies in space that touch each other and the ground, gaps >= 0.

    With `regular=True` one box stands on a grid of ground contacts with round numbers throughout: dependent normals,
    ties everywhere.
    """
    if regular:
        points = np.column_stack([rng.integers(-2, 3, (contacts, 2)), -np.ones(contacts)])
        frames = np.tile(np.eye(3)[[2, 0, 1]], (contacts, 1, 1))
        first, second = np.zeros(contacts, dtype=int), np.full(contacts, -1)
        masses = np.array([[1.0, 1.0, 1.0, 2.0, 2.0, 3.0]])
        v = rng.integers(-1, 2, 6).astype(float)
        v[2] -= 0.125
        gap, mu = np.zeros(contacts), rng.choice([0.0, 0.5, 1.0], contacts)
    else:
        count = bodies if bodies is not None else max(1, contacts // 2)
        frames = np.linalg.qr(rng.standard_normal((contacts, 3, 3)))[0]
        points = -frames[:, 0] + 0.3 * rng.standard_normal((contacts, 3))
        first = rng.integers(count, size=contacts)
        second = rng.integers(-1, count, size=contacts)
        second[second == first] = -1
        masses = rng.uniform(0.2, 3.0, (count, 6))
        v = rng.standard_normal(6 * count)
        gap, mu = rng.choice([0.0, 0.0, 0.3], contacts), rng.uniform(0.0, 1.2, contacts)
    angles = 2 * np.pi * np.arange(directions) / directions
    n = np.zeros((v.size, contacts))
    D = np.zeros((v.size, contacts, directions))
    for c in range(contacts):
        normal, t1, t2 = frames[c]
        fan = np.outer(t1, np.round(np.cos(angles), 15)) + np.outer(t2, np.round(np.sin(angles), 15))
        for body, sign in ((first[c], 1.0), (second[c], -1.0)):
            if body >= 0:
                arm = points[c] if sign > 0 else -points[c]
                at = slice(6 * body, 6 * body + 6)
                n[at, c] = sign * np.concatenate([normal, np.cross(arm, normal)])
                D[at, c] = sign * np.vstack([fan, np.cross(arm, fan.T).T])
    return friction_lcp(np.diag(1.0 / masses.ravel()), n, D.reshape(v.size, -1), mu, v, gap)


def painleve_rod(*, torque: bool, step: float = 0.01) -> Problem:
    """The rod of Painlevé's paradox in the time-stepping form (pr11 section 4).

    Data: m = 1, l = 2, φ = π/3, µ = 3/2, g = 1, v_x = -1. Unknowns (β₊, β₋, c_n, λ). Without the torque the
    force–acceleration problem has no solution and this one has one impulse; with it, two and three.
    """
    phi, inertia = np.pi / 3, 1 / 3
    inverse_mass = np.diag([1.0, 1.0, 1 / inertia])
    normal, tangent = np.array([0.0, 1.0, -np.cos(phi)]), np.array([1.0, 0.0, np.sin(phi)])
    load = np.array([0.0, -1.0, -inertia / np.cos(phi) - 1 if torque else 0.0])
    v = np.array([-1.0, 0.0, 0.0]) + step * inverse_mass @ load
    D = np.column_stack([tangent, -tangent])
    return friction_lcp(inverse_mass, normal[:, None], D, np.array([1.5]), v, np.zeros(1))


def murty(n: int) -> Problem:
    """Murty's P-matrix on which Lemke's method with covering vector e takes 2^n pivots (Murty 1988, chapter 6)."""
    return np.eye(n) + 2 * np.tril(np.ones((n, n)), -1), -np.ones(n)


def bimatrix_game(A: FloatArray, B: FloatArray) -> Problem:
    """The game with positive cost matrices A and B (m, n) (Cottle, Pang, Stone, section 1.2): z = (x, y), normalised,
    is an equilibrium.
    """
    m, n = A.shape
    M = np.block([[np.zeros((m, m)), A], [B.T, np.zeros((n, n))]])
    return M, -np.ones(m + n)


def linear_program(A: FloatArray, b: FloatArray, c: FloatArray) -> Problem:
    """The optimality conditions of `min cᵀx, A x >= b, x >= 0` with A (m, n): z = (x, y), a skew-symmetric M."""
    m, n = A.shape
    M = np.block([[np.zeros((n, n)), -A.T], [A, np.zeros((m, m))]])
    return M, np.concatenate([c, -b])
