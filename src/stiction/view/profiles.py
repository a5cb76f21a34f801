"""Performance profiles: how often each solver is within a factor of the fastest (Dolan and Moré, 2002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import FloatArray
from ..errors import ModelError
from .style import COLOURS, dress, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ratios(times: Mapping[str, Sequence[float | None]]) -> dict[str, FloatArray]:
    """Each solver's time over the best solver's, per problem; infinite where it did not solve the problem.

    times: seconds per problem, in the same order for every solver, None where it failed or refused.
    """
    counts = {len(column) for column in times.values()}
    if len(counts) != 1:
        raise ModelError("times must have one entry per problem for every solver.")
    table = np.array([[np.inf if t is None else t for t in column] for column in times.values()], dtype=np.float64)
    best = table.min(axis=0, initial=np.inf)
    with np.errstate(invalid="ignore"):
        scaled = np.where(np.isfinite(table), table / np.where(np.isfinite(best), best, 1.0), np.inf)
    return dict(zip(times, scaled))


def plot_profile(
    times: Mapping[str, Sequence[float | None]],
    *,
    path: str | Path | None = None,
    title: str = "",
) -> Figure:
    """Draw the profile: for each solver the share of problems it solved within τ times the fastest solver's time.

    The curve starts, at τ = 1, at the share of problems on which the solver was fastest, and ends at the share it
    solved at all. A solver that solved nothing has no curve.
    """
    figure = new_figure(9, 4.4)
    axes = draw_profile(figure.add_subplot(), times, title=title or "Performance profile")
    axes.set_xlabel(
        "τ: time, as a multiple of the fastest solver's on the same problem\n"
        "(left edge: how often a solver is the fastest; right edge: how many problems it solves at all)"
    )
    if axes.lines:
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return finish(figure, path)


def draw_profile(axes: Any, times: Mapping[str, Sequence[float | None]], *, title: str = "") -> Any:
    """The curves of a profile into axes, without a legend."""
    scaled = ratios(times)
    n = len(next(iter(scaled.values()))) if scaled else 0
    dress(axes, x="τ: time over the fastest solver's", y="share of problems solved within τ", title=title)
    solved = {name: np.sort(r[np.isfinite(r)]) for name, r in scaled.items()}
    solved = {name: r for name, r in solved.items() if len(r)}
    right = 2.0 * max((float(r[-1]) for r in solved.values()), default=5.0)
    order = sorted(solved, key=lambda name: -len(solved[name]))
    others = [name for name in times if name != "auto"]  # colours go by the order given, whoever solves more
    colour = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(others)} | {"auto": "#212529"}
    for name in order:
        r = solved[name]
        share = np.arange(1, len(r) + 1) / n
        axes.step(
            np.concatenate([[1.0], r, [right]]),
            np.concatenate([[(r <= 1.0).sum() / n], share, share[-1:]]),
            where="post",
            color=colour[name],
            linewidth=2.6 if name == "auto" else 1.6,
            label=f"{name}: solved {len(r)} of {n}, fastest on {int((r <= 1.0).sum())}",
        )
    axes.set_xscale("log")
    axes.set_xlim(1.0, right)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    return axes
