"""All motions of a contact problem, in mechanical words.

Solutions of the polyhedral LCP come as points and polyhedra (pr11's are all polyhedra: sticking leaves the sum of the
two friction multiples free, opening the multiplier λ). What moves is what counts: solutions with one velocity are one
motion, whatever their forces; where these can differ the load is indeterminate, as in a table on four legs. The forces
of one motion form a convex set, because the laws are linear in p once the velocities are known. Pieces on which
velocities differ are continua of motions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus
from ..problem.laws import Mode
from ..solvers.lemke import polyhedral_only
from ..status import Status
from ..systems.base import State
from .contact_modes import ContactMode, contact_modes
from .forms import FORCES, IMPULSES, STEP, Form, force_acceleration, impulse_velocity, time_stepping
from .instant import built
from .pieces import ZERO_TOL, Piece, pieces_of, rank

SAME_VELOCITY_TOL = 1e-8  # relative: velocities that differ by less are one motion


class Motion:
    """One way in which a system can go on, or a continuum of them.

    p (nr,): its forces or impulses, of all that it may have those of least 2-norm; `forces` (all rows,): the same
    with friction that only opposes slip; v (nv,): the velocity after, or the acceleration; `contacts`: what each
    contact does. freedom: in how many dimensions the forces can differ with the motion the same (0: they are known),
    and `range` says how far. dimension: 0, or that of a continuum of motions, of which `v` is one and `ends` are some
    of the outermost.
    """

    def __init__(self, form: Form, pieces: Sequence[Piece], rates: FloatArray, sizes: tuple[float, float, float]):
        self.form = form
        self._pieces = tuple(pieces)
        self._rates = rates
        self._size_v, self._size_p, self._size_map = sizes
        self.dimension = rank(rates, self._size_map)
        P = float(np.abs(pieces[0].form.P).max(initial=0.0))
        first = pieces[0].p
        spread = np.vstack([piece.p_basis for piece in pieces] + [[piece.p - first] for piece in pieces[1:]])
        self.freedom = rank(spread, P if len(pieces) == 1 else max(P, self._size_p)) - self.dimension
        if self.dimension or not self.freedom:
            self.p = first
        else:
            self.p = min((piece.least() for piece in pieces), key=lambda p: float(p @ p))
        self.v = _moved(form, first)
        self.forces = form.forces(self.p)

    @cached_property
    def speeds(self) -> FloatArray:
        """(all rows,) the velocity after, or the acceleration, of the rows."""
        return self.form.speeds(self._pieces[0].p)

    @cached_property
    def contacts(self) -> tuple[ContactMode, ...]:
        """What each contact, joint or friction does."""
        load = np.max([np.abs(self.form.forces(piece.p)) for piece in self._pieces], axis=0)
        relative = self.form.relative(self._pieces[0].p)
        return contact_modes(self.form, relative, self.forces, load, ZERO_TOL * self._size_v, ZERO_TOL * self._size_p)

    @property
    def modes(self) -> str:
        """The contacts' modes in a row: o(pen), t(ouching without load), s(tick), + or - or d (slip), b(ilateral)."""
        return "".join(contact.letter for contact in self.contacts)

    @cached_property
    def range(self) -> FloatArray:
        """(all rows, 2) the least and the largest that each force can be; infinite where nothing bounds it."""
        out = np.empty((len(self.forces), 2))
        for i, row in enumerate(self.form.row_map):
            ends = [np.add(piece.range(piece.p_basis @ row), row @ piece.p) for piece in self._pieces]
            out[i] = min(e[0] for e in ends), max(e[1] for e in ends)
        known = self.form.forces(np.zeros(self.form.problem.nr))
        return out + known[:, None]

    @cached_property
    def ends(self) -> FloatArray:
        """(k, nv) of a continuum, the outermost motions along each of its principal directions."""
        if not self.dimension:
            return self.v[None, :]
        piece = self._pieces[0]
        U = np.linalg.svd(self._rates, full_matrices=False)[2][: self.dimension]
        found = []
        for along in np.vstack([U, -U]):
            y = piece.extreme(self._rates @ along)[1]
            if y is not None:
                found.append(_moved(self.form, piece.p + y @ piece.p_basis))
        return np.array(found).reshape(len(found), len(self.v))

    def holds(self, v: Any) -> bool:
        """Whether v (nv,) is this motion, or one of the continuum, to the accuracy at which motions are told apart."""
        v = _check.floats("v", v, self.v.shape)
        tol = SAME_VELOCITY_TOL * self._size_v
        off = v - self.v
        if self.form.problem.nv:
            off = off[self.form.moving]
        if not self.dimension:
            return bool(np.abs(off).max(initial=0.0) <= tol)
        return self._pieces[0].reaches(self._rates, off, tol)

    # --- energy and what happens next

    @property
    def energy(self) -> float | None:
        """The kinetic energy after [J]; None for a force–acceleration problem, and where there are no masses."""
        if self.form.kind == FORCES:
            return None
        if self.form.system is not None and self.form.state is not None:
            return self.form.system.energy(self.form.state.q, self.v).kinetic
        dynamics = self.form.problem.dynamics
        return None if isinstance(dynamics, Delassus) else 0.5 * float(self.v @ dynamics.mass(self.v))

    @property
    def dissipated(self) -> float:
        """What contacts, joints and friction take: energy [J], by ½ (u⁻ + u⁺)·p, or power [W] in a force problem."""
        if self.form.kind == FORCES:
            return 0.0 - float(self.form.slip @ self.forces)
        return 0.0 - 0.5 * float((self.form.slip + self.speeds) @ self.forces)

    @cached_property
    def after(self) -> State | None:
        """The state after the impulses, or after the step; None for forces, which change no velocity at once."""
        form = self.form
        if form.kind == FORCES or form.system is None or form.state is None:
            return None
        if form.kind == IMPULSES:
            return replace(form.state, v=self.v)
        return State(form.state.t + form.h, *form.system.move(form.state.q, self.v, form.h))

    @cached_property
    def next(self) -> Motions | None:
        """All motions of the force–acceleration problem that follows an impulse (pr11 §3.1); None elsewhere."""
        if self.form.kind != IMPULSES or self.after is None:
            return None
        rest = max(1e-9, 10.0 * ZERO_TOL * self._size_v)
        form = force_acceleration(self.form.system, self.after, closed=self.form.closed, rest=rest)
        table = form.problem.friction
        if not table.is_polyhedral():
            form = replace(form, problem=form.problem.polyhedral())
        return all_motions(form)

    @property
    def goes_on(self) -> bool | None:
        """Whether finite forces exist after this impulse; None where that is not known or not asked."""
        if self.next is None or not (self.next.complete or len(self.next)):
            return None
        return len(self.next) > 0

    @property
    def words(self) -> str:
        """The motion in a sentence."""
        what, unit = ("force", "N") if self.form.kind == FORCES else ("impulse", "N s")
        said = []
        for contact, first, last in zip(self.contacts, self.form.row_ptr[:-1], self.form.row_ptr[1:]):
            bears = np.array2string(self.forces[first:last], precision=4, separator=", ", suppress_small=True)
            said.append(contact.words + ("" if contact.mode == Mode.OPEN else f" bearing {bears} {unit}"))
        parts = ["; ".join(said) or "nothing touches"]
        if self.dimension:
            parts.append(f"one of a continuum of {_count(self.dimension, 'dimension')}")
        if self.freedom:
            parts.append(f"its {what}s are free in {_count(self.freedom, 'direction')}")
        if self.energy is not None:
            parts.append(f"kinetic energy {self.energy:.4g} J after, {self.dissipated:.4g} J taken by the contacts")
        if self.goes_on is not None:
            parts.append("finite forces exist after it" if self.goes_on else "no finite force exists after it")
        return ". ".join(parts) + "."

    def __repr__(self) -> str:
        return f"Motion({self.modes!r}, forces={np.array2string(self.forces, precision=4)})"


class Motions(Sequence[Motion]):
    """All motions of a problem; continua are one entry each, and come last.

    Where a continuum ends in a motion with other contact modes (sliding that has come to rest), that motion has its own
    entry, too.

    `complete` is False when the search stopped at its limit or a piece could not be verified: then there may be more.
    `status` is SOLVED, NO_SOLUTION, LIMIT or INACCURATE; `message` says in a sentence what was found.
    """

    @checks_arguments
    def __init__(self, form: Form, motions: Sequence[Motion], status: Status, nodes: int):
        self.form = form
        self._motions = tuple(motions)
        self.status = status
        self.nodes = nodes

    @overload
    def __getitem__(self, i: int) -> Motion: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Motion, ...]: ...
    def __getitem__(self, i: int | slice) -> Motion | tuple[Motion, ...]:
        return self._motions[i]

    def __len__(self) -> int:
        return len(self._motions)

    def __iter__(self) -> Iterator[Motion]:
        return iter(self._motions)

    @property
    def complete(self) -> bool:
        """Whether every motion is here."""
        return self.status in (Status.SOLVED, Status.NO_SOLUTION)

    @property
    def success(self) -> bool:
        """Whether there is a motion, and all are here."""
        return self.status is Status.SOLVED

    @property
    def unique(self) -> bool:
        """Whether there is exactly one motion; its forces may still be indeterminate."""
        return self.success and len(self) == 1 and not self[0].dimension

    def find(self, v: Any) -> Motion | None:
        """The motion with velocity (or acceleration) v (nv,), as a solver may have found it; None if none has it."""
        return next((motion for motion in self if motion.holds(v)), None)

    @property
    def message(self) -> str:
        """What was found, in a sentence."""
        kind = {FORCES: "force", IMPULSES: "impulse", STEP: "step"}.get(self.form.kind, "problem")
        if self.status is Status.NO_SOLUTION:
            if kind == "force":
                return "No finite contact force fits: an impulse without an impact is forced."
            return "There is no solution."
        points = sum(not motion.dimension for motion in self)
        found = [_count(points, "motion")] if points or len(self) == 0 else []
        if points < len(self):
            found.append(f"{len(self) - points} continu{'um' if len(self) - points == 1 else 'a'} of motions")
        free = any(motion.freedom for motion in self)
        end = "; the forces are not determined" if free else ""
        more = "" if self.complete else " found before the limit of the search, there may be more"
        return f"{' and '.join(found)}{more}{end}."

    @property
    def words(self) -> str:
        """Everything in sentences, one motion per line."""
        return "\n".join([f"{self.form.kind}: {self.message}", *(f"  {i + 1}. {m.words}" for i, m in enumerate(self))])

    def __repr__(self) -> str:
        return f"Motions({self.form.kind}, {[motion.modes for motion in self]}, {self.status})"


@checks_arguments
def all_motions(given: Any, state: State | None = None, *, h: float | None = None, limit: int = 100_000) -> Motions:
    """Every motion that a contact problem allows, with the contacts' modes, energies and what happens next.

    given: a `Form`, a `ContactProblem`, or a system (a world) at `state`, by default its initial one: then the impulse–
    velocity problem is meant, or that of a step of length h [s] where h is given. Friction sets must be polyhedra:
    make forms with `directions=`, or problems with `problem.polyhedral(directions)`. limit: the most polyhedra that the
    search looks at; six planar contacts need some thousands.
    """
    if isinstance(given, ContactProblem):
        form = Form.bare(given)
    elif isinstance(given, Form):
        form = given
    else:
        given = built(given, "given")
        form = impulse_velocity(given, state) if h is None else time_stepping(given, state, h)
    problem = form.problem
    reason = polyhedral_only(problem, "all_motions")
    if reason is None and len(problem.friction.varying):
        reason = "all_motions needs coefficients of friction that do not depend on the speed (with_coefficients)."
    if reason is not None:
        raise ModelError(reason)
    if problem.nr == 0:
        return Motions(form, [_free(form)], Status.SOLVED, 0)
    pieces, found = pieces_of(problem, _check.count("limit", limit))
    return Motions(form, _grouped(form, pieces), found.status, found.nodes)


def _free(form: Form) -> Motion:
    lcp = form.problem.to_lcp()
    point = Piece(lcp, np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))
    size = max(float(np.abs(form.problem.v_free).max(initial=0.0)), float(np.abs(form.slip).max(initial=0.0)))
    return Motion(form, [point], np.zeros((0, form.problem.nv)), (size or 1.0, 1.0, 1.0))


def _grouped(form: Form, pieces: list[Piece]) -> list[Motion]:
    """One motion for all pieces of equal velocity, and one for each continuum that is not inside another."""
    if not pieces:
        return []
    problem = form.problem
    bare = isinstance(problem.dynamics, Delassus)

    def velocity(p: FloatArray) -> FloatArray:
        return problem.delassus() @ p if bare else problem.dynamics.velocity_change(p)

    P = pieces[0].form.P
    T = np.array([velocity(column) for column in np.ascontiguousarray(P.T)])  # (n, nv)
    moved = [velocity(piece.p) for piece in pieces]
    rates = [piece.basis @ T for piece in pieces]
    size_map = float(np.abs(T).max(initial=0.0)) or 1.0
    start = problem.q if bare else problem.v_free
    size_v = max(float(np.abs(x).max(initial=0.0)) for x in (start, form.slip, problem.b, *moved)) or 1.0
    size_p = max(float(np.abs(piece.p).max(initial=0.0)) for piece in pieces) or 1.0
    sizes = (size_v, size_p, size_map)
    wide = [i for i in range(len(pieces)) if rank(rates[i], size_map)]
    wide.sort(key=lambda i: -rank(rates[i], size_map))
    continua: list[Motion] = []
    for i in wide:
        motion = Motion(form, [pieces[i]], rates[i], sizes)
        if not any(_within(motion, other) for other in continua):
            continua.append(motion)
    groups: list[list[int]] = []
    tol = SAME_VELOCITY_TOL * size_v
    for i in (i for i in range(len(pieces)) if i not in wide):
        near = next((g for g in groups if np.abs(moved[g[0]] - moved[i]).max(initial=0.0) <= tol), None)
        if near is not None:
            near.append(i)
        else:
            groups.append([i])
    points = [Motion(form, [pieces[i] for i in group], np.zeros((0, T.shape[1])), sizes) for group in groups]
    points = [m for m in points if not any(c.holds(m.v) and c.modes == m.modes for c in continua)]
    points.sort(key=lambda motion: float(motion.p @ motion.p))
    return [*points, *continua]


def _moved(form: Form, p: FloatArray) -> FloatArray:
    """The velocities after, or accelerations; of a problem without masses, those of its rows."""
    return form.motion(p) if form.problem.nv else form.relative(p)


def _count(k: int, thing: str) -> str:
    return f"{k} {thing}" if k == 1 else f"{k} {thing}s"


def _within(inner: Motion, outer: Motion) -> bool:
    """Whether a continuum lies in another: its middle and its ends do."""
    return all(outer.holds(v) for v in (inner.v, *inner.ends))
