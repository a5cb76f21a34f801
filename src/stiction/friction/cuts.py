"""Convex sets known by functions alone: projection and support by cutting planes.

A set F at unit radius holds the origin inside. A half-space `a·g <= c` holds F when c is at least the support function
of F at a; each step solves its problem for the half-spaces found so far and cuts off the point that came out, until
that point is outside F by 1e-8 at most. In n <= 5 rows this takes some ten to a hundred cuts. Where the boundary is
smooth the point is then still off by the root of that, along the boundary, and a few Newton steps on the conditions of
optimality set it right. At corners these do not apply, and a few more cuts do: they meet there, and converge
quadratically.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._check import FloatArray, IntArray

Sublinear = Callable[[FloatArray], tuple[float, FloatArray]]
"""f -> (ψ(f), s): a convex function of degree one and a subgradient, so that `s·g <= ψ(g)` for all g; F is ψ <= 1."""

MAX_CUTS = 400  # cuts
BOX_REACH = 1e6  # a box that holds every set, in units of the set's reach in one direction
# how far outside F, relatively, the last point of the cuts may be: at first, and at last
FIRST_ACCURACY, LAST_ACCURACY = 1e-8, 1e-15
NEWTON_ACCURACY = 1e-10  # how well the conditions of optimality are met where Newton's steps have the last word
GRADIENT_STEP_SIZES = 7  # step sizes of `gradient`


class HalfSpaces:
    """The half-spaces `G y <= h` found so far, and the nearest point among them."""

    def __init__(self, d: int):
        self.d, self.m = d, 0
        self.G, self.h = np.zeros((0, d)), np.zeros(0)
        self._room(32)

    def _room(self, rows: int) -> None:
        from .kernels import polyhedron_workspace

        G, h = np.zeros((rows, self.d)), np.zeros(rows)
        G[: self.m], h[: self.m] = self.G, self.h
        self.G, self.h, self.work = G, h, polyhedron_workspace(rows, self.d)

    def add(self, a: FloatArray, c: float) -> None:
        """a·y <= c."""
        if self.m == len(self.h):
            self._room(2 * self.m)
        size = float(np.sqrt(a @ a))
        self.G[self.m], self.h[self.m] = a / size, c / size
        self.m += 1

    def nearest(self, x: FloatArray) -> FloatArray:
        """The point of the half-spaces nearest to x."""
        from .kernels import project_polyhedron

        y = np.empty(self.d)
        project_polyhedron(self.G, self.h, self.d, self.m, x, y, self.work)
        return y


def project(function: Sublinear, x: FloatArray, radius: float) -> FloatArray:
    """The point of radius·F nearest to x."""
    return _nearest(function, HalfSpaces(len(x)), x, x.copy(), None, radius)


def project_cone(function: Sublinear, x: FloatArray, mu: float, r0: float) -> FloatArray:
    """The point nearest to x = (x_n, x_t) in {p_n >= 0, p_t in (mu·p_n + r0)·F}."""
    if mu == 0.0:  # friction does not ask for a normal part
        return np.append(max(0.0, x[0]), project(function, x[1:], r0))
    found = HalfSpaces(len(x))
    found.add(-np.eye(1, len(x))[0], 0.0)
    y = _nearest(function, found, x, np.append(max(0.0, x[0]), x[1:]), mu, r0)
    if r0 > 0.0 and found.m > 1 and y[0] <= 1e-6 * float(np.linalg.norm(x)):  # perhaps at its bound
        t = project(function, x[1:], r0)
        s = function(t)[1]
        if x[0] + mu * float((x[1:] - t) @ s) / float(s @ s) <= 0.0:  # and pressed against it
            return np.append(0.0, t)
    return y


def _nearest(
    function: Sublinear, found: HalfSpaces, x: FloatArray, y: FloatArray, mu: float | None, r0: float
) -> FloatArray:
    """The nearest point to x; with mu None in r0·F, else in the cone with the normal row first."""
    shift = 0 if mu is None else 1
    before = found.m
    for accuracy in (FIRST_ACCURACY, LAST_ACCURACY):
        while found.m < MAX_CUTS:
            psi, s = function(y[shift:])
            if psi <= (r0 + (mu * y[0] if mu is not None else 0.0)) * (1.0 + accuracy):
                break
            found.add(s if mu is None else np.append(-mu, s), r0)
            last, y = y, found.nearest(x)
            if np.array_equal(last, y):  # round-off
                break
        if found.m == before:
            return y
        settled, miss = _settle(function, y, x, 1.0, mu, r0)
        if miss <= NEWTON_ACCURACY:
            return settled
    return y


def support_point(function: Sublinear, u: FloatArray) -> FloatArray:
    """The f with function(f) <= 1 and the largest u·f.

    The linear program over the half-spaces found so far is carried on by the dual simplex method: its basis of n
    half-spaces, whose normals hold u between them, meets in the point that is cut off next.
    """
    n = len(u)
    size = float(np.linalg.norm(u))
    if size == 0.0:
        return np.zeros(n)
    u = u / size
    psi, s = function(u)
    best, most = u / psi, 1.0 / psi
    S = np.empty((n + MAX_CUTS + 1, n))
    S[:n] = np.diag(np.where(u < 0.0, -1.0, 1.0)) / (BOX_REACH / psi)  # a box that holds F, to start with
    S[n] = s
    m, basis = n + 1, np.arange(n)
    for accuracy in (FIRST_ACCURACY, LAST_ACCURACY):
        while m < n + MAX_CUTS:
            f = _dual_simplex(S[:m], basis, u)
            psi, S[m] = function(f)
            m += 1
            if u @ f > most * psi:
                best, most = f / psi, float(u @ f) / psi
            if u @ f <= most * (1.0 + accuracy):
                break
        settled, miss = _settle(function, best, u, 0.0, None, 1.0)
        if miss <= NEWTON_ACCURACY:
            return settled / function(settled)[0]
    return best


def _settle(
    function: Sublinear, y: FloatArray, x: FloatArray, weight: float, mu: float | None, r0: float
) -> tuple[FloatArray, float]:
    """Newton steps from y towards the least ½ weight |y|² - x·y on the boundary, and how well they end.

    The boundary is ψ(y) = r0, or with mu ψ(y_t) = mu·y_n + r0 with the normal row first. The curvature of ψ comes from
    differences of its subgradient. At corners, where one subgradient does not meet the conditions of optimality, they
    are not expected to end well.
    """
    shift = 0 if mu is None else 1
    size = float(np.abs(y[shift:]).max())
    if size <= 1e-12 * float(np.abs(x).max()) * weight:  # an apex
        return y, 0.0
    best, least = y, np.inf
    for _ in range(6):
        psi, s = function(y[shift:])
        a = s if mu is None else np.append(-mu, s)
        gap = psi - r0 - (0.0 if mu is None else mu * y[0])
        pull = weight * y - x
        force = -float(pull @ a) / float(a @ a)  # of the boundary, along its normal
        miss = float(np.linalg.norm(pull + force * a)) / float(np.linalg.norm(x)) + abs(gap) / psi
        if not (miss < least and force >= 0.0):
            break
        best, least = y, miss
        if miss <= 1e-15:
            break
        d = len(y)
        K = np.zeros((d + 1, d + 1))
        K[:d, :d] = weight * np.eye(d)
        K[shift:d, shift:d] += force * _curvature(function, y[shift:])
        K[:d, d] = K[d, :d] = a
        step = np.linalg.lstsq(K, -np.append(pull + force * a, gap), rcond=1e-14)[0][:d]
        if np.abs(step).max() > 0.01 * size:  # from the cuts it is not that far
            break
        y = y + step
    return best, least


def _curvature(function: Sublinear, f: FloatArray) -> FloatArray:
    """The second derivatives of ψ at f."""
    step = 1e-4 * float(np.abs(f).max())
    H = np.array([(function(f + e)[1] - function(f - e)[1]) / (2.0 * step) for e in step * np.eye(len(f))])
    return (H + H.T) / 2.0


def _dual_simplex(S: FloatArray, basis: IntArray, u: FloatArray) -> FloatArray:
    """The f with the largest u·f over S f <= 1, from a basis that is dual feasible; the basis moves along."""
    for _ in range(50):
        inverse = np.linalg.inv(S[basis])
        f: FloatArray = inverse.sum(axis=1)
        over = S @ f
        over[basis] = 0.0
        enter = int(over.argmax())
        if over[enter] <= 1.0 + 1e-15:
            break
        weight, share = u @ inverse, S[enter] @ inverse
        ratio = np.divide(weight, share, out=np.full(len(u), np.inf), where=share > 1e-14 * np.abs(share).max())
        basis[int(ratio.argmin())] = enter
    return f


def gradient(function: Callable[[FloatArray], float], x: FloatArray) -> FloatArray:
    """The gradient of a function of degree one at x ≠ 0 by central differences, extrapolated (Ridders 1982).

    At a kink it lies between the slopes on both sides. Euler's identity `g·x = function(x)` holds to round-off. The
    slopes are the same along a ray: they are taken at x over a power of two, where no step vanishes.
    """
    x = np.ldexp(x, -int(np.frexp(np.abs(x).max())[1]))
    size = float(np.abs(x).max())
    g = np.array([_slope(function, x, k, 0.03 * size) for k in range(len(x))])
    return g + x * ((function(x) - g @ x) / (x @ x))


def _slope(function: Callable[[FloatArray], float], x: FloatArray, k: int, h: float) -> float:
    best, least = 0.0, np.inf
    row: list[float] = []
    step = np.zeros(len(x))
    for _ in range(GRADIENT_STEP_SIZES):
        step[k] = h
        new = [(function(x + step) - function(x - step)) / (2.0 * h)]
        factor = 1.0
        for j, old in enumerate(row):
            factor *= 64.0
            new.append((factor * new[j] - old) / (factor - 1.0))
            error = max(abs(new[j + 1] - new[j]), abs(new[j + 1] - old))
            if error <= least:
                best, least = new[j + 1], error
        row = new
        h /= 8.0
    return best
