"""Trajectories for ParaView: a series of unstructured grids, written by meshio."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import ModelError
from ..problem.laws import UNILATERAL
from ..simulation.motion import world_impulse
from ..simulation.trajectory import Trajectory
from .bodies import Bodies, bodies_of, turned
from .tables import has


def write_vtk(run: Trajectory, path: Path) -> None:
    """`path` (.pvd) lists the frames, which are in a folder beside it: the bodies as triangles, with their numbers.

    Contacts are a second series, `NAME-contacts.pvd`: points with the force on the first body [N] and the gap [m].
    """
    meshio = _meshio()
    bodies = bodies_of(run)
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    triangles, body = _triangles(bodies)
    listed = []
    for i, time in enumerate(run.times.tolist()):
        mesh = meshio.Mesh(_points(bodies, i), [("triangle", triangles)], cell_data={"body": [body]})
        listed.append((time, _write(mesh, folder / f"bodies-{i:06d}.vtu")))
    _list(path, listed)
    if has(run, "contacts"):
        _list(path.with_name(f"{path.stem}-contacts.pvd"), _contacts(meshio, run, bodies.dim, folder))


def _meshio() -> Any:
    try:
        import meshio
    except ImportError as error:
        raise ModelError('VTK files are written by meshio: pip install "stiction[export]".') from error
    return meshio


def _triangles(bodies: Bodies) -> tuple[np.ndarray, np.ndarray]:
    """The triangles of all bodies in the points of a frame, and the body of each."""
    triangles, body, start = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for number, mine in enumerate(bodies.surfaces):
        for k in mine:
            vertices, faces = bodies.meshes[k]
            triangles.append(faces + start)
            body.append(np.full(len(faces), number))
            start += len(vertices)
    return np.vstack(triangles), np.concatenate(body)


def _points(bodies: Bodies, frame: int) -> np.ndarray:
    points = [np.zeros((0, 3))]
    for number, mine in enumerate(bodies.surfaces):
        for k in mine:
            turn, place = bodies.quaternion[frame, number], bodies.position[frame, number]
            points.append(turned(turn, bodies.meshes[k][0]) + place)
    return np.vstack(points)


def _contacts(meshio: Any, run: Trajectory, dim: int, folder: Path) -> list[tuple[float, str]]:
    t, h, listed = run.table, float(run.info["dt"]), []
    force = np.zeros((len(t.step), 3))
    force[:, :dim] = world_impulse(t.normal, t.tangent, t.impulse, dim) / h
    met = (t.law == UNILATERAL) & (t.bodies[:, 0] >= 0)
    for step, time in enumerate(run.times[1:].tolist()):
        rows = np.flatnonzero((t.step == step) & met) if len(met) < 10_000 else _rows(t.step, met, step)
        cells = [("vertex", np.arange(len(rows))[:, None])]
        data = {"force": force[rows], "gap": t.gap[rows], "mode": t.mode[rows]}
        mesh = meshio.Mesh(t.point[rows], cells, point_data=data)
        listed.append((time, _write(mesh, folder / f"contacts-{step + 1:06d}.vtu")))
    return listed


def _rows(steps: np.ndarray, met: np.ndarray, step: int) -> np.ndarray:
    first, last = np.searchsorted(steps, [step, step + 1])
    return first + np.flatnonzero(met[first:last])


def _write(mesh: Any, path: Path) -> str:
    mesh.write(path, file_format="vtu", binary=True)
    return f"{path.parent.name}/{path.name}"


def _list(path: Path, files: list[tuple[float, str]]) -> None:
    lines = [f'  <DataSet timestep="{time!r}" part="0" file={quoteattr(name)}/>' for time, name in files]
    head = '<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">'
    text = "\n".join(['<?xml version="1.0"?>', head, " <Collection>", *lines, " </Collection>", "</VTKFile>", ""])
    path.write_text(text, encoding="utf-8")
