"""Compile what most tests use before they start, two processes at a time: `python tests/warm.py`.

The workers of pytest begin with a cold cache at the same moment, and would compile the same kernels side by side for
minutes. Here the solver's are compiled beside those that find contacts, which share nothing, and then the loop of
worlds in space beside that of worlds in the plane, which rest on both. Where the cache is warm this takes seconds.
"""

from __future__ import annotations

import subprocess
import sys
import time

STAGES = (("solver", "contacts"), ("space", "plane"))


def solver():
    """Block Gauss–Seidel for one contact in space and in the plane, and Lemke's method."""
    import numpy as np

    from stiction.cli.compile import solve_something
    from stiction.lcp import lemke

    solve_something(3)
    solve_something(2)
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

    loop.FEW = 0
    for world in which:
        st.Simulator(world, 0.01, on_failure="continue").advance(2)


def space():
    """The compiled loop of worlds in space, without and with curved shapes."""
    loops([worlds(curved=False)[0], worlds(curved=True)[0]])


def plane():
    """The compiled loop of worlds in the plane, and a step of the other schemes."""
    import stiction as st

    world = worlds(curved=False)[1]
    loops([world])
    for scheme in (st.StewartTrinkle(), st.Moreau(), st.TzitzourisPang()):
        st.Simulator(world, 0.01, scheme=scheme, on_failure="continue").step()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"solver": solver, "contacts": contacts, "space": space, "plane": plane}[sys.argv[1]]()
        sys.exit()
    start = time.monotonic()
    for stage in STAGES:
        jobs = [subprocess.Popen([sys.executable, "-W", "ignore", __file__, name]) for name in stage]
        failed = [job.wait() for job in jobs]
        if any(failed):
            sys.exit(1)
    print(f"kernels of most tests: compiled or found in {time.monotonic() - start:.0f} s")
