"""How much friction a machine takes: two different bounds of the coefficient, at one state or over many.

The first is the bound of existence and uniqueness, ttp01's µ̄: below it the forces and accelerations at a state exist
and are the only ones. ttp01 theorem 1 says that there is one and that estimates of it are "very conservative"; here
the actual value is found by bisection over `uniqueness`, beside such an estimate. The second is the bound at which the
friction cone stops being pointed (s00 H5): above it contacts can press against each other without any load, however
hard, so that the parts can jam or wedge. Neither bound implies the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from ..problem.laws import UNILATERAL
from ..simulation.trajectory import Trajectory
from ..status import Status
from ..systems.base import Candidates, State
from .cones import Best, Cones
from .forms import Form, force_acceleration, impulse_velocity
from .instant import built
from .uniqueness import uniqueness

GRID_POINTS = 12  # coefficients tried before bisection, so that a window of trouble is not stepped over


@dataclass(frozen=True)
class FrictionBound:
    """The coefficient up to which forces and accelerations exist and are unique, for the loads of this state.

    value: µ̄, infinite where nothing happens up to `searched`; above: what happens beyond it ("no solution", "several
    motions", "not decided", or "" for nothing); estimate: a bound of the kind of ttp01 theorem 1 (A), which holds for
    all loads, or None where it does not apply because the rows of the contacts are dependent.
    """

    value: float
    above: str
    estimate: float | None
    searched: float
    status: Status
    message: str

    @property
    def success(self) -> bool:
        """True when the bound was found, or nothing happens up to `searched`."""
        return self.status.success


@dataclass(frozen=True)
class JammingBound:
    """The coefficient at which the friction cone stops being pointed (s00 H5).

    value: infinite where no coefficient up to `searched` does it; forces (nr,): in the rows of the problem, at the
    bound, of sum 1 over the normals, with which the contacts press against each other without a load; contact: the
    name of the only one whose coefficient was changed, or None for all at once.
    """

    value: float
    forces: FloatArray | None
    contact: str | None
    searched: float
    status: Status
    message: str

    @property
    def success(self) -> bool:
        """True when the bound was found, or is above what was searched."""
        return self.status.success


class Rubbed:
    """A system with other coefficients of friction: one for all contacts, or for the one with a given key."""

    def __init__(self, system: Any, mu: float, key: int | None = None):
        self._system, self._mu, self._key = built(system), _check.number("mu", mu, low=0.0), key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def detect(self, t: float, q: FloatArray, band: float) -> Candidates:
        """The contacts of the system, with the other coefficients."""
        found = self._system.detect(t, q, band)
        table = found.friction
        rubs = (found.law == UNILATERAL) & (table.dims[table.set_of] > 0)
        mine = rubs if self._key is None else rubs & (found.key == self._key)
        return replace(found, friction=table._replace(mu=np.where(mine, self._mu, table.mu), fixed=True))


@checks_arguments
def friction_bound(
    system: Any,
    state: State | None = None,
    *,
    contact: str | None = None,
    most: float = 10.0,
    tol: float = 1e-9,
    time_limit: float = 600.0,
    **form: Any,
) -> FrictionBound:
    """µ̄ of existence and uniqueness at a state (ttp01 theorem 1), the actual value for its loads, to `tol` relative.

    The force–acceleration problem is decided for coefficients up to `most`, common to all contacts or of the one named
    `contact`, and the first change from one motion to none or several is found by bisection. A window of trouble that
    is narrower than a twelfth of the range can be stepped over. time_limit [s] is for all decisions together.
    `form`: closed=, rest=, directions= of `force_acceleration`.
    """
    system = built(system)
    key = None if contact is None else _key(force_acceleration(system, state, **form), contact)

    def problem(mu: float) -> ContactProblem:
        return force_acceleration(Rubbed(system, mu, key), state, **form).problem

    found = bound_of(problem, most=most, tol=tol, time_limit=time_limit)
    return replace(found, estimate=theorem_bound(impulse_velocity(system, state, **_closed(form)).problem))


@checks_arguments
def bound_of(
    problem: Callable[[float], ContactProblem], *, most: float = 10.0, tol: float = 1e-9, time_limit: float = 600.0
) -> FrictionBound:
    """The same for any family of problems, given as a function of the coefficient."""
    most = _check.number("most", most, positive=True)
    deadline = time.monotonic() + _check.number("time_limit", time_limit, positive=True)
    low, high, above = 0.0, np.inf, ""
    first = _trouble(problem(0.0), deadline)
    if first:
        return FrictionBound(0.0, first, None, most, Status.SOLVED, f"Already without friction: {first}.")
    for mu in most * np.linspace(0.0, 1.0, GRID_POINTS + 1)[1:] ** 2:  # finer where coefficients usually are
        above = _trouble(problem(mu), deadline)
        if above:
            high = float(mu)
            break
        low = float(mu)
    if not above:
        message = f"One motion for every coefficient that was tried, up to {most:g}."
        return FrictionBound(np.inf, "", None, most, Status.SOLVED, message)
    while high - low > tol * max(high, 1e-3):
        mu = 0.5 * (low + high)
        word = _trouble(problem(mu), deadline)
        if word:
            high, above = mu, word
        else:
            low = mu
    status = Status.LIMIT if above == "not decided" else Status.SOLVED
    return FrictionBound(low, above, None, most, status, f"One motion up to µ = {low:.6g}; above: {above}.")


def _trouble(problem: ContactProblem, deadline: float) -> str:
    """What keeps the problem from having one motion: nothing (""), or a word for it."""
    answer = uniqueness(problem, time_limit=max(deadline - time.monotonic(), 0.01))
    if answer.status is Status.NO_SOLUTION:
        return "no solution"
    return {True: "", False: "several motions", None: "not decided"}[answer.unique]


@checks_arguments
def theorem_bound(problem: ContactProblem) -> float | None:
    """A coefficient below which forces and accelerations exist and are unique for all loads; None if rows depend.

    Two solutions that differ by Δc, with Δa = A Δc, have `Δcᵀ A Δc <= µ Σ |Δc_n| |Δa_t|`, the friction of sliding
    contacts being µ c_n against the slip and that of others dissipating most (ttp01 §2 (i)–(iv)). With A = J M⁻¹ Jᵀ
    positive definite that is impossible below `1 / Σ √((A⁻¹)_nn λ_max(A_tt))`, tangent rows in units of their set.
    """
    W = problem.delassus()
    if not len(W):
        return np.inf
    joints = np.repeat(problem.law != UNILATERAL, np.diff(problem.row_ptr))
    if joints.any():  # what joints hold does not count as freedom
        J = W[np.ix_(joints, joints)]
        W = (W - W[:, joints] @ np.linalg.pinv(J) @ W[joints])[np.ix_(~joints, ~joints)]
    value = np.linalg.eigvalsh(0.5 * (W + W.T))
    if len(value) and value[0] <= 1e-10 * value[-1]:
        return None
    inverse, total, at = np.linalg.inv(W), 0.0, 0
    for k in np.flatnonzero(problem.law == UNILATERAL).tolist():
        dim = int(problem.row_ptr[k + 1] - problem.row_ptr[k]) - 1
        if dim:
            rows = slice(at + 1, at + 1 + dim)
            total += np.sqrt(inverse[at, at] * _largest(problem, k, W[rows, rows]))
        at += dim + 1
    return float(1.0 / total) if total else np.inf


def _largest(problem: ContactProblem, k: int, A: FloatArray) -> float:
    """The largest support of block k's unit friction set over velocities of unit kinetic energy, squared; a bound."""
    f = problem.friction
    s, dim = int(f.set_of[k]), len(A)
    if f.semi[s, :dim].any():
        axes = f.semi[s, :dim] * (np.sqrt(dim) if f.kind[s] & 3 == 3 else 1.0)  # a product fits in this ellipsoid
        return float(np.linalg.eigvalsh(A * np.outer(axes, axes))[-1])
    corners = f.vertices[f.vertex_ptr[s] : f.vertex_ptr[s + 1], :dim]
    return float(np.einsum("ki,ij,kj->k", corners, A, corners).max(initial=0.0))


@checks_arguments
def pointed(problem: ContactProblem) -> tuple[bool, float]:
    """Whether the friction cone is pointed (s00 H5), and by how much of the normal forces friction would have to grow.

    Not pointed: there are contact forces, not all zero, that balance each other. The margin is negative then.
    """
    best = _squeeze(problem, problem.friction.mu)
    return best > 0.0, best


@checks_arguments
def jamming_bound(
    system: Any, state: State | None = None, *, contact: str | None = None, most: float = 100.0, **form: Any
) -> JammingBound:
    """The coefficient at which the friction cone of a system at a state stops being pointed (s00 H5), up to `most`.

    It is common to all contacts that touch, or that of the one named `contact`, the others keeping theirs. system: or
    a `ContactProblem`, whose blocks have the names "0", "1", ... `form`: closed=, directions= of `impulse_velocity`.
    """
    if isinstance(system, ContactProblem):
        problem, names = system, tuple(str(k) for k in range(system.nk))
    else:
        posed = impulse_velocity(system, state, **form)
        problem, names = posed.problem, _names(posed)
    if contact is not None and contact not in names:
        raise ModelError(f"there is no contact {contact!r} that touches; there are {list(names)}.")
    f = problem.friction
    mine = f.dims[f.set_of] > 0
    if contact is not None:
        mine = mine & (np.array(names) == contact)

    def margin(mu: float) -> float:
        return _squeeze(problem, np.where(mine, mu, f.mu))

    low, high = 0.0, float(_check.number("most", most, positive=True))
    if not margin(high) <= 0.0:
        message = f"The friction cone is pointed for every coefficient up to {high:g}: contacts cannot jam."
        return JammingBound(np.inf, None, contact, high, Status.SOLVED, message)
    if margin(0.0) <= 0.0:
        high = 0.0
    while high - low > 1e-10 * max(1.0, high):
        mu = 0.5 * (low + high)
        if margin(mu) <= 0.0:
            high = mu
        else:
            low = mu
    forces = _squeezing(problem, np.where(mine, high, f.mu)).p
    message = f"Contacts can press against each other without a load from µ = {high:.6g} on."
    return JammingBound(high, forces, contact, most, Status.SOLVED, message)


def _squeezing(problem: ContactProblem, mu: FloatArray) -> Best:
    """The forces of unit sum over the normals that balance each other with least excess of friction."""
    form = problem if hasattr(problem.dynamics, "H") else problem.to_dense()
    H = form.dynamics.H  # type: ignore[union-attr]
    size = np.abs(H).max(axis=0, initial=0.0)
    rows = (H[:, size > 0.0] / size[size > 0.0]).T
    contacts = problem.law == UNILATERAL
    best = Best(np.zeros(problem.nr), np.inf, False)
    while contacts.any():
        cones = Cones(problem, mu, contacts)
        total = np.zeros((1, problem.nr))
        total[0, cones.normal] = 1.0
        found = cones.excess(np.vstack([rows, total]), np.append(np.zeros(len(rows)), 1.0))
        if not found.found or found.value >= best.value:
            break
        best = found
        # Contacts without a load hold the excess at zero: whether it is negative without them decides.
        loaded = np.zeros(problem.nk, dtype=bool)
        loaded[contacts] = found.p[problem.row_ptr[:-1][contacts]] > 1e-5
        if not 0.0 < found.value < 1e-3 or loaded[contacts].all():
            break
        contacts = loaded
    return best


def _squeeze(problem: ContactProblem, mu: FloatArray) -> float:
    best = _squeezing(problem, mu)
    return float(best.value) if best.found else np.inf


@checks_arguments
def scan(
    make: Callable[[float], tuple[Any, State | None] | Any],
    values: Iterable[float],
    *,
    most: float = 10.0,
    tol: float = 1e-9,
    **form: Any,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Both bounds over a range of configurations: values (n,), µ̄ (n,) and the jamming bound (n,); infinite above most.

    make: a function of each value that gives a system, or a system and a state; `along` gives those of a trajectory.
    """
    values = np.array(list(values), dtype=float)
    mu, jam = np.empty(len(values)), np.empty(len(values))
    for i, x in enumerate(values):
        made = make(float(x))
        system, state = made if isinstance(made, tuple) else (made, None)
        mu[i] = friction_bound(system, state, most=most, tol=tol, **form).value
        jam[i] = jamming_bound(system, state, most=most, **_closed(form)).value
    return values, mu, jam


@checks_arguments
def along(system: Any, run: Any) -> Callable[[float], tuple[Any, State]]:
    """For `scan`: the states of a trajectory by their times [s], the nearest one that was recorded."""
    if not isinstance(run, Trajectory):
        raise ModelError(f"run must be a Trajectory; got {_check.describe(run)}.")
    system, times = built(system), np.asarray(run.times)

    def at(t: float) -> tuple[Any, State]:
        i = int(np.abs(times - t).argmin())
        return system, State(float(times[i]), run.q[i].copy(), run.v[i].copy())

    return at


def _names(form: Form) -> tuple[str, ...]:
    """The names of the blocks that the problem of a form kept."""
    by_key = dict(zip(form.key.tolist(), form.names))
    return tuple(by_key[key] for key in form.problem.key.tolist())


def _key(form: Form, contact: str) -> int:
    if contact not in form.names:
        raise ModelError(f"there is no contact {contact!r} that touches; there are {list(form.names)}.")
    return int(form.key[form.names.index(contact)])


def _closed(form: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in form.items() if name in ("closed", "directions")}
