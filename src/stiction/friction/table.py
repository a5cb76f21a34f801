"""The friction sets of many blocks as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from ..errors import ModelError
from .sets import MAX_DIM, POLYHEDRON, Frictionless, FrictionSet, as_friction

Directions = int | tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class FrictionTable:
    """Unique unit sets (ns of them) and, per block, which one acts with which coefficient.

    kind (ns,); semi (ns, 5); vertices (., 5) with vertex_ptr (ns+1,); facets (., 6) with facet_ptr (ns+1,);
    set_of (nk,) and mu (nk,) per block: mu is the `slope` of the set, so that the friction radius is mu·p_n + r0.
    `sets` and `dims` keep the objects for the conversion to directions. Where a set has a `speed_law`, mu is the
    coefficient at rest, unless `fixed`: then mu holds as it stands.
    """

    sets: tuple[FrictionSet, ...]
    dims: IntArray
    kind: IntArray
    semi: FloatArray
    vertices: FloatArray
    vertex_ptr: IntArray
    facets: FloatArray
    facet_ptr: IntArray
    set_of: IntArray
    mu: FloatArray
    fixed: bool = False

    @classmethod
    def build(cls, friction: Sequence[FrictionSet | float | None], dims: Sequence[int]) -> FrictionTable:
        """From one set (or coefficient, or None) per block and the number of friction rows of each block."""
        index: dict[tuple[FrictionSet, int], int] = {}
        sets: list[FrictionSet] = []
        set_of, mu = [], []
        blocks = [as_friction(f, f"friction of block {k}") for k, f in enumerate(friction)]
        for k, (f, dim) in enumerate(zip(blocks, dims)):
            if isinstance(f, Frictionless) and dim:
                raise ModelError(f"block {k} has {dim} friction rows but no friction set; give one or drop the rows.")
            number = index.setdefault((f, int(dim)), len(sets))
            if number == len(sets):
                sets.append(f)
            set_of.append(number)
            mu.append(f.slope if dim else 0.0)
        packs = [s.packed(dim) if dim else Frictionless().packed(0) for s, (_, dim) in zip(sets, index)]
        n = len(sets)
        semi = np.zeros((n, MAX_DIM))
        for row, pack in zip(semi, packs):
            row[: len(pack.semi)] = pack.semi
        return cls(
            sets=tuple(sets),
            dims=np.array([dim for _, dim in index], dtype=np.int64),
            kind=np.array([pack.kind for pack in packs], dtype=np.int64),
            semi=semi,
            vertices=_stack([pack.vertices for pack in packs], MAX_DIM),
            vertex_ptr=_pointers([len(pack.vertices) for pack in packs]),
            facets=_stack([pack.facets for pack in packs], MAX_DIM + 1),
            facet_ptr=_pointers([len(pack.facets) for pack in packs]),
            set_of=np.array(set_of, dtype=np.int64),
            mu=np.array(mu, dtype=np.float64),
        )

    def take(self, blocks: IntArray) -> FrictionTable:
        """The table of a selection of blocks."""
        return self._replace(set_of=self.set_of[blocks], mu=self.mu[blocks])

    def polyhedral(self, count: Directions = 8) -> FrictionTable:
        """The table with every smooth set replaced by `count` directions (st96 eq. 12); itself if there is none.

        Directions given as rows of numbers stand for every smooth set with so many rows; see `given_directions`.
        """
        if all(s.is_polyhedral(int(d)) for s, d in zip(self.sets, self.dims)):
            return self
        unit = _polyhedral_sets(self.sets, tuple(self.dims.tolist()), count)
        return unit._replace(set_of=unit.set_of[self.set_of], mu=self.mu, fixed=self.fixed)

    def directions(self, block: int, count: int = 8) -> FloatArray:
        """The directions (m, dim) of one block's unit set."""
        s = int(self.set_of[block])
        return self.sets[s].directions(int(self.dims[s]), count)

    def groups(self, block: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """First friction row and directions of each factor of one block's unit set."""
        s = int(self.set_of[block])
        return self.sets[s].groups(int(self.dims[s]), count)

    def is_polyhedral(self) -> bool:
        """Whether every set is a polyhedron to the solvers: exactly, or refined until it is as good as exact."""
        return all(s.is_polyhedral(int(d)) or k == POLYHEDRON for s, d, k in zip(self.sets, self.dims, self.kind))

    @cached_property
    def written(self) -> tuple[int, ...]:
        """The blocks whose sets are written in Python, of which kernels know no more than a polyhedron inside."""
        known = [
            s for s in np.flatnonzero(self.kind == POLYHEDRON) if not self.sets[s].is_polyhedral(int(self.dims[s]))
        ]
        return tuple(np.flatnonzero(np.isin(self.set_of, known)).tolist()) if known else ()

    def with_polyhedra(self, sets: Mapping[int, FrictionSet]) -> FrictionTable:
        """The table with other sets for some blocks; coefficients stay."""
        blocks = np.array(list(sets), dtype=np.int64)
        dims = np.append(self.dims, self.dims[self.set_of[blocks]])
        every = [s if d else None for s, d in zip((*self.sets, *sets.values()), dims)]
        unit = FrictionTable.build(every, dims.tolist())
        number = self.set_of.copy()
        number[blocks] = len(self.sets) + np.arange(len(blocks))
        return unit._replace(set_of=unit.set_of[number], mu=self.mu, fixed=self.fixed)

    @cached_property
    def varying(self) -> IntArray:
        """The blocks whose coefficient depends on the speed of slip."""
        ruled = np.array([s.speed_law is not None and d > 0 for s, d in zip(self.sets, self.dims)], dtype=bool)
        if self.fixed or not ruled.any():
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(ruled[self.set_of])

    def speeds(self, u: FloatArray, row_ptr: IntArray) -> FloatArray:
        """(nk,) the slip speed of each block [m/s] for velocities u (nr,): the norm of its slip rows.

        It is 0 where the coefficient does not depend on it.
        """
        out, k = np.zeros(len(self.set_of)), self.varying
        first = row_ptr[k + 1] - self.dims[self.set_of[k]]
        slip = np.array([s.slip_rows(int(d)) for s, d in zip(self.sets, self.dims)], dtype=np.int64)[self.set_of[k]]
        second = np.where(slip > 1, u[np.minimum(first + 1, len(u) - 1)], 0.0)
        out[k] = np.hypot(u[first], second)
        return out

    def mu_at(self, speeds: FloatArray) -> FloatArray:
        """(nk,) the coefficient of each block at its slip speed [m/s]; `mu` where it does not depend on it."""
        return self._by_law("values", speeds, self.mu.copy())

    def mu_slope(self, speeds: FloatArray) -> FloatArray:
        """(nk,) dmu/ds of each block at its slip speed [s/m]; 0 where mu does not depend on it."""
        return self._by_law("slopes", speeds, np.zeros(len(self.mu)))

    def _by_law(self, what: str, speeds: FloatArray, out: FloatArray) -> FloatArray:
        blocks = self.varying
        for s in np.unique(self.set_of[blocks]).tolist():
            k, law = blocks[self.set_of[blocks] == s], self.sets[s].speed_law
            assert law is not None
            out[k] = getattr(law, what)(speeds[k]) * (self.mu[k] / law.rest)  # the table has the last word on mu
        return out

    def at(self, mu: FloatArray) -> FrictionTable:
        """The table with coefficients mu (nk,), which no longer depend on the speed."""
        remake = [s.speed_law is not None and s.with_slip(1.0) is not None for s in self.sets]
        if not any(remake):
            return self._replace(mu=mu, fixed=True)
        dims = self.dims[self.set_of].tolist()
        anew = [remake[s] and d > 0 for s, d in zip(self.set_of.tolist(), dims)]
        sets = [self.sets[s].with_slip(m) if new else self.sets[s] for s, m, new in zip(self.set_of, mu.tolist(), anew)]
        table = FrictionTable.build([s if d else None for s, d in zip(sets, dims)], dims)
        return table._replace(mu=np.where(anew, table.mu, mu), fixed=True)

    def _replace(self, **changes: object) -> FrictionTable:
        from dataclasses import replace

        return replace(self, **changes)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _polyhedral_sets(sets: tuple[FrictionSet, ...], dims: tuple[int, ...], count: Directions) -> FrictionTable:
    """The unit sets with directions in place of smooth boundaries; kept, since every step asks for the same."""
    return FrictionTable.build([_linearised(s, d, count) if d else None for s, d in zip(sets, dims)], dims)


def _linearised(s: FrictionSet, dim: int, count: Directions) -> FrictionSet:
    if isinstance(count, int):
        return s.polyhedral(dim, count)
    if s.is_polyhedral(dim) or not s.slope:
        return s
    if len(count[0]) != dim:
        raise ModelError(
            f"directions has rows of {len(count[0])} numbers, but {type(s).__name__} friction has {dim} rows; give "
            "directions of that length, or how many to use."
        )
    from .polyhedra import Polyhedral

    D = np.array(count)
    D /= np.array([s.gauge(row) for row in D])[:, None]
    D = D[np.abs(D).max(axis=1) > 0.0]  # a set may give nothing in some directions
    if not len(D):
        raise ModelError(f"directions must include one in which {type(s).__name__} friction acts.")
    return Polyhedral(s.speed_law or s.slope, directions=D, axis=s.axis)


def given_directions(value: Any, what: str = "directions") -> Directions:
    """How many directions stand for a smooth friction set, or the directions themselves, (m, n), checked.

    Each of them is scaled onto the boundary of the set, so that only where it points matters (ttp01 eq. 5, 6).
    """
    if _check.any_array(what, value).ndim == 0:
        return _check.count(what, value, low=3)
    D = np.atleast_2d(_check.floats(what, value))
    if D.ndim != 2 or not 1 <= D.shape[1] <= MAX_DIM or len(D) == 0:
        raise ModelError(f"{what} must be a number of at least 3 or an array (m, n) of directions with n <= {MAX_DIM}.")
    if not (np.abs(D).max(axis=1) > 0).all():
        raise ModelError(f"{what} row {int(np.argmin(np.abs(D).max(axis=1)))} is zero and points nowhere.")
    return tuple(tuple(row) for row in D.tolist())


@lru_cache(maxsize=64)
def row_codes(sets: tuple[FrictionSet, ...], dims: tuple[int, ...]) -> IntArray:
    """(ns, 5) what the friction rows of each set are, TANGENT_1 to ROLL_2; 0 where there are no more."""
    codes = np.zeros((len(sets), MAX_DIM), dtype=np.int64)
    for row, s, dim in zip(codes, sets, dims):
        row[:dim] = next((rows for rows in _possible_rows(s) if len(rows) == dim), range(1, dim + 1))
    return codes


def _possible_rows(s: FrictionSet) -> Iterator[tuple[int, ...]]:
    """The rows of a set in space and in the plane, where it has a meaning there."""
    for space in (3, 2):
        with suppress(ModelError):
            yield s.contact_rows(space)


def _stack(parts: list[FloatArray], width: int) -> FloatArray:
    out = np.zeros((sum(len(p) for p in parts), width))
    row = 0
    for p in parts:
        out[row : row + len(p), : p.shape[1]] = p
        row += len(p)
    return out


def _pointers(lengths: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
