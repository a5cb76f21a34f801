"""The friction sets of many blocks as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._check import FloatArray, IntArray
from ..errors import ModelError
from .sets import MAX_DIM, Frictionless, FrictionSet, as_friction


@dataclass(frozen=True)
class FrictionTable:
    """Unique unit sets (ns of them) and, per block, which one acts with which coefficient.

    kind (ns,); semi (ns, 5); vertices (., 5) with vertex_ptr (ns+1,); facets (., 6) with facet_ptr (ns+1,);
    set_of (nk,) and mu (nk,) per block: mu is the `slope` of the set, so that the friction radius is mu·p_n + r0.
    `sets` and `dims` keep the objects for the conversion to directions.
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

    def polyhedral(self, count: int = 8) -> FrictionTable:
        """The table with every smooth set replaced by `count` directions (st96 eq. 12); itself if there is none."""
        if all(s.is_polyhedral(int(d)) for s, d in zip(self.sets, self.dims)):
            return self
        unit = _polyhedral_sets(self.sets, tuple(self.dims.tolist()), count)
        return unit._replace(set_of=unit.set_of[self.set_of], mu=self.mu)

    def directions(self, block: int, count: int = 8) -> FloatArray:
        """The directions (m, dim) of one block's unit set."""
        s = int(self.set_of[block])
        return self.sets[s].directions(int(self.dims[s]), count)

    def groups(self, block: int, count: int = 8) -> list[tuple[int, FloatArray]]:
        """First friction row and directions of each factor of one block's unit set."""
        s = int(self.set_of[block])
        return self.sets[s].groups(int(self.dims[s]), count)

    def is_polyhedral(self) -> bool:
        """Whether every set is exactly a polyhedron."""
        return all(s.is_polyhedral(int(d)) for s, d in zip(self.sets, self.dims))

    def _replace(self, **changes: object) -> FrictionTable:
        from dataclasses import replace

        return replace(self, **changes)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _polyhedral_sets(sets: tuple[FrictionSet, ...], dims: tuple[int, ...], count: int) -> FrictionTable:
    """The unit sets with directions in place of smooth boundaries; kept, since every step asks for the same."""
    return FrictionTable.build([s.polyhedral(d, count) if d else None for s, d in zip(sets, dims)], dims)


def _stack(parts: list[FloatArray], width: int) -> FloatArray:
    out = np.zeros((sum(len(p) for p in parts), width))
    row = 0
    for p in parts:
        out[row : row + len(p), : p.shape[1]] = p
        row += len(p)
    return out


def _pointers(lengths: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
