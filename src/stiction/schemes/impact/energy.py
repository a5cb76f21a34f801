"""Impacts that add energy: found, refused, or given a smaller coefficient of restitution.

The work of an impact at fixed configuration is ½ p·(u⁻ + u⁺), summed over the contacts that act on each other, with
velocities relative to obstacles: a bat that moves adds energy to a ball, but not to the impact. Newton's law demands
velocities and does not ask for their work, which friction or several contacts can make positive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.contact_problem import ContactProblem
from ...problem.laws import UNILATERAL
from ...status import Status
from ..base import Gain
from .law import Impulses

GAIN_NOISE_SHARE = 1e-7  # a gain, relative to the work done both ways, that is none: springs keep energy to 1e-8
FACTOR_TOL = 1e-9  # of the factor on the coefficients, when it is sought
GAINS = ("allow", "refuse", "cap")


def work(problem: ContactProblem, p: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(nk,) the work of each contact's impulses p [J] from v_free to v, and the size of what adds up to it."""
    mean = problem.q + problem.dynamics.velocity_rows(v) + problem.b
    contact = problem.law == UNILATERAL
    starts = problem.row_ptr[:-1]
    done, size = (np.where(contact, np.add.reduceat(0.5 * w, starts), 0.0) for w in (p * mean, np.abs(p * mean)))
    return done, size


def limited(
    resolve: Callable[[FloatArray], Impulses], problem: ContactProblem, gains: str, tol: float
) -> tuple[FloatArray, Impulses, tuple[Gain, ...]]:
    """An impact by `resolve`, a function of factors (nk,) on the coefficients, and what becomes of islands that gain.

    Returns the factors, the impulses, and the gains; the tolerance of solves is no gain. "cap" seeks the largest
    factor for each island with which it does not gain; with none of its restitution an impact always loses.
    """
    label = problem.islands()
    factor = np.ones(problem.nk)
    hit = resolve(factor)
    over = _over(problem, hit, label, GAIN_NOISE_SHARE + 10.0 * tol)
    if not over.any() or not hit.taken:
        return factor, hit, ()
    done = work(problem, hit.p, hit.v)[0]
    energy = np.bincount(label, weights=done)
    pressed = np.where(problem.law == UNILATERAL, hit.p[problem.row_ptr[:-1]], -np.inf)
    most = [int(np.argmax(np.where(label == island, pressed, -np.inf))) for island in range(len(over))]
    found = tuple(Gain(int(problem.key[most[i]]), float(energy[i]), gains == "cap") for i in np.flatnonzero(over))
    if gains == "refuse":
        total = sum(g.energy for g in found)
        message = f"an impact would add {total:.3g} J; Poisson's or Stronge's law at one contact never does."
        return factor, Impulses(hit.p, hit.v, hit.solves, Status.GAIN, message), found
    if gains == "cap":
        low, high = np.where(over, 0.0, 1.0), np.ones(len(over))
        while (high - low).max() > FACTOR_TOL:
            middle = 0.5 * (low + high)
            above = _over(problem, resolve(middle[label]), label, 1e-12)
            high, low = np.where(above, middle, high), np.where(above, low, middle)
        factor = low[label]
        hit = resolve(factor)
    return factor, hit, found


def _over(problem: ContactProblem, hit: Impulses, label: IntArray, small: float) -> np.ndarray:
    """(islands,) whether each gains more than `small` of what its impulses do."""
    done, size = (np.bincount(label, weights=w) for w in work(problem, hit.p, hit.v))
    return np.asarray(done > small * size)
