"""From a world to the tables of a scene, such that the scene runs to the same bits."""

from __future__ import annotations

import math
from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np

from .._arguments import checks_arguments
from ..errors import ModelError, SceneError
from ..friction import Anisotropic, Coulomb, Frictionless, Mixed, Polyhedral, Rolling, Stribeck, Torsional
from ..schemes import AnitescuHart, Compliant, Moreau, Stewart, StewartTrinkle, TzitzourisPang, WorkDriven
from ..simulation import Simulator
from ..solvers import SOLVERS, make_solver
from ..systems import HalfPlane, Mesh
from ..systems.builder.bodies import BodySpec
from ..systems.builder.motions import Motion
from ..systems.builder.world import WorldBuilder
from ..systems.elastic import Elastic
from ..systems.restitution import LAWS, Fading, law_code
from .document import VERSION
from .scene import Scene, scene_from

Tables = dict[str, Any]


@checks_arguments
def scene_of(world: WorldBuilder, simulator: Simulator | None, *, duration: float, title: str) -> Scene:
    """A world and the settings of a simulator as a scene; see `World.to_scene`."""
    try:
        data = {
            "stiction": VERSION,
            **({"title": title} if title else {}),
            "world": _world(world),
            "run": _run(simulator, duration),
            "materials": {name: _material(name, law) for name, law in world.materials.named.items()},
            "contacts": _contacts(world),
            "bodies": [_body(spec) for spec in world.bodies[1:]],
            "joints": [_joint(joint) for joint in world.joints],
            "springs": [_spring(spring, world) for spring in world.springs],
            "forces": [_force(force) for force in world.forces],
        }
    except ModelError as error:
        raise SceneError(f"to_scene: {error}") from None
    return scene_from({key: value for key, value in data.items() if value != []}, "to_scene")


def plain(value: Any) -> Any:
    """Numbers, lists and text, as TOML has them."""
    if isinstance(value, np.ndarray):
        return value.astype(float).tolist()
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (np.floating, np.integer)):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def _only(where: str, value: Any, what: str = "function") -> Any:
    """Refuse what only Python knows."""
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__name__)
        raise ModelError(f"{where} is a Python {what} ({name}), which a scene file cannot hold.")
    return value


def _world(world: WorldBuilder) -> Tables:
    table: Tables = {"kind": "space" if world.dim == 3 else "plane", "gravity": plain(world.gravity)}
    joined = {tuple(sorted((world.body(j.a), world.body(j.b)))) for j in world.joints}
    apart = [[world.bodies[i].name, world.bodies[j].name] for i, j in sorted(world.excluded - joined)]
    return table | ({"exclude": apart} if apart else {})


def _run(simulator: Simulator | None, duration: float) -> Tables:
    if simulator is None:
        return {"dt": 0.005, "duration": float(duration)}
    solver = simulator.solver
    if SOLVERS.get(solver.name) is not type(solver):
        raise ModelError(f"solver {solver.name!r} is one of your own, which a scene file cannot hold.")
    fresh = make_solver(solver.name)
    if any(getattr(solver, option) != getattr(fresh, option) for option in signature(type(solver)).parameters):
        raise ModelError(f"solver {solver.name!r} has options of its own, which a scene file cannot hold.")
    return {
        "dt": simulator.dt, "duration": float(duration), "scheme": _scheme(simulator.scheme),
        "solver": solver.name, "tol": simulator.tol, "on_failure": simulator.on_failure,
        **({} if simulator.accept is None else {"accept": simulator.accept}),
    }  # fmt: skip


def _scheme(scheme: Any) -> Tables:
    if type(scheme) not in (AnitescuHart, StewartTrinkle, Moreau, Stewart, TzitzourisPang, Compliant):
        raise ModelError(f"scheme {type(scheme).__name__} is one of your own, which a scene file cannot hold.")
    table: Tables = {"type": type(scheme).__name__}
    for one in fields(scheme):
        value = getattr(scheme, one.name)
        if not one.init or value == one.default:
            continue
        if isinstance(value, WorkDriven):
            _only("the stiffness of WorkDriven", value.stiffness)
            table[one.name] = {"type": "WorkDriven", "exponent": value.exponent}
        elif one.name == "active" and not isinstance(value, (str, int, float)):
            table["active"] = value.eps if hasattr(value, "eps") else type(value).__name__.lower()
        else:
            table[one.name] = "smooth" if value is None and one.name == "directions" else plain(value)
    return table


def _material(name: str, made: Any) -> Tables:
    table = _law(f"material {name!r}", made)
    if made.solid is not None:
        table |= {"young": made.solid.young, "poisson": made.solid.poisson}
        if made.solid.restitution is not None:
            table["restitution"] = made.solid.restitution
    return table | {key: getattr(made, key) for key in ("density", "fillet") if getattr(made, key) is not None}


def _law(where: str, law: Any) -> Tables:
    table: Tables = {"friction": _friction(f"friction of {where}", law.friction)}
    if isinstance(law.compliance, Elastic):
        soft = {one.name: getattr(law.compliance, one.name) for one in fields(Elastic)}
        given = {name: float(value) for name, value in soft.items() if value is not None}
        table["compliance"] = {"type": "Elastic"} | given
    elif law.compliance is not None:
        soft = dict(zip(("kn", "gamma_n", "gamma_t"), law.compliance.row))
        table["compliance"] = {name: value for name, value in soft.items() if value < math.inf}
    return table | _restitution(where, law.restitution)


def _restitution(where: str, given: Any) -> Tables:
    """A number, or a table with whose law it is and how it fades; nothing for 0."""
    law = LAWS[law_code(given)]
    e = given.e if law else given
    fades = {"fades": e.speed} if isinstance(e, Fading) else {}
    e = float(e.e if isinstance(e, Fading) else _only(f"restitution of {where}", e))
    if law or fades:
        return {"restitution": {"e": e, **({"law": law} if law else {}), **fades}}
    return {"restitution": e} if e else {}


def _friction(where: str, law: Any) -> Any:
    mu: Any = law.mu
    if law.speed_law is not None:
        if not isinstance(law.speed_law, Stribeck):
            raise ModelError(f"{where} depends on speed by a Python function, which a scene file cannot hold.")
        mu = {"type": "Stribeck", **{f.name: getattr(law.speed_law, f.name) for f in fields(Stribeck)}}
    if type(law) is Frictionless:
        return "none"
    if type(law) is Coulomb:
        return mu if law.speed_law is None else {"type": "Coulomb", "mu": mu}
    if type(law) is Polyhedral:
        table: Tables = {"type": "Polyhedral", "mu": mu}
        if "directions" in law.given:
            table["directions"] = plain(law.given["directions"])
        else:
            table["normals"], table["offsets"] = (plain(part) for part in law.given["facets"])
        return table | ({} if law.axis is None else {"axis": plain(law.axis)})
    known: dict[Any, tuple[str, ...]] = {
        Anisotropic: ("mu_x", "mu_y", "axis"),
        Torsional: ("mu", "et", "eo", "er", "axis"),
        Mixed: ("mu", "et", "eo", "er", "axis"),
        Rolling: ("mu", "mu_r", "mu_s"),
    }
    if type(law) not in known:
        raise ModelError(f"{where} is a {type(law).__name__} written in Python, which a scene file cannot hold.")
    values = {key: mu if key == "mu" else plain(getattr(law, key)) for key in known[type(law)]}
    return {"type": type(law).__name__, **{key: value for key, value in values.items() if value is not None}}


def _contacts(world: WorldBuilder) -> list[Tables]:
    found = []
    for (i, j), law in world.pair_laws.items():
        pair = [world.bodies[i].name, world.bodies[j].name]
        found.append({"bodies": pair, **_law(f"{pair[0]!r} and {pair[1]!r}", law)})
    for names, law in world.materials.pairs.items():
        found.append({"materials": list(names), **_law(f"materials {names[0]!r} and {names[1]!r}", law)})
    return found


def _body(spec: BodySpec) -> Tables:
    given = spec.given
    table: Tables = {"name": spec.name, "kind": spec.kind}
    if spec.shapes:
        made = [_shape(f"body {spec.name!r}", shape) for shape in spec.shapes]
        table |= {"shape": made[0]} if len(made) == 1 else {"shapes": made}
    for key in ("mass", "density", "inertia", "com", "position", "orientation", "angle", "velocity"):
        if key in given:
            table[key] = plain(given[key])
    spin = plain(spec.spin)
    table["angular_velocity"] = spin if len(spin) == 3 else spin[0]
    rest = {"orientation": [1.0, 0.0, 0.0, 0.0], "angle": 0.0}
    table = {k: v for k, v in table.items() if v != rest.get(k)}
    for key in ("velocity", "angular_velocity"):
        if not np.any(table[key]) and not np.signbit(table[key]).any():
            del table[key]
    if spec.material != "default":
        table["material"] = spec.material
    if spec.group is not None:
        table["group"] = spec.group
    motion = given.get("motion")
    if motion is not None:
        table["motion"] = _motion(f"motion of body {spec.name!r}", motion)
    return table


def _shape(where: str, shape: Any) -> Tables:
    table: Tables = {"type": type(shape).__name__}
    if isinstance(shape, Mesh):
        own: Any = shape
        source = (shape.source, shape.faces) if shape.faces is not None else (own.vertices, own.triangles)
        table["vertices"] = np.asarray(source[0], dtype=float).tolist()
        table["faces"] = np.asarray(source[1]).tolist()
        table |= {"decompose": True} if shape.decompose else {}
    for one in fields(shape):
        if isinstance(shape, Mesh) and one.name in ("source", "faces", "decompose"):
            continue
        table[one.name] = _floats(shape.given.get(one.name, getattr(shape, one.name)))
    rest = {"orientation": [1.0, 0.0, 0.0, 0.0], "angle": 0.0}
    if not isinstance(shape, HalfPlane):
        rest["position"] = [0.0] * 3 if hasattr(shape, "orientation") else [0.0] * 2
    if type(shape).__name__ == "Plane":
        rest.pop("position")
    return {k: v for k, v in table.items() if k not in rest or v != rest[k]}


def _motion(where: str, motion: Any) -> Tables:
    if not isinstance(motion, Motion):
        _only(where, motion)
    return _given(motion, type(motion).__name__)


def _given(thing: Any, kind: str, without: tuple[str, ...] = ()) -> Tables:
    """The fields of a dataclass that are not None."""
    values = {one.name: getattr(thing, one.name) for one in fields(thing) if one.init and one.name not in without}
    return {"type": kind, **{k: v if isinstance(v, str) else _floats(v) for k, v in values.items() if v is not None}}


def _floats(value: Any) -> Any:
    return np.asarray(value, dtype=float).tolist()


def _joint(joint: Any) -> Tables:
    where = f"joint {joint.name!r}"
    table = _given(joint, type(joint).__name__, ("a", "b", "motor", "limits", "restitution", "compliance", "friction"))
    for key in ("a", "b"):
        body = getattr(joint, key)
        if body is not None:
            table[key] = str(getattr(body, "name", body))
    if np.any(joint.compliance):
        table["compliance"] = _floats(joint.compliance)
    if getattr(joint, "limits", None) is not None:
        lo, hi = joint.limits
        table["limits"] = [-math.inf if lo is None else float(lo), math.inf if hi is None else float(hi)]
        table |= _restitution(where, joint.restitution)
    if getattr(joint, "friction", 0.0):
        table["friction"] = float(joint.friction)
    motor = getattr(joint, "motor", None)
    if motor is not None:
        _only(f"the target of the motor of {where}", motor.target)
        table["motor"] = _given(motor, "")
        del table["motor"]["type"]
    return table


def _spring(spring: Any, world: WorldBuilder) -> Tables:
    table: Tables = {"name": spring.name, "stiffness": spring.stiffness, "damping": spring.damping}
    if spring.joint is not None:
        return table | {"joint": spring.joint, "rest": spring.rest}
    i, j, _ = spring.between
    table |= {"a": world.bodies[i].name, "b": world.bodies[j].name}
    return table | {k: _floats(v) for k, v in spring.given.items() if v is not None}


def _force(force: Any) -> Tables:
    table: Tables = {"body": force.name}
    for key, value in force.given.items():
        if value is not None:
            _only(f"the {key} on body {force.name!r}", value)
            table[key] = _floats(value)
    torque = table.get("torque")
    if isinstance(torque, list) and len(torque) == 1:
        table["torque"] = torque[0]
    return table
