"""A door wedge: which slope holds the door, and which is squeezed out.

    python examples/door_wedge.py [picture.png]

The door's lower edge presses on the slope of the wedge, the floor presses back from below. Without any other load the
two forces must lie on one line. It is at most the angle of friction away from the vertical at the floor and from the
slope's normal at the door; the two directions are the angle of the wedge apart, so that it holds from µ = tan(angle/2)
on, however hard the door pushes. That is the bound at which the friction cone stops being pointed (s00 H5).
"""

import sys

import numpy as np

import stiction as st
from stiction.analysis import jamming_bound
from stiction.analysis.report import report

LENGTH, EDGE, CLOSED = 0.12, 0.05, 1e-7  # m: of the wedge, where the door touches it, what counts as touching
FLOORS = {"polished": 0.08, "wood": 0.3, "rubber": 0.6}


def build(angle: float, mu: float = 0.3) -> st.PlanarWorld:
    """A wedge of so much slope [rad] under the lower edge of a door."""
    world = st.PlanarWorld()
    world.add_half_plane(name="floor")
    corners = np.array([[0.0, 0.0], [LENGTH, 0.0], [LENGTH, LENGTH * np.tan(angle)]])
    world.add_body(st.Polygon(corners), name="wedge", mass=0.1)
    door = [(-0.04, 0.0), (0.0, 0.0), (0.0, 0.3), (-0.04, 0.3)]
    world.add_body(st.Polygon(door), name="door", kind="fixed", position=(EDGE, EDGE * np.tan(angle)))
    world.set_contact("wedge", "floor", friction=mu)
    world.set_contact("wedge", "door", friction=mu)
    return world


def picture(angles: np.ndarray, bound: np.ndarray, path: str) -> None:
    """The wedge with its cones and the line of forces, and which slopes hold."""
    from stiction.view.jamming import draw_limit, draw_planar
    from stiction.view.style import COLOURS, finish, new_figure

    figure = new_figure(9, 3.8)
    axes = figure.add_subplot(1, 2, 1)
    world = build(np.radians(20))
    found = jamming_bound(world, closed=CLOSED)
    draw_planar(axes, world, closed=CLOSED, cones=0.022, arrows=0.03, forces=found.forces,
                colours={"wedge": COLOURS[3], "door": COLOURS[5]})  # fmt: skip
    axes.text(EDGE - 0.02, 0.07, "door", color="white", ha="center", fontsize=9)
    axes.text(LENGTH + 0.004, 0.012, "wedge", fontsize=9)
    axes.text(0.06, -0.04, "forces of door and floor on one line,\ninside both friction cones: it holds", ha="center",
              fontsize=8)  # fmt: skip
    axes.set(xlim=(-0.02, 0.15), ylim=(-0.055, 0.1))
    axes = figure.add_subplot(1, 2, 2)
    draw_limit(axes, np.degrees(angles), bound, names="slope of the wedge [°]", values="friction", top=0.8,
               above="holds, however hard the door pushes", below="is squeezed out", wanted="above")  # fmt: skip
    for name, mu in FLOORS.items():
        axes.axhline(mu, color="black", linestyle=":", linewidth=1.0)
        axes.text(2.0, mu + 0.01, name, fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """The bound over the slope, and what the analysis says of two wedges."""
    angles = np.radians(np.linspace(1, 60, 60 if path else 5))
    bound = np.array([jamming_bound(build(a), closed=CLOSED).value for a in angles])
    assert np.allclose(bound, np.tan(angles / 2), rtol=1e-6)
    for name, mu in FLOORS.items():
        print(f"{name:<9} (µ = {mu:4.2f}) holds slopes up to {np.degrees(2 * np.arctan(mu)):.0f}°")
    said = {degrees: report(build(np.radians(degrees)), closed=CLOSED, bounds=False).verdict for degrees in (10, 50)}
    for degrees, words in said.items():
        print(f"wood, {degrees}°: {words}")
    assert said[10] == "jammed: holds against any pull, however strong"
    assert said[50].startswith("rests: holds against any pull below")
    if path is not None:
        picture(angles, bound, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
