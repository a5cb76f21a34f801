"""Figures of contacts that give way: Painlevé's rod and the hammer of pr11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...view.style import COLOURS, dress, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..pr11_compliance import Findings


def draw_compliance(found: Findings) -> Figure:
    """Forces over time (pr11 figure 6), integrals over stiffness (pr11 figure 7), limits over damping, and jamming."""
    from .. import pr11_compliance as paper

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
    dress(axes, x=r"$\alpha = k_n = \gamma_n = \gamma_t$", y="distance from Λ₂ [N s]", title="Force integrals go to Λ₂")
    printed = np.array(paper.PRINTED) - found.shock.rest
    for i, name in enumerate(("normal", "friction")):
        axes.loglog(paper.ALPHAS, found.errors[:, i], "o-", color=COLOURS[i], label=f"{name}, first α$^{{-1/2}}$ s")
        axes.loglog(paper.ALPHAS, printed[:, i], "x", color=COLOURS[i], label=f"{name}, printed")
    for i, name in enumerate(("normal", "friction")):
        axes.loglog(paper.ALPHAS[:4], found.frozen_errors[:, i], "+--", color=COLOURS[i], linewidth=0.8,
                    label=f"{name}, Jacobian frozen")  # fmt: skip
    alphas = np.array(paper.ALPHAS)
    axes.loglog(alphas, 0.3 * alphas**-0.5, ":", color="#5c677d", label="α$^{-1/2}$")
    axes.legend(fontsize=8, frameon=False)


def _limits(axes: Any, found: Findings, paper: Any) -> None:
    dress(
        axes, x=r"$\gamma_n/\sqrt{k_n}$ [kg$^{1/2}$]", y="impulse [N s]", title="Which limit: it depends on the damping"
    )
    c = np.linspace(0.0, 31.0, 200)
    limits = np.array([found.shock.limit(x) for x in c])
    measured = np.array([one.impulse for one in found.ratios])
    for i, name in enumerate(("normal", "friction")):
        axes.plot(c, limits[:, i], color=COLOURS[i], label=f"{name}, limit in closed form")
        axes.plot(paper.RATIOS, measured[:, i], "o", color=COLOURS[i], label=f"{name}, $k_n = 10^8$")
        axes.axhline(found.shock.rest[i], color=COLOURS[i], linewidth=0.8, linestyle=":")
    axes.text(31.0, found.shock.rest[0] - 0.003, "Λ₂: the only limit that solves\nthe impulse–velocity problem",
              ha="right", va="top", fontsize=8)  # fmt: skip
    axes.set_ylim(0.3, 0.5)
    axes.legend(fontsize=8, frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.5))


def _jamming(axes: Any, found: Findings, paper: Any) -> None:
    dress(axes, x="$k_n$ · depth of the overlap at the start [N]", y="∫λ over 0.02 s [N s]",
          title="Second case: opens, or jams if pressed in")  # fmt: skip
    for i, name in enumerate(("normal", "friction")):
        axes.plot(paper.LOADS, found.apart[:, i], "o-", color=COLOURS[i], label=name)
    axes.axvline(found.shock.dynamic, color="#5c677d", linestyle=":")
    axes.text(found.shock.dynamic - 0.1, 0.25, "force of the sliding\nsolution, 7.55 N", ha="right", fontsize=8)
    axes.legend(fontsize=8, frameon=False, loc="center left")


def draw_frozen(found: Findings) -> Figure:
    """What Table 1 of pr11 tells of its making: the ratio of the excesses over Λ₂, and when the integrals ended."""
    from .. import pr11_compliance as paper

    figure = new_figure(10, 3.8)
    left, right = figure.subplots(1, 2)
    alphas, excess = np.array(paper.ALPHAS), np.array(paper.PRINTED) - found.shock.rest
    count = len(found.frozen)
    half = 5e-5  # of the last printed digit
    ratio = excess[:, 1] / excess[:, 0]
    error = half * (1.0 + ratio) / excess[:, 0]
    dress(left, x="α", y=r"$(\int\lambda_t - \Lambda_t) / (\int\lambda_n - \Lambda_n)$",
          title="Excess over Λ₂: friction over normal")  # fmt: skip
    left.errorbar(alphas[:count], ratio[:count], error[:count], fmt="x", color=COLOURS[1], capsize=3, label="printed")
    frozen, turning = found.frozen_errors, found.errors
    left.semilogx(alphas[:count], frozen[:, 1] / frozen[:, 0], "+--", color=COLOURS[0], label="Jacobian frozen")
    left.semilogx(alphas[:count], turning[:count, 1] / turning[:count, 0], "o-", color=COLOURS[2], markersize=4,
                  label="Jacobian of the moving rod (eq. 3)")  # fmt: skip
    left.axhline(-found.shock.W[0, 1] / found.shock.W[1, 1], color="#5c677d", linestyle=":", label="$-W_{nt}/W_{tt}$")
    left.set_ylim(0.2, 0.6)
    left.legend(frameon=False, fontsize=8, loc="upper left")
    dress(right, x="α", y="α$^{1/2}$ · (end − sticking)", title="Where the printed integrals would end, J frozen")
    spread = half * found.shock.S * np.sqrt(alphas[:count]) / paper.GRAVITY
    right.errorbar(alphas[:count], [f.after for f in found.frozen], spread, fmt="o", color=COLOURS[0], capsize=3)
    right.set_xscale("log")
    right.set_ylim(1.2, 1.5)
    return figure
