"""Contact problems into FCLIB files, for other solvers and for later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _check
from ..._arguments import checks_arguments
from ..._check import FloatArray, IntArray
from ...errors import ModelError
from ...friction import Coulomb, Rolling
from ..contact_problem import ContactProblem
from ..dynamics import Bodies, Delassus, Dense
from ..laws import EQUALITY, UNILATERAL, Law

if TYPE_CHECKING:
    from ...solvers.base import Solution


@checks_arguments
def write_fclib(
    problem: ContactProblem,
    path: str | Path,
    *,
    form: str | None = None,
    solution: Solution | Any = None,
    title: str = "",
    description: str = "",
    math_info: str = "",
) -> None:
    """Write a contact problem as an FCLIB file (HDF5), whole or not at all.

    form: "local" (W and q) or "global" (M, H, f, w); by default global where the problem has masses. FCLIB holds
    contacts that all have the same rows, 1+1, 1+2, or 1+4 with rolling friction, under isotropic Coulomb friction,
    and equality constraints; anything else is refused with the reason. Contacts are written first and equality
    constraints after them. Prescribed velocities become part of w. `solution` (a `Solution`, or impulses (nr,)) and
    the problem's `p_warm` go into the groups `solution` and `guesses`. Reading back gives the same W, q, M, H, w and
    mu to the last bit; v_free and inverse masses, which FCLIB holds as f and M, to round-off.
    """
    if not isinstance(problem, ContactProblem):
        raise ModelError(f"problem must be a ContactProblem; got {type(problem).__name__}.")
    path = Path(path)
    if not path.parent.is_dir():
        raise ModelError(f"cannot write {path}: there is no folder {path.parent}.")
    if path.is_dir():
        raise ModelError(f"cannot write {path}: it is a folder.")
    if form is None:
        form = "local" if isinstance(problem.dynamics, Delassus) or problem.C.any() else "global"
    _check.choice("form", form, ["local", "global"])
    p = None if solution is None else _check.floats("solution", getattr(solution, "p", solution), (problem.nr,))
    dim, mu, mu_r = _contacts(problem)
    group = f"fclib_{form}" + ("_rolling" if dim == 5 else "")
    rows, contact_rows, equality_rows = _order(problem)
    arrays: dict[str, Any] = {f"{group}/vectors/mu": mu}
    if mu_r is not None:
        arrays[f"{group}/vectors/mu_r"] = mu_r
    arrays |= {
        f"{group}/{name}": value
        for name, value in (_local if form == "local" else _global)(problem, contact_rows, equality_rows).items()
    }
    for name, text in (("title", title), ("description", description), ("math_info", math_info)):
        arrays[f"{group}/info/{name}"] = str(text)
    arrays[f"{group}/spacedim"] = np.array([dim], dtype=np.int32)
    if p is not None:
        arrays |= _impulses("solution", problem, p, form, contact_rows, equality_rows)
    if problem.p_warm.any():
        arrays["guesses/number_of_guesses"] = np.array([1], dtype=np.int32)
        arrays |= _impulses("guesses/1", problem, problem.p_warm, form, contact_rows, equality_rows)
    blocks = np.argsort(problem.law != UNILATERAL, kind="stable")
    arrays["stiction/key"] = problem.key[blocks]
    if (problem.length != 1.0).any():
        arrays["stiction/length"] = problem.length[rows]
    if len(equality_rows):
        arrays["stiction/sizes"] = np.diff(problem.row_ptr)[problem.law == EQUALITY]
    _write(path, arrays)


def _contacts(problem: ContactProblem) -> tuple[int, FloatArray, FloatArray | None]:
    """Rows per contact, coefficients, and rolling coefficients; refuses what FCLIB has no place for."""
    wrong = (problem.law != UNILATERAL) & (problem.law != EQUALITY)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ModelError(
            f"FCLIB files hold contacts and equality constraints; block {k} is of law {Law(problem.law[k]).name}."
        )
    if problem.associated:
        raise ModelError(
            "FCLIB files are under Coulomb's law; this problem has the associated law (convex relaxation)."
        )
    contacts = np.flatnonzero(problem.law == UNILATERAL)
    sizes = np.diff(problem.row_ptr)[contacts]
    if len(contacts) == 0:
        raise ModelError("FCLIB files hold contacts; this problem has none.")
    if sizes.min() != sizes.max() or sizes[0] not in (2, 3, 5):
        found = ", ".join(str(n) for n in np.unique(sizes))
        raise ModelError(f"FCLIB contacts all have 2, 3 or 5 rows (normal and friction); here they have {found}.")
    if problem.r0[contacts].any():
        raise ModelError("FCLIB friction is proportional to the normal impulse; here r0 gives friction without one.")
    dim, table = int(sizes[0]), problem.friction
    if len(table.varying):
        raise ModelError("FCLIB coefficients are numbers; this problem has coefficients that depend on the slip speed.")
    both = np.zeros((len(contacts), 2))
    for row, k in zip(both, contacts.tolist()):
        friction = table.sets[table.set_of[k]]
        if isinstance(friction, Coulomb):
            row[0] = table.mu[k]
        elif isinstance(friction, Rolling) and friction.mu_s is None and dim == 5:
            row[:] = friction.mu, friction.mu_r
            if table.mu[k] != friction.slope:  # the table has the last word
                row *= table.mu[k] / friction.slope
        else:
            raise ModelError(f"FCLIB friction is isotropic Coulomb or rolling friction; this problem has {friction!r}.")
    return dim, both[:, 0].copy(), both[:, 1].copy() if dim == 5 else None


def _order(problem: ContactProblem) -> tuple[IntArray, IntArray, IntArray]:
    """All rows, those of contacts, those of equalities; contacts first, each in the problem's order."""
    contact = np.repeat(problem.law == UNILATERAL, np.diff(problem.row_ptr))
    contacts, equalities = np.flatnonzero(contact), np.flatnonzero(~contact)
    return np.concatenate([contacts, equalities]), contacts, equalities


def _local(problem: ContactProblem, contacts: IntArray, equalities: IntArray) -> dict[str, Any]:
    from scipy.sparse import block_diag, csr_matrix, diags

    form = problem.dynamics
    if isinstance(form, Bodies):
        H = form.matrix
        W = H @ block_diag(list(form.Minv), format="csr") @ H.T
    else:
        W = csr_matrix(form.W if isinstance(form, Delassus) else form.delassus())
    if problem.C.any():
        W = W + diags(problem.C)
    W = W.tocsr()
    out = {"W": W[contacts][:, contacts], "vectors/q": problem.q[contacts]}
    if len(equalities):
        V = W[contacts][:, equalities]
        if (V != W[equalities][:, contacts].T).nnz and abs(V - W[equalities][:, contacts].T).max() > 1e-12 * abs(
            W
        ).max():
            raise ModelError("FCLIB's local form with equality constraints needs a symmetric W; this one is not.")
        out |= {"V": V, "R": W[equalities][:, equalities], "vectors/s": problem.q[equalities]}
    return out


def _global(problem: ContactProblem, contacts: IntArray, equalities: IntArray) -> dict[str, Any]:
    from scipy.sparse import block_diag, csr_matrix, diags

    form = problem.dynamics
    if isinstance(form, Delassus):
        raise ModelError('this problem has no masses: write it with form="local".')
    if problem.C.any():
        raise ModelError('FCLIB\'s global form has no compliance: write this problem with form="local".')
    b, locked = problem.b, form.prescribed
    if isinstance(form, Dense):
        if not np.array_equal(form.G, form.H):
            raise ModelError('FCLIB\'s global form needs G equal to H: write this problem with form="local".')
        M, H = csr_matrix(form.M), csr_matrix(form.H)
    else:
        M, H = block_diag(list(form._mass_blocks), format="csr"), form.matrix.copy()
        H.eliminate_zeros()
        if locked.any():  # mass 1 and no rows: they stay where they are, and their velocity is in w
            b = b + H @ np.where(locked, problem.v_free, 0.0)
            M, H = M + diags(locked.astype(float)), H @ diags((~locked).astype(float))
    out = {
        "M": M,
        "H": H[contacts].T,
        "vectors/f": form.mass(problem.v_free),
        "vectors/w": b[contacts],
    }
    if len(equalities):
        out |= {"G": H[equalities].T, "vectors/b": b[equalities]}
    return out


def _impulses(
    group: str, problem: ContactProblem, p: FloatArray, form: str, contacts: IntArray, equalities: IntArray
) -> dict[str, Any]:
    u = problem.q + problem.dynamics.delassus_times(p) + problem.C * p
    out = {f"{group}/r": p[contacts], f"{group}/u": u[contacts]}
    if form == "global":
        moving = ~problem.dynamics.prescribed  # type: ignore[union-attr]
        out[f"{group}/v"] = np.where(moving, problem.velocity(p), 0.0)
    if len(equalities):
        out[f"{group}/l"] = p[equalities]
    return out


def _write(path: Path, arrays: dict[str, Any]) -> None:
    import h5py
    from scipy.sparse import issparse

    part = path.with_name(path.name + ".part")
    try:
        with h5py.File(part, "w") as file:
            for name, value in arrays.items():
                if isinstance(value, str):
                    _write_text(file, name, value)
                elif issparse(value):
                    _write_matrix(file, name, value, compressed=name.rsplit("/", 1)[1] in "WVR")
                else:
                    file[name] = value
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _write_matrix(file: Any, name: str, A: Any, *, compressed: bool) -> None:
    """Compressed rows (nz = -2) for local files, triplets (i rows, p columns) for global ones, as FCLIB's own are."""
    A = A.tocsr() if compressed else A.tocoo()
    i, p = (A.indices, A.indptr) if compressed else (A.row, A.col)
    for field, number in (("m", A.shape[0]), ("n", A.shape[1]), ("nzmax", A.nnz), ("nz", -2 if compressed else A.nnz)):
        file[f"{name}/{field}"] = np.array([number], dtype=np.int32)
    file[f"{name}/i"], file[f"{name}/p"] = i.astype(np.int32), p.astype(np.int32)
    file[f"{name}/x"] = A.data.astype(np.float64)


def _write_text(file: Any, name: str, text: str) -> None:
    """A string that ends in a zero byte, as programs in C expect it."""
    import h5py

    data = text.encode() + b"\0"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(data))
    group, _, field = name.rpartition("/")
    where = file.require_group(group).id
    dataset = h5py.h5d.create(where, field.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(data, dtype=f"S{len(data)}"), mtype=kind)
