"""Parts that jam in a chute: how wide must it be, and how long the parts?

    python examples/chute.py [picture.png]

A rectangular part that has turned on its way down can stand across the chute with two opposite corners on the walls.
It stays there if the line through these corners lies in the friction cones of both walls, from
µ = cot(tilt + arctan(width/length)) on. The tilt follows from the width of the chute: the wider the chute, the flatter
the diagonal lies, and the less friction it takes. In a chute wider than the diagonal the part cannot jam at all.
"""

import sys

import numpy as np

import stiction as st
from stiction.analysis import jamming_bound
from stiction.analysis.report import report

WIDTH, CLOSED = 0.02, 1e-7  # m: of the parts, and what counts as touching
STEEL = 0.35


def tilt_of(chute: float, length: float) -> float:
    """The tilt [rad] at which a part stands across a chute of this width [m]."""
    return float(np.arcsin(chute / np.hypot(length, WIDTH)) - np.arctan2(WIDTH, length))


def build(chute: float, length: float, mu: float = STEEL) -> st.PlanarWorld:
    """A part across a chute, its centre at the origin."""
    world = st.PlanarWorld()
    for name, side in (("left wall", 1.0), ("right wall", -1.0)):
        world.add_half_plane(normal=(side, 0.0), offset=-0.5 * chute, name=name)
    box = 0.5 * np.array([[-WIDTH, -length], [WIDTH, -length], [WIDTH, length], [-WIDTH, length]])
    world.add_body(st.Polygon(box), name="part", mass=0.05, angle=tilt_of(chute, length))
    for name in ("left wall", "right wall"):
        world.set_contact("part", name, friction=mu)
    return world


def closed_form(chute: float, length: float) -> float:
    """The friction from which the part jams."""
    return float(1.0 / np.tan(tilt_of(chute, length) + np.arctan2(WIDTH, length)))


def picture(path: str) -> None:
    """A part that has jammed, and the width of the chute against friction for parts of three lengths."""
    from stiction.view.jamming import draw_planar
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(9, 3.8)
    axes = figure.add_subplot(1, 2, 1)
    world = build(0.0432, 0.04)
    found = jamming_bound(world, closed=CLOSED)
    draw_planar(axes, world, closed=CLOSED, cones=0.012, arrows=0.014, forces=found.forces)
    axes.text(0.0, -0.033, "both walls press along one line,\ninside their friction cones:\nthe part hangs", fontsize=8,
              ha="center", va="center")  # fmt: skip
    axes.set(xlim=(-0.042, 0.042), ylim=(-0.042, 0.032))
    axes = dress(figure.add_subplot(1, 2, 2), x="width of the chute / width of the part", y="friction")
    for ratio, colour in ((1.5, COLOURS[0]), (2.0, COLOURS[2]), (3.0, COLOURS[4])):
        length = ratio * WIDTH
        chutes = np.linspace(1.001 * WIDTH, 0.99999 * np.hypot(length, WIDTH), 200)
        bound = np.array([closed_form(c, length) for c in chutes])
        axes.plot(chutes / WIDTH, bound, color=colour, label=f"length = {ratio:g} widths")
        axes.fill_between(chutes / WIDTH, bound, 1.5, color=colour, alpha=0.12, linewidth=0)
    axes.axhline(STEEL, color="black", linestyle=":", linewidth=1.0)
    axes.text(1.02, STEEL + 0.02, "steel", fontsize=8)
    axes.set(xlim=(1.0, 3.2), ylim=(0.0, 1.5), title="above its line, a part can jam")
    axes.legend(frameon=False, fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """The bound for some chutes, and what the analysis says of two."""
    for length in (0.03, 0.04, 0.06):
        for chute in np.linspace(0.025, 0.99 * np.hypot(length, WIDTH), 3):
            bound = jamming_bound(build(chute, length), closed=CLOSED).value
            assert np.isclose(bound, closed_form(chute, length), rtol=1e-6)
            print(f"part {1000 * length:.0f} x 20 mm, chute {1000 * chute:.1f} mm: jams from µ = {bound:.3f}")
    jams, slides = (report(build(chute, 0.04), closed=CLOSED, bounds=False).verdict for chute in (0.043, 0.030))
    print(f"chute of 43 mm: {jams}")
    print(f"chute of 30 mm: {slides}")
    assert "jammed" in jams
    assert "jammed" not in slides
    if path is not None:
        picture(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
