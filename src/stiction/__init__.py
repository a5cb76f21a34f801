"""stiction: rigid bodies with hard contact, impact and Coulomb friction, certified step by step.

This file is the table of contents. Every public name is listed here and loaded when it is first used, so that
`import stiction` itself is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    # systems: what moves
    "systems": [
        "World",
        "PlanarWorld",
        "Body",  # bodies in space and in the plane
        "Sphere",
        "Box",
        "Capsule",
        "Cylinder",
        "Ellipsoid",
        "ConvexHull",
        "Mesh",
        "Plane",  # shapes in space
        "Disk",
        "Ellipse",
        "Rod",
        "Polygon",
        "Segment",
        "HalfPlane",  # shapes in the plane
        "Fixed",
        "Revolute",
        "Prismatic",
        "Ball",
        "Distance",
        "Rope",
        "Cylindrical",
        "Universal",
        "Planar",
        "Screw",
        "Gear",
        "Rack",  # joints
        "Motor",  # drives
        "Oscillation",
        "Rotation",
        "Table",  # prescribed motions
        "NewtonImpact",
        "PoissonImpact",
        "StrongeImpact",
        "Fading",  # restitution
        "GeneralizedSystem",
        "Gap",
        "Bilateral",
        "DryFriction",  # the papers' own form
        "Compliance",
        "Elastic",
        "State",
    ],
    # friction laws
    "friction": [
        "Coulomb",
        "Anisotropic",
        "Torsional",
        "Mixed",
        "Rolling",
        "Polyhedral",
        "ConvexSet",
        "Frictionless",
        "Stribeck",
        "SpeedLaw",
        "FrictionSet",
    ],
    # schemes: how time advances, and which contacts act
    "schemes": [
        "StewartTrinkle",
        "AnitescuHart",
        "TzitzourisPang",
        "Moreau",
        "Stewart",
        "Compliant",
        "WorkDriven",
        "Growing",
        "Within",
        "Closing",
        "Speculative",
        "StepResult",
        "StepCertificate",
        "Change",
    ],
    # simulation
    "simulation": ["Simulator", "Trajectory", "Event", "load", "StepWarning", "OverlapWarning"],
    # contact problems and their solvers
    "problem": [
        "ContactProblem",
        "Dense",
        "Bodies",
        "Delassus",
        "Law",
        "Mode",
        "SolveCertificate",
        "read_fclib",
        "write_fclib",
    ],
    "solvers": ["solve", "Solution"],
    # scene files
    "scene": ["read_scene", "Scene"],
    # errors and outcomes
    "errors": ["StictionError", "ModelError", "RecordingError", "SceneError", "SolverError"],
    "status": ["Status"],
}
_MODULES = ["analysis", "lcp", "papers", "structures"]
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'stiction' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if TYPE_CHECKING:
    from . import analysis as analysis
    from . import lcp as lcp
    from . import papers as papers
    from . import structures as structures
    from .errors import ModelError as ModelError
    from .errors import RecordingError as RecordingError
    from .errors import SceneError as SceneError
    from .errors import SolverError as SolverError
    from .errors import StictionError as StictionError
    from .friction import Anisotropic as Anisotropic
    from .friction import ConvexSet as ConvexSet
    from .friction import Coulomb as Coulomb
    from .friction import Frictionless as Frictionless
    from .friction import FrictionSet as FrictionSet
    from .friction import Mixed as Mixed
    from .friction import Polyhedral as Polyhedral
    from .friction import Rolling as Rolling
    from .friction import SpeedLaw as SpeedLaw
    from .friction import Stribeck as Stribeck
    from .friction import Torsional as Torsional
    from .problem import Bodies as Bodies
    from .problem import ContactProblem as ContactProblem
    from .problem import Delassus as Delassus
    from .problem import Dense as Dense
    from .problem import Law as Law
    from .problem import Mode as Mode
    from .problem import SolveCertificate as SolveCertificate
    from .problem import read_fclib as read_fclib
    from .problem import write_fclib as write_fclib
    from .scene import Scene as Scene
    from .scene import read_scene as read_scene
    from .schemes import AnitescuHart as AnitescuHart
    from .schemes import Change as Change
    from .schemes import Closing as Closing
    from .schemes import Compliant as Compliant
    from .schemes import Growing as Growing
    from .schemes import Moreau as Moreau
    from .schemes import Speculative as Speculative
    from .schemes import StepCertificate as StepCertificate
    from .schemes import StepResult as StepResult
    from .schemes import Stewart as Stewart
    from .schemes import StewartTrinkle as StewartTrinkle
    from .schemes import TzitzourisPang as TzitzourisPang
    from .schemes import Within as Within
    from .schemes import WorkDriven as WorkDriven
    from .simulation import Event as Event
    from .simulation import OverlapWarning as OverlapWarning
    from .simulation import Simulator as Simulator
    from .simulation import StepWarning as StepWarning
    from .simulation import Trajectory as Trajectory
    from .simulation import load as load
    from .solvers import Solution as Solution
    from .solvers import solve as solve
    from .status import Status as Status
    from .systems import Ball as Ball
    from .systems import Bilateral as Bilateral
    from .systems import Body as Body
    from .systems import Box as Box
    from .systems import Capsule as Capsule
    from .systems import Compliance as Compliance
    from .systems import ConvexHull as ConvexHull
    from .systems import Cylinder as Cylinder
    from .systems import Cylindrical as Cylindrical
    from .systems import Disk as Disk
    from .systems import Distance as Distance
    from .systems import DryFriction as DryFriction
    from .systems import Elastic as Elastic
    from .systems import Ellipse as Ellipse
    from .systems import Ellipsoid as Ellipsoid
    from .systems import Fading as Fading
    from .systems import Fixed as Fixed
    from .systems import Gap as Gap
    from .systems import Gear as Gear
    from .systems import GeneralizedSystem as GeneralizedSystem
    from .systems import HalfPlane as HalfPlane
    from .systems import Mesh as Mesh
    from .systems import Motor as Motor
    from .systems import NewtonImpact as NewtonImpact
    from .systems import Oscillation as Oscillation
    from .systems import Planar as Planar
    from .systems import PlanarWorld as PlanarWorld
    from .systems import Plane as Plane
    from .systems import PoissonImpact as PoissonImpact
    from .systems import Polygon as Polygon
    from .systems import Prismatic as Prismatic
    from .systems import Rack as Rack
    from .systems import Revolute as Revolute
    from .systems import Rod as Rod
    from .systems import Rope as Rope
    from .systems import Rotation as Rotation
    from .systems import Screw as Screw
    from .systems import Segment as Segment
    from .systems import Sphere as Sphere
    from .systems import State as State
    from .systems import StrongeImpact as StrongeImpact
    from .systems import Table as Table
    from .systems import Universal as Universal
    from .systems import World as World
