"""Assemble: the contact problem of an Anitescu–Hart step, from what was found at its start (ah03 eq. 2.7–2.12)."""

from __future__ import annotations

import math

import numpy as np

from ...collision.records import FeaturePairs, Surfaces
from ...collision.sizes import contact_sizes2, contact_sizes3
from ...problem.body_kernels import delassus_diagonal, rows_times
from ...problem.records import BodyRows, Laws, RowTerms
from ...runtime.jit import njit
from ...systems.elastic import COLUMNS, MEMORY
from ...systems.model.kernels.mechanism import demands
from ...systems.model.kernels.plane import joint_rows as planar_joint_rows
from ...systems.model.kernels.space import joint_rows as spatial_joint_rows
from ...systems.model.records import JointDemands
from ..spring_kernels import place_springs
from ..step_kernels import left_overlap
from ..stiffness_kernels import laws_of, set_stiffness
from .blocks import blocks_of, select_within, take_warm_start
from .records import StepProblem
from .rows import rows_planar, rows_spatial


@njit
def demand_of(h, stabilize, value, row_ptr, form, v, joints):
    """r0, b, C, lo and hi of a step's problem: contacts demand their gap, joints what their rows are for."""
    a, b, Ja, Jb, Minv = form
    bound = joints.bound
    nr, nk, nj, n = len(value), len(a), len(bound), len(joints.mode)
    r0, demand, C = np.zeros(nk), np.zeros(nr), np.zeros(nr)
    lo, hi = np.full(nr, -math.inf), np.full(nr, math.inf)
    for k in range(nj):
        r0[k] = h * bound[k]
    if stabilize:
        for r in range(nr):
            demand[r] = value[r] / h
    if n:
        start, speed, light = np.empty(n), np.empty(n), np.empty(n)
        for r in range(n):
            start[r] = value[r] / h
        rows_times(a[:nj], b[:nj], row_ptr[: nj + 1], Ja, Jb, v, speed)
        delassus_diagonal(a[:nj], b[:nj], row_ptr[: nj + 1], Ja, Jb, Minv, light)
        rows = JointDemands(joints.mode, joints.soft, joints.damping, joints.row_bound, joints.target)
        demands(h, stabilize, rows, start, speed, light, demand, C, lo, hi)
    return r0, demand, C, lo, hi


@njit(leaf=True)
def acting_first(keep, acting, geometry):
    """Bring the geometry of the contacts that act, the first of those in `keep`, to the front of its arrays."""
    gap, normal, point_a, point_b = geometry
    for i in range(acting):
        k = keep[i]
        gap[i] = gap[k]
        for j in range(normal.shape[1]):
            normal[i, j], point_a[i, j], point_b[i, j] = normal[k, j], point_a[k, j], point_b[k, j]


@njit
def sizes_planar(turn, found, keep, geometry, shapes, rules):
    """(n, 2) how large the contacts `keep` (n,) of those found are (`collision/sizes.py`)."""
    sizes = np.zeros((len(keep), 2))
    if rules.solid:
        contact_sizes2(found.shape_a, found.shape_b, keep, geometry, sizes)
    return sizes


@njit
def sizes_spatial(turn, found, keep, geometry, shapes, rules):
    """The same in space, where bodies are turned by `turn`."""
    sizes = np.zeros((len(keep), 2))
    if rules.solid:
        pairs = FeaturePairs(
            found.body_a, found.body_b, found.type, found.pa, found.da, found.pb, found.db, found.ra, found.rb
        )  # fmt: skip
        surfaces = Surfaces(shapes, rules.fillet, pairs, found.shape_a, found.shape_b, np.zeros((0, 2, 4)))
        contact_sizes3(turn, surfaces, keep, geometry, sizes)
    return sizes


def _make_assemble(d):
    joint_rows, rows = (planar_joint_rows, rows_planar) if d == 3 else (spatial_joint_rows, rows_spatial)
    sizes_of = sizes_planar if d == 3 else sizes_spatial

    @njit(sealed=True)
    def assemble(options, shapes, q, turns, v, start, warm_start, found, geometry, constraints):
        """The `StepProblem` of a step from contacts `found` within the band, with their geometry at q.

        warm_start: keys and impulses of the last step. The geometry of contacts that act comes first in its arrays
        afterwards.
        """
        parallel, eps, joints = options.parallel, options.eps, constraints.joints
        gap = geometry.gap
        v_free, n, nb, nj = start.v_free, len(gap), q.shape[0], len(joints.size)
        keep = np.empty(n, np.int64)
        acting = select_within(gap, eps if eps >= 0.0 else math.inf, keep)
        keys, law, row_ptr, set_of, mu, a, b, number = blocks_of(
            parallel, acting, keep, len(shapes.kind), found, joints, constraints.rules, nb
        )
        nr = row_ptr[len(keys)]
        if acting < n:
            acting_first(keep, acting, geometry)
        value, p, length = np.zeros(nr), np.empty(nr), np.ones(nr)
        length[: len(joints.length)] = joints.length
        form = BodyRows(a, b, np.empty((nr, d)), np.empty((nr, d)), start.Minv)
        facts = RowTerms(np.empty(nb, np.bool_), v_free, np.empty(nr), np.empty(nr), np.empty(nr))
        joint_rows(q, turns, constraints.rows, 0, value, form.Ja, form.Jb)
        rows(parallel, q, geometry, nj, number, constraints.rules, row_ptr, length, form, facts)
        for i in range(acting):
            value[row_ptr[nj + i]] = gap[i]
        r0, demand, C, lo, hi = demand_of(options.h, options.stabilize, value, row_ptr, form, v, joints)
        if nr > options.strict_rows:
            left = left_overlap(v, v_free, start.Minv, 2 if d == 3 else 3, options.tol, options.accept)
            for i in range(acting):
                r = row_ptr[nj + i]
                if -left < demand[r] < 0.0:
                    demand[r] = 0.0
        springs, elastic = np.empty((0, MEMORY)), np.empty((0, COLUMNS))
        softened, unresolved = np.zeros(1, np.int64), np.full(1, -1)
        if len(constraints.rules.elastic):
            springs, elastic, rules = np.empty((len(keys), MEMORY)), np.empty((len(keys), COLUMNS)), constraints.rules
            sizes = sizes_of(start.turn, found, keep[:acting], geometry, shapes, rules)
            laws_of(number, rules.elastic, sizes, elastic)
            unresolved[0], _ = set_stiffness(
                options.h, rules.gravity, form, v, row_ptr, facts.diagonal, value, keys, warm_start, elastic
            )  # fmt: skip
            softened[0] = place_springs(
                options.h, elastic, row_ptr, form, facts.diagonal, value, keys, warm_start, demand, C, springs
            )  # fmt: skip
        take_warm_start(parallel, keys, row_ptr, warm_start.keys, warm_start.impulses, p)
        shape, semi, vertices, vertex_ptr, facets, facet_ptr = constraints.sets
        laws = Laws(
            law, row_ptr, set_of, mu, r0, shape, semi, vertices, vertex_ptr, facets, facet_ptr, lo, hi, length, C,
            options.associated,
        )  # fmt: skip
        return StepProblem(
            keys, laws, form, demand, facts.free, facts.terms, facts.diagonal, p, np.empty(len(keys)), np.ones(1),
            springs, elastic, softened, unresolved,
        )  # fmt: skip

    return assemble


assemble_planar, assemble_spatial = _make_assemble(3), _make_assemble(6)
