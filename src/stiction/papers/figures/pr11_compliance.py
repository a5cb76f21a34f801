"""pr11 figures 6 and 7: forces of the contact that gives way over time, and their integrals over the stiffness.

Of figure 6 the paper says: "As soon as λ_t reaches its peak value the contact switches its state from a dynamic to a
static contact until later the contact breaks." The first holds; with the printed data the contact does not break.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...view.style import COLOURS, dress, new_figure
from .. import pr11_compliance as paper
from ..experiment import Quantity, claim
from ..pr11_rod import MU
from ..pr11_stepping import STEP, step

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = (r"\lambda_n", r"\lambda_t")


def peak_claim(found: paper.Findings) -> Quantity:
    """Whether friction is at its bound until it has its peak, and within it from then on."""
    holds = True
    for _, normal, friction in found.forces:
        slides = int(np.argmax(friction)) + 1
        holds &= bool(np.allclose(friction[:slides], MU * normal[:slides]))
        holds &= bool((friction[slides:] < MU * normal[slides:]).all())
    return claim("friction has its peak when sliding ends", bool(holds), "figure 6")


def forces_over_time(found: paper.Findings) -> Figure:
    """pr11 figure 6: λ_n and λ_t [N] over time [s], a panel for each of the two stiffnesses."""
    figure = new_figure(10, 4.2)
    for axes, alpha, (t, *forces) in zip(figure.subplots(1, 2), paper.SHOWN, found.forces):
        power = round(np.log10(alpha))
        dress(axes, y="contact force [N]", title=f"$k_n = \\gamma_n = \\gamma_t = 10^{{{power}}}$")
        for name, force, colour in zip(NAMES, forces, COLOURS):
            axes.plot(t, force, color=colour, linewidth=1.4, label=f"${name}$")
        stop = float(t[int(np.argmax(forces[1]))])
        axes.axvline(stop, color=COLOURS[5], linestyle=":", linewidth=1.0, label=f"sliding ends, {1e3 * stop:.3g} ms")
        axes.annotate(f"stays closed: {forces[0][-1]:.2f} N", (t[-1], forces[0][-1]), (-4, 22),
                      textcoords="offset points", ha="right", fontsize=8,
                      arrowprops={"arrowstyle": "-", "color": "#495057", "linewidth": 0.7})  # fmt: skip
        axes.legend(frameon=False, fontsize=9)
        axes.set_xlim(0.0, t[-1])
    return figure


def integrals_over_stiffness(found: paper.Findings) -> Figure:
    """pr11 figure 7: the force integrals, printed and ours, between the impulse Λ₂ and the answer of a step."""
    figure = new_figure(8, 4.8)
    axes = dress(figure.add_subplot(), x=r"$\alpha = k_n = \gamma_n = \gamma_t$", y="impulse [N s]",
                 title="Force integrals, and what the rigid problems predict")  # fmt: skip
    (rigid,) = step()
    ours, printed = np.array([one.impulse for one in found.table]), np.array(paper.PRINTED)
    for i, (name, colour) in enumerate(zip(NAMES, COLOURS)):
        axes.semilogx(paper.ALPHAS, printed[:, i], "x--", color=colour, linewidth=0.9, label=rf"$\int{name}$, Table 1")
        axes.semilogx(paper.ALPHAS, ours[:, i], "o-", color=colour, markersize=4, linewidth=1.2,
                      label=rf"$\int{name}$, ours: first α$^{{-1/2}}$ s")  # fmt: skip
        axes.axhline(found.shock.rest[i], color=colour, linestyle=":", linewidth=1.2)
        axes.axhline(rigid.forces[i], color=colour, linestyle="-.", linewidth=0.9)
    for label, style in ((r"$\Lambda$: impulse–velocity problem", ":"),
                         (rf"$\delta t\,\tilde\lambda$: a step of {STEP:g}", "-.")):  # fmt: skip
        axes.plot([], [], style, color="#495057", label=label)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
