"""A rattleback: a long boat-shaped stone spins happily one way; spun the other way it rattles, stops, and turns back.

    python examples/rattleback.py [picture.png]

Its axes of inertia are turned by a few degrees from those of its ellipsoidal belly. By that, spin in one sense feeds
rocking, and rocking turns the spin round. Friction holds the point of contact and does hardly any work: energy only
falls, by 2 % here, and the rest comes back as spin in the other sense.
"""

import math
import sys

import numpy as np

import stiction as st

AXES, MASS = (0.10, 0.025, 0.018), 0.1  # semi-axes of the belly [m], kg
LOW = 0.004  # of the centre of mass below the middle of the ellipsoid [m]
SKEW = -0.25  # by which the axes of inertia are turned [rad]


def build(spin: float) -> st.World:
    """The stone on a table, spun at `spin` [rad/s], and nudged."""
    world = st.World()
    world.set_material("default", friction=0.8)
    world.add_plane(name="table")
    a, b, c = AXES
    principal = MASS / 5 * np.diag([1.5 * (b**2 + c**2), a**2 + c**2, a**2 + b**2])
    turn = np.array([[math.cos(SKEW), -math.sin(SKEW), 0], [math.sin(SKEW), math.cos(SKEW), 0], [0, 0, 1]])
    world.add_body(
        st.Ellipsoid(AXES), mass=MASS, inertia=turn @ principal @ turn.T, com=(0, 0, -LOW), position=(0, 0, c),
        angular_velocity=(0.05, 0.05, spin), name="stone",
    )  # fmt: skip
    return world


def picture(runs: dict[float, st.Trajectory], path: str) -> None:
    """Spin and rocking over time, for both senses."""
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 3.6)
    spins, rocks = figure.subplots(2, 1, sharex=True)
    dress(spins, x="", y="spin [rad/s]")
    dress(rocks, y="height of the bow [mm]")
    for (spin, run), colour, line in zip(runs.items(), COLOURS, ("-", "--")):
        w, x, y, z = run.orientation("stone").T
        bow = 1000 * AXES[0] * 2 * (x * z - w * y)  # of the end of the long axis, above the middle
        spins.plot(run.times, run.angular_velocity("stone")[:, 2], line, color=colour, label=f"spun at {spin:g} rad/s")
        rocks.plot(run.times, bow, line, color=colour, linewidth=0.8)
    spins.axhline(0, color="black", linewidth=0.6)
    spins.legend(frameon=False, fontsize=8, loc="center right")
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Spin it both ways for two seconds."""
    runs = {}
    for spin in (5.0, -5.0):
        run = st.Simulator(build(spin), dt=0.002).run(2.0, every=4)
        last, energy = float(run.angular_velocity("stone")[-1, 2]), run.energy.total
        left = energy[-1] / energy[0]
        print(f"spun at {spin:4.1f} rad/s: after 2 s it turns at {last:6.3f} rad/s, with {left:.1%} of its energy")
        assert energy.max() < (1 + 1e-3) * energy[0]  # the scheme's error, of second order in the step
        assert (-0.99 * spin < last < -0.8 * spin) if spin > 0 else (abs(last / spin - 1) < 0.01)
        runs[spin] = run
    if path is not None:
        picture(runs, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
