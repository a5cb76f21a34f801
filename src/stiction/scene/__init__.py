"""Scene files: worlds, settings and runs in TOML, without programming."""

from .document import VERSION
from .scene import Scene, parse_scene, read_scene
from .schema import scene_schema
from .write import scene_of

__all__ = ["VERSION", "Scene", "parse_scene", "read_scene", "scene_of", "scene_schema"]
