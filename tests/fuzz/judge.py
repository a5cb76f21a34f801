"""A judge of steps that shares nothing with the package: geometry, momentum, friction and energy in plain NumPy.

It is told of a world what its author was told (shapes, masses, laws), and of a step its states, its table of contacts
and what the certificate says. Findings are pairs of a rule's name and a sentence.

Depth: how far a body reaches below a half-space is exact, by its support function. Between two bodies it is the largest
distance to the surface of points of one inside the other, which is never more than the true depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RULES = {
    "finite": "everything that a step hands out is a number",
    "depth": "no body is deeper in another than the certificate says",
    "momentum": "linear momentum changes by gravity and the recorded impulses",
    "spin": "angular momentum changes by the moments of the recorded impulses",
    "press": "no contact pulls",
    "cone": "friction stays within mu times the normal impulse",
    "energy": "the books agree with the energy of both states",
    "failed": "a step of an ordinary world does not fail",
    "exception": "nothing but a StictionError is raised",
}
DEPTH = 1e-9  # [m] what depth may exceed the certificate by: round-off
TURN = 2.0  # moments may be off by this times the angle that a body turns by within a step


# --- shapes: surface points (n, d), support and distance inside, all in the shape's own frame


def _sphere_points(n=200):
    i = np.arange(n) + 0.5
    polar, turn = np.arccos(1 - 2 * i / n), np.pi * (1 + 5**0.5) * i
    return np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)])


BALL = _sphere_points()
CIRCLE = np.column_stack([np.cos(a := np.linspace(0, 2 * np.pi, 48, endpoint=False)), np.sin(a)])


class Round:
    """A ball, ellipsoid, disk or ellipse by its semi-axes."""

    def __init__(self, axes):
        self.axes = np.array(axes, dtype=float)
        self.points = self.axes * (BALL if len(self.axes) == 3 else CIRCLE)

    def support(self, d):
        return np.linalg.norm(self.axes * d)

    def inside(self, p):
        """At most the distance to the surface: exact for balls, and along the shortest axis."""
        return (1.0 - np.linalg.norm(p / self.axes, axis=1)) * self.axes.min()


class Thick:
    """All points within a radius of a segment along the last axis (capsules), or between two points of the plane."""

    def __init__(self, radius, a, b):
        self.radius, self.a, self.b = radius, np.array(a, dtype=float), np.array(b, dtype=float)
        unit = BALL if len(self.a) == 3 else CIRCLE
        self.points = np.vstack([end + radius * unit for end in np.linspace(self.a, self.b, 7)])

    def support(self, d):
        return self.radius * np.linalg.norm(d) + max(self.a @ d, self.b @ d)

    def inside(self, p):
        along = self.b - self.a
        s = np.clip((p - self.a) @ along / (along @ along), 0.0, 1.0)
        return self.radius - np.linalg.norm(p - self.a - s[:, None] * along, axis=1)


class Drum:
    """A cylinder along z."""

    def __init__(self, radius, length):
        self.radius, self.half = radius, 0.5 * length
        self.points = np.vstack([
            np.column_stack([f * radius * CIRCLE, np.full(len(CIRCLE), z)])
            for z, f in [(-self.half, 1), (self.half, 1), (-self.half, 0.5), (self.half, 0.5), (0, 1)]
        ])  # fmt: skip

    def support(self, d):
        return self.radius * np.hypot(d[0], d[1]) + self.half * abs(d[2])

    def inside(self, p):
        return np.minimum(self.radius - np.hypot(p[:, 0], p[:, 1]), self.half - np.abs(p[:, 2]))


class Flat:
    """A convex polyhedron or polygon: its corners and its faces as outward normals and offsets."""

    def __init__(self, corners, between=()):
        from scipy.spatial import ConvexHull

        corners = np.asarray(corners, dtype=float)
        hull = ConvexHull(corners)
        self.corners, self.faces = corners[hull.vertices], hull.equations
        sides = corners[hull.simplices]
        mids = [sides.mean(axis=1), 0.5 * (sides[:, 0] + sides[:, 1])]
        self.points = np.vstack([self.corners, *mids])

    def support(self, d):
        return (self.corners @ d).max()

    def inside(self, p):
        return -(p @ self.faces[:, :-1].T + self.faces[:, -1]).max(axis=1)


def turned(q):
    """The rotation matrix of a quaternion (w, x, y, z), or of an angle."""
    if np.ndim(q) == 0:
        return np.array([[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]])
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def read_shape(shape):
    """(a shape of the judge or None for a half-space, its place and rotation in the body's frame)."""
    kind = type(shape).__name__
    place = np.asarray(getattr(shape, "position", np.zeros(2)), dtype=float)
    turn = turned(np.asarray(shape.orientation)) if hasattr(shape, "orientation") else np.eye(len(place))
    if kind in ("Plane", "HalfPlane"):
        return None, place, turn[:, 2] if kind == "Plane" else np.asarray(shape.normal)
    if kind in ("Sphere", "Disk"):
        return Round([shape.radius] * len(place)), place, turn
    if kind == "Ellipsoid":
        return Round(shape.semi_axes), place, turn
    if kind == "Ellipse":
        return Round([shape.a, shape.b]), place, turned(float(shape.angle))
    if kind == "Box":
        ends = 0.5 * np.asarray(shape.lengths)
        return Flat(ends * np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T), place, turn
    if kind == "Capsule":
        end = np.array([0, 0, 0.5 * shape.length])
        return Thick(shape.radius, -end, end), place, turn
    if kind == "Rod":
        end = np.array([0.5 * shape.length, 0])
        return Thick(shape.radius, -end, end), place, turned(float(shape.angle))
    if kind == "Cylinder":
        return Drum(shape.radius, shape.length), place, turn
    if kind == "ConvexHull":
        return Flat(shape.points), place, turn
    if kind == "Polygon":
        return Flat(shape.vertices), np.zeros(2), np.eye(2)
    raise NotImplementedError(kind)


# --- a world


@dataclass
class Body:
    """mass, inertia about the centre of mass in body axes, com in the body's frame; kind; shapes as read."""

    kind: str
    mass: float
    inertia: np.ndarray
    com: np.ndarray
    shapes: list
    group: object
    held: bool = False  # by a joint or a spring


class Judge:
    """Judges the steps of one world."""

    def __init__(self, world, h, tol, *, turns=True, moments=True):
        self.h, self.tol, self.dim, self.gravity = h, tol, world.dim, np.asarray(world.gravity, dtype=float)
        self.turns, self.moments = turns, moments
        self.bodies = [
            Body(s.kind, float(s.mass), np.asarray(s.inertia, dtype=float), np.asarray(s.com, dtype=float),
                 [read_shape(x) for x in s.shapes], s.group)
            for s in world.bodies
        ]  # fmt: skip
        self.apart = {tuple(sorted(pair)) for pair in world.excluded}
        self.sprung = bool(world.springs) or bool(world.joints)  # their energy is not judged
        for joint in world.joints:
            for which in (joint.a, joint.b):
                self.bodies[world.body(which)].held = True
        for spring in world.springs:
            for i in spring.between[:2] if spring.between else ():
                self.bodies[i].held = True
        self.mu = {"default": _mu(world.materials.named["default"].friction)}
        self.mu |= {tuple(sorted(pair)): _mu(law.friction) for pair, law in world.pair_laws.items()}
        self.soft = any(law.compliance is not None for law in world.materials.named.values())

    # --- states

    def poses(self, q):
        """Of every body: the centre of mass and the rotation."""
        if self.dim == 3:
            return [(x[:3], turned(x[3:])) for x in q[: 7 * len(self.bodies)].reshape(-1, 7)]
        return [(x[:2], turned(x[2])) for x in q[: 3 * len(self.bodies)].reshape(-1, 3)]

    def speeds(self, v):
        """Of every body: velocity of the centre of mass, and angular velocity (3,) or (1,)."""
        rows = v.reshape(-1, 6 if self.dim == 3 else 3)
        return [(x[: self.dim], x[self.dim :]) for x in rows]

    def energy(self, q, v):
        """Kinetic and gravitational, and the kinetic alone."""
        kinetic = potential = 0.0
        for body, (x, R), (u, w) in zip(self.bodies, self.poses(q), self.speeds(v)):
            if body.kind == "dynamic":
                kinetic += 0.5 * body.mass * u @ u + 0.5 * w @ self.turning(body, R) @ w
                potential -= body.mass * self.gravity @ x
        return kinetic + potential, kinetic

    def turning(self, body, R):
        return R @ body.inertia @ R.T if self.dim == 3 else body.inertia.reshape(1, 1)

    # --- rules

    def judge(self, old, result):
        """Findings of a step from `old` (q, v): (rule, sentence)."""
        new, contacts, certificate = result.state, result.contacts, result.certificate
        arrays = [new.q, new.v, contacts.gap, contacts.impulse, contacts.velocity, contacts.normal, contacts.point]
        if certificate is not None:
            arrays.append(
                np.array([certificate.penetration, certificate.joint_drift, *vars(certificate.energy).values()])
            )
        if not all(np.isfinite(a).all() for a in arrays):
            return [("finite", "a step hands out something that is not finite")]
        if not result.success:
            return []
        found = self.depth(new.q, certificate.penetration) + self.laws(old, new, contacts)
        found += self.momentum(old, new, contacts) + self.books(old, new, certificate)
        return found

    def depth(self, q, said):
        """Bodies against half-spaces, and against each other."""
        poses, found = self.poses(q), []
        placed = []
        for i, (body, (x, R)) in enumerate(zip(self.bodies, poses)):
            for shape, at, turn in body.shapes:
                centre = x + R @ (at - body.com)
                placed.append((i, shape, centre, R @ turn))
        worst = (said + DEPTH, "")
        for k, (i, A, xa, Ra) in enumerate(placed):
            for j, B, xb, Rb in placed[:k]:
                bodies = self.bodies[i], self.bodies[j]
                if i == j or all(b.kind != "dynamic" for b in bodies) or tuple(sorted((i, j))) in self.apart:
                    continue
                if bodies[0].group is not None and bodies[0].group == bodies[1].group:
                    continue
                if A is None or B is None:
                    n, on, shape, centre, turn = (Ra, xa, B, xb, Rb) if A is None else (Rb, xb, A, xa, Ra)
                    deep = n @ (on - centre) + shape.support(turn.T @ -n)
                else:
                    inside = [B.inside((A.points @ Ra.T + xa - xb) @ Rb), A.inside((B.points @ Rb.T + xb - xa) @ Ra)]
                    deep = max(inside[0].max(), inside[1].max())
                if deep > worst[0]:
                    names = [type(s).__name__ if s else "half-space" for s in (A, B)]
                    worst = (deep, f"bodies {j} and {i} ({names[1]}, {names[0]})")
        if worst[1]:
            found.append(("depth", f"{worst[1]} overlap by {worst[0]:.2e} m, the certificate says {said:.2e}"))
        return found

    def laws(self, old, new, contacts):
        """Normal impulses and friction of the table."""
        found, touching = [], (contacts.bodies >= 0).all(axis=1) & (contacts.law == 1)
        heavy = max(b.mass for b in self.bodies)
        size = np.abs(contacts.impulse[touching]).max(initial=0.0) + heavy * self.fastest(old, new)
        slack = 10 * self.tol * size
        for k in np.flatnonzero(touching):
            p, pair = contacts.impulse[k], tuple(sorted(contacts.bodies[k].tolist()))
            if np.linalg.norm(contacts.normal[k]) == 0.0:
                continue
            if p[0] < -slack:
                found.append(("press", f"a contact of bodies {pair} pulls by {-p[0]:.2e} of {size:.2e} N s"))
            mu = self.mu.get(pair, self.mu["default"])
            rubs = np.linalg.norm(p[1:3])
            if rubs > mu * max(p[0], 0.0) + (1 + mu) * slack:
                found.append(("cone", f"friction of bodies {pair} is {rubs:.3e} with mu p = {mu * p[0]:.3e} N s"))
        return found[:1]

    def fastest(self, old, new):
        """The largest speed of a centre of mass, with that of a free fall over the step [m/s]."""
        speeds = [np.linalg.norm(u) for state in (old, new) for u, _ in self.speeds(state.v)]
        return max(speeds) + np.linalg.norm(self.gravity) * self.h

    def momentum(self, old, new, contacts):
        """Of every body that no joint or spring holds.

        The rows of a step lie at its start, at a prediction, or at its end: arms are taken from where they fit best.
        While a body turns by the angle φ within a step its inertia in the world's axes turns too: moments of impulses
        are told to first order in φ, and kept exactly where nothing touches or the inertia is that of a ball.
        """
        if not self.moments:
            return []
        found = []
        poses, before, after, later = self.poses(old.q), self.speeds(old.v), self.speeds(new.v), self.poses(new.q)
        everywhere = self.fastest(old, new)
        slack = 10 * self.tol * everywhere
        for i, body in enumerate(self.bodies):
            if body.kind != "dynamic" or body.held:
                continue
            forces, points, twist = self.impulses(i, contacts)
            miss = after[i][0] - before[i][0] - self.h * self.gravity - forces.sum(axis=0) / body.mass
            if np.linalg.norm(miss) > slack:
                found.append(("momentum", f"body {i} has {np.linalg.norm(miss):.2e} m/s that no impulse explains "
                                          f"(speeds of {everywhere:.2e} m/s)"))  # fmt: skip
            (x0, R0), (x1, R1) = poses[i], later[i]
            J0, J1 = self.turning(body, R0), self.turning(body, R1)
            L0, L1 = J0 @ before[i][1], J1 @ after[i][1]
            start = before[i][0]
            places = [x0, x0 + 0.5 * self.h * start, x0 + self.h * start, 0.5 * (x0 + x1), x1]
            lost = min(np.linalg.norm(L1 - L0 - twist - _moments(points - x, forces)) for x in places)
            size = np.linalg.norm(L0) + np.linalg.norm(L1) + np.linalg.norm(twist)
            size += (np.linalg.norm(points - x0, axis=1) * np.linalg.norm(forces, axis=1)).sum()
            moments = np.linalg.eigvalsh(body.inertia) if self.dim == 3 else np.ones(1)
            angle = self.h * max(np.linalg.norm(before[i][1]), np.linalg.norm(after[i][1]))
            if self.dim == 3:  # a projection turns bodies too, and their spins with them
                angle = max(angle, np.arccos(np.clip(0.5 * (np.trace(R0.T @ R1) - 1.0), -1.0, 1.0)))
            alike = np.ptp(moments) <= 1e-9 * moments.max()
            exact = alike or (self.turns and not len(forces))
            allowed = 1e-9 * size + slack * body.mass * np.sqrt(np.trace(np.atleast_2d(body.inertia)) / body.mass)
            if lost > allowed + (0.0 if exact else TURN * min(angle, 1.0) * size):
                found.append(
                    ("spin", f"body {i} turns by {angle:.2g} rad: {lost:.2e} of {size:.2e} N m s have no moment")
                )
        return found[:1]

    def impulses(self, i, contacts):
        """What contacts do to a body: impulses (k, d), the points where they act, and the sum of spin and rolling."""
        d, forces, points, twist = self.dim, [], [], np.zeros(3 if self.dim == 3 else 1)
        for k in np.flatnonzero((contacts.bodies == i).any(axis=1) & (contacts.impulse != 0.0).any(axis=1)):
            p, n, t = contacts.impulse[k], contacts.normal[k, :d], contacts.tangent[k, :d]
            sign = 1.0 if contacts.bodies[k, 0] == i else -1.0
            force = p[0] * n + p[1] * t
            if d == 3:
                s = np.cross(n, t)
                force = force + p[2] * s
                twist = twist + sign * (p[3] * n + p[4] * t + p[5] * s)
            else:
                twist = twist + sign * p[4:5]
            forces.append(sign * force)
            points.append(contacts.point[k, :d])
        return np.reshape(forces, (-1, d)), np.reshape(points, (-1, d)), twist

    def books(self, old, new, certificate):
        """The change of energy by states against the certificate's, and its residual."""
        (e0, t0), (e1, t1) = self.energy(old.q, old.v), self.energy(new.q, new.v)
        balance = certificate.energy
        size = t0 + t1 + abs(e1 - e0) + sum(abs(x) for x in vars(balance).values())
        height = sum(b.mass * abs(self.gravity @ x) for b, (x, _) in zip(self.bodies, self.poses(new.q)) if b.mass)
        found = []
        if abs(balance.residual) > 1e-9 * size + 1e-13 * height:
            found.append(("energy", f"the residual of the books is {balance.residual:.2e} J of {size:.2e}"))
        elif not self.sprung and not self.soft and abs(balance.change - (e1 - e0)) > 1e-9 * size + 1e-12 * height:
            found.append(("energy", f"energy changed by {e1 - e0:.6e} J, the books say {balance.change:.6e}"))
        return found


def _moments(arms, forces):
    """The sum of arm x force, (3,) or (1,)."""
    if arms.shape[1] == 3:
        return np.cross(arms, forces).sum(axis=0)
    return np.array([(arms[:, 0] * forces[:, 1] - arms[:, 1] * forces[:, 0]).sum()])


def _mu(friction):
    """The largest ratio of friction to normal impulse; infinite for laws with directions of their own."""
    known = ("Coulomb", "Torsional", "Rolling", "Mixed", "Anisotropic", "Frictionless")
    widest = max(getattr(friction, "et", 1.0), getattr(friction, "eo", 1.0))
    return float(friction.mu) * widest if type(friction).__name__ in known else np.inf
