"""Impulses can make a body faster than its free motion: what it reaches in that step holds it all the same.

A ball of 100 kg comes down at 1 m/s on a lever of 0.1 kg, 0.2 m from its bearing: the far end, ten times as far away,
rises ten times as fast as anything moved before. A step looks for contacts within 2 cm, and moves that end by 9 cm.
"""

import numpy as np
import pytest

import stiction as st

H, ARM = 0.01, 1.9  # s; m from the bearing to below the obstacle


def catapult(space, gap, radius=0.05, **scheme):
    """The lever lies along x, its bearing at the origin; an obstacle of this radius hangs `gap` above its far end."""
    world = st.World(gravity=(0, 0, 0)) if space else st.PlanarWorld(gravity=(0, 0))
    world.set_material("default", friction=0.0)
    if space:
        ball, beam, axis = st.Sphere, st.Box((2.2, 0.04, 0.04)), {"axis": (0, -1, 0)}
    else:
        ball, beam, axis = st.Disk, st.Rod(0.02, 2.2), {}

    def at(x, y):
        return (x, 0.0, y) if space else (x, y)

    lever = world.add_body(beam, mass=0.1, position=at(0.9, 0.0), name="lever")
    world.add_joint(st.Revolute(lever, None, anchor=at(0.0, 0.0), **axis))
    world.add_body(ball(0.1), mass=100.0, position=at(-0.2, 0.12), velocity=at(0.0, -1.0), name="weight")
    world.add_body(ball(radius), kind="fixed", position=at(ARM, 0.02 + radius + gap), name="obstacle")
    return st.Simulator(world, H, scheme=st.AnitescuHart(**scheme), tol=1e-9)


def turn(sim, space):
    """The lever's angular velocity [rad/s], up at the far end."""
    v = sim.state.v.reshape(sim.system.nb, -1)[1]
    return -v[4] if space else v[2]


@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize(("gap", "radius"), [(0.03, 0.05), (0.05, 0.05), (0.08, 0.05), (0.03, 0.002)])
def test_a_struck_lever_stops_at_what_it_reaches(space, gap, radius):
    """The last one is so thin that it would lie behind the lever after the step, and overlap nothing."""
    sim = catapult(space, gap, radius)
    assert sim.scheme.band(sim.system, sim.state, H) < gap
    result = sim.step()
    assert turn(sim, space) == pytest.approx(gap / (ARM * H), rel=1e-6)  # as far as it can go in this step
    assert result.certificate.penetration < gap**2  # the chord of its arc
    assert len(result.solves) == 2


@pytest.mark.parametrize("space", [False, True])
def test_what_it_does_not_reach_does_not_act(space):
    sim = catapult(space, 0.2)
    result = sim.step()
    assert len(result.solves) == 1
    assert len(result.contacts.key) == 2  # bearing and weight


def test_a_given_eps_is_kept():
    """Contacts further than eps do not act (ah03 eq. 2.13); that they were reached is said by the certificate."""
    sim = catapult(False, 0.05, eps=0.01)
    result = sim.step()
    assert len(result.solves) == 1
    assert result.certificate.penetration > 0.03


@pytest.mark.parametrize("space", [False, True])
def test_the_compiled_loop_leaves_such_a_step_to_the_scheme(space):
    slow, fast = catapult(space, 0.05), catapult(space, 0.05)
    for _ in range(3):
        slow.step()
    fast._skip(3)
    np.testing.assert_array_equal(fast.state.q, slow.state.q)
    np.testing.assert_array_equal(fast.state.v, slow.state.v)
