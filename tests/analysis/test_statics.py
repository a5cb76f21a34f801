"""Statics of structures against closed forms: slopes, ladders, overhanging stacks, arches, tilted blocks."""

import math

import numpy as np
import pytest

import stiction as st

statics, arch = st.analysis.statics, st.structures.arch


def block_on_a_slope(dim, angle, mu):
    """A cube on a plane that is inclined by `angle`."""
    world = st.World() if dim == 3 else st.PlanarWorld()
    world.set_material("default", friction=mu)
    c, s = math.cos(angle), math.sin(angle)
    if dim == 3:
        world.add_plane((s, 0.0, c))
        turn = (math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0)
        world.add_body(st.Box((1, 1, 1)), mass=2.0, position=(0.5 * s, 0, 0.5 * c), orientation=turn)
    else:
        world.add_half_plane((s, c))
        world.add_body(st.Polygon.box(1, 1), mass=2.0, position=(0.5 * s, 0.5 * c), angle=-angle)
    return world


@pytest.mark.parametrize("dim", [2, 3])
def test_block_on_a_slope(dim):
    """It stands while tan(angle) <= µ, and bears what turns the apparent gravity to the angle of friction."""
    angle, mu = 0.3, 0.5
    found = statics(block_on_a_slope(dim, angle, mu))
    assert found.stands
    assert found.residual < 1e-9
    assert found.least_friction == pytest.approx(math.tan(angle), rel=1e-6)
    assert found.margin == pytest.approx(math.tan(math.atan(mu) - angle), rel=1e-6)
    normal = found.forces[found.row_ptr[:-1]].sum()
    assert normal == pytest.approx(2.0 * 9.81 * math.cos(angle), rel=1e-7)
    assert not statics(block_on_a_slope(dim, angle, 0.99 * math.tan(angle))).stands
    assert statics(block_on_a_slope(dim, 1.2, 0.5)).least_friction == math.inf  # its weight passes beyond its edge


def test_elastic_contacts_do_not_change_what_stands():
    world = block_on_a_slope(3, 0.3, 0.5)
    world.set_material("default", friction=0.5, young=50e9)
    assert statics(world).least_friction == pytest.approx(math.tan(0.3), rel=1e-6)


@pytest.mark.parametrize("slope", [0.5, 0.8, 1.5, 3.0])
def test_ladder_against_a_smooth_wall(slope):
    """µ >= 1/(2 tan a), with a the angle of the ladder from the floor."""
    world = st.PlanarWorld()
    floor, wall = world.add_half_plane(), world.add_half_plane((1.0, 0.0))
    high = math.sin(math.atan(slope))
    along = math.cos(math.atan(slope))
    foot = [(along, 0.0), (along + 1e-4, 1e-3), (0.0, high)]  # a sliver: its centre of mass is given
    bar = world.add_body(st.Polygon(foot), mass=1.0, inertia=0.1, com=(0.5 * along, 0.5 * high))
    world.set_contact(bar, floor, friction=0.2)
    world.set_contact(bar, wall, friction=None)
    assert statics(world).least_friction == pytest.approx(0.5 / slope, rel=1e-6)


@pytest.mark.parametrize("factor", [0.9999, 1.0001])
def test_stack_that_overhangs_by_harmonic_numbers(factor):
    """Brick k from the top may overhang the next by 1/(2k) of its length: ten of them by 1.46 lengths."""
    world, x = st.World(), 0.0
    world.add_plane()
    for k in range(10, 0, -1):
        world.add_body(st.Box((1.0, 0.5, 0.2)), density=1000.0, position=(x, 0.0, 0.2 * (10 - k) + 0.1))
        x += factor / (2 * (k - 1)) if k > 1 else 0.0
    assert statics(world).stands == (factor < 1.0)


@pytest.mark.parametrize("dim", [2, 3])
def test_tall_block_tilts_and_a_low_one_slides(dim):
    """The margin is thickness over height, or µ where that is less; along a wide block µ."""
    for height, margin in ((4.0, 0.25), (1.25, 0.6)):
        size = (1.0, height) if dim == 2 else (1.0, 3.0, height)
        found = statics(st.structures.dominoes(1, size=size, friction=0.6))
        assert found.margin == pytest.approx(margin, rel=1e-6)
        assert found.least_friction == 0.0


def test_margin_in_space_is_that_of_the_weakest_direction():
    """A square shaft of planks: it tips over an edge, and leaves the plank on the other side where it lies."""
    found = statics(st.structures.plank_tower(40))
    width, b, h, n = 0.117, 0.0234, 0.0078, 40
    weights = 2 * n * 0.5 * width - (width - 0.5 * b)
    heights = 2 * n * 0.5 * n * h - 0.5 * h
    assert found.contacts == 632
    assert found.margin == pytest.approx(weights / heights, rel=1e-6)
    assert found.least_friction == 0.0


def test_least_thickness_of_arches():
    """Milankovitch's 0.10748 of the mean radius for many stones; fewer hinge at joints only, and need less."""
    least = [st.structures.least_thickness(n) for n in (27, 101)]
    assert least == pytest.approx([0.106721, 0.107447], abs=2e-6)
    flat = st.structures.least_thickness(51, angle=math.radians(120.0))
    assert flat < 0.05  # less of a ring needs less
    assert st.structures.least_thickness(27, friction=0.05) == math.inf


def test_arch_in_the_plane_and_in_space():
    """The same limits, by a linear program in the plane and by a conic one with round cones in space."""
    least = st.structures.least_thickness(9)
    for depth in (None, 0.3):
        assert statics(arch(9, 1.001 * least, depth=depth)).stands
        assert not statics(arch(9, 0.999 * least, depth=depth)).stands
    plane, space = (statics(arch(9, 0.12, depth=depth)).least_friction for depth in (None, 0.3))
    assert space == pytest.approx(plane, rel=1e-5)


@pytest.mark.long
def test_least_thickness_of_many_stones():
    assert st.structures.least_thickness(501, tol=1e-5) == pytest.approx(0.10748, abs=2e-5)


def test_what_nothing_holds_falls():
    world = st.World()
    world.add_body(st.Sphere(0.1), mass=1.0)
    found = statics(world)
    assert (found.contacts, found.stands, found.forces, found.margin) == (0, False, None, -math.inf)
    world = st.World(gravity=(0, 0, 0))
    world.add_body(st.Sphere(0.1), mass=1.0)
    assert statics(world).stands
    with pytest.raises(st.ModelError, match="gravity"):
        statics(world).margin  # noqa: B018
    with pytest.raises(st.ModelError, match="World or a PlanarWorld"):
        statics(st.GeneralizedSystem(np.eye(1), [0.0], q=[0.0]))


def test_a_later_state_is_judged_where_it_is():
    """A ball held between two others falls apart from where it is later."""
    world = st.structures.dominoes(1, push=4.0)
    run = st.Simulator(world, 0.001).run(0.1)
    model = world.build()
    assert statics(model).stands
    assert not statics(model, st.State(run.times[-1], run.q[-1], run.v[-1])).stands
