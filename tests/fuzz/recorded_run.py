"""A recorded run in a process of its own, to be killed: `python recorded_run.py FILE SECONDS|resume`."""

import os
import sys

import stiction as st


def spheres(count=24):
    """Spheres that fall on a plane and on each other, a few with joints."""
    world = st.World()
    world.set_material("default", friction=st.Coulomb(0.4))
    world.add_plane()
    for k in range(count):
        i, j, layer = k % 3, k // 3 % 2, k // 6
        place = (0.21 * i + 0.01 * layer, 0.21 * j, 0.12 + 0.22 * layer)
        world.add_body(st.Sphere(0.1), mass=1.0, position=place, velocity=(0.5, 0.0, 0.0), name=f"ball {k}")
    world.add_joint(st.Distance("ball 0", "ball 1", anchor_a=(0.0, 0.0, 0.12), anchor_b=(0.21, 0.0, 0.12)))
    return world


def simulator():
    """The simulator of the kill test."""
    return st.Simulator(spheres(), 0.002, tol=1e-8)


DURATION, EVERY = 6.0, 2


def tell(steps, result, between):
    """Say that a frame was recorded."""
    os.write(1, f"{result.state.t!r}\n".encode())


if __name__ == "__main__":
    if sys.argv[2] == "resume":
        simulator().resume(sys.argv[1], progress=tell)
    else:
        simulator().run(float(sys.argv[2]), every=EVERY, record=sys.argv[1], progress=tell)
