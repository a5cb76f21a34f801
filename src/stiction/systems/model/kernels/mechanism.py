"""What the rows of joints, limits, motors and springs demand of a step, as one compiled loop.

A row has the value φ at the start of the step, linearised where the scheme takes its rows, and the speed w before it.
With u the speed after the step and p its impulse, the demand is `u + b + C p`, and

    HOLD, STOP   φ + h u + c p/h = 0 (or >= 0)                     c the compliance: λ = p/h gives way by c λ
    SPRING       p/h = -k (φ + h (α u - β w)) - d u                α and β by `spring_weights`
    SPEED        u = target                                        within |p| <= h bound
    POSITION     u = (target - φ - h u)/time                       within |p| <= h bound
    RUB          u = 0                                             dry friction within h bound
"""

from __future__ import annotations

from ....runtime.jit import njit

HOLD, STOP, SPRING, SPEED, POSITION, RUB = 0, 1, 2, 3, 4, 5


@njit(inline=True)
def spring_weights(s):
    """α and β of a spring with s = (hω)², ω the frequency of the free bodies on it.

    Up to s = 1, where a step resolves the oscillation, 1/4 and 1/4: the trapezoidal rule, which keeps the energy. It
    would let stiffer springs ring for ever; beyond, α goes to 1 and β to 0, which is implicit Euler and damps. A free
    oscillator loses energy by the factor (1 + βs)/(1 + αs) in each step and is stable, as α + β >= 1/2.
    """
    if s <= 1.0:
        return 0.25, 0.25
    return 1.0 - 0.75 / s, 0.25 / s


@njit(leaf=True)
def demands(h, stabilize, joints, start, speed, light, b, C, lo, hi):
    """b, C, lo, hi of the rows; start (n,) is φ/h, speed (n,) is w, light (n,) the inverse inertia that a row sees.

    joints: `JointDemands`. Without `stabilize` nothing is pulled back.
    """
    mode, soft, damping, bound, target = joints
    for r in range(len(mode)):
        m = mode[r]
        if m in (HOLD, STOP):
            keep = stabilize or soft[r] > 0.0 or (m == STOP and start[r] > 0.0)
            b[r] = start[r] if keep else 0.0
            C[r] = soft[r] / (h * h)
        elif m == SPRING:
            alpha, beta = spring_weights(h * h * soft[r] * light[r])
            k = h * soft[r]
            e = alpha * k + damping[r]
            b[r] = k * (start[r] - beta * speed[r]) / e
            C[r] = 1.0 / (h * e)
        elif m == RUB:
            b[r] = 0.0
        else:
            b[r] = -target[r] if m == SPEED else (h * start[r] - target[r]) / (h + soft[r])
            lo[r], hi[r] = -h * bound[r], h * bound[r]


@njit(leaf=True)
def violation(value, mode, soft):
    """The largest violation of a rigid row: of a joint either way, of a limit when it is passed."""
    most = 0.0
    for r in range(len(mode)):
        if soft[r] > 0.0:
            continue
        if mode[r] == HOLD:
            most = max(most, abs(value[r]))
        elif mode[r] == STOP:
            most = max(most, -value[r])
    return most
