"""ttp01 §4.2, eq. 9, figures 18–25: a ball in the seam between two fixed spheres.

Readings. The contact frames are not printed: t lies along the seam. The rule by which Stewart's method takes contacts
as active is not printed either, and its bouncing is an effect of that rule: linearised at the start of a step, a convex
gap ends (h v)²/(2 R) above zero, and where this exceeds the rule's `gap <= eps` the contact is dropped, the ball falls
for a step, and the next one throws it out. eps = 1e-3 gives the printed onset and loss of contact at h = 0.1 s,
eps = 1e-5 the printed step at which bouncing is gone; no rule gives both. Linearised at the prediction q + h v, as in
st96 (`StewartTrinkle`), it does not bounce at all. The exact motion is the event-driven DAE of `ttp01_reference.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..analysis.convergence import Convergence, compare
from ..friction import FrictionSet, Polyhedral, Torsional
from ..schemes import StewartTrinkle
from ..simulation import Simulator, Trajectory
from ..systems import Gap, GeneralizedSystem, Sphere, World
from .experiment import Experiment, Outcome, Quantity
from .ttp01_reference import Reference, Seam
from .ttp01_seam_friction import Bends, draw_sizes, find_bends, friction_claims, slips_from
from .ttp01_sphere import PAPER, TOL, forces, implicit, lcp_size, newton, newton_quantities, stewart, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CENTRES, REACH = np.array([[0.0, 0.0, 0.0], [0.0, 11.4, 0.0]]), np.array([11.0, 10.0])
START = np.array([0.0, 6.62105263157895, 8.78417110772903, 0.0, 0.0, 0.0])  # eq. 9
FORCE = np.array([1.0, 2.6, -9.81, 0.0, 0.0, 0.0])
FRICTION = Torsional(0.2, 1.0, 1.0, 0.3)
DIRECTIONS = FRICTION.directions(3, 8)
POLYHEDRON = Polyhedral(0.2, directions=DIRECTIONS)
SEAM = Seam(CENTRES, REACH, FORCE, FRICTION.mu, FRICTION.er)
STEP, DURATION = 0.1, 4.0
STEPS = (0.1, 0.05, 0.025, 0.0125)
RULES = (1e-3, 1e-4, 1e-5)  # m: gap <= eps is active
SPHERES = ("sphere 1", "sphere 2")


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def seam(friction: FrictionSet) -> GeneralizedSystem:
    """The ball between the spheres; t along the seam, o = n × t, and the slip v - ω × n of a ball of unit radius."""

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


def _chatter(run: Trajectory) -> float:
    """The variation of c_r at the second sphere over what a monotone one needs: 1 where it does not chatter."""
    c = forces(run, SPHERES[1])[:, 3]
    return float(np.abs(np.diff(c)).sum() / (c.max() - c.min()))


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
    both = "differences of two first-order methods, of which one has a polyhedral friction set"
    quantities = [
        Quantity("unknowns of the LCP, two contacts", float(lcp_size(seam(POLYHEDRON), STEP)), 44.0, "", 44.0, 0.0),
        Quantity("exact: rolling on the second sphere ends", slides, 2.944807, "s", reason="event-driven DAE"),
        Quantity("exact: leaves the first sphere", leaves, 3.213206, "s"),
        Quantity("exact: leaves the second sphere", flies, 3.701600, "s"),
        Quantity("Stewart, h = 0.1 s: contact lost for good", last_touch(outer), 3.6, "s", 3.6, 0.05,
                 "with the rule gap <= 1e-3 m; the exact motion leaves at 3.70 s"),
        Quantity("Stewart, h = 0.1 s: contacts opened", float(separations(outer)), 13.0, "times",
                 reason="twice without bouncing"),
        Quantity("Stewart, h = 0.1 s: largest penetration", outer.certificate.worst["penetration"], 0.061034, "m",
                 reason="at the end of a step after a contact was dropped"),
        Quantity("Stewart linearised at the prediction, h = 0.1 s: contacts opened", float(separations(data.predicted)),
                 2.0, "times", reason="st96's own linearisation does not bounce, with the same rule"),
        Quantity("Tzitzouris-Pang, h = 0.1 s: contacts opened", float(separations(inner)), 2.0, "times", 2.0, 0.0,
                 "considerably smoother: each sphere is left once"),
        Quantity("Tzitzouris-Pang, h = 0.1 s: largest penetration", inner.certificate.worst["penetration"], 0.0, "m",
                 record_tolerance=1e-12),
    ]  # fmt: skip
    begins, gone = {1e-3: 2.0, 1e-4: 1.0, 1e-5: 0.4}, {1e-3: STEP / 9, 1e-4: STEP / 27, 1e-5: STEP / 81}
    for eps, (step, first) in calm.items():
        quantities += [
            Quantity(f"gap <= {eps:g} m: bouncing begins at h = 0.1 s", first, begins[eps], "s",
                     2.0, 0.5, fitted=eps == 1e-3, reason="where (h v)²/(2 R) passes eps, a rule that is not printed"),
            Quantity(f"gap <= {eps:g} m: bouncing gone at", step, gone[eps],
                     "s", 0.0012, 5e-5, reason="of the steps 0.1/3^k s; no rule gives both printed values"),
        ]  # fmt: skip
    quantities += [
        Quantity("velocities differ visibly from", noticed(inner, data.fine), 2.3, "s", 2.0, 0.5,
                 "Stewart, h = 0.1/81 s, and Tzitzouris-Pang, h = 0.1 s: by 1 % of the largest velocity"),
        *(Quantity(f"they differ at {t:g} s by", _difference(inner, data.fine, t), r, "m/s", record_tolerance=1e-3,
                   reason=both) for t, r in ((1.0, 0.002233), (2.0, 0.059816), (3.0, 0.239235))),
        Quantity("c_r chatters at h = 0.1/243 s", float(_chatter(data.finest) > 1.01), 0.0, "", 1.0, 0.0,
                 f"1 = yes. Its variation is {_chatter(data.finest):.4f} times that of a monotone c_r; with a rule "
                 f"that drops contacts again and again (gap <= 1e-7 m, h = 0.1/27 s) {_chatter(data.tight):.0f} times"),
        *(Quantity(f"Tzitzouris-Pang: position error, h = {h:g} s", float(e), r, "m", record_tolerance=1e-4)
          for h, e, r in zip(STEPS, data.study.position_error, (1.578012, 0.743383, 0.360798, 0.177677))),
        Quantity("Tzitzouris-Pang: order of the position error", data.study.order("position_error"), 1.0, "",
                 record_tolerance=0.05, reason="against the exact motion: the convergence the conclusion asks for"),
        Quantity("Tzitzouris-Pang: order of the velocity error", data.study.order("velocity_error"), 1.0, "",
                 record_tolerance=0.05),
        Quantity("Tzitzouris-Pang, as bodies in a World: velocities differ by",
                 float(np.abs(as_bodies - inner.v).max()), 0.0, "m/s", record_tolerance=1e-9),
        *newton_quantities(newton(seam(FRICTION), STEP, DURATION), 3.35, 5.73, 9.0),
    ]  # fmt: skip
    runs = (outer, world, data.fine, data.finest, data.tight, data.predicted, *data.study.runs)
    explicit, smooth = ((run.times, forces(run, SPHERES[1])) for run in (data.fine, inner))
    quantities += friction_claims(data.bends, explicit, smooth, slips_from(inner, SEAM))
    notes = ("contacts act with gap <= 1e-3 m unless another rule is named; t lies along the seam",)
    return Outcome(tuple(quantities), worst(runs), lambda: _figures(data), notes)


def _figures(data: _Runs) -> dict[str, Figure]:
    from ..view.seam import contact_forces, moments, seam_velocities, selected_velocities
    from ..view.torsional import convergence_lines
    from . import drawings

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


EXPERIMENT = Experiment(
    "ttp01-two-spheres", PAPER, "A ball in the seam between two spheres (§4.2, figures 19–25)", reproduce
)
