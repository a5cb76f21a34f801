"""The Brazil nut effect: of disks that are shaken in a box, the large one rises through the small ones.

    python examples/brazil_nut.py [picture.png]

The first ten of the 49 shakes of scenes/ah03_brazil_nut.toml (Hart and Anitescu 2003; `stiction reproduce
ah03-brazil-nut` runs them all, until nothing lies on the large disk). Whenever the bed is thrown off the floor, small
disks get under the large one, and hardly ever the other way round. Nothing overlaps: the certificate says by how much.
The scene takes the convex relaxation with steps of 0.1 s, which loosens the bed; docs/gallery.md says what the law and
the step change about it.
"""

import sys
from pathlib import Path

import numpy as np

import stiction as st

SCENE = Path(__file__).parent / "scenes" / "ah03_brazil_nut.toml"
PERIOD, SHAKES = 1.5, 10  # s; every second shake throws high, the one after it low


def buried(scene: st.Scene, run: st.Trajectory) -> np.ndarray:
    """(n,) how many small disks lie on the large one: higher than its middle, and within its width."""
    at, radius = run.position("large"), 2.5
    small = [run.position(body.name) for body in scene.world.bodies if body.name.startswith("disk")]
    return sum((np.abs(p[:, 0] - at[:, 0]) < radius) & (p[:, 1] > at[:, 1]) for p in small)


def picture(scene: st.Scene, run: st.Trajectory, height: np.ndarray, path: str) -> None:
    """The box at the start and at the end, and how high the large disk is."""
    from matplotlib.patches import Circle

    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(6.2, 2.9)
    for k, step in enumerate((0, int(np.argmin(height[-20:])) + len(height) - 20)):
        axes = figure.add_subplot(1, 3, k + 1)
        floor = run.position("box")[step, 1]
        for body in scene.world.bodies[2:]:
            colour = COLOURS[0] if body.name == "large" else COLOURS[3]
            place = run.position(body.name)[step] - [0, floor]
            axes.add_patch(Circle(place, body.shapes[0].radius, facecolor=colour, edgecolor="white", linewidth=0.4))
        axes.plot([-10, -10, 10, 10], [16, 0, 0, 16], color="#5c677d", linewidth=1.5)
        axes.set(xlim=(-10.5, 10.5), ylim=(-0.5, 16), aspect="equal", title=f"{run.times[step]:.1f} s")
        axes.set_axis_off()
    axes = dress(figure.add_subplot(1, 3, 3), y="large disk above the floor [m]")
    axes.plot(run.times, height, color=COLOURS[0])
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Ten shakes."""
    scene = st.read_scene(SCENE)
    run = scene.simulator().run(PERIOD * (SHAKES + 1))
    height = run.position("large")[:, 1] - run.position("box")[:, 1]
    on_it, last = buried(scene, run), run.times > PERIOD * (SHAKES - 1)
    print(
        f"lowest place of the large disk: {height[0]:.2f} m at first, {height[last].min():.2f} m in the last two shakes"
    )
    print(f"small disks on it: {on_it[0]} at first, {on_it[last].min()} to {on_it[last].max()} in the last two shakes")
    worst = run.certificate.worst
    print(f"largest overlap {worst['penetration']:.0e} m, largest residual {worst['natural_map']:.0e}")
    assert height[last].min() > 1.5 * height[0]
    assert on_it[last].max() < on_it[0]
    assert worst["penetration"] < 2e-4
    if path is not None:
        picture(scene, run, height, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
