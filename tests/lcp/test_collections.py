"""Complementarity problems of public collections, where the environment variable STICTION_FCLIB names their folder."""

import os
from pathlib import Path

import numpy as np
import pytest

import stiction as st
from stiction.lcp import lemke, residual, solutions

FOLDER = Path(os.environ.get("STICTION_FCLIB", "")) / "lcp"
pytestmark = pytest.mark.skipif(
    "STICTION_FCLIB" not in os.environ or not FOLDER.is_dir(),
    reason="STICTION_FCLIB does not name a folder with a subfolder lcp/",
)

PURE = {  # how Lemke's method ends, and how many isolated solutions and faces there are
    "lcp_CPS_1": (st.Status.SOLVED, 0, 1),
    "lcp_CPS_2": (st.Status.SOLVED, 1, 0),
    "lcp_CPS_3": (st.Status.RAY, 3, 0),
    "lcp_Pang_isolated_sol": (st.Status.SOLVED, 1, 0),
    "lcp_enum_fails": (st.Status.SOLVED, 1, 0),
    "lcp_exp_murty": (st.Status.SOLVED, 1, 0),
    "lcp_mmc": (st.Status.SOLVED, 1, 0),
    "lcp_ortiz": (st.Status.SOLVED, 1, 0),
    "lcp_trivial": (st.Status.SOLVED, 1, 0),
}


def numbers(text):
    for word in text.split():
        try:
            yield float(word)
        except ValueError:  # a remark for people ends the data
            return


def read_lcp(path):
    """Size, storage 0, rows, columns, "rows columns", the matrix column by column, then q (and a remark, sometimes)."""
    data = np.fromiter(numbers(path.read_text()), float)
    n = int(data[0])
    assert data[:6].tolist() == [n, 0, n, n, n, n]
    return data[6 : 6 + n * n].reshape(n, n, order="F"), data[6 + n * n : 6 + n * n + n]


def read_mixed(path):
    """Two switches, n equations, m pairs, row offsets and kinds of the blocks, the matrix column by column and the
    vector; then both again in blocks, and a reference (z, w) of which the first number is missing."""
    data = np.fromiter(numbers(path.read_text()), float)
    n, m = int(data[2]), int(data[3])
    size = n + m
    assert data[:2].tolist() == [1, 1]
    assert data[4:14].tolist() == [0, n, size, 0, 1, 0, size, size, size, size]
    M = data[14 : 14 + size * size].reshape(size, size, order="F")
    q = data[14 + size * size : 14 + size * size + size]
    reference = data[14 + 2 * (size * size + size) :]
    assert reference.size == n + 2 * m - 1
    return M, q, np.arange(size) < n, reference


@pytest.mark.parametrize("name", sorted(PURE))
def test_pure_problems(name):
    M, q = read_lcp(FOLDER / f"{name}.dat")
    status, isolated, faces = PURE[name]
    result = lemke(M, q)
    assert result.status is status, result.message
    if result.success:
        assert residual(M, q, result.z) <= 1e-10 * (np.abs(M) @ np.abs(result.z) + np.abs(q)).max()
    found = solutions(M, q)
    assert found.complete, found.message
    assert (len(found.isolated), len(found.faces)) == (isolated, faces)
    assert found.contains(result.z) == result.success


@pytest.mark.parametrize("name", ["PD_mlcp", "deudeu_mlcp", "diodeBridge_mlcp", "m2n1_mlcp", "m3n2_mlcp"])
def test_mixed_problems(name):
    M, q, free, reference = read_mixed(FOLDER / f"{name}.dat")
    result = lemke(M, q, free=free)
    found = solutions(M, q, free=free)
    assert found.complete
    assert result.success
    assert found.contains(result.z)
    if name != "PD_mlcp":  # its reference was copied from diodeBridge, whose matrix it does not share
        w = result.w[~free]
        # The matrix of m2n1 holds 1.3333 where the reference was computed with 4/3.
        assert np.allclose(np.concatenate([result.z[1:], w]), reference, atol=2e-4 if name == "m2n1_mlcp" else 1e-6)


def test_example_of_cottle_pang_stone():
    """Example 4.4.7, whose solution is (0, 1, 3)."""
    assert np.allclose(lemke(*read_lcp(FOLDER / "lcp_CPS_2.dat")).z, [0, 1, 3])
