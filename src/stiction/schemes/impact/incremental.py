"""Impact at one contact, followed through it: Darboux and Keller's equations with Poisson's or Stronge's law.

During an impact positions stand still, and the relative velocity u changes with the normal impulse p as

    du/dp = W (1, f)        f = -mu e while slipping along e = u_t/|u_t|, or what holds the contact while it sticks

with W the Delassus block of the contact (normal, tangents). Compression lasts until u_n = 0, at the impulse p_c and the
work A_c = ∫ u_n dp < 0; restitution ends by

    Newton    u_n = -e u_n(0)            (kinematic: the ratio of speeds)
    Poisson   p = (1 + e) p_c            (kinetic: the ratio of impulses)
    Stronge   work = (1 - e²) A_c        (energetic: the work given back is -e² times the work of compression)

In the plane the motion is piecewise linear in p, and every event is found exactly (Routh's method). In space the slip
turns: with dp = |u_t| ds its length and angle obey smooth equations in s, which are integrated to round-off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError

LAWS = ("newton", "poisson", "stronge")
_STOPPED = 1e-15  # slip, relative to where it began, that counts as none


@dataclass(frozen=True)
class Impact:
    """The impulse p (n,) and the velocity u (n,) after an impact, and the phases passed: "slip", "stick", "reversal".

    compression: the normal impulse at greatest compression; work: that of the normal impulse [J], the negative of what
    the impact took in the normal direction.
    """

    p: FloatArray
    u: FloatArray
    compression: float
    work: float
    phases: tuple[str, ...] = field(default=())


def incremental(W: FloatArray, u: FloatArray, mu: float, e: float, law: str = "poisson") -> Impact:
    """The impact of one contact with Delassus block W (n, n) [1/kg], n = 1, 2 or 3, and relative velocity u (n,).

    mu: coefficient of friction; e: coefficient of restitution, 0 to 1; law: "newton", "poisson" or "stronge". A contact
    that does not approach (u_n >= 0) has no impact.
    """
    W, u = _check.floats("W", W, (None, None)), _check.floats("u", u, (None,))
    n = len(u)
    if W.shape != (n, n) or not 1 <= n <= 3:
        raise ModelError(f"W must be square with the 1 to 3 rows of u; got {W.shape} for {n}.")
    _check.mass_matrix("W", W, n)
    mu, e = _check.number("mu", mu, low=0.0), _check.number("e", e, low=0.0)
    if e > 1.0:
        raise ModelError(f"e must be at most 1; got {e:g}.")
    _check.choice("law", law, list(LAWS))
    light, speed = _power_of_two(np.abs(np.diag(W)).max()), _power_of_two(np.abs(u).max())
    path = _Path(W / light, u / speed, mu, e, law)  # of order one: the integrator's tolerances are absolute ones too
    while not path.done:
        path.advance()
    impulse = speed / light
    return Impact(
        path.p * impulse, path.u * speed, path.compression * impulse, path.work * impulse * speed, tuple(path.phases)
    )


def _power_of_two(x: float) -> float:
    """The largest power of two that is not above x; 1 for 0."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1) if x > 0.0 else 1.0


class _Path:
    """The velocity on its way through an impact, piece by piece."""

    def __init__(self, W: FloatArray, u: FloatArray, mu: float, e: float, law: str):
        self.W, self.u, self.mu, self.e, self.law = W, u, mu, e, law
        self.p = np.zeros(len(u))
        self.start, self.compression, self.work, self.compressed = float(u[0]), 0.0, 0.0, 0.0
        self.slip0 = float(np.linalg.norm(u[1:])) + abs(self.start)
        self.restoring = False
        self.phases: list[str] = []
        self.done = not self.start < 0.0
        self.work_left = 0.0

    def advance(self) -> None:
        """One piece: until slip stops, compression ends or the impact does."""
        slip = self.u[1:]
        size = float(np.linalg.norm(slip))
        if self.mu == 0.0 or not len(slip):
            return self._straight(np.zeros(len(slip)), math.inf, "slip")
        if size <= _STOPPED * self.slip0:
            self.u[1:] = 0.0
            hold = np.asarray(-np.linalg.solve(self.W[1:, 1:], self.W[1:, 0]), dtype=np.float64)
            if np.linalg.norm(hold) <= self.mu:
                return self._straight(hold, math.inf, "stick")
            away = self._away()
            return self._straight(-self.mu * away, math.inf, "reversal" if self.phases else "slip")
        e = slip / size
        pull = self.W[1:, 0] - self.mu * self.W[1:, 1:] @ e
        turn = pull - (pull @ e) * e
        if len(slip) == 1 or np.linalg.norm(turn) <= 1e-15 * np.linalg.norm(self.W[1:]):
            rate = float(pull @ e)
            self._straight(-self.mu * e, size / -rate if rate < 0.0 else math.inf, "slip")
        else:
            self._turning()
        return None

    def _away(self) -> FloatArray:
        """The direction e in which slip starts from rest: W_tn - mu W_tt e = κ e with κ > 0."""
        w, T, mu = self.W[1:, 0], self.W[1:, 1:], self.mu
        if len(w) == 1:
            return np.sign(w)
        from scipy.optimize import brentq

        # (mu T + κ I) e = w has |e| = 1 at one κ > 0, since |e| falls with κ and is above 1 at κ = 0
        def length(kappa: float) -> float:
            return float(np.linalg.norm(np.linalg.solve(mu * T + kappa * np.eye(2), w))) - 1.0

        high = float(np.linalg.norm(w))
        kappa = brentq(length, 0.0, high, xtol=1e-16 * high, rtol=1e-15) if length(high) < 0.0 else high
        e = np.linalg.solve(mu * T + kappa * np.eye(2), w)
        return np.asarray(e / np.linalg.norm(e))

    # --- pieces on which du/dp is constant

    def _straight(self, f: FloatArray, stop: float, phase: str) -> None:
        """Friction f per normal impulse, at most until p has grown by `stop`, where slip ends."""
        along = np.concatenate([[1.0], f])
        rate = self.W @ along
        slope = float(rate[0])
        limit = self._end(slope)
        if not min(stop, limit) < math.inf:
            raise ModelError("the impact does not end: W is not positive definite.")
        dp = min(stop, limit)
        self._note(phase)
        self.work += dp * (float(self.u[0]) + 0.5 * slope * dp)
        self.u = self.u + dp * rate
        self.p = self.p + dp * along
        if stop <= limit:
            self.u[1:] = 0.0
        if limit <= stop:
            self._reach()

    def _end(self, slope: float) -> float:
        """How much normal impulse the present phase still takes, if u_n changes at `slope` per impulse."""
        un = float(self.u[0])
        if not self.restoring:
            return -un / slope if slope > 0.0 else math.inf
        if self.law == "poisson":
            return (1.0 + self.e) * self.compression - float(self.p[0])
        if self.law == "newton":
            left = -self.e * self.start - un
            return left / slope if slope > 0.0 else math.inf
        left = self.compressed * (1.0 - self.e**2) - self.work  # >= 0: the work still to come
        if slope == 0.0:
            return left / un if un > 0.0 else math.inf
        root = un * un + 2.0 * slope * left
        return 2.0 * left / (un + math.sqrt(root)) if root >= 0.0 and un + math.sqrt(root) > 0.0 else math.inf

    def _reach(self) -> None:
        """The end of compression, or of the impact."""
        if self.restoring:
            self.done = True
            return
        self.u[0] = 0.0
        self.compression, self.compressed, self.restoring = float(self.p[0]), self.work, True
        self.done = self.e == 0.0

    def _note(self, phase: str) -> None:
        if not self.phases or self.phases[-1] != phase:
            self.phases.append(phase)

    # --- slip that turns

    def _turning(self) -> None:
        """Slip in space until it stops or the phase ends: z = (log of its length, angle, p, u_n, work, p_t)."""
        from scipy.integrate import solve_ivp

        W, mu = self.W, self.mu
        size, angle = float(np.linalg.norm(self.u[1:])), math.atan2(self.u[2], self.u[1])

        def rates(s: float, z: FloatArray) -> list[float]:
            c, d, r = math.cos(z[1]), math.sin(z[1]), size * math.exp(z[0])
            rate = W @ (1.0, -mu * c, -mu * d)
            along, across = c * rate[1] + d * rate[2], c * rate[2] - d * rate[1]
            return [along, across, r, r * rate[0], r * z[3], -mu * c * r, -mu * d * r]

        def ends(s: float, z: FloatArray) -> float:
            if not self.restoring:
                return float(z[3])
            if self.law == "poisson":
                return float(z[2]) - (1.0 + self.e) * self.compression
            if self.law == "newton":
                return float(z[3]) + self.e * self.start
            return float(z[4]) - (1.0 - self.e**2) * self.compressed

        def stops(s: float, z: FloatArray) -> float:
            return float(z[0]) - math.log(_STOPPED * self.slip0 / size)

        ends.terminal, ends.direction = True, 1.0  # type: ignore[attr-defined]
        stops.terminal = True  # type: ignore[attr-defined]
        z0 = [0.0, angle, self.p[0], self.u[0], self.work, self.p[1], self.p[2]]
        scale = 1.0 / max(1e-300, mu * float(np.linalg.norm(W[1:, 1:])) + float(np.linalg.norm(W[1:, 0])))
        found = solve_ivp(
            rates, (0.0, 1e6 * scale), z0, method="DOP853", rtol=1e-12, atol=1e-14 * self.slip0, events=(ends, stops)
        )
        z = found.y[:, -1]
        self._note("slip")
        r = size * math.exp(z[0])
        self.u = np.array([z[3], r * math.cos(z[1]), r * math.sin(z[1])])
        self.p, self.work = np.array([z[2], z[5], z[6]]), float(z[4])
        if len(found.t_events[1]):
            self.u[1:] = 0.0
        if len(found.t_events[0]):
            self._reach()
        elif not len(found.t_events[1]):
            raise ModelError("the impact does not end: W is not positive definite.")
