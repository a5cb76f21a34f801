"""Which hypotheses of the theorems hold at a state: s00 (H1)–(H6) and its conditions (1), (2), those of st96 §3.4, and
ttp01 theorem 1.

s00's theorem 1 promises that time-stepping converges to a solution of the measure differential inclusion; ttp01's
theorem 1 promises forces and accelerations. Their hypotheses speak of all configurations; what is local is checked
here at one, with the number that decides. (H6), that directions come in opposite pairs, is ah03 eq. 2.6. st96 §3.4 has
two, with which a step with several contacts has a solution that Lemke's method finds: that normals are independent,
which is (H4), and that no vector but zero is in the span of the normals and in that of the directions of friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import checks_arguments
from .._check import FloatArray
from ..errors import ModelError
from ..problem.laws import UNILATERAL
from ..systems.base import State
from .bounds import pointed, theorem_bound
from .cones import Cones
from .forms import Form, force_acceleration, impulse_velocity
from .instant import Instant, built

ZERO_TOL = 1e-9  # relative: singular values and margins below it count as zero


@dataclass(frozen=True)
class Finding:
    """One hypothesis: its name, whether it holds (None: cannot be told here), the number that decides, a sentence."""

    name: str
    holds: bool | None
    value: float | None
    sentence: str


@dataclass(frozen=True)
class Hypotheses:
    """What holds at a state; `findings["H5"]` or iteration give each `Finding`."""

    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise ModelError(f"there is no hypothesis {name!r}; there are {[f.name for f in self.findings]}.")

    def __iter__(self) -> Any:
        return iter(self.findings)

    def __str__(self) -> str:
        word = {True: "holds", False: "fails", None: "open"}
        return "\n".join(f"{f.name:<8}{word[f.holds]:<7}{f.sentence}" for f in self.findings)


@checks_arguments
def hypotheses(
    system: Any, state: State | None = None, *, closed: float = 1e-9, rest: float = 1e-9, directions: int = 8
) -> Hypotheses:
    """Check the hypotheses at a state, the contacts being those with a gap of up to `closed` [m].

    rest [m/s]: slower contacts count as rolling (at rest) in ttp01's sense. directions: how many stand for a smooth
    friction set where (H6) asks for balanced ones.
    """
    system = built(system)
    posed = impulse_velocity(system, state, closed=closed)
    problem = posed.problem
    dense = problem.to_dense()
    M, H = dense.dynamics.M, dense.dynamics.H  # type: ignore[union-attr]
    normal = problem.row_ptr[:-1][problem.law == UNILATERAL]
    findings = [
        _smooth(system, state, closed),
        _mass(M),
        _sizes(M, H, normal),
        _normals(H[normal]),
        _apart(problem, M, H),
        _pointed(problem),
        _balanced(problem, directions),
        _pressing(problem),
        _one_dimensional(problem),
        _part_a(problem),
        _part_b(system, state, closed, rest),
    ]
    return Hypotheses(tuple(findings))


def _smooth(system: Any, state: State | None, closed: float) -> Finding:
    """How fast M, n and D change at the state: what a Lipschitz constant must be at least."""
    now = Instant(system, state, closed)
    step = 1e-6

    def rows(dq: FloatArray) -> FloatArray:
        q = now.system.retract(now.state.q, dq)
        found = now.system.evaluate(now.candidates, now.state.t, q)
        form: Any = now.system.dynamics(q, found).dense()[0]
        return np.concatenate([form.H.ravel(), form.M.ravel()])

    fastest = 0.0
    for i in np.flatnonzero(now.moving):
        dq = np.zeros(now.system.nv)
        dq[i] = step
        fastest = max(fastest, float(np.linalg.norm(rows(dq) - rows(-dq)) / (2 * step)))
    sentence = f"is about all configurations; here M, n and D change by {fastest:.3g} per unit of q at most"
    return Finding("H1", None if np.isfinite(fastest) else False, fastest, sentence)


def _mass(M: FloatArray) -> Finding:
    least = float(np.linalg.eigvalsh(M)[0]) if len(M) else np.inf
    return Finding(
        "H2", least > 0.0, least, f"the mass matrix is positive definite: its least eigenvalue is {least:.3g}"
    )


def _sizes(M: FloatArray, H: FloatArray, normal: np.ndarray) -> Finding:
    friction = np.delete(H, normal, axis=0)
    sizes = [float(np.linalg.norm(A, 2)) if A.size else 0.0 for A in (M, H[normal], friction)]
    sentence = "bounded: |M| = {:.3g}, |n| = {:.3g}, |D| = {:.3g} here".format(*sizes)
    return Finding("H3", bool(np.isfinite(sizes).all()), max(sizes), sentence)


def _normals(N: FloatArray) -> Finding:
    if not len(N):
        return Finding("H4", True, None, "no contact touches")
    sigma = np.linalg.svd(N, compute_uv=False)
    least = float(sigma[-1]) if len(N) <= N.shape[1] else 0.0
    holds = least > ZERO_TOL * float(sigma[0])
    what = f"the least singular value of the normals is {least:.3g}" if holds else "the normals depend on each other"
    return Finding("H4", holds, least if holds else 0.0, what)


def _apart(problem: Any, M: FloatArray, H: FloatArray) -> Finding:
    """st96 §3.4: span n ∩ span D = {0}; the sine of the least angle between them, as the kinetic energy measures it."""
    ptr, name = problem.row_ptr, "n∩D"
    contacts = np.flatnonzero(problem.law == UNILATERAL)
    friction = [int(row) for k in contacts if problem.friction.mu[k] > 0.0 for row in range(ptr[k] + 1, ptr[k + 1])]
    if not friction:
        return Finding(name, True, None, "no contact that touches has friction")
    basis = np.linalg.inv(np.linalg.cholesky(M))
    N, D = (_span(basis @ H[rows].T) for rows in (ptr[contacts], friction))
    sine = float(np.linalg.svd(D - N @ (N.T @ D), compute_uv=False)[-1])
    holds = sine > ZERO_TOL
    no = f"no impulse of the normals is one of friction: the sine of the least angle between them is {sine:.3g}"
    sentence = no if holds else "some impulse of the normals is one of friction as well"
    return Finding(name, holds, sine if holds else 0.0, sentence)


def _span(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of the span of columns."""
    U, sigma, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, sigma > ZERO_TOL * sigma[0]]


def _pointed(problem: Any) -> Finding:
    holds, margin = pointed(problem)
    if np.isinf(margin):
        return Finding("H5", True, None, "the friction cone is pointed whatever the friction")
    what = "is pointed" if holds else "is not pointed: contacts can press against each other without a load"
    return Finding("H5", holds, margin, f"the friction cone {what} (margin {margin:.3g} of the normal forces)")


def _balanced(problem: Any, directions: int) -> Finding:
    worst = 0.0
    for k in range(problem.nk):
        for _, D in problem.friction.groups(k, directions):
            if len(D):
                worst = max(worst, float(np.abs(D[:, None] + D[None]).max(axis=2).min(axis=1).max()))
    holds = worst <= ZERO_TOL
    what = "has its opposite" if holds else f"does not have its opposite: the nearest is {worst:.3g} off"
    return Finding("H6", holds, worst, f"every direction of friction {what}")


def _pressing(problem: Any) -> Finding:
    """s00 (1): nᵀM⁻¹z > 0 for every z of the friction cone, at each contact alone."""
    W, f, margins = problem.delassus(), problem.friction, []
    for k in np.flatnonzero(problem.law == UNILATERAL).tolist():
        n, stop = int(problem.row_ptr[k]), int(problem.row_ptr[k + 1])
        across, reach = W[n, n + 1 : stop], 0.0
        if stop > n + 1 and f.mu[k] > 0.0:
            reach = float(f.mu[k] * (-across @ f.sets[f.set_of[k]].support_point(-across)))
        margins.append(float(W[n, n] - reach) / float(W[n, n]))
    if not margins:
        return Finding("(1)", True, None, "no contact touches")
    least, good = min(margins), sum(m > 0.0 for m in margins)
    if len(margins) == 1:
        opens = "every force of the friction cone opens the contact"
        presses = "a force of the friction cone presses the contact together: Painlevé's case is near"
        sentence = opens if good else presses
        return Finding("(1)", good == 1, least, f"{sentence} (margin {least:.3g})")
    sentence = f"is about one contact; taken one by one it holds at {good} of {len(margins)} (least margin {least:.3g})"
    return Finding("(1)", False if good < len(margins) else None, least, sentence)


def _one_dimensional(problem: Any) -> Finding:
    dims = problem.friction.dims[problem.friction.set_of][problem.law == UNILATERAL]
    most = int(dims.max(initial=0))
    return Finding(
        "(2)", most <= 1, float(most), f"friction acts in {most} direction{'' if most == 1 else 's'} at most"
    )


def _part_a(problem: Any) -> Finding:
    bound = theorem_bound(problem)
    mu = float(problem.friction.mu.max(initial=0.0))
    if bound is None:
        return Finding("A", False, None, "the rows of the contacts depend on each other: part (A) says nothing")
    if mu <= bound:
        return Finding("A", True, bound, f"forces exist and are unique: µ = {mu:.3g} is within the bound {bound:.3g}")
    sentence = f"a bound exists, but µ = {mu:.3g} is above its estimate {bound:.3g}: part (A) does not tell"
    return Finding("A", None, bound, sentence)


def _part_b(system: Any, state: State | None, closed: float, rest: float) -> Finding:
    """ttp01 (B): all contacts rolling, and b·c >= 0 for all forces of the cones that balance each other."""
    try:
        posed = force_acceleration(system, state, closed=closed, rest=rest)
    except ModelError as error:
        return Finding("B", False, None, str(error).rstrip("."))
    sliding = _sliding(posed, rest)
    if sliding:
        return Finding("B", False, None, f"needs all contacts to roll, and {sliding[0]} slides")
    problem = posed.problem
    if not (problem.law == UNILATERAL).any():
        return Finding("B", True, None, "no contact acts")
    dense = problem.to_dense()
    q = problem.q
    size = float(np.abs(q).max(initial=0.0)) or 1.0
    best = Cones(problem).least(q / size, dense.dynamics.H.T, 0.0, most=1.0)  # type: ignore[union-attr]
    holds = best.found and best.value >= -1e-7
    what = "no forces that balance each other do work against the loads" if holds else (
        "forces that balance each other do work: part (B) says nothing"
    )  # fmt: skip
    return Finding("B", holds, float(best.value) * size, ("forces exist: " if holds else "") + what)


def _sliding(posed: Form, rest: float) -> list[str]:
    """The names of the contacts that act and slip."""
    acting = set(posed.problem.key.tolist())
    out = []
    for k, key in enumerate(posed.key.tolist()):
        rows = slice(int(posed.row_ptr[k]) + 1, int(posed.row_ptr[k + 1]))
        if key in acting and posed.law[k] == UNILATERAL and np.abs(posed.slip[rows]).max(initial=0.0) > rest:
            out.append(posed.names[k])
    return out
