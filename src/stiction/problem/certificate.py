"""The certificate of a solve: how well impulses obey the laws of a contact problem, whatever solver made them.

There are two natural maps. That of the community has a unit step between impulses and velocities, mixes N·s with m/s,
and is blind for very light bodies. The scaled map has a step for each block, and no units. Tolerances apply to the
scaled one; the other is the measure of problems that come from FCLIB files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from .laws import Mode

if TYPE_CHECKING:
    from .contact_problem import ContactProblem

# the residuals of a certificate with their units
UNITS = {
    "natural_map": "",
    "scaled_map": "",
    "dynamics": "m/s",
    "penetration_rate": "m/s",
    "tension": "N s",
    "complementarity": "J",
    "friction_excess": "N s",
    "dissipation_defect": "J",
    "equality": "m/s",
    "bounds": "N s",
    "impulse_error": "N s",
}


@dataclass(frozen=True)
class SolveCertificate:
    """The largest residual of each kind, with the block where it sits (`blocks`, -1 where there is none).

    `scaled_map` is the 2-norm over all blocks of `(p - P_K(p - ρ û))/ρ`, ρ the inertia that a block's rows see,
    divided by the 2-norm of the free relative velocity: a relative error of velocity, whatever the units of length,
    mass and time. `natural_map` is the error measure of the FCLIB community, the same with ρ = 1, so that 1e-8 means
    what it means in published comparisons; it compares impulses with velocities, and depends on the unit of mass.
    `error` is what `tol` is compared with: the one that the problem names as its `measure`, which is the scaled map but
    for problems read from FCLIB files. The other fields are in the units of `UNITS`: `dynamics` (velocity not explained
    by the impulses), `penetration_rate`, `tension`, `complementarity`, `friction_excess` (friction outside its set),
    `dissipation_defect` (dissipation short of the most its set allows), `equality` (joints), `bounds` (boxes), and
    `impulse_error`, by which the impulse of a block misses its law altogether: its part of the scaled map, times ρ.
    """

    natural_map: float
    scaled_map: float
    dynamics: float
    penetration_rate: float
    tension: float
    complementarity: float
    friction_excess: float
    dissipation_defect: float
    equality: float
    bounds: float
    impulse_error: float
    scale: float
    blocks: dict[str, int]
    measure: str = "scaled_map"

    @property
    def error(self) -> float:
        """The number that is compared with a tolerance: the map that `measure` names.

        Infinite where any residual, or the scale, is not finite: comparisons with NaN are false, and residuals divided
        by an infinite scale are zero.
        """
        finite = math.isfinite(sum(self.as_dict().values()) + self.scale)
        error = self.natural_map if self.measure == "natural_map" else self.scaled_map
        return error if finite else math.inf

    def ok(self, tol: float) -> bool:
        """Whether the laws are met to `tol`."""
        return self.error <= _check.number("tol", tol, finite=False)

    def as_dict(self) -> dict[str, float]:
        """The residuals by name."""
        return {name: float(getattr(self, name)) for name in UNITS}

    def __str__(self) -> str:
        lines = ["residual             largest     unit   block"]
        for name, unit in UNITS.items():
            block = self.blocks.get(name, -1)
            lines.append(f"{name:<20s} {getattr(self, name):<11.3e} {unit:<6s} {block if block >= 0 else ''}".rstrip())
        return "\n".join(lines)


def certify(
    problem: ContactProblem, p: FloatArray, v: FloatArray | None = None, change: FloatArray | None = None
) -> tuple[SolveCertificate, IntArray, FloatArray]:
    """The certificate of impulses p (nr,), the mode of each block (nk,), and the velocities u (nr,) they give.

    With `v` (nv,) the velocities are taken from it and the certificate's `dynamics` says how far it is from
    `v_free + M⁻¹ Gᵀ p`. change (nv,): M⁻¹ Gᵀ p, where it is known.
    """
    from .residuals import FIELDS, NATURAL, SCALED, largest

    dynamics = problem.dynamics
    missing = 0.0
    if v is None:
        caused = dynamics.delassus_times(p) if change is None else dynamics.velocity_rows(change)
        u = problem.q + caused + problem.C * p
    else:
        expected = problem.velocity(p)
        missing = float(np.abs(v - expected).max(initial=0.0))
        u = dynamics.velocity_rows(v) + problem.b + problem.C * p
    table, mode = _residuals(problem, u, p)
    if len(problem.friction.varying):
        _by_speed(problem, u, p, table, mode)
    scale = problem.scale
    names = (*FIELDS, "natural_map", "scaled_map")
    worst, where = np.zeros(len(names)), np.full(len(names), -1)
    if problem.nk:
        largest(table, worst, where)
    values: dict[str, Any] = dict(zip(names, worst.tolist()))
    blocks: dict[str, int] = dict(zip(names, where.tolist()))
    missed = np.abs(table[:, SCALED] * problem.rho)
    blocks["impulse_error"] = int(np.argmax(missed)) if missed.any() else -1
    values["impulse_error"] = float(missed.max(initial=0.0))
    values["natural_map"] = float(np.sqrt((table[:, NATURAL] ** 2).sum())) / scale
    values["scaled_map"] = float(np.sqrt((table[:, SCALED] ** 2).sum())) / scale
    certificate = SolveCertificate(dynamics=missing, scale=scale, blocks=blocks, measure=problem.measure, **values)
    return certificate, mode, u


def missed_by_block(problem: ContactProblem, p: FloatArray) -> FloatArray:
    """(nk,) the parts of the map that the certificate's `error` is made of, for impulses p: its 2-norm over `scale`."""
    from .residuals import NATURAL, SCALED

    u = problem.q + problem.dynamics.delassus_times(p) + problem.C * p
    table, mode = _residuals(problem, u, p)
    if len(problem.friction.varying):
        _by_speed(problem, u, p, table, mode)
    return np.asarray(table[:, NATURAL if problem.measure == "natural_map" else SCALED])


def _residuals(problem: ContactProblem, u: FloatArray, p: FloatArray) -> tuple[FloatArray, IntArray]:
    """The residuals (nk, 9) and the mode (nk,) of each block, with the coefficients as they stand in the table."""
    from .residuals import SCALED, block_residuals

    f = problem.friction
    table = np.empty((problem.nk, SCALED + 1))
    mode = np.empty(problem.nk, dtype=np.int64)
    if problem.nk:
        block_residuals(problem.laws, problem.rho, u, p, table, mode)
    if f.written:  # of sets written in Python the kernels have only a polyhedron inside
        from .python_sets import python_set_residuals

        for k in f.written:
            table[k], mode[k] = python_set_residuals(problem, k, u, p)
    finite = np.isfinite(u) & np.isfinite(p)
    if not finite.all():  # projections by max and min lose a NaN
        bad = np.flatnonzero(~np.logical_and.reduceat(finite, problem.row_ptr[:-1]))
        table[bad], mode[bad] = np.inf, int(Mode.OPEN)
    return table, mode


def _by_speed(problem: ContactProblem, u: FloatArray, p: FloatArray, table: FloatArray, mode: IntArray) -> None:
    """Judge blocks whose coefficient depends on the speed of slip: change their rows of `table` and `mode`.

    Their law has two parts: rest, with the coefficient at rest (what `table` holds) and the speed itself as what is
    missing, and slip, with the coefficient at the speed that u gives. The nearer one counts, so that a contact which
    sticks to within the accuracy of a solver is at rest.
    """
    from .residuals import NATURAL, SCALED

    speeds = problem.friction.speeds(u, problem.row_ptr)
    if not np.isfinite(speeds).all():
        return
    moving, moving_mode = _residuals(problem.with_coefficients(problem.friction.mu_at(speeds)), u, p)
    varying = problem.friction.varying
    for column in (NATURAL, SCALED):
        table[varying, column] = np.maximum(table[varying, column], speeds[varying])
    slips = varying[moving[varying, NATURAL:].max(axis=1) < table[varying, NATURAL:].max(axis=1)]
    table[slips], mode[slips] = moving[slips], moving_mode[slips]
