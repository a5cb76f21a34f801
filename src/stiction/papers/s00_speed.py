"""s00 §5.1: where the coefficient of friction falls with the speed, sliding is unstable.

"The region where s > 0 and mu'(s) < 0 is very often dynamically unstable. Thus the transition from no slip to large
speeds can happen quickly, giving the impression that there are just two coefficients of friction." The survey prints no
numbers; the scene is ours: a block on a belt, held by a spring and a weak damper (`belt`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..friction import Stribeck
from ..simulation import Simulator
from .belt import Belt, growth_rate
from .experiment import Experiment, Outcome, Quantity, claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAW = Stribeck(0.4, 0.25, speed=0.05)
TWO = Stribeck(0.4, 0.25, speed=0.0)
RISING = Stribeck(0.4, 0.25, speed=0.05, viscous=0.3)
DAMPING = 1.0  # N s/m
SPEED, SLOW = 0.1, 0.005  # m/s
SPEEDS = (0.09, 0.1, 0.11, 0.12, 0.14)  # about which small oscillations are measured
CALM = 0.14  # m/s
STEP, TOL = 0.002, 1e-9
CREEP, FAST = 0.1 * LAW.speed, 2.0 * LAW.speed
NUDGE = 1e-5  # m
Log = list[dict[str, float]]
Path = tuple[FloatArray, FloatArray, FloatArray]  # times, x, x'


@dataclass(frozen=True)
class Findings:
    """What the experiment measured, for its numbers and its figure."""

    spiral: Path  # from the steady point of SPEED into stick–slip
    calm: Path  # back to the steady point of CALM
    pulled: Path  # the end of a stick on the slow belt
    growth: FloatArray  # at SPEEDS
    limit: float  # no stick–slip above this belt speed
    stable: float  # no growth above this one


def belt(speed: float, law: Stribeck = LAW) -> Belt:
    """The block of 1 kg on a spring of 100 N/m, pressed with 9.81 N."""
    return Belt(law, speed, damping=DAMPING)


def _run(log: Log, at: Belt, duration: float, x: float, v: float, h: float = STEP, tol: float = TOL) -> Path:
    run, stretch, velocity = at.run(h, duration, stretch=x, velocity=v, tol=tol)
    log.append(run.certificate.worst)
    return run.times, stretch, velocity


def measured_growth(log: Log, at: Belt) -> float:
    """The growth rate of a small oscillation about steady sliding [1/s], extrapolated from two steps."""
    rates = []
    for h in (4.0 * STEP, 2.0 * STEP):
        t, x, _ = _run(log, at, 2.0, at.steady + NUDGE, 0.0, h, tol=1e-11)
        rates.append(growth_rate(t, x - at.steady))
    return 2.0 * rates[1] - rates[0]


def sticks_again(log: Log, at: Belt, h: float) -> bool:
    """Whether a block that leaves stick catches up with the belt again, within the 0.9 s that a slip can last."""
    _, _, v = _run(log, at, 0.9, at.breakaway, at.speed, h)
    slips = np.flatnonzero(at.speed - v > CREEP)
    return len(slips) > 0 and bool((np.abs(at.speed - v[slips[0] :]) < 1e-6).any())


def limit_speed(sticks: Callable[[float], bool], low: float = 0.3, high: float = 0.5, digits: float = 2e-3) -> float:
    """The belt speed above which `sticks(speed)` is false [m/s], by bisection."""
    while high - low > digits:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sticks(middle) else (low, middle)
    return 0.5 * (low + high)


def solves_per_step(at: Belt, duration: float = 1.0) -> float:
    """How many contact problems a step solves, on average over the steps."""
    simulator = Simulator(at.system(at.breakaway - 0.01, at.speed), STEP, tol=TOL)
    rounds = [simulator.step().solution.rounds for _ in range(round(duration / STEP))]  # type: ignore[union-attr]
    return float(np.mean(rounds))


def crossing_time(times: FloatArray, slip: FloatArray) -> float:
    """How long a slip takes from 0.1 to 2 times the speed of the law [s]: there mu falls from 99 to 2 % of its drop."""
    end = int(np.argmax(slip > FAST))
    begin = int(np.flatnonzero(slip[:end] <= CREEP)[-1])
    reached = np.interp([CREEP, FAST], slip[begin : end + 1], times[begin : end + 1])
    return float(reached[1] - reached[0])


def reproduce() -> Outcome:
    """Measure growth and decay about steady sliding, the end of stick, and where stick–slip ends."""
    from scipy.optimize import brentq

    log: Log = []
    growth = np.array([measured_growth(log, belt(V)) for V in SPEEDS])
    linear = np.array([belt(V).growth for V in SPEEDS])
    rising = belt(SPEED, RISING)
    decay = measured_growth(log, rising)
    at = belt(SPEED)
    spiral = _run(log, at, 5.0, at.steady + 1e-3, 0.0, 2.0 * STEP)
    caught = bool((np.abs(at.speed - spiral[2]) < 1e-6).any())
    calm = _run(log, belt(CALM), 5.0, belt(CALM).steady + 4e-3, 0.0, 2.0 * STEP)
    slow, slow_two = belt(SLOW), belt(SLOW, TWO)
    pulled = _run(log, slow, 0.8, slow.breakaway - 0.1 * SLOW, SLOW)
    crossing = crossing_time(pulled[0], SLOW - pulled[2])
    reference = slow.slip()
    assert reference is not None
    exact_crossing = crossing_time(reference[0], SLOW - reference[2])
    limits = [limit_speed(lambda V, h=h: sticks_again(log, belt(V), h)) for h in (2.0 * STEP, STEP)]  # type: ignore[misc]
    exact_limit = limit_speed(lambda V: belt(V).slip() is not None)
    stable = float(brentq(lambda V: belt(V).growth, 0.06, 0.3))
    quantities = (
        claim("where mu falls, sliding is unstable", growth[1] > 0.0, "V = 0.1 m/s; where a damper does not hold it"),
        claim("the transition can be quick: it seems that there are two coefficients", crossing < 0.1 * slow.period,
              f"it takes {100 * crossing / slow.period:.0f} % of the period at V = 0.005 m/s"),
        Quantity("growth rate where mu falls, V = 0.1 m/s", float(growth[1]), 0.5795, "1/s",
                 reason=f"(-mu' N - c)/(2m) = {linear[1]:.4f}: sliding is unstable", record_tolerance=3e-3),
        Quantity("growth rate where mu rises (viscous), V = 0.1 m/s", decay, -0.8898, "1/s",
                 reason=f"(-mu' N - c)/(2m) = {rising.growth:.4f}: sliding is stable", record_tolerance=3e-3),
        Quantity("largest distance from the linearised growth rate", float(np.abs(growth - linear).max()), 0.0044378,
                 "1/s", reason="over V = 0.09 to 0.14 m/s, two steps extrapolated", record_tolerance=0.05),
        Quantity("a nudged sliding block ends in stick–slip, V = 0.1 m/s", float(caught), 1.0, reason="1 = yes"),
        Quantity("time from creep to fast slip, V = 0.005 m/s", crossing, 0.3575, "s",
                 reason=f"mu falls from 99 to 2 % of its drop; located events: {exact_crossing:.4f}",
                 record_tolerance=3e-3),
        Quantity("share of the period that this takes", crossing / slow.period, 0.0680, "",
                 reason="the rest is stick, creep and fast slip: the impression of two coefficients",
                 record_tolerance=3e-3),
        Quantity("period over that with two coefficients, V = 0.005 m/s", slow.period / slow_two.period, 0.91322, "",
                 reason="both by located events", record_tolerance=1e-4),
        Quantity("belt speed above which stick–slip ends", 2.0 * limits[1] - limits[0], 0.3969, "m/s",
                 reason=f"steps of 4 and 2 ms ({limits[0]:.3f}, {limits[1]:.3f}) extrapolated; located events: "
                        f"{exact_limit:.3f}; between {stable:.3f} (linearised) and this, stick–slip and steady sliding "
                        "both last", record_tolerance=1e-2),
        Quantity("solves per step", solves_per_step(at), 1.39, "", reason="over a slip and a stick",
                 record_tolerance=0.02),
    )  # fmt: skip
    certificate = {name: max(worst[name] for worst in log) for name in log[0]}
    findings = Findings(spiral, calm, pulled, growth, 2.0 * limits[1] - limits[0], stable)
    return Outcome(quantities, certificate, lambda: _figures(findings))


def _figures(findings: Findings) -> dict[str, Figure]:
    from .figures.belt import draw_belt

    return {"s00-stribeck": draw_belt(findings)}


EXPERIMENT = Experiment(
    "s00-stribeck", "Stewart, survey (§5.1)", "Falling friction: unstable sliding and stick–slip on a belt", reproduce
)
