"""Bodies as they look, without a screen: at a moment, at a few moments side by side, and as a film."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._check import FloatArray, IntArray
from ..errors import ModelError
from ..problem.laws import Mode
from .movies import write_movie
from .raster import CAMERA, Painter
from .style import new_figure
from .web.reel import Frame, Reel, reel_of
from .web.stage import MODE_RGB, PIN_RGB, Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.trajectory import Trajectory

MOMENTS_SHOWN = 6
SIZE_SAMPLES = 60  # frames by which it is judged how large the picture must be
EDGE = "#30343b"
FILM_MAX_PICTURES = 100_000  # of a film, at most
FILM_WIDTH, FILM_HEIGHT, HEAD_HEIGHT = 720, 720, 28  # pixels, at most; and of the line above


class Silhouettes:
    """The bodies of a run from the front (in the plane) or a little from above, in metres across the picture."""

    def __init__(self, run: Trajectory, forces: bool = False):
        self.reel: Reel = reel_of(run)
        self.stage = Stage(self.reel)
        self.flat = self.stage.dim == 2
        self.painter = None if self.flat else Painter(self.stage)
        self.arrows = self.stage.force_scale(self.reel) if forces else 0.0
        self._outlines = self._find_outlines() if self.flat else []

    def _find_outlines(self) -> list[list[FloatArray]]:
        """Of each body in the plane: its parts as outlines (n, 2) about the centre of mass, planes made wide."""
        wide = {id(part.vertices): part for part in self.stage.parts if part.endless}
        found: list[list[FloatArray]] = [[] for _ in self.stage.names]
        for part in wide.values():
            for body in part.bodies:
                found[body].append(part.vertices[:, :2])
        for body, mine in enumerate(self.reel.shapes["bodies"]):
            surfaces = [self.reel.shapes["surfaces"][k] for k in mine]
            found[body] += [np.array(s["vertices"], dtype=float)[:, :2] for s in surfaces if not s["endless"]]
        return found

    def seen(self, points: FloatArray) -> FloatArray:
        """(..., 2) where points (..., 3) of the world lie in the picture [m]."""
        return points[..., :2] if self.flat else np.asarray(points @ CAMERA[:2].T)

    def bounds(self, frames: IntArray) -> tuple[FloatArray, FloatArray]:
        """The corners of what is seen of the bodies that move [m]; of all where none does."""
        stage = self.stage
        chosen = np.flatnonzero(~stage.fixed & (stage.reach > 0.0))
        chosen = chosen if len(chosen) else np.flatnonzero(stage.reach > 0.0)
        if not len(chosen):
            return np.array([-1.0, -1.0]), np.array([1.0, 1.0])
        some = frames[np.unique(np.linspace(0, len(frames) - 1, SIZE_SAMPLES).astype(int))]
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        reach = stage.reach[chosen][:, None]
        for k in some.tolist():
            at = self.seen(stage.poses(self.reel.frame(k))[0][chosen])
            low, high = np.minimum(low, (at - reach).min(axis=0)), np.maximum(high, (at + reach).max(axis=0))
        room = 0.04 * float((high - low).max()) + 1e-12
        return low - room, high + room

    def with_forces(self, k: int, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Corners with room for the arrows of a frame, of which the longest is a third of the picture at most."""
        foot, force, _ = self._forces(self.reel.frame(k))
        if not len(force):
            return low, high
        self.arrows = min(self.arrows, 0.33 * float((high - low).max()) / float(np.linalg.norm(force, axis=1).max()))
        ends = foot + self.arrows * force
        room = 0.02 * float((high - low).max())
        return np.minimum(low, ends.min(axis=0) - room), np.maximum(high, ends.max(axis=0) + room)

    def _forces(self, frame: Frame) -> tuple[FloatArray, FloatArray, IntArray]:
        """Feet (m, 2) [m], forces (m, 2) [N] and modes of the contacts that press, as they are seen."""
        marks = self.stage.marks(frame)
        force = self.seen(self.stage.shown_forces(marks))
        pressed = np.flatnonzero(np.linalg.norm(force, axis=1) > 0.0)
        return self.seen(marks.point)[pressed], force[pressed], marks.mode[pressed]

    def draw(self, axes: Axes, k: int, low: FloatArray, high: FloatArray, pixels: tuple[int, int]) -> None:
        """The bodies at the k-th frame between two corners [m]; pixels: how fine the picture of a space is."""
        frame = self.reel.frame(k)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        if self.painter is None:
            self._draw_outlines(axes, frame)
        else:
            image = self.painter.paint(frame, low, high, pixels)
            axes.imshow(image, extent=(low[0], high[0], low[1], high[1]), interpolation="antialiased")
        self._draw_joints(axes, frame)
        if self.arrows:
            self._draw_forces(axes, frame)

    def _draw_outlines(self, axes: Axes, frame: Frame) -> None:
        from matplotlib.collections import PolyCollection

        stage, (position, _) = self.stage, self.stage.poses(frame)
        angle = frame.q[: 3 * stage.count].reshape(-1, 3)[:, 2]
        dark: dict[int, list[FloatArray]] = {}
        for part in stage.parts:
            if part.tone < 1.0:
                for body in part.bodies.tolist():
                    dark.setdefault(body, []).extend(part.vertices[part.triangles][:, :, :2])
        polygons, faces, edges = [], [], []
        for body in np.argsort(~stage.fixed, kind="stable").tolist():  # what is fixed lies behind
            c, s = np.cos(angle[body]), np.sin(angle[body])
            turn = np.array([[c, s], [-s, c]])
            light, shade = (_hex(stage.colours(np.array([body]), tone)[0]) for tone in (1.0, 0.72))
            own = [position[body, :2] + outline @ turn for outline in self._outlines[body]]
            spots = [position[body, :2] + triangle @ turn for triangle in dark.get(body, [])]
            polygons += own + spots + own
            faces += [light] * len(own) + [shade] * len(spots) + ["none"] * len(own)
            edges += ["none"] * (len(own) + len(spots)) + [EDGE] * len(own)
        axes.add_collection(PolyCollection(polygons, facecolors=faces, edgecolors=edges, linewidths=0.6))

    def _draw_joints(self, axes: Axes, frame: Frame) -> None:
        from matplotlib.collections import LineCollection

        ends, bones = self.seen(self.stage.joints(frame)), self.seen(self.stage.bones(frame))
        axes.add_collection(LineCollection(list(bones), colors=EDGE, linewidths=2.0))
        apart = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) > 1e-3 * self.stage.radius
        axes.add_collection(LineCollection(list(ends[apart]), colors=_hex(PIN_RGB), linewidths=1.2))
        points = ends.reshape(-1, 2)
        axes.scatter(points[:, 0], points[:, 1], s=6, color=_hex(PIN_RGB), zorder=3)

    def _draw_forces(self, axes: Axes, frame: Frame) -> None:
        foot, force, mode = self._forces(frame)
        reach = self.arrows * force
        for one in np.unique(mode).tolist():
            x, along = foot[mode == one], reach[mode == one]
            axes.quiver(
                x[:, 0], x[:, 1], along[:, 0], along[:, 1], angles="xy", scale_units="xy", scale=1.0, width=0.006,
                color=_hex(MODE_RGB[one]), zorder=4, label=Mode(one).name.lower(),
            )  # fmt: skip


def _hex(rgb: Any) -> str:
    return "#{:02x}{:02x}{:02x}".format(*(int(x) for x in rgb))


def _shaped(low: FloatArray, high: FloatArray, least: float, most: float) -> tuple[FloatArray, FloatArray]:
    """Corners about the same middle, whose width over height lies between two numbers."""
    size, middle = high - low, 0.5 * (low + high)
    ratio = size[0] / size[1]
    if ratio < least:
        size = np.array([least * size[1], size[1]])
    elif ratio > most:
        size = np.array([size[0], size[0] / most])
    return middle - 0.5 * size, middle + 0.5 * size


def frames(run: Trajectory, count: int = MOMENTS_SHOWN) -> Figure:
    """The bodies at equally spaced moments of the run, from its start to its end."""
    look = Silhouettes(run)
    wanted = np.linspace(look.reel.times[0], look.reel.times[-1], min(count, len(look.reel)))
    steps = _nearest(look.reel.times, wanted)
    low, high = _shaped(*look.bounds(steps), 0.4, 3.0)
    ratio = float((high[0] - low[0]) / (high[1] - low[1]))
    columns = min(len(steps), 2 if ratio > 1.8 else 3 if ratio > 0.75 else 6)
    rows = -(-len(steps) // columns)
    width = 9.0 / columns
    figure = new_figure(9.0, rows * (width / ratio + 0.35) + 0.3)
    for i, step in enumerate(steps.tolist()):
        axes = figure.add_subplot(rows, columns, i + 1)
        look.draw(axes, step, low, high, _pixels(150.0 * width, ratio))
        axes.set_title(f"t = {look.reel.times[step]:.3g} s", fontsize=9, loc="left")
        _rule(axes, look, low, high, left=i % columns == 0, below=i >= len(steps) - columns, first=i == 0)
    return figure


def moment(run: Trajectory, time: float | None = None, forces: bool = True) -> Figure:
    """The bodies at one moment [s], by default the last; forces: arrows at the contacts, by their mode."""
    look = Silhouettes(run, forces)
    times = look.reel.times
    if time is not None and not times[0] <= _check.number("time", time) <= times[-1]:
        raise ModelError(f"time {time:g} s is not in the run, which goes from {times[0]:g} to {times[-1]:g} s.")
    step = len(times) - 1 if time is None else int(_nearest(times, np.array([time]))[0])
    low, high = _shaped(*look.with_forces(step, *look.bounds(np.array([step]))), 0.5, 2.2)
    ratio = float((high[0] - low[0]) / (high[1] - low[1]))
    width = 8.0 if ratio > 1.0 else 8.0 * ratio
    figure = new_figure(width, width / ratio + 0.5)
    axes = figure.add_subplot()
    look.draw(axes, step, low, high, _pixels(150.0 * width, ratio))
    axes.set_title(f"t = {times[step]:.3g} s", fontsize=9, loc="left")
    _rule(axes, look, low, high, left=True, below=True, first=True)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            frameon=False, fontsize=8, ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), title_fontsize=8,
            title=f"contact forces, {_length(low, high) / look.arrows:.2g} N as long as {_length(low, high):g} m",
        )  # fmt: skip
    return figure


def film(run: Trajectory, path: str | Path, *, fps: float = 25.0, speed: float = 1.0, forces: bool = False) -> int:
    """Write a film, .gif or .mp4, and return the number of its pictures.

    fps: pictures per second of the film; speed: seconds of the run per second of the film; forces: arrows at the
    contacts, by their mode.
    """
    fps, speed = _check.number("fps", fps, positive=True), _check.number("speed", speed, positive=True)
    look = Silhouettes(run, forces)
    times = look.reel.times
    count = (times[-1] - times[0]) * (fps / speed)
    if not count <= FILM_MAX_PICTURES:
        raise ModelError(
            f"fps {fps:g} and speed {speed:g} make {count:.3g} pictures; at most {FILM_MAX_PICTURES} are drawn."
        )
    steps = _nearest(times, np.arange(times[0], times[-1] + 0.5 * speed / fps, speed / fps))
    low, high = _shaped(*look.bounds(steps), 0.5, 2.2)
    ratio = float((high[0] - low[0]) / (high[1] - low[1]))
    columns, rows = _pixels(min(FILM_WIDTH, FILM_HEIGHT * ratio), ratio)
    return write_movie(Path(path), _pictures(look, steps, low, high, (columns, rows)), len(steps), fps)


def _pictures(
    look: Silhouettes, steps: IntArray, low: FloatArray, high: FloatArray, pixels: tuple[int, int]
) -> Iterator[np.ndarray]:
    """(rows, columns, 3) uint8, one after the other: the bodies, with the time above them."""
    columns, rows = pixels
    whole = rows + HEAD_HEIGHT
    figure = new_figure(columns / 100.0, whole / 100.0)
    figure.set_dpi(100)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.0, 1.0, rows / whole))
    label = figure.text(10.0 / columns, 1.0 - 0.5 * HEAD_HEIGHT / whole, "", va="center", fontsize=10)
    for step in steps.tolist():
        axes.clear()
        look.draw(axes, step, low, high, pixels)
        axes.set_axis_off()
        _bar(axes, low, high)
        label.set_text(f"{look.reel.times[step]:.2f} s")
        figure.canvas.draw()
        yield np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()  # type: ignore[attr-defined]


def _nearest(times: FloatArray, wanted: FloatArray) -> IntArray:
    """The frames nearest to some times."""
    after = np.clip(np.searchsorted(times, wanted), 1, max(1, len(times) - 1))
    if len(times) < 2:
        return np.zeros(len(wanted), dtype=np.int64)
    return np.where(wanted - times[after - 1] < times[after] - wanted, after - 1, after)


def _pixels(width: float, ratio: float) -> tuple[int, int]:
    """Even numbers of columns and rows, as films need them."""
    return 2 * max(8, round(0.5 * width)), 2 * max(8, round(0.5 * width / ratio))


def _rule(
    axes: Axes, look: Silhouettes, low: FloatArray, high: FloatArray, *, left: bool, below: bool, first: bool
) -> None:
    """How large it is: axes in metres at the rim in the plane, a bar in the first picture of a space."""
    if not look.flat:
        axes.set(xticks=[], yticks=[])
        if first:
            _bar(axes, low, high)
        return
    axes.tick_params(labelsize=7, labelleft=left, labelbottom=below)
    axes.locator_params(nbins=4)
    axes.set_xlabel("x [m]" if below else "", fontsize=8)
    axes.set_ylabel("y [m]" if left else "", fontsize=8)


def _bar(axes: Axes, low: FloatArray, high: FloatArray) -> None:
    """A bar of a round length, and the length beside it."""
    size = high - low
    length = _length(low, high)
    x, y = low[0] + 0.04 * size[0], low[1] + 0.05 * size[1]
    axes.plot([x, x + length], [y, y], color=EDGE, linewidth=2.0, solid_capstyle="butt", zorder=5)
    axes.annotate(
        f"{length:g} m", (x + length, y), (4, 0), textcoords="offset points", fontsize=8, color=EDGE, va="center",
        zorder=5,
    )  # fmt: skip


def _length(low: FloatArray, high: FloatArray) -> float:
    """Of the bar [m]: 1, 2 or 5 times a power of ten, a fifth of the picture's width at most."""
    most = 0.2 * float(high[0] - low[0])
    ten = 10.0 ** np.floor(np.log10(most))
    return float(max(k for k in (1.0, 2.0, 5.0) if k * ten <= most * (1 + 1e-12)) * ten)
