"""Calls of every public name with right and with wrong arguments.

Names are walked, not listed: a new public name is covered when it is added. The arguments of a call that works are
made from the names and annotations of parameters; then one at a time is replaced by something wrong.
"""

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import random
import re
import traceback
import warnings
from functools import cache, cached_property
from pathlib import Path

import numpy as np

import stiction as st


class Anything:
    """A class that takes whatever it is given: where a function may stand, one that returns nothing of use."""

    def __init__(self, *arguments, **options):
        pass


WRONG = {
    "None": None,
    "an object": object(),
    "a class": Anything,
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
# What the parts of the library hand each other at every step is not checked there (docs/architecture.md): methods of
# the interfaces between them, arrays as they are, and what schemes and contacts ask of laws.
INTERFACES = ("System", "Scheme", "Solver")
ARRAY = re.compile(
    r"(FloatArray|IntArray|np\.ndarray|npt\.NDArray.*|list\[FloatArray\]|Candidates|tuple\[Candidates.*|Place"
    r"|Constraints|Directions)( \| None)?"
)
BETWEEN = {"solve_any_law", "WorkDriven.of", "ContactProblem.trusted", "Bodies.trusted", "Trajectory.lazily", "Joint"}

TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
THREE = [(f"{law}.{method}", name) for law in ("Mixed", "Torsional")
         for method, name in (("support", "u"), ("support_point", "u"), ("gauge", "f"), ("project", "f"))]  # fmt: skip
# Right arguments that are no more than numbers, names and functions: by parameter, or by callable and parameter.
RIGHT = {
    "M": np.eye(2), "W": np.eye(2), "H": np.eye(2), "mass": np.eye(2), "q": [0.0, -1.0], "z": [0.0, 1.0],
    "p": np.zeros(2), "v": [0.0, 0.0], "u": [0.1, 0.2], "f": [0.1, 0.2], **{key: [0.1, 0.2, 0.3] for key in THREE},
    "row": 0, ("extent", "row"): [1.0, 0.0], "row_ptr": [0, 2], "law": [1], "status": st.Status.SOLVED,
    "a": "ball", "b": "box", "body": "ball", "joint": "hinge", "which": "hinge", "target": 0.2,
    ("World.body", "which"): "ball", ("PlanarWorld.body", "which"): "ball", ("Ellipse", "a"): 2,
    ("Ellipse", "b"): 1,
    "anchor": (0, 0, 0), "anchor_a": (0, 0, 0), "anchor_b": (0, 0, 1), "axis": (0, 1, 0), "axis_a": (1, 0, 0),
    "axis_b": (0, 1, 0), "normal": (0, 1, 0), "direction": (0, 1, 0), ("largest_pull", "direction"): (1.0, 0.0),
    "lengths": (1, 1, 1), "semi_axes": (1, 1, 1), "start": (0, 0), "end": (1, 0), "vertices": [(0, 0), (1, 0), (0, 1)],
    "points": TETRAHEDRON, "source": TETRAHEDRON, "rows": lambda q: [[1.0, 0.0]],
    ("wall", "rows"): 2, ("chain_mail", "rows"): 2, "phi": lambda q: q[1],
    "rule": "continuity", "steps": 2, ("convergence", "steps"): [0.02, 0.01], "duration": 0.02, "dt": 0.01, "h": 0.01,
    "contact": "floor", "name": "floor", ("experiment", "name"): "st96-rod", "bound": 0.5, "x": [0.1, 0.2],
    "y": [0.1, 0.2], "values": [0.1, 0.2], "times": [0.0, 1.0], "kinetic": 0.2, "kn": 100.0, "states": 2, "value": 0.3,
    "kind": "joint", ("make_solver", "solver"): "auto",
    "int": 2, "float": 0.5, "str": "x", "bool": True, "Coefficient": 0.5,
}  # fmt: skip
# What messages call an argument, where it is not its name.
CALLED = {("parse_scene", "text"): "TOML", ("Mesh", "source"): "vertices",
          ("World.add_force", "body"): "add_force", ("PlanarWorld.add_force", "body"): "add_force"}  # fmt: skip
# Optional arguments without which a call would not do, or would do less.
OPTIONS = {
    "ConvexSet": {"gauge": np.linalg.norm},
    "Polyhedral": {"directions": [(1, 0), (0, 1), (-1, -1)]},
    "Mesh": {"faces": [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]},
    "Motor": {"speed": 1.0, "bound": 1.0},
    "Revolute": {"axis": (0, 1, 0)},
    "Rack": {"axis": (0, 0, 1), "direction": (1, 0, 0)},
    "Gear": {"axis_a": (0, 1, 0), "axis_b": (0, 1, 0)},
    "Oscillation": {"amplitude": (0, 0, 0.1), "angle": 0.1, "axis": (0, 0, 1)},
    "Rotation": {"axis": (0, 0, 1)},
    "Table": {"positions": [(0, 0, 0), (0, 0, 1)]},
    "ContactProblem": {"friction": 0.5},
    "ContactProblem.from_delassus": {"row_ptr": [0, 2], "law": [1], "friction": 0.5},
    "GeneralizedSystem.from_lagrangian": {"q": [0.0, 0.0]},
    "World.add_body": {"mass": 1.0, "inertia": 1.0},
    "PlanarWorld.add_body": {"mass": 1.0, "inertia": 1.0},
    "World.add_force": {"force": (0.0, 0.0, 0.0)},
    "PlanarWorld.add_force": {"force": (0.0, 0.0)},
    "World.add_spring": {"anchor_a": (0, 0, 1), "anchor_b": (0, 0, 0), "stiffness": 1.0},
    "PlanarWorld.add_spring": {"anchor_a": (0, 1), "anchor_b": (0, 0), "stiffness": 1.0},
    "Trajectory.contacts": {"which": "ball", "other": "floor"},
    "Trajectory.force": {"which": "ball", "other": "floor"},
}


class Made:
    """What arguments of calls that work are made of; what a call may change is made anew for each."""

    def __init__(self, folder):
        self.folder = folder

    def world(self, plane=True):
        world = st.PlanarWorld() if plane else st.World()
        world.add_plane(name="floor")
        ball, box = (st.Disk(0.5), st.Polygon.box(1, 1)) if plane else (st.Sphere(0.5), st.Box((1, 1, 1)))
        for name, shape, x in (("ball", ball, 0), ("box", box, 2)):
            world.add_body(shape, mass=1, name=name, position=(x, 0.5) if plane else (x, 0, 0.5))
        place = {"anchor": (1, 0.5)} if plane else {"anchor": (1, 0, 0.5), "axis": (0, 1, 0)}
        world.add_joint(st.Revolute("ball", "box", motor=st.Motor(speed=0.1, bound=1), name="hinge", **place))
        return world

    def simulator(self):
        return st.Simulator(self.world(), 0.01)

    @cached_property
    def system(self):
        gap = st.Gap(lambda q: q[1], lambda q: [0, 1], lambda q: [[1, 0]], 0.5, name="floor")
        return st.GeneralizedSystem(np.eye(2), [0, -9.81], q=[0, 0], gaps=[gap])

    @cached_property
    def runs(self):
        return tuple(st.Simulator(self.system, h).run(0.05) for h in (0.01, 0.005))

    @cached_property
    def world_run(self):
        return self.simulator().run(0.02)

    @cached_property
    def problem(self):
        dynamics = st.Dense(np.eye(2), np.eye(2)[::-1].copy())
        return st.ContactProblem(dynamics, row_ptr=[0, 2], law=[st.Law.UNILATERAL], v_free=[0.5, -1.0], friction=0.5)

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
    def solutions(self):
        return st.lcp.solutions(np.ones((2, 2)), [-1.0, -1.0])

    @cached_property
    def scene_file(self):
        path = self.folder / "scene.toml"
        self.world().to_scene().save(path)
        return path

    @cached_property
    def recording(self):
        path = self.folder / "recording.h5"
        self.simulator().run(0.02, record=path)
        return path

    @cached_property
    def fclib_file(self):
        path = self.folder / "problem.hdf5"
        st.write_fclib(self.problem, path)
        return path

    def of_class(self, name):
        """Something of a class, by its name; None where no fixture is."""
        make = {
            "World": lambda: self.world(plane=False),
            "PlanarWorld": self.world,
            "WorldBuilder": self.world,
            "Simulator": self.simulator,
            "Trajectory": lambda: self.world_run,
            "GeneralizedSystem": lambda: self.system,
            "System": lambda: self.system,
            "State": lambda: self.system.initial_state(),
            "ContactProblem": lambda: self.problem,
            "Dense": lambda: self.problem.dynamics,
            "Dynamics": lambda: self.problem.dynamics,
            "Solution": lambda: st.solve(self.problem),
            "SolveCertificate": lambda: st.solve(self.problem).certificate,
            "Form": lambda: self.form,
            "Motions": lambda: self.motions,
            "Motion": lambda: self.motions[0],
            "Convergence": lambda: self.convergence,
            "SolutionSet": lambda: self.solutions,
            "Face": lambda: self.solutions.faces[0],
            "Scene": lambda: st.read_scene(self.scene_file),
            "Joint": lambda: st.Fixed("ball", "floor"),
        }.get(name)
        return None if make is None else make()

    def one(self, kind):
        """Something of a class, if need be by its constructor."""
        found = self.of_class(kind.__name__)
        return kind(**self.arguments(kind.__name__, kind)) if found is None else found

    def argument(self, owner, parameter):
        """A value for a parameter that has no default."""
        name, said = parameter.name, str(parameter.annotation)
        make = {
            "given": lambda: self.system,
            "system": lambda: self.system,
            "make": lambda: lambda *arguments: self.system,
            "run": lambda: self.runs[0],
            "runs": lambda: self.runs,
            "text": lambda: self.scene_file.read_text(),
            "path": lambda: self.folder / "file.h5",
            ("export", "path"): lambda: self.folder / "run.csv",
            ("export", "run"): lambda: self.world_run,
            ("Trajectory.export", "path"): lambda: self.folder / "run.csv",
            ("Trajectory.film", "path"): lambda: self.folder / "run.gif",
            ("statics", "system"): self.world,
            ("load", "path"): lambda: self.recording,
            ("Simulator.restore", "path"): lambda: self.recording,
            ("Simulator.resume", "path"): lambda: self.recording,
            ("read_fclib", "path"): lambda: self.fclib_file,
            ("read_scene", "path"): lambda: self.scene_file,
            ("bound_of", "problem"): lambda: lambda mu: self.problem,
            ("Simulator.start_from", "state"): lambda: self.simulator().state,
            ("Motions", "motions"): lambda: list(self.motions),
        }
        for key in ((owner, name), name):
            if key in make:
                return make[key]()
        for kind in re.findall(r"[A-Z]\w+", said):
            if kind != "Body" and (value := self.of_class(kind)) is not None:
                return value
        return next((RIGHT[key] for key in ((owner, name), name, said) if key in RIGHT), None)

    def arguments(self, owner, function):
        """The arguments of a call that works."""
        needed = {p.name: self.argument(owner, p) for p in parameters(function) if p.default is p.empty}
        return needed | OPTIONS.get(owner, {})


@cache
def modules():
    """The package, and every part of it that says what is public in it."""
    names = [module.name for module in pkgutil.iter_modules(st.__path__) if module.name[0] != "_"]
    found = [importlib.import_module(f"stiction.{name}") for name in names]
    return [st, *(module for module in found if hasattr(module, "__all__"))]


@cache
def parameters(function):
    """Those that callers give by name."""
    try:
        every = inspect.signature(function).parameters.values()
    except ValueError:  # of a class that Python makes
        return ()
    return tuple(p for p in every if p.name not in ("self", "cls") and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


def for_users(name, function):
    """Whether a callable is meant for users, and has arguments."""
    given = parameters(function)
    if not given or name in BETWEEN:
        return False
    typed = all(p.annotation is not p.empty for p in given)  # kernels say no types
    asked = any(p.name in ("dim", "space") for p in given)  # by a contact
    needs = any(p.default is p.empty and ARRAY.fullmatch(str(p.annotation)) for p in given)
    window = "Viewer" in str(inspect.signature(function).return_annotation)
    return typed and not asked and not needs and not window


def keeps(kind):
    """Whether a class is a record that only keeps what it is given."""
    made = inspect.unwrap(kind.__init__).__code__.co_filename == "<string>"
    return dataclasses.is_dataclass(kind) and made and not hasattr(kind, "__post_init__")


@cache
def interfaces():
    every = {name: getattr(module, name) for module in modules() for name in module.__all__}
    return [{n for n, f in vars(every[name]).items() if inspect.isfunction(f) and n[0] != "_"} for name in INTERFACES]


def methods(name, kind):
    """Name, function and call of the methods that are meant for users."""
    theirs = set().union(*(names for names in interfaces() if names <= set(dir(kind))))
    for attribute in sorted(set(dir(kind)) - theirs):
        method = inspect.getattr_static(kind, attribute)
        function = getattr(method, "__func__", method)
        if attribute[0] == "_" or not inspect.isfunction(function) or not function.__module__.startswith("stiction"):
            continue
        if for_users(f"{name}.{attribute}", function):

            def call(made, values, attribute=attribute, free=method is not function):
                return getattr(kind if free else made.one(kind), attribute)(**values)

            yield f"{name}.{attribute}", function, call


def constructed(made, kind, values):
    """Something of a class, brought where its arguments are looked at."""
    something = kind(**values)
    if hasattr(kind, "primitives"):  # a joint
        made.world(plane=False).add_joint(something)
    elif hasattr(kind, "at"):  # a motion
        world = st.World()
        world.add_body(st.Sphere(0.5), kind="kinematic", motion=something)
        st.Simulator(world, 0.01).step()


@cache
def callables():
    """Name, function and call of everything public that is meant for users."""
    found = {}
    for name, value in ((name, getattr(module, name)) for module in modules() for name in module.__all__):
        if not inspect.isclass(value):
            if callable(value) and for_users(name, value):
                found[name] = (name, value, lambda made, values, value=value: value(**values))
        elif not issubclass(value, (enum.Enum, Exception)) and not inspect.isabstract(value) and name not in INTERFACES:
            if for_users(name, value) and (not keeps(value) or hasattr(value, "primitives") or hasattr(value, "at")):
                found[name] = (name, value, lambda made, values, value=value: constructed(made, value, values))
            found |= {method[0]: method for method in methods(name, value)}
    return list(found.values())


def says(message, name, parameter, value):
    """Whether a message says which argument is wrong: by what it is called, or by what it was."""
    was = [repr(value)[:40], str(value)]
    was += [f"{value:g}"] if isinstance(value, float) else map(repr, value) if isinstance(value, list) else []
    of_result = value is Anything and re.search("Callable|Any", str(parameter.annotation))  # of a function's result
    called = CALLED.get((name, parameter.name), parameter.name)
    return called in message or any(text in message for text in was) or of_result


def sweep(made, share):
    """Every wrong call that raises anything but a `StictionError`, or one that does not say which argument it is."""
    chance, faults = random.Random(0), []
    for name, function, call in callables():
        for p in parameters(function):
            for kind, value in WRONG.items():
                if chance.random() >= share or (value is None and p.default is None):
                    continue
                try:
                    call(made, made.arguments(name, function) | {p.name: value})
                except st.StictionError as error:
                    if not says(str(error), name, p, value):
                        faults.append(f"{name}({p.name}={kind}) does not name it: {error}")
                except Exception as error:
                    faults.append(f"{name}({p.name}={kind}): {type(error).__name__}: {error}")
    return faults


ENDLESS = 10**400


def wrong_value(chance):
    """Something that hardly any argument may be."""
    number = chance.choice([float("nan"), float("inf"), -1.0, 0, -0.0, ENDLESS, 1e-320, 1j, True, np.int8(-1)])
    shape = chance.choice([(), (0,), (1,), (3,), (4,), (2, 2), (0, 3), (7, 9), (2, 3, 4)])
    kind = chance.choice(["number", "array", "list", "object", "words", "nested", "known"])
    if kind == "number":
        return number
    if kind == "array":
        filled = chance.choice([1.0, 0.0, np.nan, np.inf, -1e300, 1j, "text", None, True])
        return np.full(shape, filled)
    if kind == "list":
        return [number] * chance.randrange(5)
    if kind == "object":
        return chance.choice(
            [object(), Anything, Anything(), st, st.Sphere, b"\0", range(3), {1, 2}, iter(()), slice(2)]
        )
    if kind == "words":
        return chance.choice(["", "\0", "wrong", "ball", "floor", "\n", "é" * 300, "../x", "nan"])
    if kind == "nested":
        return [[number, [number]], {"a": number}, (None,)][: chance.randrange(4)]
    return chance.choice(list(WRONG.values()))


def random_call(made, chance):
    """Call a public name with one to three wrong arguments: what came of it, and what is to be said against it."""
    name, function, call = chance.choice(callables())
    given = parameters(function)
    wrong = {p.name: wrong_value(chance) for p in chance.sample(given, min(len(given), chance.choice([1, 1, 2, 3])))}
    endless = [p.name for p in given if p.annotation == "int" and wrong.get(p.name) is ENDLESS]
    wrong |= dict.fromkeys(endless, -1)  # so many steps are a right call, which nobody waits for
    told = f"{name}({', '.join(f'{key}={value!r:.60s}' for key, value in wrong.items())})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, of numbers as large as 1e300
            call(made, made.arguments(name, function) | wrong)
    except st.StictionError:
        return "refused", []
    except OSError:  # what the disk says of a name
        return "refused by the disk", []
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return "raised something else", [f"{told}: {type(error).__name__}: {str(error)[:200]} ({where})"]
    return "done", []
