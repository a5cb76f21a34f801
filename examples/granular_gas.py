"""A granular gas cools: smooth spheres that lose a little at every collision, between elastic walls.

    python examples/granular_gas.py [picture.png]

With coefficient of restitution e the energy falls as T₀/(1 + t/τ)² (Haff, 1983); kinetic theory gives τ. With e = 1 it
stays, to round-off, however many collisions there are.
"""

import sys

import numpy as np

import stiction as st

RADIUS, FILL, STEP = 0.05, 0.1, 0.004


def gas(side: int, e: float) -> st.World:
    """side³ spheres of 1 kg on a lattice in a closed box, with random velocities of about 1 m/s in each direction."""
    edge = inner_edge(side) + 2 * RADIUS
    world = st.World(gravity=(0, 0, 0))
    world.set_material("sphere", friction=0.0, restitution=e)
    world.set_material("wall", friction=0.0, restitution=1.0)
    world.set_contact("sphere", "wall", restitution=1.0)
    for normal in np.vstack([np.eye(3), -np.eye(3)]):
        world.add_plane(normal=tuple(normal), offset=-edge / 2, material="wall")
    line = ((np.arange(side) + 0.5) / side - 0.5) * edge
    places = np.array(np.meshgrid(line, line, line)).reshape(3, -1).T
    velocities = np.random.default_rng(0).normal(size=places.shape)
    for place, velocity in zip(places, velocities - velocities.mean(axis=0)):
        world.add_body(st.Sphere(RADIUS), mass=1.0, position=tuple(place), velocity=tuple(velocity), material="sphere")
    return world


def inner_edge(side: int) -> float:
    """The edge of the box in which centres can be, of which the spheres fill FILL [m]."""
    return side * (4 / 3 * np.pi * RADIUS**3 / FILL) ** (1 / 3)


def haff_time(side: int, e: float, energy: float) -> float:
    """τ = 6/((1 - e²) ω₀) by Enskog's collision frequency ω₀ [s]; near walls there are fewer partners."""
    sigma, edge = 2 * RADIUS, inner_edge(side)
    close = (1 - FILL / 2) / (1 - FILL) ** 3
    left = 1 - 1.5 * sigma / edge + 2 / np.pi * (sigma / edge) ** 2
    temperature = 2 * energy / (3 * side**3)
    return 6 / ((1 - e**2) * 4 * np.sqrt(np.pi * temperature) * (side / edge) ** 3 * sigma**2 * close * left)


def cool(side: int, e: float, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and energies [J]."""
    run = st.Simulator(gas(side, e), dt=STEP, scheme=st.Moreau(), tol=1e-10).run(duration)
    return run.times, run.energy.total


def draw(path: str) -> None:
    """Energies of 512 spheres for three coefficients against Haff's law."""
    from stiction.view.style import COLOURS, dress, finish, new_figure

    figure = new_figure(8, 4.4)
    axes = dress(figure.add_subplot(), y="energy over its first value", title="512 spheres in a box, and Haff's law")
    for colour, e in zip(COLOURS, (1.0, 0.95, 0.9, 0.8)):
        times, energy = cool(8, e, 5.0)
        axes.semilogy(times, energy / energy[0], color=colour, label=f"e = {e:g}")
        if e < 1:
            haff = (1 + times / haff_time(8, e, energy[0])) ** -2.0
            axes.semilogy(times, haff, color=colour, linestyle="--", linewidth=1.0)
    axes.plot([], [], color="black", linestyle="--", linewidth=1.0, label="Haff's law, kinetic theory")
    axes.legend(frameon=False, fontsize=8)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Cool a small gas, and keep another."""
    times, energy = cool(4, 0.8, 1.2)
    tau = haff_time(4, 0.8, energy[0])
    left, law = energy[-1] / energy[0], (1 + times[-1] / tau) ** -2
    print(f"64 spheres, e = 0.8: {left:.3f} of the energy is left after {times[-1]:g} s; Haff's law says {law:.3f}")
    assert abs(left / law - 1) < 0.25
    _, kept = cool(4, 1.0, 0.4)
    print(f"e = 1: the energy changes by {np.abs(kept / kept[0] - 1).max():.0e}")
    assert np.abs(kept / kept[0] - 1).max() < 1e-9
    if path is not None:
        draw(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
