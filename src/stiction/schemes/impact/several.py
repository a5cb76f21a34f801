"""Ways to resolve an impact at several contacts at once (s00 §5.3): rigid bodies alone do not say which is right.

simultaneous   all contacts in the same problems (`law.py`); one that is alone in its island is followed through
sequential     one contact at a time, the one that approaches fastest, until none approaches
work-driven    all together as springs, by their relative stiffness (`work.py`)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._check import FloatArray, IntArray
from ...problem.contact_problem import ContactProblem
from ...problem.dynamics import Dense
from ...problem.laws import UNILATERAL
from ...status import Status
from ...systems.restitution import LAWS, NEWTON
from ..base import Solve
from .incremental import incremental
from .law import Impulses, together
from .rows import Group, groups
from .work import WorkDriven, springs

IMPACTS_PER_CONTACT_MAX = 10_000  # impacts per contact in a sequence
APPROACH_NOISE_SHARE = 1e-12  # an approach, relative to the fastest at the start, that counts as none
_GOOD = (Status.SOLVED, "")


@dataclass(frozen=True)
class Resolver:
    """Impact laws (nk,), `NEWTON`, `POISSON` or `STRONGE`, with the way in which they are applied.

    restitution: the coefficients (nk,) at speeds (nk,) [m/s]; name: what people call a block.
    """

    law: IntArray
    multiple: str | WorkDriven
    follow: bool
    restitution: Callable[[FloatArray], FloatArray]
    name: Callable[[int], str]
    solve: Solve

    def __call__(self, problem: ContactProblem) -> Impulses:
        """The impulses of an impact."""
        if isinstance(self.multiple, WorkDriven):
            return self._apart(problem, self._springs)
        if self.multiple == "sequential":
            return self._apart(problem, self._sequence)
        return self._together(problem)

    def coefficients(self, problem: ContactProblem) -> FloatArray:
        """(nk,) at the speeds of approach with which the impact begins."""
        return self.restitution(np.maximum(-problem.q[problem.row_ptr[:-1]], 0.0))

    def _together(self, problem: ContactProblem) -> Impulses:
        e = self.coefficients(problem)
        if not self.follow or (self.law == NEWTON).all():
            return together(problem, e, self.law, self.solve)
        found = list(groups(problem))
        lone = [group for group in found if group.lone and self.law[group.blocks[0]] != NEWTON]
        rest = Impulses(np.zeros(problem.nr), problem.v_free)
        if len(lone) < len(found):
            rest = together(problem, e, self.law, self.solve)
        p = rest.p.copy()
        for group in lone:
            group.spread(self._one(group, 0, group.u, e)[0], p)
        return Impulses(p, problem.velocity(p), rest.solves, rest.status, rest.message)

    def _apart(
        self, problem: ContactProblem, way: Callable[[ContactProblem, Group], tuple[FloatArray, Status, str]]
    ) -> Impulses:
        """Every island by itself."""
        p, status, message = np.zeros(problem.nr), Status.SOLVED, ""
        for group in groups(problem):
            found, ended, said = way(problem, group)
            group.spread(found, p)
            if ended.rank > status.rank:
                status, message = ended, said
        return Impulses(p, problem.velocity(p), (), status, message)

    def _springs(self, problem: ContactProblem, group: Group) -> tuple[FloatArray, Status, str]:
        assert isinstance(self.multiple, WorkDriven)
        e = self.coefficients(problem)
        if not group.coulomb:
            name = self.name(int(group.blocks[np.argmax(np.isnan(group.mu))]))
            said = (
                f"the work-driven impact knows Coulomb friction with a constant coefficient; {name!r} has another law."
            )
            return np.zeros(len(group.rows)), Status.REFUSED, said
        if group.lone:  # as the springs, but exact
            return incremental(group.W, group.u, float(group.mu[0]), float(e[group.blocks[0]]), "stronge").p, *_GOOD
        K = self.multiple.of([self.name(int(k)) for k in group.blocks])
        p, ended = springs(group, e[group.blocks], K, self.multiple.exponent)
        return (p, *_GOOD) if ended else (p, Status.LIMIT, "the work-driven impact did not end within its steps.")

    def _sequence(self, problem: ContactProblem, group: Group) -> tuple[FloatArray, Status, str]:
        u, p, normal = group.u.copy(), np.zeros(len(group.rows)), group.normal
        speed, least = np.zeros(problem.nk), APPROACH_NOISE_SHARE * float(np.abs(u[normal]).max())
        for _ in range(IMPACTS_PER_CONTACT_MAX * len(normal)):
            i = int(np.argmin(u[normal]))  # of equally fast ones the first
            if u[normal[i]] >= -least:
                return p, *_GOOD
            speed[group.blocks] = np.maximum(-u[normal], 0.0)
            rows = slice(int(group.ptr[i]), int(group.ptr[i + 1]))
            dp, ended, said = self._one(group, i, u, self.restitution(speed))
            p[rows] += dp
            u += group.W[:, rows] @ dp
            if not ended.taken:
                return p, ended, said
        said = f"{IMPACTS_PER_CONTACT_MAX} impacts per contact, one after the other, did not end an impact."
        return p, Status.LIMIT, said

    def _one(self, group: Group, i: int, u: FloatArray, e: FloatArray) -> tuple[FloatArray, Status, str]:
        """One contact alone from velocities u: followed through, or as compression and restitution."""
        rows = slice(int(group.ptr[i]), int(group.ptr[i + 1]))
        W, mu, k = _definite(group.W[rows, rows]), float(group.mu[i]), group.blocks[i]
        if self.law[k] != NEWTON and self.follow and not np.isnan(mu):
            return incremental(W, u[rows], mu, float(e[k]), LAWS[self.law[k]]).p, *_GOOD
        local = ContactProblem(
            Dense(np.linalg.inv(W), np.eye(len(W)), check=False),
            v_free=u[rows],
            row_ptr=[0, len(W)],
            law=[UNILATERAL],
            friction=group.friction.take(np.array([i])),
            length=group.length[rows],
        )
        found = together(local, e[k : k + 1], self.law[k : k + 1], self.solve)
        return found.p, found.status, found.message


def _definite(W: FloatArray) -> FloatArray:
    """W, with the least that makes it invertible where a direction cannot move at all."""
    size, least = float(np.trace(W)), float(np.linalg.eigvalsh(W)[0])
    return W if least > 1e-13 * size else W + (1e-12 * size - min(least, 0.0)) * np.eye(len(W))
