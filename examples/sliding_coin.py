"""A hoop and a coin slide and spin on a table: whatever their start, both motions stop together, in a fixed ratio.

    python examples/sliding_coin.py [picture.png]

Friction at each spot of contact points against the slip there, so slide and spin take each other's resistance: fast
sliding lets the body spin almost freely, and the other way round. For a hoop (all weight on its rim) v/(R w) tends to
1, for a coin that presses evenly on the table to 0.653. The spots are blocks of dry friction, each bounded by
mu m g/n. Friction does not depend on the size of the slip, so the motion at a tenth of the speed is the same in a tenth
of the time: the step is cut as the body slows down, and the approach can be followed over many decades.
"""

import sys

import numpy as np

import stiction as st

MU, G, RADIUS, MASS = 0.3, 9.81, 0.1, 0.5
LIMITS = {"hoop": 1.0, "coin": 0.653}
STARTS = ((1.0, 0.1), (1.0, 0.5), (0.1, 1.0))  # v and R w [m/s]


def hoop(spots: int = 24) -> tuple[np.ndarray, float]:
    """Spots (n, 2) on the rim [m], and the moment of inertia [kg m²]."""
    angle = 2 * np.pi * np.arange(spots) / spots
    return RADIUS * np.column_stack([np.cos(angle), np.sin(angle)]), MASS * RADIUS**2


def coin(rings: int = 6) -> tuple[np.ndarray, float]:
    """Spots of equal area on rings, 6, 18, 30 ... of them, 6·rings² in all; and the moment of inertia."""
    parts = []
    for j in range(1, rings + 1):
        angle = 2 * np.pi * (np.arange(6 * (2 * j - 1)) + 0.5) / (6 * (2 * j - 1)) + 0.37 * j  # no spokes
        parts.append(np.sqrt((j**2 + (j - 1) ** 2) / 2) / rings * np.column_stack([np.cos(angle), np.sin(angle)]))
    return RADIUS * np.vstack(parts), 0.5 * MASS * RADIUS**2


def sliding(spots: np.ndarray, inertia: float, q, v) -> st.GeneralizedSystem:
    """The body in coordinates x, y, angle, with a block of dry friction at each spot."""

    def rub(x: float, y: float) -> st.DryFriction:
        def rows(q):
            c, s = np.cos(q[2]), np.sin(q[2])
            return np.array([[1.0, 0.0, -(s * x + c * y)], [0.0, 1.0, c * x - s * y]])

        return st.DryFriction(rows, MU * MASS * G / len(spots))

    return st.GeneralizedSystem(
        np.diag([MASS, MASS, inertia]), q=q, v=v, friction=[rub(x, y) for x, y in spots], names=("x", "y", "angle")
    )


def slow_down(spots: np.ndarray, inertia: float, v: float, rim: float, down: float = 1e-8) -> np.ndarray:
    """(n, 3) speed, rim speed R w, and their ratio after each step, until the body has lost all but `down` of them."""
    q, state = np.zeros(3), np.array([v, 0.0, rim / RADIUS])
    found = []
    while True:
        speed = np.hypot(state[0], state[1]) + RADIUS * abs(state[2])
        if speed <= down * (v + rim):
            return np.array(found)
        sim = st.Simulator(
            sliding(spots, inertia, q, state), dt=speed / (10 * MU * G), tol=1e-9, scheme=st.AnitescuHart()
        )
        for _ in range(4):
            sim.step()
            q, state = sim.state.q, sim.state.v
            slide, spin = float(np.hypot(state[0], state[1])), RADIUS * abs(state[2])
            found.append((slide, spin, slide / spin))


def main(picture: str | None = None) -> None:
    """Follow a hoop and a coin from three starts; with a path, draw the ratio against the speed."""
    histories = {}
    for name, body in (("hoop", hoop()), ("coin", coin())):
        for v, rim in STARTS:
            history = histories[name, v, rim] = slow_down(*body, v, rim)
            print(
                f"{name}, {len(body[0])} spots: v/(R w) = {v / rim:5.1f} at the start, {history[-1, 2]:.4f} at the end"
            )
            assert abs(history[-1, 2] - LIMITS[name]) < 0.01
    if picture is not None:
        draw(histories).savefig(picture, dpi=110)


def draw(histories: dict):
    """v/(R w) against the speed that is left."""
    from stiction.view.style import COLOURS, dress, new_figure

    figure = new_figure(8, 4.2)
    axes = dress(figure.add_subplot(), x="v + R w [m/s], falling", y="v/(R w)", title="Slide and spin stop together")
    for (name, v, rim), history in histories.items():
        colour = COLOURS[list(LIMITS).index(name)]
        speed = np.append(v + rim, history[:, 0] + history[:, 1])
        axes.loglog(speed, np.append(v / rim, history[:, 2]), ".-", markersize=3, linewidth=0.9, color=colour)
    for (name, limit), colour in zip(LIMITS.items(), COLOURS):
        axes.axhline(limit, color=colour, linestyle=":", linewidth=1.2, label=f"{name}: {limit:g}")
    axes.invert_xaxis()
    axes.legend(frameon=False, fontsize=9)
    return figure


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
