"""Chalk that is pushed over a board squeaks and hops: friction can leave no finite force that fits.

    python examples/chalk.py [picture.png]

Chalk touches the board at its lower end and is pushed with that end in front. Friction turns it so that the end is
pressed into the board; the larger the load, the larger the friction. Above a coefficient that depends on the slant the
two run away from each other: no finite force stops the end from sinking in, and what happens is an impulse without an
impact. It stops the end at once (Painlevé 1895; pr11 §2). `stiction analyze examples/chalk.toml` tells the same.
"""

import sys

import numpy as np

import stiction as st
from stiction.analysis import all_motions, existence, force_acceleration, impulse_velocity, scan

LENGTH, RADIUS, MASS = 0.08, 0.004, 0.008  # m between the centres of the round ends, m, kg
SPEED = 0.3  # m/s, to the left
MU = 1.6  # dry chalk on a rough board


def build(slant: float, mu: float = MU) -> st.PlanarWorld:
    """Chalk on the board at an angle [rad], sliding to the left on its lower end."""
    world = st.PlanarWorld()
    world.add_half_plane(name="board")
    middle = RADIUS + 0.5 * LENGTH * np.sin(slant)
    world.add_body(
        st.Rod(RADIUS, LENGTH), name="chalk", mass=MASS, position=(0.0, middle), angle=slant, velocity=(-SPEED, 0.0)
    )
    world.set_contact("chalk", "board", friction=mu)
    return world


def closed_form(slant: np.ndarray) -> np.ndarray:
    """The friction at which the load on the end begins to press it down: (I/m + x²)/(x y), (x, y) being the end."""
    inertia = next(b for b in build(0.5).bodies if b.name == "chalk").inertia / MASS
    x, y = 0.5 * LENGTH * np.cos(slant), 0.5 * LENGTH * np.sin(slant) + RADIUS
    return (inertia + x**2) / (x * y)


def picture(slants: np.ndarray, bound: np.ndarray, path: str) -> None:
    """The chalk with its friction cone, and how much friction each slant takes."""
    from stiction.view.jamming import draw_limit, draw_planar
    from stiction.view.style import COLOURS, finish, new_figure

    figure = new_figure(9, 3.8)
    axes = figure.add_subplot(1, 2, 1)
    slant = np.radians(60)
    draw_planar(axes, build(slant), cones=0.03, colours={"chalk": COLOURS[0], "board": "#495057"})
    tip = -0.5 * LENGTH * np.cos(slant)
    axes.annotate("", (tip - 0.03, 0.04), (tip, 0.04), arrowprops={"arrowstyle": "-|>", "color": "black"})
    axes.text(tip - 0.015, 0.045, "pushed this way", fontsize=9, ha="center")
    axes.text(tip, -0.026, "the board's force comes out of the yellow cone;\nat its edge it turns the end into "
              "the board", fontsize=7.5, ha="center", va="center")  # fmt: skip
    axes.set(xlim=(-0.075, 0.05), ylim=(-0.04, 0.085))
    axes = figure.add_subplot(1, 2, 2)
    draw_limit(axes, np.degrees(slants), bound, names="slant of the chalk [°]", values="friction", top=3.0,
               above="digs in, hops, squeaks", below="slides smoothly")  # fmt: skip
    axes.axhline(MU, color="black", linestyle="--", linewidth=1.0)
    axes.text(21, MU + 0.05, f"rough board, µ = {MU:g}", fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """The bound over the slant, and what happens above it."""
    slants = np.radians(np.linspace(20, 80, 61 if path else 3))
    _, bound, _ = scan(build, slants, most=20.0, tol=1e-7)
    some = list(zip(slants, bound))[:: max(1, len(slants) // 3)]
    print("friction that chalk takes:", ", ".join(f"{np.degrees(a):.0f}°: {b:.3f}" for a, b in some))
    assert np.allclose(bound, closed_form(slants), rtol=1e-6)
    at = np.radians(60)
    print(f"at 60° with µ = {MU}: {existence(force_acceleration(build(at)).problem).message}")
    assert existence(force_acceleration(build(at)).problem).exists is False
    stops = [m for m in all_motions(impulse_velocity(build(at))) if m.p.any()]
    print(f"what happens instead: {stops[0].words}")
    assert len(stops) == 1
    assert stops[0].goes_on
    if path is not None:
        picture(slants, bound, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
