"""Painlevé's rod (pr11 §2–4): a contact problem in which force and acceleration have no solution, but a step has."""

import numpy as np

import stiction as st

MASS, LENGTH, ANGLE, MU, GRAVITY, SPEED = 1.0, 2.0, np.pi / 3, 1.5, 1.0, -1.0
INERTIA = MASS * LENGTH**2 / 12
M = np.diag([MASS, MASS, INERTIA])
ARM = 0.5 * LENGTH * np.array([-np.cos(ANGLE), -np.sin(ANGLE)])
NORMAL, TANGENT = np.array([0.0, 1.0, ARM[0]]), np.array([1.0, 0.0, -ARM[1]])


def main() -> np.ndarray:
    """Pose both problems and enumerate their solutions; returns the impulse of the step (normal, tangential)."""
    sliding = st.ContactProblem(  # friction µN against the slip: the force acts along G, the acceleration is along H
        st.Dense(M, [NORMAL], [NORMAL - MU * np.sign(SPEED) * TANGENT]),
        b=[-GRAVITY],
        row_ptr=[0, 1],
        law=[st.Law.UNILATERAL],
    )
    form = sliding.to_lcp()
    none = st.lcp.solutions(form.M, form.q)
    print(f"force-acceleration: {len(none)} solutions (complete: {none.complete})")

    h = 0.01
    step = st.ContactProblem(
        st.Dense(M, [NORMAL, TANGENT]),
        v_free=np.array([SPEED, -h * GRAVITY, 0.0]),
        row_ptr=[0, 2],
        law=[st.Law.UNILATERAL],
        friction=[st.Coulomb(MU)],
    )
    solution = st.solve(step)
    print(f"time step of {h} s: impulse {solution.p.round(4)}, {st.Mode(solution.modes[0]).name.lower()}")
    print(solution.certificate)
    assert len(none) == 0
    assert none.complete
    assert np.allclose(solution.p, [0.3329, 0.4407], atol=5e-5)
    return solution.p


if __name__ == "__main__":
    main()
