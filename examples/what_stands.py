"""What stands by statics stands in the simulation: arches, a tower of planks, a wall; 1 % less, and it falls.

    python examples/what_stands.py [picture.png]

Statics looks for forces at the contacts that balance the weights within friction, by a linear program in the plane and
a conic one in space; it knows nothing of steps, impulses or time. The least thickness of an arch and the least friction
of a house of cards are the ends of where such forces exist. The margin is the largest horizontal acceleration, in g,
that a structure still bears: gravity is tilted by as much, and a little more.
"""

import math
import sys

import numpy as np

import stiction as st

STONES = 25
TILTS = (0.98, 1.02)  # of the margin


def arches() -> dict[str, st.Trajectory]:
    """An arch of 1 % more and one of 1 % less than the least thickness."""
    least = st.structures.least_thickness(STONES)
    print(f"arch of {STONES} stones: least thickness {least:.5f} of its radius")
    runs = {}
    for factor in (1.01, 0.99):
        run = st.Simulator(st.structures.arch(STONES, factor * least), dt=0.005).run(1.2, every=2)
        sunk = run.position(f"arch {STONES // 2}")[0, 1] - run.position(f"arch {STONES // 2}")[-1, 1]
        print(f"  {factor:g} of it: the keystone sinks by {sunk:.1e} m")
        assert (abs(sunk) < 1e-6) == (factor > 1.0)
        runs[f"arch, {factor:g} of the least thickness"] = run
    return runs


def tilted(build, name: str, seconds: float) -> dict[str, st.Trajectory]:
    """A structure in space under gravity that is tilted as it bears least, a little less and more than it bears."""
    margin = st.analysis.statics(build()).margin
    print(f"{name}: bears {margin:.4f} g from the side")
    runs = {}
    for factor in TILTS:
        world = build()
        world.gravity = (0.0, 9.81 * factor * margin, -9.81)
        assert st.analysis.statics(world).stands == (factor < 1.0)
        run = st.Simulator(world, dt=0.005).run(seconds, every=2)
        bodies = [b.name for b in world.bodies if b.kind == "dynamic"]
        far = max(float(np.linalg.norm(run.position(b)[-1] - run.position(b)[0])) for b in bodies)
        print(f"  {factor:g} of it: moves by {far:.1e} m in {run.times[-1]:g} s")
        assert (far < 1e-4) == (factor < 1.0)
        runs[f"{name}, {factor:g} of what it bears"] = run
    return runs


def moment(run: st.Trajectory, bodies: list[str], far: float) -> int:
    """The first step at which a body has moved by `far` [m], or the last."""
    away = np.max([np.linalg.norm(run.position(b) - run.position(b)[0], axis=1) for b in bodies], axis=0)
    return int(np.argmax(away > far)) if (away > far).any() else len(away) - 1


def picture(flat: dict[str, st.Trajectory], space: dict[str, st.Trajectory], path: str) -> None:
    """The arches at three times; tower and wall, standing and falling."""
    from stiction.view.silhouettes import Silhouettes
    from stiction.view.style import finish, new_figure

    figure = new_figure(6.4, 4.8)
    grid = figure.add_gridspec(3, 12, height_ratios=(1, 1, 1.7))
    for row, (name, run) in enumerate(flat.items()):
        shapes = Silhouettes(run)
        for column, time in enumerate((0.0, 0.6, 0.9)):
            axes = figure.add_subplot(grid[row, 4 * column : 4 * column + 4])
            step = int(np.argmin(np.abs(run.times - time)))
            shapes.draw(axes, step, np.array([-1.3, -0.35]), np.array([1.3, 1.15]), (1, 1))
            axes.set(xticks=[], yticks=[])
            axes.set_title(f"{run.times[step]:.1f} s" + (f"  {name}" if column == 0 else ""), fontsize=6, loc="left")
    for column, (name, run) in enumerate(space.items()):
        shapes = Silhouettes(run)
        bodies = [b for b in shapes.stage.names if b.startswith(name.split()[0])]
        axes = figure.add_subplot(grid[2, 3 * column : 3 * column + 3])
        low, high = shapes.bounds(np.array([0]))
        middle, half = 0.5 * (low + high), 0.7 * float((high - low).max())
        shapes.draw(axes, moment(run, bodies, 0.4 * half), middle - half, middle + half, (150, 150))
        axes.set(xticks=[], yticks=[])
        axes.set_title(name.replace(", ", "\n"), fontsize=6, loc="left")
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Arches, a tower and a wall beside what statics says of them."""
    flat = arches()
    space = tilted(lambda: st.structures.plank_tower(30, friction=0.7), "tower of 60 planks", 0.7)
    space |= tilted(lambda: st.structures.wall(6, 5, gap=0.002), "wall of 33 stones", 1.4)
    house = st.analysis.statics(st.structures.card_house(3))
    print(f"house of 15 cards: needs friction of {house.least_friction:.4f}; {math.tan(math.radians(20)):.4f} is tan a")
    if path is not None:
        picture(flat, space, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
