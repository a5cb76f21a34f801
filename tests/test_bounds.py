"""Kernels under Numba's bounds checks: an index outside its array is an error there, and silence elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stiction.friction import Coulomb, Polyhedral
from stiction.problem import ContactProblem, Law
from stiction.problem.residuals import SCALED, block_residuals

ROOT = Path(__file__).parents[1]


FOLDERS = {"solvers": ["lcp", "friction", "problem", "solvers"], "collision": ["collision"]}  # for a worker each


@pytest.mark.long
@pytest.mark.parametrize("part", FOLDERS)
def test_kernels_stay_within_their_arrays(tmp_path, part):
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "STICTION_CACHE_DIR": str(tmp_path)}
    folders = FOLDERS[part]
    rows = ["each_row_has_its_own_column", "action_and_reaction_in_space", "friction_takes_energy_and_gives_none"]
    worlds = [f"worlds/test_spin_and_roll.py::test_{name}" for name in rows]
    worlds.append("worlds/test_friction_axes.py::test_neither_the_order_of_bodies_nor_the_frame_matters")
    chosen = [str(ROOT / "tests" / name) for name in (*folders, *(worlds if part == "collision" else ()))]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not long", "-p", "no:cacheprovider", *chosen],
        capture_output=True, text=True, env=env, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


def test_every_entry_of_the_residual_table_is_written():
    """Outputs filled with infinity before the call, so that an entry that is not written shows."""
    octagon = Polyhedral(0.5, directions=Coulomb(0.5).directions(2))
    problem = ContactProblem.from_delassus(
        np.eye(9), np.linspace(-1, 1, 9), row_ptr=[0, 3, 6, 7, 8, 9],
        law=[Law.UNILATERAL, Law.UNILATERAL, Law.EQUALITY, Law.BOX, Law.DRY],
        friction=[octagon, Coulomb(0.3), None, None, Coulomb(1.0)], r0=[0, 0, 0, 0, 0.5],
        lo=[-1.0] * 9, hi=[1.0] * 9,
    )  # fmt: skip
    table, mode = np.full((5, SCALED + 1), np.inf), np.full(5, -1)
    p = np.full(9, 0.2)
    block_residuals(problem.laws, problem.rho, problem.q + p, p, table, mode)
    assert np.isfinite(table).all()
    assert (mode >= 0).all()
