"""Figures of contacts that give way: Painlevé's rod and the hammer of pr11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..papers.pr11_compliance import Findings


def draw_compliance(found: Findings) -> Figure:
    """Forces over time (pr11 figure 6), integrals over stiffness (pr11 figure 7), limits over damping, and jamming."""
    from ..papers import pr11_compliance as paper

    figure = new_figure(11, 8)
    axes = figure.subplots(2, 2)
    _forces(axes[0, 0], found, paper.SHOWN)
    _convergence(axes[0, 1], found, paper)
    _limits(axes[1, 0], found, paper)
    _jamming(axes[1, 1], found, paper)
    return figure


def _forces(axes: Any, found: Findings, shown: tuple[float, ...]) -> None:
    dress(axes, x="time / end of the slip", y="force / largest normal force", title="Sliding, shock, sticking")
    for (t, normal, friction), alpha, style in zip(found.forces, shown, ("--", "-")):
        top, stop = normal.max(), t[int(np.argmax(friction))]
        label = f"α = {alpha:.0e}: {top:.3g} N, slip ends at {1e3 * stop:.3g} ms".replace("e+0", "e")
        axes.plot(t / stop, normal / top, style, color=COLOURS[0], label=f"normal, {label}")
        axes.plot(t / stop, friction / top, style, color=COLOURS[1], label="friction" if style == "-" else None)
    axes.set_xlim(0.0, 2.2)
    axes.legend(fontsize=8, frameon=False, loc="upper left")
    axes.set_ylim(-0.05, 2.1)


def _convergence(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="α = kn = gamma_n = gamma_t", y="distance from Λ₂ [N s]", title="Force integrals go to Λ₂")
    printed = np.array(paper.PRINTED) - found.shock.rest
    for i, name in enumerate(("normal", "friction")):
        axes.loglog(paper.ALPHAS, found.errors[:, i], "o-", color=COLOURS[i], label=f"{name}, first α$^{{-1/2}}$ s")
        axes.loglog(paper.ALPHAS, printed[:, i], "x", color=COLOURS[i], label=f"{name}, printed")
    alphas = np.array(paper.ALPHAS)
    axes.loglog(alphas, 0.3 * alphas**-0.5, ":", color="#5c677d", label="α$^{-1/2}$")
    axes.legend(fontsize=8, frameon=False)


def _limits(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="gamma_n / sqrt(kn) [kg$^{1/2}$]", y="impulse [N s]", title="Which limit: it depends on the damping")
    c = np.linspace(0.0, 31.0, 200)
    limits = np.array([found.shock.limit(x) for x in c])
    measured = np.array([one.impulse for one in found.ratios])
    for i, name in enumerate(("normal", "friction")):
        axes.plot(c, limits[:, i], color=COLOURS[i], label=f"{name}, limit in closed form")
        axes.plot(paper.RATIOS, measured[:, i], "o", color=COLOURS[i], label=f"{name}, kn = 1e8")
        axes.axhline(found.shock.rest[i], color=COLOURS[i], linewidth=0.8, linestyle=":")
    axes.text(31.0, found.shock.rest[0] - 0.003, "Λ₂: the only limit that solves\nthe impulse–velocity problem",
              ha="right", va="top", fontsize=8)  # fmt: skip
    axes.set_ylim(0.3, 0.5)
    axes.legend(fontsize=8, frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.5))


def _jamming(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="kn · depth of the overlap at the start [N]", y="∫λ over 0.02 s [N s]",
          title="Second case: opens, or jams if pressed in")  # fmt: skip
    for i, name in enumerate(("normal", "friction")):
        axes.plot(paper.LOADS, found.apart[:, i], "o-", color=COLOURS[i], label=name)
    axes.axvline(found.shock.dynamic, color="#5c677d", linestyle=":")
    axes.text(found.shock.dynamic - 0.1, 0.25, "force of the sliding\nsolution, 7.55 N", ha="right", fontsize=8)
    axes.legend(fontsize=8, frameon=False, loc="center left")
