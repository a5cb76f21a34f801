"""What contacts and joints did over time: impulses and modes, each by itself, or all together where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..problem.laws import Law, Mode
from .style import MODE_COLOURS, STYLES, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.trajectory import Trajectory

IMPULSE_PANELS_MAX = 6  # of impulses, before they are added up
TIMELINE_ROWS_MAX = 16  # of the timeline, before modes are counted
ROW_NAMES = ["normal", "tangent 1", "tangent 2", "spin", "roll 1", "roll 2"]
STRONGEST = (Mode.SLIP, Mode.STICK, Mode.BOUND, Mode.BILATERAL, Mode.OPEN)  # what a pair with several contacts does


@dataclass(frozen=True)
class Group:
    """What is drawn as one: a constraint, or all contacts between two bodies. rows: of the contact table."""

    name: str
    rows: IntArray
    pair: bool


def groups(run: Trajectory, wanted: Sequence[str]) -> list[Group]:
    """The constraints that acted, contacts of worlds by pairs of bodies; those that are asked for, by any name."""
    table, world = run.table, run.info.get("world")
    bodies = [] if world is None else list(world["bodies"])
    found: dict[str, list[np.ndarray]] = {}
    contact = (table.law == int(Law.UNILATERAL)) & (table.bodies >= 0).all(axis=1) & (len(bodies) > 0)
    placed = contact & (np.abs(table.normal).max(axis=1, initial=0.0) > 0.0)  # limits of joints have no place
    pairs = set()
    if placed.any():
        low, high = np.sort(table.bodies[placed], axis=1).T
        code = low * len(bodies) + high
        rows = np.flatnonzero(placed)
        for one, mine in _split(code, rows):
            name = f"{bodies[one // len(bodies)]}/{bodies[one % len(bodies)]}"
            pairs.add(name)
            found[name] = [mine]
    for key, mine in _split(table.key[~placed], np.flatnonzero(~placed)):
        found.setdefault(run.constraint_name(key), []).append(mine)
    made = [Group(name, np.concatenate(mine), name in pairs) for name, mine in found.items()]
    if not wanted:
        return made
    known = {*bodies, *(group.name for group in made)}
    for name in wanted:
        if name not in known:
            shown = ", ".join([group.name for group in made[:20]])
            more = f" and {len(made) - 20} more" if len(made) > 20 else ""
            raise ModelError(
                f"of: {name!r} is neither a body nor what acted; there are {shown or 'no contacts'}{more}."
            )
    return [g for g in made if g.name in wanted or (g.pair and {*g.name.split("/")} & {*wanted})]


def _pressed(run: Trajectory, found: list[Group], wanted: Sequence[str]) -> list[Group]:
    """Those that ever carried something, or were asked for by their own name: others were only near."""
    carried = np.abs(run.table.impulse).max(axis=1, initial=0.0) > 0.0
    return [group for group in found if group.name in wanted or not group.pair or carried[group.rows].any()]


def _split(code: IntArray, rows: IntArray) -> list[tuple[int, IntArray]]:
    """Rows by their code, in order."""
    order = np.argsort(code, kind="stable")
    values, starts = np.unique(code[order], return_index=True)
    return [(int(value), part) for value, part in zip(values, np.split(rows[order], starts[1:]))]


def draw_impulses(run: Trajectory, wanted: Sequence[str]) -> Figure:
    """The impulses of each pair or constraint in each step, or their sums."""
    chosen = _pressed(run, groups(run, wanted), wanted)
    if not chosen:
        figure = new_figure(8, 3)
        dress(figure.add_subplot(), y="impulse [N s]", title="No contact acted")
        return figure
    if len(chosen) > (IMPULSE_PANELS_MAX if not wanted else 2 * IMPULSE_PANELS_MAX):
        return _total_impulses(run, chosen)
    figure = new_figure(9, 0.8 + 1.9 * len(chosen))
    for i, group in enumerate(chosen):
        last = i == len(chosen) - 1
        axes = figure.add_subplot(len(chosen), 1, i + 1)
        dress(axes, x="time [s]" if last else "", y="impulse [N s]", title=group.name)
        for k, (label, values) in enumerate(_series(run, group).items()):
            axes.plot(run.times[1:], values, STYLES[k % len(STYLES)], linewidth=1.0, label=label)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _series(run: Trajectory, group: Group) -> dict[str, FloatArray]:
    """What is drawn of a group, by label, one entry per step."""
    n, step, impulse = len(run) - 1, run.table.step[group.rows], run.table.impulse[group.rows]
    if group.pair:  # directions of friction differ from contact to contact: sizes are added
        size = np.linalg.norm(impulse[:, 1:3], axis=1)
        return {"normal": _added(step, impulse[:, 0], n), "friction": _added(step, size, n)}
    joint = (run.table.law[group.rows] != int(Law.UNILATERAL)).all()
    names = [f"row {k + 1}" for k in range(6)] if joint else ROW_NAMES
    return {name: _added(step, impulse[:, k], n) for k, name in enumerate(names) if k == 0 or impulse[:, k].any()}


def _added(step: IntArray, values: FloatArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(step, weights=values, minlength=n), dtype=np.float64)


def _total_impulses(run: Trajectory, chosen: Sequence[Group]) -> Figure:
    """Many contacts: their impulses added up, and the largest of them."""
    rows = np.sort(np.concatenate([group.rows for group in chosen]))
    rows = rows[run.table.law[rows] == int(Law.UNILATERAL)]
    n, step, impulse = len(run) - 1, run.table.step[rows], run.table.impulse[rows]
    largest = np.zeros(n)
    np.maximum.at(largest, step, impulse[:, 0])
    figure = new_figure(9, 6)
    top = dress(figure.add_subplot(2, 1, 1), x="", y="impulse [N s]", title="All contacts, added up in each step")
    top.plot(run.times[1:], _added(step, impulse[:, 0], n), linewidth=1.2, label="normal")
    friction = np.linalg.norm(impulse[:, 1:3], axis=1)
    top.plot(run.times[1:], _added(step, friction, n), "--", linewidth=1.2, label="friction (sizes)")
    top.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    low = dress(figure.add_subplot(2, 1, 2), y="impulse [N s]", title="The largest normal impulse of one contact")
    low.plot(run.times[1:], largest, linewidth=1.2)
    _say_many(figure, chosen)
    return figure


def _say_many(figure: Figure, chosen: Sequence[Group]) -> None:
    text = (
        f"{len(chosen)} pairs and constraints together; choose with of=[…] or --of NAME: a body, or {chosen[0].name}."
    )
    figure.supxlabel(text, fontsize=8, color="#5c677d")


def draw_modes(run: Trajectory, wanted: Sequence[str]) -> Figure:
    """What each pair or constraint does, as a timeline; how many do what, where there are many."""
    found = _pressed(run, groups(run, wanted), wanted)
    chosen = [g for g in found if (run.table.law[g.rows] != int(Law.EQUALITY)).any()]
    if len(chosen) > (TIMELINE_ROWS_MAX if not wanted else 2 * TIMELINE_ROWS_MAX):
        return _mode_counts(run, chosen)
    figure = new_figure(9, 1.4 + 0.34 * max(1, len(chosen)))
    axes = dress(figure.add_subplot(), title="Contact modes" if chosen else "No contact acted")
    used: set[str] = set()
    for row, group in enumerate(chosen):
        used |= _timeline(axes, row, run.times, _modes(run, group), used)
    axes.set_yticks(range(len(chosen)), [group.name for group in chosen], fontsize=8)
    axes.set_ylim(max(1, len(chosen)) - 0.4, -0.6)  # the first on top
    axes.set_xlim(run.times[0], run.times[-1])
    axes.grid(False, axis="y")
    if used:
        axes.legend(frameon=False, fontsize=8, ncols=len(used), loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def _modes(run: Trajectory, group: Group) -> IntArray:
    """(n,) what a group does in each step; of several contacts the most telling."""
    step, mode = run.table.step[group.rows], run.table.mode[group.rows]
    found = np.full(len(run) - 1, int(Mode.OPEN))
    for one in reversed(STRONGEST):
        found[step[mode == int(one)]] = int(one)
    return found


def _timeline(axes: Axes, row: int, times: FloatArray, mode: IntArray, used: set[str]) -> set[str]:
    """Bars as long as a mode lasts; the names of the modes."""
    starts = np.flatnonzero(np.concatenate([[True], mode[1:] != mode[:-1]]))
    stops = np.append(starts[1:], len(mode))
    names = set()
    for one in np.unique(mode[starts]).tolist():
        mine = mode[starts] == one
        left, width = times[starts[mine]], times[stops[mine]] - times[starts[mine]]
        name = Mode(one).name.lower()
        label = None if name in used else name
        axes.barh(np.full(len(left), row), width, left=left, height=0.72, color=MODE_COLOURS[name], label=label)
        names.add(name)
    return names


def _mode_counts(run: Trajectory, chosen: Sequence[Group]) -> Figure:
    """How many contacts stick, slip and are open."""
    rows = np.concatenate([group.rows for group in chosen])
    step, mode, n = run.table.step[rows], run.table.mode[rows], len(run) - 1
    shown = [m for m in (Mode.STICK, Mode.SLIP, Mode.BOUND, Mode.BILATERAL, Mode.OPEN) if (mode == int(m)).any()]
    counts = [np.bincount(step[mode == int(m)], minlength=n) for m in shown]
    figure = new_figure(9, 4)
    axes = dress(figure.add_subplot(), y="contacts", title="How many contacts do what")
    names = [m.name.lower() for m in shown]
    axes.stackplot(run.times[1:], counts, colors=[MODE_COLOURS[name] for name in names], labels=names)
    axes.set_xlim(run.times[0], run.times[-1])
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    _say_many(figure, chosen)
    return figure
