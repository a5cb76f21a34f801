"""Contact problems from files: FCLIB's HDF5 (the frictional contact library) and Siconos' text form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import _check
from ..._arguments import checks_arguments
from ..._hdf5 import elsewhere
from ...errors import ModelError
from ..contact_problem import ContactProblem
from .fclib_forms import FrictionalData, to_problem
from .siconos import read_text

# groups of an FCLIB file that hold a problem
GROUPS = ("fclib_local", "fclib_global", "fclib_local_rolling", "fclib_global_rolling")


@checks_arguments
def read_fclib(path: str | Path) -> ContactProblem:
    """A frictional contact problem from an FCLIB file (HDF5) or a Siconos text file (.dat); told apart by content.

    Local problems (`u = W r + q`) come on `Delassus`. Global ones (`M v = H r + f`, `u = Hᵀ v + w`) come on `Bodies`
    where M has one 6x6 or 3x3 block per body and a contact touches at most two of them, on `Dense` where M is
    symmetric and small, else on `Delassus` by a sparse factorisation of M. Contacts come first, in the
    file's order, then equality constraints. Units are the file's own; a stored guess becomes `p_warm`. A file that
    is damaged, incomplete or of another kind raises `ModelError` with the name of the file and the field.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelError(f"there is no file {path}.")
    with path.open("rb") as file:
        hdf5 = file.read(8) == b"\x89HDF\r\n\x1a\n"
    try:
        return to_problem(_read_hdf5(path) if hdf5 else read_text(path))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except MemoryError:
        raise ModelError(f"{path}: its sizes are larger than the memory of this machine.") from None


def _read_hdf5(path: Path) -> FrictionalData:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            foreign = elsewhere(file)
            if foreign is not None:
                raise ModelError(f"the file is not read, because it would read other files: {foreign}.")
            return _problem(file)
    except ModelError:
        raise
    except Exception as error:  # h5py's words for a truncated or damaged file, of many kinds
        raise ModelError(f"the HDF5 file is damaged or cut short ({str(error)[:200]}).") from None


def _problem(file: Any) -> FrictionalData:
    names = [name for name in GROUPS if name in file]
    if len(names) != 1:
        found = ", ".join(names) or "none"
        raise ModelError(f"an FCLIB file holds one of the groups {', '.join(GROUPS)}; this one has {found}.")
    group = _Group(file[names[0]], names[0])
    rolling = names[0].endswith("rolling")
    data = FrictionalData(dim=group.integer("spacedim"), mu=group.vector("vectors/mu"))
    if rolling != (data.dim == 5):
        raise ModelError(f"{names[0]}/spacedim must be {'5' if rolling else '2 or 3'}; got {data.dim}.")
    if rolling:
        data.mu_r = group.vector("vectors/mu_r" if group.has("vectors/mu_r") else "vectors/mur")
    if "local" in names[0]:
        data.q = group.vector("vectors/q")
        rows, equalities = len(data.q), 0
        data.W = group.matrix("W", rows, rows)
        if group.has("V") or group.has("R"):
            data.s = group.vector("vectors/s")
            equalities = len(data.s)
            data.V, data.R = group.matrix("V", rows, equalities), group.matrix("R", equalities, equalities)
    else:
        data.f, data.w = group.vector("vectors/f"), group.vector("vectors/w")
        nv, rows, equalities = len(data.f), len(data.w), 0
        data.M, data.H = group.matrix("M", nv, nv), group.matrix("H", nv, rows)
        if group.has("G"):
            data.b = group.vector("vectors/b")
            equalities = len(data.b)
            data.G = group.matrix("G", nv, equalities)
    root = _Group(file, "")
    if root.has("guesses/1/r"):
        r = _check.floats("guesses/1/r", root.vector("guesses/1/r"), (rows,))
        l = root.vector("guesses/1/l") if root.has("guesses/1/l") else np.zeros(equalities)
        data.guess = np.concatenate([r, _check.floats("guesses/1/l", l, (equalities,))])
    for field in ("length", "key", "sizes"):  # what FCLIB has no place for; written by `write_fclib`
        if root.has(f"stiction/{field}"):
            values = root.vector(f"stiction/{field}", integers=field != "length")
            setattr(data, field, values)
    return data


class _Group:
    """A group of an HDF5 file whose every lookup names what is missing or wrong."""

    def __init__(self, group: Any, name: str):
        self.group, self.name = group, name

    def has(self, name: str) -> bool:
        return name in self.group

    def _array(self, name: str) -> Any:
        import h5py

        full = f"{self.name}/{name}".strip("/")
        found = self.group.get(name)
        if not isinstance(found, h5py.Dataset):
            raise ModelError(f"the dataset {full} is missing.")
        try:
            return np.atleast_1d(found[()])
        except (OSError, RuntimeError, LookupError, ValueError, TypeError, MemoryError) as error:
            raise ModelError(f"the dataset {full} is damaged ({str(error)[:200]}).") from None

    def integer(self, name: str) -> int:
        value = self._array(name)
        if value.size != 1 or value.dtype.kind not in "iu":
            raise ModelError(f"{self.name}/{name} must be one integer; got {_check.describe(value)}.")
        return int(value.ravel()[0])

    def vector(self, name: str, integers: bool = False) -> Any:
        check = _check.integers if integers else _check.floats
        return check(f"{self.name}/{name}".strip("/"), self._array(name), (None,))

    def matrix(self, name: str, rows: int, columns: int) -> Any:
        """A matrix of m rows and n columns: nz >= 0 triplets (i rows, p columns), -1 compressed columns, -2 rows."""
        from scipy.sparse import coo_matrix, csc_matrix, csr_matrix

        m, n, nz = (self.integer(f"{name}/{field}") for field in ("m", "n", "nz"))
        full = f"{self.name}/{name}"
        if (m, n) != (rows, columns) or nz < -2:
            raise ModelError(
                f"{full} must be {rows} by {columns}, as the vectors have it, with nz >= -2; m is {m}, n {n}, nz {nz}."
            )
        i, p = (self.vector(f"{name}/{field}", integers=True) for field in ("i", "p"))
        x = self.vector(f"{name}/x")
        if nz >= 0:
            if min(len(i), len(p), len(x)) < nz:
                raise ModelError(f"{full} must have {nz} triplets; i, p, x have {len(i)}, {len(p)}, {len(x)}.")
            self._indices(f"{full}/i", i[:nz], m)
            self._indices(f"{full}/p", p[:nz], n)
            return coo_matrix((x[:nz], (i[:nz], p[:nz])), shape=(m, n)).tocsr()
        major, minor = (n, m) if nz == -1 else (m, n)
        if len(p) != major + 1 or p[0] != 0 or (np.diff(p) < 0).any() or p[-1] > min(len(i), len(x)):
            raise ModelError(f"{full}/p must have {major + 1} numbers that grow from 0 to the number of entries.")
        i, x = i[: p[-1]], x[: p[-1]]
        self._indices(f"{full}/i", i, minor)
        made = (csc_matrix if nz == -1 else csr_matrix)((x, i, p), shape=(m, n))
        made.sum_duplicates()
        return made.tocsr()

    def _indices(self, name: str, values: Any, size: int) -> None:
        if len(values) and not (values.min() >= 0 and values.max() < size):
            raise ModelError(
                f"{name} must hold indices from 0 to {size - 1}; it holds {values.min()} to {values.max()}."
            )
