"""Old paths of modules that have moved inside the package: they still work, with a warning.

Users' imports and pickles name modules by their paths. A package calls `keep_old_paths` when it is imported; a module
that has moved is then found under its old path as a stand-in, which loads the module when a name of it is used.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["keep_old_paths"]

# {old path: new path}, below `stiction`
MOVED = {
    "schemes.unforeseen": "schemes.missed_contacts",
    "simulation.checkpoints": "simulation.recording.checkpoints",
    "simulation.lazy": "simulation.recording.lazy",
    "simulation.reader": "simulation.recording.reader",
    "simulation.recorder": "simulation.recording.recorder",
    "simulation.tables": "simulation.recording.tables",
    "simulation.writer": "simulation.recording.writer",
    "systems.blocks": "systems.joints.blocks",
    "systems.bodies": "systems.builder.bodies",
    "systems.candidates": "systems.model.candidates",
    "systems.constraints": "systems.generalized.constraints",
    "systems.contacts3": "systems.model.kernels.space_contacts",
    "systems.derivatives": "systems.generalized.derivatives",
    "systems.detection": "systems.model.detection",
    "systems.drives": "systems.joints.drives",
    "systems.forces": "systems.builder.forces",
    "systems.handles": "systems.builder.handles",
    "systems.hulls": "systems.shapes.hulls",
    "systems.kernels2": "systems.model.kernels.plane",
    "systems.kernels3": "systems.model.kernels.space",
    "systems.materials": "systems.builder.materials",
    "systems.mechanism": "systems.model.mechanism",
    "systems.mechanism_kernels": "systems.model.kernels.mechanism",
    "systems.mesh_files": "systems.shapes.mesh_files",
    "systems.meshes": "systems.shapes.surfaces",
    "systems.model2": "systems.model.plane",
    "systems.model3": "systems.model.space",
    "systems.motion_kernels": "systems.model.kernels.motion",
    "systems.motions": "systems.builder.motions",
    "systems.primitives": "systems.joints.primitives",
    "systems.records": "systems.model.records",
    "systems.solids": "systems.shapes.solids",
    "systems.world": "systems.builder.world",
}

# {old path: {old name: new name}}, where names have changed too
RENAMED = {"schemes.unforeseen": {"foresee": "solve_with_missed_contacts"}}


class _OldPath(ModuleType):
    """What stands under the old path of a module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python and its tools ask of every module
            raise AttributeError(name)
        module, now = self._found(name)
        return getattr(module, now)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            module, now = self._found(name)
            setattr(module, now, value)

    def _found(self, name: str) -> tuple[ModuleType, str]:
        """The module under its present path, and the present name of what it is asked for."""
        old = self.__name__.removeprefix("stiction.")
        new, now = MOVED[old], RENAMED.get(old, {}).get(name, name)
        module = import_module(f"stiction.{new}")
        if hasattr(module, now):
            text = f"{self.__name__}.{name} is now stiction.{new}.{now}."
            warnings.warn(text, DeprecationWarning, stacklevel=3)
        return module, now


def keep_old_paths(package: str) -> None:
    """Put stand-ins under the old paths of modules of a package, such as "stiction.systems"."""
    for old in MOVED:
        path = f"stiction.{old}"
        folder, _, name = path.rpartition(".")
        if folder == package and path not in sys.modules:
            sys.modules[path] = stand_in = _OldPath(path)
            setattr(sys.modules[package], name, stand_in)
