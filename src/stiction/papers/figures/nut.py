"""Figures of the Brazil nut: frames of the box, the rise of the large disk, and what each step cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..._check import FloatArray, IntArray

SAND, NUT, DARK = "#f0c060", "#c0392b", "#495057"


def nut_frames(
    times: FloatArray, places: FloatArray, radii: FloatArray, width: float, wanted: Sequence[float]
) -> Figure:
    """Four frames in the frame of the box (ah03 figure 9): places (n, nb, 2) and radii (nb,), the large disk first."""
    figure = new_figure(8.4, 3.5 * ((len(wanted) + 1) // 2))
    steps = [min(int(np.searchsorted(times, t - 1e-9)), len(times) - 1) for t in wanted]
    height = 1.0 + max(float((places[i, :, 1] + radii).max()) for i in steps)
    for number, i in enumerate(steps):
        axes = figure.add_subplot((len(wanted) + 1) // 2, 2, number + 1)
        _box(axes, places[i], radii, width, height)
        axes.set_title(f"t = {times[i]:g} s", loc="left", fontsize=10)
    figure.suptitle("Brazil nut: 201 disks in a shaken box, seen from the box", x=0.01, ha="left", fontsize=10,
                    fontweight="bold")  # fmt: skip
    return figure


def _box(axes: Any, places: FloatArray, radii: FloatArray, width: float, height: float) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    disks = [Circle((x, y), r) for (x, y), r in zip(places[1:], radii[1:])]
    axes.add_collection(PatchCollection(disks, facecolor=SAND, edgecolor="#8a6414", linewidth=0.5, alpha=0.75))
    axes.add_patch(Circle(places[0], radii[0], facecolor=NUT, edgecolor="#7d1d2c", linewidth=0.8))
    half = 0.5 * width
    axes.plot([-half, -half, half, half], [height, 0, 0, height], color=DARK, linewidth=1.6)
    axes.set_xlim(-half - 0.4, half + 0.4)
    axes.set_ylim(-0.4, height)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)


def nut_rise(times: FloatArray, height: FloatArray, bed: FloatArray, above: IntArray, radius: float) -> Figure:
    """The height of the large disk over time, with the surface of the bed, and how many disks lie on it."""
    figure = new_figure(8.4, 5.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    dress(upper, x="", y="height above the floor of the box [m]", title="The large disk rises")
    upper.fill_between(times, 0.0, bed, color=SAND, alpha=0.3, linewidth=0, label="bed, up to its surface")
    upper.fill_between(times, height - radius, height + radius, color=NUT, alpha=0.2, linewidth=0,
                       label="large disk, from its bottom to its top")  # fmt: skip
    upper.plot(times, height, color=NUT, linewidth=1.3, label="its centre")
    upper.set_ylim(0.0, None)
    upper.legend(frameon=False, fontsize=8, loc="upper left")
    dress(lower, y="disks on it", title="Small disks that lie on the large one")
    lower.plot(times, above, color=DARK, linewidth=1.0)
    lower.set_ylim(0.0, None)
    return figure


def nut_cost(times: FloatArray, seconds: FloatArray, contacts: IntArray, loaded: IntArray) -> Figure:
    """The time of every step and the number of contacts (ah03 figure 7)."""
    figure = new_figure(8.4, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    dress(upper, x="", y="time of a step [ms]", title="Cost of a step")
    upper.plot(times[1:], 1e3 * seconds, color=COLOURS[0], linewidth=0.8)
    upper.set_ylim(0.0, None)
    dress(lower, y="contacts", title="Number of contacts")
    lower.plot(times[1:], contacts, color=COLOURS[0], linewidth=0.8, label="in the problem: gap within reach of a step")
    lower.plot(times[1:], loaded, color=NUT, linewidth=0.8, label="that carry an impulse")
    lower.set_ylim(0.0, 1.35 * contacts.max())
    lower.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    return figure


def nut_study(
    steps: FloatArray, rises: Mapping[str, Sequence[Any]], excess: Mapping[str, Sequence[Any]], lifts: FloatArray,
    shakes: int,
) -> Figure:  # fmt: skip
    """The rise of the large disk over the step, by law, with its intervals, and what each law adds to rigid Coulomb.

    rises, excess: estimates (mean, low, high) at each of `steps` [s]; lifts: µ h λ of the relaxed law [m].
    """
    figure = new_figure(10.4, 4.4)
    left, right = figure.subplots(1, 2)
    names = {
        "relaxed": "relaxed law, rigid", "rigid": "Coulomb, rigid", "elastic": "Coulomb, elastic: up to 1e7 N/m",
        "soft": "Coulomb, elastic: 3e5 N/m",
    }  # fmt: skip
    colours = dict(zip(names, (NUT, DARK, COLOURS[0], "#8a6414")))
    dress(left, x="step h [s]", y="rise [m]", title=f"Rise through the bed after {shakes} shakes")
    dress(right, x="step h [s]", y="rise beyond that of rigid Coulomb [m]", title="What a law adds")
    for number, law in enumerate(rises):
        shifted = steps * 1.03 ** (number - 1.5)  # so that intervals stay apart
        for axes, shown in ((left, rises), (right, excess)):
            if law in shown:
                mean, low, high = (
                    np.array([getattr(one, name) for one in shown[law]]) for name in ("mean", "low", "high")
                )
                low = np.maximum(low, 1e-3) if axes is right else low
                axes.errorbar(shifted, mean, (np.maximum(mean - low, 0.0), high - mean), fmt="o-", markersize=4,
                              linewidth=1.1, capsize=2.5, color=colours[law], label=names[law])  # fmt: skip
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(steps, [f"{h:g}" for h in steps])
        axes.minorticks_off()
    first = [one.mean for one in excess["relaxed"]][-1] * steps / steps[-1]
    near = steps <= 5.0 * steps[-1]
    lines = right.plot(steps[near], first[near], "--", color=NUT, linewidth=0.9, label="of first order in h")
    lines += right.plot(steps, lifts, ":", color=NUT, linewidth=1.1, label="µ h λ, the gap that the relaxed law keeps")
    right.set_yscale("log")
    right.set_ylim(0.5 * lifts.min(), 30.0)
    left.set_ylim(0.0, 1.45 * left.get_ylim()[1])
    left.legend(frameon=False, fontsize=8, loc="upper right")
    right.legend(handles=lines, frameon=False, fontsize=8, loc="lower right")
    return figure
