"""What bodies look like from a side."""

import numpy as np
import pytest

import stiction as st
from stiction.view.silhouettes import CAMERA, Silhouettes, surface


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (st.Box((0.2, 0.3, 0.4), position=(0.1, 0, 0)), 0.024),
        (st.Sphere(0.1, position=(0, 0.2, 0)), 4 / 3 * np.pi * 0.001),
        (st.Capsule(0.1, 0.3), np.pi * 0.01 * 0.3 + 4 / 3 * np.pi * 0.001),
        (st.Cylinder(0.1, 0.3, orientation=(1, 1, 0, 0)), np.pi * 0.01 * 0.3),
        (st.Ellipsoid((0.1, 0.2, 0.3)), 4 / 3 * np.pi * 0.006),
    ],
)
def test_the_points_of_a_shape_span_its_volume(shape, volume):
    from scipy.spatial import ConvexHull

    hull = ConvexHull(surface(shape))
    assert hull.volume == pytest.approx(volume, rel=0.03)
    assert np.allclose(surface(shape).mean(axis=0), shape.position, atol=5e-3)


def test_the_camera_keeps_lengths_and_up_is_up():
    assert np.allclose(CAMERA @ CAMERA.T, np.eye(3), atol=1e-7)
    assert CAMERA[1, 2] > 0.9


def test_outlines_follow_the_bodies_and_the_near_hide_the_far():
    world = st.World(gravity=(0, 0, 0))
    world.add_body(st.Sphere(0.1), mass=1.0, velocity=(0, 0, 1), name="rises")
    world.add_body(st.Sphere(0.1), mass=1.0, position=-5 * CAMERA[2], name="near")
    world.add_plane()
    run = st.Simulator(world, 0.1).run(0.2, progress=False)
    shapes = Silhouettes(world, run)
    assert [number for _, number in shapes.at(0)] == [0, 1]  # the plane has no outline
    rise = shapes.at(2)[0][0].mean(axis=0) - shapes.at(0)[0][0].mean(axis=0)
    assert rise == pytest.approx(0.2 * CAMERA[:2, 2], abs=1e-6)
