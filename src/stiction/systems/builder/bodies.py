"""Bodies as a builder collects them: checked values, mass properties, and the handle that users hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import _check
from ..._check import FloatArray
from ...errors import ModelError
from ..joints.primitives import Place
from ..shapes.basic import HalfPlane, Plane, Shape2, Shape3
from .handles import Mark, new_mark

KINDS = ("dynamic", "fixed", "kinematic")
MASS_MIN, MASS_MAX = 1e-60, 1e60  # masses [kg] and inertias [kg m²] beyond these over- or underflow somewhere


@dataclass(frozen=True)
class Body:
    """A handle to a body of a world; wherever a body is asked for, its name does as well.

    mark: that of the body that `add_body` made, by which it is told from bodies of the same name in other worlds; a
    handle without one is a name.
    """

    name: str
    index: int
    mark: Mark | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class BodySpec:
    """Everything about a body, checked; positions and velocities are those of the centre of mass."""

    name: str
    kind: str
    shapes: tuple[Any, ...]
    mass: float
    inertia: FloatArray  # (3, 3) about the com in body axes; in the plane a 0-d array
    com: FloatArray  # in the body frame
    place: Place
    quaternion: FloatArray  # in space; empty in the plane
    velocity: FloatArray
    spin: FloatArray
    material: str
    group: str | None
    motion: Callable[[float], Any] | None
    given: Mapping[str, Any] = field(default_factory=dict)  # what `add_body` was told, for `to_scene`
    mark: Mark = field(default_factory=new_mark)


def quaternion_matrix(w: float, x: float, y: float, z: float) -> FloatArray:
    """The rotation matrix of a unit quaternion."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def unit_quaternion(what: str, value: Any) -> FloatArray:
    """(w, x, y, z) of length one."""
    q = _check.floats(what, value, (4,))
    size = float(np.linalg.norm(q))
    if size == 0.0:
        raise ModelError(f"{what} must be a quaternion (w, x, y, z), not zero.")
    return q / size


def shape_list(what: str, shape: Any, dim: int) -> tuple[Any, ...]:
    """One shape, several, or none, of the right dimension."""
    shapes = () if shape is None else tuple(shape) if isinstance(shape, Sequence) else (shape,)
    kind = Shape3 if dim == 3 else Shape2
    for s in shapes:
        if not isinstance(s, kind):
            where = "space" if dim == 3 else "the plane"
            raise ModelError(f"{what}: shapes of a world in {where} are expected; got {_check.describe(s)}.")
    return shapes


def mass_properties(
    what: str, shapes: tuple[Any, ...], dim: int, mass: Any, density: Any, inertia: Any, com: Any
) -> tuple[float, FloatArray, FloatArray]:
    """Mass, inertia about the centre of mass, and centre of mass, given or from the shapes and a density."""
    if any(isinstance(s, (Plane, HalfPlane)) for s in shapes):
        raise ModelError(f"{what}: a plane has no mass; make the body fixed or kinematic.")
    if mass is not None and density is not None:
        raise ModelError(f"{what}: give mass= or density=, not both.")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            volume, centre, about = _combined(shapes, dim)
    except OverflowError:
        raise ModelError(f"{what}: its shapes are too large to compute with; give sizes in SI units.") from None
    if density is not None:
        rho = _check.number(f"{what} density", density, positive=True)
        if volume <= 0:
            raise ModelError(f"{what}: its shapes have no volume; give mass= and inertia=.")
        total = rho * volume
    elif mass is not None:
        total = _check.number(f"{what} mass", mass, positive=True)
    else:
        raise ModelError(f"{what} is dynamic and needs mass= [kg] or density=, or a material with a density.")
    place = centre if com is None else _check.floats(f"{what} com", com, (dim,)).copy()
    if inertia is not None:
        return total, _can_turn(what, total, _given_inertia(what, inertia, dim)), place
    if volume <= 0:
        raise ModelError(f"{what}: its shapes have no volume; give inertia= about the centre of mass.")
    # by Steiner from the shapes' own centre to the given one
    d = place - centre
    shift = float(d @ d) * np.eye(3) - np.outer(d, d) if dim == 3 else np.array(float(d @ d))
    return total, _can_turn(what, total, total / volume * (about + volume * shift)), place


def _can_turn(what: str, mass: float, inertia: FloatArray) -> FloatArray:
    """The inertia, if it and the mass can be computed with: nothing over- or underflows."""
    for name, values in (("mass", np.array(mass)), ("inertia", np.diag(inertia) if inertia.ndim else inertia)):
        if not ((values > MASS_MIN) & (values < MASS_MAX)).all():
            raise ModelError(
                f"{what}: its {name} is {float(np.min(values)):.3g}, too small or too large to compute with; "
                "give sizes and densities in SI units."
            )
    return inertia


def _combined(shapes: tuple[Any, ...], dim: int) -> tuple[float, FloatArray, FloatArray]:
    volume, first, parts = 0.0, np.zeros(dim), []
    for s in shapes:
        properties = s.mass_properties()
        if properties is None:
            continue
        at, tensor = properties.com, properties.inertia
        if dim == 3:
            R = quaternion_matrix(*s.orientation)
            at, tensor = s.position + R @ properties.com, R @ properties.inertia @ R.T
        parts.append((properties.volume, at, tensor))
        volume += properties.volume
        first = first + properties.volume * at
    if volume <= 0:
        return 0.0, np.zeros(dim), np.zeros((3, 3)) if dim == 3 else np.zeros(())
    centre = first / volume
    about: Any = 0.0
    for v, at, tensor in parts:
        d = at - centre
        shift = float(d @ d) * np.eye(3) - np.outer(d, d) if dim == 3 else float(d @ d)
        about = about + tensor + v * shift
    return volume, centre, np.asarray(about)


def _given_inertia(what: str, inertia: Any, dim: int) -> FloatArray:
    if dim == 2:
        return np.array(_check.number(f"{what} inertia", inertia, positive=True))
    value = _check.floats(f"{what} inertia", inertia)
    if value.ndim == 0:
        value = float(value) * np.eye(3)
    elif value.ndim == 1:
        value = np.diag(_check.floats(f"{what} inertia", value, (3,)))
    tensor = _check.mass_matrix(f"{what} inertia", value, 3)
    principal = np.linalg.eigvalsh(tensor)
    if principal[2] > (principal[0] + principal[1]) * (1 + 1e-9):
        raise ModelError(
            f"{what} inertia violates the triangle inequality: its principal moments are "
            f"{', '.join(f'{m:g}' for m in principal)}, and no body has one larger than the sum of the others."
        )
    return tensor.copy()
