"""Frictional contact problems in the text files of Siconos.

Dimension, number of contacts, a matrix, q and mu (mu_r too in dimension 5); or, for global problems, the dimension,
the number of contacts, M, H, q, b and mu. A flag 0 or 1 may follow. A matrix is its storage, rows, columns, and then

    0  dense: rows, columns, the entries column by column
    1  sparse blocks: numbers of blocks, block rows and block columns, the last row of each block row and the last
       column of each block column, lengths of two indices, the two indices (compressed rows), and each block with
       its number, column by column
    2  sparse: the origin (1 triplets, 2 compressed columns, 3 compressed rows) and CSparse's printout for people, which
       has six digits
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..._check import FloatArray
from ...errors import ModelError
from .fclib_forms import FrictionalData

DENSE, BLOCKS, SPARSE = 0, 1, 2  # storage types of a NumericsMatrix
# the message of an error
NOT_ONE = (
    "this is neither an FCLIB file in HDF5 nor a frictional contact problem in Siconos' text form, which begins with "
    "the dimension (2, 3 or 5) and the number of contacts (LCP files hold none: st.lcp.lemke takes their M and q)."
)


class _Words:
    """The words of a text file, taken one after the other; numbers are converted in one go."""

    def __init__(self, text: str):
        self.lines = text.split("\n")
        self.line = 0
        self.words: list[str] = []

    def next(self, what: str) -> str:
        """The next word."""
        while not self.words:
            if self.line >= len(self.lines):
                raise ModelError(f"the file ends before {what}.")
            self.words = self.lines[self.line].split()[::-1]
            self.line += 1
        return self.words.pop()

    def integer(self, what: str, low: int = 0) -> int:
        """The next word as an integer of at least `low`."""
        word = self.next(what)
        if not re.fullmatch(r"[+-]?\d+", word) or int(word) < low:
            raise ModelError(f"{what} must be an integer of at least {low}; got {word[:40]!r}.")
        return int(word)

    def many(self, what: str, count: int) -> list[str]:
        """The next `count` words."""
        found: list[str] = []
        while len(found) < count:
            if not self.words:
                found.append(self.next(f"the {count} numbers of {what}"))
            else:
                take = min(count - len(found), len(self.words))
                found += self.words[: -take - 1 : -1]
                del self.words[len(self.words) - take :]
        return found

    def floats(self, what: str, count: int) -> FloatArray:
        """The next `count` words as numbers."""
        return _numbers(what, self.many(what, count))

    def indices(self, what: str, count: int, most: int) -> Any:
        """The next `count` words as integers between 0 and `most`."""
        return _whole(what, self.floats(what, count), most)

    def remaining(self) -> list[str]:
        """Every word that has not been taken."""
        return self.words[::-1] + " ".join(self.lines[self.line :]).split()

    def next_line(self, what: str) -> str:
        """The next line that is not empty, whole."""
        while self.line < len(self.lines):
            line = self.lines[self.line].strip()
            self.line += 1
            if line:
                return line
        raise ModelError(f"the file ends before {what}.")


def _numbers(what: str, words: list[str]) -> FloatArray:
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError as error:  # numpy's message holds the word
        raise ModelError(f"{what} must be numbers ({str(error)[:80]}).") from None
    if not np.isfinite(values).all():
        raise ModelError(f"{what} must be finite; found {words[int(np.argmin(np.isfinite(values)))]}.")
    return values


def _whole(what: str, values: FloatArray, most: int) -> Any:
    good = (values == np.floor(values)) & (values >= 0) & (values <= most)
    if not good.all():
        raise ModelError(f"{what} must be integers from 0 to {most}; found {values[~good][0]:g}.")
    return values.astype(np.int64)


def read_text(path: Path) -> FrictionalData:
    """The arrays of a text file; local or global is told by what follows the first matrix."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ModelError(NOT_ONE) from None
    words = _Words(text)
    head = text.split(None, 2)[:2]
    if re.match(r"\s*[235]\s+0\s+[012]\s+0\s+0\s", text):  # no contacts, and a matrix without rows
        raise ModelError("the problem has no contacts; there is nothing to solve.")
    if not (len(head) == 2 and head[0] in ("2", "3", "5") and re.fullmatch(r"[1-9]\d*", head[1])):
        raise ModelError(NOT_ONE)
    dim, nc = words.integer("dimension"), words.integer("number of contacts")
    first = _matrix("W or M", words)
    n = first.shape[0]
    vectors = nc * (2 if dim == 5 else 1)  # mu, and mu_r
    rest = words.remaining()
    if n == dim * nc and len(rest) in (n + vectors, n + vectors + 1):
        data = FrictionalData(dim=dim, mu=None, W=first)
        words = _Words(" ".join(rest))
        data.q = words.floats("q", n)
    else:
        # too many or too few numbers for a local problem: it can only be a global one
        if n == dim * nc and len(rest) < n + vectors:
            names = "q, mu and mu_r" if dim == 5 else "q and mu"
            raise ModelError(f"{n + vectors} numbers of {names} must follow the matrix W; {len(rest)} do.")
        H = _matrix("H", words)
        if H.shape != (n, dim * nc):
            wanted = f"{n} by {dim * nc}"
            raise ModelError(f"H must be {wanted} for {nc} contacts; it is {H.shape[0]} by {H.shape[1]}.")
        data = FrictionalData(dim=dim, mu=None, M=first, H=H)
        data.f, data.w = words.floats("q", n), words.floats("b", dim * nc)
    data.mu = words.floats("mu", nc)
    if dim == 5:
        data.mu_r = words.floats("mu_r", nc)
    rest = words.remaining()
    if rest and rest not in (["0"], ["1"]):
        raise ModelError(f"{len(rest)} words are left after mu; the numbers before it do not fit the sizes given.")
    return data


def _matrix(name: str, words: _Words) -> Any:
    """The next matrix, sparse."""
    from scipy.sparse import csr_matrix

    storage = words.integer(f"storage of {name}")
    m, n = words.integer(f"rows of {name}", 1), words.integer(f"columns of {name}", 1)
    if storage == DENSE:
        if (words.integer(f"rows of {name}", 1), words.integer(f"columns of {name}", 1)) != (m, n):
            raise ModelError(f"{name} gives two different sizes.")
        return csr_matrix(words.floats(name, m * n).reshape(m, n, order="F"))
    if storage == BLOCKS:
        return _sparse_blocks(name, words, m, n)
    if storage == SPARSE:
        return _csparse(name, words, m, n)
    raise ModelError(f"storage of {name} must be 0 (dense), 1 (sparse blocks) or 2 (sparse); got {storage}.")


def _sparse_blocks(name: str, words: _Words, m: int, n: int) -> Any:
    from scipy.sparse import coo_matrix

    count = words.integer(f"blocks of {name}")
    rows, columns = words.integer(f"block rows of {name}", 1), words.integer(f"block columns of {name}", 1)
    ends = [words.indices(f"block sizes of {name}", k, most) for k, most in ((rows, m), (columns, n))]
    starts = [np.concatenate([[0], e[:-1]]) for e in ends]
    for e, start, size in zip(ends, starts, (m, n)):
        if e[-1] != size or (e <= start).any():
            raise ModelError(f"block sizes of {name} must grow to {size}; they end at {e[-1]}.")
    filled, indexed = words.integer(f"row index of {name}"), words.integer(f"column index of {name}")
    row_ptr = words.indices(f"row index of {name}", filled, count)
    column = words.indices(f"column index of {name}", indexed, columns - 1)
    if filled > rows + 1 or indexed != count or filled == 0 or row_ptr[-1] != count or (np.diff(row_ptr) < 0).any():
        raise ModelError(f"the index of the blocks of {name} is not that of {rows} block rows and {count} blocks.")
    row = np.repeat(np.arange(filled - 1), np.diff(row_ptr))
    entries: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for k in range(count):
        if words.integer(f"number of a block of {name}") != k:
            raise ModelError(f"the blocks of {name} must be numbered in order; block {k} is missing.")
        i = np.arange(starts[0][row[k]], ends[0][row[k]])
        j = np.arange(starts[1][column[k]], ends[1][column[k]])
        for part, values in zip(
            entries, (words.floats(name, len(i) * len(j)), np.tile(i, len(j)), np.repeat(j, len(i)))
        ):
            part.append(values)
    x, i, j = (np.concatenate([*part, []]) for part in entries)
    return coo_matrix((x, (i.astype(np.int64), j.astype(np.int64))), shape=(m, n)).tocsr()


def _csparse(name: str, words: _Words, m: int, n: int) -> Any:
    """CSparse's printout: a remark, the sizes, then `col J : locations A to B` with `I : X`, or `I J : X`."""
    from scipy.sparse import coo_matrix

    origin = words.integer(f"origin of {name}")
    words.next_line(name)  # the version of CSparse
    sizes = words.next_line(f"sizes of {name}")
    found = re.search(r"(\d+)-by-(\d+), nzmax: \S+ nnz: (\d+)", sizes)
    if found is None or origin not in (1, 2, 3):
        raise ModelError(f"{name} must be triplets (1), compressed columns (2) or rows (3) as CSparse prints them.")
    triplet = sizes.startswith("triplet")
    shape, count = (int(found[1]), int(found[2])), int(found[3])
    if shape != ((n, m) if origin == 3 else (m, n)):
        raise ModelError(f"{name} must be {m} by {n}; its printout is {shape[0]} by {shape[1]}.")
    i: list[int] = []
    j: list[int] = []
    x: list[str] = []
    column = 0
    while len(x) < count:
        line = words.next_line(f"the {count} entries of {name}").replace(":", " ").split()
        if line[:1] == ["col"] and len(line) > 1 and not triplet:
            column = int(_whole(f"a column of {name}", _numbers(name, line[1:2]), shape[1] - 1)[0])
            continue
        if len(line) != (3 if triplet else 2):
            raise ModelError(f"{name} has {len(x)} entries where {count} were announced.")
        where = _whole(f"an index of {name}", _numbers(name, line[:-1]), max(shape) - 1)
        i.append(int(where[0]))
        j.append(int(where[1]) if triplet else column)
        x.append(line[-1])
    if len(x) and (max(i) >= shape[0] or max(j) >= shape[1]):
        raise ModelError(f"{name} has an entry outside its {shape[0]} rows and {shape[1]} columns.")
    A = coo_matrix((_numbers(name, x), (np.array(i, dtype=np.int64), np.array(j, dtype=np.int64))), shape=shape).tocsr()
    return A.T.tocsr() if origin == 3 else A
