"""A chain of five rods on hinges swings in the plane: joints, their forces, and how well they hold together.

python examples/chain.py [picture.png]
"""

import sys

import numpy as np

import stiction as st

LENGTH = 0.3


def main(path: str | None = None) -> st.Trajectory:
    """Release the chain from horizontal and watch it for two seconds."""
    world = st.PlanarWorld()
    previous, hinges = None, []
    for i in range(5):
        rod = world.add_body(
            st.Rod(0.02, LENGTH), density=50.0, position=((i + 0.5) * LENGTH, 0), name=f"rod {i}", group="chain"
        )
        hinges.append(world.add_joint(st.Revolute(rod, previous, anchor=(i * LENGTH, 0), name=f"hinge {i}")))
        previous = rod
    run = st.Simulator(world, dt=0.001).run(2.0)
    load = np.linalg.norm(run.joint(hinges[0]).impulse[:, :2], axis=1) / 0.001
    weight = 9.81 * sum(spec.mass for spec in world.bodies)
    print(f"largest force in the first hinge: {load.max():.2f} N, {load.max() / weight:.2f} times the chain's weight")
    print(f"largest gap in a hinge: {run.certificate.worst['joint_drift']:.1e} m")
    loss = run.energy.total[0] - run.energy.total[-1]
    print(f"energy lost to the scheme: {loss:.4f} J of {run.energy.kinetic.max():.3f} J")
    assert run.certificate.worst["joint_drift"] < 5e-4
    assert load.max() > weight
    if path is not None:
        run.plot("frames", path=path)
    return run


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
