"""Set-ups and friction cones as the papers draw them: st96 figure 1, s00 figures 1 and 2, pr11 figure 2, ttp01 figures
2 and 18. What can be computed is: the cones are those of the friction sets, bodies stand where the experiments begin.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._check import FloatArray
from ...friction import Coulomb
from ...view.style import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..ttp01_reference import Reference

INK, BODY, GROUND, BAR = "#212529", "#dbe7f3", "#868e96", 0.03  # colours; half the thickness of a drawn rod


def cone(mu: float, sides: int, symbol: str) -> Figure:
    """The circular friction cone and the polyhedral one inside it, in space and cut at c_n = 1 (st96 figure 1).

    The edges n + µ d_i come from the friction set. symbol: "β", weights of directions (st96), or "ψ" (s00 figure 2).
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    edges = mu * Coulomb(mu).directions(2, sides)
    around = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = mu * np.column_stack([np.cos(around), np.sin(around)])
    figure = new_figure(10, 4.6)
    space: Any = figure.add_subplot(1, 2, 1, projection="3d")
    height = np.array([0.0, 1.0])
    space.plot_surface(
        *(np.outer(height, circle[:, k]) for k in range(2)), np.outer(height, np.ones(len(around))), color=COLOURS[5],
        alpha=0.16, linewidth=0,
    )  # fmt: skip
    space.plot(*circle.T, np.ones(len(around)), color=COLOURS[5], linewidth=1.2)
    corners = np.column_stack([edges, np.ones(sides)])
    walls = [np.array([np.zeros(3), corners[i], corners[(i + 1) % sides]]) for i in range(sides)]
    space.add_collection3d(Poly3DCollection(walls, facecolor=COLOURS[0], alpha=0.25, edgecolor=COLOURS[0], linewidth=1))
    space.plot([0, 0], [0, 0], [0, 1.25], color=INK, linewidth=1.2)
    space.text(0, 0, 1.3, "$n$", ha="center")
    space.set_box_aspect((2 * mu, 2 * mu, 1.25), zoom=1.25)
    space.view_init(elev=18, azim=-62)
    space.set_axis_off()
    plane = _bare(figure.add_subplot(1, 2, 2))
    plane.plot(*circle.T, color=COLOURS[5], linewidth=1.4)
    plane.fill(*edges.T, facecolor=COLOURS[0], alpha=0.2, edgecolor=COLOURS[0], linewidth=1.4)
    for i, edge in enumerate(edges):
        _arrow(plane, (0.0, 0.0), edge, COLOURS[0], f"$\\mu d_{{{i + 1}}}$")
    inner = math.cos(math.pi / sides)
    words = {
        "β": ("$\\widehat{FC}$: $\\beta \\geq 0$, $e^T\\beta \\leq \\mu c_n$", "$FC$: $|c_t| \\leq \\mu c_n$"),
        "ψ": ("$\\widehat{FC}$: $n + \\mu d_i$", "$FC$: $\\psi(\\beta) \\leq \\mu c_n$"),
    }[symbol]
    for text, colour, y in zip(words, (COLOURS[0], COLOURS[5]), (-1.32, -1.5)):
        plane.text(0.0, y * mu, text, color=colour, ha="center")
    plane.set_title(f"cut at $c_n = 1$: {sides} directions reach {100 * inner:.0f} % of µ between them", fontsize=10)
    plane.set_xlim(-1.5 * mu, 1.5 * mu)
    plane.set_ylim(-1.62 * mu, 1.4 * mu)
    return figure


def painleve_rod(angle: float, length: float, names: str) -> Figure:
    """The rod that slides on its lower end, names="s00": with the symbols of s00 figure 1; "pr11": pr11 figure 2."""
    s00 = names == "s00"
    figure = new_figure(6.4, 4.6)
    axes = _bare(figure.add_subplot())
    along = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-along[1], along[0]])
    middle, tip, end = 0.5 * length * along, np.zeros(2), length * along
    sides = [tip + BAR * across, end + BAR * across, end - BAR * across, tip - BAR * across]
    axes.fill(*np.array(sides).T, facecolor=BODY, edgecolor=INK, linewidth=1.2)
    _ground(axes, -0.9 * length, 0.95 * length, 0.0)
    axes.plot(*middle, "o", color=INK, markersize=4)
    axes.annotate("$(x, y)$" if s00 else "$q = (q_x, q_y)$", middle, (10, -6), textcoords="offset points", va="top")
    arc = np.linspace(0.0, angle, 40)
    axes.plot(0.16 * length * np.cos(arc), 0.16 * length * np.sin(arc), color=INK, linewidth=0.9)
    turn = 0.5 * angle
    axes.text(0.19 * length * math.cos(turn), 0.19 * length * math.sin(turn), "θ" if s00 else "φ", va="center")
    _arrow(axes, tip, (0.0, 0.36 * length), COLOURS[0], "$N$" if s00 else "$\\lambda_n$")
    _arrow(axes, tip, (0.26 * length, 0.0), COLOURS[1], "$F = \\mu N$" if s00 else "$\\lambda_t$", (0, -11))
    _arrow(axes, middle, middle - np.array([0.0, 0.27 * length]), COLOURS[4], "$mg$" if s00 else "$f$", (0, -9))
    _arrow(axes, (-0.06 * length, 0.05 * length), (-0.4 * length, 0.05 * length), COLOURS[2],
           "$\\dot x_c < 0$" if s00 else "$\\dot g_t < 0$", (0, 9))  # fmt: skip
    axes.annotate("$(x_c, y_c)$" if s00 else "$g = 0$", tip, (-6, -13), textcoords="offset points", ha="right")
    lift = 0.14 * length * across
    axes.annotate("", end + lift, tip + lift, arrowprops={"arrowstyle": "<->", "color": INK, "linewidth": 0.8})
    axes.annotate("$L$" if s00 else "$l$", middle + 1.35 * lift, ha="center", va="center")
    axes.set_xlim(-0.75 * length, 0.85 * length)
    axes.set_ylim(-0.12 * length, 1.05 * length)
    if not s00:
        at, radius = end, 0.12 * length
        sweep = np.linspace(-0.3 * np.pi, 0.75 * np.pi, 30)
        bow = at + radius * np.column_stack([np.cos(sweep), np.sin(sweep)])
        axes.plot(*bow[:-1].T, color=COLOURS[3], linewidth=1.6)
        _arrow(axes, bow[-2], bow[-1], COLOURS[3])
        axes.annotate(
            "$\\tau$", at + radius * np.array([1.0, 0.3]), (6, 2), textcoords="offset points", color=COLOURS[3]
        )
    return figure


def ball_on_plane(rows: FloatArray) -> Figure:
    """A ball on a half-space in elevation, and the contact frame from above (ttp01 figure 2).

    rows (4, 6): normal, t, o, r.
    """
    from matplotlib.patches import Circle

    figure = new_figure(9, 4.2)
    side, plan = (_bare(axes) for axes in figure.subplots(1, 2))
    side.add_patch(Circle((0.0, 1.0), 1.0, facecolor=BODY, edgecolor=INK, linewidth=1.2))
    plan.add_patch(Circle((0.0, 0.0), 1.0, facecolor=BODY, edgecolor=INK, linewidth=1.2))
    _ground(side, -1.9, 1.9, 0.0)
    side.plot(0.0, 1.0, "o", color=INK, markersize=4)
    _arrow(side, (0.0, 0.0), (0.0, 0.45), COLOURS[0], "$\\hat n$, $c_n$", (22, -4))
    _arrow(side, (0.0, 1.0), (0.0, 0.5), COLOURS[4], "$g_{obj}$", (-18, 8))
    side.annotate("", (1.25, 1.0), (1.25, 0.0), arrowprops={"arrowstyle": "<->", "color": INK, "linewidth": 0.8})
    side.text(1.32, 0.5, "1 m", va="center")
    for way, name in (((0.6, 0.0), "x"), ((0.0, 0.6), "z")):
        _arrow(side, (-1.75, 0.25), np.array([-1.75, 0.25]) + way, GROUND, name)
        _arrow(plan, (-1.75, -1.5), np.array([-1.75, -1.5]) + way, GROUND, "y" if name == "z" else name)
    for row, name, colour in zip(rows[1:3], ("$\\hat t$, $c_t$", "$\\hat o$, $c_o$"), (COLOURS[1], COLOURS[2])):
        _arrow(plan, (0.0, 0.0), 0.62 * row[:2], colour, name, (8 * np.sign(row[0]), 9))
    turn = np.linspace(0.0, 0.25 * np.pi, 20)
    plan.plot([0.0, 0.75], [0.0, 0.0], color=GROUND, linewidth=0.8, linestyle="--")
    plan.plot(0.42 * np.cos(turn), 0.42 * np.sin(turn), color=INK, linewidth=0.9)
    plan.text(0.47, 0.17, "π/4", fontsize=9)
    spin = np.linspace(-0.85 * np.pi, -0.2 * np.pi, 30)
    bow = 0.55 * np.column_stack([np.cos(spin), np.sin(spin)])
    plan.plot(*bow[:-1].T, color=COLOURS[3], linewidth=1.6)
    _arrow(plan, bow[-2], bow[-1], COLOURS[3])
    plan.text(0.0, -0.72, "$c_r$: moment about $\\hat n$", color=COLOURS[3], ha="center", va="top", fontsize=9)
    for axes, low in ((side, -0.3), (plan, -1.7)):
        axes.set_xlim(-2.0, 2.0)
        axes.set_ylim(low, low + 3.2)
    side.set_title("elevation", fontsize=10)
    plan.set_title("the contact frame, from above", fontsize=10)
    return figure


def ball_on_two_spheres(centres: FloatArray, radii: FloatArray, force: FloatArray, exact: Reference) -> Figure:
    """A ball of radius 1 on two fixed spheres: in space, and cut through the three centres (ttp01 figure 18)."""
    from matplotlib.patches import Circle

    figure = new_figure(10, 4.8)
    space: Any = figure.add_subplot(1, 2, 1, projection="3d")
    up, around = np.linspace(0.0, 0.5 * np.pi, 19), np.linspace(0.0, 2.0 * np.pi, 49)
    unit = np.array([np.outer(np.cos(up), np.cos(around)), np.outer(np.cos(up), np.sin(around)),
                     np.outer(np.sin(up), np.ones(len(around)))])  # fmt: skip
    for centre, radius in zip(centres, radii):
        space.plot_wireframe(*(centre[:, None, None] + radius * unit), color=GROUND, linewidth=0.35, alpha=0.7)
    start = exact(0.0)[0][:3]
    up = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 19)
    small = np.array([np.outer(np.cos(up), np.cos(around)), np.outer(np.cos(up), np.sin(around)),
                      np.outer(np.sin(up), np.ones(len(around)))])  # fmt: skip
    space.plot_surface(*(start[:, None, None] + small), color=COLOURS[0], alpha=0.9, linewidth=0)
    path = np.array([exact(float(t))[0][:3] for t in np.linspace(0.0, exact.starts[3], 60)])
    space.plot(*path.T, color=COLOURS[1], linewidth=1.8)
    reach = radii.max()
    space.set_xlim(-reach, reach)
    space.set_ylim(centres[0, 1] - radii[0], centres[1, 1] + radii[1])
    space.set_zlim(0.0, reach)
    space.set_box_aspect((2 * reach, np.ptp(centres[:, 1]) + radii.sum(), reach), zoom=1.3)
    space.view_init(elev=32, azim=-28)
    for name in "xyz":
        getattr(space, f"set_{name}label")(f"{name} [m]")
    cut = _bare(figure.add_subplot(1, 2, 2))
    for i, (centre, radius) in enumerate(zip(centres, radii)):
        cut.add_patch(Circle(centre[1:], radius, facecolor="#f1f3f5", edgecolor=GROUND, linewidth=1.2))
        cut.plot(*centre[1:], "+", color=INK)
        cut.annotate(f"sphere {i + 1}\nradius {radius:g} m", centre[1:], (0, 12), textcoords="offset points",
                     ha="center")  # fmt: skip
        normal = (start - centre) / np.linalg.norm(start - centre)
        foot = start - normal
        _arrow(cut, foot[1:], (foot + 3.0 * normal)[1:], COLOURS[i], f"$\\hat n_{i + 1}$")
    cut.add_patch(Circle((start[1], start[2]), 1.0, facecolor=BODY, edgecolor=INK, linewidth=1.2))
    _arrow(cut, start[1:], start[1:] + 0.4 * force[1:3], COLOURS[4], "$g_{obj}$", (14, 0))
    cut.set_xlim(-10.8, 21.0)
    cut.set_ylim(-10.5, 13.0)
    cut.set_title("cut through the centres: y to the right, z up", fontsize=10)
    space.set_title("upper halves, and the exact path until it flies", fontsize=10)
    return figure


def _bare(axes: Any) -> Any:
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def _ground(axes: Any, left: float, right: float, height: float) -> None:
    axes.plot([left, right], [height, height], color=GROUND, linewidth=1.4, zorder=0)
    depth = 0.035 * (right - left)
    axes.fill_between([left, right], height - depth, height, color=GROUND, alpha=0.25, linewidth=0, zorder=0)


def _arrow(
    axes: Any, start: Any, end: Any, colour: str, text: str = "", shift: tuple[float, float] | None = None
) -> None:
    """An arrow with its name beyond the head, or `shift` points from the head."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    line = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=line, zorder=5)
    way = (end - start) / max(float(np.linalg.norm(end - start)), 1e-12)
    if text:
        axes.annotate(text, end, shift or tuple(12.0 * way), textcoords="offset points", color=colour, ha="center",
                      va="center", zorder=6)  # fmt: skip
