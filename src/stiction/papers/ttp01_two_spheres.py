"""ttp01 §4.2, eq. 9, figures 18–25: a ball in the seam between two fixed spheres.

Readings. The contact frames are not printed: t lies along the seam. The rule by which Stewart's method takes contacts
as active is not printed either, and its bouncing is an effect of that rule: linearised at the start of a step, a convex
gap ends (h v)²/(2 R) above zero, and where this exceeds the rule's `gap <= eps` the contact is dropped, the ball falls
for a step, and the next one throws it out. eps = 1e-3 gives the printed onset and loss of contact at h = 0.1 s,
eps = 1e-5 the printed step at which bouncing is gone; no rule gives both, and so all that rests on a rule is fitted.
Linearised at the prediction q + h v, as in st96 (`StewartTrinkle`), it does not bounce at all. The exact motion is the
event-driven DAE of `ttp01_reference.py`.

The chatter of c_r at h = 0.0004 s was not found. Lemke's path depends on its covering vector and, where ratios tie, on
the order of the unknowns (`Path`); the friction of each step does not, since the impulses are unique. `study` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import lcp
from .._check import FloatArray
from ..analysis.convergence import Convergence, compare
from ..friction import FrictionSet, Polyhedral, Torsional
from ..friction.ellipsoids import latitudes
from ..problem import ContactProblem
from ..schemes import AnitescuHart, StewartTrinkle
from ..simulation import Simulator, Trajectory
from ..solvers import Lemke, Solution
from ..solvers.base import finish, nothing_to_solve
from ..systems import Gap, GeneralizedSystem, Sphere, World
from .experiment import ORDER, Experiment, Outcome, Quantity, claim
from .progress import track
from .ttp01_reference import Reference, Seam
from .ttp01_seam_friction import Bends, draw_sizes, find_bends, friction_claims, slips_from
from .ttp01_sphere import PAPER, TOL, forces, implicit, lcp_size, newton, newton_quantities, stewart, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CENTRES, REACH = np.array([[0.0, 0.0, 0.0], [0.0, 11.4, 0.0]]), np.array([11.0, 10.0])
START = np.array([0.0, 6.62105263157895, 8.78417110772903, 0.0, 0.0, 0.0])  # eq. 9
FORCE = np.array([1.0, 2.6, -9.81, 0.0, 0.0, 0.0])
FRICTION = Torsional(0.2, 1.0, 1.0, 0.3)
DIRECTIONS = FRICTION.rings(*latitudes(8))
POLYHEDRON = Polyhedral(0.2, directions=DIRECTIONS)
SEAM = Seam(CENTRES, REACH, FORCE, FRICTION.mu, FRICTION.er)
STEP, DURATION = 0.1, 4.0
STEPS = (0.1, 0.05, 0.025, 0.0125)
RULES = (1e-3, 1e-4, 1e-5)  # m: gap <= eps is active
SPHERES = ("sphere 1", "sphere 2")


@dataclass
class Path:
    """Lemke's method on another path: a covering vector, and an order of the unknowns, by which ties are broken.

    covering: "units" (the default of "lemke"), "ones", "random", "slip" (a tenth in the rows of
    the slip variables);
    order: "given", "reversed" or "shuffled", of unknowns that all are non-negative.
    """

    covering: str = "units"
    order: str = "given"

    name: str = "lemke, another path"

    def __str__(self) -> str:
        return f"covering vector: {self.covering}, order of the unknowns: {self.order}"

    def refuses(self, problem: ContactProblem) -> str | None:
        """As "lemke" does."""
        return Lemke().refuses(problem)

    def solve(
        self, problem: ContactProblem, *, tol: float = 1e-8, maxiter: int | None = None, p0: FloatArray | None = None
    ) -> Solution:
        """Pivot along that path."""
        if problem.nr == 0:
            return nothing_to_solve(problem, self.name, tol)
        form = problem.to_lcp()
        M, q, d, unit = form.in_units()
        n, rng = len(q), np.random.default_rng(len(q))
        covering = {
            "units": d,
            "ones": np.ones(n),
            "random": d * rng.uniform(0.1, 1.0, n),
            "slip": d * np.where(np.diag(M) == 0.0, 0.1, 1.0),
        }[self.covering]
        order = {"given": np.arange(n), "reversed": np.arange(n)[::-1], "shuffled": rng.permutation(n)}[self.order]
        answer = lcp.lemke(M[np.ix_(order, order)], q[order], covering=covering[order], maxiter=maxiter)
        z = np.empty(n)
        z[order] = answer.z
        return finish(
            problem, form.impulses(unit * z), solver=self.name, tol=tol, status=answer.status, message=answer.message,
            iterations=answer.pivots,
        )  # fmt: skip


_CHATTER = (
    "Not found. Where contacts stay active the impulses of a step are unique, whatever path Lemke's method takes; "
    "where they are dropped and caught again, everything chatters. What the authors saw is of their program."
)
PATHS = (
    Path(), Path("ones"), Path("random"), Path("slip"), Path(order="reversed"), Path(order="shuffled"),
    Path("random", "shuffled"),
)  # fmt: skip
CHATTERS = {
    "gap <= 1e-07 m": 41.5,
    "gap <= 1e-09 m": 3440.0,
}  # variation of c_r where contacts are dropped again and again
CHATTER_STEP, CHATTER_END = 0.0004, 3.2  # s: of figure 25, the printed step


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def seam(friction: FrictionSet, turned: float = 0.0) -> GeneralizedSystem:
    """The ball between the spheres; t along the seam, o = n × t, and the slip v - ω × n of a ball of unit radius.

    turned: t turned by this angle from the seam [rad].
    """
    cos, sin = np.cos(turned), np.sin(turned)

    def normals(q: FloatArray) -> FloatArray:
        n = q[:3] - CENTRES
        return np.asarray(n / np.sqrt((n * n).sum(axis=1))[:, None])

    def contact(i: int) -> Gap:
        def normal(q: FloatArray) -> FloatArray:
            return np.append(normals(q)[i], np.zeros(3))

        def tangents(q: FloatArray) -> FloatArray:
            n = normals(q)
            t = _cross(n[0], n[1])
            t /= np.sqrt(t @ t)
            o = _cross(n[i], t)
            if turned:
                t, o = cos * t + sin * o, cos * o - sin * t
            rows = np.zeros((3, 6))
            rows[0, :3], rows[0, 3:] = t, -o
            rows[1, :3], rows[1, 3:] = o, t
            rows[2, 3:] = n[i]
            return rows

        def gap(q: FloatArray) -> float:
            d = q[:3] - CENTRES[i]
            return float(np.sqrt(d @ d) - REACH[i])

        return Gap(gap, normal, tangents, friction, name=SPHERES[i])

    return GeneralizedSystem(
        np.diag([1.0, 1.0, 1.0, 0.4, 0.4, 0.4]),
        FORCE,
        q=START,
        gaps=[contact(0), contact(1)],
        names=("x", "y", "z", "rx", "ry", "rz"),
    )


def seam_world() -> World:
    """The same scene as bodies in space."""
    world = World(gravity=(0.0, 0.0, 0.0))
    world.set_material("default", friction=FRICTION)
    for name, centre, reach in zip(SPHERES, CENTRES, REACH):
        world.add_body(Sphere(reach - 1.0), kind="fixed", position=centre, name=name)
    world.add_body(Sphere(1.0), mass=1.0, position=START[:3], name="ball")
    world.add_force("ball", FORCE[:3])
    return world


def reference() -> Reference:
    """The exact motion; starts[1:] are: sliding on both, leaving the first sphere, leaving the second."""
    return SEAM.reference(START)


def separations(run: Trajectory) -> int:
    """How often a contact opens: twice when each sphere is left once."""
    return sum(e.kind == "separation" for e in run.events)


def onset(run: Trajectory) -> float:
    """The first time a contact is lost [s]."""
    return next(e.time for e in run.events if e.kind == "separation")


def last_touch(run: Trajectory) -> float:
    """The end of the last step with a contact force [s]."""
    pushed = np.max([run.contacts(name).impulse[:, 0] for name in SPHERES], axis=0)
    return float(run.times[np.flatnonzero(pushed > 0.0)[-1] + 1])


def calm_step(eps: float) -> tuple[float, float]:
    """The first of the steps 0.1/3^k s without bouncing under the rule gap <= eps, and the onset at 0.1 s."""
    first = None
    for k in range(6):
        run = stewart(seam(POLYHEDRON), STEP / 3**k, DURATION, eps)
        first = onset(run) if first is None else first
        if separations(run) == 2:
            return STEP / 3**k, first
    raise AssertionError("bounces at every step")


def noticed(a: Trajectory, b: Trajectory) -> float:
    """From when on velocities of two runs differ by 1 % of the largest velocity, which a plot can show [s]."""
    grid = a.times
    other = np.column_stack([np.interp(grid, b.times, column) for column in b.v.T])
    apart = np.abs(a.v - other).max(axis=1) > 0.01 * np.abs(a.v).max()
    return float(grid[np.argmax(apart)])


@dataclass(frozen=True)
class _Runs:
    exact: Reference
    bouncing: Trajectory
    fine: Trajectory
    finest: Trajectory
    tight: Trajectory
    predicted: Trajectory
    study: Convergence

    @property
    def implicit(self) -> Trajectory:
        """The implicit run at the paper's step."""
        return self.study.runs[0]

    @property
    def bends(self) -> Bends:
        """What bends the friction of the fine run."""
        return find_bends(self.fine, forces(self.fine, SPHERES[1]), SEAM, DIRECTIONS)


def _run_all() -> _Runs:
    exact = reference()
    runs = tuple(implicit(seam(FRICTION), h, DURATION) for h in STEPS)
    scheme = StewartTrinkle(active=1e-3)
    return _Runs(
        exact,
        stewart(seam(POLYHEDRON), STEP, DURATION),
        stewart(seam(POLYHEDRON), STEP / 81, DURATION),
        stewart(seam(POLYHEDRON), STEP / 243, 3.0),
        stewart(seam(POLYHEDRON), STEP / 27, 3.0, 1e-7),
        Simulator(seam(POLYHEDRON), STEP, scheme=scheme, solver="lemke", tol=TOL).run(DURATION, progress=False),
        compare(runs, exact=exact),
    )


def roughest(run: Trajectory) -> float:
    """The largest second difference of a component of the velocity [m/s], [rad/s]."""
    return float(np.abs(np.diff(run.v, 2, axis=0)).max())


def _variation(c: FloatArray) -> float:
    return float(np.abs(np.diff(c)).sum() / (c.max() - c.min()))


def chatter(run: Trajectory) -> float:
    """The variation of c_r at the second sphere over what a monotone one needs: 1 where it does not chatter."""
    return _variation(forces(run, SPHERES[1])[:, 3])


@dataclass(frozen=True)
class ChatterRow:
    """c_r by one way of computing it: what it is, its chatter and that of c_n, and times and values [s, N m]."""

    what: str
    chatter: float
    normal: float
    times: FloatArray
    moment: FloatArray


def chatter_row(what: str, system: GeneralizedSystem, eps: float, path: Path) -> ChatterRow:
    """A run at the step of figure 25."""
    scheme = AnitescuHart(eps=eps)
    run = Simulator(system, CHATTER_STEP, scheme=scheme, solver=path, tol=TOL).run(CHATTER_END, progress=False)
    normal = _variation(forces(run, SPHERES[1])[run.times[1:] > 0.1, 0])
    return ChatterRow(what, chatter(run), normal, run.times[1:], forces(run, SPHERES[1])[:, 3])


def study_chatter() -> Outcome:
    """Figure 25 at its own step: covering vectors, ties, frames, rules and directions."""
    cases = [(str(path), seam(POLYHEDRON), 1e-3, path) for path in PATHS]
    cases += [(f"gap <= {eps:g} m", seam(POLYHEDRON), eps, Path()) for eps in (1e-5, 1e-7, 1e-9)]
    cases += [(f"t turned by {angle:g}° from the seam", seam(POLYHEDRON, np.radians(angle)), 1e-3, Path())
              for angle in (17.0, 45.0)]  # fmt: skip
    other = FRICTION.rings(*latitudes(7))
    cases += [(f"{len(other)} directions", seam(Polyhedral(0.2, directions=other)), 1e-3, Path())]
    rows = [chatter_row(*case) for case in track(cases, "ways to compute c_r")]
    first = rows[0].moment
    alone = [row.what for row in rows if row.chatter > 1.5 and row.normal < 1.5]
    quantities = [
        claim("c_r chatters at h = 0.0004 s, and nothing else does", bool(alone), record=False,
              reason=f"in none of {len(rows)} ways to compute it", tried=tuple(row.what for row in rows),
              conclude=_CHATTER),
    ]  # fmt: skip
    for row in rows:
        away = float(np.abs(row.moment - first).max())
        record = CHATTERS.get(row.what, 1.0)
        quantities.append(
            Quantity(f"{row.what}: variation of c_r over that of a monotone one", row.chatter, record,
                     record_within=0.1 if record == 1.0 else 0.5 * record,
                     reason=f"that of c_n: {row.normal:.3f}; c_r is at most {away:.1e} N m from that of the first row")
        )  # fmt: skip
    return Outcome(tuple(quantities), {}, lambda: _chatter_figure(rows))


def _difference(a: Trajectory, b: Trajectory, t: float) -> float:
    """The largest difference of a velocity component at time t."""
    i, j = (int(np.argmin(np.abs(run.times - t))) for run in (a, b))
    return float(np.abs(a.v[i] - b.v[j]).max())


def reproduce() -> Outcome:
    """Both methods at the paper's steps, the rules for active contacts, and the convergence of the implicit method."""
    data = _run_all()
    inner, outer = data.implicit, data.bouncing
    world = implicit(seam_world(), STEP, DURATION)
    as_bodies = np.hstack([world.velocity("ball"), world.angular_velocity("ball")])
    calm = {eps: calm_step(eps) for eps in RULES}
    _, slides, leaves, flies = data.exact.starts
    held = stewart(seam(POLYHEDRON), STEP, DURATION, 1.0)
    violated = held.certificate.worst["penetration"]
    both = "differences of two first-order methods, of which one has a polyhedral friction set"
    rule = "with the rule gap <= 1e-3 m, chosen for it among three; the exact motion leaves at 3.70 s"
    onsets = tuple(f"gap <= {eps:g} m: {first:g} s" for eps, (_, first) in calm.items())
    ends = tuple(f"gap <= {eps:g} m: {step:.2g} s" for eps, (step, _) in calm.items())
    predicted = "linearised at the prediction q + h v, as in st96: never"
    quantities = [
        Quantity("unknowns of the LCP, two contacts", float(lcp_size(seam(POLYHEDRON), STEP)), 44.0, "", 44.0),
        Quantity("exact: rolling on the second sphere ends", slides, 2.944807, "s", reason="event-driven DAE"),
        Quantity("exact: leaves the first sphere", leaves, 3.213206, "s"),
        Quantity("exact: leaves the second sphere", flies, 3.701600, "s"),
        Quantity("Stewart, h = 0.1 s: contact lost for good", last_touch(outer), 3.6, "s", "3.6", fitted=True,
                 reason=rule),
        Quantity("Stewart, h = 0.1 s: bouncing begins", calm[1e-3][1], 2.0, "s", "2", fitted=True,
                 reason="with the same rule: where (h v)²/(2 R) passes it", tried=(*onsets, predicted)),
        Quantity("Stewart, with that rule: bouncing gone at", calm[1e-3][0], STEP / 9, "s", "0.0012",
                 reason="of the steps 0.1/3^k s, as printed", tried=(*ends, predicted),
                 conclude="gap <= 1e-5 m gives the printed step, and then bouncing begins at 0.4 s: no rule of this "
                 "kind gives both. What the authors' program took as active is not in the paper."),
        claim("where the linearised distances are positive, the true ones are violated", bool(violated > 1e-9),
              f"with contacts that always act Stewart's method overlaps by {violated:.0e} m and opens "
              f"{separations(held)} contacts: the distances are convex, and their linearisations lie below them",
              record=False, tried=("contacts within 1 m act", *(f"gap <= {eps:g} m" for eps in RULES), predicted),
              conclude="The bouncing is not the linearisation's alone. It takes a rule that drops contacts, which then "
              "are found violated."),
        Quantity("Stewart, h = 0.1 s: contacts opened", float(separations(outer)), 13.0, "times",
                 reason="twice without bouncing"),
        Quantity("Stewart, h = 0.1 s: largest penetration", outer.certificate.worst["penetration"], 0.061034, "m",
                 record_tolerance=1e-4, reason="at the end of a step after a contact was dropped"),
        Quantity("Tzitzouris-Pang, h = 0.1 s: contacts opened", float(separations(inner)), 2.0, "times", 2.0,
                 reason="considerably smoother: each sphere is left once"),
        claim("Tzitzouris-Pang, h = 0.1 s: considerably smoother", roughest(inner) < 0.1 * roughest(outer),
              f"the velocity bends by up to {roughest(inner):.2f} m/s from step to step, with Stewart by "
              f"{roughest(outer):.2f}"),
        Quantity("Tzitzouris-Pang, h = 0.1 s: largest penetration", inner.certificate.worst["penetration"], 0.0, "m",
                 record_within=1e-12),
    ]  # fmt: skip
    quantities += [
        Quantity("velocities differ visibly from", noticed(inner, data.fine), 2.3, "s", "2", fitted=True,
                 reason="Stewart, h = 0.1/81 s, and Tzitzouris-Pang, h = 0.1 s: “visibly” is 1 % of the largest "
                 "velocity, our choice"),
        *(Quantity(f"they differ at {t:g} s by", _difference(inner, data.fine, t), r, "m/s", record_tolerance=1e-3,
                   reason=both) for t, r in ((1.0, 0.002233), (2.0, 0.059816), (3.0, 0.239235))),
        claim("c_r chatters at h = 0.1/243 s", chatter(data.finest) > 1.5, record=False,
              reason=f"its variation is {chatter(data.finest):.4f} times that of a monotone c_r; with a rule that "
              f"drops contacts again and again (gap <= 1e-7 m, h = 0.1/27 s) {chatter(data.tight):.0f} times, and all "
              "components do", tried=("rules gap <= 1e-3, 1e-5, 1e-7, 1e-9 m", "seven paths of Lemke's method: "
              "covering vectors, and orders of the unknowns, by which ties are broken", "t along the seam, and turned "
              "by 17° and 45° from it", "20 and 17 directions: `stiction reproduce ttp01-two-spheres --study`"),
              conclude=_CHATTER),
        *(Quantity(f"Tzitzouris-Pang: position error, h = {h:g} s", float(e), r, "m", record_tolerance=1e-4)
          for h, e, r in zip(STEPS, data.study.position_error, (1.578012, 0.743383, 0.360798, 0.177677))),
        Quantity("Tzitzouris-Pang: order of the position error", data.study.order("position_error"), 1.04953, "", 1.0,
                 ORDER, record_tolerance=1e-3, reason="first-order, §4; against the exact motion"),
        Quantity("Tzitzouris-Pang: order of the velocity error", data.study.order("velocity_error"), 1.04324, "", 1.0,
                 ORDER, record_tolerance=1e-3),
        Quantity("Tzitzouris-Pang, as bodies in a World: velocities differ by",
                 float(np.abs(as_bodies - inner.v).max()), 0.0, "m/s", record_within=1e-9),
        *newton_quantities(newton(seam(FRICTION), STEP, DURATION), 3.35, 5.775, 9.0),
    ]  # fmt: skip
    runs = (outer, world, data.fine, data.finest, data.tight, data.predicted, *data.study.runs)
    explicit, smooth = ((run.times, forces(run, SPHERES[1])) for run in (data.fine, inner))
    quantities += friction_claims(data.bends, explicit, smooth, slips_from(inner, SEAM))
    notes = ("contacts act with gap <= 1e-3 m unless another rule is named; t lies along the seam",)
    return Outcome(tuple(quantities), worst(runs), lambda: _figures(data), notes)


def _figures(data: _Runs) -> dict[str, Figure]:
    from .figures import drawings
    from .figures.seam import contact_forces, moments, seam_velocities, selected_velocities
    from .figures.torsional import convergence_lines

    inner, outer, fine = data.implicit, data.bouncing, data.fine
    pair = {"Stewart, h = 0.0012 s": fine, "Tzitzouris–Pang, h = 0.1 s": inner}
    second = {label: (run.times, forces(run, SPHERES[1])) for label, run in pair.items()}
    first, other = "Stewart's method, h = 0.1 s", "Tzitzouris–Pang, h = 0.1 s"
    chatter = {
        "Moment of friction, h = 0.1/243 s, contacts with gap ≤ 1e-3 m": (
            data.finest.times,
            forces(data.finest, SPHERES[1])[:, 3],
        ),
        "h = 0.1/27 s, contacts with gap ≤ 1e-7 m: dropped and caught again": (
            data.tight.times,
            forces(data.tight, SPHERES[1])[:, 3],
        ),
    }
    errors = {"Tzitzouris–Pang against the exact motion": (STEPS, data.study.position_error)}
    return {
        "ttp01-two-spheres-fig18": drawings.ball_on_two_spheres(CENTRES, REACH - 1.0, FORCE, data.exact),
        "ttp01-two-spheres-fig19": seam_velocities(outer, data.exact, first),
        "ttp01-two-spheres-fig20": contact_forces(outer.times, forces(outer, SPHERES[1]), first),
        "ttp01-two-spheres-fig21": seam_velocities(inner, data.exact, other),
        "ttp01-two-spheres-fig22": contact_forces(inner.times, forces(inner, SPHERES[1]), other),
        "ttp01-two-spheres-fig23": draw_sizes(second, data.bends, SEAM, data.exact),
        "ttp01-two-spheres-fig24": selected_velocities(pair, data.exact),
        "ttp01-two-spheres-fig25": moments(chatter),
        "ttp01-two-spheres-convergence": convergence_lines(errors),
    }  # fmt: skip


def _chatter_figure(rows: list[ChatterRow]) -> dict[str, Figure]:
    from .figures.seam import chatter_panels

    return {"ttp01-two-spheres-chatter": chatter_panels({r.what: (r.times, r.moment) for r in rows})}


EXPERIMENT = Experiment(
    "ttp01-two-spheres", PAPER, "A ball in the seam between two spheres (§4.2, figures 18–25)", reproduce, study_chatter
)
