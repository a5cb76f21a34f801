"""Large piles leave overlaps that are no larger than what accepted steps leave anyway, and so come to rest."""

import numpy as np
import pytest

import stiction as st
from stiction.schemes.step_kernels import OVERLAP_SPREAD, left_overlap

pytestmark = pytest.mark.filterwarnings("ignore::stiction.OverlapWarning")

H = 0.005
LEFT = OVERLAP_SPREAD * 1e-3 * 9.81 * H  # [m/s]


def test_what_stays_is_a_share_of_what_forces_do_in_a_step():
    v, v_free, Minv = np.zeros((3, 6)), np.zeros((3, 6)), np.zeros((3, 6, 6))
    Minv[1:] = np.eye(6)
    v_free[1:, 2] = -9.81 * H
    v_free[1:, 4] = 7.0  # turning does not count
    v_free[0, 0] = 3.0  # nor does a prescribed body
    assert left_overlap(v, v_free, Minv, 3, 1e-6, 1e-3) == pytest.approx(LEFT)
    assert left_overlap(v, v_free, Minv, 3, 1e-6, 1e-6) == 0.0
    assert left_overlap(v, v, Minv, 3, 1e-6, 1e-3) == 0.0


def grid(n):
    """n spheres on the ground, each overlapping it by a tenth of a micrometre or by ten."""
    world = st.World()
    world.add_plane()
    for i in range(n):
        depth = 1e-7 if i % 2 else 1e-5
        world.add_body(st.Sphere(0.05), density=1000.0, position=(0.2 * (i % 20), 0.2 * (i // 20), 0.05 - depth))
    return world


@pytest.mark.parametrize(("n", "accept", "stay"), [(100, None, False), (101, None, True), (101, 1e-6, False)])
def test_small_overlaps_stay_in_large_problems_only(n, accept, stay):
    sim = st.Simulator(grid(n), H, accept=accept)
    assert sim.run(H).success
    height = sim.system.bodies(sim.state.q)[-n:, 2]
    np.testing.assert_allclose(height[::2], 0.05, rtol=0, atol=1e-9)
    np.testing.assert_allclose(height[1::2], 0.05 - (1e-7 if stay else 0.0), rtol=0, atol=1e-9)


def test_the_loop_and_single_steps_leave_the_same():
    fast, slow = st.Simulator(grid(120), H), st.Simulator(grid(120), H)
    fast.run(5 * H)
    for _ in range(5):
        slow.step()
    np.testing.assert_array_equal(fast.state.q, slow.state.q)
    np.testing.assert_array_equal(fast.state.v, slow.state.v)
