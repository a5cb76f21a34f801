"""The exact solvers on the files of the FCLIB and Siconos collections, each alone."""

import os
from pathlib import Path

import pytest

import stiction as st
from stiction.solvers import make_solver

FCLIB = Path(os.environ.get("STICTION_FCLIB", ""))
FILES = sorted(
    path
    for name in ("hdf5", "dat", "rolling")
    for path in ((FCLIB / name).glob("*") if "STICTION_FCLIB" in os.environ else ())
)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not FILES, reason="STICTION_FCLIB does not name a folder with subfolders hdf5/, dat/, rolling/"),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize(("solver", "tol"), [("proximal", 1e-10), ("fixed-point", 1e-8), ("auto", 1e-8)])
def test_every_file_from_nothing(solver, tol, path):
    s = st.solve(st.read_fclib(path), solver, tol=tol)
    assert s.success, s.message
    assert s.certificate.natural_map <= tol


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_relaxation_of_every_symmetric_file(path):
    problem = st.read_fclib(path).replace(associated=True)
    conic = make_solver("conic")
    if conic.refuses(problem):
        pytest.skip("W is not symmetric: no convex program")
    answers = [st.solve(problem, name, tol=1e-8) for name in ("conic", "proximal")]
    assert all(s.success for s in answers), [s.message for s in answers]
    # velocities are unique; a certificate of 1e-8 bounds them less tightly where W is ill-conditioned
    assert abs(answers[0].u - answers[1].u).max() <= 1e-4 * problem.scale
