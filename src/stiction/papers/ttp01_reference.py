"""Answers of ttp01's experiments that need no time-stepping: closed forms, ODEs to 1e-10, and an event-driven DAE.

The paper calls a solution of its second system by DAE methods awkward; with the sequence of contact modes known (the
ball rolls on one sphere and slides on the other, slides on both, leaves one, leaves the other) it is four ODEs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._check import FloatArray

MINV = np.array([1.0, 1.0, 1.0, 2.5, 2.5, 2.5])  # a uniform ball of unit mass and radius
STOPPED = 1e-10  # slip [m/s] from which on sliding counts as over: the ODE of sliding has no meaning at 0


@dataclass(frozen=True)
class Reference:
    """A solution in pieces: pieces[k] gives (q, v) as one array of 12 from starts[k] on."""

    starts: tuple[float, ...]
    pieces: tuple[Callable[[float], FloatArray], ...]

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray]:
        """(q, v) at time t [s]."""
        k = max(0, int(np.searchsorted(self.starts, t, side="right")) - 1)
        y = self.pieces[k](t)
        return y[:6], y[6:]


def _coast(t0: float, y0: FloatArray, a: FloatArray) -> Callable[[float], FloatArray]:
    """Constant acceleration from t0 on."""

    def at(t: float) -> FloatArray:
        s = t - t0
        return np.concatenate([y0[:6] + s * y0[6:] + 0.5 * s * s * a, y0[6:] + s * a])

    return at


def _integrate(
    rate: Callable[[float, FloatArray], FloatArray],
    y0: FloatArray,
    t0: float,
    event: Callable[..., float],
    method: str = "DOP853",
) -> tuple[Callable[[float], FloatArray], float, FloatArray]:
    """The dense solution of y' = rate until `event` falls through zero, and time and state there."""
    from scipy.integrate import solve_ivp

    setattr(event, "terminal", True)  # noqa: B010  solve_ivp reads it from the function
    setattr(event, "direction", -1.0)  # noqa: B010
    rtol, atol = (1e-12, 1e-14) if method == "DOP853" else (1e-10, 1e-12)
    done = solve_ivp(rate, (t0, t0 + 20.0), y0, method=method, rtol=rtol, atol=atol, events=event, dense_output=True)
    return done.sol, float(done.t[-1]), np.asarray(done.y[:, -1])


# --- system 1: a ball on a plane


def sliding_ball(
    rows: FloatArray, mu: float, semi: FloatArray, q: FloatArray, v: FloatArray, g: float = 9.81
) -> Reference:
    """A ball that slides and spins until both stop together, and then rolls: `c = -mu m g E²σ/|Eσ|` (ttp01 eq. 2).

    rows (3, 6): slip and spin σ from v. The second of the two starts is where sliding stops.
    """
    weight = semi**2

    def rate(t: float, y: FloatArray) -> FloatArray:
        slip = rows @ y[6:]
        c = -mu * g * weight * slip / np.sqrt(slip @ (weight * slip))
        return np.concatenate([y[6:], MINV * (rows.T @ c)])

    def stops(t: float, y: FloatArray) -> float:
        slip = rows @ y[6:]
        return float(np.sqrt(slip @ (weight * slip)) - STOPPED)

    piece, end, y = _integrate(rate, np.concatenate([q, v]), 0.0, stops)
    return Reference((0.0, end), (piece, _coast(end, y, np.zeros(6))))


def sliding_ball_polyhedral(
    rows: FloatArray, mu: float, directions: FloatArray, q: FloatArray, v: FloatArray, g: float = 9.81
) -> Reference:
    """The same with friction in the convex hull of `directions` (m, 3): what Stewart's method tends to as h goes to 0.

    With σ the slip, σ' = -A mu m g ∂S(σ) for the support function S of a polyhedron: the flow has constant velocity,
    the element of least A-norm among the directions that dissipate most, until another direction dissipates as much.
    """
    from scipy.optimize import nnls

    A = rows @ (MINV[:, None] * rows.T)
    root = np.linalg.cholesky(A)
    y, t = np.concatenate([q, v]), 0.0
    starts: list[float] = []
    pieces: list[Callable[[float], FloatArray]] = []
    while True:
        power = directions @ (rows @ y[6:])  # the least of these is the most dissipative
        if power.min() > -STOPPED:
            break
        best = np.flatnonzero(power <= power.min() + 1e-12)
        B = root.T @ directions[best].T
        share = nnls(np.vstack([B, np.ones(len(best))]), np.append(np.zeros(3), 1.0))[0]
        c = mu * g * directions[best].T @ (share / share.sum())
        a = MINV * (rows.T @ c)
        # along this piece the powers change at constant rates; the next one to become the least ends it, or rest does
        change = directions @ (A @ c)
        lead, own = power.min(), change[best].min()
        others = np.setdiff1d(np.arange(len(directions)), best)
        closing = others[change[others] < own - 1e-12]
        waits = (power[closing] - lead) / (own - change[closing])
        wait = min([-lead / own, *waits.tolist()])
        starts.append(t)
        pieces.append(_coast(t, y, a))
        t, y = t + wait, pieces[-1](t + wait)
    return Reference((*starts, t), (*pieces, _coast(t, y, np.zeros(6))))


# --- system 2: a ball on two fixed spheres


@dataclass(frozen=True)
class Seam:
    """A ball of unit mass and radius between two fixed spheres.

    centres (2, 3) of the spheres; reach (2,): their distance from the ball's centre in contact; force (6,) on the ball.
    """

    centres: FloatArray
    reach: FloatArray
    force: FloatArray
    mu: float
    er: float

    def rows(self, i: int, q: FloatArray) -> FloatArray:
        """(5, 6) normal, slip as a vector in space (rank 2), spin; the rank-2 slip spares the choice of tangents."""
        n = (q[:3] - self.centres[i]) / np.linalg.norm(q[:3] - self.centres[i])
        cross = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])  # n × ·
        tangent = np.eye(3) - np.outer(n, n)
        out = np.zeros((5, 6))
        out[0, :3] = n
        out[1:4, :3], out[1:4, 3:] = tangent, cross  # v - ω × n = v + n × ω
        out[4, 3:] = n
        return out

    def _bias(self, i: int, q: FloatArray, v: FloatArray) -> FloatArray:
        """(5,) the rate of the rows times v, for a contact that rolls or stays closed: n' = v/R."""
        turn = v[:3] / self.reach[i]
        return np.concatenate([[turn @ v[:3]], np.cross(turn, v[3:]), [turn @ v[3:]]])

    def _sliding(self, i: int, q: FloatArray, v: FloatArray) -> FloatArray:
        """(6,) the generalized force of a sliding contact per unit of normal force."""
        J = self.rows(i, q)
        slip, spin = J[1:4] @ v, float(J[4] @ v)
        size = np.sqrt(slip @ slip + (self.er * spin) ** 2)
        return J[0] - self.mu * (J[1:4].T @ slip + self.er**2 * spin * J[4]) / size

    def solve(self, q: FloatArray, v: FloatArray, slides: tuple[int, ...], rolls: int | None) -> tuple[Any, Any, Any]:
        """Acceleration (6,), normal forces of the sliding contacts, and the force (5,) of the rolling one."""
        columns, conditions, bias = [], [], []
        for i in slides:
            columns.append(self._sliding(i, q, v)[:, None])
            conditions.append(self.rows(i, q)[:1])
            bias.append(self._bias(i, q, v)[:1])
        if rolls is not None:
            J = self.rows(rolls, q)
            columns.append(J.T)
            conditions.append(J)
            bias.append(self._bias(rolls, q, v))
        free = MINV * self.force
        G, H, b = np.hstack(columns), np.vstack(conditions), np.concatenate(bias)
        W = H @ (MINV[:, None] * G)
        c = np.linalg.lstsq(W, -(H @ free + b), rcond=1e-10)[0]  # rank 4 of 5 rows where a contact rolls
        return free + MINV * (G @ c), c[: len(slides)], c[len(slides) :]

    def start(self, q: FloatArray, rolls: int) -> FloatArray:
        """(6,) the one unit velocity, along +x, that keeps both contacts closed and rolls on one of them."""
        H = np.vstack([self.rows(0, q)[:1], self.rows(1, q)[:1], self.rows(rolls, q)])
        way = np.linalg.svd(H)[2][-1]
        return way * np.sign(way[0])

    def reference(self, q: FloatArray) -> Reference:
        """From rest: rolls on the second sphere and slides on the first, slides on both, leaves the first, flies.

        starts[1:] are the three transitions.
        """
        tiny = 1e-9

        def rate_of(slides: tuple[int, ...], rolls: int | None) -> Callable[[float, FloatArray], FloatArray]:
            return lambda t, y: np.concatenate([y[6:], self.solve(y[:6], y[6:], slides, rolls)[0]])

        def grip(t: float, y: FloatArray) -> float:
            c = self.solve(y[:6], y[6:], (0,), 1)[2]
            return float(self.mu * c[0] - np.sqrt(c[1:4] @ c[1:4] + (c[4] / self.er) ** 2))

        def load(slides: tuple[int, ...]) -> Callable[[float, FloatArray], float]:
            return lambda t, y: float(self.solve(y[:6], y[6:], slides, None)[1][0])

        y = np.concatenate([q, tiny * self.start(q, 1)])  # at rest the slip has no direction: give it one
        rolling, t1, y = _integrate(rate_of((0,), 1), y, 0.0, grip)
        y1 = y.copy()
        c = self.solve(y[:6], y[6:], (0,), 1)[2]
        J = np.vstack([self.rows(0, y[:6])[:1], self.rows(1, y[:6])])
        onset = np.concatenate([[0.0, 0.0], -c[1:4], [-c[4] / self.er**2]])
        y1[6:] += tiny * np.linalg.lstsq(J, onset, rcond=1e-10)[0]  # and here: against the friction at the transition
        # where slip begins its direction settles within nanoseconds: stiff
        both, t2, y2 = _integrate(rate_of((0, 1), None), y1, t1, load((0, 1)), "Radau")
        one, t3, y3 = _integrate(rate_of((1,), None), y2, t2, load((1,)))
        flight = _coast(t3, y3, MINV * self.force)
        return Reference((0.0, t1, t2, t3), (rolling, both, one, flight))
