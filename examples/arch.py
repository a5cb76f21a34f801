"""A semicircular arch of 27 loose stones: too thin it falls by hinges, too slippery its feet slide apart.

    python examples/arch.py [picture.png]

Textbooks give the least thickness of such an arch as 0.107 of its mean radius, when friction is at least 0.4. Nothing
holds the stones but contact and friction; an arch that stands does not creep.
"""

import math
import sys

import numpy as np

import stiction as st

STONES = 27
CASES = {  # thickness/radius and friction coefficient: whether it stands
    (0.12, 0.7): True,
    (0.10, 0.7): False,
    (0.14, 0.35): False,
}


def build(thickness: float, friction: float) -> st.PlanarWorld:
    """Wedges of 2000 kg/m² on the ground, with mean radius 1 m."""
    world = st.PlanarWorld()
    world.set_material("default", friction=friction)
    world.add_half_plane(name="ground")
    angle = math.pi * np.arange(STONES + 1) / STONES
    radial = np.column_stack([np.cos(angle), np.sin(angle)])
    inner, outer = (1 - thickness / 2) * radial, (1 + thickness / 2) * radial
    for i in range(STONES):
        corners = np.array([inner[i], outer[i], outer[i + 1], inner[i + 1]])
        middle = st.Polygon(corners).mass_properties().com
        world.add_body(st.Polygon(corners - middle), density=2000.0, position=middle, name=f"stone {i}")
    return world


def outlines(world: st.PlanarWorld, run: st.Trajectory, step: int) -> list[np.ndarray]:
    """The corners (4, 2) of each stone at a recorded step."""
    found = []
    for spec in world.bodies:
        for shape in (s for s in spec.shapes if isinstance(s, st.Polygon)):
            c, s = math.cos(run.angle(spec.name)[step]), math.sin(run.angle(spec.name)[step])
            found.append(run.position(spec.name)[step] + shape.vertices @ np.array([[c, s], [-s, c]]))
    return found


def picture(runs: dict[tuple[float, float], tuple[st.PlanarWorld, st.Trajectory]], path: str) -> None:
    """Each arch at three times."""
    from matplotlib.collections import PolyCollection

    from stiction.view.style import finish, new_figure

    figure = new_figure(7.5, 3.4)
    axes = figure.subplots(len(runs), 3, sharex=True, sharey=True)
    for row, ((thickness, friction), (world, run)) in zip(axes, runs.items()):
        for axis, time in zip(row, (0.0, 0.5, 0.8)):
            step = int(np.argmin(np.abs(run.times - time)))
            stones = PolyCollection(outlines(world, run, step), facecolor="#d8c3a5", edgecolor="#5c677d", linewidth=0.7)
            axis.add_collection(stones)
            axis.axhline(0.0, color="#5c677d", linewidth=1)
            axis.set(xlim=(-1.5, 1.5), ylim=(-0.1, 1.15), aspect="equal", xticks=[], yticks=[])
            axis.text(-1.45, 1.0, f"{run.times[step]:.1f} s", fontsize=8)
        row[0].set_ylabel(f"t/R {thickness:.2f}, µ {friction}", fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Build three arches, let them stand or fall, and say how far the keystone came."""
    runs = {}
    for (thickness, friction), stands in CASES.items():
        world = build(thickness, friction)
        run = st.Simulator(world, dt=0.005).run(2.0, every=2)
        keystone = run.position(f"stone {STONES // 2}")
        sunk = keystone[0, 1] - keystone[-1, 1]
        print(f"thickness {thickness} of the radius, friction {friction}: the keystone sinks by {sunk:.2g} m")
        assert (abs(sunk) < 1e-6) if stands else (sunk > 0.5)
        runs[thickness, friction] = world, run
    if path is not None:
        picture(runs, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
