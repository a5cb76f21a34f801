"""Statics of a structure: whether forces at its contacts can carry the loads, with how much friction, and how tilted.

At rest the contact forces balance the loads, `Hᵀp + w = 0` with p in the friction cones `p_n >= 0, p_t in mu p_n F`
(the safe theorem of limit analysis: a structure can stand where such forces exist). They are sought among the contacts
that touch, all at once: in the plane by a linear program (HiGHS), in space by a conic one with the true cones
(Clarabel). What a search by friction or by load finds is the end of an interval, since the cones grow with mu, and
loads that can be borne form a convex set:

    least friction     min mu such that forces exist, by bisection
    margin             the largest a for which forces balance w + a g M d, for the worst horizontal direction d

Contacts are rigid here, whatever their compliance: equilibrium does not ask how stiff they are. With friction of
Coulomb, forces that could hold do not say that these come about: a structure that stands by statics can fall from
another start, and one that has no such forces falls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..friction.table import FrictionTable
from ..problem.laws import EQUALITY, UNILATERAL
from ..systems.base import State
from .cones import Best, Cones, ForceRows
from .instant import built

FRICTION_TOL = 1e-8  # of the least coefficient, relative where that is above 1
MARGIN_DIRECTIONS = 16  # horizontal, in space
MARGIN_MOST = 1e6  # g: more counts as any


@dataclass(frozen=True)
class Statics:
    """What statics says of a structure at a state: see `statics`, which makes it.

    names (nk,) of the joints and contacts that touch; row_ptr (nk+1,) their rows in `forces`.
    """

    names: tuple[str, ...]
    row_ptr: IntArray
    most: float
    _rows: ForceRows = field(repr=False)
    _load: FloatArray = field(repr=False)
    _mass: FloatArray = field(repr=False)
    _up: FloatArray = field(repr=False)
    _unit: float = field(repr=False)

    @property
    def contacts(self) -> int:
        """Number of contacts that touch."""
        return int((self._rows.law == UNILATERAL).sum())

    @property
    def stands(self) -> bool:
        """Whether forces of the contacts balance the loads, at the friction that these have."""
        return self._balanced.found

    @property
    def forces(self) -> FloatArray | None:
        """(nr,) forces [N] that balance the loads, one choice of many; None where there are none."""
        return self._balanced.p * self._unit if self._balanced.found else None

    @cached_property
    def residual(self) -> float:
        """By how much `forces` miss the balance: the largest of `Hᵀp + w` over the largest load; infinite without."""
        if not self._balanced.found:
            return math.inf
        return float(np.abs(self._rows.H.T @ self._balanced.p + self._load).max(initial=0.0))

    @cached_property
    def least_friction(self) -> float:
        """The least coefficient, common to all contacts with friction, at which forces balance the loads.

        To 1e-8; infinite where none up to `most` is enough. Frictionless contacts stay so.
        """
        rubs = self._rows.friction.dims[self._rows.friction.set_of] > 0

        def balanced(mu: float) -> bool:
            return self._solve(np.where(rubs, mu, self._rows.friction.mu)).found

        low, high = 0.0, self.most
        if not balanced(high):
            return math.inf
        if balanced(0.0):
            return 0.0
        while high - low > FRICTION_TOL * max(1.0, high):
            middle = math.sqrt(low * high) if low > 0.0 and high > 4.0 * low else 0.5 * (low + high)
            low, high = (low, middle) if balanced(middle) else (middle, high)
        return high

    @cached_property
    def margin(self) -> float:
        """The largest horizontal acceleration, in g, that equilibrium still bears in every direction; tan of a tilt.

        Negative infinity where it bears none. In the plane exact; in space the least over 16 directions, and not less
        than 0.98 of that in any other, as the accelerations that are borne are a convex set.
        """
        return float(self._reach.min(initial=math.inf)) if self.stands else -math.inf

    @cached_property
    def _reach(self) -> FloatArray:
        if not self._up.any():
            raise ModelError("the margin is a share of gravity, and this world has none.")
        return np.array([self._push(d) for d in _horizontal(self._up)])

    def _push(self, direction: FloatArray) -> float:
        """The largest a for which forces balance the loads and a g M d."""
        step = len(self._up)
        dof = 3 if step == 2 else 6
        push = np.zeros((len(self._mass), dof))
        push[:, :step] = self._mass[:, None] * direction
        found = self._solve(self._rows.friction.mu, push.ravel()[self._moving] * self._weight)
        return found.value if found.found else -math.inf

    @cached_property
    def _moving(self) -> np.ndarray:
        dof = 3 if len(self._up) == 2 else 6
        return np.repeat(self._mass > 0.0, dof)

    @property
    def _weight(self) -> float:
        return float(np.linalg.norm(self._up)) / self._unit

    @cached_property
    def _balanced(self) -> Best:
        return self._solve(self._rows.friction.mu)

    def _solve(self, mu: FloatArray, push: FloatArray | None = None) -> Best:
        """Forces that balance the loads, and with a push the largest factor of it (`value`) that they bear too."""
        if not len(self._load):
            return Best(np.zeros(self._rows.nr), math.inf, True)
        if not self._rows.nr:
            return Best(np.zeros(0), 0.0, not self._load.any())
        if len(self._up) == 2:
            return _by_lines(self._rows, mu, self._load, push)
        return _by_cones(self._rows, mu, self._load, push)


@checks_arguments
def statics(system: Any, state: State | None = None, *, closed: float = 1e-6, most: float = 10.0) -> Statics:
    """What statics says of a world at rest: whether it can stand, with which friction, and how far tilted.

    state: by default the initial one; its velocities do not count. Contacts with a gap of up to `closed` [m] act;
    forces of motors and of dry friction in joints are not counted on. most: the largest coefficient of friction that
    is looked at. In a result, `stands`, `forces`, `least_friction` and `margin` are computed when they are asked for.
    """
    model: Any = built(system)
    closed = _check.number("closed", closed, low=0.0)
    most = _check.number("most", most, positive=True)
    if not hasattr(model, "mass_of"):
        raise ModelError(f"system must be a World or a PlanarWorld; got {type(model).__name__}.")
    state = model.initial_state() if state is None else state
    q = _check.floats("state.q", state.q, (model.nq,))
    rest = replace(state, q=q, v=np.zeros(model.nv))
    found = model.detect(rest.t, q, closed)
    near = ~found.contact | (model.gaps(found, rest.t, q) <= closed)
    found = found if near.all() else found.take(near)
    constraints = model.evaluate(found, rest.t, q)
    mass = np.where(model.moves, model.mass_of, 0.0)
    moving = np.repeat(mass > 0.0, model.dof)
    load = model.forces(rest.t, q, rest.v)[moving]
    unit = float(np.abs(load).max(initial=0.0)) or 1.0
    rows = ForceRows(found.row_ptr, found.law, found.friction, model.dynamics(q, constraints).matrix[:, moving])
    names = tuple(model.constraint_name(int(key)) for key in found.key)
    return Statics(names, found.row_ptr, most, rows, load / unit, mass, model.gravity.copy(), unit)


def _horizontal(gravity: FloatArray) -> FloatArray:
    """Unit vectors (n, dim) across gravity: two in the plane, `MARGIN_DIRECTIONS` in space."""
    up = -gravity / np.linalg.norm(gravity)
    if len(up) == 2:
        across = np.array([up[1], -up[0]])
        return np.array([across, -across])
    first = np.eye(3)[int(np.argmin(np.abs(up)))]
    first = first - (first @ up) * up
    first /= np.linalg.norm(first)
    angle = 2.0 * np.pi / MARGIN_DIRECTIONS * np.arange(MARGIN_DIRECTIONS)
    return np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * np.cross(up, first)


def _by_cones(rows: ForceRows, mu: FloatArray, load: FloatArray, push: FloatArray | None) -> Best:
    """In space: a conic program over forces, and as one more unknown the factor of the push."""
    from scipy.sparse import csr_matrix, hstack

    if push is None:
        return Cones(rows, mu).least(np.zeros(rows.nr), rows.H.T, -load)
    more = replace(
        rows,
        row_ptr=np.append(rows.row_ptr, rows.nr + 1),
        law=np.append(rows.law, EQUALITY),
        friction=rows.friction.take(np.append(np.arange(rows.nk), 0)),
    )
    best = Cones(more, np.append(mu, 0.0)).least(
        np.append(np.zeros(rows.nr), -1.0), hstack([rows.H.T, csr_matrix(push[:, None])]), -load
    )
    return Best(best.p[:-1], math.inf if best.unbounded else -best.value, best.found, best.unbounded)


def _by_lines(rows: ForceRows, mu: FloatArray, load: FloatArray, push: FloatArray | None) -> Best:
    """In the plane: a linear program, as a friction set of one dimension is an interval."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix, csr_matrix, hstack

    first = rows.row_ptr[:-1]
    contact = rows.law == UNILATERAL
    low, top = np.full(rows.nr + 1, -np.inf), np.full(rows.nr + 1, np.inf)
    low[first[contact]] = 0.0
    idle = np.repeat(~contact & (rows.law != EQUALITY), np.diff(rows.row_ptr))
    low[:-1][idle] = top[:-1][idle] = 0.0
    ends = np.array([_interval(rows.friction, s) for s in range(len(rows.friction.sets))]).reshape(-1, 2)
    rubs = np.flatnonzero(contact & (np.diff(rows.row_ptr) > 1))
    n, k = len(rubs), np.arange(len(rubs))
    reach = ends[rows.friction.set_of[rubs]] * mu[rubs, None]
    # p_t - mu p_n top <= 0 and mu p_n low - p_t <= 0
    entries = np.concatenate([np.ones(n), -reach[:, 1], -np.ones(n), reach[:, 0]])
    i = np.concatenate([k, k, n + k, n + k])
    j = np.concatenate([first[rubs] + 1, first[rubs], first[rubs] + 1, first[rubs]])
    A = coo_matrix((entries, (i, j)), shape=(2 * n, rows.nr + 1)).tocsr()
    pushed = np.zeros(len(load)) if push is None else push
    if push is None:
        low[-1] = top[-1] = 0.0
    else:
        top[-1] = MARGIN_MOST
    balance = hstack([rows.H.T, csr_matrix(pushed[:, None])]).tocsr()
    cost = np.append(np.zeros(rows.nr), 0.0 if push is None else -1.0)
    answer = linprog(
        cost, A if n else None, np.zeros(2 * n) if n else None, balance, -load,
        bounds=np.column_stack([low, top]), method="highs",
    )  # fmt: skip
    if answer.x is None or answer.status != 0:
        return Best(np.zeros(rows.nr), -math.inf, False)
    far = float(answer.x[-1])
    return Best(answer.x[:-1], math.inf if far >= MARGIN_MOST else far, True)


def _interval(friction: FrictionTable, s: int) -> tuple[float, float]:
    """The least and the largest friction of unit set s in the plane."""
    if friction.dims[s] == 0:
        return 0.0, 0.0
    corners = friction.vertices[friction.vertex_ptr[s] : friction.vertex_ptr[s + 1], 0]
    if len(corners):
        return float(corners.min()), float(corners.max())
    return -float(friction.semi[s, 0]), float(friction.semi[s, 0])
