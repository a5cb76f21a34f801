"""What bodies look like: pictures and films without a screen."""

import sys

import numpy as np
import pytest

import stiction as st
from stiction.view.raster import CAMERA, LIGHT, corner_normals, fill
from stiction.view.silhouettes import Silhouettes


@pytest.fixture(scope="module")
def space():
    """A ball that rises, and one nearer to the eye, in memory."""
    world = st.World(gravity=(0, 0, 0))
    world.add_body(st.Sphere(0.1), mass=1.0, velocity=(0, 0, 1), name="rises")
    world.add_body(st.Box((0.1, 0.1, 0.1)), mass=1.0, position=-5 * CAMERA[2], name="near")
    world.add_plane(offset=-3.0)
    return st.Simulator(world, 0.1).run(0.4, progress=False)


@pytest.fixture(scope="module")
def plane():
    world = st.PlanarWorld()
    world.add_half_plane()
    world.add_body(st.Disk(0.1), mass=1.0, position=(0, 0.3), velocity=(1, 0), name="disk")
    arm = world.add_body(st.Rod(0.02, 0.3), mass=1.0, position=(0.5, 0.5), name="arm")
    world.add_joint(st.Revolute(arm, None, anchor=(0.35, 0.5)))
    return st.Simulator(world, 0.02).run(0.4, progress=False)


def test_the_axes_of_camera_and_light_are_orthonormal_and_up_is_up():
    for axes in (CAMERA, LIGHT):
        assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert CAMERA[1, 2] > 0.9
    assert LIGHT[2, 2] < -0.5  # it shines down


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_triangle_covers_its_area_and_the_nearer_one_is_seen(order):
    points = np.array([[5, 5, 2.0], [85, 5, 2.0], [5, 45, 2.0], [5, 5, 1.0], [25, 5, 1.0], [5, 25, 1.0]])
    points[:, :2] += 0.35  # no corner on a pixel
    triangles = np.array([[0, 1, 2], [3, 4, 5]], dtype=np.int64)[order]
    depth, hit = np.full((60, 100), np.inf), np.full((60, 100), -1, dtype=np.int64)
    fill(points, triangles, depth, hit)
    assert (hit >= 0).sum() == pytest.approx(0.5 * 80 * 40, rel=0.05)
    near = hit == order.index(1)
    assert near.sum() == pytest.approx(0.5 * 20 * 20, rel=0.12)
    assert (depth[near] == 1.0).all()


def test_normals_are_rounded_over_smooth_edges_only():
    from stiction.systems.shapes.surfaces import surface

    vertices, triangles = surface(st.Sphere(1.0))
    assert np.allclose(corner_normals(vertices, triangles), vertices[triangles], atol=0.06)
    vertices, triangles = surface(st.Box((1, 1, 1)))
    assert np.allclose(np.abs(corner_normals(vertices, triangles)).max(axis=2), 1.0)


def test_the_near_hide_the_far_and_bodies_have_their_colours(space):
    look = Silhouettes(space)
    low, high = np.array([-0.3, -0.3]), np.array([0.3, 0.3])
    image = look.painter.paint(look.reel.frame(0), low, high, (120, 120)).astype(float)
    middle = image[60, 60] / np.linalg.norm(image[60, 60])
    ball, box = (look.stage.colours(np.array([look.stage.names.index(n)]))[0].astype(float) for n in ("rises", "near"))
    assert middle @ box / np.linalg.norm(box) > 0.999
    beside = image[60, 60 + 17]  # within the ball's radius, beyond the box
    assert beside @ ball / np.linalg.norm(beside) / np.linalg.norm(ball) > 0.999


def test_the_bounds_follow_the_bodies(space, plane):
    look = Silhouettes(space)
    start, end = (look.bounds(np.array([k])) for k in (0, 4))
    assert end[1] - start[1] == pytest.approx([0.0, 0.4 * CAMERA[1, 2]], abs=0.03)
    low, high = Silhouettes(plane).bounds(np.array([0]))
    assert low[1] == pytest.approx(0.2, abs=0.05)  # the half-plane has no end and does not count
    assert high[0] == pytest.approx(0.67, abs=0.05)


def test_frames_are_equally_spaced_and_bodies_are_where_they_are(plane, tmp_path):
    figure = plane.plot("frames", path=tmp_path / "frames.png")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["t = 0 s", "t = 0.08 s", "t = 0.16 s", "t = 0.24 s", "t = 0.32 s", "t = 0.4 s"]
    for axes, step in zip(figure.axes, (0, 4, 8, 12, 16, 20)):
        shown = [path.vertices for path in axes.collections[0].get_paths()]
        disk = min(shown, key=lambda outline: np.abs(outline[:-1].mean(axis=0) - plane.position("disk")[step]).max())
        assert disk[:-1].mean(axis=0) == pytest.approx(plane.position("disk")[step], abs=1e-9)


def test_a_moment_and_a_gif(space, plane, tmp_path):
    from PIL import Image

    figure = plane.picture(0.2, path=tmp_path / "moment.png")
    assert figure.axes[0].get_title(loc="left") == "t = 0.2 s"
    assert plane.film(tmp_path / "plane.gif", fps=10, forces=True) == 5
    with Image.open(tmp_path / "plane.gif") as film:
        assert film.n_frames >= 4  # Pillow joins those that are equal
        assert film.info["duration"] == 100
    assert space.film(tmp_path / "slow.gif", fps=10, speed=0.4) == 11
    assert list(tmp_path.glob("*.part*")) == []


def test_a_recording_is_drawn_without_its_scene(plane, tmp_path):
    plane.save(tmp_path / "plane.h5")
    figure = st.load(tmp_path / "plane.h5").plot("frames")
    assert len(figure.axes) == 6


def test_an_mp4_is_written_where_ffmpeg_is(space, tmp_path, monkeypatch):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `view` is not installed")
    assert space.film(tmp_path / "space.mp4", fps=10) == 5
    assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "space.mp4"))[0] == 5
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(st.ModelError, match=r"pip install \"stiction\[view\]\""):
        space.film(tmp_path / "other.mp4")


def test_what_cannot_be_drawn_is_said(plane, tmp_path):
    free = st.Simulator(st.GeneralizedSystem([[1.0]], [-9.81], q=[0.0]), 0.01).run(0.1)
    with pytest.raises(st.ModelError, match="generalized system"):
        free.film(tmp_path / "x.gif")
    with pytest.raises(st.ModelError, match=r"ends in .gif or .mp4"):
        plane.film(tmp_path / "x.avi")
    with pytest.raises(st.ModelError, match="no folder"):
        plane.film(tmp_path / "no" / "x.gif")
    with pytest.raises(st.ModelError, match="too many for a GIF"):
        plane.film(tmp_path / "x.gif", speed=1e-4)
    with pytest.raises(st.ModelError, match="speed must be greater than zero"):
        plane.film(tmp_path / "x.gif", speed=0)
    with pytest.raises(st.ModelError, match="not in the run"):
        plane.picture(3.0)
