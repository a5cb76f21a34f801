"""The figure of docs/friction.md: friction sets, a slip velocity, and the friction that each set answers with."""

from pathlib import Path

import numpy as np

from stiction import Anisotropic, ConvexSet, Coulomb, Mixed, Polyhedral, Torsional
from stiction.view.style import COLOURS, dress, new_figure

IMAGES = Path(__file__).parent / "images"
SLIP = np.array([0.8, 0.6])  # the direction of slip in every panel


def one_way(f):
    """The gauge of an ellipse whose centre is not the origin."""
    semi = np.array([0.95, 0.6])
    g, c = f / semi, np.array([0.35, 0.0]) / semi
    k = 1.0 - c @ c
    return (np.sqrt((g @ c) ** 2 + k * (g @ g)) - g @ c) / k


def panels():
    """Title, what it says, the set, its rows in the panel, and the names of these rows."""
    slip = ("along tangent 1", "along tangent 2")
    spin = ("along tangent 1", "spin, over 0.1 m")
    octagon = Polyhedral(1.0, directions=Coulomb(1.0).directions(2, 8))
    ratchet = Polyhedral(1.0, directions=[[0.3, 0.0], [-1.0, 0.35], [-1.0, -0.35]])
    rounded = ConvexSet(1.0, 2, gauge=lambda f: (f**4).sum() ** 0.25)
    lopsided = ConvexSet(1.0, 2, gauge=one_way)
    return [
        ("Coulomb(mu)", "opposes slip, wherever it points", Coulomb(1.0), [0, 1], slip),
        ("Anisotropic(0.2 mu, mu)", "a skate: leans across the blade", Anisotropic(0.2, 1.0), [0, 1], slip),
        ("Polyhedral, 8 directions", "a corner, for many slips", octagon, [0, 1], slip),
        ("Polyhedral, 3 directions", "a ratchet: resists one way", ratchet, [0, 1], slip),
        ("Torsional(mu, 1, 1, 0.1)", "slip and spin share one ellipsoid", Torsional(1.0, 1.0, 1.0, 0.1), [0, 2], spin),
        ("Mixed(mu, 1, 1, 0.1)", "slip and spin each in full", Mixed(1.0, 1.0, 1.0, 0.1), [0, 2], spin),
        ("ConvexSet, ψ⁴ = f₁⁴ + f₂⁴", "written in Python", rounded, [0, 1], slip),
        ("ConvexSet, off centre", "an ellipse: resists more one way", lopsided, [0, 1], slip),
    ]


def outline(friction, rows, dim, units):
    """The boundary in the two rows of the panel: support points all around."""
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    u = np.zeros((len(angle), dim))
    u[:, rows] = np.column_stack([np.cos(angle), np.sin(angle)]) / units
    return np.array([friction.support_point(x)[rows] for x in u]) / units


def draw_friction():
    """docs/images/friction-sets.png."""
    figure = new_figure(12, 6.8)
    for number, (title, says, friction, rows, names) in enumerate(panels()):
        dim = 3 if rows[1] == 2 else 2
        units = np.array([1.0, 0.1 if dim == 3 else 1.0])
        axes = dress(figure.add_subplot(2, 4, number + 1), x=names[0], y=names[1], title=title)
        shape = outline(friction, rows, dim, units)
        axes.fill(*shape.T, facecolor="#dbe7f0", edgecolor=COLOURS[0], linewidth=1.6)
        u = np.zeros(dim)
        u[rows] = -SLIP / units
        force = friction.support_point(u)[rows] / units
        along = np.array([-SLIP[1], SLIP[0]])
        axes.plot(*np.column_stack([force - 0.8 * along, force + 0.8 * along]), "--", color=COLOURS[5], linewidth=1.0)
        for end, colour, width in ((SLIP, COLOURS[5], 0.012), (force, COLOURS[1], 0.016)):
            axes.quiver(0, 0, *end, angles="xy", scale_units="xy", scale=1, color=colour, width=width, zorder=3)
        axes.plot(0, 0, "o", color="black", markersize=3.5, zorder=4)
        axes.text(0.0, 1.38, says, fontsize=8.5, color="#343a40", ha="center", va="center")
        axes.set(xlim=(-1.55, 1.55), ylim=(-1.55, 1.55), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        axes.xaxis.label.set_size(8.5)
        axes.yaxis.label.set_size(8.5)
        if number == 0:
            axes.text(SLIP[0] + 0.05, SLIP[1] + 0.1, "slip", color=COLOURS[5], fontsize=9, ha="center")
            axes.text(-0.72, -0.14, "friction", color=COLOURS[1], fontsize=9, ha="center")
    figure.suptitle(
        "Friction is the point of the set (blue, at mu·p_n = 1) farthest against the slip: "
        "the dashed line, square to the slip, touches the set there",
        fontsize=10.5,
    )
    figure.savefig(IMAGES / "friction-sets.png", dpi=110)
    print("friction-sets.png")


if __name__ == "__main__":
    draw_friction()
