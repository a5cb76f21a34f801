"""Scene files: worlds, settings and runs in TOML, without programming (docs/scenes.md).

scene       `Scene`, `read_scene`, `parse_scene`
document    the scene file as a whole; its tables are in `bodies`, `shapes`, `joints`, `laws`, `schemes`, `arrays`
fields      what the tables share: numbers, vectors
build       from the tables to a world
write       from a world to tables, with `toml`; `embed` puts meshes in place of their paths
changes     changes from the command line
problems    what is wrong with a scene, in sentences; `places` finds the lines
schema      the JSON schema for editors
"""

from .document import VERSION
from .scene import Scene, parse_scene, read_scene
from .schema import scene_schema
from .write import scene_of

__all__ = ["VERSION", "Scene", "parse_scene", "read_scene", "scene_of", "scene_schema"]
