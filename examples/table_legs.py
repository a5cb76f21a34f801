"""What does each leg of a table carry? Rigid legs leave it open; legs that give way, however little, do not.

    python examples/table_legs.py

A table of 4 kg with its centre of mass off the middle stands on four legs. Any loads that balance its weight obey the
laws of rigid contact, and which ones a solver returns is its own affair. With a compliance at the contacts the loads
are those of equal springs, W/4·(1 + e_x x/a² + e_y y/b²), whatever the solver and however stiff they are.
"""

import numpy as np

import stiction as st

A, B, E = 0.6, 0.4, (0.2, 0.1)  # legs at (±A, ±B), centre of mass over E [m]


def table(compliance: object) -> st.World:
    """The table on its floor."""
    world = st.World()
    legs = [st.Sphere(0.05, position=(x, y, 0.05)) for x in (-A, A) for y in (-B, B)]
    world.add_body(legs, mass=4.0, inertia=(1.0, 1.0, 1.5), com=(*E, 0.5), name="table")
    world.add_plane(name="floor")
    world.set_contact("table", "floor", friction=0.5, compliance=compliance)
    return world


def loads(world: st.World, solver: str) -> np.ndarray:
    """(4,) loads after half a second [N], in the order of the legs."""
    simulator = st.Simulator(world, 0.01, solver=solver)
    simulator.advance(50)
    contacts = simulator.contacts
    return contacts.impulse[np.argsort(2 * (contacts.point[:, 0] > 0) + (contacts.point[:, 1] > 0)), 0] / 0.01


def main() -> None:
    """Print the loads, and check those of legs that give way."""
    x, y = np.repeat([-A, A], 2), np.tile([-B, B], 2)
    springs = 0.25 * 4.0 * 9.81 * (1.0 + E[0] * x / A**2 + E[1] * y / B**2)
    print("legs at (-,-), (-,+), (+,-), (+,+)   [N]")
    print(f"equal springs        {np.round(springs, 3)}")
    for solver in ("nsgs", "newton", "proximal"):
        print(f"rigid, {solver:9}     {np.round(loads(table(None), solver), 3)}")
    for solver in ("nsgs", "newton", "proximal"):
        given = loads(table(st.Compliance(kn=1e7, gamma_n=2e5)), solver)
        print(f"1e7 N/m, {solver:9}   {np.round(given, 3)}")
        assert np.allclose(given, springs, rtol=1e-3)


if __name__ == "__main__":
    main()
