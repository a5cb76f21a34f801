"""The solution space of one planar contact (pr11 figures 3–5), and maps of contact modes over two parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from .style import COLOURS, dress, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..analysis.forms import Form
    from ..analysis.mode_map import ModeMap
    from ..analysis.motions import Motions

SIGNORINI, COULOMB, DESCENT = "#123f7a", "#4ea3e0", "#3dbb98"
WORDS = {"o": "opens", "t": "touches without load", "s": "rests", "+": "slides (+)", "-": "slides (-)", "d": "slides"}
SHADES = ("#8fb8d6", "#f0b7b7", "#a9d6b5", "#f5d9a0", "#c5b3dd", "#b9c0c9", "#f3c6e2", "#9fd6dc", "#d9d9d9")


def solution_space(given: Form | Motions, *, path: str | Path | None = None, axes: Any = None) -> Figure:
    """Where Signorini's and Coulomb's laws hold for one planar contact, with cone, energy and solutions.

    given: a `Form` with one contact that has a normal and one friction row, or all of its `Motions`. Intersections of
    the two curves are the solutions. Coloured lines are of equal kinetic energy after (of Gauss's least constraint for
    forces); an arrow at a solution without load points down the energy. A sliding contact of a force problem has one
    row: drawn is its normal acceleration against the normal force (pr11 eq. 10).
    """
    from ..analysis.motions import Motions, all_motions

    motions = given if isinstance(given, Motions) else all_motions(given)
    problem = motions.form.problem
    if problem.nk != 1 or problem.nr not in (1, 2):
        raise ModelError("solution_space draws one contact with a normal row and one friction row; got "
                         f"{problem.nk} blocks with {problem.nr} rows.")  # fmt: skip
    figure = None
    if axes is None:
        figure = new_figure(6.4, 5.2)
        axes = figure.add_subplot()
    (_line if problem.nr == 1 else _plane)(axes, motions)
    return finish(figure or axes.figure, path)


def _units(motions: Motions) -> tuple[str, str, str]:
    if motions.form.kind == "force–acceleration":
        return "force", "N", "acceleration [m/s²]"
    return "impulse", "N s", "velocity [m/s]"


def _plane(axes: Any, motions: Motions) -> None:
    from matplotlib import colormaps

    problem = motions.form.problem
    W, q, mu = problem.delassus(), problem.q, float(problem.friction.mu[0])
    ends = np.array([[0.0, 0.0], *(motion.p for motion in motions), np.linalg.solve(W, -q)])
    size = max(float(np.abs(ends).max()), 1e-3 * float(np.abs(q).max()), 1e-12)
    wide, tall = 1.6 * max(ends[:, 0].max(), 0.4 * size), 1.5 * max(np.abs(ends[:, 1]).max(), 0.4 * size)
    low = -0.12 * wide
    n, t = np.meshgrid(np.linspace(low, wide, 240), np.linspace(-tall, tall, 240))
    energy = 0.5 * (W[0, 0] * n**2 + 2 * W[0, 1] * n * t + W[1, 1] * t**2) + q[0] * n + q[1] * t
    levels = energy.min() + np.ptp(energy) * np.linspace(0.0, 1.0, 20)[1:] ** 2  # closer around the least energy
    colours = colormaps["YlOrRd_r"](np.linspace(0.0, 0.7, len(levels)))
    axes.contour(n, t, energy, levels=levels, colors=colours, linewidths=0.7, zorder=1)
    cone = np.array([0.0, wide])
    axes.fill_between(cone, -mu * cone, mu * cone, color="#000000", alpha=0.05, zorder=0)
    for sign in (1.0, -1.0):
        axes.plot(cone, sign * mu * cone, color="black", linewidth=1.2, zorder=2, label="friction cone" * (sign > 0))
    friction = np.linspace(-tall, tall, 800)
    load = np.maximum(0.0, -(q[0] + W[0, 1] * friction) / W[0, 0])
    axes.plot(load, friction, color=SIGNORINI, linewidth=2.2, zorder=3, label="Signorini")
    normal = np.linspace(0.0, wide, 800)
    rubs = np.clip(-(q[1] + W[1, 0] * normal) / W[1, 1], -mu * normal, mu * normal)
    axes.plot(normal, rubs, color=COULOMB, linewidth=2.2, zorder=3, label="Coulomb")
    if q[0] >= -1e-12 * max(1.0, np.abs(q).max()):  # without load nothing presses, whatever friction would be
        down = -q / max(float(np.linalg.norm(q)), 1e-300) * 0.25 * size
        axes.annotate("", down, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": DESCENT, "lw": 1.8}, zorder=5)
    _solutions(axes, motions, [motion.p for motion in motions])
    what, unit, _ = _units(motions)
    dress(axes, x=f"normal {what} [{unit}]", y=f"friction {what} [{unit}]", title=_title(motions))
    axes.set_xlim(low, wide)
    axes.set_ylim(-tall, tall)
    axes.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=8, loc="lower left")


def _line(axes: Any, motions: Motions) -> None:
    problem = motions.form.problem
    A, q = float(problem.delassus()[0, 0]), float(problem.q[0])
    most = 1.5 * max([float(motion.p[0]) for motion in motions] + [abs(q / A) if A else 1.0])
    load = np.linspace(0.0, most, 100)
    axes.axhline(0.0, color="#495057", linewidth=0.8)
    low = 1.15 * min(0.0, q, q + A * most) - 0.05 * (abs(q) + abs(A) * most)
    axes.axhspan(low, 0.0, color=COLOURS[1], alpha=0.08)
    axes.plot(
        load, q + A * load, color=SIGNORINI, linewidth=2.0, label=f"a = {A:.4g} λ {'+' if q >= 0 else '-'} {abs(q):.4g}"
    )
    axes.plot([0.0, 0.0], [0.0, max(q, 0.3 * abs(q), 0.3 * abs(A) * most)], color=COULOMB, linewidth=3.0, zorder=2)
    axes.plot([0.0, most], [0.0, 0.0], color=COULOMB, linewidth=3.0, zorder=2, label=r"$0 \leq \lambda \perp a \geq 0$")
    _solutions(axes, motions, [np.array([m.p[0], q + A * m.p[0]]) for m in motions])
    if not len(motions):
        axes.annotate(
            "no solution", (0.5 * most, 0.0), (0, 14), textcoords="offset points", ha="center", color=COLOURS[1]
        )
    dress(axes, x="normal force [N]", y="normal acceleration [m/s²]", title=_title(motions))
    axes.set_xlim(-0.06 * most, most)
    axes.set_ylim(bottom=low)
    axes.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=8)


def _solutions(axes: Any, motions: Motions, places: list[np.ndarray]) -> None:
    for motion, place in zip(motions, places):
        axes.plot(*place, "o", color=COLOURS[1], markeredgecolor="white", markersize=8, zorder=6, clip_on=False)
        contact = motion.contacts[0]
        said = contact.words.removeprefix(contact.name).strip()
        axes.annotate(said, place, (9, 7), textcoords="offset points", fontsize=8, zorder=7,
                      bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8})  # fmt: skip


def _title(motions: Motions) -> str:
    count = len(motions)
    return f"{motions.form.kind}: {count} solution{'s' * (count != 1)}"


def mode_diagram(
    found: ModeMap,
    *,
    x: str,
    y: str,
    title: str = "",
    curves: Mapping[str, tuple[Any, Any]] | None = None,
    path: str | Path | None = None,
    axes: Any = None,
) -> Figure:
    """What is possible over two parameters, one colour for each set of motions; curves: lines to draw on top."""
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    labels = found.labels
    number = np.array([[labels.index(one) for one in row] for row in found.modes])
    colours = [
        "#ffffff" if one is None else "#343a40" if one == () else SHADES[i % len(SHADES)]
        for i, one in enumerate(labels)
    ]
    figure = None
    if axes is None:
        figure = new_figure(7.2, 4.8)
        axes = figure.add_subplot()
    norm = BoundaryNorm(np.arange(len(labels) + 1) - 0.5, len(labels))
    axes.pcolormesh(
        found.x, found.y, number, cmap=ListedColormap(colours), norm=norm, shading="nearest", rasterized=True
    )
    handles: list[Any] = [
        Patch(facecolor=colour, edgecolor="#adb5bd", label=_outcome(one)) for colour, one in zip(colours, labels)
    ]
    for name, (a, b) in (curves or {}).items():
        handles += axes.plot(a, b, color="black", linewidth=1.3, linestyle="--", label=name)
    dress(axes, x=x, y=y, title=title)
    axes.grid(False)
    axes.set_xlim(found.x.min(), found.x.max())
    axes.set_ylim(found.y.min(), found.y.max())
    axes.legend(handles=handles, frameon=True, framealpha=0.9, edgecolor="none", fontsize=8, loc="upper left")
    return finish(figure or axes.figure, path)


def _outcome(one: tuple[str, ...] | None) -> str:
    if one is None:
        return "not posed"
    if not one:
        return "no solution"
    said = [" and ".join(WORDS.get(letter, letter) for letter in modes) if len(modes) == 1 else modes for modes in one]
    return " or ".join(said)


def sliding_inertia_curves(mass: float, of: Any, mus: tuple[float, ...], *, path: str | Path | None = None) -> Figure:
    """pr11 figure 8: m A against the angle for coefficients `mus`, and its least value against the coefficient.

    of(angle, mu): A [1/kg], what the normal acceleration gains per normal force at the sliding end.
    """
    figure = new_figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    phi = np.linspace(0.0, np.pi / 2, 400)
    dress(left, x="inclination φ [°]", y="m A", title="m A of the sliding rod")
    for number, mu in enumerate(mus):
        values = np.array([mass * of(a, mu) for a in phi])
        (line,) = left.plot(np.degrees(phi), values, color=COLOURS[number], label=f"µ = {mu:.4g}")
        left.fill_between(np.degrees(phi), values, 0.0, where=values < 0, color=line.get_color(), alpha=0.25)
    left.axhline(0.0, color="black", linewidth=0.8)
    left.legend(frameon=False, fontsize=8)
    many = np.linspace(0.2, 3.0, 300)
    star = np.arctan(1.0 / many + np.sqrt(1.0 / many**2 + 1.0))
    least = np.array([mass * of(a, m) for a, m in zip(star, many)])
    dress(right, x="coefficient of friction µ", y="m A at φ*(µ)", title="its least value over φ")
    right.plot(many, least, color=COLOURS[0])
    right.fill_between(many, least, 0.0, where=least < 0, color=COLOURS[0], alpha=0.25)
    right.axhline(0.0, color="black", linewidth=0.8)
    right.axvline(4 / 3, color=COLOURS[1], linestyle="--", linewidth=1.0, label="µ = 4/3")
    right.legend(frameon=False, fontsize=8)
    return finish(figure, path)
