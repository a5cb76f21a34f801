"""A block on a moving belt, held by a spring: it rides with the belt, breaks loose, and is caught again.

    python examples/stick_slip.py [picture.png]

With one coefficient of friction it would slide for ever. With two, 0.4 at rest and 0.25 in slip, it sticks and slips
with a period in closed form: stick lasts 2ΔF/(kV), and slip is an arc of a harmonic oscillation. With a coefficient
that falls smoothly over 0.05 m/s the period is longer.
"""

import math
import sys

import numpy as np

import stiction as st

MASS, STIFFNESS, SPEED, G = 1.0, 100.0, 0.1, 9.81  # kg, N/m, m/s of the belt, m/s²
CASES = {
    "two coefficients": st.Stribeck(0.4, 0.25, speed=0.0),
    "falling over 0.05 m/s": st.Stribeck(0.4, 0.25, speed=0.05),
    "falling over 0.05 m/s, then viscous": st.Stribeck(0.4, 0.25, speed=0.05, viscous=1.0),
}


def build(law: st.Stribeck) -> st.PlanarWorld:
    """A flat block on a belt that moves to the right, tied to the left by a spring that is slack at the start."""
    world = st.PlanarWorld(gravity=(0.0, -G))
    belt = world.add_body(
        st.Polygon.box(20.0, 0.2), kind="kinematic", motion=lambda t: ((SPEED * t, -0.1), 0.0), name="belt"
    )
    block = world.add_body(
        st.Polygon.box(0.2, 0.02), mass=MASS, position=(0.0, 0.01), velocity=(SPEED, 0.0), name="block"
    )
    world.set_contact(block, belt, friction=st.Coulomb(law))
    world.add_spring(block, stiffness=STIFFNESS, anchor_a=(0.0, 0.01), anchor_b=(-1.0, 0.01))
    return world


def onsets(run: st.Trajectory) -> np.ndarray:
    """The times at which the block begins to slip [s]."""
    slips = SPEED - run.velocity("block")[:, 0] > 1e-4 * SPEED
    return run.times[1:][slips[1:] & ~slips[:-1]]


def picture(runs: dict[str, st.Trajectory], exact: float, path: str) -> None:
    """The speed of the block under each law."""
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 4.4)
    for axes, (name, run), colour in zip(
        figure.subplots(len(runs), 1, sharex=True, sharey=True), runs.items(), COLOURS
    ):
        first = name == next(iter(runs))
        dress(axes, x="", y="speed [m/s]", title=name + (f"; dashed: the closed form, {exact:.3f} s" if first else ""))
        axes.plot(run.times, run.velocity("block")[:, 0], color=colour)
        axes.axhline(SPEED, color="black", linewidth=0.8, linestyle=":")
        if first:
            for start in onsets(run)[1] + exact * np.arange(3):
                axes.axvline(start, color="#5c677d", linewidth=0.8, linestyle="--")
    axes.set_xlabel("time [s]; dotted: the speed of the belt")
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Run the three laws, and hold the first against its closed form."""
    runs = {}
    fall = 0.15 * MASS * G
    exact = 2 * fall / (STIFFNESS * SPEED)
    exact += 2 * math.sqrt(MASS / STIFFNESS) * (math.pi - math.atan(fall / (SPEED * math.sqrt(STIFFNESS * MASS))))
    print(f"closed form for two coefficients: a period of {exact:.3f} s")
    for name, law in CASES.items():
        run = runs[name] = st.Simulator(build(law), 0.005).run(3.2, progress=False)
        found = onsets(run)
        if len(found) < 3:
            print(f"{name}: slips once; at the end it moves at {run.velocity('block')[-1, 0]:.4f} m/s and slides on")
            continue
        period = float(np.diff(found[1:]).mean())
        worst = run.certificate.worst["natural_map"]
        print(f"{name}: slips every {period:.3f} s; the largest residual of a step is {worst:.0e}")
        assert law.speed > 0.0 or abs(period - exact) < 0.02
    if path is not None:
        picture(runs, exact, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
