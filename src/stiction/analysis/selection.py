"""Which of several motions: rules of selection, solvers that follow them, and which one a step has followed.

The laws of rigid contact do not choose. "least impulse": the smallest forces or impulses (2-norm). "continuity": the
fewest contacts change what they do (open, slide or rest), and among those the least change of velocity in the norm of
kinetic energy. "painleve": bodies that would not press on each other if they were smooth do not act on each other
if they are rough (pr11 §6). "least energy": the least kinetic energy after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..problem.contact_problem import ContactProblem
from ..problem.dynamics import Delassus, Dense
from ..problem.laws import UNILATERAL, Mode
from ..solvers import make_solver, solve
from ..solvers.base import Solution, Solver, finish, nothing_to_solve
from ..solvers.enumeration import Enumeration
from ..status import Status
from ..systems.base import State
from .forms import FORCES, time_stepping
from .motions import Motion, Motions, all_motions

RULES = ("least impulse", "continuity", "painleve", "least energy")
TIE_TOL = 1e-9  # relative: motions that a rule judges so nearly the same are both followed by it


@checks_arguments
def select(motions: Motions, rule: str) -> tuple[Motion, ...]:
    """The motions that a rule leaves, one as a rule; none where the rule excludes all ("painleve") or has no meaning.

    "least energy" has no meaning for forces, which change no velocity at once.
    """
    _check.choice("rule", rule, RULES)
    if rule == "painleve":
        return _painleve(motions)
    measure = {"least impulse": _size, "continuity": _change, "least energy": _energy}[rule]
    scores = [measure(motion) for motion in motions]
    if not scores or any(score is None for score in scores):
        return ()
    least = min(score for score in scores if score is not None)
    near = tuple(x + TIE_TOL * (abs(x) + 1e-300) for x in least)
    return tuple(motion for motion, score in zip(motions, scores) if score is not None and score <= near)


@checks_arguments
def rules_of(motions: Motions, motion: Motion) -> tuple[str, ...]:
    """The rules that leave this motion and no other."""
    return tuple(rule for rule in RULES if select(motions, rule) == (motion,))


def _size(motion: Motion) -> tuple[float, ...] | None:
    return (float(motion.forces @ motion.forces),)


def _energy(motion: Motion) -> tuple[float, ...] | None:
    return None if motion.energy is None else (motion.energy,)


def _change(motion: Motion) -> tuple[float, ...] | None:
    changes = float(sum(contact.changes for contact in motion.contacts))
    problem = motion.form.problem
    if motion.form.kind == FORCES or isinstance(problem.dynamics, Delassus):
        return changes, float(motion.forces @ motion.forces)
    if motion.form.state is not None:
        start = motion.form.state.v
    else:
        start = problem.v_free if problem.v_start is None else problem.v_start
    jump = (motion.v - start)[motion.form.moving]
    return changes, float(jump @ problem.dynamics.mass(jump))


def _painleve(motions: Motions) -> tuple[Motion, ...]:
    """Those in which every contact that bears a load would bear one without friction; of several, the least impulse."""
    pressed = smooth_loads(motions.form.problem)
    keys = dict(zip(motions.form.problem.key.tolist(), pressed.tolist()))
    loaded = (Mode.STICK, Mode.SLIP)
    left = [
        motion
        for motion in motions
        if all(
            keys.get(int(key), True)
            for key, law, contact in zip(motions.form.key, motions.form.law, motion.contacts)
            if law == UNILATERAL and contact.mode in loaded
        )
    ]
    if len(left) < 2:
        return tuple(left)
    return select(Motions(motions.form, left, motions.status, motions.nodes), "least impulse")


def smooth_loads(problem: ContactProblem) -> np.ndarray:
    """(nk,) which contacts could bear a load if no contact had friction; True for other blocks."""
    smooth = without_friction(problem)
    out = np.ones(problem.nk, dtype=bool)
    motions = all_motions(smooth)
    normal = smooth.row_ptr[:-1]
    if not len(motions):
        return out
    most = np.max([motion.range[normal, 1] for motion in motions], axis=0)
    size = max(float(np.abs(motion.p).max(initial=0.0)) for motion in motions)
    contact = problem.law == UNILATERAL
    out[contact] = most[contact] > 1e-9 * size
    return out


def without_friction(problem: ContactProblem) -> ContactProblem:
    """The problem of the same bodies with smooth contacts; what acts along other directions acts along its row."""
    sizes = np.where(problem.law == UNILATERAL, 1, np.diff(problem.row_ptr))
    rows = np.concatenate([[0], *(first + np.arange(n) for first, n in zip(problem.row_ptr[:-1], sizes))])[1:]
    rows = rows.astype(np.int64)
    if isinstance(problem.dynamics, Delassus):
        form: Any = Delassus(problem.delassus()[np.ix_(rows, rows)])
    else:
        problem = problem.to_dense()
        assert isinstance(problem.dynamics, Dense)
        form = Dense(problem.dynamics.M, problem.dynamics.H[rows])
    table = problem.friction
    friction = [table.sets[s] if law != UNILATERAL else None for s, law in zip(table.set_of, problem.law)]
    return ContactProblem(
        form, v_free=problem.v_free, b=problem.b[rows], C=problem.C[rows], lo=problem.lo[rows], hi=problem.hi[rows],
        length=problem.length[rows], row_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), law=problem.law,
        friction=friction, r0=problem.r0, key=problem.key,
    )  # fmt: skip


class Choosing:
    """A solver for small problems that finds every motion and takes the one that a rule of selection leaves.

    rule: "least impulse", "continuity", "painleve" or "least energy". Where it leaves several, the one of least
    impulse; where it leaves none, the solver says so and fails. Of a continuum it takes one in the middle.

    When not to use it: more than a handful of contacts; the work can double with every complementary pair.
    """

    name = "choosing"

    def __init__(self, rule: str):
        self.rule = _check.choice("rule", rule, RULES)

    def refuses(self, problem: ContactProblem) -> str | None:
        """What `Enumeration` refuses."""
        reason = Enumeration().refuses(problem)
        return None if reason is None else reason.replace("enumeration", f"Choosing({self.rule!r})")

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Enumerate and choose."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        motions = all_motions(problem)
        left = select(motions, self.rule)
        if not left:
            status = motions.status if not len(motions) else Status.NO_SOLUTION
            message = status.sentence if not len(motions) else f"Of {len(motions)} motions {self.rule!r} leaves none."
            p = np.zeros(problem.nr)
        else:
            status, message = Status.SOLVED, f"Of {len(motions)} motions, the one that {self.rule!r} leaves."
            p = min(left, key=lambda motion: float(motion.p @ motion.p)).p
        return finish(problem, p, solver=self.name, tol=tol, status=status, message=message, iterations=len(motions))


@dataclass(frozen=True)
class Followed:
    """What a step did where several motions were possible.

    motion: the one that the solver took, None where it found none of them; motions: all of them; rules: those that
    would have taken it and no other.
    """

    motion: Motion | None
    motions: Motions
    rules: tuple[str, ...]
    solution: Solution

    @property
    def words(self) -> str:
        """For people."""
        if self.motion is None:
            return f"{self.solution.solver} found none of {len(self.motions)} motions: {self.solution.message}"
        which = list(self.motions).index(self.motion) + 1
        rules = ", ".join(self.rules) or "none of them alone"
        return (
            f"{self.solution.solver} took motion {which} of {len(self.motions)}: "
            f"{'; '.join(contact.words for contact in self.motion.contacts)} (rules that lead there: {rules})."
        )


@checks_arguments
def followed(
    system: Any, state: State | None = None, h: float = 0.01, *, solver: str | Solver = "lemke", scheme: Any = None
) -> Followed:
    """Which of all motions of a step a solver takes, and by which rules it would have been chosen.

    For a step that has been made, `all_motions(time_stepping(system, before, h)).find(after.v)` is the motion.
    """
    form = time_stepping(system, state, h, scheme=scheme)
    motions = all_motions(form)
    solution = solve(form.problem, make_solver(solver))
    motion = motions.find(form.motion(solution.p)) if solution.success else None
    return Followed(motion, motions, () if motion is None else rules_of(motions, motion), solution)
