"""A ball bearing: a motor turns the inner race, balls roll between the races, their cage turns less than half as fast.

    python examples/ball_bearing.py [picture.png]

Joints and contact work together: the shaft sits in a guide and its weight presses it onto the lower balls, each ball
turns on a pin that slides in its pocket of the cage. A loaded ball rolls at half the speed of the race, w r_i/2, along
an outer race of radius R: the cage turns at w r_i/(2 (R - r)). The outer race is made of n flat sides, a longer way
around, by tan(π/n)/(π/n).
"""

import math
import sys
from itertools import pairwise

import numpy as np

import stiction as st

INNER, BALL, PLAY = 0.06, 0.02, 2e-4  # radii, and what is left between [m]
SIDES, BALLS = 60, 6
SPEED = 2.0  # of the shaft [rad/s]
HALF = math.pi / SIDES
RATIO = INNER / (2 * (INNER + BALL + PLAY)) * HALF / math.tan(HALF)  # of the cage to the shaft


def build() -> st.PlanarWorld:
    """Race, cage and balls in a ring of flat sides."""
    world = st.PlanarWorld()
    world.set_material("default", friction=0.3)
    corners = [np.array([math.cos((2 * k - 1) * HALF), math.sin((2 * k - 1) * HALF)]) for k in range(SIDES + 1)]
    size = (INNER + 2 * BALL + PLAY) / math.cos(HALF)
    ring = [st.Polygon([size * a, size * b, 1.2 * size * b, 1.2 * size * a]) for a, b in pairwise(corners)]
    world.add_body(ring, kind="fixed", name="outer race")
    guide = world.add_body(None, mass=1.0, inertia=0.01, name="guide")
    world.add_joint(st.Prismatic(guide, None, axis=(0, 1), name="slide"))
    race = world.add_body(st.Disk(INNER), mass=5.0, name="inner race")
    world.add_joint(st.Revolute(race, guide, anchor=(0, 0), motor=st.Motor(speed=SPEED, bound=20.0), name="shaft"))
    cage = world.add_body(None, mass=0.1, inertia=5e-4, name="cage")
    world.add_joint(st.Revolute(cage, None, anchor=(0, 0), name="cage axis"))
    for k in range(BALLS):
        angle = 2 * math.pi * (k + 0.25) / BALLS
        out = np.array([math.cos(angle), math.sin(angle)])
        place = (INNER + BALL) * out
        pocket = world.add_body(None, mass=0.05, inertia=1e-5, position=place, name=f"pin {k}")
        world.add_joint(st.Prismatic(pocket, cage, axis=out, name=f"pocket {k}"))
        roller = world.add_body(st.Disk(BALL), mass=0.5, position=place, name=f"ball {k}")
        world.add_joint(st.Revolute(roller, pocket, anchor=place, name=f"ball axis {k}"))
    return world


def picture(run: st.Trajectory, path: str) -> None:
    """The bearing at two times, with the arms of its cage, and both angles over time."""
    from stiction.view.silhouettes import Silhouettes
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(6.4, 2.7)
    shapes = Silhouettes(run)
    for k, step in enumerate((0, len(run) // 2)):
        axes = figure.add_subplot(1, 3, k + 1)
        shapes.draw(axes, step, np.array([-0.125, -0.125]), np.array([0.125, 0.125]), (1, 1))
        axes.set_title(f"{run.times[step]:.1f} s", fontsize=8, loc="left")
        axes.set_axis_off()
    axes = dress(figure.add_subplot(1, 3, 3), y="angle [rad]")
    shaft, cage = run.joint("shaft"), run.joint("cage axis")
    axes.plot(shaft.times, shaft.coordinate, color=COLOURS[0], label="shaft")
    axes.plot(cage.times, cage.coordinate, color=COLOURS[1], label="cage")
    axes.plot(
        shaft.times, RATIO * shaft.coordinate, "--", color="black", linewidth=1, label=f"{RATIO:.4f} of the shaft"
    )
    axes.set_ylim(top=1.35 * shaft.coordinate[-1])  # room for the legend
    axes.legend(frameon=False, fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Three seconds of the bearing."""
    run = st.Simulator(build(), dt=0.004).run(3.0)
    shaft, cage = run.joint("shaft").coordinate, run.joint("cage axis").coordinate
    first = len(shaft) // 5  # the shaft comes to rest on the balls
    ratio = (cage[-1] - cage[first]) / (shaft[-1] - shaft[first])
    print(f"the cage turns {ratio:.5f} times as fast as the shaft; closed form {RATIO:.5f}")
    worst = run.certificate.worst
    print(f"joints drift by at most {worst['joint_drift']:.0e} m, overlaps are at most {worst['penetration']:.0e} m")
    assert abs(ratio / RATIO - 1) < 2e-3
    assert worst["joint_drift"] < 1e-5
    if path is not None:
        picture(run, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
