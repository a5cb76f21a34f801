"""A ball is thrown at a tower of boxes: a world in ten lines, events, forces and the certificate.

python examples/ball_and_tower.py [picture.png]
"""

import sys

import numpy as np

import stiction as st


def main(path: str | None = None) -> st.Trajectory:
    """Run the scene; the tower falls, the ball comes to rest against the floor."""
    world = st.World()
    world.set_material("default", friction=st.Coulomb(0.4))
    floor = world.add_plane(name="floor")
    ball = world.add_body(st.Sphere(0.1), mass=5.0, position=(-1, 0, 0.25), velocity=(6, 0, 1), name="ball")
    for i in range(5):
        world.add_body(st.Box((0.2, 0.2, 0.2)), density=500.0, position=(0, 0, 0.1 + 0.2 * i), name=f"box {i}")
    run = st.Simulator(world, dt=0.005).run(1.5)
    hit = next(e for e in run.events if e.contact.startswith("ball/box"))
    print(hit)
    print(f"top box ends at {run.position('box 4')[-1].round(3)} m, started at [0, 0, 0.9]")
    print(run.certificate)
    # the ball rests or rolls on the floor, which carries its weight, and every step met its tolerance
    assert np.isclose(run.force(ball, floor)[-1, 2], 5.0 * 9.81, rtol=1e-4)
    assert run.success
    assert run.certificate.worst["penetration"] < 2e-3
    if path is not None:
        run.plot("frames", path=path)
    return run


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
