"""The scenes that the benchmarks share: where the bodies start, and the same as worlds.

All are under gravity 9.81 m/s², with Coulomb friction 0.5 and no restitution.
"""

import numpy as np

import stiction as st

DT = 0.005  # s
MU = 0.5
RADIUS = 0.05  # m, of spheres
DENSITY = 1000.0  # kg/m³, of spheres
MASS = 1.0  # kg, of boxes with edges of 1 m


def tower(n=10):
    """Centres of n unit boxes, one on top of the other."""
    return np.array([(0.0, 0.0, 0.5 + i) for i in range(n)])


def wall(rows=10):
    """Centres of the unit boxes of a pyramid wall: `rows` boxes below, one above."""
    return np.array([(k - (rows - 1 - r) / 2, 0.0, 0.5 + r) for r in range(rows) for k in range(rows - r)])


def pile(n, seed=0):
    """Centres of n spheres on a jittered lattice above a box, and half the box's width."""
    rng = np.random.default_rng(seed)
    side = max(4, round((n / 3) ** (1 / 3) * 1.2))
    pitch = 2.3 * RADIUS
    grid = [(i, j, k) for k in range(n) for j in range(side) for i in range(side)][:n]
    places = (np.array(grid) - [(side - 1) / 2, (side - 1) / 2, -1]) * pitch
    return places + rng.uniform(-0.1, 0.1, places.shape) * RADIUS, 0.5 * side * pitch + RADIUS


def layers(side, depth, seed=0):
    """Centres of side × side × depth spheres, loosely packed, and half the width of their box."""
    rng = np.random.default_rng(seed)
    pitch = 2.05 * RADIUS
    grid = np.stack(np.meshgrid(np.arange(depth), np.arange(side), np.arange(side), indexing="ij"), axis=-1)
    grid = grid.reshape(-1, 3)[:, ::-1]
    places = (grid - [(side - 1) / 2, (side - 1) / 2, -0.5]) * pitch
    return places + rng.uniform(-0.02, 0.02, places.shape) * RADIUS, 0.5 * side * pitch + 0.2 * RADIUS


def sides(half):
    """Inward normals of the four walls at distance `half` from the z axis."""
    return [((sx, sy, 0.0), half) for sx, sy in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))]


def box_scene(places):
    """Unit boxes on the ground."""
    world = _ground()
    for place in places:
        world.add_body(st.Box((1.0, 1.0, 1.0)), mass=MASS, position=place)
    return world


def sphere_scene(n):
    """The pile of n spheres."""
    return spheres(*pile(n))


def spheres(places, half, velocities=None):
    """Spheres in a box without a lid; velocities (n, 6) linear and angular, at rest by default."""
    world = _ground()
    for normal, distance in sides(half):
        world.add_plane(normal, -distance)
    for i, place in enumerate(places):
        v = np.zeros(6) if velocities is None else velocities[i]
        shape = st.Sphere(RADIUS)
        world.add_body(shape, density=DENSITY, position=place, velocity=v[:3], angular_velocity=v[3:])
    return world


def _ground():
    world = st.World()
    world.set_material("default", friction=st.Coulomb(MU))
    world.add_plane()
    return world
