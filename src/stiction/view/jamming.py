"""Figures of contacts that jam: planar worlds with their friction cones and forces, and charts of what is safe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._check import FloatArray
from ..systems.base import State
from .style import COLOURS, dress

FIXED, CONE, FORCE = "#ced4da", "#f0a500", "#c0392b"
GOOD, BAD = (COLOURS[2], "#1e6b42"), (COLOURS[1], "#9b2c3b")  # of areas, and of words in them


def draw_planar(
    axes: Any,
    world: Any,
    state: State | None = None,
    *,
    closed: float = 1e-6,
    cones: float = 0.0,
    arrows: float = 0.0,
    forces: FloatArray | None = None,
    colours: Mapping[str, str] | None = None,
) -> Any:
    """Draw the bodies of a `PlanarWorld` and the friction cones and forces of the contacts that touch.

    cones [m]: how long the friction cones are drawn, on the first body of each contact's name that can move; arrows
    [m]: how long the largest force is drawn; forces (nr,): in the rows of the impulse–velocity problem, such as
    `JammingBound.forces`; colours: of bodies, by name.
    """
    from ..analysis.forms import impulse_velocity
    from ..analysis.instant import built

    system: Any = built(world)
    state = system.initial_state() if state is None else state
    axes.set_aspect("equal")
    axes.set_axis_off()
    for i, spec in enumerate(system.specs):
        body = system.body_state(i, state.q, state.v)
        colour = (colours or {}).get(spec.name, COLOURS[0] if spec.kind == "dynamic" else FIXED)
        for shape in spec.shapes:
            _draw_shape(axes, shape, body.position, float(body.orientation), colour)
    form = impulse_velocity(system, state, closed=closed)
    found = system.detect(state.t, state.q, closed)
    place = system.contact_geometry(found, state.q)
    largest = 1.0 if forces is None else float(np.abs(forces).max(initial=0.0)) or 1.0
    at = dict(zip(found.key.tolist(), range(len(found.key))))
    for k, key in enumerate(form.problem.key.tolist()):
        j = at[key]
        point, normal, tangent = place.point[j][:2], place.normal[j][:2], place.tangent[j][:2]
        rows = slice(int(form.problem.row_ptr[k]), int(form.problem.row_ptr[k + 1]))
        first = int(place.bodies[j][0])
        side = 1.0 if system.moves[first] else -1.0  # the force on the body that moves
        if cones:
            _draw_cone(axes, point, side * normal, float(form.problem.friction.mu[k]), cones)
        if forces is not None and arrows:
            p = forces[rows]
            force = side * (p[0] * normal + (p[1] * tangent if len(p) > 1 else 0.0)) / largest * arrows
            axes.annotate("", point, point - force, zorder=5,
                          arrowprops={"arrowstyle": "-|>", "color": FORCE, "linewidth": 1.6})  # fmt: skip
    return axes


def _draw_shape(axes: Any, shape: Any, position: FloatArray, angle: float, colour: str) -> None:
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Patch

    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    if type(shape).__name__ == "HalfPlane":
        n = turn @ np.asarray(shape.normal)
        t, p = np.array([n[1], -n[0]]), position + turn @ np.asarray(shape.position)
        far = 50.0
        axes.add_patch(Patch([p - far * t, p + far * t, p + far * t - far * n, p - far * t - far * n], color=FIXED,
                             zorder=0))  # fmt: skip
        return
    points, radius = shape.core()
    points = position + points @ turn.T
    if len(points) == 1:
        axes.add_patch(Circle(points[0], radius, facecolor=colour, edgecolor="white", zorder=1))
        return
    if radius and len(points) == 2:
        along = (points[1] - points[0]) / max(float(np.linalg.norm(points[1] - points[0])), 1e-300)
        across = radius * np.array([-along[1], along[0]])
        sides = [points[0] + across, points[1] + across, points[1] - across, points[0] - across]
        for p in points:
            axes.add_patch(Circle(p, radius, color=colour, linewidth=0, zorder=1))
        points = np.array(sides)
    axes.add_patch(Patch(points, facecolor=colour, edgecolor="none" if radius else "white", zorder=1))


def _draw_cone(axes: Any, point: FloatArray, normal: FloatArray, mu: float, length: float) -> None:
    """The friction cone, outside of the body on which it acts: forces come from there."""
    from matplotlib.patches import Polygon as Patch

    t = np.array([-normal[1], normal[0]])
    sides = [-length * (normal + s * mu * t) / np.hypot(1.0, mu) for s in (1.0, -1.0)]
    axes.add_patch(Patch([point, point + sides[0], point + sides[1]], color=CONE, alpha=0.55, linewidth=0, zorder=3))
    axes.plot(*point, "o", color="black", markersize=3, zorder=6)


def draw_limit(
    axes: Any, x: FloatArray, limit: FloatArray, *, names: str, values: str, above: str, below: str, top: float,
    wanted: str = "below",
) -> Any:  # fmt: skip
    """A bound of friction over a range, with what happens above and below it; `wanted` is the green side."""
    axes = dress(axes, x=names, y=values)
    shown = np.minimum(np.where(np.isfinite(limit), limit, top), top)
    upper, lower = (GOOD, BAD) if wanted == "above" else (BAD, GOOD)
    axes.fill_between(x, shown, top, color=upper[0], alpha=0.16, linewidth=0)
    axes.fill_between(x, 0.0, shown, color=lower[0], alpha=0.16, linewidth=0)
    axes.plot(x, np.where(limit <= top, limit, np.nan), color=COLOURS[5], linewidth=1.6)
    axes.set_xlim(float(x[0]), float(x[-1]))
    axes.set_ylim(0.0, top)
    axes.text(0.97, 0.95, above, transform=axes.transAxes, ha="right", va="top", color=upper[1], fontsize=9)
    axes.text(0.97, 0.05, below, transform=axes.transAxes, ha="right", va="bottom", color=lower[1], fontsize=9)
    return axes


def draw_bounds(
    axes: Any, x: FloatArray, mu_bar: FloatArray, jam: FloatArray, *, names: str, mu: float | None = None,
    top: float = 3.0,
) -> Any:  # fmt: skip
    """Both bounds of `analysis.scan` over a range: where motions are lost, where contacts can jam, and what is safe."""
    axes = dress(axes, x=names, y="coefficient of friction")
    first, second = (np.minimum(np.where(np.isfinite(y), y, top), top) for y in (mu_bar, jam))
    axes.fill_between(x, 0.0, np.minimum(first, second), color=COLOURS[2], alpha=0.14, linewidth=0, label="safe")
    axes.fill_between(x, first, top, color=FORCE, alpha=0.18, linewidth=0, label="no motion, or several")
    axes.fill_between(x, second, top, facecolor="none", edgecolor=COLOURS[4], hatch="//", linewidth=0,
                      label="contacts can jam")  # fmt: skip
    if mu is not None:
        axes.axhline(mu, color="black", linewidth=1.0, linestyle="--", label=f"µ = {mu:g}")
    axes.set_xlim(float(x[0]), float(x[-1]))
    axes.set_ylim(0.0, top)
    axes.legend(frameon=False, fontsize=8)
    return axes
