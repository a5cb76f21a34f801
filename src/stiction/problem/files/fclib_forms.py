"""What files of the frictional contact community hold, and the `ContactProblem` made of it.

    local     u = W r + V λ + q            Vᵀ r + R λ + s = 0
    global    M v = H r + G λ + f          u = Hᵀ v + w            Gᵀ v + b = 0

with (u, r) under Coulomb's law at every contact and λ the impulses of equality constraints. Each contact has `dim`
rows, the normal first: 2 in the plane, 3 in space, 5 with rolling friction (normal, two tangents, two rolling axes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray, IntArray
from ...errors import ModelError
from ...friction import Coulomb, FrictionSet, Rolling
from ..contact_problem import ContactProblem
from ..dynamics import Bodies, Delassus, Dense, Dynamics
from ..laws import EQUALITY, UNILATERAL

SYMMETRY_SHARE = 1e-12  # a mass matrix that is symmetric to this much of its largest entry is taken for symmetric
FULL_MASS_MAX_VELOCITIES = 600  # velocities up to which a mass matrix without bodies is kept as a full one


@dataclass
class FrictionalData:
    """The arrays of one file. Matrices are scipy.sparse; `W` is None in global files, `M` in local ones."""

    dim: int
    mu: Any
    mu_r: Any = None
    W: Any = None
    q: Any = None
    V: Any = None
    R: Any = None
    s: Any = None
    M: Any = None
    f: Any = None
    H: Any = None
    w: Any = None
    G: Any = None
    b: Any = None
    guess: Any = None  # impulses (r, λ) to start from
    length: Any = None  # metres per row, of (r, λ)
    key: Any = None  # identity of each block
    sizes: Any = None  # rows of each equality block; one each where the file does not say


def to_problem(data: FrictionalData) -> ContactProblem:
    """The contact problem, its contacts in the file's order and after them its equality constraints."""
    if data.dim not in (2, 3, 5):
        raise ModelError(f"spacedim must be 2, 3, or 5 with rolling friction; got {data.dim}.")
    dynamics: Dynamics
    if data.W is not None:
        nr, ne = _square("W", data.W), 0 if data.R is None else _square("R", data.R)
        q = _check.floats("q", data.q, (nr,))
        W = data.W
        if data.R is not None:
            from scipy.sparse import bmat

            q = np.concatenate([q, _check.floats("s", data.s, (ne,))])
            W = bmat([[W, _shaped("V", data.V, (nr, ne))], [data.V.T, data.R]], format="csr")
    else:
        nv = _square("M", data.M)
        nr = _shaped("H", data.H, (nv, None)).shape[1]
        ne = 0 if data.G is None else _shaped("G", data.G, (nv, None)).shape[1]
        q = _check.floats("w", data.w, (nr,))
        if ne:
            q = np.concatenate([q, _check.floats("b", data.b, (ne,))])
    if nr % data.dim:
        raise ModelError(f"{'W' if data.W is not None else 'H'} must have {data.dim} rows per contact; it has {nr}.")
    nc = nr // data.dim
    friction = _friction(data, nc)
    sizes = (
        np.ones(ne, dtype=np.int64) if data.sizes is None else _check.integers("equality_sizes", data.sizes, (None,))
    )
    if sizes.sum() != ne:
        raise ModelError(f"equality_sizes must add up to the {ne} equality rows; they add up to {sizes.sum()}.")
    row_ptr = np.concatenate([[0], np.cumsum(np.concatenate([np.full(nc, data.dim), sizes]))]).astype(np.int64)
    v_free = None
    if data.W is not None:
        dynamics = Delassus(W)
    else:
        f = _check.floats("f", data.f, (nv,))
        dynamics, v_free, q = _global_dynamics(data, f, q, row_ptr)
    return ContactProblem(
        dynamics,
        v_free=v_free,
        b=q,
        row_ptr=row_ptr,
        law=np.concatenate([np.full(nc, UNILATERAL), np.full(len(sizes), EQUALITY)]).astype(np.int64),
        friction=[*friction, *[None] * len(sizes)],
        p_warm=data.guess,
        length=data.length,
        key=data.key,
        measure="natural_map",
    )


def _friction(data: FrictionalData, nc: int) -> list[FrictionSet]:
    mu = _check.floats("mu", data.mu, (nc,))
    if data.dim != 5:
        return [Coulomb(m) for m in _at_least_zero("mu", mu)]
    mu_r = _check.floats("mu_r", data.mu_r, (nc,))
    return [Rolling(m, r) for m, r in zip(_at_least_zero("mu", mu), _at_least_zero("mu_r", mu_r))]


def _at_least_zero(name: str, values: FloatArray) -> list[float]:
    if len(values) and values.min() < 0:
        raise ModelError(f"{name} must be at least 0; {name}[{int(values.argmin())}] is {values.min():g}.")
    return [float(x) for x in values]


def _square(name: str, A: Any) -> int:
    if A.shape[0] != A.shape[1]:
        raise ModelError(f"{name} must be square; it is {A.shape[0]} by {A.shape[1]}.")
    return int(A.shape[0])


def _shaped(name: str, A: Any, shape: tuple[int, int | None]) -> Any:
    if any(want is not None and want != have for want, have in zip(shape, A.shape)):
        wanted = " by ".join("any" if n is None else str(n) for n in shape)
        raise ModelError(f"{name} must be {wanted}; it is {A.shape[0]} by {A.shape[1]}.")
    return A


def _global_dynamics(
    data: FrictionalData, f: FloatArray, q: FloatArray, row_ptr: IntArray
) -> tuple[Dynamics, FloatArray | None, FloatArray]:
    """The form that keeps most: `Bodies` where M is one block per body, else `Dense`, else W alone.

    A mass matrix that is not symmetric (implicit gyroscopic terms make such ones) is no `Dense` nor `Bodies`: its
    Delassus matrix is taken as it is, so that residuals are those of the file's own problem.
    """
    from scipy.sparse import vstack
    from scipy.sparse.linalg import splu

    rows = (data.H.T if data.G is None else vstack([data.H.T, data.G.T])).tocsr()
    rows.eliminate_zeros()
    M = data.M.tocsc()
    M.eliminate_zeros()
    if M.nnz == 0 or abs(M - M.T).max() <= SYMMETRY_SHARE * abs(M).max():
        M = 0.5 * (M + M.T)
        for d in (3, 6) if data.dim == 2 else (6, 3):
            bodies = _bodies(M, rows, row_ptr, d)
            if bodies is not None:
                return bodies, bodies.minv(f), q
        if M.shape[0] <= FULL_MASS_MAX_VELOCITIES:
            dense = Dense(M.toarray(), rows.toarray())
            return dense, dense.minv(f), q
    try:
        factors = splu(M.tocsc())
    except RuntimeError as error:
        raise ModelError(f"M must not be singular ({error}).") from None
    W = rows @ factors.solve(rows.T.toarray())
    return Delassus(W), None, q + rows @ factors.solve(f)


def _bodies(M: Any, rows: Any, row_ptr: IntArray, d: int) -> Bodies | None:
    """The `Bodies` form with d columns per body, or None where M or a block of rows does not have that shape."""
    nv = M.shape[0]
    if nv == 0 or nv % d:
        return None
    entries = M.tocoo()
    if (entries.row // d != entries.col // d).any():
        return None
    blocks = np.zeros((nv // d, d, d))
    blocks[entries.row // d, entries.row % d, entries.col % d] = entries.data
    nk = len(row_ptr) - 1
    block_of = np.repeat(np.arange(nk), np.diff(row_ptr))
    touched = rows.tocoo()
    nb = nv // d
    pairs = np.unique(block_of[touched.row] * nb + touched.col // d)  # (block, body) as one number, sorted
    count = np.bincount(pairs // nb, minlength=nk)
    if nk and count.max(initial=0) > 2:
        return None
    first = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64)
    body = np.full((nk, 2), -1, dtype=np.int64)
    for side in range(2):
        has = count > side
        body[has, side] = pairs[first[has] + side] % nb
    J = np.zeros((2, len(block_of), d))
    side_of = (touched.col // d != body[block_of[touched.row], 0]).astype(np.int64)
    J[side_of, touched.row, touched.col % d] = touched.data
    try:
        Minv = np.linalg.inv(blocks)
    except np.linalg.LinAlgError:
        raise ModelError("M must be positive definite, but one of its blocks is singular.") from None
    Minv = 0.5 * (Minv + Minv.transpose(0, 2, 1))
    return Bodies(body[:, 0], body[:, 1], J[0], J[1], Minv, row_ptr)
