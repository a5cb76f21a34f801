"""Bodies as they look from a side: the outline of each convex part, the far ones first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import FloatArray
from ..systems import Capsule, Cylinder, Ellipse, Ellipsoid, HalfPlane, Plane, Segment, Sphere
from ..systems.bodies import quaternion_matrix
from .style import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.trajectory import Trajectory

ROUND = 48  # points around a circle
FIXED = -1  # the number of bodies that do not move
RIGHT, AWAY = (
    np.array([0.8, 0.6, 0.0]),
    np.array([-0.54715290, 0.72953720, -0.41036468]),
)  # from the front, a little above
CAMERA = np.array([RIGHT, np.cross(RIGHT, AWAY), AWAY])


def _ball(count: int = 320) -> FloatArray:
    """(count, 3) directions, evenly spread."""
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    flat = np.sqrt(1.0 - z * z)
    return np.column_stack([flat * np.cos(turn), flat * np.sin(turn), z])


def _ring(count: int = ROUND) -> FloatArray:
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def surface(part: Any) -> FloatArray | None:
    """Points (n, d) in the body frame whose convex hull is the part; None for planes, which have no end."""
    if isinstance(part, (Plane, HalfPlane)):
        return None
    if isinstance(part, Ellipse):
        return np.asarray(part.position + _ring() @ part.semi_axes())
    if not hasattr(part, "orientation"):
        corners, radius = part.core()
        if isinstance(part, Segment) or radius == 0.0:
            return np.asarray(corners)
        return np.concatenate([corner + radius * _ring() for corner in corners])
    if hasattr(part, "polytope"):
        points = part.polytope.vertices
    elif isinstance(part, Ellipsoid):
        points = _ball() * part.semi_axes
    elif isinstance(part, Cylinder):
        points = np.vstack(
            [np.column_stack([part.radius * _ring(), np.full(ROUND, z * part.length / 2)]) for z in (-1, 1)]
        )
    else:
        half, radius = part.core()
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
        round_ = isinstance(part, (Sphere, Capsule))
        points = (
            np.concatenate([corner + radius * _ball() for corner in np.unique(corners, axis=0)]) if round_ else corners
        )
    return np.asarray(part.position + points @ quaternion_matrix(*part.orientation).T)


class Silhouettes:
    """The outlines of a world's bodies at any recorded step of a run."""

    def __init__(self, world: Any, run: Trajectory):
        self.run, self.dim = run, world.dim
        self.parts: list[tuple[str, int, FloatArray]] = []  # body, its number or FIXED, points
        for number, spec in enumerate(world.bodies[1:]):
            for shape in spec.shapes:
                for part in shape.parts:
                    points = surface(part)
                    if points is not None:
                        self.parts.append((spec.name, FIXED if spec.kind == "fixed" else number, points))
        names = {name for name, _, _ in self.parts}
        self.places = {name: run.position(name) for name in names}
        turns = run.orientation if self.dim == 3 else run.angle
        self.turns = {name: turns(name) for name in names}

    def at(self, step: int) -> list[tuple[FloatArray, int]]:
        """Outlines (m, 2) as seen from the side, with the number of their body or FIXED, the farthest first."""
        found = []
        for name, kind, points in self.parts:
            place, turn = self.places[name][step], self.turns[name][step]
            if self.dim == 2:
                c, s = np.cos(turn), np.sin(turn)
                found.append((0.0, _outline(place + points @ np.array([[c, s], [-s, c]])), kind))
            else:
                seen = (place + points @ quaternion_matrix(*turn).T) @ CAMERA.T
                found.append((float(seen[:, 2].mean()), _outline(seen[:, :2]), kind))
        return [(outline, kind) for _, outline, kind in sorted(found, key=lambda one: -one[0])]

    def bounds(self, steps: list[int]) -> tuple[FloatArray, FloatArray]:
        """The corners of what is seen of the bodies that move."""
        moving = [outline for step in steps for outline, kind in self.at(step) if kind != FIXED]
        if not moving:
            moving = [outline for outline, _ in self.at(steps[0])] or [np.array([[-1.0, -1.0], [1.0, 1.0]])]
        every = np.concatenate(moving)
        room = 0.05 * float(np.ptp(every, axis=0).max()) + 1e-9
        return every.min(axis=0) - room, every.max(axis=0) + room

    def draw(self, axes: Axes, step: int) -> None:
        """The bodies at a step, and its time."""
        from matplotlib.collections import PolyCollection

        shown = self.at(step)
        axes.add_collection(
            PolyCollection(
                [outline for outline, _ in shown],
                facecolors=["#b8bec8" if kind == FIXED else COLOURS[kind % len(COLOURS)] for _, kind in shown],
                edgecolors="white" if self.dim == 3 else "#30343b",
                linewidths=0.5,
            )
        )
        axes.set_title(f"{self.run.times[step]:.3g} s", fontsize=8, loc="left")


def _outline(points: FloatArray) -> FloatArray:
    """The convex hull of points in the plane, in order; thin ones as they are."""
    from scipy.spatial import ConvexHull, QhullError

    if len(points) < 3:
        return points
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return points


def picture(world: Any, run: Trajectory, frames: int = 6) -> Figure:
    """The bodies at a few moments, evenly spread over the run."""
    shapes = Silhouettes(world, run)
    steps = [round(i) for i in np.linspace(0, len(run) - 1, frames)]
    low, high = shapes.bounds(steps)
    figure = new_figure(9, 6)
    for i, step in enumerate(steps):
        axes = figure.add_subplot(-(-frames // 3), min(3, frames), i + 1)
        _frame(axes, low, high)
        shapes.draw(axes, step)
    return figure


def film(world: Any, run: Trajectory, path: Path, *, fps: float = 25.0) -> int:
    """Write an animated GIF at the pace of the run; the number of its frames."""
    from matplotlib.animation import PillowWriter

    shapes = Silhouettes(world, run)
    wanted = np.arange(run.times[0], run.times[-1] + 0.5 / fps, 1.0 / fps)
    steps = [int(np.argmin(np.abs(run.times - t))) for t in wanted]
    low, high = shapes.bounds(steps[:: max(1, len(steps) // 20)])
    figure = new_figure(6, 4.5)
    axes = figure.add_subplot()
    writer = PillowWriter(fps=round(fps))
    with writer.saving(figure, str(path), dpi=90):
        for step in steps:
            axes.clear()
            _frame(axes, low, high)
            shapes.draw(axes, step)
            writer.grab_frame()
    return len(steps)


def _frame(axes: Axes, low: FloatArray, high: FloatArray) -> None:
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
