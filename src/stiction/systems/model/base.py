"""The frozen model of a world: arrays and compiled loops behind the `System` interface, shared by plane and space.

Body 0 is the fixed world. Configurations and velocities are those of centres of mass, stacked body by body; fixed and
kinematic bodies are there too, with zero inverse mass. Constraints are the joints with their limits, motors and
friction, as they were added, the springs, all with negative keys, and the contacts sorted by key: shapes and feature.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..._check import FloatArray
from ...errors import ModelError
from ...problem.dynamics import Bodies, Dynamics
from ..base import Candidates, Constraints, Energy, Geometry, State
from ..builder.bodies import BodySpec
from ..builder.forces import AppliedForce, BodyState
from ..builder.materials import DEFAULT, LawTable
from ..elastic import COLUMNS, LAW_COLUMNS
from ..joints.blocks import Block, joint_blocks
from ..joints.primitives import Primitive
from .candidates import BodyRows, Features, WorldCandidates
from .detection import CODES, Detection, same_bits
from .mechanism import Mechanism, Rows
from .records import RowLaws


class BodyModel(Detection):
    """A world as a `System`; Model2 and Model3 say what differs between plane and space."""

    dof: ClassVar[int]
    width: ClassVar[int]  # numbers per body in q
    kernels: ClassVar[Any]  # `kernels.plane` or `kernels.space`: the rows of joints
    contacts: ClassVar[Any]  # `kernels.plane` or `kernels.space_contacts`: the rows of contacts
    curved: bool  # some shape is not a rounded core or a half-space
    reach: FloatArray  # (nb,) the farthest point of each body from its centre of mass
    swing: FloatArray  # (nb,) the same for bodies whose surface goes elsewhere as they turn, 0 for balls and disks
    lever: FloatArray  # (nb,) the same for bodies that forces move, infinite for others: metres for turning rows
    extent: float  # the size of the world's bodies [m]: what lengths are small or large beside
    _last_push: tuple[float, FloatArray, FloatArray, FloatArray] | None = None  # h, q, v, and what forces made of v
    given_fillet: FloatArray  # (ns,) radius of edges and corners by the material [m]; NaN where it says nothing
    arms: FloatArray  # (nv,) 1 for velocities, `extent` for spins: displacements times them are in metres

    def __init__(self, world: Any):
        self.specs: list[BodySpec] = list(world.bodies)
        self.nb = len(self.specs)
        self.nq, self.nv = self.nb * self.width, self.nb * self.dof
        self.gravity = world.gravity.copy()
        joints = (*world.joints, *world.springs)
        self.marks = {"body": {s.name: s.mark for s in self.specs}, "joint": {j.name: j.mark for j in joints}}
        self.mass_of = np.array([s.mass for s in self.specs])
        self.moves = np.array([s.kind == "dynamic" for s in self.specs])
        self.kinematic = [i for i, s in enumerate(self.specs) if s.kind == "kinematic"]
        self.forces_applied = tuple(world.forces)
        self._prepare_bodies()
        self.reach = np.where(np.isfinite(self.reach), self.reach, 0.0)  # planes turn about themselves
        self.lever = np.where(self.moves & (self.reach > 0.0), self.reach, np.inf)
        self.extent = self._extent()
        self.arms = np.tile(np.where(np.arange(self.dof) < self.dim, 1.0, self.extent), self.nb)
        self.swing = np.where([self._round(i) for i in range(self.nb)], 0.0, self.reach)
        self._prepare_mechanism(world)
        self.nq += self.mechanism.rows.turns if self.dim == 3 else 0
        self._prepare_shapes(world)
        self.names = [s.name for s in self.specs]
        self.coordinate_names, self.velocity_names = self._component_names()
        self.restitution = max(self.laws.bounciest, self.mechanism.bounciest)
        self.capacity = 64
        self._forget()
        self._initial = self._start()

    # --- what plane and space give

    @abstractmethod
    def _prepare_bodies(self) -> None:
        """Inertia arrays and the reach of each body."""

    @abstractmethod
    def _shape_arrays(self, shapes: list[tuple[int, Any]]) -> None:
        """The shapes (body, shape) as the collision kernels read them, in frames about the centre of mass."""

    @abstractmethod
    def _component_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the columns of q and v."""

    @abstractmethod
    def _start(self) -> State:
        """The initial state."""

    @abstractmethod
    def _mass_blocks(self, q: FloatArray, inverse: bool) -> FloatArray:
        """(nb, dof, dof) masses, or inverse masses, in world axes; zero for bodies that no force moves."""

    @abstractmethod
    def _pushed(self, state: State, h: float, force: FloatArray) -> FloatArray:
        """v + h M⁻¹ force (nv,), with forces (nb, dof)."""

    def mass_place(self, start: FloatArray, at: FloatArray) -> FloatArray:
        """`start`: impulses act there, and `move` then keeps the momentum that they have left."""
        return start

    @abstractmethod
    def move(self, q: FloatArray, v: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """Where free flight leads from q with v in a time h, and the velocity there."""

    @abstractmethod
    def _kinetic(self, q: FloatArray, v: FloatArray) -> float:
        """Kinetic energy of the dynamic bodies [J]."""

    @abstractmethod
    def _pose_of(self, i: int, motion: Any, what: str) -> FloatArray:
        """A prescribed pose as numbers of q; a position alone keeps the orientation that the body was added with."""

    @abstractmethod
    def body_state(self, i: int, q: FloatArray, v: FloatArray) -> BodyState:
        """Position, orientation and velocities of a body's frame."""

    @abstractmethod
    def _contact_sizes(self, turn: FloatArray, f: Features, geometry: Any, sizes: FloatArray) -> None:
        """sizes (n, 2): R and s of contacts where the bodies are turned so (`collision/sizes.py`)."""

    # --- building

    def _prepare_shapes(self, world: Any) -> None:
        shapes = [(i, shape) for i, spec in enumerate(self.specs) for whole in spec.shapes for shape in whole.parts]
        self.ns = len(shapes)
        self.shape_body = np.array([i for i, _ in shapes], dtype=np.int64)
        self._shape_arrays(shapes)
        groups = sorted({spec.group for spec in self.specs if spec.group is not None})
        if len(groups) > 61:
            raise ModelError(f"at most 61 collision groups are possible; there are {len(groups)}. Use exclude(a, b).")
        bit = np.array([0 if s.group is None else 1 + groups.index(s.group) for s in self.specs], dtype=np.int64)
        own = np.left_shift(np.int64(1), bit)
        self.shape_group = own[self.shape_body]
        self.shape_mask = np.where(bit == 0, np.int64(-1), ~own)[self.shape_body]
        self.excluded = np.array(sorted(a * self.nb + b for a, b in world.excluded), dtype=np.int64)
        used = sorted({spec.material for spec in self.specs if spec.shapes}) or [DEFAULT]
        for spec in self.specs:
            if spec.material not in world.materials.named:
                names = ", ".join(map(repr, world.materials.named))
                raise ModelError(f"body {spec.name!r} has the unknown material {spec.material!r}; known are {names}.")
        fillets = [world.materials.named[self.specs[i].material].fillet for i in self.shape_body]
        self.given_fillet = np.array([np.nan if one is None else one for one in fillets])
        self.shape_material = np.array([used.index(self.specs[i].material) for i in self.shape_body], dtype=np.int64)
        dry = self.mechanism.dry
        self.laws = LawTable.build(world.materials, used, dict(world.pair_laws), self.nb, self.dim, dry)

    def _extent(self) -> float:
        """The reach of the largest body that forces move; without shapes its radius of gyration."""
        levers = self.lever[np.isfinite(self.lever)]
        if not len(levers):
            inertia = np.array([np.trace(np.atleast_2d(spec.inertia)) for spec in self.specs])[self.moves]
            levers = np.sqrt(inertia / self.mass_of[self.moves])
        return float(levers.max(initial=0.0)) or 1.0

    def _prepare_mechanism(self, world: Any) -> None:
        blocks: list[Block] = []
        coordinates: dict[str, tuple[int, int, Primitive]] = {}
        for name, joint in zip(world.joint_names, world.joints):
            a, b = world.body(joint.a), world.body(joint.b)
            joint_parts, coordinate = joint_blocks(joint, name, (a, b), self.specs[a].place, self.specs[b].place)
            blocks += joint_parts
            if coordinate is not None:
                coordinates[name] = (a, b, coordinate)
        for spring in world.springs:
            measured = coordinates[spring.joint] if spring.joint else spring.between
            blocks.append(spring.block(*measured))
            if not spring.joint:
                coordinates[spring.name] = measured
        self.joints = tuple(world.joints)
        mass = np.array([spec.mass for spec in self.specs])
        inertia = np.array([np.trace(np.atleast_2d(spec.inertia)) / (3 if self.dim == 3 else 1) for spec in self.specs])
        with np.errstate(divide="ignore"):
            light = np.where(self.moves[:, None], 1.0 / np.column_stack([mass, inertia]), 0.0)
        self.mechanism = Mechanism(blocks, coordinates, self.dim, light)

    # --- System: states

    def initial_state(self) -> State:
        """The state at which a run starts; its arrays are the caller's to change."""
        return State(self._initial.t, self._initial.q.copy(), self._initial.v.copy())

    def push(self, dynamics: Dynamics, state: State, h: float, t: float, q: FloatArray) -> FloatArray:
        """What forces at (t, q) make of the velocities in a step, and the velocities of prescribed bodies."""
        return self._push(state, h, t, q)

    def _push(self, state: State, h: float, t: float, q: FloatArray) -> FloatArray:
        if not self.steady:
            return self._push_at(state, h, t, q)
        if self._last_push is not None:  # the end of a step is where the next one begins
            then, place, v, out = self._last_push
            if then == h and same_bits(place, state.q) and same_bits(v, state.v):
                return out.copy()
        out = self._push_at(state, h, t, q)
        self._last_push = h, state.q.copy(), state.v.copy(), out.copy()
        return out

    def _push_at(self, state: State, h: float, t: float, q: FloatArray) -> FloatArray:
        v = self._pushed(state, h, self._applied(t, q, state.v))
        for i in self.kinematic:
            motion = self.specs[i].motion
            if motion is not None:
                name = f"motion of {self.specs[i].name!r} at t = {state.t + h:g} s"
                target = state.q.copy()
                self.bodies(target)[i] = self._pose_of(i, motion(state.t + h), name)
                v.reshape(self.nb, -1)[i] = self.difference(state.q, target).reshape(self.nb, -1)[i] / h
        return v

    def bodies(self, q: FloatArray) -> FloatArray:
        """(nb, width) the part of q that holds poses, as a view."""
        return q[: self.nb * self.width].reshape(self.nb, self.width)

    def counted(self, old: FloatArray, new: FloatArray, dq: FloatArray) -> FloatArray:
        """`new` with its turns counted on from those of `old` by a displacement of about dq."""
        return new

    def retract(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """q ⊕ dq."""
        return q + dq

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """dq with q0 ⊕ dq = q1."""
        return q1 - q0

    def carried(self, q: FloatArray, v: FloatArray, to: FloatArray) -> FloatArray:
        """v: in the plane spins have one direction."""
        return v

    def chart_rate(self, dq: FloatArray, v: FloatArray) -> FloatArray:
        """v: angles in the plane add up."""
        return v

    def speed_bound(self, state: State, h: float) -> float:
        """The largest speed of any point of any body now and after a free step [m/s]."""
        v_free = self._push(state, h, state.t, state.q) if h > 0 else state.v
        from .kernels.motion import fastest

        return float(fastest(state.v.reshape(self.nb, -1), v_free.reshape(self.nb, -1), self.reach, self.dim))

    def approach_bound(self, state: State, enough: float) -> float:
        """No points of two bodies approach each other faster than this [m/s]; exact only above `enough`."""
        from .kernels.motion import approach

        return float(approach(state.v.reshape(self.nb, -1), self.reach, self.dim, float(enough)))

    def fastest_spin(self, v: FloatArray) -> float:
        """The largest angular speed of a body that forces move and that is no ball or disk [rad/s]."""
        from .kernels.motion import fastest_spin

        return float(fastest_spin(v.reshape(self.nb, -1), self.moves, self.swing, self.dim))

    @cached_property
    def free_fall(self) -> float:
        """The size of gravity [m/s²]."""
        return float(np.linalg.norm(self.gravity))

    @cached_property
    def mean_weight(self) -> float | None:
        """The mean weight of the bodies that forces move [N]; None without gravity, or where there are none."""
        weight = self.mass_of[self.moves] * float(np.linalg.norm(self.gravity))
        return float(weight.mean()) if weight.any() else None

    @cached_property
    def lift(self) -> float:
        """Σ m g·reach [J]: what it takes to turn the bodies over."""
        weight = self.mass_of[self.moves] * float(np.linalg.norm(self.gravity))
        return float(weight @ self.reach[self.moves])

    def turning(self, v: FloatArray, h: float) -> FloatArray:
        """(nb,) how far points of each body stray from straight lines in a step, at most: ½ (h ω)² times its swing."""
        spin = v.reshape(self.nb, -1)[:, self.dim :]
        return np.asarray(0.5 * h * h * np.einsum("bi,bi->b", spin, spin) * self.swing)

    def _round(self, i: int) -> bool:
        """Whether a body is a ball or a disk about its centre of mass: no turn changes where its surface is."""
        spec = self.specs[i]
        off = max(
            (float(np.linalg.norm(s.position - spec.com)) for s in spec.shapes if hasattr(s, "position")), default=0.0
        )
        return all(type(s).__name__ in ("Sphere", "Disk") for s in spec.shapes) and off <= 1e-12 * self.reach[i]

    # --- System: forces and energy

    def mass(self, q: FloatArray) -> FloatArray:
        """(nb, dof, dof) in world axes; zero for bodies that no force moves."""
        return self._mass_blocks(q, inverse=False)

    def _applied(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Gravity and applied forces (nb, dof), without the gyroscopic torque."""
        force = np.zeros((self.nb, self.dof))
        force[self.moves, : self.dim] = self.mass_of[self.moves, None] * self.gravity
        for f in self.forces_applied:
            force[f.body] += self._force_on(f, t, q, v)
        return force

    @cached_property
    def steady(self) -> bool:
        """Whether neither forces nor motions are functions of time, so that it may be asked what the next step does."""
        moved = any(self.specs[i].motion is not None for i in self.kinematic)
        return not moved and self.steady_forces() is not None

    def steady_forces(self) -> FloatArray | None:
        """(nb, dof): gravity and applied forces where they never change; None where one does."""
        start, steady = self.initial_state(), all(f.steady for f in self.forces_applied)
        return self._applied(start.t, start.q, start.v) if steady else None

    def _force_on(self, f: AppliedForce, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return f.wrench(t, self.body_state(f.body, q, v), self._rotation(f.body, q))

    def forces(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """k(t, q, v) (nv,): gravity, applied forces and the gyroscopic torque."""
        return (self._applied(t, q, v) + self._gyroscopic(q, v)).ravel()

    def _gyroscopic(self, q: FloatArray, v: FloatArray) -> FloatArray:
        return np.zeros((self.nb, self.dof))

    def applied_power(self, t: float, q: FloatArray, v: FloatArray) -> float:
        """Power [W] of the applied forces; gravity is in the potential."""
        return float(sum(self._force_on(f, t, q, v) @ v.reshape(self.nb, -1)[f.body] for f in self.forces_applied))

    def energy(self, q: FloatArray, v: FloatArray) -> Energy:
        """Kinetic energy of the dynamic bodies, and their potential in gravity and in springs [J]."""
        kinetic = self._kinetic(q, v)
        # not by BLAS, whose threads would go on spinning on the cores of the next step
        gravity = -float(np.einsum("b,bi,i->", self.mass_of, self.bodies(q)[:, : self.dim], self.gravity))
        if not self.mechanism.elastic.any():
            return Energy(kinetic, gravity)
        elastic = self.mechanism.potential(self.measure(self.mechanism.rows, q, self.turns(q))[0])
        return Energy(kinetic, gravity + elastic, elastic)

    # --- System: constraints

    def gaps(self, candidates: Candidates, t: float, q: FloatArray) -> FloatArray:
        """(nk,) the largest residual of each joint or the gap of its limit, then the gap of each contact [m]."""
        assert isinstance(candidates, WorldCandidates)
        gap = self._geometry(candidates.features, q).gap
        if not candidates.joints:
            return gap.copy()
        value = self.measure(self.mechanism.rows, q, self.turns(q))[0]
        return np.concatenate([self.mechanism.block_values(value), gap])

    def measure(self, rows: Rows, q: FloatArray, turns: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values (n,) and rows Ja, Jb (n, dof) of joints."""
        out = (np.zeros(rows.n), np.empty((rows.n, self.dof)), np.empty((rows.n, self.dof)))
        self.kernels.joint_rows(self.bodies(q), turns, rows.arrays, 0, *out)
        return out

    @abstractmethod
    def turns(self, q: FloatArray) -> FloatArray:
        """(nt,) what the kernels want to know about the turns of the joints' rows."""

    @abstractmethod
    def coordinate_turns(self, q: FloatArray, before: FloatArray) -> FloatArray:
        """(nt,) the same for the coordinates of joints, counted on from `before` where q does not count them."""

    def coordinates(self, q: FloatArray, v: FloatArray, before: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, 2) coordinate and speed of each joint and spring that has one, and the turns to count on from."""
        rows, turns, V = self.mechanism.coordinates, self.coordinate_turns(q, before), v.reshape(self.nb, self.dof)
        value, Ja, Jb = self.measure(rows, q, turns)
        a, b = rows.arrays.body_a, rows.arrays.body_b
        speed = np.einsum("ni,ni->n", Ja, V[a]) + np.einsum("ni,ni->n", Jb, V[b])
        return np.column_stack([value, speed]), turns

    def evaluate(self, candidates: Candidates, t: float, q: FloatArray) -> Constraints:
        """Values and rows of the candidates at q."""
        assert isinstance(candidates, WorldCandidates)
        f, nj, mechanism = candidates.features, candidates.joints, self.mechanism
        nr = int(candidates.row_ptr[-1])
        geometry = self._geometry(f, q)
        value = np.zeros(nr)
        rows = BodyRows(
            np.concatenate([mechanism.bodies[:, 0], f.body_a]),
            np.concatenate([mechanism.bodies[:, 1], f.body_b]),
            np.empty((nr, self.dof)),
            np.empty((nr, self.dof)),
        )
        Q, turns = self.bodies(q), self.turns(q)
        self.kernels.joint_rows(Q, turns, mechanism.rows.arrays, 0, value, rows.Ja, rows.Jb)
        length = np.ones(nr)
        length[: mechanism.rows.n] = mechanism.length
        self.contacts.contact_rows(
            Q, f.body_a, f.body_b, geometry, candidates.row_ptr, nj, candidates.number,
            RowLaws(*self.laws.arrays, self.lever), rows.Ja, rows.Jb, length,
        )  # fmt: skip
        value[candidates.row_ptr[nj:-1]] = geometry.gap
        bound = np.zeros(len(candidates.key))
        bound[:nj] = mechanism.bound
        elastic = candidates.elastic
        if elastic is not None:
            sizes = np.zeros((len(elastic), COLUMNS - LAW_COLUMNS))
            if self.laws.solid and len(f):
                self._contact_sizes(self._poses(q)[1], f, geometry, sizes[nj:])
            elastic = np.concatenate([elastic, sizes], axis=1)
        return Constraints(candidates, value, rows, bound, length, mechanism, candidates.soft, elastic)

    def dynamics(self, q: FloatArray, constraints: Constraints) -> Bodies:
        """The Bodies form with the inverse masses at q."""
        r: BodyRows = constraints.rows
        Minv = self._mass_blocks(q, inverse=True)
        return Bodies.trusted(r.body_a, r.body_b, r.Ja, r.Jb, Minv, constraints.candidates.row_ptr)

    def contact_geometry(self, candidates: Candidates, q: FloatArray) -> Geometry:
        """Where the constraints are at q; under laws where it matters, with the bodies in the order of the law."""
        assert isinstance(candidates, WorldCandidates)
        f, nj, laws = candidates.features, candidates.joints, self.laws
        _, normal, point_a, point_b = self._geometry(f, q)
        nk = len(candidates.key)
        bodies, place = np.empty((nk, 2), dtype=np.int64), [np.zeros((nk, 3)) for _ in range(3)]
        bodies[:nj], bodies[nj:, 0], bodies[nj:, 1] = self.mechanism.bodies, f.body_a, f.body_b
        tangent = np.empty((len(f), self.dim))
        self.contacts.contact_tangents(
            self.bodies(q), f.body_a, f.body_b, normal, candidates.number, laws.axis, laws.side, tangent
        )
        if (laws.side < 0).any():
            turned = laws.side[candidates.number] < 0
            normal = np.where(turned[:, None], -normal, normal)
            bodies[nj:][turned] = bodies[nj:][turned, ::-1]
        a, b = self.moves[f.body_a, None], self.moves[f.body_b, None]
        point = np.where(a & b, 0.5 * (point_a + point_b), np.where(a, point_a, point_b))  # where friction acts
        for array, values in zip(place, (normal, point, tangent)):
            array[nj:, : self.dim] = values
        return Geometry(bodies, *place)

    def with_target(self, joint: str, target: Any) -> BodyModel:
        """The same model with another target for a joint's motor; the arrays are shared."""
        changed = copy(self)
        changed.mechanism = self.mechanism.with_target(joint, target)
        changed._forget()
        return changed

    def indeterminate(self, q: FloatArray) -> list[str] | None:
        """The joints whose impulses are not unique at q; None where there are too many to tell."""
        _, Ja, Jb = self.measure(self.mechanism.rows, q, self.turns(q))
        return self.mechanism.indeterminate(Ja, Jb, self.moves)

    def constraint_name(self, key: int) -> str:
        """A joint's name, or the two bodies of a contact and its feature."""
        if key < 0:
            return self.mechanism.names[key + self.mechanism.n]
        pair, code = divmod(int(key), CODES)
        a, b = divmod(pair, self.ns)
        return f"{self.names[self.shape_body[a]]}/{self.names[self.shape_body[b]]} {a}-{b}-{code}"
