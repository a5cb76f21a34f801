"""Several contacts as springs on a time scale on which nothing moves: the kernel of the work-driven impact.

Each contact has a compression x, a force K x^η and, in no time of the bodies' own, positions that stand still:

    u' = W (K x^η, friction)        x' = -u while it is compressed, -u/e² while it is released        x < 0: a gap

Released like that a contact gives back e² of the work of its compression, and its force has no jump (Stronge's
coefficient as a spring that is stiffer in release). A contact with e = 0 gives nothing back: from u = 0 on it is held
by any force below that of its compression. Steps are those of Störmer and Verlet, of second order also where contacts
open and close; friction and holding forces are found implicitly in each of them, by sweeps over the contacts.
"""

from __future__ import annotations

import math
from typing import Any

from ...runtime.jit import njit

SWEEPS_MAX = 200
DONE, LIMIT = 0, 1


@njit
def drift(x: float, u: float, e: float, held: bool, t: float) -> float:
    """The compression of a contact after time t with velocity u."""
    if held:
        return x
    if u <= 0.0 or x <= 0.0:
        return x - u * t
    release = x * e * e / u  # the time until it opens
    if release <= t:
        return -u * (t - release)
    return x - u * t / (e * e)


@njit
def rub(W: Any, u: Any, f: Any, first: int, last: int, bound: float) -> float:
    """Friction of one contact, rows first to last, against the velocity it leaves; returns how much that changed u."""
    if last - first == 1:
        w = W[first, first]
        new = min(max(f[first] - u[first] / w, -bound), bound)
        change = new - f[first]
        f[first] = new
        for r in range(len(u)):
            u[r] += W[r, first] * change
        return abs(change) * w
    # a disk: the largest eigenvalue of the block is a safe step
    a, b, c = W[first, first], W[first, first + 1], W[first + 1, first + 1]
    w = 0.5 * (a + c) + math.sqrt(0.25 * (a - c) * (a - c) + b * b)
    f0, f1 = f[first] - u[first] / w, f[first + 1] - u[first + 1] / w
    size = math.sqrt(f0 * f0 + f1 * f1)
    if size > bound:
        f0, f1 = f0 * bound / size, f1 * bound / size
    d0, d1 = f0 - f[first], f1 - f[first + 1]
    f[first], f[first + 1] = f0, f1
    for r in range(len(u)):
        u[r] += W[r, first] * d0 + W[r, first + 1] * d1
    return math.sqrt(d0 * d0 + d1 * d1) * w


@njit
def kick(
    W: Any, ptr: Any, mu: Any, e: Any, force: Any, held: Any, u: Any, p: Any, f: Any, dt: float, tiny: float
) -> None:
    """All impulses of one step, added to p; f (n,) comes with those of the last step in it, as a first guess."""
    n, m = len(u), len(mu)
    implicit = False
    for i in range(m):
        k = ptr[i]
        bound = mu[i] * force[i] * dt
        f[k] = force[i] * dt
        size = 0.0
        for r in range(k + 1, ptr[i + 1]):
            size += f[r] * f[r]
        scale = bound / math.sqrt(size) if size > bound * bound else 1.0
        for r in range(k + 1, ptr[i + 1]):
            f[r] *= scale
        implicit = implicit or (force[i] > 0.0 and (e[i] == 0.0 or (mu[i] > 0.0 and ptr[i + 1] - k > 1)))
    for r in range(n):
        for c in range(n):
            u[r] += W[r, c] * f[c]
    sweeps = SWEEPS_MAX if implicit else 0
    for _ in range(sweeps):
        change = 0.0
        for i in range(m):
            k = ptr[i]
            if force[i] == 0.0:
                continue
            if e[i] == 0.0:
                new = min(max(f[k] - u[k] / W[k, k], 0.0), force[i] * dt)
                d = new - f[k]
                f[k] = new
                for r in range(n):
                    u[r] += W[r, k] * d
                change = max(change, abs(d) * W[k, k])
            if mu[i] > 0.0 and ptr[i + 1] - k > 1:
                change = max(change, rub(W, u, f, k + 1, ptr[i + 1], mu[i] * f[k]))
        if change <= tiny:
            break
    for i in range(m):
        k = ptr[i]
        held[i] = e[i] == 0.0 and force[i] > 0.0 and (f[k] < force[i] * dt or abs(u[k]) <= tiny)
    for r in range(n):
        p[r] += f[r]


@njit
def springs(
    W: Any, ptr: Any, K: Any, eta: float, mu: Any, e: Any,
    dt: float, speed: float, calm: float, tiny: float, limit: int,
    u: Any, p: Any, x: Any, f: Any, force: Any, held: Any,
) -> int:  # fmt: skip
    """From the velocities u (n,) before to those after, with impulses p (n,); x, f, force and held are workspace.

    dt: the step while velocities are as large as `speed` [m/s]; it grows as they fall, where η > 1. calm, tiny: an
    approach [m/s] that counts as none, and the accuracy of implicit impulses. Returns DONE, or LIMIT after so many
    steps. Contacts that are wedged end at rest, with forces that are in balance.
    """
    m, still = len(K), 0
    for _ in range(limit):
        now, fastest = 0.0, 0.0
        for i in range(m):
            fastest = max(fastest, abs(u[ptr[i]]))
            now = max(now, abs(u[ptr[i]]))
            if x[i] > 0.0:
                now = max(now, math.sqrt(W[ptr[i], ptr[i]] * K[i] * x[i] ** (eta + 1.0)))
        still = still + 1 if fastest <= calm else 0
        if still > 2:  # a turning point lasts one step
            return DONE
        if 0.0 < now < 0.1 * speed:
            dt *= (now / speed) ** ((1.0 - eta) / (eta + 1.0))
            speed = now
        nearest, loaded, step = math.inf, False, dt
        for i in range(m):
            loaded = loaded or (x[i] > 0.0 and not held[i])
            if x[i] > 0.0 and u[ptr[i]] >= 0.0 and e[i] > 0.0:  # release is faster than compression by 1/e
                step = min(step, e[i] * dt)
            if u[ptr[i]] < -calm and not held[i]:
                nearest = min(nearest, x[i] / u[ptr[i]] if x[i] < 0.0 else 0.0)
        if not loaded:
            if nearest == math.inf:
                return DONE
            if nearest > 0.0:  # nothing happens until a gap closes
                for i in range(m):
                    x[i] = drift(x[i], u[ptr[i]], e[i], held[i], nearest)
        for i in range(m):
            x[i] = drift(x[i], u[ptr[i]], e[i], held[i], 0.5 * step)
            force[i] = K[i] * x[i] ** eta if x[i] > 0.0 else 0.0
        kick(W, ptr, mu, e, force, held, u, p, f, step, tiny)
        for i in range(m):
            if held[i] and u[ptr[i]] > tiny:  # it opens, and what its compression could hold is forgotten
                x[i], held[i] = 0.0, False
            x[i] = drift(x[i], u[ptr[i]], e[i], held[i], 0.5 * step)
    return LIMIT
