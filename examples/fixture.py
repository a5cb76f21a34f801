"""A fixture: for which friction and direction of the clamp does a part come to rest before it is seated?

    python examples/fixture.py [picture.png]

"If a part comes to rest undetected before fully engaging the fixture, subsequent operations may not meet design
specifications" (ttp01, §1). A plate is clamped against two locators below it and one at its side, by a force F through
its centre of mass at an angle a below the horizontal. It comes in one of two ways:

- flat on the lower locators, short of the side: it slides home if F cos a > µ (m g + F sin a), with a strong clamp
  while a < 90° - arctan µ; steeper, it rests where it is however hard it is clamped;
- tilted, against the side and one lower locator: it turns home unless forces in both friction cones balance the
  clamp and its weight at some tilt on the way. A clamp that is too flat leaves it hanging there.
"""

import math
import sys

import numpy as np
from scipy.optimize import brentq

import stiction as st
from stiction.analysis import balances, force_acceleration, holding, jamming_bound

WIDTH, HEIGHT, ROUND = 0.06, 0.04, 0.004  # m: of the plate, and the radius of the locators
LOCATORS = {"left": (0.015, -ROUND), "right": (0.045, -ROUND), "side": (WIDTH + ROUND, 0.02)}
MASS, CLAMP, SHORT, TILT = 1.0, 100.0, 0.005, math.radians(6)  # kg, N, m, rad
NEARLY = 1e-9  # rad: a tilt of which nothing is left to turn
STEP, CLOSED, STILL = 0.001, 1e-7, 1e-6  # s, m, m/s
ON_THE_WAY = (math.radians(60), 0.40)  # a clamp, and a friction, with which a plate begins to turn and stops again


def corner(tilt: float) -> np.ndarray:
    """The lower left corner of a plate that is tilted and touches the left and the side locator; (0, 0) if seated."""
    along, up = np.array([math.cos(tilt), math.sin(tilt)]), np.array([-math.sin(tilt), math.cos(tilt)])
    left, side = np.array(LOCATORS["left"]), np.array(LOCATORS["side"])
    return (side @ along - WIDTH - ROUND) * along + (left @ up + ROUND) * up


def build(angle: float, mu: float, tilt: float = 0.0, short: float = 0.0) -> st.PlanarWorld:
    """A plate in the fixture, clamped at an angle [rad]: tilted [rad], or short of the side [m]."""
    world = st.PlanarWorld()
    world.set_material("default", friction=mu)
    for name, place in LOCATORS.items():
        world.add_body(st.Disk(ROUND), name=name, kind="fixed", position=place)
    outline = [(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)]
    place = {"position": corner(tilt) - [short, 0], "angle": tilt}
    world.add_body(st.Polygon(outline), name="plate", mass=MASS, **place)
    world.add_force("plate", CLAMP * np.array([math.cos(angle), -math.sin(angle)]))
    return world


def clamp(world: st.PlanarWorld, limit: float = 1.0) -> tuple[bool, st.State]:
    """Let the clamp act until the plate rests; whether it is seated, and its state."""
    sim = st.Simulator(world, dt=STEP, tol=1e-9)
    while sim.time < limit:
        sim.advance(20)
        if np.abs(sim.state.v).max() < STILL:
            break
    body = sim.system.body_state(world.body("plate"), sim.state.q, sim.state.v)
    return bool(np.abs(body.position).max() < 1e-5), sim.state


def flat_bound(angle: float) -> float:
    """The friction from which a plate that lies flat does not slide to the side."""
    return CLAMP * math.cos(angle) / (MASS * 9.81 + CLAMP * math.sin(angle))


def tilted_bound(angle: float, tilt: float) -> float:
    """The friction from which a tilted plate rests: both contacts are about to slide, and moments balance.

    In axes of the plate, with the load (C, -V), the left locator at (-b, -H) from the centre of mass and that at the
    side at (d, e): the normal forces are (V - µC)/(1 + µ²) and (C + µV)/(1 + µ²), and the moment about the centre of
    mass, (V - µC)(µH - b) + (C + µV)(µd + e) over 1 + µ², must not be negative: a quadratic.
    """
    along, up = np.array([math.cos(tilt), math.sin(tilt)]), np.array([-math.sin(tilt), math.cos(tilt)])
    load = np.array([CLAMP * math.cos(angle), -CLAMP * math.sin(angle) - 9.81 * MASS])
    C, V = load @ along, -load @ up
    middle = corner(tilt) + WIDTH / 2 * along + HEIGHT / 2 * up
    b, H, d = (middle - LOCATORS["left"]) @ along, HEIGHT / 2, WIDTH / 2
    e = (LOCATORS["side"] - middle) @ up
    roots = np.roots([V * d - C * H, V * (H + e) + C * (b + d), C * e - V * b])
    return float(min(root.real for root in roots if root.real > 0.0))


def by_statics(angle: float, tilt: float) -> float:
    """The same, by bisection: whether any forces in the friction cones balance the load."""
    low, high = 0.0, 1.5
    while high - low > 1e-7:
        mu = 0.5 * (low + high)
        held = balances(force_acceleration(build(angle, mu, tilt), closed=CLOSED))
        low, high = (low, mu) if held else (mu, high)
    return high


def best() -> tuple[float, float]:
    """The direction of the clamp [rad] that takes the most friction, and how much: below it, both plates seat."""
    angle = brentq(lambda a: flat_bound(a) - tilted_bound(a, NEARLY), 0.5, 1.5)
    return angle, flat_bound(angle)


def picture(path: str) -> None:
    """A plate that rests on its way, and what clamps seat over friction and direction."""
    from stiction.view.jamming import draw_planar
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(11, 4.0)
    axes = figure.add_subplot(1, 2, 1)
    angle, mu = ON_THE_WAY
    world = build(angle, mu, TILT)
    state = clamp(world)[1]
    form = force_acceleration(world, state, closed=1e-6, rest=1e-5)
    forces = form.forces(st.solve(form.problem).p)
    style = {"cones": 0.012, "arrows": 0.02, "colours": dict.fromkeys(LOCATORS, "#5c677d")}
    draw_planar(axes, world, state, closed=1e-6, forces=forces, **style)
    body = world.build().body_state(world.body("plate"), state.q, state.v)
    turn = float(body.orientation)
    c, s = math.cos(turn), math.sin(turn)
    middle = body.position + np.array([c * WIDTH - s * HEIGHT, s * WIDTH + c * HEIGHT]) / 2
    tail = middle - 0.02 * np.array([math.cos(angle), -math.sin(angle)])
    axes.annotate("", middle, tail, zorder=5, arrowprops={"arrowstyle": "-|>", "color": "white", "linewidth": 1.6})
    axes.text(tail[0] - 0.002, tail[1], "clamp", color="white", fontsize=9, ha="right", va="top")
    axes.set(xlim=(-0.01, 0.085), ylim=(-0.02, 0.06))
    said = f"at rest, {math.degrees(turn):.1f}° from its seat (put in at {math.degrees(TILT):.0f}°)"
    axes.set_title(f"{said}\nclamp at {math.degrees(angle):.0f}°, µ = {mu:g}", fontsize=9)
    axes = dress(figure.add_subplot(1, 2, 2), x="angle of the clamp below the horizontal [°]", y="friction")
    grid = np.radians(np.linspace(0.5, 89.5, 90))
    flat, first, last = (
        np.array([bound(a) for a in grid])
        for bound in (flat_bound, lambda a: tilted_bound(a, TILT), lambda a: tilted_bound(a, NEARLY))
    )
    axes.fill_between(np.degrees(grid), 0, np.minimum(flat, last), color=COLOURS[2], alpha=0.16, linewidth=0)
    axes.plot(np.degrees(grid), flat, color=COLOURS[0], label="flat: rests above")
    axes.plot(np.degrees(grid), first, color=COLOURS[1], label=f"tilted by {math.degrees(TILT):.0f}°: rests above")
    axes.plot(np.degrees(grid), last, ":", color=COLOURS[1], label="nearly seated: rests above")
    for degrees in range(5, 90, 10):
        for mu in np.arange(0.05, 0.66, 0.1):
            a = math.radians(degrees)
            ways = tuple(clamp(build(a, mu, **how))[0] for how in ({"short": SHORT}, {"tilt": TILT}))
            mark, colour = {(True, True): ("o", COLOURS[2]), (True, False): ("x", COLOURS[1]),
                            (False, True): ("_", COLOURS[0]), (False, False): ("+", "black")}[ways]  # fmt: skip
            axes.plot(degrees, mu, mark, color=colour, markersize=5)
    for mark, colour, words in (("o", COLOURS[2], "simulated: both seat"), ("x", COLOURS[1], "only the flat one seats"),
                                ("_", COLOURS[0], "only the tilted one"), ("+", "black", "neither")):  # fmt: skip
        axes.plot([], [], mark, color=colour, label=words)
    axes.set(xlim=(0, 90), ylim=(0, 0.7))
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    finish(figure, path)


def main(path: str | None = None) -> None:
    """The bounds in three directions, by closed form, statics and simulation; and the best direction."""
    print("clamp   flat rests from   tilted rests from   on its last bit from")
    for degrees in (60, 70, 80):
        angle = math.radians(degrees)
        flat, first, last = flat_bound(angle), tilted_bound(angle, TILT), tilted_bound(angle, NEARLY)
        print(f" {degrees}°       µ = {flat:.4f}         {first:.4f}              {last:.4f}")
        assert clamp(build(angle, 0.99 * flat, short=SHORT))[0]
        assert not clamp(build(angle, 1.01 * flat, short=SHORT))[0]
        assert clamp(build(angle, 0.99 * last, TILT))[0]
        stuck, state = clamp(build(angle, 1.01 * first, TILT))
        assert not stuck
        assert np.allclose(state.q, build(angle, 0.0, TILT).build().initial_state().q, atol=1e-6)
    assert abs(by_statics(angle, TILT) - first) < 1e-6
    world = build(*ON_THE_WAY, TILT)
    seated, state = clamp(world)
    turn = float(world.build().body_state(world.body("plate"), state.q, state.v).orientation)
    held = holding(world, state, closed=1e-6, rest=1e-5)[0]
    wedge = jamming_bound(world, state, closed=1e-6).value
    angle, mu = ON_THE_WAY
    print(f"between: at {math.degrees(angle):.0f}° with µ = {mu} it stops {math.degrees(turn):.2f}° short of its seat")
    print(
        f"  not wedged (that takes µ = {wedge:.2f}), but held by its clamp, against any pull below {held.least:.1f} N"
    )
    assert not seated
    assert 0.1 < math.degrees(turn) < 5.0
    assert ON_THE_WAY[1] < wedge
    angle, mu = best()
    print(f"best: a clamp at {math.degrees(angle):.1f}° seats plates that come in both ways up to µ = {mu:.3f}")
    assert all(clamp(build(angle, 0.98 * mu, **how))[0] for how in ({"short": SHORT}, {"tilt": TILT}))
    if path is not None:
        picture(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
