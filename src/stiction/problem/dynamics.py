"""How impulses become velocities: the dynamics of a contact problem in one of three forms.

    v = v_free + M⁻¹ Gᵀ p        u = H v + b + C p        W = H M⁻¹ Gᵀ

`Dense` holds M, H and G as matrices (the papers' own form), `Bodies` holds 3- or 6-column blocks per body (worlds
with thousands of bodies), `Delassus` holds W alone (problems from FCLIB files, where M and v are not known).
Each offers the same few products; nothing else in the package looks inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _check
from .._check import FloatArray, IntArray
from ..errors import ModelError
from .records import BodyRows


class Dense:
    """M (nv, nv) symmetric positive definite; H (nr, nv); G (nr, nv), by default H.

    G differs from H where an impulse acts along another direction than the velocity it answers to, as in the
    sliding contacts of force–acceleration problems (pr11 §2).
    """

    def __init__(self, M: Any, H: Any, G: Any = None, *, check: bool = True):
        if check is not False:
            M = _check.floats("M", M)
            M = _check.mass_matrix("M", M, M.shape[0] if M.ndim == 2 else 0)
            H = _check.floats("H", H, (None, M.shape[0]))
            G = H if G is None else _check.floats("G", G, H.shape)
        self.M: FloatArray = M
        self.H: FloatArray = H
        self.G: FloatArray = H if G is None else G

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.M.shape[0]

    @property
    def nr(self) -> int:
        """Number of rows."""
        return self.H.shape[0]

    @cached_property
    def _minv_gt(self) -> FloatArray:
        return np.asarray(np.linalg.solve(self.M, self.G.T), dtype=np.float64)

    @cached_property
    def _w(self) -> FloatArray:
        return self.H @ self._minv_gt

    @cached_property
    def prescribed(self) -> npt.NDArray[np.bool_]:
        """(nv,) which velocities no impulse can change: none."""
        return np.zeros(self.nv, dtype=bool)

    def velocity_rows(self, v: FloatArray) -> FloatArray:
        """H v."""
        return self.H @ v

    def row_magnitude(self, v: FloatArray) -> FloatArray:
        """|H| |v|: the size of the terms whose sum is H v, for a floor under relative residuals."""
        return np.abs(self.H) @ np.abs(v)

    def row_reach(self, v: FloatArray) -> FloatArray:
        """√(W_rr vᵀMv): the most that a row can see of velocities with the kinetic energy of v, whatever they are."""
        return np.sqrt(np.maximum(self._w.diagonal(), 0.0) * float(v @ self.M @ v))

    def impulse(self, p: FloatArray) -> FloatArray:
        """Gᵀ p, the generalized impulse."""
        return self.G.T @ p

    def minv(self, f: FloatArray) -> FloatArray:
        """M⁻¹ f."""
        return np.asarray(np.linalg.solve(self.M, f), dtype=np.float64)

    def mass(self, v: FloatArray) -> FloatArray:
        """M v."""
        return self.M @ v

    def velocity_change(self, p: FloatArray) -> FloatArray:
        """M⁻¹ Gᵀ p."""
        return self._minv_gt @ p

    def delassus(self) -> FloatArray:
        """W = H M⁻¹ Gᵀ, dense."""
        return self._w

    def delassus_among(self, rows: IntArray) -> FloatArray:
        """W among some rows, dense."""
        return self._w[np.ix_(rows, rows)]

    def delassus_times(self, p: FloatArray) -> FloatArray:
        """W p."""
        return self.H @ (self._minv_gt @ p)

    def delassus_diagonal(self, row_ptr: IntArray) -> FloatArray:
        """diag(W)."""
        return self._w.diagonal().copy()

    def coupling(self, row_ptr: IntArray) -> Any:
        """Sparse (nk, nk) pattern of which blocks act on each other."""
        return _pattern(self._w, row_ptr)

    def dense(self) -> tuple[Dense, Callable[[FloatArray], FloatArray], FloatArray | None]:
        """Itself; see `Bodies.dense`."""
        return self, lambda v: v, None


@dataclass(frozen=True)
class Bodies:
    """Blocks between pairs of bodies: body_a, body_b (nk,), -1 for the fixed world; Ja, Jb (nr, d), d = 3 or 6.

    `Minv` (nbody, d, d) is each body's inverse mass matrix, zero for prescribed bodies, whose velocity sits in
    v_free. Velocities are stacked body by body: nv = nbody·d.
    """

    body_a: IntArray
    body_b: IntArray
    Ja: FloatArray
    Jb: FloatArray
    Minv: FloatArray
    row_ptr: IntArray

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        Minv = _check.floats("Minv", self.Minv, (None, None, None))
        nbody, d = Minv.shape[0], Minv.shape[1]
        if d not in (3, 6) or Minv.shape[2] != d:
            raise ModelError(f"Minv must have shape (nbody, 3, 3) or (nbody, 6, 6); got {Minv.shape}.")
        row_ptr = _check.integers("row_ptr", self.row_ptr, (None,))
        nk = len(row_ptr) - 1
        for name in ("body_a", "body_b"):
            body = _check.integers(name, getattr(self, name), (nk,))
            if nk and not (body.min() >= -1 and body.max() < nbody):
                raise ModelError(f"{name} must lie between -1 (the fixed world) and {nbody - 1}.")
            set_(self, name, body)
        for name in ("Ja", "Jb"):
            set_(self, name, _check.floats(name, getattr(self, name), (int(row_ptr[-1]), d)))
        for i, block in enumerate(Minv):
            free = np.flatnonzero(np.abs(block).sum(axis=1))
            if len(free):
                _check.mass_matrix(
                    f"Minv[{i}] (on the degrees of freedom that can move)", block[np.ix_(free, free)], len(free)
                )
        set_(self, "Minv", Minv)
        set_(self, "row_ptr", row_ptr)

    @classmethod
    def trusted(
        cls, body_a: IntArray, body_b: IntArray, Ja: FloatArray, Jb: FloatArray, Minv: FloatArray, row_ptr: IntArray
    ) -> Bodies:
        """Without checks, for arrays that a model has made itself, in every step."""
        instance = object.__new__(cls)
        for name, value in zip(
            ("body_a", "body_b", "Ja", "Jb", "Minv", "row_ptr"), (body_a, body_b, Ja, Jb, Minv, row_ptr)
        ):
            object.__setattr__(instance, name, value)
        return instance

    @property
    def body_rows(self) -> BodyRows:
        """The rows and inverse masses, as kernels take them."""
        return BodyRows(self.body_a, self.body_b, self.Ja, self.Jb, self.Minv)

    @property
    def nbody(self) -> int:
        """Number of bodies."""
        return self.Minv.shape[0]

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.nbody * self.Minv.shape[1]

    @property
    def nr(self) -> int:
        """Number of rows."""
        return self.Ja.shape[0]

    @property
    def rows(self) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]:
        """What the kernels of `body_kernels` read first."""
        return self.body_a, self.body_b, self.row_ptr, self.Ja, self.Jb

    @property
    def _row_bodies(self) -> tuple[IntArray, IntArray]:
        counts = np.diff(self.row_ptr)
        return np.repeat(self.body_a, counts), np.repeat(self.body_b, counts)

    @cached_property
    def prescribed(self) -> npt.NDArray[np.bool_]:
        """(nv,) which velocities no impulse can change: those of bodies (or axes) without inverse mass."""
        return ~(self.Minv != 0.0).any(axis=2).ravel()

    @cached_property
    def _mass_blocks(self) -> FloatArray:
        locked = np.eye(self.Minv.shape[1]) * self.prescribed.reshape(self.nbody, -1, 1)
        return np.asarray(np.linalg.inv(self.Minv + locked) - locked, dtype=np.float64)

    def velocity_rows(self, v: FloatArray) -> FloatArray:
        """H v."""
        from .body_kernels import rows_times

        u = np.empty(self.nr)
        rows_times(*self.rows, v.reshape(self.nbody, -1), u)
        return u

    def row_magnitude(self, v: FloatArray) -> FloatArray:
        """|H| |v|: the size of the terms whose sum is H v, for a floor under relative residuals."""
        from .body_kernels import rows_magnitude

        u = np.empty(self.nr)
        rows_magnitude(*self.rows, v.reshape(self.nbody, -1), u)
        return u

    def row_reach(self, v: FloatArray) -> FloatArray:
        """√(W_rr vᵀMv): the most that a row can see of velocities with the kinetic energy of v of its two bodies."""
        energy = np.append((v * self.mass(v)).reshape(self.nbody, -1).sum(axis=1), 0.0)
        both = sum(energy[body] for body in self._row_bodies)
        return np.sqrt(self.delassus_diagonal(self.row_ptr) * both)

    def impulse(self, p: FloatArray) -> FloatArray:
        """Gᵀ p, the generalized impulse (G = H)."""
        from .body_kernels import impulses_on_bodies

        f = np.empty((self.nbody, self.Minv.shape[1]))
        impulses_on_bodies(*self.rows, p, f)
        return f.ravel()

    def minv(self, f: FloatArray) -> FloatArray:
        """M⁻¹ f."""
        from .body_kernels import add_velocity_change

        v = np.zeros((self.nbody, self.Minv.shape[1]))
        add_velocity_change(self.Minv, f.reshape(self.nbody, -1), v)
        return v.ravel()

    def mass(self, v: FloatArray) -> FloatArray:
        """M v on the degrees of freedom that can move; zero on prescribed ones."""
        from .body_kernels import mass_times

        f = np.empty((self.nbody, self.Minv.shape[1]))
        mass_times(self.Minv, v.reshape(self.nbody, -1), f)
        return f.ravel()

    def velocity_change(self, p: FloatArray) -> FloatArray:
        """M⁻¹ Gᵀ p."""
        return self.minv(self.impulse(p))

    @cached_property
    def matrix(self) -> Any:
        """H as a sparse matrix (nr, nv)."""
        from scipy.sparse import coo_matrix

        d = self.Minv.shape[1]
        rows, columns, values = [], [], []
        for body, J in zip(self._row_bodies, (self.Ja, self.Jb)):
            keep = np.flatnonzero(body >= 0)
            rows.append(np.repeat(keep, d))
            columns.append((body[keep, None] * d + np.arange(d)).ravel())
            values.append(J[keep].ravel())
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return coo_matrix(entries, shape=(self.nr, self.nv)).tocsr()

    @cached_property
    def _minv_blocks(self) -> Any:
        """M⁻¹ as a sparse matrix (nv, nv)."""
        from scipy.sparse import bsr_matrix

        places = np.arange(self.nbody + 1)
        return bsr_matrix((self.Minv, places[:-1], places), shape=(self.nv, self.nv)).tocsr()

    def delassus(self) -> FloatArray:
        """W = H M⁻¹ Hᵀ, dense: for small problems only."""
        return np.ascontiguousarray((self.matrix @ self._minv_blocks @ self.matrix.T).toarray())

    def delassus_among(self, rows: IntArray) -> FloatArray:
        """W among some rows, dense."""
        H = self.matrix[rows]
        return np.ascontiguousarray((H @ self._minv_blocks @ H.T).toarray())

    def delassus_times(self, p: FloatArray) -> FloatArray:
        """W p, without forming W."""
        return self.velocity_rows(self.velocity_change(p))

    def delassus_diagonal(self, row_ptr: IntArray) -> FloatArray:
        """diag(W), without forming W."""
        from .body_kernels import delassus_diagonal

        diagonal = np.empty(self.nr)
        delassus_diagonal(*self.rows, self.Minv, diagonal)
        return diagonal

    def coupling(self, row_ptr: IntArray) -> Any:
        """Sparse (nk, nk) pattern: blocks that share a body that can move."""
        from scipy.sparse import coo_matrix

        nk = len(self.row_ptr) - 1
        moves = np.append(np.abs(self.Minv).sum(axis=(1, 2)) > 0, False)
        k = np.tile(np.arange(nk), 2)
        body = np.concatenate([self.body_a, self.body_b])
        keep = moves[body]
        B = coo_matrix((np.ones(keep.sum()), (k[keep], body[keep])), shape=(nk, self.nbody)).tocsr()
        return B @ B.T

    def dense(self) -> tuple[Dense, Callable[[FloatArray], FloatArray], FloatArray | None]:
        """The same dynamics as `Dense`, on the degrees of freedom that can move.

        Returns the form, the map of a full velocity to the moving ones, and the columns of H of the prescribed
        ones (their share of H v_free goes into b).
        """
        d = self.Minv.shape[1]
        moving = ~self.prescribed
        full = np.zeros((self.nv, self.nv))
        for i, block in enumerate(self.Minv):
            full[i * d : (i + 1) * d, i * d : (i + 1) * d] = block
        M = np.linalg.inv(full[np.ix_(moving, moving)])
        H = self.matrix.toarray()
        form = Dense(0.5 * (M + M.T), np.ascontiguousarray(H[:, moving]))
        return form, lambda v: v[moving], np.where(moving, 0.0, H)


class Delassus:
    """W (nr, nr) alone, dense or scipy.sparse; there is no M and no v, and u = W p + b."""

    nv = 0

    def __init__(self, W: Any):
        from scipy.sparse import issparse

        if issparse(W):
            W = W.tocsr()
            _check.floats("W (its stored values)", W.data)
        else:
            W = _check.floats("W", W, (None, None))
        if W.shape[0] != W.shape[1]:
            raise ModelError(f"W must be square; got shape {W.shape}.")
        self.W = W

    @property
    def nr(self) -> int:
        """Number of rows."""
        return int(self.W.shape[0])

    def velocity_rows(self, v: FloatArray) -> FloatArray:
        """Zero: the free velocity is part of b."""
        return np.zeros(self.nr)

    row_magnitude = velocity_rows

    def velocity_change(self, p: FloatArray) -> FloatArray:
        """An empty vector: there is no v."""
        return np.zeros(0)

    def delassus(self) -> FloatArray:
        """W as a dense array."""
        W: FloatArray = self.W if isinstance(self.W, np.ndarray) else self.W.toarray()
        return W

    def delassus_times(self, p: FloatArray) -> FloatArray:
        """W p."""
        return np.asarray(self.W @ p)

    def delassus_diagonal(self, row_ptr: IntArray) -> FloatArray:
        """diag(W)."""
        return np.array(self.W.diagonal())

    def coupling(self, row_ptr: IntArray) -> Any:
        """Sparse (nk, nk) pattern of which blocks act on each other."""
        return _pattern(self.W, row_ptr)

    def dense(self) -> tuple[Delassus, Callable[[FloatArray], FloatArray], FloatArray | None]:
        """Itself with W as an array."""
        return Delassus(self.delassus()), lambda v: v, None


Dynamics = Dense | Bodies | Delassus


def _pattern(W: Any, row_ptr: IntArray) -> Any:
    from scipy.sparse import coo_matrix

    nk = len(row_ptr) - 1
    block = np.repeat(np.arange(nk), np.diff(row_ptr))
    i, j = W.nonzero()
    return coo_matrix((np.ones(len(i)), (block[i], block[j])), shape=(nk, nk)).tocsr()
