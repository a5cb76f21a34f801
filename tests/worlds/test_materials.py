"""Which law acts between two bodies, and which bodies meet at all."""

import math

import numpy as np
import pytest

import stiction as st

G = 9.81
STEP = st.AnitescuHart(directions=8)


def coefficient(world, a, b, h=0.01):
    """The friction coefficient that a box sliding at 2 m/s shows in one step."""
    run = st.Simulator(world, h, scheme=STEP).run(h)
    force = run.force(a, b)[0]
    return -force[0] / force[-1]


def scene(box_material="default", floor_material="default", materials=(), dim=3):
    world = st.World() if dim == 3 else st.PlanarWorld()
    for name, options in materials:
        world.set_material(name, **options)
    if dim == 3:
        floor = world.add_plane(name="floor", material=floor_material)
        box = world.add_body(
            st.Box((0.4, 0.4, 0.1)), mass=1.0, position=(0, 0, 0.05), velocity=(2, 0, 0), name="box",
            material=box_material,
        )  # fmt: skip
    else:
        floor = world.add_half_plane(name="floor", material=floor_material)
        box = world.add_body(
            st.Polygon.box(0.4, 0.1), mass=1.0, position=(0, 0.05), velocity=(2, 0), name="box", material=box_material
        )
    return world, box, floor


STEEL, ICE = ("steel", {"friction": 0.8}), ("ice", {"friction": 0.05})


@pytest.mark.parametrize("dim", [2, 3])
def test_default_friction_is_one_half(dim):
    world, box, floor = scene(dim=dim)
    assert coefficient(world, box, floor) == pytest.approx(0.5)


@pytest.mark.parametrize("dim", [2, 3])
def test_materials_combine_by_the_geometric_mean(dim):
    world, box, floor = scene("steel", "ice", [STEEL, ICE], dim)
    assert coefficient(world, box, floor) == pytest.approx(math.sqrt(0.8 * 0.05))
    world, box, floor = scene("steel", "default", [STEEL], dim)
    assert coefficient(world, box, floor) == pytest.approx(math.sqrt(0.8 * 0.5))
    world, box, floor = scene("ice", "ice", [ICE], dim)
    assert coefficient(world, box, floor) == pytest.approx(0.05)


@pytest.mark.parametrize("dim", [2, 3])
def test_pairs_of_bodies_go_before_pairs_of_materials_before_combination(dim):
    world, box, floor = scene("steel", "ice", [STEEL, ICE], dim)
    world.set_contact("ice", "steel", friction=0.1)
    assert coefficient(world, box, floor) == pytest.approx(0.1)
    world.set_contact("floor", box, friction=0.33)
    assert coefficient(world, box, floor) == pytest.approx(0.33)
    world.set_contact("steel", "ice", friction=0.2)  # the bodies still come first
    assert coefficient(world, box, floor) == pytest.approx(0.33)
    assert coefficient(world, "box", "floor") == pytest.approx(0.33)


def test_one_frictionless_material_makes_the_pair_frictionless():
    for friction in (0.0, None):
        world, box, floor = scene("steel", "oil", [STEEL, ("oil", {"friction": friction})])
        assert coefficient(world, box, floor) == 0.0


def test_default_can_be_changed_and_laws_given_as_sets():
    world, box, floor = scene()
    world.set_material("default", friction=st.Coulomb(0.25))
    assert coefficient(world, box, floor) == pytest.approx(0.25)
    world.set_contact(box, floor, friction=st.Coulomb(0.125))
    assert coefficient(world, box, floor) == pytest.approx(0.125)


def test_set_contact_without_friction_means_none():
    world, box, floor = scene()
    world.set_contact(box, floor)
    assert coefficient(world, box, floor) == 0.0


def test_bodies_of_one_world_have_different_laws():
    """Three boxes with three coefficients on one floor."""
    world = st.World()
    floor = world.add_plane()
    boxes = [
        world.add_body(st.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, y, 0.05), velocity=(2, 0, 0)) for y in range(3)
    ]
    for box, mu in zip(boxes, (0.1, 0.0, 0.6)):
        world.set_contact(floor, box, friction=mu)
    run = st.Simulator(world, 0.01, scheme=STEP).run(0.1)
    for box, mu in zip(boxes, (0.1, 0.0, 0.6)):
        np.testing.assert_allclose(run.velocity(box)[:, 0], 2 - mu * G * run.times, atol=1e-11)


def test_restitution_is_the_larger_of_two_and_refused_with_the_reason():
    materials = [("rubber", {"restitution": 0.7}), ("felt", {"restitution": 0.1})]
    world, box, floor = scene("rubber", "felt", materials)
    for scheme in (STEP, st.StewartTrinkle(), st.StewartTrinkle(nonlinear=True)):
        with pytest.raises(st.ModelError, match=r"inelastic.*restitution of 0\.7"):
            st.Simulator(world, 0.01, scheme=scheme)
    world, box, floor = scene()
    world.set_contact(box, floor, friction=0.5, restitution=0.4)
    with pytest.raises(st.ModelError, match=r"restitution of 0\.4"):
        st.Simulator(world, 0.01, scheme=STEP)


def test_restitution_of_a_pair_replaces_that_of_the_materials():
    world, box, floor = scene("felt", "felt", [("felt", {"restitution": 0.0}), ("rubber", {"restitution": 0.7})])
    st.Simulator(world, 0.01, scheme=STEP)  # nobody is of rubber
    world.set_contact(box, floor, friction=0.5, restitution=0.4)
    with pytest.raises(st.ModelError, match="restitution"):
        st.Simulator(world, 0.01, scheme=STEP)


def test_materials_that_no_shape_has_do_not_matter():
    """The default's restitution is nobody's when every body is of felt."""
    world, *_ = scene("felt", "felt", [("felt", {}), ("default", {"restitution": 0.5})])
    st.Simulator(world, 0.01, scheme=STEP)


def test_polyhedral_material_meets_itself():
    """A law without a rule of combination needs none where only one material is used."""
    law = st.Polyhedral(0.4, directions=[[1, 0], [0, 1], [-1, 0], [0, -1]])
    world, box, floor = scene("wood", "wood", [("wood", {"friction": law})])
    assert coefficient(world, box, floor) == pytest.approx(0.4)


def test_polyhedral_material_meets_others_by_pair_only():
    law = st.Polyhedral(0.4, directions=[[1, 0], [0, 1], [-1, 0], [0, -1]])
    world, *_ = scene("wood", "steel", [("wood", {"friction": law}), STEEL])
    with pytest.raises(st.ModelError, match=r"'wood'.*set_contact"):
        world.build()


def test_unknown_material_is_named_with_the_known_ones():
    world, *_ = scene("stell", "steel", [STEEL])
    with pytest.raises(st.ModelError, match=r"'box'.*'stell'.*'default', 'steel'"):
        world.build()


@pytest.mark.parametrize(
    "law",
    [{"friction": -0.1}, {"friction": math.nan}, {"restitution": -0.1}, {"restitution": 1.1}, {"friction": "much"}],
)
def test_bad_laws_are_refused(law):
    world, box, floor = scene()
    with pytest.raises(st.ModelError, match="'glue'"):
        world.set_material("glue", **law)
    with pytest.raises(st.ModelError, match="'box'"):
        world.set_contact(box, floor, **law)


def overlapping(**second):
    """Two balls in the same place; whether they see each other."""
    world = st.World()
    a = world.add_body(st.Sphere(0.5), mass=1.0, name="a", **{k: v for k, v in second.items() if k == "group"})
    b = world.add_body(st.Sphere(0.5), mass=1.0, position=(0.3, 0, 0), name="b", **second)
    return world, a, b


def meets(world):
    return len(world.build().detect(0.0, world.build().initial_state().q, 0.0).key) > len(world.joints)


def test_groups_do_not_collide_within_but_with_others():
    assert meets(overlapping()[0])
    assert not meets(overlapping(group="chain")[0])
    world, *_ = overlapping(group="chain")
    world.add_body(st.Sphere(0.5), mass=1.0, group="other")
    assert len(world.build().detect(0.0, world.build().initial_state().q, 0.0).key) == 2
    world.add_body(st.Sphere(0.5), mass=1.0)
    assert len(world.build().detect(0.0, world.build().initial_state().q, 0.0).key) == 5


def test_excluded_and_joined_bodies_do_not_collide():
    world, a, b = overlapping()
    world.exclude(a, "b")
    assert not meets(world)
    world, a, b = overlapping()
    world.add_joint(st.Ball(b, a, anchor=(0, 0, 0)))
    assert not meets(world)


def test_shapes_of_one_body_and_fixed_bodies_do_not_collide():
    world = st.World()
    world.add_plane()
    world.add_body([st.Sphere(0.5), st.Box((1, 1, 1))], mass=1.0, position=(0, 0, 3))
    world.add_body(st.Sphere(1.0), kind="fixed")
    world.add_body(st.Sphere(1.0), kind="kinematic", position=(0.5, 0, 0))
    assert not meets(world)


def test_many_groups_are_refused_beyond_the_limit():
    world = st.World()
    for i in range(62):
        world.add_body(st.Sphere(0.1), mass=1.0, position=(i, 0, 0), group=f"g{i}")
    with pytest.raises(st.ModelError, match="61"):
        world.build()


def test_a_world_can_go_on_growing():
    world, box, floor = scene()
    first = world.build()
    assert world.build() is first
    world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 5))
    assert world.build().nb == first.nb + 1
    world.set_contact(box, floor, friction=0.1)
    assert coefficient(world, box, floor) == pytest.approx(0.1)
