"""Hard contact problems of a run, kept as FCLIB files for a closer look: `Simulator(dump="folder")`."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from ..problem.files.fclib_write import write_fclib
from ..problem.laws import UNILATERAL
from ..solvers import Solution

EVERYDAY_STAGES = 2  # of `auto`: its short first sweeps and the Newton steps after them are everyday
HARD_MIN_ITERATIONS = 1000  # iterations (sweeps of nsgs, steps of others) from which on a solve is called hard


class DumpWarning(UserWarning):
    """A hard problem could not be written; the run goes on, and later ones of its kind are skipped silently."""


def is_hard(solution: Solution) -> bool:
    """Whether a solve missed its tolerance, needed more than two stages of `auto`, or 1000 iterations or more."""
    return not solution.success or solution.stages > EVERYDAY_STAGES or solution.iterations >= HARD_MIN_ITERATIONS


class Dump:
    """Writes hard problems into a folder, which is made when the first one comes."""

    def __init__(self, folder: str | Path):
        if not isinstance(folder, (str, Path)):
            raise ModelError(f"dump must be the path of a folder; got {type(folder).__name__}.")
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ModelError(f"dump {folder} is a file; give a folder.")
        self._warned = False
        self._solves = 0  # of this step

    def look(self, step: int, time: float, problem: ContactProblem, solution: Solution, tol: float) -> None:
        """Write the problem if its solve was hard; never raises."""
        self._solves = number = self._solves + 1
        if not is_hard(solution):
            return
        contacts = int((problem.law == UNILATERAL).sum())
        name = f"step-{step:07d}-solve-{number:02d}-contacts-{contacts:06d}.hdf5"
        residual = solution.certificate.natural_map
        description = (
            f"step {step} from t = {time:.9g} s, solve {number} of it, by {solution.solver} in {solution.iterations} "
            f"iterations to a residual of {residual:.3e} (natural map), tolerance {tol:g}: {solution.message}"
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_fclib(
                problem,
                self.folder / name,
                solution=solution if np.isfinite(solution.p).all() else None,
                title=name.removesuffix(".hdf5"),
                description=description,
            )
        except (ModelError, OSError) as error:
            if not self._warned:
                self._warned = True
                warnings.warn(f"a hard step was not written to {self.folder}: {error}", DumpWarning, stacklevel=4)

    def new_step(self) -> None:
        """Count the solves from one again, so that a step that is tried twice has the same files."""
        self._solves = 0
