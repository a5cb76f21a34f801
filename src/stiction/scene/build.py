"""From the tables of a scene to its world: every table that cannot be made is noted, and the others are made."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

from ..errors import ModelError
from ..simulation.recording.layout import chosen_fields
from ..systems import Body as Handle
from ..systems import PlanarWorld, World
from .arrays import SCENE_MAX_BODIES
from .document import RUN_MAX_STEPS, Document
from .places import Path
from .problems import Problems, nearest


def build_world(document: Document, folder: pathlib.Path | None, problems: Problems) -> World | PlanarWorld:
    """The world, as far as it can be made; what cannot is in `problems`."""
    return _Builder(document, folder, problems).world


class _Builder:
    def __init__(self, document: Document, folder: pathlib.Path | None, problems: Problems):
        self.document, self.folder, self.problems = document, folder, problems
        self.lost: set[str] = set()  # bodies and joints that could not be made: others that name them are not at fault
        self.sets: dict[str, Any] = {}
        self._run()
        self.world = self._empty()
        if sum(array.count for array in document.arrays) + len(document.bodies) > SCENE_MAX_BODIES:
            problems.add(("arrays",), f"a scene may have at most {SCENE_MAX_BODIES} bodies; make the arrays smaller.")
            return
        self._materials()
        for i, body in enumerate(document.bodies):
            self._try(("bodies", i), lambda: body.add(self.world, self.folder), body.name)  # noqa: B023
        for i, array in enumerate(document.arrays):
            self._try(("arrays", i), lambda: array.add(self.world, self.folder), array.name)  # noqa: B023
        for i, joint in enumerate(document.joints):
            self._try(("joints", i), lambda: joint.add(self.world), joint.name, (joint.a, joint.b))  # noqa: B023
        for i, spring in enumerate(document.springs):
            named = (spring.a, spring.b, spring.joint)
            self._try(("springs", i), lambda: spring.add(self.world), None, named)  # noqa: B023
        for i, force in enumerate(document.forces):
            self._try(("forces", i), lambda: force.add(self.world), None, (force.body,))  # noqa: B023
        for i, pair in enumerate(document.world.exclude):
            self._try(("world", "exclude", i), lambda: self.world.exclude(*pair), None, tuple(pair))  # noqa: B023
        self._contacts()
        self._check_materials()

    def _empty(self) -> World | PlanarWorld:
        kind: Any = World if self.document.world.kind == "space" else PlanarWorld
        given = self.document.world.gravity
        made = self._try(("world", "gravity"), lambda: kind() if given is None else kind(gravity=given))
        return kind() if made is None else made

    def _run(self) -> None:
        """What tables alone cannot say about [run] and [record]."""
        from ..solvers import make_solver

        run, record = self.document.run, self.document.record
        self._try(("run", "solver"), lambda: make_solver(run.solver))
        if run.scheme is not None:
            self._try(("run", "scheme"), run.scheme.make)
        if run.dt > run.duration:
            self.problems.add(
                ("run", "dt"), f"is longer than the whole run; dt = {run.dt:g} s must be at most {run.duration:g} s."
            )
        if run.duration / run.dt > RUN_MAX_STEPS:
            self.problems.add(
                ("run",), f"duration/dt is {run.duration / run.dt:.3g} steps; at most {RUN_MAX_STEPS:.0e} are run."
            )
        self._try(("record", "fields"), lambda: chosen_fields(record.fields))
        if record.every is not None and record.fps is not None:
            self.problems.add(("record",), "give every or fps, not both.")

    def _materials(self) -> None:
        for name, material in self.document.materials.items():
            law = self._law(("materials", name), material)
            if law is not None:
                self._try(("materials", name), lambda: self.world.set_material(name, **law))  # noqa: B023

    def _contacts(self) -> None:
        for i, contact in enumerate(self.document.contacts):
            path = ("contacts", i)
            if (contact.bodies is None) == (contact.materials is None):
                self.problems.add(path, 'needs bodies = ["a", "b"], or materials = ["a", "b"].')
                continue
            law = self._law(path, contact)
            if law is None:
                continue
            pair: list[Any] = contact.materials or [Handle(name, 0) for name in contact.bodies or []]
            for name in contact.materials or []:
                self._known_material((*path, "materials"), name)
            if contact.materials is None or all(name in self.world.materials.named for name in contact.materials):
                named = tuple(contact.bodies or ())
                self._try(path, lambda: self.world.set_contact(*pair, **law), None, named)  # noqa: B023

    def _law(self, path: Path, material: Any) -> dict[str, Any] | None:
        """The arguments of a law; tables that say the same are one friction set, as one object is in Python."""
        made = self._try((*path, "friction"), material.law)
        if made is not None and "friction" in made:
            key = json.dumps([type(material.friction).__name__, material.friction.model_dump()], sort_keys=True)
            made["friction"] = self.sets.setdefault(key, made["friction"])
        return made

    def _check_materials(self) -> None:
        for table, items in (("bodies", self.document.bodies), ("arrays", self.document.arrays)):
            for i, item in enumerate(items):
                if item.material is not None:
                    self._known_material((table, i, "material"), item.material)

    def _known_material(self, path: Path, name: str) -> None:
        known = [*self.world.materials.named, *self.document.materials]
        if name not in known:
            self.problems.add(path, f"there is no material {name!r}{nearest(name, sorted(set(known)))}")

    def _try(
        self, path: Path, make: Callable[[], Any], name: str | None = None, uses: tuple[str | None, ...] = ()
    ) -> Any:
        """What `make` gives; where it refuses, None, and the reason is noted unless the fault is elsewhere."""
        if any(use is not None and self._is_lost(use) for use in uses):
            return None
        try:
            return make()
        except ModelError as error:
            self.problems.add(path, str(error))
        except (OverflowError, FloatingPointError, MemoryError) as error:
            self.problems.add(path, f"its numbers are too large: {error}.")
        if name is not None:
            self.lost.add(name)
        return None

    def _is_lost(self, name: str) -> bool:
        """Whether a body or joint is one that could not be made, or of an array that could not."""
        return name in self.lost or name.rpartition(" ")[0] in self.lost
