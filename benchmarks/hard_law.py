"""How well another engine's contact impulses obey hard contact with Coulomb friction: our certificate on its contacts.

An engine hands over a `Report` of one step: velocities before it, contacts with their impulses, velocities after it.
From these a `ContactProblem` is made, and `certify` measures the impulses exactly as it measures ours. Two remarks:

- The law asked of the others is the weaker one, on velocities: at a contact that overlaps already, u_n >= 0 is enough,
  while ours must also undo the overlap within the step (u_n + gap/h >= 0). Their penetration is shown beside it.
- If M (v' - v_free) = Hᵀ p does not hold for what was handed over, then the impulses are not those of the step (an
  engine may project positions, split impulses or report forces of another moment), and no residual is given.
"""

from dataclasses import dataclass

import numpy as np

import stiction as st
from scenes import DT, MU

MISMATCH = (
    1e-3  # of the speed that gravity gives in a step, in the median body: more, and the report is not of the step
)


@dataclass
class Report:
    """One step of an engine; velocities are [linear, angular] at the centres of mass, in world axes."""

    centre: np.ndarray  # (nb, 3) m, where the contacts were found
    before: np.ndarray  # (nb, 6)
    after: np.ndarray  # (nb, 6)
    mass: float  # kg, of each body
    inertia: float  # kg m², of each body (spheres and cubes)
    body_a: np.ndarray  # (nk,), -1 = fixed
    body_b: np.ndarray
    gap: np.ndarray  # (nk,) m
    point: np.ndarray  # (nk, 3) m
    frame: np.ndarray  # (nk, 3, 3): rows are the normal from b to a, and two tangents
    impulse: np.ndarray  # (nk, 3) N s along these, on a


def residual(report):
    """The natural-map error of the impulses (FCLIB's scaling), or NaN where they are not those of the step."""
    nk, nb = len(report.body_a), len(report.centre)
    if nk == 0:
        return 0.0
    J = []
    for body, sign in ((report.body_a, 1.0), (report.body_b, -1.0)):
        arm = report.point - np.where((body >= 0)[:, None], report.centre[body], report.point)
        spin = np.cross(arm[:, None, :], report.frame)
        rows = sign * np.concatenate([report.frame, spin], axis=2)
        J.append((rows * (body >= 0)[:, None, None]).reshape(3 * nk, 6))
    inverse = np.diag([1 / report.mass] * 3 + [1 / report.inertia] * 3)
    row_ptr = 3 * np.arange(nk + 1)
    form = st.Bodies(report.body_a, report.body_b, *J, np.repeat(inverse[None], nb, axis=0), row_ptr)
    free = report.before + DT * np.array([0, 0, -9.81, 0, 0, 0])
    demand = np.zeros(3 * nk)
    demand[::3] = np.maximum(report.gap, 0.0) / DT
    problem = st.ContactProblem(
        form, row_ptr=row_ptr, law=np.full(nk, int(st.Law.UNILATERAL)), friction=MU, v_free=free.ravel(), b=demand
    )
    p = report.impulse.ravel()
    ours = problem.velocity(p).reshape(nb, 6)
    off = np.abs(ours - report.after)[:, :3].max(axis=1)
    if np.median(off) > MISMATCH * 9.81 * DT:
        return np.nan
    return problem.certify(p).error


def tangents(normal):
    """Frames (nk, 3, 3) whose first rows are the given unit normals (nk, 3)."""
    other = np.where(np.abs(normal[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]])
    first = np.cross(normal, other)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([normal, first, np.cross(normal, first)], axis=1)
