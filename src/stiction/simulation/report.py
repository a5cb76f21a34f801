"""What a step that failed leaves behind: a folder with the reason, the state, the hard problem, the scene, versions."""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import stat
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..errors import ModelError
from ..problem.contact_problem import ContactProblem
from ..problem.files.fclib_write import write_fclib
from ..solvers import Solution

if TYPE_CHECKING:
    from .simulator import Simulator


REPORT_PREFIX, REPORTS_KEPT = "stiction-failure-", 5  # reports among the temporary files: names, and how many stay


def leave_report(
    simulator: Simulator, folder: Path | None, reason: str, hard: tuple[ContactProblem, Solution] | None
) -> Path | None:
    """Write the report of a failed step and return its folder; None where nothing can be written.

    folder: where; None: a new one among the temporary files of the system, of which the newest stay. `reason.txt` is
    the sentence of the error, `state.npz` the state before the step (t, q, v, keys, impulses, springs), `problem.hdf5`
    the contact problem that was not solved (`stiction solve` tries other solvers on it), `scene.toml` the scene where
    it is known, `versions.json` the settings and the versions of what took part.
    """
    try:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix=REPORT_PREFIX))
            _remove_older(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reason.txt").write_text(reason + "\n", encoding="utf-8")
        s = simulator.state
        np.savez(folder / "state.npz", t=s.t, q=s.q, v=s.v, keys=s.keys, impulses=s.impulses, springs=s.springs)
        if simulator.scene is not None:
            (folder / "scene.toml").write_text(simulator.scene, encoding="utf-8")
        (folder / "versions.json").write_text(json.dumps(_versions(simulator), indent=1) + "\n", encoding="utf-8")
        if hard is not None:
            _write_problem(folder, reason, *hard)
    except OSError:  # the failure of the step is what counts
        return None
    return folder


def _remove_older(newest: Path) -> None:
    """Remove the reports of the same user beside this one, all but the last few."""
    with contextlib.suppress(OSError):  # others may be doing the same
        owner, found = newest.lstat().st_uid, []
        for one in newest.parent.glob(f"{REPORT_PREFIX}*"):
            details = one.lstat()
            if one != newest and stat.S_ISDIR(details.st_mode) and details.st_uid == owner:
                found.append((details.st_mtime_ns, one))
        for _, one in sorted(found, reverse=True)[REPORTS_KEPT - 1 :]:
            shutil.rmtree(one, ignore_errors=True)


def _write_problem(folder: Path, reason: str, problem: ContactProblem, solution: Solution) -> None:
    found = solution if np.isfinite(solution.p).all() else None
    try:
        write_fclib(problem, folder / "problem.hdf5", solution=found, title="hard problem", description=reason)
    except ModelError as error:  # laws that FCLIB does not have
        (folder / "problem.txt").write_text(f"The problem is not here: {error}\n", encoding="utf-8")


def _versions(simulator: Simulator) -> dict[str, Any]:
    packages = {}
    for name in ("numpy", "scipy", "numba", "clarabel", "h5py"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "unknown"
    return {
        "stiction": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        **packages,
        "simulator": simulator.settings(),
        "on_failure": simulator.on_failure,
    }
