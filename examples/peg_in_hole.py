"""A peg that wedges in its hole: how deep must it be before it can be let go tilted?

    python examples/peg_in_hole.py [picture.png]

A tilted peg touches the edge of the hole on one side and the opposite wall with its lower corner. Where the line
through both contacts lies in both friction cones they press against each other without a load: the peg is wedged, and
no push helps, only turning it back. With the depth l and the width w of the hole, and the tilt a, that is from
µ = tan(a + arctan(l/w)) on: about depth over diameter, the rule of thumb of assembly.
"""

import sys

import numpy as np

import stiction as st
from stiction.analysis import holding, jamming_bound
from stiction.analysis.report import report

PEG, HOLE, LENGTH, CLOSED = 0.040, 0.041, 0.12, 1e-7  # m: widths, length of the peg, what counts as touching


def depth_of(tilt: float) -> float:
    """How deep the lower corner is where a peg of this tilt [rad] touches both sides [m]."""
    return (HOLE * np.cos(tilt) - PEG) / np.sin(tilt)


def build(tilt: float, mu: float = 0.3) -> st.PlanarWorld:
    """The peg between the walls of the hole; its mouth is at height 0."""
    world = st.PlanarWorld()
    for name, x in (("left", -0.04), ("right", HOLE)):
        wall = [(x, -0.1), (x + 0.04, -0.1), (x + 0.04, 0.0), (x, 0.0)]
        world.add_body(st.Polygon(wall), name=name, kind="fixed")
    up, across = np.array([-np.sin(tilt), np.cos(tilt)]), np.array([np.cos(tilt), np.sin(tilt)])
    corner = np.array([HOLE, -depth_of(tilt)])
    box = 0.5 * np.array([[-PEG, -LENGTH], [PEG, -LENGTH], [PEG, LENGTH], [-PEG, LENGTH]])
    world.add_body(
        st.Polygon(box), name="peg", mass=0.5, position=corner - 0.5 * PEG * across + 0.5 * LENGTH * up, angle=tilt
    )
    world.set_contact("peg", "left", friction=mu)
    world.set_contact("peg", "right", friction=mu)
    return world


def picture(depths: np.ndarray, bound: np.ndarray, path: str) -> None:
    """A wedged peg with its cones and the line of forces, and how deep is deep enough."""
    from stiction.view.jamming import draw_limit, draw_planar
    from stiction.view.style import COLOURS, finish, new_figure

    figure = new_figure(9, 3.8)
    axes = figure.add_subplot(1, 2, 1)
    world = build(np.radians(4.5), mu=0.5)
    found = jamming_bound(world, closed=CLOSED)
    draw_planar(axes, world, closed=CLOSED, cones=0.018, arrows=0.03, forces=found.forces, colours={"peg": COLOURS[0]})
    axes.text(0.055, 0.06, "peg, tilted", fontsize=9)
    axes.text(0.0205, -0.075, "both forces on one line,\ninside both friction cones:\nwedged, however it is pushed",
              fontsize=8, ha="center", va="center")  # fmt: skip
    axes.set(xlim=(-0.05, 0.095), ylim=(-0.1, 0.11))
    axes = figure.add_subplot(1, 2, 2)
    order = np.argsort(depths)
    draw_limit(axes, depths[order] / PEG, bound[order], names="depth over diameter", values="friction", top=1.0,
               above="", below="can be pushed on")  # fmt: skip
    axes.text(0.05, 0.95, "wedges", transform=axes.transAxes, va="top", color="#9b2c3b", fontsize=9)
    axes.plot([0, 1], [0, 1], ":", color="black", linewidth=1.0)
    axes.text(0.55, 0.5, "µ = depth/diameter", fontsize=8, rotation=33)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """The bound over the depth, and what the analysis says of a peg that is wedged and of one that is not."""
    tilts = np.radians(np.linspace(1.4, 11.5, 60 if path else 4))
    bound = np.array([jamming_bound(build(a), closed=CLOSED).value for a in tilts])
    depths = np.array([depth_of(a) for a in tilts])
    assert np.allclose(bound, np.tan(tilts + np.arctan(depths / HOLE)), rtol=1e-6)
    for a, l, mu in list(zip(tilts, depths, bound))[:: max(1, len(tilts) // 4)]:
        print(
            f"tilt {np.degrees(a):4.1f}°, depth {1000 * l:4.1f} mm ({l / PEG:.2f} diameters): wedges from µ = {mu:.3f}"
        )
    wedged, free = build(np.radians(4.5), mu=0.5), build(np.radians(4.5), mu=0.2)
    print(f"µ = 0.5: {report(wedged, closed=CLOSED, bounds=False).verdict}")
    print(f"µ = 0.2: {report(free, closed=CLOSED, bounds=False).verdict}")
    assert np.isinf(holding(wedged, closed=CLOSED)[0].least)
    assert not holding(free, closed=CLOSED)[0].rests
    if path is not None:
        picture(depths, bound, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
