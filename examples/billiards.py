"""The break of a rack of fifteen balls: friction on the cloth and between the balls, and impacts as of elastic balls.

    python examples/billiards.py [picture.png]

The cue ball is struck in its middle and slides into the rack, whose balls touch: one impact of 31 contacts. The blow
runs through the rack by Hertz' law, `WorkDriven(1.5)`, and throws out the corners. What leaves is as symmetric as what
entered, balls slide and then roll, and the books are kept: momentum changes only by the friction of the cloth, and
energy goes to friction and impact, never the other way.
"""

import math
import sys

import numpy as np

import stiction as st

RADIUS, MASS, SPEED = 0.028575, 0.17, 8.0  # m, kg, m/s
CLOTH = 0.2  # friction
BALLS = ("cue ball", *(f"ball {k}" for k in range(1, 16)))


def build() -> st.World:
    """Five rows of balls that touch, the first at the origin; the cue ball 1 m in front of it."""
    world = st.World()
    world.set_material("ball", friction=0.05, restitution=0.94)
    world.set_material("cloth", friction=CLOTH)
    world.set_contact("ball", "cloth", friction=CLOTH)
    world.add_plane(name="table", material="cloth")
    ball = {"mass": MASS, "material": "ball"}
    world.add_body(st.Sphere(RADIUS), position=(-1.0, 0.0, RADIUS), velocity=(SPEED, 0.0, 0.0), name="cue ball", **ball)
    places = [(row * math.sqrt(3) * RADIUS, (2 * i - row) * RADIUS, RADIUS) for row in range(5) for i in range(row + 1)]
    for name, place in zip(BALLS[1:], places):
        world.add_body(st.Sphere(RADIUS), position=place, name=name, **ball)
    return world


def picture(run: st.Trajectory, path: str) -> None:
    """From above: where the balls start, how they go, where they are at the end; and the energy."""
    from matplotlib.patches import Circle

    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
    dress(left, x="x [m]", y="y [m]")
    for name in BALLS:
        at, colour = run.position(name)[:, :2], "black" if name == "cue ball" else COLOURS[0]
        left.plot(*at.T, color=colour, linewidth=0.7)
        left.add_patch(Circle(at[0], RADIUS, facecolor="none", edgecolor=colour, linewidth=0.6))
        left.add_patch(Circle(at[-1], RADIUS, color=colour, alpha=0.6))
    left.set_aspect("equal")
    left.set_title(f"open: at the start; full: after {run.times[-1]:g} s", fontsize=9)
    dress(right, y="energy [J]")
    lost = {name: -np.cumsum(run.energy.work[name]) for name in ("friction", "impact")}
    kinetic = run.energy.kinetic[1:]
    bands = (kinetic, lost["friction"], lost["impact"])
    right.stackplot(run.times[1:], *bands, labels=("in motion", "to friction", "to impact"),
                    colors=(COLOURS[0], COLOURS[3], "#5c677d"))  # fmt: skip
    right.legend(frameon=True, fontsize=8, loc="lower right")
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Break, until every ball rolls."""
    scheme = st.Moreau(impact="stronge", multiple=st.WorkDriven(1.5))
    run = st.Simulator(build(), dt=0.002, scheme=scheme, tol=1e-9).run(0.8)
    hit = next(e.step for e in run.events if e.kind == "impact" and e.contact == "cue ball/ball 1")
    arrives = math.sqrt(SPEED**2 - 2 * CLOTH * 9.81 * (1.0 - 2 * RADIUS))
    print(f"the cue ball arrives at {run.velocity('cue ball')[hit, 0]:.3f} m/s; slid from {SPEED:g} m/s, {arrives:.3f}")
    assert abs(run.velocity("cue ball")[hit, 0] - arrives) < CLOTH * 9.81 * 0.002

    momentum = MASS * sum(run.velocity(name) for name in BALLS)
    cloth = 0.002 * sum(run.force(name, "table") for name in BALLS)
    cloth[:, 2] -= len(BALLS) * MASS * 9.81 * 0.002
    off = np.abs(np.diff(momentum, axis=0) - cloth).max()
    print(
        f"momentum {momentum[0, 0]:.3f} N s, {momentum[-1, 0]:.3f} at the end: friction of the cloth, to {off:.0e} N s"
    )
    assert off < 1e-9

    energy, work = run.energy.total, run.energy.work
    friction, impact = work["friction"].sum(), work["impact"].sum()
    kinetic = run.energy.kinetic
    print(
        f"energy {kinetic[0]:.3f} J: {-impact:.3f} J to impact, {-friction:.3f} J to friction, {kinetic[-1]:.3f} J left"
    )
    assert np.diff(energy).max() < 1e-9
    assert abs(energy[-1] - energy[0] - friction - impact) < 1e-9

    ends = np.array([run.position(name)[-1] for name in BALLS])
    mirrored = np.array([1, -1, 1]) * ends
    apart = np.linalg.norm(ends[:, None] - mirrored[None], axis=2).min(axis=1).max()
    slip = [run.velocity(name)[-1] + np.cross(run.angular_velocity(name)[-1], (0, 0, -RADIUS)) for name in BALLS]
    print(f"at the end every ball rolls, to {np.abs(slip).max():.0e} m/s, and has a mirror image, to {apart:.0e} m")
    assert np.abs(slip).max() < 1e-6
    assert apart < 1e-6
    if path is not None:
        picture(run, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
