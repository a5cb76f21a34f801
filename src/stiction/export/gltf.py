"""Trajectories as glTF: the bodies as meshes, and one animation of their places and turns."""

from __future__ import annotations

import colorsys
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from ..simulation.trajectory import Trajectory
from .bodies import Bodies, bodies_of, joined

UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # (x, y, z, w): z up as here to y up as there


def write_gltf(run: Trajectory, path: Path) -> None:
    """A binary glTF file (.glb): a node per body, and one animation with translation and rotation of those that move.

    Numbers are single precision, as glTF has them; in space the scene is turned so that up is up.
    """
    try:
        import pygltflib as g
    except ImportError as error:
        raise ModelError('glTF files are written by pygltflib: pip install "stiction[export]".') from error
    bodies = bodies_of(run)
    scene = _Scene(g)
    scene.add_bodies(bodies)
    scene.animate(bodies, run.times)
    scene.write(path)


class _Scene:
    """Collects nodes, meshes and the numbers they refer to."""

    def __init__(self, g: Any):
        self.g, self.data = g, bytearray()
        self.gltf = g.GLTF2(asset=g.Asset(version="2.0", generator="stiction"))

    def number(self, values: np.ndarray, kind: str, target: int | None = None, limits: bool = False) -> int:
        """Append an array and return its accessor."""
        g = self.g
        values = np.ascontiguousarray(values)
        self.data += bytes(-len(self.data) % 4)
        view = g.BufferView(buffer=0, byteOffset=len(self.data), byteLength=values.nbytes, target=target)
        self.data += values.tobytes()
        self.gltf.bufferViews.append(view)
        component = g.FLOAT if values.dtype == np.float32 else g.UNSIGNED_INT
        accessor = g.Accessor(
            bufferView=len(self.gltf.bufferViews) - 1, componentType=component, count=len(values), type=kind
        )
        if limits:
            rows = values.reshape(len(values), -1)
            accessor.min, accessor.max = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.gltf.accessors.append(accessor)
        return len(self.gltf.accessors) - 1

    def add_bodies(self, bodies: Bodies) -> None:
        """A node per body with a surface, below one node that turns the scene upright."""
        g, gltf = self.g, self.gltf
        parts: dict[tuple[int, ...], tuple[int, int]] = {}
        self.nodes: list[tuple[int, int]] = []
        for i, (name, mine) in enumerate(zip(bodies.names, bodies.surfaces)):
            if not mine:
                continue
            gltf.materials.append(_material(g, i))
            if tuple(mine) not in parts:  # one primitive for all of a body: some readers move only the first
                parts[tuple(mine)] = self._part(*joined([bodies.meshes[k] for k in mine]))
            at, index = parts[tuple(mine)]
            look = g.Primitive(attributes=g.Attributes(POSITION=at), indices=index, material=len(gltf.materials) - 1)
            gltf.meshes.append(g.Mesh(name=name, primitives=[look]))
            place, (w, x, y, z) = bodies.position[0, i].tolist(), bodies.quaternion[0, i].tolist()
            node = g.Node(name=name, mesh=len(gltf.meshes) - 1, translation=place, rotation=[x, y, z, w])
            gltf.nodes.append(node)
            self.nodes.append((i, len(gltf.nodes) - 1))
        turn = UPRIGHT if bodies.dim == 3 else [0.0, 0.0, 0.0, 1.0]
        gltf.nodes.append(g.Node(name="world", children=[node for _, node in self.nodes], rotation=turn))
        gltf.scenes.append(g.Scene(nodes=[len(gltf.nodes) - 1]))
        gltf.scene = 0

    def _part(self, vertices: np.ndarray, triangles: np.ndarray) -> tuple[int, int]:
        at = self.number(vertices.astype(np.float32), self.g.VEC3, self.g.ARRAY_BUFFER, limits=True)
        return at, self.number(triangles.astype(np.uint32).ravel(), self.g.SCALAR, self.g.ELEMENT_ARRAY_BUFFER)

    def animate(self, bodies: Bodies, times: np.ndarray) -> None:
        """Translation and rotation of every node that moves."""
        g, animation = self.g, self.g.Animation(name="run")
        clock = self.number((times - times[0]).astype(np.float32), g.SCALAR, limits=True)
        for i, node in self.nodes:
            for path, values, kind in (
                ("translation", bodies.position[:, i], g.VEC3),
                ("rotation", _steady(bodies.quaternion[:, i]), g.VEC4),
            ):
                if (values == values[0]).all():
                    continue
                output = self.number(values.astype(np.float32), kind)
                animation.samplers.append(g.AnimationSampler(input=clock, output=output, interpolation=g.ANIM_LINEAR))
                target = g.AnimationChannelTarget(node=node, path=path)
                animation.channels.append(g.AnimationChannel(sampler=len(animation.samplers) - 1, target=target))
        if animation.channels:
            self.gltf.animations.append(animation)

    def write(self, path: Path) -> None:
        """The file, whole."""
        self.gltf.buffers.append(self.g.Buffer(byteLength=len(self.data)))
        self.gltf.set_binary_blob(bytes(self.data))
        self.gltf.save_binary(str(path))


def _steady(quaternion: np.ndarray) -> np.ndarray:
    """(n, 4) as (x, y, z, w), each the nearer of q and -q to the one before, so that viewers turn the short way."""
    dots = np.einsum("ni,ni->n", quaternion[1:], quaternion[:-1])
    sign = np.concatenate([[1.0], np.cumprod(np.where(dots < 0.0, -1.0, 1.0))])
    return (quaternion * sign[:, None])[:, [1, 2, 3, 0]]


def _material(g: Any, i: int) -> Any:
    """A colour of its own for each body; the first, the fixed world, is grey."""
    red, green, blue = (0.6, 0.6, 0.6) if i == 0 else colorsys.hsv_to_rgb(i * 0.618034 % 1.0, 0.45, 0.85)
    surface = g.PbrMetallicRoughness(baseColorFactor=[red, green, blue, 1.0], metallicFactor=0.0, roughnessFactor=0.8)
    return g.Material(pbrMetallicRoughness=surface, doubleSided=True)
