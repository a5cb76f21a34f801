"""st96 figure 6: the impulses at the collision of the thrown ball with the three in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._check import FloatArray
from ...simulation import Trajectory
from ...view.style import COLOURS, new_figure
from ..st96_balls import MASS, RADIUS, first_impact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREAD, SCALE = 5.4, 0.16  # distance drawn between centres, in radii; metres drawn for 1 N s, by the root of the size
DRAWN = 0.004  # N s: what is smaller than this is not drawn
INERTIA = 0.4 * MASS * RADIUS**2


def impulses(run: Trajectory, name: str, other: str, normal: FloatArray, steps: slice) -> tuple[FloatArray, FloatArray]:
    """Normal and friction impulse (3,) each on a ball from its neighbour or the table during the steps [N s]."""
    total = run.force(name, other)[steps].sum(axis=0) * float(run.info["dt"])
    along = (total @ normal) * normal
    return along, total - along


def drawn(impulse: FloatArray) -> FloatArray:
    """The arrow of an impulse: its length goes with the square root of the size, so that small ones can be seen."""
    return np.asarray(SCALE * impulse / max(np.sqrt(np.linalg.norm(impulse)), 1e-9))


def draw(run: Trajectory) -> Figure:
    """st96 figure 6: normal and friction impulses in the first two steps of the collision, the balls drawn apart."""
    from matplotlib.patches import Circle

    hit = first_impact(run, "ball 1/ball 2").step
    steps = slice(hit, hit + 2)
    balls = [f"ball {i + 1}" for i in range(4)]
    place = np.array([run.position(ball)[hit + 1] for ball in balls])
    spun = [run.angular_velocity(ball)[hit + 2] - run.angular_velocity(ball)[hit] for ball in balls]
    figure = new_figure(11, 2.7)
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.set_axis_off()
    shown = np.array([[SPREAD * RADIUS * i, 0.0, place[i, 2]] for i in range(4)])
    axes.plot([shown[0, 0] - 0.3, shown[-1, 0] + 0.3], [0.0, 0.0], color="#868e96", linewidth=1.4, zorder=0)
    for i, ball in enumerate(balls):
        centre = shown[i]
        axes.add_patch(Circle(centre[[0, 2]], RADIUS, facecolor="#eef3f8", edgecolor="#212529", linewidth=1.2))
        axes.annotate("thrown" if i == 0 else f"{i} of the line", centre[[0, 2]], (0, 36), textcoords="offset points",
                      ha="center", fontsize=8)  # fmt: skip
        _spin(axes, centre, float(spun[i][1]))
        pairs = [(balls[k], _unit(place[i] - place[k])) for k in (i - 1, i + 1) if 0 <= k < 4]
        for other, normal in [*pairs, ("table", np.array([0.0, 0.0, 1.0]))]:
            along, across = impulses(run, ball, other, normal, steps)
            foot = centre - RADIUS * _unit(normal * [1.0, 0.0, 1.0])
            away = -12.0 * normal[[0, 2]]  # labels: the one of friction beyond the ball, the other across from it
            level = np.array([14.0, -6.0]) if other == "table" else np.array([0.0, -8.0 if across[2] > 0.0 else 8.0])
            _impulse(axes, foot - drawn(along), along, COLOURS[0], 0.5, level)
            _impulse(axes, foot - 0.014 * normal, across, COLOURS[1], 1.0, away - 0.7 * level)
    h = float(run.info["dt"])
    for text, colour in zip(("normal impulse", "friction impulse", "turned by them"), COLOURS[:2] + COLOURS[3:4]):
        axes.plot([], [], color=colour, linewidth=2, label=text)
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=3)
    when = f"{run.times[hit]:.4g} to {run.times[hit + 2]:.4g} s (two steps of {h:g} s)"
    axes.set_title(f"Impulses [N s] on each ball, {when}; drawn apart, lengths by the root of the size", fontsize=9)
    axes.set_xlim(shown[0, 0] - 0.3, shown[-1, 0] + 0.36)
    axes.set_ylim(-0.1, 0.33)
    return figure


def _unit(v: FloatArray) -> FloatArray:
    return np.asarray(v / np.linalg.norm(v))


def _impulse(axes: Any, start: FloatArray, impulse: FloatArray, colour: str, at: float, shift: FloatArray) -> None:
    """An arrow of the x and z components; its size stands `shift` points from the part `at` of it."""
    size = float(np.linalg.norm(impulse[[0, 2]]))
    if size < DRAWN:
        return
    begin, end = start[[0, 2]], (start + drawn(impulse))[[0, 2]]
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
    axes.annotate("", end, begin, arrowprops=arrow, zorder=4)
    axes.annotate(f"{size:.2g}", begin + at * (end - begin), shift, textcoords="offset points", color=colour,
                  fontsize=8, ha="center", va="center", zorder=3,
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4})  # fmt: skip


def _spin(axes: Any, centre: FloatArray, change: float) -> None:
    """A turn about y: a positive one takes z to x, clockwise as drawn."""
    if abs(change) * INERTIA / RADIUS < DRAWN:
        return
    sweep = np.linspace(0.75 * np.pi, 0.25 * np.pi, 30)
    if change < 0.0:
        sweep = sweep[::-1]
    bow = centre[[0, 2]] + 0.6 * RADIUS * np.column_stack([np.cos(sweep), np.sin(sweep)])
    axes.plot(*bow[:-1].T, color=COLOURS[3], linewidth=1.8)
    arrow = {"arrowstyle": "-|>", "color": COLOURS[3], "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", bow[-1], bow[-3], arrowprops=arrow)
    axes.annotate(f"{abs(change):.2g} rad/s", centre[[0, 2]] + [0.0, 0.6 * RADIUS], (0, -14), color=COLOURS[3],
                  textcoords="offset points", fontsize=8, ha="center")  # fmt: skip
