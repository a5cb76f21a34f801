"""Which of several solutions each solver takes: over the data of pr11's rod, from random starts, on random problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, MODE_COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..pr11_solvers import Findings

SHADES = ("#ced4da", MODE_COLOURS["slip"], MODE_COLOURS["stick"], COLOURS[1])  # opens, slides, rests, fails


def draw_branches(found: Findings) -> Figure:
    """Maps from no impulses above, random starts in the middle, iterations and failures of random problems below."""
    from ..pr11_solvers import NAMES

    figure = new_figure(13, 10.5)
    parts: Any = figure.subfigures(3, 1, height_ratios=(1.0, 0.8, 1.0))
    top, middle, bottom = parts
    for k, solver in enumerate(NAMES):
        _map(top.add_subplot(1, len(NAMES), k + 1), found, solver, first=k == 0)
    for k in range(len(found.cases)):
        _starts(middle.add_subplot(1, 3, k + 1), found, k)
    _iterations(bottom.add_subplot(1, 2, 1), found)
    _failures(bottom.add_subplot(1, 2, 2), found)
    return figure


def _map(axes: Any, found: Findings, solver: str, first: bool) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    from ..pr11_solvers import BRANCHES, COEFFICIENTS, TORQUES

    what = f"{solver}, relaxed" if solver == "apgd" else solver
    dress(axes, x="torque τ [N m]", y="µ" if first else "", title=f"{what}, from none")
    axes.grid(False)
    axes.pcolormesh(TORQUES, COEFFICIENTS, found.taken[solver], cmap=ListedColormap(SHADES), vmin=-0.5, vmax=3.5)
    axes.contour(TORQUES, COEFFICIENTS, found.count, levels=[2.0], colors="black", linewidths=1.4)
    axes.invert_xaxis()  # pressed on the left, lifted on the right
    axes.text(0.97, 0.95, "3 motions", transform=axes.transAxes, ha="right", va="top", fontsize=8, color="white"
              if found.taken[solver][-1, -1] == 2 else "black")  # fmt: skip
    if first:
        axes.legend(
            handles=[Patch(color=shade, label=name) for shade, name in zip(SHADES, BRANCHES)],
            fontsize=7, loc="lower left", framealpha=0.9,
        )  # fmt: skip


def _starts(axes: Any, found: Findings, k: int) -> None:
    from ..pr11_solvers import BRANCHES, NAMES

    case = found.cases[k]
    dress(axes, x="share of random starts", title=f"Motions: {case.name}")
    left = np.zeros(len(NAMES))
    for branch, (name, shade) in enumerate(zip(BRANCHES, SHADES)):
        share = np.array([case.share(solver, branch) for solver in NAMES])
        axes.barh(NAMES, share, left=left, color=shade, label=name)
        left += share
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.0)


def _iterations(axes: Any, found: Findings) -> None:
    from ..pr11_solvers import GROUPS, NAMES

    some = found.crowd
    dress(axes, y="iterations", title="Random problems from random impulses: median, and slowest tenth")
    groups = [group for group in GROUPS if some.groups[group].any()]
    width = 0.8 / len(groups)
    for i, group in enumerate(groups):
        at = np.arange(len(NAMES)) + (i - 0.5 * (len(groups) - 1)) * width
        middle, most = (np.array([some.quantile(s, group, 1, share) for s in NAMES]) for share in (0.5, 0.9))
        label = f"{group} motion{'' if group == 'one' else 's'} ({int(some.groups[group].sum())})"
        axes.bar(at, middle, width, color=COLOURS[i], label=label)
        axes.errorbar(at, middle, [np.zeros(len(at)), most - middle], fmt="none", ecolor=COLOURS[5], capsize=3)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(0.0, 1e5)  # room for the legend
    axes.set_xticks(np.arange(len(NAMES)), NAMES)
    axes.set_xlabel("")
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _failures(axes: Any, found: Findings) -> None:
    from ..pr11_solvers import GROUPS, NAMES

    some = found.crowd
    dress(axes, y="not solved [%]", title="The same: failures (hatched: from no impulses)")
    groups = [group for group in GROUPS if some.groups[group].any()]
    width = 0.8 / (2 * len(groups))
    for i, group in enumerate(groups):
        for start, hatch in ((0, "////"), (1, "")):
            at = np.arange(len(NAMES)) + (2 * i + start - len(groups) + 0.5) * width
            share = [100.0 * some.failures(s, group, start) for s in NAMES]
            axes.bar(at, share, width, color=COLOURS[i], alpha=1.0 if start else 0.45, hatch=hatch, edgecolor="white")
    axes.set_xticks(np.arange(len(NAMES)), NAMES)
    axes.set_xlabel("")
