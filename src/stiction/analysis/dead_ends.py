"""pr11 §3.1's open question, by random search: does some impulse always lead to a state in which finite forces exist?

"The LCP is known to have solutions, but whether there is always a solution leading to a solvable force-acceleration
contact problem is unclear to me." States are drawn at random: planar bodies that touch each other and the ground along
arcs of any curvature, with velocities that keep the contacts closed or close them, under random forces. Of each, all
impulses are found, and after each of them all forces.

The answer is no, and `papers.pr11_corner` has a state that can be checked by hand: a body tips into the corner of a
floor and a wall. Its only impulse leaves both contacts sliding, and there no finite force exists. A second impulse at
the same instant, after which the floor is left and the foot at the wall rests, leads on. The two are not one
solution, since the contact that opens bore a load in the first. Where rows are independent, a state at which the only
impulse is none has finite forces: the LCP of a step then has solutions for every h, for small h they are p₀ + h p₁
with p₀ an impulse of the state, and if p₀ = 0, p₁ is a force. So a chain of impulses ends only where forces exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _check
from .._arguments import checks_arguments
from .._check import FloatArray
from ..systems import Gap, GeneralizedSystem
from .forms import impulse_velocity
from .motions import Motion, Motions, all_motions

IMPULSES_MAX = 4  # impulses one after the other at the same instant


@dataclass(frozen=True)
class Search:
    """How many states were looked at, and of these: finite forces exist after every impulse (`all`), after `some`, only
    after further impulses (`later`, the seeds of the states), after none of up to four (`dead`, seeds); or not decided.
    """

    states: int
    all: int
    some: int
    later: tuple[int, ...]
    dead: tuple[int, ...]
    undecided: int

    @property
    def words(self) -> str:
        """For people."""

        def seeds(found: tuple[int, ...]) -> str:
            return f"{len(found)}" + (f" (seeds {', '.join(map(str, found))})" if found else "")

        return (
            f"Of {self.states} random states, finite forces exist after every impulse in {self.all}, only after some "
            f"in {self.some}, only after a further impulse in {seeds(self.later)}, after none in {seeds(self.dead)}; "
            f"{self.undecided} not decided."
        )


@checks_arguments
def search_dead_ends(states: int, *, seed: int = 0, bodies: int = 2, contacts: int = 3) -> Search:
    """Look at `states` random states with up to so many bodies and contacts; see `random_state` for what they are."""
    _check.count("seed", seed, low=0)
    for name, number in (("states", states), ("bodies", bodies), ("contacts", contacts)):
        _check.count(name, number)
    verdicts = {s: after_impulses(all_motions(random_state(s, bodies, contacts))) for s in range(seed, seed + states)}
    names = ("all", "some", "later", "dead")
    found = {name: tuple(s for s, verdict in verdicts.items() if verdict == name) for name in names}
    known = sum(map(len, found.values()))
    return Search(states, len(found["all"]), len(found["some"]), found["later"], found["dead"], states - known)


def after_impulses(motions: Motions) -> str:
    """After which impulses finite forces exist: "all", "some", only "later" ones, none ("dead"); or "undecided"."""
    goes_on = [motion.goes_on for motion in motions]
    if any(goes_on):
        return "all" if all(goes_on) else "some"
    if not motions.success or None in goes_on or any(motion.dimension for motion in motions):
        return "undecided"
    left = list(motions)
    for _ in range(IMPULSES_MAX - 1):
        left = [further for motion in left for further in _further(motion)]
        if any(motion.goes_on for motion in left):
            return "later"
    return "dead"


def _further(motion: Motion) -> list[Motion]:
    """The impulses at the state after an impulse, other than none."""
    if motion.after is None:
        return []
    form = impulse_velocity(motion.form.system, motion.after, closed=motion.form.closed)
    return [again for again in all_motions(form) if np.abs(again.v - motion.v).max() > 1e-9]


def random_state(seed: int, bodies: int, contacts: int) -> GeneralizedSystem:
    """A planar system of up to `bodies` bodies in its initial state, with up to `contacts` closed contacts.

    In half of the states the velocity keeps all contacts closed as far as it can; in others they close or part.
    """
    rng = np.random.default_rng(seed)
    nb, nc = int(rng.integers(1, bodies + 1)), int(rng.integers(1, contacts + 1))
    gaps = [_random_contact(rng, nb, f"contact {i + 1}") for i in range(nc)]
    q, v = np.zeros(3 * nb), rng.normal(size=3 * nb)
    if rng.random() < 0.5:
        N = np.array([gap.rows(0.0, q)[0] for gap in gaps])
        v -= np.linalg.pinv(N) @ (N @ v)
    masses = [(m, m, inertia) for m, inertia in rng.uniform(0.3, 2.0, (nb, 2))]
    return GeneralizedSystem(np.diag(np.ravel(masses)), 2.0 * rng.normal(size=3 * nb), q=q, v=v, gaps=gaps)


def _random_contact(rng: np.random.Generator, bodies: int, name: str) -> Gap:
    """A contact between two random bodies, -1 being the ground."""
    a = int(rng.integers(bodies))
    b = int(rng.choice([i for i in range(-1, bodies) if i != a]))
    touch, other, turn = rng.normal(size=2), rng.normal(size=2), rng.uniform(0.0, 2.0 * math.pi)
    radius, share = rng.uniform(0.2, 3.0), rng.uniform(-1.0, 2.0)
    return arc_contact((a, b), touch, other, turn, radius, share, float(rng.uniform(0.1, 4.0)), bodies, name)


def arc_contact(
    pair: tuple[int, int],
    touch: FloatArray,
    other: FloatArray,
    turn: float,
    radius: float,
    share: float,
    mu: float,
    bodies: int,
    name: str,
) -> Gap:
    """Arcs about points of two bodies, which touch at q = 0; coordinates (x, y, angle) of each body, -1 is the ground.

    touch, other (2,): where the contact is, from the centre of the first and of the second body; turn [rad]: the
    direction of the normal; radius [m]: of both arcs together, the distance of their centres; share: how much of it is
    the second body's, negative where that is hollow, above 1 where the first is.
    """
    a, b = pair
    n = np.array([math.cos(turn), math.sin(turn)])
    arms = {a: touch + (1.0 - share) * radius * n, b: other - share * radius * n}
    places = {a: np.zeros(2), b: touch - other}  # where the bodies' centres are at q = 0

    def pose(i: int, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where the centre of body i is, and that of its arc."""
        x, y, angle = q[3 * i : 3 * i + 3] if i >= 0 else np.zeros(3)
        c, s = math.cos(angle), math.sin(angle)
        at = places[i] + np.array([x, y])
        return at, at + np.array([[c, -s], [s, c]]) @ arms[i]

    def apart(q: FloatArray) -> FloatArray:
        return np.asarray(pose(a, q)[1] - pose(b, q)[1])

    def row(direction: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
        def made(q: FloatArray) -> FloatArray:
            between = apart(q)
            normal = between / np.linalg.norm(between)
            point, d = pose(b, q)[1] + share * radius * normal, direction(normal)
            out = np.zeros(3 * bodies)
            for i, sign in ((a, 1.0), (b, -1.0)):
                if i >= 0:
                    arm = point - pose(i, q)[0]
                    out[3 * i : 3 * i + 3] = sign * d[0], sign * d[1], sign * (arm[0] * d[1] - arm[1] * d[0])
            return out

        return made

    return Gap(
        lambda q: float(np.linalg.norm(apart(q))) - radius,
        row(lambda n: n),
        row(lambda n: np.array([n[1], -n[0]])),
        friction=mu,
        name=name,
    )
