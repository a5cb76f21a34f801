"""ttp01 figure 23: tangential friction in the seam, and why Stewart's method bends it where the exact motion does not.

The paper says that "the cusps in the plots coincide with a conversion from rolling to sliding". With the ellipsoid and
h = 0.1 s they do. With 20 directions the ball slips long before: friction meets the inscribed polyhedron where it has
used 85 % of the ellipsoid, and from there on moves over the polyhedron's faces. Each edge that it comes to bends the
curve: it follows the edge while the slip turns from the normal of one face to that of the next. The last edge is on the
equator, where the moment has gone to 0: that is the cusp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._check import FloatArray
from ..simulation import Trajectory
from .experiment import Quantity
from .ttp01_reference import Reference, Seam

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ON_FACE, SLIPS = 1e-6, 1e-6  # relative to the set; m/s and rad/s
SETTLED = 1.0  # s, from which on the ball is in motion: at rest every direction of slip is as good
ROLLS_ON, SLIDES_ON = 1, 0  # of the two spheres, as long as it rolls


def exact_size(seam: Seam, exact: Reference, t: float) -> float:
    """The size of tangential friction at the second sphere in the exact motion [N]."""
    q, v = exact(t)
    piece = int(np.searchsorted(exact.starts, t, side="right")) - 1
    if piece == 0:
        rolling = seam.solve(q, v, (SLIDES_ON,), ROLLS_ON)[2]
        return float(np.linalg.norm(rolling[1:4]))
    if piece == 3:
        return 0.0
    normal = seam.solve(q, v, (SLIDES_ON, ROLLS_ON) if piece == 1 else (ROLLS_ON,), None)[1][-1]
    J = seam.rows(ROLLS_ON, q)
    slip, spin = J[1:4] @ v, float(J[4] @ v)
    return float(seam.mu * normal * np.linalg.norm(slip) / np.sqrt(slip @ slip + (seam.er * spin) ** 2))


def slips_from(run: Trajectory, seam: Seam) -> float:
    """The start of the first step from which on the ball slips or spins on the second sphere [s]."""
    rows = [seam.rows(ROLLS_ON, q)[1:] for q in run.q[:-1]]
    slip = np.array([np.abs(J @ v).max() for J, v in zip(rows, run.v[1:])])
    return float(run.times[np.flatnonzero(slip <= SLIPS)[-1] + 1])


def cusp(times: FloatArray, c: FloatArray) -> float:
    """The start of the step of the largest tangential friction [s]."""
    return float(times[int(np.argmax(np.hypot(c[:, 1], c[:, 2])))])


def on_edge(c: FloatArray, mu: float, directions: FloatArray) -> FloatArray:
    """Of each step, whether friction (c_n, c_t, c_o, c_r) lies on an edge of the polyhedron of the directions."""
    from scipy.spatial import ConvexHull

    faces = np.unique(ConvexHull(directions).equations.round(9), axis=0)
    load = np.maximum(mu * c[:, 0], 1e-300)
    reached = (c[:, 1:] / load[:, None]) @ faces[:, :3].T / -faces[:, 3]
    return np.asarray(((reached > 1.0 - ON_FACE).sum(axis=1) > 1) & (c[:, 0] > 0.0))


def spans(times: FloatArray, marked: FloatArray) -> list[tuple[float, float]]:
    """Where steps are marked without a gap: begin and end [s]."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    return [(float(times[a]), float(times[b])) for a, b in ends.reshape(-1, 2)]


@dataclass(frozen=True)
class Bends:
    """What bends the friction of Stewart's run: the slip that begins [s], and the edges that friction follows [s]."""

    slips: float
    edges: tuple[tuple[float, float], ...]


def find_bends(run: Trajectory, c: FloatArray, seam: Seam, directions: FloatArray) -> Bends:
    """Read off a run by Stewart's method, after its first second."""
    edges = spans(run.times, on_edge(c, seam.mu, directions))
    return Bends(slips_from(run, seam), tuple(edge for edge in edges if edge[0] > SETTLED))


def friction_claims(
    found: Bends, explicit: tuple[FloatArray, FloatArray], implicit: tuple[FloatArray, FloatArray], sliding: float
) -> tuple[Quantity, ...]:
    """The paper's claim of figure 23 for both methods, from times and forces; sliding: when the implicit run slips."""
    (first, last), top = found.edges[0], cusp(*explicit)
    h = float(explicit[0][1])
    return (
        Quantity("Tzitzouris-Pang: the cusp of friction is in the step in which sliding begins",
                 float(cusp(*implicit) == sliding), 1.0, "", 1.0, 0.0,
                 "1 = yes, figure 23; the exact friction bends there, at 2.945 s, and is largest at 3.00 s"),
        Quantity("Stewart: the cusp of friction coincides with the conversion to sliding",
                 float(abs(top - found.slips) <= 2.0 * h), 0.0, "", 1.0, 0.0,
                 f"the ball slips from {found.slips:.2f} s on, and the cusp comes at {top:.2f} s, where the moment of "
                 "friction has gone to 0",
                 tried=("t along the seam", "t turned by 17° from it", "t turned by 45°", "38 directions",
                        "114 directions"),
                 conclude="20 directions leave out 15 to 17 % of the ellipsoid there, and so the ball slips too soon: "
                          "at 2.56 to 2.60 s in three frames, at 2.66 s with 38 directions, at 2.77 s with 114, "
                          "exactly at 2.945 s. Where the cusp comes is chance."),
        Quantity("Stewart: friction comes to an edge of its polyhedron", first, 2.730864, "s", record_tolerance=1e-3,
                 reason="the kink of figure 23: it follows the edge while the slip turns"),
        Quantity("Stewart: it leaves this edge", last, 2.780247, "s", record_tolerance=1e-3,
                 reason="with t turned by 17° or 45° it does not pass there, and there is no kink"),
    )  # fmt: skip


def draw_sizes(
    measured: Mapping[str, tuple[FloatArray, FloatArray]], found: Bends, seam: Seam, exact: Reference
) -> Figure:
    """ttp01 figure 23, Stewart's run first: tangential friction at one contact, its bends named, and the exact one."""
    from ..view.style import COLOURS, dress, new_figure

    figure = new_figure(8, 4.6)
    axes = dress(figure.add_subplot(), y="|($c_t$, $c_o$)| [N]", title="Tangential friction at the second sphere")
    for (label, (times, c)), colour in zip(measured.items(), COLOURS):
        axes.stairs(np.hypot(c[:, 1], c[:, 2]), times, baseline=None, color=colour, linewidth=1.2, label=label)
    t = np.linspace(0.0, exact.starts[3], 500)
    axes.plot(t, [exact_size(seam, exact, float(s)) for s in t], ":", color="black", linewidth=1.1, label="exact")
    times, c = next(iter(measured.values()))
    size = np.hypot(c[:, 1], c[:, 2])

    def name(when: float, text: str, place: tuple[float, float]) -> None:
        at = (when, float(size[int(np.searchsorted(times, when + 1e-9)) - 1]))
        axes.annotate(text, at, place, fontsize=8, ha="left", va="center",
                      arrowprops={"arrowstyle": "-", "color": "#495057", "linewidth": 0.7})  # fmt: skip

    (first, last), top = found.edges[0], cusp(times, c)
    axes.axvspan(first, last, color=COLOURS[3], alpha=0.35, linewidth=0)
    name(found.slips, f"20 directions: slips from {found.slips:.2f} s", (0.95, 0.75))
    name(0.5 * (first + last), f"kink, {first:.2f}–{last:.2f} s:\nalong an edge of the polyhedron", (0.95, 0.93))
    name(top, f"cusp, {top:.2f} s: moment $c_r$ = 0", (3.12, 1.38))
    turns = "exact: rolling turns into sliding"
    axes.axvline(exact.starts[1], color="black", linestyle="-.", linewidth=0.8, label=turns)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure
