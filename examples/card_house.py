"""A house of cards of two storeys: it stands on friction above a coefficient in closed form, and falls below it.

    python examples/card_house.py [picture.png]

A card of weight w that leans at an angle a and carries V on its top pushes its foot outward with (V + w/2) tan a, and
friction holds µ (V + w): the more it carries, the more friction it needs. The four cards of the ground floor carry
three between them, so that one of them has at least V = 3w/4: µ >= 5/7 tan a, and if they share alike this is enough
(round edges make it a little less). Nothing but contact holds the house, and one that stands does not creep.
"""

import math
import sys

import numpy as np

import stiction as st

LENGTH, EDGE, SLANT = 0.088, 0.0004, math.radians(25)  # m between the round edges, their radius [m]; from the vertical
WIDE, HIGH = LENGTH * math.sin(SLANT), LENGTH * math.cos(SLANT)
PITCH = 2 * WIDE + 0.008  # of the tents: their feet do not touch
LIMIT = 5 / 7 * WIDE / (HIGH + EDGE)


def build(friction: float) -> st.PlanarWorld:
    """Two tents, a card across, and a tent on it; the cards are 1.8 g each."""
    world = st.PlanarWorld()
    world.set_material("default", friction=friction)
    world.add_half_plane(name="table")
    floor = HIGH + 4 * EDGE  # of the upper storey
    for name, x, y in (("left", -PITCH / 2, 0.0), ("right", PITCH / 2, 0.0), ("upper", 0.0, floor)):
        for side in (-1, 1):
            place = {
                "position": (x + side * (EDGE + WIDE / 2), y + EDGE + HIGH / 2),
                "angle": side * SLANT + math.pi / 2,
            }
            world.add_body(st.Rod(EDGE, LENGTH), mass=0.0018, name=f"{name} {'ab'[side > 0]}", **place)
    world.add_body(st.Rod(EDGE, LENGTH), mass=0.0018, position=(0.0, floor - EDGE), name="across")
    return world


def picture(runs: dict[float, st.Trajectory], path: str) -> None:
    """Both houses at four times."""
    from stiction.view.silhouettes import Silhouettes
    from stiction.view.style import finish, new_figure

    figure = new_figure(8, 3.8)
    axes = figure.subplots(len(runs), 4)
    for row, (friction, run) in zip(axes, runs.items()):
        shapes = Silhouettes(run)
        for axis, time in zip(row, (0.0, 0.2, 0.3, 0.4)):
            step = int(np.argmin(np.abs(run.times - time)))
            shapes.draw(axis, step, np.array([-0.11, -0.005]), np.array([0.11, 0.175]), (1, 1))
            axis.set(xticks=[], yticks=[])
            axis.set_title(f"{run.times[step]:.1f} s", fontsize=8, loc="left")
        row[0].set_ylabel(f"µ = {friction / LIMIT:.2f} of the limit", fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """A house 1 % above the limit, and one as much below."""
    print(f"friction that holds: {LIMIT:.4f}")
    runs = {}
    for friction, stands in ((1.01 * LIMIT, True), (0.99 * LIMIT, False)):
        run = st.Simulator(build(friction), dt=0.002, tol=1e-8).run(0.5)
        top = run.position("upper a")[:, 1]
        sunk = top[0] - top[-1]
        print(f"friction {friction:.4f}: the upper storey sinks by {1000 * sunk:.2g} mm in {run.times[-1]:g} s")
        assert (abs(sunk) < 1e-8) if stands else (sunk > 0.05)
        runs[friction] = run
    if path is not None:
        picture(runs, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
