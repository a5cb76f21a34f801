"""Compile what most tests use before they start, in two processes that share little: `python tests/warm.py`.

The workers of pytest begin with a cold cache at the same moment, and would compile the same kernels side by side for
minutes: those of worlds in space and those of worlds in the plane. Where the cache is warm this takes seconds.
"""

from __future__ import annotations

import subprocess
import sys
import time


def space():
    """The compiled loop of worlds in space, with every pair of rounded cores, and with curved shapes."""
    import stiction as st
    from stiction.simulation import loop

    loop.FEW = 0
    for shapes in ([st.Sphere(0.1), st.Box((0.2, 0.2, 0.2))], [st.Ellipsoid((0.1, 0.2, 0.1)), st.Cylinder(0.1, 0.2)]):
        world = st.World()
        world.add_plane()
        for i, shape in enumerate(shapes):
            world.add_body(shape, mass=1.0, position=(0.05 * i, 0.0, 0.12 + 0.15 * i))
        st.Simulator(world, 0.01, on_failure="accept").advance(2)


def plane():
    """The compiled loop of worlds in the plane, Lemke's method, and a step of every scheme in plane and space."""
    import stiction as st
    from stiction.simulation import loop

    loop.FEW = 0
    world = st.PlanarWorld()
    world.add_plane()
    world.add_body(st.Disk(0.1), mass=1.0, position=(0.0, 0.1))
    world.add_body(st.Polygon.box(0.2, 0.2), mass=1.0, position=(0.02, 0.3))
    st.Simulator(world, 0.01, on_failure="accept").advance(2)
    for scheme in (st.StewartTrinkle(), st.Moreau(), st.TzitzourisPang()):
        st.Simulator(world, 0.01, scheme=scheme, on_failure="accept").step()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"space": space, "plane": plane}[sys.argv[1]]()
        sys.exit()
    start = time.monotonic()
    jobs = [subprocess.Popen([sys.executable, "-W", "ignore", __file__, name]) for name in ("space", "plane")]
    failed = [job.wait() for job in jobs]
    print(f"kernels of most tests: compiled or found in {time.monotonic() - start:.0f} s")
    sys.exit(max(map(abs, failed)))
