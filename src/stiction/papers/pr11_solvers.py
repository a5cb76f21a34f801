"""pr11 §1: which of several solutions solvers find, how long they take, and how often they fail.

"Different variants of fixed-point iterations are applied nowadays [...]. The convergence of such methods can
deteriorate or even fail if multiple solutions exist." The paper opens with this and does not come back to it. Here the
solvers meet the paper's rod where a step has one motion or three (§4) and where its impulses have two (§3), from no
impulses and from random ones, and random planar problems with four contacts, whose motions are all counted. `apgd`
solves the convex relaxation alone, whose motion is the only one: it is shown for that problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray, IntArray
from ..analysis import Motions, all_motions, impulse_velocity, time_stepping
from ..problem import ContactProblem, Dense, Law
from ..solvers import Solution, solve
from .experiment import Experiment, Outcome, Quantity
from .pr11_rod import LIFTING, MU, rod
from .progress import track

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("lemke", "nsgs", "newton", "proximal", "apgd")
STEP, TOL = 0.01, 1e-10
TORQUES, COEFFICIENTS = np.linspace(0.0, 1.5 * LIFTING, 25), np.linspace(0.1, 2.5, 25)  # N m; of friction
OPENS, SLIDES, RESTS, FAILS = range(4)
BRANCHES = ("opens", "slides on", "comes to rest", "fails")
STARTS = 100  # random first guesses
CONTACTS, BODIES, PROBLEMS, MANY = 4, 3, 150, 4000  # of random problems; how many of them, and in the study
SAME = 1e-5  # relative: a velocity that near is that motion
GROUPS = ("one", "two", "three or more")
# On record: the share that takes the motion of least energy, and of random starts that fail, by group.
LEAST = {"lemke": 0.379, "nsgs": 0.828, "newton": 0.828, "proximal": 0.897}
STUDY_LEAST = {"lemke": 0.568, "nsgs": 0.812, "newton": 0.809, "proximal": 0.855}
FAILURES = {
    "lemke": (0.0, 0.0448, 0.0),
    "nsgs": (0.0320, 0.4328, 0.0315),
    "newton": (0.0123, 0.2985, 0.0185),
    "proximal": (0.0009, 0.0, 0.0),
    "apgd": (0.0153, 1.0, 0.0519),
}


def answer(problem: ContactProblem, solver: str, p0: FloatArray | None = None, tol: float = TOL) -> Solution:
    """What a solver makes of a problem; `apgd` of its relaxation."""
    given = problem.replace(associated=True) if solver == "apgd" else problem
    return solve(given, solver, tol=tol, p0=p0)


def branch(solution: Solution) -> int:
    """What the contact of the rod does by this solution."""
    if not solution.success:
        return FAILS
    if solution.p[0] <= 1e-9:
        return OPENS
    return RESTS if abs(solution.u[1]) <= 1e-6 else SLIDES


@dataclass(frozen=True)
class Case:
    """The rod with a known number of motions: what each solver does from no impulses, and from random ones."""

    name: str
    motions: Motions
    cold: dict[str, int]
    starts: dict[str, IntArray]
    iterations: dict[str, int]

    def share(self, solver: str, which: int) -> float:
        """Of the random starts, those that lead to a branch."""
        return float(np.mean(self.starts[solver] == which))


def case(name: str, motions: Motions, seed: int = 1) -> Case:
    """One problem by every solver; random first guesses lie in the friction cone, up to three times Λ₂."""
    problem, rng = motions.form.problem, np.random.default_rng(seed)
    normal = rng.uniform(0.0, 1.0, STARTS)
    guesses = np.column_stack([normal, MU * normal * rng.uniform(-1.0, 1.0, STARTS)])
    cold = {solver: answer(problem, solver) for solver in NAMES}
    return Case(
        name, motions, {solver: branch(cold[solver]) for solver in NAMES},
        {solver: np.array([branch(answer(problem, solver, p0)) for p0 in guesses]) for solver in NAMES},
        {solver: cold[solver].iterations for solver in NAMES},
    )  # fmt: skip


def maps() -> tuple[IntArray, dict[str, IntArray]]:
    """Motions of a step by torque and coefficient of friction, and the branch of every solver from no impulses."""
    count = np.zeros((len(COEFFICIENTS), len(TORQUES)), dtype=np.int64)
    taken = {solver: np.zeros_like(count) for solver in NAMES}
    for i, mu in enumerate(COEFFICIENTS):
        for j, torque in enumerate(TORQUES):
            form = time_stepping(rod(torque, mu=mu), h=STEP)
            count[i, j] = len(all_motions(form))
            for solver in NAMES:
                taken[solver][i, j] = branch(answer(form.problem, solver))
    return count, taken


def random_problem(rng: np.random.Generator) -> ContactProblem:
    """Slender planar bodies that slide on each other and on the ground, with µ from 0.5 to 2.5.

    Slip has the size 1, and contacts part with up to 0.3 or close with up to 0.2.
    """
    mass = np.repeat(rng.uniform(0.5, 2.0, BODIES), 3)
    mass[2::3] *= rng.uniform(0.02, 0.3, BODIES)
    H = np.zeros((2 * CONTACTS, 3 * BODIES))
    for k in range(CONTACTS):
        a = rng.integers(BODIES)
        b = rng.choice([body for body in range(-1, BODIES) if body != a])
        angle = rng.uniform(0.0, 2.0 * np.pi)
        for body, sign in ((a, 1.0), (b, -1.0)):
            x, y = rng.uniform(-1.0, 1.0, 2)
            for row, (c, s) in enumerate([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))]):
                if body >= 0:
                    H[2 * k + row, 3 * body : 3 * body + 3] = sign * np.array([c, s, x * s - y * c])
    b = np.empty(2 * CONTACTS)
    b[::2], b[1::2] = rng.uniform(-0.2, 0.3, CONTACTS), rng.normal(size=CONTACTS)
    return ContactProblem(
        Dense(np.diag(mass), H), v_free=np.zeros(3 * BODIES), b=b, row_ptr=2 * np.arange(CONTACTS + 1),
        law=[Law.UNILATERAL] * CONTACTS, friction=list(rng.uniform(0.5, 2.5, CONTACTS)),
    )  # fmt: skip


@dataclass(frozen=True)
class Crowd:
    """Random problems: how many motions each has, and what solvers do from no impulses (0) and random ones (1).

    motions (n,); iterations, success, energy (n, solvers, 2): energy 0 for the motion of least kinetic energy, 1 for
    the next, -1 where none was found. lost: problems with no motion, or with a continuum of them.
    """

    motions: IntArray
    iterations: IntArray
    success: np.ndarray
    energy: IntArray
    lost: int

    @cached_property
    def groups(self) -> dict[str, np.ndarray]:
        """Which problems have how many motions."""
        n = self.motions
        return {"one": n == 1, "two": n == 2, "three or more": n > 2, "several": n > 1}

    def failures(self, solver: str, group: str, start: int) -> float:
        """The share of a group that a solver does not solve."""
        rows = self.groups[group]
        return float(1.0 - self.success[rows, NAMES.index(solver), start].mean()) if rows.any() else float("nan")

    def quantile(self, solver: str, group: str, start: int, share: float = 0.5) -> float:
        """A quantile of its iterations on those that it solves."""
        s = NAMES.index(solver)
        done = self.iterations[self.groups[group] & self.success[:, s, start], s, start]
        return float(np.quantile(done, share)) if len(done) else float("nan")

    @property
    def even(self) -> int:
        """Of the problems with an even number of motions, those whose relaxation `apgd` solves."""
        return int(self.success[self.motions % 2 == 0, NAMES.index("apgd"), 0].sum())

    def median_words(self, solver: str, group: str) -> str:
        """Iterations from random impulses."""
        half, most = (self.quantile(solver, group, 1, share) for share in (0.5, 0.9))
        if np.isnan(half):
            return f"none of {int(self.groups[group].sum())} is solved"
        return f"median of {half:.0f} iterations, {most:.0f} for the slowest tenth of {int(self.groups[group].sum())}"

    def least(self, solver: str, start: int) -> float:
        """Of the problems with several motions that it solves, the share on which it takes that of least energy."""
        taken = self.energy[self.motions > 1, NAMES.index(solver), start]
        return float(np.mean(taken[taken >= 0] == 0)) if (taken >= 0).any() else float("nan")


def crowd(count: int, seed: int = 7) -> Crowd:
    """Random problems by every solver."""
    rng, motions_of, rows, lost = np.random.default_rng(seed), [], [], 0
    for problem in track([random_problem(rng) for _ in range(count)], "random problems with four contacts"):
        normal = rng.uniform(0.0, 1.0, CONTACTS)
        guess = np.column_stack([normal, problem.friction.mu * normal * rng.uniform(-1.0, 1.0, CONTACTS)]).ravel()
        motions = all_motions(problem)
        if not motions.success or any(motion.dimension for motion in motions):
            lost += 1
            continue
        motions_of.append(len(motions))
        rows.append([[_row(problem, motions, solver, p0) for p0 in (None, guess)] for solver in NAMES])
    table = np.array(rows, dtype=np.int64)
    return Crowd(np.array(motions_of), table[..., 0], table[..., 1] > 0, table[..., 2], lost)


def _row(problem: ContactProblem, motions: Motions, solver: str, p0: FloatArray | None) -> tuple[int, bool, int]:
    """Iterations, success, and the rank by energy of the motion that was found."""
    found = answer(problem, solver, p0, tol=1e-8)
    energy = np.array([motion.energy for motion in motions], dtype=float).argsort().argsort()
    apart = [np.abs(found.v - motion.v).max() for motion in motions]
    near = int(np.argmin(apart))
    known = found.success and solver != "apgd" and apart[near] <= SAME * np.abs(problem.b).max()
    return found.iterations, found.success, int(energy[near]) if known else -1


@dataclass(frozen=True)
class Findings:
    """The rod in three cases, its map, and the random problems."""

    cases: tuple[Case, ...]
    count: IntArray
    taken: dict[str, IntArray]
    crowd: Crowd

    def agreeing(self, solver: str, motions: int, which: int) -> float:
        """The share of the places of the map with so many motions where a solver takes a branch."""
        return float(np.mean(self.taken[solver][self.count == motions] == which))


def measure(count: int) -> Findings:
    """Everything."""
    cases = (
        case("one: step, pressed (§4.1)", all_motions(time_stepping(rod(), h=STEP))),
        case("two: impulses (§3)", all_motions(impulse_velocity(rod()))),
        case("three: step, lifted (§4.2)", all_motions(time_stepping(rod(LIFTING), h=STEP))),
    )
    return Findings(cases, *maps(), crowd(count))


def reproduce() -> Outcome:
    """The rod by every solver, and some random problems."""
    return _outcome(measure(PROBLEMS), LEAST, "pr11-solvers")


def study() -> Outcome:
    """The same with many random problems, enough to compare failures."""
    found = measure(MANY)
    some, more = found.crowd, []
    for solver, records in FAILURES.items():
        for group, record in zip(GROUPS, records):
            cold, failed = (some.failures(solver, group, start) for start in (0, 1))
            name = f"{solver}, {group} motion{'s' * (group != 'one')}: fails from random impulses"
            what = f"{some.median_words(solver, group)}; from no impulses {100 * cold:.1f} % fail"
            more.append(Quantity(name, failed, record, record_within=0.005, reason=what))
    slower = some.quantile("nsgs", "three or more", 1, 0.9) / some.quantile("nsgs", "one", 1, 0.9)
    one, several = some.failures("nsgs", "one", 1), some.failures("nsgs", "several", 1)
    more += [
        Quantity("fixed-point iterations deteriorate where solutions are many", float(slower > 1.0), 1.0, "", 1.0, 0.0,
                 f"§1; 1 = yes: the slowest tenth of nsgs takes {slower:.1f} times as many sweeps"),
        Quantity("and fail more often", float(several > one), 1.0, "", 1.0, 0.0,
                 f"1 = yes: {100 * several:.1f} % of nsgs against {100 * one:.1f} %; nearly all of that is where the "
                 "number of motions is even, and three or more alone make no difference"),
    ]  # fmt: skip
    base = _outcome(found, STUDY_LEAST, "pr11-solvers-study")
    return Outcome((*base.quantities, *more), base.certificate, base.figures, base.notes)


def _outcome(found: Findings, least: dict[str, float], figure: str) -> Outcome:
    one, two, three = found.cases
    some = found.crowd
    quantities = []
    for record, c in enumerate(found.cases, 1):
        quantities.append(Quantity(f"solutions, {c.name}", float(len(c.motions)), float(record)))
    for c, records in ((one, "rrrrr"), (two, "rooor"), (three, "rooor")):
        for solver, letter in zip(NAMES, records):
            quantities.append(
                Quantity(f"{c.name}: {solver} from no impulses", float(c.cold[solver]), float("osr".index(letter)), "",
                         record_within=0.0, reason=f"0 opens, 1 slides on, 2 comes to rest; {_starts(c, solver)}")
            )  # fmt: skip
    for solver in NAMES:
        which = RESTS if solver in ("lemke", "apgd") else OPENS
        quantities.append(
            Quantity(f"map, three motions: {solver} {BRANCHES[which]}", found.agreeing(solver, 3, which), 1.0, "",
                     reason=f"share of {int((found.count == 3).sum())} places, from no impulses")
        )  # fmt: skip
    for solver in NAMES[:-1]:
        quantities.append(
            Quantity(f"random problems with several motions: {solver} takes that of least energy",
                     some.least(solver, 0), least[solver], "", record_within=0.005,
                     reason=f"share of what it solves from no impulses; from random ones {some.least(solver, 1):.2f}")
        )  # fmt: skip
    even = int((some.motions % 2 == 0).sum())
    numbers = ", ".join(f"{int(some.groups[name].sum())} have {name}" for name in GROUPS)
    notes = (
        f"of {len(some.motions)} random problems whose motions are all known {numbers}; {some.lost} more have none or "
        f"a continuum of them; where the number is even apgd solves {some.even} of {even}: "
        "existence is not guaranteed there",
        "§1 says that the convergence of fixed-point iterations can deteriorate or even fail where solutions are many: "
        "judged by the study, over 4000 problems (`stiction reproduce pr11-solvers --study`)",
        "newton's count leaves out the Gauss–Seidel sweeps that it starts from, at most 100: from there it goes where "
        "nsgs goes; proximal starts from nothing where that is nearer to a solution; apgd solves the relaxation",
    )
    problems = [c.motions.form.problem for c in found.cases]
    worst = [answer(p, s).certificate.as_dict() for p in problems for s in NAMES]
    certificate = {name: max(w[name] for w in worst) for name in worst[0]}
    return Outcome(tuple(quantities), certificate, lambda: _figures(found, figure), notes)


def _starts(c: Case, solver: str) -> str:
    """Where random first guesses lead, in words."""
    shares = [(c.share(solver, k), BRANCHES[k]) for k in range(4)]
    return f"of {STARTS} random starts " + ", ".join(f"{100 * x:.0f} % {what}" for x, what in shares if x)


def _figures(found: Findings, name: str) -> dict[str, Figure]:
    from .figures.pr11_solvers import draw_branches

    return {name: draw_branches(found)}


EXPERIMENT = Experiment(
    "pr11-solvers",
    "Preclik, Rüde 2011 (§1)",
    "Which of several solutions solvers find, and how often they find none",
    reproduce,
    study,
)
