"""Plots of a trajectory: presets for what one looks at first, or any component by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import FloatArray
from ..errors import ModelError
from ..simulation.trajectory import ACCEPTED, COUNTED, REGULARISED
from ..systems.builder.bodies import Body
from .contact_plots import draw_impulses, draw_modes
from .style import COLOURS, STYLES, dress, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.trajectory import Trajectory

RESIDUAL_FLOOR = 1e-17  # floor of logarithmic residual axes, below round-off
STATE_ROWS_MAX = 6  # rows of states, at most, unless more are asked for
PHASE_ROWS_MAX = 4  # rows of phase plots
UNITS = {"x": "m", "y": "m", "z": "m", "angle": "rad", "w": "rad/s"}


def plot(
    run: Trajectory,
    what: str | Sequence[str] = "states",
    *,
    of: Any = None,
    path: str | Path | None = None,
) -> Figure:
    """A figure of a run: a preset by name, for some of its bodies or contacts, or one panel per component name."""
    names = [what] if isinstance(what, str) else list(what)
    given = [] if of is None else list(of) if isinstance(of, (list, tuple)) else [of]
    wanted = [str(run.name_of(one, "body" if isinstance(one, Body) else "joint")) for one in given]
    if len(names) == 1 and names[0] in PRESETS:
        return finish(PRESETS[names[0]](run, wanted), path)
    if wanted:
        raise ModelError(f"of chooses what a preset shows ({', '.join(PRESETS)}); components are named alone.")
    return finish(_components(run, names), path)


def _components(run: Trajectory, names: Sequence[str]) -> Figure:
    """One panel for each coordinate or velocity."""
    for name in names:
        if name not in run.coordinate_names and name not in run.velocity_names:
            raise ModelError(f"there is no {name!r} to plot. {_known(run, name)}")
    figure = new_figure(8, 0.8 + 1.9 * len(names))
    for i, name in enumerate(names):
        last = i == len(names) - 1
        axes = dress(figure.add_subplot(len(names), 1, i + 1), x="time [s]" if last else "", y=labelled(run, name))
        axes.plot(run.times, run[name])
    return figure


def _known(run: Trajectory, name: str) -> str:
    """What there is, with a suggestion; of many names only some."""
    from difflib import get_close_matches

    known = [*PRESETS, *run.coordinate_names, *run.velocity_names]
    near = get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(known[:30]) + (f" and {len(known) - 30} more" if len(known) > 30 else "")
    return f"{hint}There are {shown}."


def labelled(run: Trajectory, name: str) -> str:
    """A component with its unit, where that is known: in worlds."""
    last = name.rpartition(".")[2]
    if run.info.get("world") is None:
        return name
    unit = UNITS.get(last) or ("m/s" if last.startswith("v") else "rad/s" if last.startswith("w") else "")
    return f"{name} [{unit}]" if unit else name


def moving(run: Trajectory) -> list[str]:
    """The bodies of a world that can move."""
    bodies, shapes = list(run.info["world"]["bodies"]), run.shapes() or {}
    kinds = shapes.get("kinds", ["fixed", *["dynamic"] * (len(bodies) - 1)])
    return [name for name, kind in zip(bodies, kinds) if kind != "fixed"]


def _some(figure: Figure, run: Trajectory, preset: str, wanted: Sequence[str], most: int, what: str) -> list[str]:
    """The names to draw: those that are asked for, or the first few, and then the figure says how to choose."""
    world = run.info.get("world")
    known = moving(run) if world is not None else list(run.coordinate_names)
    everything = list(world["bodies"]) if world is not None else known
    for name in wanted:
        if name not in everything:
            shown = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
            raise ModelError(f"of: there is no {what} {name!r}; there are {shown}.")
    if wanted or len(known) <= most:
        return list(wanted) or known
    say(figure, f"The first {most} of {len(known)}; choose others with of=[…] or --of NAME.")
    return known[:most]


def say(figure: Figure, text: str) -> None:
    """A sentence below the panels."""
    figure.supxlabel(text, fontsize=8, color="#5c677d")


def _states(run: Trajectory, wanted: Sequence[str]) -> Figure:
    world = run.info.get("world")
    figure = new_figure(9, 1)
    names = _some(
        figure,
        run,
        "states",
        wanted,
        STATE_ROWS_MAX if world else 2 * STATE_ROWS_MAX,
        "body" if world else "coordinate",
    )
    if world is None:
        return _generalized_states(run, figure, names)
    space = world["dim"] == 3
    columns = ["position [m]", "orientation" if space else "angle [rad]", "velocity [m/s]", "angular velocity [rad/s]"]
    figure.set_size_inches(12, 0.9 + 1.75 * len(names))
    for i, name in enumerate(names):
        turn = run.orientation(name) if space else run.angle(name)[:, None]
        spin = run.angular_velocity(name)
        drawn = (run.position(name), turn, run.velocity(name), spin if space else spin[:, None])
        for j, values in enumerate(drawn):
            last = i == len(names) - 1
            axes = dress(figure.add_subplot(len(names), 4, 4 * i + j + 1), x="time [s]" if last else "")
            letters = ["w", "x", "y", "z"] if values.shape[1] == 4 else ["x", "y", "z"][: values.shape[1]]
            _lines(axes, run.times, values, letters if values.shape[1] > 1 else [""])
            if i == 0:
                axes.set_title(columns[j], loc="left", fontsize=9, fontweight="bold")
                if j == 1 and values.shape[1] > 1:
                    above(axes, 4)
                elif j == 0:
                    above(axes, 3)
            if j == 0:
                axes.set_ylabel(name)
    return figure


def _lines(axes: Axes, times: FloatArray, values: FloatArray, labels: Sequence[str]) -> None:
    for k, label in enumerate(labels):
        axes.plot(times, values[:, k], STYLES[k % len(STYLES)], linewidth=1.2, label=label)


def _generalized_states(run: Trajectory, figure: Figure, names: Sequence[str]) -> Figure:
    """Coordinates on the left, velocities on the right."""
    rows = [run.coordinate_names.index(name) for name in names]
    pairs = [(name, v) for name, v in zip(names, _speeds(run, rows))]
    figure.set_size_inches(9, 0.9 + 1.6 * len(pairs))
    for i, pair in enumerate(pairs):
        for j, name in enumerate(pair):
            if name is not None:
                axes = figure.add_subplot(len(pairs), 2, 2 * i + j + 1)
                dress(axes, x="time [s]" if i == len(pairs) - 1 else "", y=name)
                axes.plot(run.times, run[name], color=COLOURS[j], linewidth=1.2)
    return figure


def _speeds(run: Trajectory, rows: Sequence[int]) -> list[str | None]:
    """The velocities beside coordinates of a generalized system: of the same number, where there are as many."""
    names = run.velocity_names
    return [names[i] if i < len(names) else None for i in rows]


def _phase(run: Trajectory, wanted: Sequence[str]) -> Figure:
    """Position against velocity."""
    figure = new_figure(9, 1)
    world = run.info.get("world")
    if world is None and len(run.coordinate_names) != len(run.velocity_names):
        raise ModelError("phase plots need a velocity for each coordinate; this system has other velocities.")
    if wanted and all(name in run.coordinate_names for name in wanted):
        pairs = [(name, _speed_of(run, name)) for name in wanted]
    elif world is None:
        names = _some(figure, run, "phase", wanted, 3 * PHASE_ROWS_MAX, "coordinate")
        pairs = [(name, _speed_of(run, name)) for name in names]
    else:
        names = _some(figure, run, "phase", wanted, PHASE_ROWS_MAX, "body")
        parts = ("x", "y", "z") if world["dim"] == 3 else ("x", "y", "angle")
        pairs = [(f"{name}.{x}", _speed_of(run, f"{name}.{x}")) for name in names for x in parts]
    columns = min(3, len(pairs))
    rows = -(-len(pairs) // columns)
    figure.set_size_inches(3.4 * columns + 0.4, 2.7 * rows + 0.5)
    widest = [max(float(np.ptp(run[pair[k]])) for pair in pairs) for k in (0, 1)]
    for i, (position, speed) in enumerate(pairs):
        axes = dress(figure.add_subplot(rows, columns, i + 1), x=labelled(run, position), y=labelled(run, speed))
        x, v = run[position], run[speed]
        axes.plot(x, v, linewidth=1.0)
        _widen(axes, x, v, widest)
        axes.plot(x[:1], v[:1], "o", color=COLOURS[0], markersize=5, label="start")
        axes.plot(x[-1:], v[-1:], "s", color=COLOURS[1], markersize=5, label="end")
        if i == 0:
            axes.legend(frameon=False, fontsize=8)
    return figure


def _widen(axes: Axes, x: FloatArray, v: FloatArray, widest: Sequence[float]) -> None:
    """Limits with some room, so wide that round-off is seen as a point beside the motion of the others."""
    for values, most, limit in ((x, widest[0], axes.set_xlim), (v, widest[1], axes.set_ylim)):
        middle, half = 0.5 * float(values.min() + values.max()), 0.56 * float(np.ptp(values))
        half = max(half, 1e-4 * most, 1e-12)
        limit(middle - half, middle + half)
    axes.locator_params(nbins=5)


def _speed_of(run: Trajectory, coordinate: str) -> str:
    """The velocity of a coordinate."""
    body, _, last = coordinate.rpartition(".")
    if run.info.get("world") is None:
        return run.velocity_names[run.coordinate_names.index(coordinate)]
    if last.startswith("q"):
        raise ModelError(f"of: {coordinate} is part of a quaternion and has no velocity of its own.")
    return f"{body}.w" if last == "angle" else f"{body}.v{last}"


def _energy(run: Trajectory, wanted: Sequence[str]) -> Figure:
    _whole("energy", wanted)
    figure = new_figure(8, 6.4)
    top = dress(figure.add_subplot(2, 1, 1), x="", y="energy [J]", title="Energy")
    _lines(top, run.times, np.column_stack([run.energy.kinetic, run.energy.potential]), ("kinetic", "potential"))
    top.plot(run.times, run.energy.total, color="black", linewidth=1.2, label="total")
    beside(top)
    skipping = thinned(run)
    low = dress(figure.add_subplot(2, 1, 2), y="power [W]" if skipping else "work so far [J]", title="Where it went")
    drawn = 0
    for name, work in run.energy.work.items():
        if name != "residual" and np.abs(work).max(initial=0.0) > 1e-12:
            values = work / float(run.info["dt"]) if skipping else np.cumsum(work)
            style = STYLES[(drawn // len(COLOURS) + drawn) % len(STYLES)]
            low.plot(run.times[1:], values, style, linewidth=1.2, label=name.replace("_", " "))
            drawn += 1
    if not skipping:
        change = run.energy.total[1:] - run.energy.total[0]
        low.plot(run.times[1:], change, color="black", linewidth=1.2, label="change of total")
    else:
        say(figure, "Not every step was recorded: the power is that of the recorded steps.")
    if low.lines:
        beside(low)
    return figure


def thinned(run: Trajectory) -> bool:
    """Whether steps were left out between recorded ones, so that their work and impulses are not known."""
    return bool(len(run) > 1 and np.diff(run.times).max() > 1.5 * float(run.info["dt"]))


def beside(axes: Axes) -> None:
    """The legend to the right of the panel, never on the curves."""
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


def above(axes: Axes, columns: int) -> None:
    """The legend above the panel, beside its title."""
    axes.legend(
        frameon=False, fontsize=7, ncols=columns, loc="lower right", bbox_to_anchor=(1.04, 0.99), handlelength=1.5,
        columnspacing=0.8, borderaxespad=0.0,
    )  # fmt: skip


def _whole(preset: str, wanted: Sequence[str]) -> None:
    if wanted:
        raise ModelError(f"of does not go with {preset!r}, which is that of the whole run.")


def _certificate(run: Trajectory, wanted: Sequence[str]) -> Figure:
    _whole("certificate", wanted)
    residuals = {n: np.abs(values) for n, values in run.certificate.residuals.items() if n not in COUNTED}
    figure = new_figure(9, 6.4)
    maps = {name: values for name, values in residuals.items() if name.endswith("_map")}
    rest = {name: values for name, values in residuals.items() if name not in maps}
    panels: tuple[tuple[str, str, dict[str, FloatArray]], ...] = (
        ("Contact solves", "residual", maps),
        ("What was left", "residual (SI units)", rest),
    )
    for i, (title, y, some) in enumerate(panels):
        axes = dress(figure.add_subplot(2, 1, i + 1), x="time [s]" if i else "", y=y, title=title)
        axes.set_yscale("log")
        shown = {name: values for name, values in some.items() if values.max(initial=0.0) > 0.0}
        for k, (name, values) in enumerate(shown.items()):
            style = STYLES[(k + k // len(COLOURS)) % len(STYLES)]
            axes.plot(
                run.times[1:], np.maximum(values, RESIDUAL_FLOOR), style, linewidth=1.0, label=name.replace("_", " ")
            )
        if i == 0:
            axes.axhline(run.info["tol"], color="black", linewidth=1.0, label="tolerance")
            _mark_missed(axes, run)
        if axes.lines:
            beside(axes)
        else:
            axes.text(0.5, 0.5, "nothing: every residual is zero", transform=axes.transAxes, ha="center")
    return figure


def _mark_missed(axes: Axes, run: Trajectory) -> None:
    """The steps that missed the tolerance, each where its residual is, by what became of them."""
    of = run.certificate
    counts = {name: of.residuals.get(name, np.zeros(len(of.success))) for name in COUNTED}
    error, at = np.maximum(of["scaled_map"], RESIDUAL_FLOOR), run.times[1:]
    accepted, regularised = counts[ACCEPTED] > 0, counts[REGULARISED] > 0
    failed = ~of.success & ~accepted & ~regularised
    kinds = (
        ("accepted", accepted, of.accepted, ".", COLOURS[2]),
        ("regularised", regularised, of.regularised, "s", COLOURS[3]),
        ("failed", failed, int(failed.sum()), "x", COLOURS[1]),
    )
    for name, here, count, mark, colour in kinds:
        if here.any():
            axes.plot(at[here], error[here], mark, color=colour, markersize=4, label=f"{name}: {count} steps")


def _frames(run: Trajectory, wanted: Sequence[str]) -> Figure:
    from .silhouettes import frames

    _whole("frames", wanted)
    return frames(run)


PRESETS: dict[str, Callable[[Trajectory, Sequence[str]], Figure]] = {
    "states": _states,
    "phase": _phase,
    "energy": _energy,
    "impulses": draw_impulses,
    "modes": draw_modes,
    "certificate": _certificate,
    "frames": _frames,
}
