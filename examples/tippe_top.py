"""A tippe top: a ball with a heavy bottom and a stem, spun fast on its bottom, turns over and stands on its stem.

    python examples/tippe_top.py [picture.png]

Friction slips at the point of contact and lifts the centre of mass, at the cost of spin. Whatever friction does there,
it does not change Jellett's constant J = L·(R k - a e), with L the angular momentum about the centre of mass, k the
vertical, e the axis and a the distance from the middle of the ball down to the centre of mass (Jellett 1872): the ball
turns over with J, until the stem touches.
"""

import math
import sys

import numpy as np

import stiction as st

RADIUS, LOW, MASS = 0.02, 0.004, 0.02  # of the ball [m], its centre of mass below the middle [m], kg
STEM, REACH = 0.005, 0.017  # the round end of the stem: its radius, and how far up it sits [m]
INERTIA = 0.4 * MASS * RADIUS**2  # about every axis
TILT, SPIN = 0.3, 200.0  # rad, rad/s
TOUCH = -(RADIUS - STEM) / REACH  # cosine of the tilt at which the stem touches the table


def build() -> st.World:
    """The top on the table, tilted a little."""
    world = st.World()
    world.set_material("default", friction=0.6)
    world.add_plane(name="table")
    world.add_body(
        [st.Sphere(RADIUS), st.Sphere(STEM, position=(0, 0, REACH))], mass=MASS, inertia=INERTIA, com=(0, 0, -LOW),
        position=(0, 0, RADIUS), orientation=(math.cos(TILT / 2), 0, math.sin(TILT / 2), 0),
        angular_velocity=(0, 0, SPIN), name="top",
    )  # fmt: skip
    return world


def axis(run: st.Trajectory) -> np.ndarray:
    """(n, 3) the axis of the top, from its bottom to its stem."""
    w, x, y, z = run.orientation("top").T
    return np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x**2 + y**2)])


def jellett(run: st.Trajectory) -> np.ndarray:
    """(n,) Jellett's constant while the ball alone touches [kg m³/s]."""
    arm = RADIUS * np.array([0, 0, 1]) - LOW * axis(run)
    return INERTIA * np.einsum("ij,ij->i", run.angular_velocity("top"), arm)


def picture(run: st.Trajectory, path: str) -> None:
    """The top at five times, seen in the plane of its tilt, and its tilt, spin and Jellett's constant."""
    from matplotlib.patches import Circle

    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 4.4)
    grid = figure.add_gridspec(2, 5, height_ratios=(1, 1.5))
    for k, time in enumerate((0.0, 0.25, 0.5, 0.65, 1.5)):
        axes = figure.add_subplot(grid[0, k])
        step = int(np.argmin(np.abs(run.times - time)))
        up = axis(run)[step, 2]
        along, middle = np.array([math.sqrt(1 - up**2), up]), np.array([0, run.position("top")[step, 2]])
        axes.add_patch(Circle(middle + REACH * along, STEM, color="black"))
        axes.add_patch(Circle(middle, RADIUS, color=COLOURS[0]))
        axes.plot(*(middle - LOW * along), "o", color="white", markersize=3)
        axes.axhline(0.0, color="#5c677d", linewidth=1)
        axes.set(xlim=(-0.025, 0.025), ylim=(-0.002, 0.045), aspect="equal", title=f"{run.times[step]:.2f} s")
        axes.set_axis_off()
    alone = np.maximum.accumulate(-axis(run)[:, 2]) < -TOUCH
    curves = {
        "cosine of the tilt": axis(run)[:, 2],
        "spin about the vertical, of the first": run.angular_velocity("top")[:, 2] / SPIN,
        "Jellett's constant, until the stem touches": np.where(alone, jellett(run) / jellett(run)[0], np.nan),
    }
    axes = dress(figure.add_subplot(grid[1, :]), y="ratio")
    for (label, values), colour, line in zip(curves.items(), (*COLOURS[:2], "black"), ("-", "--", ":")):
        axes.plot(run.times, values, line, color=colour, label=label)
    axes.legend(frameon=False, fontsize=8, loc="center right")
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Spin the top for two seconds, in two steps."""
    drifts = []
    for h in (0.001, 0.0005):
        run = st.Simulator(build(), dt=h).run(2.0, every=round(0.005 / h))
        up, constant = axis(run)[:, 2], jellett(run)
        alone = slice(0, int(np.argmax(up < TOUCH)))
        drifts.append(float(np.abs(constant[alone] / constant[0] - 1).max()))
        print(
            f"h = {h:g} s: cosine of the tilt {up[0]:.3f} to {up[-1]:.3f}, Jellett's constant kept to {drifts[-1]:.1e}"
        )
        assert (up[run.times > 1.5] < -0.95).all()  # it stands on its stem
        assert run.energy.total.max() < (1 + 1e-9) * run.energy.total[0]
    lifted = run.position("top")[:, 2] - LOW * up
    slower = run.angular_velocity("top")[-1, 2]
    print(f"the centre of mass rose by {1000 * (lifted[-1] - lifted[0]):.1f} mm; the spin fell to {slower:.0f} rad/s")
    assert max(drifts) < 1e-12  # friction and flight keep it, whatever the step
    if path is not None:
        picture(run, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
