"""Elastic contact by material: stiffness of points, lines, faces and disks in closed form, restitution, refusals."""

import numpy as np
import pytest

import stiction as st
from stiction.systems.elastic import KN, MODULUS, PATCH, RADIUS, SHEAR, bounce, damping_ratio

G = 9.81
YOUNG, NU, RHO = 5e6, 0.4, 1000.0
MODULUS_RIGID = YOUNG / (1 - NU**2)  # E* against a rigid partner


def soft(world, **more):
    """The world with an elastic default material, and a rigid one for the floor."""
    world.set_material("default", young=YOUNG, poisson=NU, density=RHO, **more)
    world.set_material("rigid", friction=0.5)
    return world


def settled(world, dt=0.005, count=500):
    """The last of so many steps, each of which has to succeed."""
    simulator = st.Simulator(world, dt, tol=1e-11)
    for _ in range(count):
        result = simulator.step()
        assert result.success, result.message
    return result


def sizes(world, band=1e-3):
    """R and s of the contacts of a world at its start, and its law."""
    model = world.build()
    state = model.initial_state()
    found = model.evaluate(model.detect(0.0, state.q, band), 0.0, state.q)
    return found.elastic[:, RADIUS], found.elastic[:, PATCH], found.elastic[0]


def test_a_sphere_and_a_column_sink_by_hertz():
    world, radius = soft(st.World()), 0.05
    world.add_plane(material="rigid")
    for i in range(3):
        world.add_body(st.Sphere(radius), position=(0, 0, radius + 2 * radius * i))
    result = settled(world, count=900)
    load = RHO * 4 / 3 * np.pi * radius**3 * G * np.array([3, 2, 1])
    modulus = np.array([MODULUS_RIGID, MODULUS_RIGID / 2, MODULUS_RIGID / 2])
    curve = np.array([radius, radius / 2, radius / 2])
    overlap = (9 * load**2 / (16 * modulus**2 * curve)) ** (1 / 3)
    assert result.contacts.impulse[:, 0] / 0.005 == pytest.approx(load, rel=1e-6)
    assert -result.contacts.gap == pytest.approx(overlap, rel=1e-6)
    assert result.certificate.hertz_defect < 1e-6
    assert result.certificate.softened == 0
    least = load[2] * np.array([1, 0.5, 0.5])  # below it the stiffness does not depend on the load
    first = (9 * least**2 / (16 * modulus**2 * curve)) ** (1 / 3)
    stored = np.sum(0.4 * load * overlap + 0.1 * least * first)
    assert result.certificate.elastic_energy == pytest.approx(stored, rel=1e-5)
    kt, kn = result.state.springs[:, 6:].T
    assert kn == pytest.approx(load / overlap, rel=1e-6)
    assert kt / kn == pytest.approx(3 * (1 - NU) / (2 - NU), rel=1e-12)  # Mindlin: 8 G* a of the secant


def test_two_materials_share_the_overlap():
    world = soft(st.World())
    world.set_material("other", young=2e7, poisson=0.2)
    world.add_plane(material="other")
    world.add_body(st.Sphere(0.1), position=(0, 0, 0.1))
    law = sizes(world)[2]
    assert 1 / law[MODULUS] == pytest.approx((1 - NU**2) / YOUNG + (1 - 0.2**2) / 2e7, rel=1e-14)
    shear = (2 - NU) * 2 * (1 + NU) / YOUNG + (2 - 0.2) * 2 * (1 + 0.2) / 2e7
    assert law[SHEAR] * law[MODULUS] == pytest.approx(1 / shear, rel=1e-14)


def test_a_face_is_as_stiff_as_a_disk_of_its_area():
    world, size = soft(st.World()), (0.2, 0.3, 0.1)
    world.add_plane(material="rigid")
    world.add_body(st.Box(size), position=(0, 0, 0.05))
    result = settled(world)
    stiffness = 2 * MODULUS_RIGID * np.sqrt(size[0] * size[1] / np.pi)
    assert -result.contacts.gap == pytest.approx(np.full(4, RHO * np.prod(size) * G / stiffness), rel=1e-6)
    assert result.certificate.hertz_defect == 0.0


@pytest.mark.parametrize("shape", [st.Cylinder(0.05, 0.3), st.Capsule(0.05, 0.3)])
def test_what_lies_on_a_line_has_that_of_its_length(shape):
    world, turn = soft(st.World()), (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    world.add_plane(material="rigid")
    world.add_body(shape, position=(0, 0, 0.05), orientation=turn)
    assert sizes(world)[1] == pytest.approx(np.full(2, np.pi / 4 * 0.3 / 2), rel=1e-12)


def test_disks_in_the_plane_have_that_of_a_metre_of_depth():
    world = soft(st.PlanarWorld())
    world.add_plane(material="rigid")
    world.add_body(st.Disk(0.1), position=(0, 0.1), name="disk")
    world.add_body(st.Polygon.box(0.2, 0.1), position=(1, 0.05), name="box")
    result = settled(world)
    weight = RHO * G * np.array([np.pi * 0.1**2, 0.02, 0.02])
    assert -result.contacts.gap == pytest.approx(weight / (np.pi / 4 * MODULUS_RIGID), rel=1e-6)


CORNER = 0.01 * np.sqrt(3) * 0.1  # the fillet of a cube of 0.2 m
CUBE = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
ON_EDGE = (np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0)
ON_CORNER = (np.cos(0.5 * np.arccos(3**-0.5)), *(np.sin(0.5 * np.arccos(3**-0.5)) * np.array([1, -1, 0]) / 2**0.5))


@pytest.mark.parametrize(
    ("lower", "upper", "height", "turn", "radius"),
    [
        (st.Sphere(0.2), st.Sphere(0.1), 0.3, None, 0.2 / 3),
        (st.Box((1, 1, 0.2)), st.Sphere(0.1), 0.2, None, 0.1),
        (st.Box((0.2, 0.2, 0.2), orientation=ON_CORNER), st.Sphere(0.1), 0.1 * 3**0.5 + 0.1, None,
         1 / (10 + 1 / CORNER)),
        (st.Box((0.2, 0.2, 0.2), orientation=ON_EDGE), st.Sphere(0.1), 0.1 * 2**0.5 + 0.1, None,
         1 / np.sqrt(10 * (10 + 1 / CORNER))),
        (st.ConvexHull(CUBE), st.Sphere(0.1), 0.2, None, 0.1),
        (st.ConvexHull(CUBE, orientation=ON_EDGE), st.Sphere(0.1), 0.1 * 2**0.5 + 0.1, None,
         1 / np.sqrt(10 * (10 + 1 / CORNER))),
        (st.ConvexHull(CUBE, orientation=ON_CORNER), st.Sphere(0.1), 0.1 * 3**0.5 + 0.1, None, 1 / (10 + 1 / CORNER)),
        (st.Capsule(0.1, 1, orientation=(0.5**0.5, 0.5**0.5, 0, 0)), st.Capsule(0.2, 1), 0.3,
         (0.5**0.5, 0, 0.5**0.5, 0), np.sqrt(0.1 * 0.2)),
        (st.Cylinder(0.1, 1, orientation=(0.5**0.5, 0.5**0.5, 0, 0)), st.Sphere(0.2), 0.3, None,
         1 / np.sqrt(5 * 15)),
        (st.Cylinder(0.2, 0.2), st.Sphere(0.1), 0.2, None, 0.1),
        (st.Ellipsoid((0.1, 0.2, 0.3)), st.Sphere(0.1), 0.4, None, 1 / np.sqrt((10 + 30) * (10 + 7.5))),
    ],
)  # fmt: skip
def test_radius_of_the_contact_follows_from_both_surfaces(lower, upper, height, turn, radius):
    world = soft(st.World())
    world.add_body(lower, kind="fixed")
    world.add_body(upper, position=(0, 0, height), orientation=turn or (1, 0, 0, 0))
    found, patch, _ = sizes(world)
    assert found == pytest.approx([radius], rel=1e-9)
    assert not patch.any()


def test_a_fillet_by_the_material():
    world = soft(st.World(), fillet=2e-3)
    world.add_plane(material="rigid")
    world.add_body(st.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.1 * 3**0.5), orientation=ON_CORNER)
    assert sizes(world, band=1e-3)[0] == pytest.approx([2e-3], rel=1e-12)


def test_no_weight_leaves_a_least_stiffness():
    """Without gravity two balls fly together and apart: what the steps damp is gone, and nothing has come."""
    world = soft(st.World(gravity=(0, 0, 0)))
    for side in (-1, 1):
        world.add_body(st.Sphere(0.05), position=(0.051 * side, 0, 0), velocity=(-0.1 * side, 0, 0))
    simulator = st.Simulator(world, 5e-5, tol=1e-10)
    start = simulator.system.energy(simulator.state.q, simulator.state.v).kinetic
    energy = []
    for _ in range(900):
        result = simulator.step()
        kinetic = simulator.system.energy(result.state.q, result.state.v).kinetic
        energy.append((kinetic, kinetic + result.certificate.elastic_energy))
    kinetic, total = np.array(energy).T
    assert (kinetic <= start * (1 + 1e-12)).all()
    assert (total <= start * (1 + 1e-3)).all()  # a stiffness that lags behind the load gives way a little at first
    assert 0.7 * start < kinetic[-1] < start
    assert kinetic.min() < 1e-3 * start


@pytest.mark.parametrize("plane", [False, True])
def test_collisions_never_gain_kinetic_energy(plane):
    """At steps that resolve the contact and at steps that do not."""
    rng = np.random.default_rng(1)
    for _ in range(6):
        world = st.PlanarWorld(gravity=(0, 0)) if plane else st.World(gravity=(0, 0, 0))
        dim = 2 if plane else 3
        given = {"young": 10 ** rng.uniform(5, 9), "poisson": float(rng.uniform(0, 0.5))}
        world.set_material("default", friction=float(rng.uniform(0, 1)), **given)
        shapes = [st.Disk(0.1)] if plane else [st.Sphere(0.1), st.Box((0.15, 0.15, 0.15)), st.Capsule(0.06, 0.1)]
        for i in range(5):
            place = rng.uniform(-0.02, 0.02, dim) + 0.28 * (i - 2) * np.eye(dim)[0]
            world.add_body(
                shapes[rng.integers(len(shapes))], mass=float(rng.uniform(0.1, 10)), position=place,
                velocity=-3.0 * place + 0.1 * rng.normal(size=dim),
                angular_velocity=rng.normal() if plane else rng.normal(size=3),
            )  # fmt: skip
        simulator = st.Simulator(world, 10 ** rng.uniform(-3.5, -2.3), tol=1e-9)
        start = simulator.system.energy(simulator.state.q, simulator.state.v).kinetic
        for _ in range(120):
            result = simulator.step()
            assert result.success
            assert simulator.system.energy(result.state.q, result.state.v).kinetic <= start * (1 + 1e-12)


def spring_impact(e, steps, **law):
    """The speed after the impact of a ball at 1 m/s on a wall, over that before; `steps` in a contact."""
    world = st.World(gravity=(0, 0, 0))
    mass, kn, radius = 0.5, 2e4, 0.05
    if law:
        world.set_material("default", restitution=e, **law)
        modulus = law["young"] / 2 / (1 - law["poisson"] ** 2)
        time = 2.868 * (mass**2 / (radius * modulus**2)) ** 0.2
    else:
        world.set_material("default", compliance=st.Elastic(kn, restitution=e))
        time = np.pi * np.sqrt(mass / kn)
    world.add_plane()
    world.add_body(st.Sphere(radius), mass=mass, position=(0, 0, radius), velocity=(0, 0, -1))
    simulator = st.Simulator(world, time / steps, tol=1e-10)
    simulator.advance(2 * steps)
    return simulator.state.v.reshape(-1, 6)[-1, 2]


@pytest.mark.parametrize("e", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("law", [{}, {"young": 1e7, "poisson": 0.3}], ids=["spring", "hertz"])
def test_restitution_is_that_of_its_closed_form(e, law):
    assert spring_impact(e, 1000, **law) == pytest.approx(e, abs=1e-3)
    assert spring_impact(e, 200, **law) == pytest.approx(e, abs=5e-3)


def test_the_damping_ratio_is_the_inverse_of_the_bounce():
    for e in (0.001, 0.1, np.exp(-2), 0.5, 0.99, 1.0):
        assert bounce(damping_ratio(e)) == pytest.approx(e, rel=1e-12)
    small = 1e-3  # where it does not matter that contacts never pull
    assert bounce(small) == pytest.approx(np.exp(-np.pi * small), rel=1e-5)


def test_restitution_that_a_step_cannot_resolve_is_refused():
    def world(compliance=None, **law):
        made = st.World()
        made.set_material("default", compliance=compliance, **law)
        made.add_plane(name="floor")
        for name, mass in (("ball", 1.0), ("light", 0.01)):
            made.add_body(st.Sphere(0.05), mass=mass, name=name, position=(mass, 0, 0.06), velocity=(0, 0, -1))
        return made

    law = st.Elastic(1e5, restitution=0.5)  # the light ball on the other takes π √(m/k) = 1 ms
    with pytest.raises(st.ModelError, match=r"'(ball|light)' and '(ball|light)' .* 20 steps of 0\.001 s; take dt <= 4"):
        st.Simulator(world(law), 1e-3)
    st.Simulator(world(law), 4e-5)
    simulator = st.Simulator(world(young=1e9, restitution=0.5), 1e-3)
    with pytest.raises(st.SolverError, match=r"restitution of floor/(ball|light) .* 20 steps"):
        [simulator.step() for _ in range(20)]
    with pytest.raises(st.SolverError, match=r"restitution of floor/(ball|light) .* 20 steps"):
        st.Simulator(world(young=1e9, restitution=0.5), 1e-3).advance(20)


def test_density_by_the_material():
    world = soft(st.World())
    world.set_material("lead", density=11340)
    made = [
        world.add_body(st.Sphere(0.1)), world.add_body(st.Sphere(0.1), density=500.0),
        world.add_body(st.Sphere(0.1), mass=3.0), world.add_body(st.Sphere(0.1), material="lead"),
    ]  # fmt: skip
    volume = 4 / 3 * np.pi * 0.1**3
    mass = [world.bodies[body.index].mass for body in made]
    assert mass == pytest.approx([RHO * volume, 500 * volume, 3.0, 11340 * volume], rel=1e-14)
    with pytest.raises(st.ModelError, match=r"needs mass= .* or a material with a density"):
        world.add_body(st.Sphere(0.1), material="none")


def test_named_materials():
    world = st.World()
    world.set_material("beads", like="glass", friction=0.3)
    made = world.materials.named["beads"]
    assert (made.solid.young, made.solid.poisson, made.density, made.friction.mu) == (70e9, 0.22, 2500.0, 0.3)
    world.set_material("puck", like="ice")
    assert world.materials.named["puck"].friction.mu == 0.03
    with pytest.raises(st.ModelError, match="Did you mean 'glass'"):
        world.set_material("beads", like="glas")


def test_what_is_rigid_stays_so():
    world = st.World()
    world.set_material("a", friction=0.3, density=1000.0)
    world.set_material("b", friction=0.5)
    world.add_plane(material="b")
    world.add_body(st.Sphere(0.1), position=(0, 0, 0.1), material="a")
    assert world.build().laws.elastic is None
    soft(world)
    world.add_body(st.Sphere(0.1), position=(1, 0, 0.1), name="ball")
    world.set_contact("ball", "plane0", friction=0.2)  # goes before the combination of the materials
    model = world.build()
    assert model.laws.elastic is not None
    found = model.evaluate(model.detect(0.0, model.initial_state().q, 1e-3), 0.0, model.initial_state().q)
    assert np.isinf(found.elastic[:, KN]).all()


def test_what_does_not_go_together_is_refused():
    def refused(match, **given):
        with pytest.raises(st.ModelError, match=match):
            st.World().set_material("stuff", **given)

    refused("young of material 'stuff' must be greater than zero", young=-1.0)
    refused("poisson of material 'stuff' must be above -1 and at most 0.5", young=1e9, poisson=0.6)
    refused("poisson of material 'stuff' must be above -1", young=1e9, poisson=-1.0)
    refused("goes with young", poisson=0.3)
    refused("young and compliance", young=1e9, compliance=st.Elastic(1e5))
    refused("young and compliance", young=1e9, compliance=1e-6)
    refused("density of material 'stuff'", density=0.0)
    refused("fillet of material 'stuff'", fillet=-1e-3)
    refused("restitution of material 'stuff' must be from 0.001 to 1", young=1e9, restitution=1.5)
    refused("restitution", young=1e9, restitution=0.0)
    refused("depends on speed", young=1e9, friction=st.Coulomb(st.Stribeck(0.4, 0.3, speed=0.1)))
    with pytest.raises(st.ModelError, match="damping= or restitution="):
        st.Elastic(1e5, damping=1.0, restitution=0.5)
    world = soft(st.World())
    world.set_material("felt", compliance=st.Compliance(1e4, 10.0))
    world.add_plane(material="felt")
    world.add_body(st.Sphere(0.1), position=(0, 0, 0.1))
    with pytest.raises(st.ModelError, match=r"'felt' has a Compliance and material 'default' is elastic"):
        world.build()
    for scheme in (st.Moreau(), st.StewartTrinkle(), st.Compliant(1e5, 1.0, 1.0)):
        world = soft(st.World())
        world.add_plane()
        world.add_body(st.Sphere(0.1), position=(0, 0, 0.1))
        with pytest.raises(st.ModelError, match="AnitescuHart"):
            st.Simulator(world, 0.01, scheme=scheme)


def mixed():
    """Balls, a box and a capsule of several materials on a plane."""
    world = soft(st.World())
    world.set_material("hard", like="steel")
    world.add_plane(name="floor", material="rigid")
    world.add_body(st.Box((0.2, 0.2, 0.1)), position=(0, 0, 0.051), name="box")
    world.add_body(st.Sphere(0.05), position=(0.02, 0.01, 0.152), name="ball", material="hard")
    world.add_body(
        st.Capsule(0.05, 0.2), position=(0.3, 0, 0.06), orientation=(0.7, 0, 0.72, 0.01), velocity=(-1, 0, 0)
    )
    return world


def test_the_loop_takes_the_same_steps():
    one, other = (st.Simulator(mixed(), 0.002) for _ in range(2))
    defect = 0.0
    for _ in range(60):
        result = one.step()
        defect = max(defect, result.certificate.hertz_defect)
    last = other.advance(60)
    for name in ("q", "v", "keys", "impulses", "springs"):
        assert np.array_equal(getattr(result.state, name), getattr(last.state, name)), name
    assert result.certificate == last.certificate
    assert 0.0 < defect < 1.0


def test_a_scene_has_its_materials():
    world = mixed()
    world.set_material("bouncy", young=1e7, restitution=0.5, fillet=1e-3)
    world.set_contact("bouncy", "hard", compliance=st.Elastic(1e5, restitution=0.9))
    scene = world.to_scene(duration=0.02)
    again = scene.world
    assert again.materials.named == world.materials.named
    assert again.materials.pairs == world.materials.pairs
    runs = [st.Simulator(w, 0.002).run(0.02, progress=False) for w in (world, again)]
    assert np.array_equal(runs[0].q, runs[1].q)
    text = """
    stiction = 1
    [world]
    kind = "space"
    [run]
    dt = 0.001
    duration = 0.01
    [materials.glass]
    young = 70e9
    poisson = 0.22
    density = 2500.0
    [materials.ball]
    like = "steel"
    [[bodies]]
    name = "floor"
    shape = { type = "Plane" }
    material = "glass"
    [[bodies]]
    name = "ball"
    shape = { type = "Sphere", radius = 0.1 }
    material = "ball"
    position = [0, 0, 0.1]
    """
    from stiction.scene import parse_scene

    made = parse_scene(text).world
    assert made.bodies[-1].mass == pytest.approx(7850 * 4 / 3 * np.pi * 0.1**3)
    assert made.build().laws.elastic[-1, MODULUS] > 0.0
    with pytest.raises(st.SceneError, match="young"):
        parse_scene(text.replace("young = 70e9", "young = -1.0"))
