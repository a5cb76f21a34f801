"""Between Python and the stages: the arrays of a world on the way in, the result of a step on the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...friction.sets import ELLIPSOID, POLYHEDRON
from ...problem.contact_problem import ContactProblem
from ...problem.dynamics import Bodies
from ...solvers.acceptance import acceptance_levels
from ...solvers.gauss_seidel.nsgs import solution_from_sweeps
from ...solvers.gauss_seidel.outcome import AT_REST
from ...systems.base import State, System
from ...systems.elastic import LAW_COLUMNS
from ...systems.model.base import CODES
from ...systems.model.candidates import Features, WorldCandidates
from ..anitescu_hart import AnitescuHart
from ..base import Scheme, StepResult, with_scene_sizes
from ..solves import bring_to_rest
from ..springs import Springs
from .records import (
    Constraints,
    ContactLaws,
    FoundContacts,
    JointBlocks,
    LastStep,
    PlaneBodies,
    SpaceBodies,
    StepOptions,
    WorldArrays,
)


def needs_python(system: System, scheme: Scheme) -> bool:
    """Whether a step of the scheme needs more than the stages know: they take worlds, and `AnitescuHart`.

    Forces, motions and targets of motors are constant, shapes have flat sides or are balls, disks and rods, and what
    touches is rigid, does not bounce, and has friction that is smooth and does not depend on speed.
    """
    model: Any = system
    if type(scheme) is not AnitescuHart or scheme.directions is not None or not hasattr(model, "laws"):
        return True
    convex = scheme.relaxation == "convex"
    if scheme.relaxation not in ("none", "convex") or (convex and model.dim == 3):
        return True
    laws = model.laws
    given = POLYHEDRON in laws.friction.kind or len(laws.friction.varying) > 0
    return bool(
        not model.steady or model.mechanism.timed or given or model.restitution > 0.0 or laws.soft is not None
        or model.curved
    )  # fmt: skip


def has_nested_blocks(model: Any) -> bool:
    """Whether contacts may be blocks of the kind NESTED (`sweep_list.classify`), which have kernels of their own."""
    f, rows = model.laws.friction, model.laws.rows
    sets = f.set_of[: len(rows)]
    slips = (f.kind[sets] == ELLIPSOID) & (f.semi[sets, : model.dim - 1] > 0.0).all(axis=1)
    return not bool(((rows == 1) | (slips & (rows == model.dim))).all())


def world_arrays(model: Any) -> WorldArrays:
    """The arrays of a frozen model, as the stages take them."""
    laws, m, f = model.laws, model.mechanism, model.laws.friction
    kinematic = np.array(model.kinematic, dtype=np.int64)
    common = (model.moves, kinematic, model.steady_forces(), model.reach, model.swing)
    if model.dim == 3:
        bodies: Any = SpaceBodies(model.mass_of, model.inertia, model.inverse_mass, model.inverse_inertia, *common)
    else:
        bodies = PlaneBodies(model.inverse, model.inverse_blocks, *common)
    codes, axis, side = laws.arrays
    rules = ContactLaws(
        model.shape_material, laws.by_material, laws.pair, laws.by_pair, laws.rows, codes, axis, side, model.lever,
        f.set_of, f.mu, np.zeros((0, LAW_COLUMNS)) if laws.elastic is None else laws.elastic, laws.solid,
        model.fillet if model.dim == 3 else np.zeros(0), model.free_fall,
    )  # fmt: skip
    joints = JointBlocks(
        m.size, m.bodies, m.law, m.bound, m.mode, m.soft, m.damping, m.row_bound, m.targets(0.0), m.length
    )
    sets = (f.kind, f.semi, f.vertices, f.vertex_ptr, f.facets, f.facet_ptr)
    return WorldArrays(bodies, model.shapes, Constraints(rules, sets, joints, m.rows.arrays))


def step_options(scheme: AnitescuHart, h: float, tol: float, accept: float | None) -> StepOptions:
    """How the scheme takes steps of length h [s]; threads and repetition are the caller's to say."""
    most, strict = acceptance_levels(tol, accept)
    eps = -1.0 if scheme.eps is None else float(scheme.eps)
    convex = scheme.relaxation == "convex"
    return StepOptions(
        float(h), float(tol), float(most), int(strict), False, bool(scheme.stabilize), convex, eps, False
    )


def to_step_result(
    scheme: AnitescuHart, model: Any, state: State, new: State, h: float, tol: float, accept: float | None,
    last: LastStep,
) -> StepResult | None:  # fmt: skip
    """The compiled step from `state` to `new` as the scheme would return it; None where it is not taken.

    What the stages have found and solved becomes the contact problem again, for the same functions to judge as after a
    step in Python; nothing is detected or solved again.
    """
    from ..spring_kernels import all_elastic

    assembled, in_band, at_end = last.problem, _candidates(model, last.found), _candidates(model, last.at_end)
    laws, form, p, start = assembled.laws, assembled.form, assembled.p, last.start
    model.remember_detected(new.q, last.next_band, at_end)
    candidates = scheme.active(model, state, in_band)
    problem = ContactProblem.trusted(
        Bodies.trusted(form.body_a, form.body_b, form.Ja, form.Jb, start.Minv, candidates.row_ptr),
        {"q": assembled.free, "rho": assembled.rho, "scale": float(assembled.scale[0])},
        v_free=start.v_free.ravel(), b=assembled.demand,
        row_ptr=candidates.row_ptr, law=candidates.law, friction=candidates.friction, r0=laws.r0, C=laws.C,
        lo=laws.lo, hi=laws.hi, associated=scheme.relaxation == "convex", length=laws.length,
        key=candidates.key, p_warm=p, v_start=state.v, elastic=all_elastic(candidates.law, assembled.springs),
    )  # fmt: skip
    solution = solution_from_sweeps(problem, p, (tol, accept), None if last.sweeps == AT_REST else int(last.sweeps))
    if not solution.taken:
        return None
    solution, _ = bring_to_rest(problem, solution, tol)
    after = replace(new, t=state.t + h)
    springs = None
    if len(assembled.springs):
        springs = Springs(h, assembled.springs, int(assembled.softened[0]), assembled.elastic, gravity=model.free_fall)
    result = scheme.result(model, state, after, h, (candidates, at_end), problem, (("step", solution),), springs)
    return with_scene_sizes(result, model, h)


def _candidates(model: Any, found: FoundContacts) -> WorldCandidates:
    """Contacts that the stages have found, as the model gives them."""
    key = (found.shape_a * model.ns + found.shape_b) * CODES + found.code
    features = Features(*(getattr(found, name) for name in Features.__dataclass_fields__))
    candidates: WorldCandidates = model.candidates(features, key)
    return candidates
