"""A flywheel behind a gear box with dry friction, no contact in sight (st96 §3.5): it stops, and then it stays."""

import numpy as np

import stiction as st


def main() -> st.Trajectory:
    """Run the flywheel down: inertia 0.5 kg m², friction moment 2 N m, from 8 rad/s; it stops after J ω / T = 2 s."""
    flywheel = st.GeneralizedSystem(
        mass=[[0.5]],
        q=[0.0],
        v=[8.0],
        friction=[st.DryFriction([1.0], bound=2.0, name="gear box")],
        names=("angle",),
    )
    run = st.Simulator(flywheel, dt=0.01).run(3.0)
    stopped = run.times[np.flatnonzero(run["v_angle"])[-1] + 1]
    print(f"stopped after {stopped:.3f} s and {run['angle'][-1]:.4f} rad; the closed form says 2 s and 8 rad")
    assert abs(stopped - 2.0) < 0.011
    assert not run["v_angle"][run.times > 2.02].any()  # exactly zero: it does not creep
    return run


if __name__ == "__main__":
    main()
