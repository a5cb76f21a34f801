"""A slider–crank with a motor: spun up against its load, run at speed, and braked.

    python examples/slider_crank.py [picture.png]

The motor has a bound on its torque, the guide has dry friction, and a spring pulls the slider back. Every joule is
booked: what the motor gives, the friction takes, the spring stores.
"""

import math
import sys

import numpy as np

import stiction as st

CRANK, ROD, SPEED = 0.2, 0.7, 10.0


def build() -> tuple[st.PlanarWorld, dict[str, st.Revolute | st.Prismatic]]:
    """Crank, rod and slider, stretched out along x at the start."""
    world = st.PlanarWorld()
    crank = world.add_body(None, mass=2.0, inertia=0.05, position=(0, 0), name="crank")
    rod = world.add_body(None, mass=1.0, inertia=ROD**2 / 12, position=(CRANK + ROD / 2, 0), name="rod")
    slider = world.add_body(None, mass=1.5, inertia=1e-3, position=(CRANK + ROD, 0), name="slider")
    motor = st.Motor(speed=SPEED, bound=4.0)
    joints = {
        "shaft": world.add_joint(st.Revolute(crank, None, anchor=(0, 0), motor=motor, name="shaft")),
        "pin": world.add_joint(st.Revolute(rod, crank, anchor=(CRANK, 0), name="pin")),
        "wrist": world.add_joint(st.Revolute(rod, slider, anchor=(CRANK + ROD, 0), name="wrist")),
        "guide": world.add_joint(st.Prismatic(slider, None, axis=(1, 0), friction=2.0, name="guide")),
    }
    world.add_spring(joints["guide"], stiffness=20.0, rest=-CRANK, name="return spring")
    return world, joints


def simulate() -> tuple[st.Trajectory, st.Trajectory]:
    """Three seconds with the motor at work, one with it as a brake."""
    world, _ = build()
    sim = st.Simulator(world, dt=0.002, tol=1e-8)
    powered = sim.run(3.0)
    sim.set_motor("shaft", 0.0)  # the motor brakes now, with the same bound
    return powered, sim.run(1.0)


def picture(runs: tuple[st.Trajectory, ...], path: str) -> None:
    """Speed, slider and torque over time."""
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(7, 6)
    labels = ("shaft speed [rad/s]", "slider [m]", "motor torque [N m]")
    axes = [dress(figure.add_subplot(3, 1, i + 1), x="time [s]" * (i == 2), y=label) for i, label in enumerate(labels)]
    for run in runs:
        shaft, guide = run.joint("shaft"), run.joint("guide")
        axes[0].plot(shaft.times, shaft.speed, color=COLOURS[0])
        axes[1].plot(guide.times, guide.coordinate, color=COLOURS[0])
        axes[2].plot(shaft.times, shaft.motor / run.info["dt"], color=COLOURS[0])
    for axis in axes:
        axis.axvline(3.0, color="0.7", lw=1)
    axes[0].annotate("the motor brakes", (3.0, 8.5), (12, 0), textcoords="offset points", fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Run, compare with geometry, and book the energy."""
    powered, braked = simulate()
    shaft, guide = powered.joint("shaft"), powered.joint("guide")
    a = shaft.coordinate
    exact = CRANK * np.cos(a) + np.sqrt(ROD**2 - (CRANK * np.sin(a)) ** 2) - CRANK - ROD
    error = np.abs(guide.coordinate - exact).max()
    turns = shaft.coordinate[-1] / (2 * math.pi)
    work = {name: values.sum() for name, values in powered.energy.work.items()}
    print(f"{turns:.2f} turns; the slider is within {1000 * error:.2f} mm of the geometry of the linkage")
    print(f"the motor gave {work['motors']:.2f} J, friction took {-work['friction']:.2f} J")
    print(f"braked: the shaft turns at {braked.joint('shaft').speed[-1]:.1e} rad/s after a second")
    assert error < 2e-3
    assert np.abs(shaft.motor).max() <= 4.0 * 0.002 * (1 + 1e-9)
    assert abs(braked.joint("shaft").speed[-1]) < 1e-6
    assert powered.certificate.worst["energy"] < 1e-9
    if path is not None:
        picture((powered, braked), path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
