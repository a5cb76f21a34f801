"""The scene in the browser: bodies as instanced meshes, contacts, joints and trails, moved frame by frame (viser)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._check import FloatArray
from .reel import Frame, Reel
from .stage import BONE_RGB, PIN_RGB, Colour, Stage, rotated

TRAILS_MAX_BODIES = 200  # at most so many bodies leave a trail
CONTACTS_HIDDEN_MIN_BODIES = 5000  # with so many bodies contacts are shown only when they are asked for
GHOST_OPACITY = 0.35
ARROWS_MAX = 500  # more are lines: heads of arrows are most of the triangles of a heap's picture
_BALL = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], dtype=float)
_BALL_FACES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 2, 1], [5, 3, 2], [5, 4, 3], [5, 1, 4]])


class WebScene:
    """Draws a stage on a viser server; `show` brings it to a frame. `picked(body)` is called when one is clicked."""

    def __init__(self, server: Any, stage: Stage, reel: Reel, picked: Callable[[int], None]):
        self.server, self.stage, self.reel, self._picked = server, stage, reel, picked
        few = stage.count < CONTACTS_HIDDEN_MIN_BODIES
        self.options = {"contacts": few, "normals": False, "forces": few, "joints": True, "trails": False}
        self.see_through, self.arrows = False, 1.0
        self.scale = stage.force_scale(reel)
        self.selected: int | None = None
        self._frame: int | None = None
        self._set_camera()
        self._set_lights()
        self._add_ground()
        self._add_bodies()
        self._marks: dict[str, tuple[Any, int]] = {}  # handle, and for how many

    def _set_camera(self) -> None:
        stage, camera = self.stage, self.server.initial_camera
        r = max(stage.radius, 1e-6)
        if stage.dim == 2:  # from the front and from afar: without perspective, nearly
            self.server.scene.set_up_direction("+y")
            camera.fov = 0.2
            width, height = (stage.high - stage.low)[:2]
            away, up = np.array([0.0, 0.0, 0.65 * max(height, width / 1.1) / np.tan(0.1)]), (0.0, 1.0, 0.0)
        else:
            camera.fov = 0.7
            away, up = 1.1 * r / np.tan(0.35) * np.array([0.5, -0.79, 0.35]), (0.0, 0.0, 1.0)
        camera.up, camera.look_at, camera.position = up, stage.centre, stage.centre + away
        camera.near, camera.far = 1e-2 * r, 1e3 * r

    def _set_lights(self) -> None:
        scene, r = self.server.scene, self.stage.radius
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None)
        scene.add_light_ambient("/lights/ambient", intensity=0.8)
        if self.stage.dim == 2:
            scene.add_light_directional(
                "/lights/front", intensity=1.3, position=(0.0, 0.0, 10.0 * r), cast_shadow=False
            )
            return
        aside = (-3.0 * r, -4.0 * r, 8.0 * r)
        scene.add_light_directional("/lights/sun", intensity=1.7, position=aside, cast_shadow=False)
        scene.add_light_directional(
            "/lights/fill", intensity=0.6, position=(5.0 * r, -3.0 * r, 2.0 * r), cast_shadow=False
        )

    def _add_ground(self) -> None:
        """A grid: on the ground of a world in space, behind a world in the plane."""
        stage = self.stage
        cell = 10.0 ** np.floor(np.log10(max(stage.radius, 1e-6))) / 2.0
        size = np.ceil(6.0 * stage.radius / cell) * cell
        at = np.round(stage.centre / cell) * cell
        flat = stage.dim == 2
        at[2] = -0.05 * stage.radius if flat else self._floor()
        self.server.scene.add_grid(
            "/grid", width=size, height=size, plane="xy", cell_size=cell, section_size=5.0 * cell, position=at,
            cell_color=(225, 228, 232), section_color=(190, 195, 202), fade_distance=1e3 * stage.radius,
            shadow_opacity=0.0,
        )  # fmt: skip

    def _floor(self) -> float:
        """The height of the grid: just above a level plane, or below everything."""
        endless = [part for part in self.stage.parts if part.endless]
        position, turn = self.stage.poses(self.reel.frame(0))
        for part in endless:
            for body in part.bodies:
                turns = np.repeat(turn[body][None], len(part.vertices), axis=0)
                corners = position[body] + rotated(turns, part.vertices)
                if np.ptp(corners[:, 2]) < 1e-9 * self.stage.radius + 1e-12:
                    return float(corners[0, 2]) + 1e-3 * self.stage.radius
        return float(self.stage.low[2])

    def _add_bodies(self) -> None:
        stage, (position, turn) = self.stage, self.stage.poses(self.reel.frame(0))
        self._meshes = []
        for i, part in enumerate(stage.parts):
            mesh = self.server.scene.add_batched_meshes_simple(
                f"/bodies/{i}", part.vertices, part.triangles, turn[part.bodies], position[part.bodies],
                batched_colors=stage.colours(part.bodies, part.tone), flat_shading=not part.smooth,
                side="double" if stage.dim == 2 or part.endless else "front", cast_shadow=False, receive_shadow=False,
                opacity=0.5 if part.endless and stage.dim == 3 else None,
                lod="off" if len(part.bodies) < 2000 else "auto",
            )  # fmt: skip
            self._meshes.append(mesh)
            mesh.on_click(self._clicker(part.bodies))

    def _clicker(self, bodies: Any) -> Callable[[Any], None]:
        def clicked(event: Any) -> None:
            which = event.instance_index or 0
            if 0 <= which < len(bodies):
                self._picked(int(bodies[which]))

        return clicked

    def select(self, body: int | None) -> None:
        """Let a body stand out."""
        self.selected = body
        for mesh, part in zip(self._meshes, self.stage.parts):
            if not part.endless:
                mesh.batched_colors = self.stage.colours(part.bodies, part.tone, body)

    def look_through(self, wanted: bool) -> None:
        """Make bodies transparent, so that contacts inside a heap are seen."""
        for mesh, part in zip(self._meshes, self.stage.parts):
            if not part.endless:
                mesh.opacity = GHOST_OPACITY if wanted else None

    def show(self, k: int) -> Frame:
        """Bring everything to the k-th frame, in one message to the pages."""
        frame = self.reel.frame(k)
        position, turn = self.stage.poses(frame)
        with self.server.atomic():
            for mesh, part in zip(self._meshes, self.stage.parts):
                if self._frame is None or not self.stage.fixed[part.bodies].all():
                    mesh.batched_positions = position[part.bodies].astype(np.float32)
                    mesh.batched_wxyzs = turn[part.bodies].astype(np.float32)
            self._show_marks(frame)
            self._show_joints(frame)
            self._show_trails(k)
        self._frame = k
        return frame

    def _show_marks(self, frame: Frame) -> None:
        marks, options = self.stage.marks(frame), self.options
        colours, size = marks.colours(), self.stage.mark_size
        self._points("contacts", marks.point if options["contacts"] else marks.point[:0], colours, size)
        force = self.stage.shown_forces(marks, self.selected)
        pressed = np.flatnonzero(np.linalg.norm(force, axis=1) > 0.0)
        reach = self.arrows * self.scale * force[pressed]
        length = np.linalg.norm(reach, axis=1, keepdims=True)
        longest = 1.5 * self.stage.radius
        reach = reach * np.minimum(1.0, longest / np.maximum(length, 1e-300))
        arrows = np.stack([marks.point[pressed], marks.point[pressed] + reach], axis=1)
        self._arrows("forces", arrows if options["forces"] else arrows[:0], colours[pressed], 0.6 * size)
        ends = marks.point + 6.0 * size * marks.normal
        normals = np.stack([marks.point, ends], axis=1)
        self._arrows("normals", normals if options["normals"] else normals[:0], colours, 0.25 * size)

    def _show_joints(self, frame: Frame) -> None:
        ends = self.stage.joints(frame) if self.options["joints"] else np.zeros((0, 2, 3))
        points = ends.reshape(-1, 3)
        self._points(
            "joints", points, np.tile(np.array(PIN_RGB, dtype=np.uint8), (len(points), 1)), 1.3 * self.stage.mark_size
        )
        apart = ends[np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) > 1e-3 * self.stage.radius]
        self._lines("links", apart, PIN_RGB, 3.0)
        self._lines("bones", self.stage.bones(frame), BONE_RGB, 5.0)

    def _show_trails(self, k: int) -> None:
        stage = self.stage
        moving = np.flatnonzero(~stage.fixed)
        if self.selected is not None and not stage.fixed[self.selected]:
            moving = np.array([self.selected])
        wanted = self.options["trails"] and len(moving) and k > 0
        path = stage.trail(self.reel, k, moving[:TRAILS_MAX_BODIES]) if wanted else np.zeros((0, 2, 3))
        self._lines("trails", path, (90, 90, 90), 2.0)

    def _points(self, name: str, points: FloatArray, colours: np.ndarray, size: float) -> None:
        """Octahedra at points."""

        def make(points: np.ndarray, colours: np.ndarray) -> Any:
            turn = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(points), 1))
            return self.server.scene.add_batched_meshes_simple(
                f"/marks/{name}", size * _BALL, _BALL_FACES, turn, points, batched_colors=colours, lod="off",
                flat_shading=True, cast_shadow=False, receive_shadow=False,
            )  # fmt: skip

        self._many(name, points, colours, make, ("batched_positions", "batched_colors"))

    def _arrows(self, name: str, arrows: FloatArray, colours: np.ndarray, size: float) -> None:
        """Arrows, or lines where there are many."""
        few = len(arrows) if len(arrows) <= ARROWS_MAX else 0
        self._lines(f"{name} as lines", arrows[few:], colours[few : len(arrows)], 2.0)

        def make(arrows: np.ndarray, colours: np.ndarray) -> Any:
            sizes = {"shaft_radius": 0.5 * size, "head_radius": 1.4 * size, "head_length": 3.0 * size}
            return self.server.scene.add_arrows(f"/marks/{name}", arrows, colours, **sizes)

        self._many(name, arrows[:few], colours[:few], make, ("points", "colors"))

    def _lines(self, name: str, lines: FloatArray, colour: Colour | np.ndarray, width: float) -> None:
        def make(lines: np.ndarray, colours: np.ndarray) -> Any:
            given = {"thickness": width, "thickness_units": "screen"}
            return self.server.scene.add_line_segments(f"/marks/{name}", lines, colours, **given)

        each = np.broadcast_to(np.asarray(colour, dtype=np.uint8), (len(lines), 3))
        colours = np.repeat(each[:, None], 2, axis=1)
        self._many(name, lines, colours, make, ("points", "colors"))

    def _many(
        self, name: str, rows: FloatArray, colours: np.ndarray, make: Callable[..., Any], fields: tuple[str, str]
    ) -> None:
        """Show rows whose number changes from frame to frame: in a batch of fixed size, filled up with copies."""
        count, (handle, room) = len(rows), self._marks.get(name, (None, 0))
        if not count:
            if handle is not None:
                handle.visible = False
            return
        if count > room:
            if handle is not None:
                handle.remove()
            handle, room = None, 1 << (count - 1).bit_length()
        rows, colours = (np.concatenate([x, np.repeat(x[:1], room - count, axis=0)]) for x in (rows, colours))
        rows = rows.astype(np.float32)
        if handle is None:
            self._marks[name] = (make(rows, colours), room)
            return
        for field, values in zip(fields, (rows, colours)):
            setattr(handle, field, values)
        handle.visible = True
