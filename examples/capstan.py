"""A chain around a turning drum: friction multiplies its tension, by e^{µθ} for an angle θ (Euler 1762).

    python examples/capstan.py [picture.png]

One end of the chain is pulled with 1 N, the other is tied to a wall and holds against the drum, which slips under the
chain. Between two pins β apart a link pulls at half that angle, so each pin has N = (T + T') sin β/2 and
µN = (T' - T) cos β/2: the tension grows by (1 + µ tan β/2)/(1 - µ tan β/2) from link to link, which tends to e^{µβ}
as the links get shorter. The links of the example are read off one by one.
"""

import math
import sys

import numpy as np

import stiction as st

RADIUS, PIN = 1.0, 0.05  # of the drum and of the pins [m]
MU, TURN, PINS = 0.25, math.pi / 12, 36  # friction, angle between two pins [rad], their number: 1.5 turns
PULL = 1.0  # at the slack end [N]


def build() -> st.PlanarWorld:
    """The pins of the chain around the drum, from the wall on; side plates let none of them turn."""
    world = st.PlanarWorld(gravity=(0, 0))
    world.set_material("default", friction=MU)
    motion = st.Rotation(rate=1.0)
    world.add_body(st.Disk(RADIUS), kind="kinematic", motion=motion, name="drum")
    places = [(RADIUS + PIN) * np.array([math.cos(k * TURN), math.sin(k * TURN)]) for k in range(PINS)]
    for k, place in enumerate(places):
        world.add_body(st.Disk(PIN), mass=0.1, inertia=1e6, position=place, group="chain", name=f"pin {k}")
    ahead, back = (np.array([-math.sin(a), math.cos(a)]) for a in ((PINS - 0.5) * TURN, -0.5 * TURN))
    wall = places[0] - 0.5 * back
    world.add_joint(st.Rope("pin 0", None, anchor_a=places[0], anchor_b=wall, name="link 0"))
    for k in range(1, PINS):
        a, b = places[k], places[k - 1]
        world.add_joint(st.Rope(f"pin {k}", f"pin {k - 1}", anchor_a=a, anchor_b=b, name=f"link {k}"))
    world.add_force(f"pin {PINS - 1}", PULL * ahead)
    return world


def tensions(run: st.Trajectory) -> np.ndarray:
    """(PINS + 1,) of the links at the end of a run [N], from the wall on."""
    return np.array([*(run.joint(f"link {k}").force[-1, 0] for k in range(PINS)), PULL])


def picture(run: st.Trajectory, path: str) -> None:
    """The chain, as thick as it is tense, and its tension over the angle."""
    from matplotlib.patches import Circle

    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 3.6)
    axes = figure.add_subplot(1, 2, 1)
    axes.add_patch(Circle((0, 0), RADIUS, color="#ced4da"))
    tense, turns = tensions(run), TURN * np.arange(PINS)
    coil = (RADIUS + PIN + 0.02 * turns)[:, None] * np.column_stack([np.cos(turns), np.sin(turns)])  # to be seen
    wall, ahead = (0.5 * np.array([-math.sin(a), math.cos(a)]) for a in (-0.5 * TURN, (PINS - 0.5) * TURN))
    way = np.vstack([coil[0] - wall, coil, coil[-1] + ahead])
    for a, b, force in zip(way, way[1:], tense):
        axes.plot(*np.array([a, b]).T, color=COLOURS[0], linewidth=0.6 * force, solid_capstyle="butt")
    axes.plot(*coil.T, "o", color="black", markersize=2.5)
    axes.annotate("", way[-1] + ahead, way[-1], arrowprops={"arrowstyle": "->"})
    axes.text(*(way[-1] + 0.5 * ahead - [0.1, 0]), f"{PULL:g} N", ha="right", va="center")
    axes.text(way[0][0] + 0.1, way[0][1], "wall", va="center")
    axes.annotate("", (0.5, 0), (0, 0.5), arrowprops={"arrowstyle": "<-", "connectionstyle": "arc3,rad=0.4"})
    axes.set(xlim=(-2.0, 1.7), ylim=(-1.5, 1.5), aspect="equal")
    axes.set_axis_off()
    axes = dress(figure.add_subplot(1, 2, 2), x="angle from the slack end [turns]", y="tension [N]")
    wrapped = TURN * np.arange(PINS + 1)
    axes.semilogy(wrapped / (2 * math.pi), tense[::-1], "o", color=COLOURS[0], markersize=4, label="read off the links")
    axes.semilogy(wrapped / (2 * math.pi), PULL * np.exp(MU * wrapped), "--", color="black", label="$e^{µθ}$")
    axes.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    axes.minorticks_off()
    axes.legend(frameon=False)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Let the drum turn under the chain, and read the links."""
    run = st.Simulator(build(), dt=0.005, tol=1e-9).run(0.2)
    tense, t = tensions(run), MU * math.tan(TURN / 2)
    step = (1 + t) / (1 - t)
    print(f"from link to link the tension grows by {(tense[0] / PULL) ** (1 / PINS):.9f}; closed form {step:.9f}")
    print(f"{PINS} pins on {PINS * TURN / (2 * math.pi):g} turns: {tense[0]:.4f} N hold {PULL:g} N; "
          f"closed form {PULL * step**PINS:.4f}, Euler's limit {PULL * math.exp(MU * PINS * TURN):.4f}")  # fmt: skip
    assert np.allclose(tense[:-1] / tense[1:], step, rtol=1e-7)
    moved = max(float(np.abs(np.ptp(run.position(f"pin {k}"), axis=0)).max()) for k in range(PINS))
    assert moved < 1e-9  # the chain stays where it is
    if path is not None:
        picture(run, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
