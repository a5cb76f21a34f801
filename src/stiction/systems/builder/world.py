"""World and PlanarWorld: describe bodies, joints, materials and forces in a few lines; `build()` freezes the model."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import _check
from ..._arguments import checks_arguments
from ..._check import FloatArray
from ...errors import ModelError
from ..joints.blocks import Spring, between_points, joint_blocks
from ..joints.kinds import Joint
from ..joints.primitives import Place, turn_to, unit_vector
from ..known_materials import KNOWN
from ..shapes.basic import HalfPlane, Plane
from .bodies import KINDS, Body, BodySpec, mass_properties, quaternion_matrix, shape_list, unit_quaternion
from .forces import AppliedForce
from .handles import name_of, new_mark
from .materials import DEFAULT, DEFAULT_FRICTION, ContactLaw, Friction, Materials, Restitution, contact_law, material
from .motions import Motion

if TYPE_CHECKING:
    from ...scene import Scene
    from ...simulation import Simulator


class WorldBuilder:
    """What World and PlanarWorld share; `dim` is 3 or 2."""

    dim: ClassVar[int]

    def __init__(self, gravity: Any):
        self._changes, self.last_change = 0, ""
        self._model: Any = None
        self._built: tuple[Any, ...] = ()  # the revision of the model
        self.gravity = gravity
        self.bodies: list[BodySpec] = []
        self._index: dict[str, int] = {}  # of bodies, by name
        self._numbers: dict[str, int] = {}  # the next number to try for names made here, by kind
        self.joints: list[Joint] = []
        self.joint_names: list[str] = []
        self._held: dict[str, int | None] = {}  # names of joints with their numbers, and of springs
        self.springs: list[Spring] = []
        self.forces: list[AppliedForce] = []
        self.materials = Materials()
        self.pair_laws: dict[tuple[int, int], ContactLaw] = {}
        self.excluded: set[tuple[int, int]] = set()
        self._add(self._ground())

    # --- changes

    @property
    def gravity(self) -> FloatArray:
        """Gravity [m/s²]."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = _check.floats("gravity", value, (self.dim,)).copy()
        self._changed("gravity")

    def _changed(self, what: str) -> None:
        self._changes, self.last_change, self._model = self._changes + 1, what, None

    @property
    def revision(self) -> tuple[Any, ...]:
        """The same as long as nothing is changed, by which a `Simulator` notices that its world has been.

        Counts what methods change, and sees gravity and the numbers of parts, which can be changed without them.
        """
        m = self.materials
        parts: tuple[Any, ...] = (self.bodies, self.joints, self.springs, self.forces, self.pair_laws, self.excluded)
        return (self._changes, self._gravity.tobytes(), *map(len, (*parts, m.named, m.pairs)))

    def __getstate__(self) -> dict[str, Any]:
        """For copies, which share no part that can change, and whose handles are those of the bodies copied."""
        parts = (list, dict, set)
        state = {name: copy(value) if isinstance(value, parts) else value for name, value in vars(self).items()}
        materials = Materials(dict(self.materials.named), dict(self.materials.pairs))
        return {**state, "_gravity": self._gravity.copy(), "materials": materials, "_model": None}

    # --- what subclasses give

    def _ground(self) -> BodySpec:
        d = self.dim
        place = Place(np.zeros(d), np.eye(d))
        inertia = np.zeros((3, 3)) if d == 3 else np.zeros(())
        turn = np.array([1.0, 0.0, 0.0, 0.0]) if d == 3 else np.zeros(0)
        spin = np.zeros(3) if d == 3 else np.zeros(1)
        return BodySpec(
            "world", "fixed", (), 0.0, inertia, np.zeros(d), place, turn, np.zeros(d), spin, DEFAULT, None, None
        )

    def _model_class(self) -> Any:
        raise ModelError("use World or PlanarWorld.")

    # --- bodies

    def _add(self, spec: BodySpec) -> Body:
        self._index[spec.name] = len(self.bodies)
        self.bodies.append(spec)
        self._changed(f"add_body {spec.name!r}")
        return Body(spec.name, len(self.bodies) - 1, spec.mark)

    def _name(self, name: str | None, kind: str) -> str:
        if name is not None:
            if not isinstance(name, str) or not name:
                raise ModelError(f"name must be a non-empty string; got {_check.describe(name)}.")
            if name in self._index and kind in ("body", "plane"):
                raise ModelError(f"two bodies are named {name!r}; names must differ.")
            return name
        number = self._numbers.get(kind, 0)
        while f"{kind}{number}" in self._index:
            number += 1
        self._numbers[kind] = number
        return f"{kind}{number}"

    def _spec(
        self, what: str, shape: Any, name: str, kind: str, place: Place, quaternion: FloatArray, options: dict[str, Any]
    ) -> BodySpec:
        d = self.dim
        shapes = shape_list(what, shape, d)
        if kind == "dynamic":
            named = self.materials.named.get(options["material"]) if isinstance(options["material"], str) else None
            if options["mass"] is None and options["density"] is None and named is not None:
                options["density"] = named.density
            mass, inertia, com = mass_properties(
                what, shapes, d, options["mass"], options["density"], options["inertia"], options["com"]
            )
        else:
            for field in ("mass", "density", "inertia", "com"):
                if options[field] is not None:
                    raise ModelError(f"{what} is {kind}; {field}= is for dynamic bodies.")
            mass, inertia, com = 0.0, np.zeros((3, 3)) if d == 3 else np.zeros(()), np.zeros(d)
        velocity, spin, motion = options["velocity"], options["spin"], options["motion"]
        if kind == "fixed" and (velocity.any() or spin.any()):
            raise ModelError(f"{what} is fixed and cannot have a velocity; make it kinematic.")
        if motion is not None and (kind != "kinematic" or not (callable(motion) or isinstance(motion, Motion))):
            raise ModelError(f"{what}: motion= is a Motion or a function of time for a kinematic body.")
        if isinstance(motion, Motion):
            motion = motion.at(f"motion of {what}", place.position, quaternion if d == 3 else place.angle)
        arm = place.rotation @ com
        velocity = velocity + (np.cross(spin, arm) if d == 3 else spin[0] * np.array([-arm[1], arm[0]]))
        at_com = Place(place.position + arm, place.rotation, place.angle)
        group = options["group"]
        if group is not None and not isinstance(group, str):
            raise ModelError(f"{what} group must be a name; got {_check.describe(group)}.")
        given = {name: options[name] for name in ("mass", "density", "inertia", "com")} | options["given"]
        given = {name: np.array(value, dtype=float) for name, value in given.items() if value is not None}
        return BodySpec(
            name, kind, shapes, mass, inertia, com, at_com, quaternion, velocity, spin, options["material"], group,
            motion, {**given, "motion": options["motion"]},
        )  # fmt: skip

    def body(self, which: Body | str | None, what: str = "body") -> int:
        """The index of a body by handle or name; None is the fixed world. Handles of other worlds are refused."""
        if which is None:
            return 0
        name: Any = getattr(which, "name", which)
        i = self._index.get(name) if isinstance(name, str) else None
        name_of(which, None if i is None else {name: self.bodies[i].mark}, what)
        if i is not None:
            return i
        from difflib import get_close_matches

        known = [b.name for b in self.bodies[1:]]
        near = get_close_matches(str(name), known, n=1)
        raise ModelError(f"{what}: there is no body {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))

    # --- joints, materials, forces

    def add_joint(self, joint: Joint) -> Joint:
        """Connect two bodies; joined bodies do not collide with each other."""
        if not isinstance(joint, Joint):
            raise ModelError(f"joint must be a joint such as Revolute(a, b, ...); got {_check.describe(joint)}.")
        name = f"joint{len(self.joints)}" if joint.name is None else self._name(joint.name, "joint")
        if name in self._held:
            raise ModelError(f"two joints are named {name!r}; names must differ.")
        a, b = self.body(joint.a, f"joint {name!r}"), self.body(joint.b, f"joint {name!r}")
        if a == b:
            raise ModelError(f"joint {name!r} connects {self.bodies[a].name!r} with itself.")
        if self.bodies[a].kind != "dynamic" and self.bodies[b].kind != "dynamic":
            raise ModelError(f"joint {name!r} connects two bodies that cannot be moved by it.")
        joint_blocks(joint, name, (a, b), self.bodies[a].place, self.bodies[b].place)
        object.__setattr__(joint, "name", name)
        if joint.mark is None:  # one object may serve in several worlds
            object.__setattr__(joint, "mark", new_mark())
        self._held[name] = len(self.joints)
        self.joints.append(joint)
        self.joint_names.append(name)
        self.exclude(joint.a, joint.b)
        self._changed(f"add_joint {name!r}")
        return joint

    def add_spring(
        self,
        a: Any,
        b: Body | str | None = None,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        anchor_a: Any = None,
        anchor_b: Any = None,
        length: float | None = None,
        rest: float = 0.0,
        name: str | None = None,
    ) -> Spring:
        """A spring and damper: between `anchor_a` on body a and `anchor_b` on body b (None: the world), or on a joint.

        Between points (given in the world at the start) the force along their line is `-stiffness·(distance - length) -
        damping·rate` [N], length [m] by default the distance at the start. On a joint, `add_spring(hinge, ...)`, the
        torque [N·m] or force [N] is `-stiffness·(coordinate - rest) - damping·speed`. Stable however stiff it is; its
        energy is kept while a step resolves the oscillation (hω <= 1), and ringing is damped where it does not.
        """
        name = f"spring{len(self.springs)}" if name is None else self._name(name, "spring")
        if name in self._held:
            raise ModelError(f"two joints or springs are named {name!r}; names must differ.")
        if isinstance(a, Joint) or (isinstance(a, str) and self._held.get(a) is not None):
            made = Spring.make(
                name, stiffness, damping, joint=self._sprung(name, a, b, anchor_a, anchor_b, length), between=None,
                rest=_check.number(f"spring {name!r} rest", rest),
            )  # fmt: skip
        else:
            i, j = self.body(a, f"spring {name!r}"), self.body(b, f"spring {name!r}")
            if i == j or {self.bodies[i].kind, self.bodies[j].kind} <= {"fixed", "kinematic"}:
                raise ModelError(f"spring {name!r} must connect two bodies of which at least one can move.")
            if anchor_a is None or anchor_b is None:
                raise ModelError(f"spring {name!r} between bodies needs anchor_a and anchor_b.")
            row = between_points(name, self.bodies[i].place, self.bodies[j].place, anchor_a, anchor_b, length)
            given = {"anchor_a": anchor_a, "anchor_b": anchor_b, "length": length}
            made = Spring.make(name, stiffness, damping, joint=None, rest=0.0, between=(i, j, row), given=given)
        self._held[name] = None
        self.springs.append(made)
        self._changed(f"add_spring {name!r}")
        return made

    def _sprung(self, name: str, joint: Any, *points: Any) -> str:
        """The name of the joint that a spring acts on."""
        which = str(joint.name if isinstance(joint, Joint) else joint)
        number = self._held.get(which)
        if number is None:
            raise ModelError(f"spring {name!r}: there is no joint {which!r}; add it first.")
        j = self.joints[number]
        name_of(joint, {which: j.mark}, f"spring {name!r}")
        if any(point is not None for point in points):
            raise ModelError(
                f"spring {name!r} is on joint {which!r}: it takes rest=, but no second body and no anchors."
            )
        if j.coordinate(self.bodies[self.body(j.a, "a")].place, self.bodies[self.body(j.b, "b")].place) is None:
            raise ModelError(f"spring {name!r}: joint {which!r} ({type(j).__name__}) has no single coordinate.")
        return which

    def exclude(self, a: Body | str | None, b: Body | str | None) -> None:
        """Let two bodies pass through each other."""
        i, j = self.body(a, "a"), self.body(b, "b")
        self.excluded.add((min(i, j), max(i, j)))
        self._changed(f"exclude of {self.bodies[i].name!r} and {self.bodies[j].name!r}")

    def set_material(
        self,
        name: str,
        *,
        like: str | None = None,
        friction: Friction = DEFAULT_FRICTION,
        restitution: Restitution | None = None,
        compliance: Any = None,
        young: float | None = None,
        poisson: float | None = None,
        density: float | None = None,
        fillet: float | None = None,
    ) -> None:
        """Define a material, or change "default" (friction 0.5), the one that bodies have unless told otherwise.

        young [Pa] and poisson (by default 0.25) make it elastic: the stiffness of its contacts follows from both
        materials and the shape of the surfaces, one without young is rigid (docs/elastic.md). restitution: of rigid
        contacts by default 0, and above 0 only with `Moreau`; of elastic ones that of a damper, by default none.
        density [kg/m³, in the plane kg/m²]: of bodies that are added later with neither mass nor density. fillet [m]:
        the radius that edges and corners have, by default a hundredth of half the diagonal of the shape. like: one of
        the materials of docs/elastic.md ("steel", "glass", ...), whose values hold where none are given.
        """
        what = f"material {self._name(name, 'material')!r}"
        if like is not None:
            known = KNOWN[_check.choice(f"like of {what}", like, list(KNOWN))]
            friction = known.friction if friction is DEFAULT_FRICTION else friction
            density = known.density if density is None else density
            if compliance is None:
                young = known.young if young is None else young
                poisson = known.poisson if poisson is None else poisson
        given = {"compliance": compliance, "young": young, "poisson": poisson, "density": density, "fillet": fillet}
        self.materials.named[name] = material(what, self.dim, friction, restitution, given)
        self._changed(f"set_material {name!r}")

    def set_contact(
        self,
        a: Body | str,
        b: Body | str,
        *,
        friction: Friction = None,
        restitution: Restitution = 0.0,
        compliance: Any = None,
    ) -> None:
        """Set the law between two bodies, or between two materials (by their names); friction None means none.

        A pair of bodies goes before a pair of materials, and that before the combination of the two materials: the
        geometric mean of the coefficients, the larger restitution, the stiffness of both. Contacts have the rows that
        their friction needs: slip, and for `Torsional`, `Mixed` and `Rolling` spin and rolling. An `axis` of the
        friction is fixed in the first of the two, in the axes of its frame. compliance: how each contact point gives
        way, a number [m/N], a `Compliance(kn, gamma_n, gamma_t)` or an `Elastic(kn, kt)`; None is rigid, whatever the
        materials are.
        """
        first, second = (name_of(x, None, "set_contact") for x in (a, b))
        what = f"{first!r} and {second!r}"
        law = contact_law(friction, restitution, compliance, what, self.dim, pair=first != second)
        if all(isinstance(x, str) and x in self.materials.named for x in (a, b)):
            self.materials.set_pair(first, second, law)
        else:
            i, j = self.body(a, "set_contact"), self.body(b, "set_contact")
            self.pair_laws.pop((j, i), None)
            self.pair_laws[i, j] = law
        self._changed(f"set_contact of {what}")

    def add_force(self, body: Body | str, force: Any = None, *, torque: Any = None, point: Any = None) -> None:
        """Apply a force [N] and a torque [N·m] in world axes, each constant or a function f(t, body_state).

        body_state has position, orientation (angle in the plane), velocity and angular_velocity. The force acts at
        `point` of the body frame, by default at the centre of mass.
        """
        i = self.body(body, "add_force")
        spec = self.bodies[i]
        if spec.kind != "dynamic":
            raise ModelError(f"add_force: {spec.name!r} is {spec.kind}, and no force can move it.")
        self.forces.append(AppliedForce.make(i, spec, self.dim, force, torque, point))
        self._changed(f"add_force on {spec.name!r}")

    @checks_arguments
    def to_scene(self, simulator: Simulator | None = None, *, duration: float = 1.0, title: str = "") -> Scene:
        """This world as a scene, whose `save(path)` writes a file that `read_scene` and `stiction run` take.

        simulator: its step, scheme, solver and tolerance, by default a step of 1/200 s; duration [s] of the run. The
        scene runs to the same bits. What only Python knows (functions, friction sets of your own) is refused by name.
        """
        from ...scene import scene_of

        return scene_of(self, simulator, duration=duration, title=title)

    def build(self) -> Any:
        """The frozen model, a `System`; a world can go on growing, and builds anew then."""
        if self._model is None or self._built != self.revision:
            self._model, self._built = self._model_class()(self), self.revision
        return self._model


class World(WorldBuilder):
    """Bodies in space. gravity (3,) [m/s²]; z is up."""

    dim = 3

    def __init__(self, gravity: Any = (0.0, 0.0, -9.81)):
        super().__init__(gravity)

    def _model_class(self) -> Any:
        from ..model.space import Model3

        return Model3

    def add_body(
        self,
        shape: Any = None,
        *,
        name: str | None = None,
        kind: str = "dynamic",
        mass: float | None = None,
        density: float | None = None,
        inertia: Any = None,
        com: Any = None,
        position: Any = (0.0, 0.0, 0.0),
        orientation: Any = (1.0, 0.0, 0.0, 0.0),
        velocity: Any = (0.0, 0.0, 0.0),
        angular_velocity: Any = (0.0, 0.0, 0.0),
        material: str = DEFAULT,
        group: str | None = None,
        motion: Motion | Callable[[float], Any] | None = None,
    ) -> Body:
        """Add a body of one or several shapes (or none), and return its handle.

        position [m] and velocity [m/s] are those of the body frame's origin; orientation (w, x, y, z); angular velocity
        [rad/s] in world axes. mass [kg] or density [kg/m³], by default that of the material; inertia about the centre
        of mass in body axes (a number, three principal moments or (3, 3)); both from the shapes unless given, as is com
        (in the body frame). kind "kinematic": moves as `motion` says, an `Oscillation`, `Rotation` or `Table` or a
        function of time that gives a position or (position, orientation), or with constant velocities.
        Bodies of the same `group` do not collide.
        """
        name = self._name(name, "body")
        what = f"body {name!r}"
        _check.choice(f"{what} kind", kind, KINDS)
        turn = unit_quaternion(f"{what} orientation", orientation)
        place = Place(_check.floats(f"{what} position", position, (3,)).copy(), quaternion_matrix(*turn))
        options = {
            "mass": mass, "density": density, "inertia": inertia, "com": com, "material": material, "group": group,
            "motion": motion, "velocity": _check.floats(f"{what} velocity", velocity, (3,)),
            "spin": _check.floats(f"{what} angular_velocity", angular_velocity, (3,)).copy(),
            "given": {"position": position, "orientation": orientation, "velocity": velocity},
        }  # fmt: skip
        return self._add(self._spec(what, shape, name, kind, place, turn, options))

    def add_plane(
        self, normal: Any = (0.0, 0.0, 1.0), offset: float = 0.0, *, name: str | None = None, material: str = DEFAULT
    ) -> Body:
        """A fixed half-space below the plane normal·x = offset (for a unit normal); returns its handle."""
        name = self._name(name, "plane")
        n = unit_vector(f"plane {name!r} normal", normal, 3)
        point = _check.number(f"plane {name!r} offset", offset) * n
        return self.add_body(Plane(point, turn_to(n)), name=name, kind="fixed", material=material)


class PlanarWorld(WorldBuilder):
    """Bodies in the plane. gravity (2,) [m/s²]; y is up."""

    dim = 2

    def __init__(self, gravity: Any = (0.0, -9.81)):
        super().__init__(gravity)

    def _model_class(self) -> Any:
        from ..model.plane import Model2

        return Model2

    def add_body(
        self,
        shape: Any = None,
        *,
        name: str | None = None,
        kind: str = "dynamic",
        mass: float | None = None,
        density: float | None = None,
        inertia: float | None = None,
        com: Any = None,
        position: Any = (0.0, 0.0),
        angle: float = 0.0,
        velocity: Any = (0.0, 0.0),
        angular_velocity: float = 0.0,
        material: str = DEFAULT,
        group: str | None = None,
        motion: Motion | Callable[[float], Any] | None = None,
    ) -> Body:
        """Add a body of one or several shapes (or none), and return its handle; see `World.add_body`.

        density [kg/m²]; inertia about the centre of mass [kg m²]; angle [rad] counter-clockwise; motion(t) -> position
        or (position, angle).
        """
        name = self._name(name, "body")
        what = f"body {name!r}"
        _check.choice(f"{what} kind", kind, KINDS)
        turn = _check.number(f"{what} angle", angle)
        c, s = np.cos(turn), np.sin(turn)
        place = Place(_check.floats(f"{what} position", position, (2,)).copy(), np.array([[c, -s], [s, c]]), turn)
        options = {
            "mass": mass, "density": density, "inertia": inertia, "com": com, "material": material, "group": group,
            "motion": motion, "velocity": _check.floats(f"{what} velocity", velocity, (2,)),
            "spin": np.array([_check.number(f"{what} angular_velocity", angular_velocity)]),
            "given": {"position": position, "angle": angle, "velocity": velocity},
        }  # fmt: skip
        return self._add(self._spec(what, shape, name, kind, place, np.zeros(0), options))

    def add_half_plane(
        self, normal: Any = (0.0, 1.0), offset: float = 0.0, *, name: str | None = None, material: str = DEFAULT
    ) -> Body:
        """A fixed half-plane below the line normal·x = offset (for a unit normal); returns its handle."""
        name = self._name(name, "plane")
        n = unit_vector(f"half-plane {name!r} normal", normal, 2)
        shape = HalfPlane(n, _check.number(f"half-plane {name!r} offset", offset) * n)
        return self.add_body(shape, name=name, kind="fixed", material=material)

    add_plane = add_half_plane
