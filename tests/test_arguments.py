"""Wrong arguments: every public callable answers with a `StictionError` that names the argument.

Names are walked, not listed: a new public name is covered when it is added. Arguments of a call that works are made
from annotations, by the fixtures below; then one argument at a time is replaced by something wrong.
"""

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import random
import re
import warnings
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest

import stiction as st

WRONG = {
    "None": None,
    "an object": object(),
    "a class": int,
    "a string": "wrong",
    "an empty list": [],
    "a list": [1],
    "a dict": {1: 2},
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a negative number": -1.0,
    "a shape": np.ones((7, 9)),
    "NaNs": np.full(3, np.nan),
    "a complex number": 1j,
}
FRICTION = (("support", "u"), ("support_point", "u"), ("gauge", "f"), ("project", "f"))
# Arguments that are no more than numbers and names, by name, or by the callable and name.
RIGHT = {
    "which": "hinge", ("World.body", "which"): "ball", ("PlanarWorld.body", "which"): "ball",
    "body": "ball", "a": "ball", "b": "box", "joint": "hinge", "target": 0.2, ("Ellipse", "a"): 2.0, ("Ellipse", "b"): 1.0,
    "anchor": (0, 0, 0), "anchor_a": (0, 0, 0), "anchor_b": (0, 0, 1), "axis": (0, 1, 0), "axis_a": (1, 0, 0),
    "axis_b": (0, 1, 0), "normal": (0, 1, 0), "direction": (0, 1, 0), ("largest_pull", "direction"): (1.0, 0.0),
    "M": np.eye(2), "W": np.eye(2), "H": np.eye(2), "q": [0.0, -1.0], "z": [0.0, 1.0], "mass": np.eye(2),
    "p": np.zeros(2), "u": [0.1, 0.2], "f": [0.1, 0.2], "v": [0.0, 0.0], "row": 0, ("extent", "row"): [1.0, 0.0],
    "row_ptr": [0, 2], "law": [1], "lengths": (1, 1, 1), "semi_axes": (1, 1, 1), "start": (0, 0), "end": (1, 0),
    "vertices": [(0, 0), (1, 0), (0, 1)], "points": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "times": [0.0, 1.0],
    "source": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "rows": lambda q: [[1.0, 0.0]], "phi": lambda q: q[1],
    "rule": "continuity", "steps": 2, ("convergence", "steps"): [0.02, 0.01], "duration": 0.02, "dt": 0.01, "h": 0.01,
    "contact": "floor", "name": "floor", ("experiment", "name"): "st96-rod", "bound": 0.5, "x": [0.1, 0.2],
    "y": [0.1, 0.2], "values": [0.1, 0.2], "kinetic": 0.2, "states": 2, "value": 0.3, "kind": "joint",
    ("make_solver", "solver"): "auto", "kn": 100.0,
    **{(f"{s}.{m}", a): [0.1, 0.2, 0.3] for s in ("Mixed", "Torsional") for m, a in FRICTION},
}  # fmt: skip
# What the boxes of the library hand each other at every step is not checked there (docs/architecture.md): methods
# of the interfaces between them, and methods that take arrays as they are.
INTERFACES = ("System", "Scheme", "Solver")
ARRAYS = re.compile("FloatArray|IntArray|ndarray|NDArray|Candidates|Place|Constraints|Dynamics")


class Made:
    """Arguments of calls that work. Those that a call may change are made anew for each."""

    def __init__(self, folder):
        self.folder = folder

    def world(self, plane=False):
        world = st.PlanarWorld() if plane else st.World()
        world.add_plane(name="floor")
        at = (lambda *p: p) if plane else (lambda x, z: (x, 0, z))
        ball = world.add_body(st.Disk(0.5) if plane else st.Sphere(0.5), mass=1, name="ball", position=at(0, 0.5))
        box = world.add_body(st.Polygon.box(1, 1) if plane else st.Box((1, 1, 1)), mass=1, name="box", position=at(2, 0.5))
        axis = {} if plane else {"axis": (0, 1, 0)}
        world.add_joint(st.Revolute(ball, box, anchor=at(1, 0.5), motor=st.Motor(speed=0.1, bound=1), name="hinge", **axis))
        return world

    def simulator(self):
        return st.Simulator(self.world(plane=True), 0.01)

    @cached_property
    def system(self):
        gap = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [[1, 0]], 0.5, name="floor")
        return st.GeneralizedSystem(np.eye(2), [0, -9.81], q=[0, 0], gaps=[gap])

    @cached_property
    def run(self):
        return st.Simulator(self.system, 0.01).run(0.05)

    @cached_property
    def world_run(self):
        return self.simulator().run(0.02)

    @cached_property
    def problem(self):
        return st.ContactProblem(
            st.Dense(np.eye(2), np.eye(2)[::-1].copy()), row_ptr=[0, 2], law=[st.Law.UNILATERAL], v_free=[0.5, -1.0],
            friction=[st.Coulomb(0.5)],
        )  # fmt: skip

    @cached_property
    def form(self):
        return st.analysis.impulse_velocity(self.system)

    @cached_property
    def motions(self):
        return st.analysis.all_motions(self.form)

    @cached_property
    def convergence(self):
        return st.analysis.convergence(self.system, [0.02, 0.01, 0.005], 0.1)

    @cached_property
    def lcp(self):
        return st.lcp.solutions(np.eye(2), [-1.0, 1.0])

    @cached_property
    def faces(self):
        return st.lcp.solutions(np.ones((2, 2)), [-1.0, -1.0])

    @cached_property
    def scene_file(self):
        path = self.folder / "scene.toml"
        self.world(plane=True).to_scene().save(path)
        return path

    def instance(self, kind):
        """Something of a class; None where none is made here."""
        for base in kind.__mro__:
            make = {
                "World": lambda: self.world(),
                "PlanarWorld": lambda: self.world(plane=True),
                "WorldBuilder": lambda: self.world(plane=True),
                "Simulator": self.simulator,
                "Trajectory": lambda: self.world_run,
                "GeneralizedSystem": lambda: self.system,
                "System": lambda: self.system,
                "ContactProblem": lambda: self.problem,
                "Dense": lambda: self.problem.dynamics,
                "Form": lambda: self.form,
                "Motions": lambda: self.motions,
                "Motion": lambda: self.motions[0],
                "Convergence": lambda: self.convergence,
                "SolutionSet": lambda: self.lcp,
                "Face": lambda: self.faces.faces[0],
                "Scene": lambda: st.read_scene(self.scene_file),
                "Joint": lambda: st.Fixed("ball", "floor"),
                "Solution": lambda: st.solve(self.problem),
                "SolveCertificate": lambda: st.solve(self.problem).certificate,
                "State": lambda: self.system.initial_state(),
                "Coulomb": lambda: st.Coulomb(0.5),
            }.get(base.__name__)
            if make is not None and (base is kind or base.__name__ != "Joint"):
                return make()
        return None

    def argument(self, owner, parameter):
        """A value for a parameter that has no default."""
        name, said = parameter.name, str(parameter.annotation)
        made = {
            "given": lambda: self.system,
            "system": lambda: self.system,
            "run": lambda: self.world_run if owner == "export" else self.run,
            "runs": lambda: (self.run, st.Simulator(self.system, 0.005).run(0.05)),
            "text": lambda: self.scene_file.read_text(),
            "make": lambda: self.makes(owner),
            "problem": lambda: (lambda mu: self.problem) if owner == "bound_of" else self.problem,
            "path": lambda: {"read_scene": self.scene_file, "export": self.folder / "run.csv"}.get(
                owner, self.folder / "file.h5"
            )
            if owner not in ("Simulator.restore", "Simulator.resume", "load", "read_fclib")
            else self.file(owner),
            "state": lambda: self.simulator().state if owner.startswith("Simulator") else self.system.initial_state(),
            "world": lambda: self.world(plane=True),
            "simulator": lambda: None,
            "motions": lambda: [self.motions[0]] if owner == "Motions" else self.motions,
        }.get(name)
        if made is not None:
            return made()
        for kind in re.findall(r"[A-Z]\w+", said):
            found = kind not in ("Any", "Callable", "Sequence", "Function") and _class(kind)
            if found and (value := self.instance(found)) is not None:
                return value
        found = RIGHT.get((owner, name), RIGHT.get(name))
        return {"int": 2, "float": 0.5, "str": "x", "bool": True, "Coefficient": 0.5}.get(said) if found is None else found

    def file(self, owner):
        """A file of ours."""
        path = self.folder / f"{owner}.h5"
        if owner == "read_fclib":
            st.write_fclib(self.problem, path)
        else:
            self.simulator().run(0.02, record=path)
        return path

    def makes(self, owner):
        """A function that makes systems."""
        return {"mode_map": lambda x, y: self.system, "scan": lambda x: self.system}.get(owner, lambda: self.system)

    def arguments(self, owner, given):
        """The arguments of a call that works."""
        needed = {p.name: self.argument(owner, p) for p in given if p.default is p.empty}
        return needed | {
            "ConvexSet": {"gauge": np.linalg.norm},
            "Polyhedral": {"directions": [(1, 0), (0, 1), (-1, -1)]},
            "Motor": {"speed": 1.0, "bound": 1.0},
            "Mesh": {"faces": [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]},
            "add_body": {"mass": 1.0, "inertia": 1.0},
            "World.add_spring": {"anchor_a": (0, 0, 1), "anchor_b": (0, 0, 0), "stiffness": 1.0},
            "PlanarWorld.add_spring": {"anchor_a": (0, 1), "anchor_b": (0, 0), "stiffness": 1.0},
            "Trajectory.export": {"path": self.folder / "run.csv"},
            "Trajectory.film": {"path": self.folder / "run.gif"},
            "scene_of": {"duration": 1.0, "title": "x"},
        }.get(owner if owner.split(".")[-1] in ("export", "film", "add_spring") else owner.split(".")[-1], {})


@cache
def _class(name):
    for module in modules():
        if inspect.isclass(value := getattr(module, name, None)):
            return value
    return None


@cache
def modules():
    """The package, and every part of it that says what is public in it."""
    found = [importlib.import_module(f"stiction.{i.name}") for i in pkgutil.iter_modules(st.__path__) if i.name[0] != "_"]
    return [st, *(module for module in found if hasattr(module, "__all__"))]


def parameters(function):
    try:
        every = inspect.signature(function).parameters.values()
    except ValueError:  # of a class that Python makes
        return []
    return [p for p in every if p.name != "self" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def for_users(function):
    """Whether a callable is meant for users."""
    given = parameters(function)
    if any(p.name in ("dim", "space") for p in given):  # what a contact asks of its friction set
        return False
    known = all(p.annotation is not p.empty for p in given)  # kernels say no types
    viewer = "Viewer" in str(inspect.signature(function).return_annotation) if given else False
    return given and known and not viewer and not any(ARRAYS.search(str(p.annotation)) for p in given)


@cache
def interfaces():
    return {name for kind in INTERFACES for name in vars(_class(kind)) if name[0] != "_"}


def callables():
    """(name, class or None, the callable's name in it) of everything public."""
    seen = set()
    for module in modules():
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value) or value in seen:
                continue
            seen.add(value)
            if not inspect.isclass(value):
                if for_users(value):
                    yield name, None, value
                continue
            if issubclass(value, (enum.Enum, Exception)) or getattr(value, "_is_protocol", False):
                continue
            record = dataclasses.is_dataclass(value) and not hasattr(value, "__post_init__")  # keeps what it is given
            if for_users(value) and not record and not inspect.isabstract(value):
                yield name, None, value
            for attribute in dir(value):
                method = inspect.getattr_static(value, attribute)
                method = getattr(method, "__func__", method)
                if attribute[0] == "_" or not inspect.isfunction(method) or attribute in interfaces() or inspect.isabstract(value):
                    continue
                if method.__module__.startswith("stiction") and for_users(method):
                    yield f"{name}.{attribute}", value, attribute


def calls(made):
    """(what, the call, the argument replaced, what by) of one wrong argument at a time; the first of each is right."""
    for name, owner, what in callables():
        function = what if owner is None else inspect.getattr_static(owner, what)
        bound = isinstance(function, (classmethod, staticmethod))
        function = getattr(function, "__func__", function)
        given = [p for p in parameters(function) if p.name != "cls"]

        def call(values, owner=owner, what=what, bound=bound):
            if owner is None:
                return what(**values)
            if bound:
                return getattr(owner, what)(**values)
            instance = made.instance(owner)
            if instance is None:
                instance = owner(**made.arguments(owner.__name__, parameters(owner)))
            return getattr(instance, what)(**values)

        def base(given=given, name=name):
            return made.arguments(name, given)

        yield name, call, base, None, None
        for p in given:
            for wrong in WRONG:
                yield name, call, base, p.name, wrong
