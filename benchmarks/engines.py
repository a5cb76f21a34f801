"""Other engines on the scenes of `scenes.py`, behind one interface: build, step, positions, and the contacts of a step.

Each is given the true friction coefficient, no restitution, no damping of its own, no sleeping, and one thread. The
import of an engine happens when it is built, so that those that are not installed can be left out.
"""

import contextlib

import numpy as np

from hard_law import Report, tangents
from scenes import DENSITY, DT, MASS, MU, RADIUS, sides


class Engine:
    """A scene in an engine.

    kind: "box" or "sphere"; places (n, 3) [m]; half: half the width of the spheres' box [m]; velocities (n, 6).
    """

    def __init__(self, kind, places, half=None, velocities=None, **settings):
        self.kind, self.n = kind, len(places)
        sphere = kind == "sphere"
        self.mass = DENSITY * 4 / 3 * np.pi * RADIUS**3 if sphere else MASS
        self.inertia = self.mass * (0.4 * RADIUS**2 if sphere else 1 / 6)
        self.planes = [((0.0, 0.0, 1.0), 0.0), *(sides(half) if sphere else ())]
        self.build(np.asarray(places, float), np.zeros((self.n, 6)) if velocities is None else velocities, **settings)

    def report(self):
        """A `Report` of one more step; None where the engine does not tell."""
        self.step(1)

    def positions(self):
        """Centres (n, 3)."""
        return self.poses()[:, :3]

    def close(self):
        """Give back what the engine holds."""


class MuJoCo(Engine):
    """Euler steps, elliptic cones; `stiff`: the shortest time constant that its manual allows at this step, 2 h."""

    def build(self, places, velocities, solver="Newton", iterations=100, tolerance=1e-8, stiff=False, jacobian="auto"):
        """The model as XML."""
        import mujoco

        self.engine = mujoco
        box = 'type="box" size="0.5 0.5 0.5" mass="1"'
        shape = box if self.kind == "box" else f'type="sphere" size="{RADIUS}" density="{DENSITY}"'
        soft = f'solref="{2 * DT} 1" solimp="0.99 0.999 0.0001 0.5 2"' if stiff else ""
        flat = "".join(
            f'<geom type="plane" size="50 50 1" pos="{-x * d} {-y * d} 0" zaxis="{x} {y} {z}"/>'
            for (x, y, z), d in self.planes
        )
        bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/><geom {shape}/></body>' for x, y, z in places)
        self.model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><option timestep="{DT}" cone="elliptic" solver="{solver}" iterations="{iterations}"
            tolerance="{tolerance}" jacobian="{jacobian}"/>
            <default><geom friction="{MU} 0 0" condim="3" {soft}/></default>
            <worldbody>{flat}{bodies}</worldbody></mujoco>"""
        )
        self.data = mujoco.MjData(self.model)
        self.data.qvel[:] = velocities.ravel()

    def step(self, n):
        """Take n steps."""
        self.engine.mj_step(self.model, self.data, n)

    def poses(self):
        """Centres and quaternions (n, 7)."""
        return self.data.qpos.reshape(self.n, 7).copy()

    def _velocities(self):
        v = self.data.qvel.reshape(self.n, 6).copy()
        w, r = self.data.qpos.reshape(self.n, 7)[:, 3:4], self.data.qpos.reshape(self.n, 7)[:, 4:]
        turn = np.cross(r, v[:, 3:])  # angular velocity is in body axes there
        v[:, 3:] += 2 * (w * turn + np.cross(r, turn))
        return v

    def report(self):
        """Contacts of one step: `efc_force` times the step."""
        before, centre = self._velocities(), self.positions()
        self.step(1)
        contact, force = self.data.contact, np.zeros((self.data.ncon, 6))
        for i in range(self.data.ncon):
            self.engine.mj_contactForce(self.model, self.data, i, force[i])
        body = self.model.geom_bodyid[contact.geom].astype(np.int64) - 1
        return Report(
            centre, before, self._velocities(), self.mass, self.inertia, body[:, 1].copy(), body[:, 0].copy(),
            contact.dist.copy(), contact.pos.copy(), contact.frame.reshape(-1, 3, 3).copy(), DT * force[:, :3],
        )  # fmt: skip


class PyBullet(Engine):
    """Sequential impulses; `iterations` at most, ended early by its residual threshold."""

    def build(self, places, velocities, iterations=50, threshold=1e-7):
        """Bodies that share one collision shape."""
        with contextlib.redirect_stdout(None):
            import pybullet

        b = self.engine = pybullet
        self.client = b.connect(b.DIRECT)
        b.setGravity(0, 0, -9.81)
        b.setPhysicsEngineParameter(
            fixedTimeStep=DT, numSolverIterations=iterations, solverResidualThreshold=threshold, numSubSteps=0
        )
        fixed = []
        for normal, d in self.planes:
            shape = b.createCollisionShape(b.GEOM_PLANE, planeNormal=normal)
            fixed.append(b.createMultiBody(0, shape, -1, [-d * c for c in normal]))
        if self.kind == "box":
            shape = b.createCollisionShape(b.GEOM_BOX, halfExtents=[0.5] * 3)
        else:
            shape = b.createCollisionShape(b.GEOM_SPHERE, radius=RADIUS)
        self.bodies = [b.createMultiBody(self.mass, shape, -1, list(map(float, p))) for p in places]
        for body in (*fixed, *self.bodies):
            b.changeDynamics(body, -1, lateralFriction=MU**0.5, restitution=0.0, linearDamping=0.0, angularDamping=0.0)
        for body, v in zip(self.bodies, velocities.tolist()):
            b.resetBaseVelocity(body, v[:3], v[3:])
        self.number = {body: i for i, body in enumerate(self.bodies)}

    def step(self, n):
        """Take n steps."""
        for _ in range(n):
            self.engine.stepSimulation()

    def poses(self):
        """Centres and quaternions (n, 7)."""
        pairs = [self.engine.getBasePositionAndOrientation(body) for body in self.bodies]
        return np.array([(*x, w, a, b, c) for x, (a, b, c, w) in pairs])

    def _velocities(self):
        return np.array([np.concatenate(self.engine.getBaseVelocity(body)) for body in self.bodies])

    def report(self):
        """Contacts of one step, with the impulses that were applied."""
        before, centre = self._velocities(), self.positions()
        self.step(1)
        points = self.engine.getContactPoints()
        body = np.array([[self.number.get(c[1], -1), self.number.get(c[2], -1)] for c in points]).reshape(-1, 2)
        frame = np.array([(c[7], c[11], c[13]) for c in points]).reshape(-1, 3, 3)
        impulse = DT * np.array([(c[9], c[10], c[12]) for c in points]).reshape(-1, 3)
        return Report(
            centre, before, self._velocities(), self.mass, self.inertia, body[:, 0], body[:, 1],
            np.array([c[8] for c in points]), np.array([c[5] for c in points]).reshape(-1, 3), frame, impulse,
        )  # fmt: skip

    def close(self):
        """Leave the physics server."""
        self.engine.disconnect(self.client)


class Dart(Engine):
    """Boxed LCP by "Dantzig" (direct) or "matrix-free" (projected Gauss–Seidel), or true cones by "NSGS"."""

    def build(self, places, velocities, solver="Dantzig", detector="BULLET"):
        """A skeleton per body."""
        import dartpy as dart

        self.engine = dart
        world = self.world = dart.simulation.World()
        world.setTimeStep(DT)
        world.setGravity([0, 0, -9.81])
        world.setNumSimulationThreads(1)
        world.setCollisionDetector(getattr(dart.simulation.CollisionDetectorType, detector))
        lcp = world.getConstraintSolver()
        if solver == "NSGS":
            lcp.setBoxedLcpSolver(dart.constraint.NsgsFrictionSolver())
        options = lcp.getMatrixFreeContactSolverOptions()
        options.mEnabled = solver == "matrix-free"
        lcp.setMatrixFreeContactSolverOptions(options)
        lcp.getCollisionOption().maxNumContacts = 100_000
        sleep = world.getDeactivationOptions()
        sleep.mEnabled = False
        world.setDeactivationOptions(sleep)
        ground = dart.dynamics.Skeleton("ground")
        _, node = ground.createWeldJointAndBodyNodePair()
        for normal, d in self.planes:  # slabs: not every detector knows planes
            self._shape(node, dart.dynamics.BoxShape([50.0 if c == 0 else 2.0 for c in normal]))
            slab = node.getShapeNode(node.getNumShapeNodes() - 1)
            slab.setRelativeTranslation([-(d + 1.0) * c for c in normal])
        world.addSkeleton(ground)
        self.nodes = []
        for i in range(self.n):
            skeleton = dart.dynamics.Skeleton(str(i))
            joint, node = skeleton.createFreeJointAndBodyNodePair()
            shape = dart.dynamics.BoxShape([1, 1, 1]) if self.kind == "box" else dart.dynamics.SphereShape(RADIUS)
            self._shape(node, shape)
            j = self.inertia
            node.setInertia(dart.dynamics.Inertia(self.mass, [0, 0, 0], np.diag([j, j, j])))
            joint.setPositions([0, 0, 0, *map(float, places[i])])
            joint.setVelocities([*velocities[i, 3:], *velocities[i, :3]])
            world.addSkeleton(skeleton)
            self.nodes.append(node)

    def _shape(self, node, shape):
        made = node.createShapeNode(shape)
        made.createCollisionAspect()
        aspect = made.createDynamicsAspect()
        aspect.setFrictionCoeff(MU)
        aspect.setRestitutionCoeff(0.0)

    def step(self, n):
        """Take n steps."""
        for _ in range(n):
            self.world.step()

    def poses(self):
        """Centres and quaternions (n, 7)."""
        made = [node.getWorldTransform() for node in self.nodes]
        return np.array([np.concatenate([T.translation(), T.quaternion().wxyz()]) for T in made])

    def _velocities(self):
        return np.array([np.concatenate([b.getLinearVelocity(), b.getAngularVelocity()]) for b in self.nodes])

    def _number(self, thing):
        name = thing.getShapeFrame().asShapeNode().getBodyNodePtr().getSkeleton().getName()
        return -1 if name == "ground" else int(name)

    def report(self):
        """Contacts of one step."""
        before, centre = self._velocities(), self.positions()
        self.step(1)
        contacts = self.world.getLastCollisionResult().getContacts()
        frame = tangents(np.array([c.normal for c in contacts]).reshape(-1, 3))
        force = np.array([c.force for c in contacts]).reshape(-1, 3)
        return Report(
            centre, before, self._velocities(), self.mass, self.inertia,
            np.array([self._number(c.collisionObject1) for c in contacts], np.int64),
            np.array([self._number(c.collisionObject2) for c in contacts], np.int64),
            np.array([-c.penetrationDepth for c in contacts]), np.array([c.point for c in contacts]).reshape(-1, 3),
            frame, DT * np.einsum("kij,kj->ki", frame, force),
        )  # fmt: skip


class Drake(Engine):
    """Discrete `MultibodyPlant`; `solver` is its contact approximation. Boxes are hydroelastic, spheres points."""

    def build(self, places, velocities, solver="lagged"):
        """One free body per place."""
        from pydrake.geometry import (
            AddCompliantHydroelasticProperties,
            AddContactMaterial,
            AddRigidHydroelasticProperties,
            Box,
            HalfSpace,
            ProximityProperties,
            Sphere,
        )
        from pydrake.math import RigidTransform
        from pydrake.multibody.math import SpatialVelocity
        from pydrake.multibody.plant import AddMultibodyPlant, ContactModel, CoulombFriction, MultibodyPlantConfig
        from pydrake.multibody.tree import SpatialInertia, UnitInertia
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        builder = DiagramBuilder()
        config = MultibodyPlantConfig(time_step=DT, discrete_contact_approximation=solver)
        plant, _ = AddMultibodyPlant(config, builder)
        plant.set_contact_model(ContactModel.kHydroelasticWithFallback)
        boxes = self.kind == "box"

        def surface(fixed):
            made = ProximityProperties()
            AddContactMaterial(friction=CoulombFriction(MU, MU), properties=made)
            if boxes and fixed:
                AddRigidHydroelasticProperties(made)
            elif boxes:
                AddCompliantHydroelasticProperties(1.0, 1e7, made)
            return made

        for i, (normal, d) in enumerate(self.planes):
            pose = RigidTransform(-d * np.array(normal)).multiply(HalfSpace.MakePose(np.array(normal), np.zeros(3)))
            plant.RegisterCollisionGeometry(plant.world_body(), pose, HalfSpace(), f"plane {i}", surface(True))
        unit = UnitInertia.SolidBox(1, 1, 1) if boxes else UnitInertia.SolidSphere(RADIUS)
        inertia = SpatialInertia(self.mass, np.zeros(3), unit)
        self.bodies = [plant.AddRigidBody(f"body {i}", inertia) for i in range(self.n)]
        for i, body in enumerate(self.bodies):
            shape = Box(1, 1, 1) if boxes else Sphere(RADIUS)
            plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"shape {i}", surface(False))
        plant.Finalize()
        self.plant, diagram = plant, builder.Build()
        self.simulator = Simulator(diagram)
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for body, place, v in zip(self.bodies, places, velocities):
            plant.SetFreeBodyPose(self.context, body, RigidTransform(place))
            plant.SetFreeBodySpatialVelocity(self.context, body, SpatialVelocity(v[3:], v[:3]))
        self.simulator.Initialize()
        self.taken = 0

    def step(self, n):
        """Take n steps."""
        self.taken += n
        self.simulator.AdvanceTo(self.taken * DT)

    def poses(self):
        """Centres and quaternions (n, 7)."""
        made = [self.plant.EvalBodyPoseInWorld(self.context, body) for body in self.bodies]
        return np.array([np.concatenate([X.translation(), X.rotation().ToQuaternion().wxyz()]) for X in made])


ENGINES = {"MuJoCo": MuJoCo, "PyBullet": PyBullet, "DART": Dart, "Drake": Drake}
