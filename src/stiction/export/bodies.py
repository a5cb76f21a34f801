"""What exports of pictures need of a trajectory: the surfaces of bodies, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..simulation.trajectory import Trajectory

PLANE_MARGIN = 1.5  # planes are drawn so much wider than what is on them


@dataclass(frozen=True)
class Bodies:
    """Surfaces (vertices, triangles) per body about its centre of mass, and poses over time.

    position (n, bodies, 3), quaternion (n, bodies, 4) as (w, x, y, z); surfaces: the numbers of each body's surfaces.
    """

    names: list[str]
    dim: int
    meshes: list[tuple[FloatArray, IntArray]]
    surfaces: list[list[int]]
    position: FloatArray
    quaternion: FloatArray


def bodies_of(run: Trajectory) -> Bodies:
    """The bodies of a trajectory of a world."""
    world, shapes = run.info.get("world"), run.shapes()
    if world is None:
        raise ModelError("only worlds have bodies to draw; this is the run of a generalized system (use csv or npz).")
    if shapes is None:
        raise ModelError("the shapes of the bodies are not known: the file is from an older stiction; run it again.")
    n, nb, dim = len(run), len(world["bodies"]), int(world["dim"])
    position, quaternion = np.zeros((n, nb, 3)), np.zeros((n, nb, 4))
    if dim == 3:
        q = run.q[:, : 7 * nb].reshape(n, nb, 7)
        position[:], quaternion[:] = q[:, :, :3], q[:, :, 3:]
    else:
        q = run.q[:, : 3 * nb].reshape(n, nb, 3)
        position[:, :, :2] = q[:, :, :2]
        quaternion[:, :, 0], quaternion[:, :, 3] = np.cos(0.5 * q[:, :, 2]), np.sin(0.5 * q[:, :, 2])
    size = _extent(position, shapes)
    meshes = []
    for given in shapes["surfaces"]:
        vertices, triangles = np.array(given["vertices"]), np.array(given["triangles"], dtype=np.int64)
        if given["endless"]:
            middle = vertices.mean(axis=0) if dim == 3 else 0.5 * (vertices[0] + vertices[-1])  # on the surface
            vertices = middle + size * (vertices - middle)
        meshes.append((vertices, triangles))
    return Bodies(list(world["bodies"]), dim, meshes, shapes["bodies"], position, quaternion)


def _extent(position: FloatArray, shapes: Any) -> float:
    """Half the width of what is drawn [m]: where bodies with a surface of their own ever are."""
    finite = [i for i, mine in enumerate(shapes["bodies"]) if any(not shapes["surfaces"][k]["endless"] for k in mine)]
    far = float(np.abs(position[:, finite]).max(initial=0.0))
    large = max((float(np.abs(s["vertices"]).max()) for s in shapes["surfaces"] if not s["endless"]), default=1.0)
    return PLANE_MARGIN * (far + large)


def joined(meshes: list[tuple[FloatArray, IntArray]]) -> tuple[FloatArray, IntArray]:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return np.vstack([v for v, _ in meshes]), np.vstack([t + start for (_, t), start in zip(meshes, starts)])


def turned(quaternion: FloatArray, vertices: FloatArray) -> FloatArray:
    """Vertices (n, 3) turned by a unit quaternion (w, x, y, z)."""
    w, u = quaternion[0], quaternion[1:]
    t = 2.0 * np.cross(u, vertices)
    return np.asarray(vertices + w * t + np.cross(u, t))
