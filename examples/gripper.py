"""A gripper squeezes a box and lifts it: how hard must it squeeze?

    python examples/gripper.py [picture.png]

Two fingers on a carriage close with motors of bounded force S, and a motor lifts the carriage with a bounded force B up
to a speed. While it speeds up, everything that is held together goes up with a = B/(all masses) - g. Friction
at two fingers carries the box without a slip if 2 µ S >= m (g + a), and carries it at all if 2 µ S >= m g: in between
the box slips at first, and is carried when the carriage has reached its speed.
"""

import math
import sys
from collections.abc import Callable

import numpy as np

import stiction as st

BOX, FINGER, CARRIAGE = 0.5, 0.1, 0.4  # kg
SIDE, PAD = 0.06, (0.012, 0.09)  # m: of the box, and width and height of a finger
MU, LIFT, SPEED = 0.4, 15.0, 0.3  # friction, N, m/s: of the lift
STEP = 0.002  # s
ALL = BOX + 2 * FINGER + CARRIAGE
CARRIES = BOX * 9.81 / (2 * MU)  # N: the squeeze that carries the box, and the one that does so without a slip
HOLDS = BOX * LIFT / ALL / (2 * MU)


def build(squeeze: float, mu: float = MU) -> st.PlanarWorld:
    """A box on the floor between the fingers; squeeze [N] bounds the force of each finger."""
    world = st.PlanarWorld()
    world.set_material("default", friction=mu)
    world.add_half_plane(name="floor")
    world.add_body(st.Polygon.box(SIDE, SIDE), name="box", mass=BOX, position=(0, SIDE / 2))
    world.add_body(st.Polygon.box(0.16, 0.02), name="carriage", mass=CARRIAGE, position=(0, 0.11))
    lift = st.Motor(speed=SPEED, bound=LIFT)
    world.add_joint(st.Prismatic("carriage", None, anchor=(0, 0.11), axis=(0, 1), motor=lift, name="lift"))
    for name, side in (("left", -1), ("right", 1)):
        place = (side * (SIDE + PAD[0]) / 2, 0.01 + PAD[1] / 2)
        world.add_body(st.Polygon.box(*PAD), name=name, mass=FINGER, position=place)
        slide = {"anchor": place, "axis": (-side, 0), "motor": st.Motor(speed=0.1, bound=squeeze)}
        world.add_joint(st.Prismatic(name, "carriage", name=f"{name} slide", **slide))
    return world


def lifted(squeeze: float, mu: float = MU, duration: float = 0.1) -> tuple[float, float]:
    """How far the box has risen, and how far the fingers have slipped along it [m]."""
    world = build(squeeze, mu)
    sim = st.Simulator(world, dt=STEP, tol=1e-10)

    def heights() -> np.ndarray:
        bodies = (sim.system.body_state(world.body(name), sim.state.q, sim.state.v) for name in ("box", "left"))
        return np.array([body.position[1] for body in bodies])

    before = heights()
    sim.advance(round(duration / STEP))
    box, finger = heights() - before
    return box, finger - box


def threshold(enough: Callable[[float], bool], low: float, high: float, close: float = 1e-3) -> float:
    """The least squeeze [N] that is enough, by bisection."""
    while high - low > close:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 0.5 * (low + high)


def picture(path: str) -> None:
    """The end of three lifts, and how the box comes up with the carriage, or not."""
    from stiction.view.jamming import draw_planar
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(10, 4.6)
    grid = figure.add_gridspec(2, 3, height_ratios=(1.3, 1))
    chart = dress(figure.add_subplot(grid[1, :]), y="height [mm]")
    for column, share in enumerate((0.9, 1.15, 1.02 * HOLDS / CARRIES)):
        squeeze = share * CARRIES
        world = build(squeeze)
        run = st.Simulator(world, dt=STEP).run(0.35, progress=False)
        axes = figure.add_subplot(grid[0, column])
        colours = {"box": COLOURS[(1, 3, 2)[column]], "carriage": "#5c677d", "left": "#5c677d", "right": "#5c677d"}
        draw_planar(axes, world, st.State(run.times[-1], run.q[-1], run.v[-1]), colours=colours)
        axes.set(xlim=(-0.13, 0.13), ylim=(-0.01, 0.25))
        words = ("is left behind", "slips, then is carried", "is carried without a slip")[column]
        axes.set_title(f"S = {squeeze:.2f} N: {words}", fontsize=9)
        height = 1000 * (run.position("box")[:, 1] - SIDE / 2)
        chart.plot(run.times, height, color=colours["box"], label=f"box, S = {squeeze:.2f} N")
        if column == 2:
            carriage = 1000 * (run.position("carriage")[:, 1] - 0.11)
            chart.plot(run.times, carriage, ":", color="black", label="its carriage")
    chart.legend(frameon=False, fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Both thresholds, by bisection over simulations, beside their closed forms."""
    rise = math.sqrt(np.finfo(float).eps)  # m: more than that is a motion
    carries = threshold(lambda squeeze: lifted(squeeze)[0] > rise, 0.5 * CARRIES, 2 * CARRIES)
    holds = threshold(lambda squeeze: abs(lifted(squeeze)[1]) < rise, 0.5 * CARRIES, 2 * HOLDS)
    print(f"the box comes up    from S = {carries:.3f} N on;  m g / 2µ       = {CARRIES:.3f} N")
    print(f"and without a slip  from S = {holds:.3f} N on;  m (g + a) / 2µ = {HOLDS:.3f} N")
    assert abs(carries / CARRIES - 1) < 1e-3
    assert abs(holds / HOLDS - 1) < 1e-3
    for mu in (0.2, 0.8):
        need = HOLDS * MU / mu
        assert abs(lifted(1.001 * need, mu)[1]) < rise < lifted(0.999 * need, mu)[1]
    if path is not None:
        picture(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
