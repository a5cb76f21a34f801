"""Compile what most tests use before they start, two processes at a time: `python tests/warm.py`.

The workers of pytest begin with a cold cache at the same moment, and would compile the same kernels side by side for
minutes. Here one process compiles the solver's and then the loop of worlds in space, beside another for those that find
contacts, and then the loop of worlds in the plane; both loops rest on both, and find on disk what the other process has
compiled by then. Where the cache is warm this takes seconds.
"""

from __future__ import annotations

import subprocess
import sys
import time

CHAINS = (("solver", "space"), ("contacts", "pivoting", "plane", "curved"))


def solver():
    """Block Gauss–Seidel for one contact in the plane, which the other process will need first, and in space."""
    from stiction.cli.compile import solve_something

    solve_something(2)
    solve_something(3)


def pivoting():
    """Lemke's method."""
    import numpy as np

    from stiction.lcp import lemke

    lemke(np.eye(2), -np.ones(2))


def worlds(curved):
    """A world in space and one in the plane, each with bodies that touch."""
    import stiction as st

    space, plane = st.World(), st.PlanarWorld()
    cores, others = [st.Sphere(0.1), st.Box((0.2,) * 3)], [st.Ellipsoid((0.1, 0.2, 0.1)), st.Cylinder(0.1, 0.2)]
    for i, shape in enumerate(others if curved else cores):
        space.add_body(shape, mass=1.0, position=(0.05 * i, 0.0, 0.12 + 0.15 * i))
    for i, shape in enumerate([st.Disk(0.1), st.Polygon.box(0.2, 0.2)]):
        plane.add_body(shape, mass=1.0, position=(0.02 * i, 0.1 + 0.2 * i))
    space.add_plane()
    plane.add_plane()
    return space, plane


def contacts():
    """Contacts of worlds in space and in the plane: found, measured, with their rows."""
    for world in (*worlds(curved=False), worlds(curved=True)[0]):
        model = world.build()
        state = model.initial_state()
        found = model.detect(state.t, state.q, 0.1)
        model.gaps(found, state.t, state.q)
        dynamics = model.dynamics(state.q, model.evaluate(found, state.t, state.q))
        model.move(state.q, model.push(dynamics, state, 0.01, state.t, state.q), 0.01)


def loops(which):
    """Two steps of the compiled loop."""
    import stiction as st
    from stiction.simulation import loop

    loop.COMPILE_MIN_STEPS = 0
    for world in which:
        st.Simulator(world, 0.01, on_failure="continue").advance(2)


def space():
    """The compiled loop of worlds in space."""
    loops([worlds(curved=False)[0]])


def curved():
    """Steps of curved shapes."""
    loops([worlds(curved=True)[0]])


def plane():
    """The compiled loop of worlds in the plane, and a step of the other schemes."""
    import stiction as st

    world = worlds(curved=False)[1]
    loops([world])
    for scheme in (st.StewartTrinkle(), st.Moreau(), st.TzitzourisPang()):
        st.Simulator(world, 0.01, scheme=scheme, on_failure="continue").step()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            globals()[name]()
        sys.exit()
    start = time.monotonic()
    jobs = [subprocess.Popen([sys.executable, "-W", "ignore", __file__, *chain]) for chain in CHAINS]
    failed = [job.wait() for job in jobs]
    if any(failed):
        sys.exit(1)
    print(f"kernels of most tests: compiled or found in {time.monotonic() - start:.0f} s")
