"""Records that the stages of a step hand on: the world, the options, the problem, and what each stage has found.

Sizes: nb bodies, ns shapes, nj joint blocks, nm rows of joints, nl contact laws, n contacts, nk blocks, nr rows,
d velocities of a body (3 in the plane, 6 in space).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._check import FloatArray
from ...collision.records import FoundContacts
from ...problem.records import Array, BodyRows, Laws
from ...systems.model.records import JointRows


class StepOptions(NamedTuple):
    """How steps are taken: the simulator's and the scheme's options."""

    h: Any  # step [s]
    tol: Any  # aimed at
    accept: Any  # still taken
    strict_rows: Any  # islands of up to this many rows have to meet `tol`
    parallel: Any  # whether threads share the work
    stabilize: Any  # whether gap/h is demanded
    associated: Any  # True for the convex relaxation
    eps: Any  # contacts act whose gap is at most this [m]; negative: all in the band
    replay: Any  # whether steps that end where they begin are counted without being computed


class SpaceBodies(NamedTuple):
    """The bodies of a world in space."""

    mass: Array  # (nb,) [kg]
    inertia: Array  # (nb, 3) about the centre of mass, in principal axes [kg m²]
    inverse_mass: Array  # (nb,) 0 for what forces do not move
    inverse_inertia: Array  # (nb, 3)
    moves: Array  # (nb,) whether forces move it
    kinematic: Array  # indices of bodies whose motion is prescribed
    force: Array  # (nb, 6) force and torque, the same in every step [N, N m]
    reach: Array  # (nb,) farthest point from the centre [m]
    swing: Array  # (nb,) farthest point whose distance from the ground a turn changes [m]


class PlaneBodies(NamedTuple):
    """The bodies of a world in the plane; fields as in `SpaceBodies`."""

    inverse: Array  # (nb, 3) inverse mass and inertia of each velocity
    inverse_blocks: Array  # (nb, 3, 3) the same as matrices
    moves: Array
    kinematic: Array
    force: Array  # (nb, 3)
    reach: Array
    swing: Array


class ContactLaws(NamedTuple):
    """Which law a contact has, and what it is."""

    material: Array  # (ns,) material of each shape
    by_material: Array  # law of two materials
    pair: Array  # sorted numbers of pairs of bodies with a law of their own
    by_pair: Array  # and that law
    rows: Array  # (nl,) rows of its contacts
    codes: Array  # which rows they are
    axis: Array  # (., 3) axis of anisotropic friction
    side: Array  # the body that has the axis
    lever: Array  # (nb,) whether friction of an impact acts at the body's own surface
    set_of: Array  # friction set of each law; of joints with and without dry friction the last two
    mu: Array  # (nl,)
    elastic: Array  # (nl, 6) laws in the columns of `systems/elastic.py`; (0, 6) where none is elastic
    solid: Any  # whether some stiffness follows from materials
    fillet: Array  # (ns,) radius of edges and corners [m]; (0,) in the plane
    gravity: Any  # [m/s²]


class JointBlocks(NamedTuple):
    """Blocks of joints, limits, motors and friction, and what their rows demand (`model.kernels.mechanism.demands`)."""

    size: Array  # (nj,) rows
    bodies: Array  # (nj, 2)
    law: Array  # (nj,)
    bound: Array  # (nj,) radius of dry friction [N]
    mode: Array  # (nm,) what a row is for
    soft: Array  # (nm,) stiffness
    damping: Array  # (nm,)
    row_bound: Array  # (nm,) largest force
    target: Array  # (nm,) speed or place
    length: Array  # (nm,) 1, or metres for rotations


class Constraints(NamedTuple):
    """What joins and touches: the laws of contacts, friction sets, and joints."""

    rules: ContactLaws
    sets: Any  # arrays of all friction sets: kind, semi-axes, vertices, vertex_ptr, facets, facet_ptr
    joints: JointBlocks
    rows: JointRows


class StepProblem(NamedTuple):
    """The contact problem of a step, joints first; `solve` fills in p, rho and scale, and adds b to `free`."""

    keys: Array  # (nk,) what each block is, over time
    laws: Laws
    form: BodyRows
    demand: Array  # (nr,) b of the problem [m/s]
    free: Array  # (nr,) H v_free, then H v_free + b [m/s]
    terms: Array  # (nr,) |H||v_free|, whose round-off is in `free` [m/s]
    diagonal: Array  # (nr,) of H M⁻¹ Hᵀ [1/kg]
    p: Array  # (nr,) impulses: a first guess, then the answer
    rho: Array  # (nk,) step of the scaled map [kg]
    scale: Array  # (1,) of the residual [m/s]
    springs: Array  # (nk, 8) the springs of elastic contacts at the start; (0, 8) where none is
    elastic: Array  # (nk, 8) their stiffness, and where it comes from; (0, 8) where none is
    softened: Array  # (1,) how many of them are stiffer than the step allows
    unresolved: Array  # (1,) the first that is to bounce and cannot in steps of this length, -1 where there is none


class WorldArrays(NamedTuple):
    """A world, as the stages take it."""

    bodies: Any  # SpaceBodies or PlaneBodies
    shapes: Any  # SpaceShapes or PlaneShapes
    constraints: Constraints


class StepStart(NamedTuple):
    """The bodies where a step begins, as `begin` fills it in."""

    x: Array  # (nb, 2|3) positions
    turn: Array  # (nb, 3, 3) rotations; in the plane (nb,) angles
    Minv: Array  # (nb, d, d) inverse masses in world axes
    v_free: Array  # (nb, d) velocities after the forces of the step


class WarmStart(NamedTuple):
    """Constraints and impulses of the last step, from which the next solve starts."""

    keys: Array  # (nk,) its constraints, sorted
    impulses: Array  # (nk, 6) and their impulses
    springs: Array  # (nk, 8) and what elastic contacts remember (`spring_kernels`); (0, 8) where none is


class StateCopy(NamedTuple):
    """A state, and the worst residuals of the steps before it."""

    q: Array  # (nb, 3|7)
    turns: Array  # (nt,)
    v: Array  # (nb, d)
    warm_start: WarmStart
    worst: Array  # (MAXIMA + 2,) in the places below


class LastStep(NamedTuple):
    """The last step that was attempted: all that is needed to return it as Python would."""

    sweeps: Any  # of its solve, `AT_REST` where the first guess was the answer
    start: StepStart
    found: FoundContacts  # within the band at its start
    problem: StepProblem
    next_band: Any  # the band in which the next step looks for contacts [m]
    at_end: FoundContacts  # and what is within it at the end of this one
    before: StateCopy


# places in the residuals of a step, and in the worst of a group of steps
ERROR, PENETRATION, DRIFT, CONTACTS, GAIN, UNEXPLAINED, ACCEPTED_STEPS = 0, 1, 2, 3, 4, 5, 6
MAXIMA = 5  # places before this one hold largest values, the others counts


def no_residuals() -> FloatArray:
    """The worst residuals before the first step."""
    return np.zeros(MAXIMA + 2)
