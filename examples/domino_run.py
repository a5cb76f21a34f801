"""A row of dominoes falls: the wave finds its own speed, whatever the push, and it grows as the root of their size.

    python examples/domino_run.py [picture.png]

Each domino is toppled by those behind it, which lean on it and slide down its back. After some ten of them each hit
loses as much energy as the fall of one domino brings, and the wave is steady. While they turn about their front edges
and lean on each other, the whole row has one degree of freedom: `theory` integrates it, hit by hit (after van Leeuwen,
Am. J. Phys. 78, 2010).
"""

import math
import sys

import numpy as np

import stiction as st

THICK, HEIGHT, GAP, COUNT = 0.008, 0.048, 0.016, 20  # m
G, MU, PITCH = 9.81, 0.2, THICK + GAP  # m/s², friction of domino on domino, m


def build(scale: float = 1.0, push: float = 4.0) -> st.PlanarWorld:
    """Dominoes of `scale` times the size; the first one falls at `push`/√scale [rad/s], about its front edge."""
    world = st.PlanarWorld(gravity=(0.0, -G))
    world.set_material("default", friction=MU)
    world.set_material("table", friction=0.6)
    world.set_contact("default", "table", friction=0.6)
    world.add_half_plane(name="table", material="table")
    thick, height = scale * THICK, scale * HEIGHT
    for k in range(COUNT):
        spin = push / math.sqrt(scale) if k == 0 else 0.0
        place = {"position": (k * scale * PITCH, height / 2), "velocity": (spin * height / 2, spin * thick / 2)}
        shape = st.Polygon.box(thick, height)
        world.add_body(shape, density=1000.0, angular_velocity=-spin, name=f"domino {k}", **place)
    return world


def simulate(scale: float = 1.0, push: float = 4.0) -> st.Trajectory:
    """0.9 s in steps of 1 ms, times √scale."""
    return st.Simulator(build(scale, push), dt=0.001 * math.sqrt(scale)).run(0.9 * math.sqrt(scale), every=3)


def speeds(run: st.Trajectory, lean: float = 0.1) -> np.ndarray:
    """(COUNT - 1,) the speed of the wave from each domino to the next [m/s], by when they lean by 0.1 rad."""
    passed = []
    for k in range(COUNT):
        angle = -run.angle(f"domino {k}")
        i = int(np.argmax(angle > lean))
        passed.append(np.interp(lean, angle[i - 1 : i + 1], run.times[i - 1 : i + 1]))
    return PITCH / np.diff(passed)


def leaning(front: float, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles of the domino in front and the n behind it, their speeds for one in front, and weights of their torques.

    A force f between two of them turns the one in front by f·a and holds the other back by f·b, friction included: with
    weights in the ratio a/b all these forces drop out of the sum of the torques.
    """
    angle, speed, weight = [front], [1.0], [1.0]
    for _ in range(n):
        last = angle[-1]
        lean = math.asin((PITCH * math.cos(last) - THICK) / HEIGHT)
        along = HEIGHT * math.cos(lean) - PITCH * math.sin(last)  # from the foot to where the other touches
        speed.append(speed[-1] * along / (HEIGHT * math.cos(lean)))
        held = HEIGHT * (math.cos(lean) + MU * math.sin(lean))
        weight.append(weight[-1] * (along - MU * THICK) / held)
        angle.append(last + lean)
    return np.array(angle), np.array(speed), np.array(weight)


def theory(push: float = 4.0, dt: float = 1e-4) -> float:
    """The steady speed of the wave [m/s]: plastic hits, no slip on the table, friction MU between dominoes."""
    inertia, angle, spin, clock, hits = (HEIGHT**2 + THICK**2) / 3, 0.0, push, 0.0, []
    for n in range(COUNT):
        while angle < math.asin(GAP / HEIGHT):
            at, speed, weight = leaning(angle, n)
            torque = 0.5 * G * weight @ (HEIGHT * np.sin(at) - THICK * np.cos(at))
            bend = weight @ (leaning(angle + 1e-6, n)[1] - speed) / 1e-6  # speeds change with the angle
            spin += dt * (torque - inertia * bend * spin**2) / (inertia * weight @ speed)
            angle, clock = angle + dt * spin, clock + dt
        before = spin * leaning(angle, n)[1]
        _, speed, weight = leaning(0.0, n + 1)
        hits.append(clock - (angle - math.asin(GAP / HEIGHT)) / spin)
        angle, spin = 0.0, weight[1:] @ before / (weight @ speed)
    return float(np.mean(PITCH / np.diff(hits)[-6:]))


def picture(runs: dict[float, st.Trajectory], steady: float, path: str) -> None:
    """The row at four times, and the speed of the wave for each push."""
    from stiction.view.silhouettes import Silhouettes
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 3.4)
    grid = figure.add_gridspec(4, 2, width_ratios=(1.5, 1))
    run = next(iter(runs.values()))
    shapes = Silhouettes(run)
    for row, time in enumerate((0.0, 0.3, 0.5, 0.9)):
        axes = figure.add_subplot(grid[row, 0])
        step = int(np.argmin(np.abs(run.times - time)))
        shapes.draw(axes, step, np.array([-0.015, -0.004]), np.array([0.53, 0.056]), (1, 1))
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"{run.times[step]:.1f} s", fontsize=8, loc="left")
    axes = dress(figure.add_subplot(grid[:, 1]), x="domino", y="speed of the wave [m/s]")
    for (push, one), colour, mark in zip(runs.items(), COLOURS, "os"):
        label = f"pushed at {push:g} rad/s"
        axes.plot(range(1, COUNT), speeds(one), mark + "-", color=colour, markersize=3, linewidth=1, label=label)
    axes.axhline(steady, color="black", linestyle="--", linewidth=1, label="theory, steady wave")
    axes.set(ylim=(0, 1.1), xticks=(1, 5, 10, 15, 19))
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Two pushes, one large row, and the theory."""
    runs, steady = {push: simulate(push=push) for push in (4.0, 8.0)}, theory()
    print(f"{'theory':>18}: {steady:.3f} m/s, steady, {steady / math.sqrt(G * HEIGHT):.3f} √(g·height)")
    for push, run in runs.items():
        wave = speeds(run)
        print(f"pushed at {push:g} rad/s: {wave[-8:].mean():.3f} m/s over the last eight, {wave[0]:.2f} m/s at first")
        assert np.allclose(wave[-8:], steady, rtol=0.02)
        assert run.angle(f"domino {COUNT - 1}")[-1] < -1.5  # the last one lies
        assert np.diff(run.energy.total).max() < 1e-9 * run.energy.total[0]  # energy only falls
    large, small = simulate(scale=4.0), runs[4.0]
    same = max(np.abs(large.angle(f"domino {k}") - small.angle(f"domino {k}")).max() for k in range(COUNT))
    print(f"four times as large: twice the speed; angles after twice the time are the same to {same:.0e} rad")
    assert same < 1e-5
    if path is not None:
        picture(runs, steady, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
