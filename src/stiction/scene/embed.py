"""Scenes that need no other file: meshes in place of their paths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..systems.shapes.solids import _read
from .shapes import mesh_file


def embedded(data: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """Tables with the surfaces of meshes in place of their paths, so that they need no other file."""

    def inside(value: Any) -> Any:
        if isinstance(value, Mapping):
            table = {key: inside(one) for key, one in value.items()}
            if table.get("type") == "Mesh" and "path" in table:
                vertices, faces, _ = _read(mesh_file(table.pop("path"), folder), None)
                table |= {"vertices": vertices.tolist(), "faces": faces.tolist()}
            return table
        return [inside(one) for one in value] if isinstance(value, list) else value

    return {key: inside(value) for key, value in data.items()}
