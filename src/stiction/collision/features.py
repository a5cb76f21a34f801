"""Contact features: the gap, normal and gradient of one feature pair at any configuration.

Every shape is a convex core grown by a radius, and every contact a pair of features of two cores: vertices, edges and
faces. A record keeps the pair in body coordinates, so that the *same* contact can be evaluated at any configuration.
The normal n points from body b to body a, `gap` = distance of the features - ra - rb, and the rate of the gap is
exactly n·(v_a + ω_a×(point_a - x_a) - v_b - ω_b×(point_b - x_b)) at the two surface points.

    type          on a               on b               distance of the cores
    POINT_POINT   pa                 pb                 |pa - pb|
    POINT_LINE    pa                 pb + s db          Euclidean
    LINE_POINT    pa + s da          pb                 Euclidean
    POINT_PLANE   pa                 pb, normal db      db·(pa - pb), signed
    PLANE_POINT   pa, normal da      pb                 da·(pb - pa), signed
    EDGE_EDGE     pa + s da          pb + t db          n·(pa - pb) with n = da×db/|da×db|, signed

The directions da, db are unit vectors where the type uses them; the signs of an EDGE_EDGE record are chosen when the
contact is found, so that its normal does not flip. Where a type leaves a direction free (db of POINT_POINT and
LINE_POINT, da of POINT_LINE) it may hold the normal at the time of finding, in that body's frame, or zero. It decides
two cases in which the features alone do not: the normal of coincident features, and (cores without radius only) the
side on which a feature that has passed through the other one lies, where the gap is then measured along it. Without it
coincident features take the world's z axis (POINT_POINT) or a fixed perpendicular of the line. Nearly parallel edges
(angle below 1e-7) are evaluated as the point pa against the line of b.

In the plane the types are POINT_POINT, POINT_LINE and LINE_POINT, a line carries its outward normal in da or db, its
distance is signed, and the world's y axis replaces z. A body index of -1 is the world: the identity pose.

Pairs with a curved shape have further types, which other kernels measure (`plane/ellipse`, `space/convex`): CONVEX is
the signed distance of the two shapes, found again at any configuration; RIM_PLANE and PLANE_RIM are the rim of a
cylinder (centre pa, axis da, radius ra) against a plane: d·(centre - point) - radius·sin of the angle between axis and
plane normal d.
"""

from __future__ import annotations

import math

from ..runtime.jit import njit
from ..runtime.lanes import PREFETCH_TURNS, prefetch
from .records import FoundContacts

# kinds of pairs of features (see above)
POINT_POINT, POINT_LINE, LINE_POINT, POINT_PLANE, PLANE_POINT, EDGE_EDGE = 0, 1, 2, 3, 4, 5
CONVEX, RIM_PLANE, PLANE_RIM = 6, 7, 8  # pairs with a curved shape
CORE, PLANE = 0, 1  # kinds of shapes
ELLIPSE = 2  # in the plane
CYLINDER, ELLIPSOID, HULL = 2, 3, 4  # in space

_COINCIDENT_SHARE = 1e-14  # features closer than this times their coordinates coincide
_PARALLEL_SINE = 1e-7  # sine of an angle up to which two edges are taken for parallel


@njit
def dot(a, b):
    """Scalar product of two 3-tuples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit
def cross(a, b):
    """Vector product of two 3-tuples."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@njit
def along(a, s, d):
    """The point a + s d."""
    return (a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2])


@njit
def perpendicular(d):
    """A unit vector normal to the unit vector d: d × the axis of its smallest component."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    e = (0.0, 0.0, 1.0)
    if x <= y and x <= z:
        e = (1.0, 0.0, 0.0)
    elif y <= z:
        e = (0.0, 1.0, 0.0)
    c = cross(d, e)
    size = math.sqrt(dot(c, c))
    return (c[0] / size, c[1] / size, c[2] / size)


@njit(leaf=True)
def rotated(R, body, v, i):
    """R[body] v[i] as a tuple; body -1 is the world."""
    a, b, c = v[i, 0], v[i, 1], v[i, 2]
    if body < 0:
        return (a, b, c)
    return (
        R[body, 0, 0] * a + R[body, 0, 1] * b + R[body, 0, 2] * c,
        R[body, 1, 0] * a + R[body, 1, 1] * b + R[body, 1, 2] * c,
        R[body, 2, 0] * a + R[body, 2, 1] * b + R[body, 2, 2] * c,
    )


@njit(leaf=True)
def placed(x, R, body, v, i):
    """x[body] + R[body] v[i] as a tuple; body -1 is the world."""
    a = rotated(R, body, v, i)
    if body < 0:
        return a
    return (a[0] + x[body, 0], a[1] + x[body, 1], a[2] + x[body, 2])


@njit
def towards(a, b, w, size, ref, spare, sharp):
    """Gap, normal, and the two core points for the features' nearest points a and b = a - w, |w| = size.

    `ref` is the normal when the contact was found (or zero), `spare` the normal when there is none, `sharp` says that
    both cores have radius zero.
    """
    known = dot(ref, ref) > 0.25
    if size <= _COINCIDENT_SHARE * (math.sqrt(dot(a, a)) + math.sqrt(dot(b, b))) or size < 1e-150:
        return dot(w, ref) if known else 0.0, ref if known else spare, a, b
    if sharp and known:
        depth = dot(w, ref)
        if depth < 0.0:
            return depth, ref, a, along(a, -depth, ref)
    return size, (w[0] / size, w[1] / size, w[2] / size), a, b


@njit
def point_line(a, b, d, ref, sharp):
    """Point a against the line b + s d: gap, normal from the line to the point, and the two core points."""
    w = (a[0] - b[0], a[1] - b[1], a[2] - b[2])
    foot = along(b, dot(w, d), d)
    w = (a[0] - foot[0], a[1] - foot[1], a[2] - foot[2])
    return towards(a, foot, w, math.sqrt(dot(w, w)), ref, perpendicular(d), sharp)


@njit
def edge_edge(a, da, b, db):
    """Lines a + s da and b + t db: signed distance along da×db, that normal, and the nearest points."""
    c = cross(da, db)
    size = math.sqrt(dot(c, c))
    if size < _PARALLEL_SINE:
        return point_line(a, b, db, (0.0, 0.0, 0.0), False)
    n = (c[0] / size, c[1] / size, c[2] / size)
    w = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    s = dot(cross(w, db), n) / size
    t = dot(cross(w, da), n) / size
    return -dot(w, n), n, along(a, s, da), along(b, t, db)


@njit
def feature_pair(kind, a, da, b, db, sharp):
    """Signed core distance, normal from b to a, and the core points of one feature pair in world coordinates."""
    w = (a[0] - b[0], a[1] - b[1], a[2] - b[2])
    if kind == POINT_PLANE:
        g = dot(db, w)
        return g, db, a, along(a, -g, db)
    if kind == PLANE_POINT:
        g = -dot(da, w)
        return g, (-da[0], -da[1], -da[2]), along(b, -g, da), b
    if kind == EDGE_EDGE:
        return edge_edge(a, da, b, db)
    if kind == POINT_LINE:
        return point_line(a, b, db, da, sharp)
    if kind == LINE_POINT:
        g, n, q, p = point_line(b, a, da, (-db[0], -db[1], -db[2]), sharp)
        return g, (-n[0], -n[1], -n[2]), p, q
    return towards(a, b, w, math.sqrt(dot(w, w)), db, (0.0, 0.0, 1.0), sharp)


@njit(leaf=True)
def evaluate3(x, R, found, geometry):
    """`Geometry` of `FeaturePairs` in space at the poses x (nb, 3), R (nb, 3, 3); normals are finite unit vectors."""
    body_a, body_b, type, pa, da, pb, db, ra, rb = found
    gap, normal, point_a, point_b = geometry
    for i in range(type.size):
        if i + PREFETCH_TURNS < type.size:
            prefetch(x, body_b[i + PREFETCH_TURNS], 1)
            prefetch(R, body_b[i + PREFETCH_TURNS], 2)
        a = placed(x, R, body_a[i], pa, i)
        b = placed(x, R, body_b[i], pb, i)
        u = rotated(R, body_a[i], da, i)
        v = rotated(R, body_b[i], db, i)
        g, n, p, q = feature_pair(type[i], a, u, b, v, ra[i] + rb[i] == 0.0)
        gap[i] = g - ra[i] - rb[i]
        for k in range(3):
            normal[i, k] = n[k]
            point_a[i, k] = p[k] - ra[i] * n[k]
            point_b[i, k] = q[k] + rb[i] * n[k]


@njit
def first_of(found, n):
    """The first n of `FoundContacts`."""
    body_a, body_b, shape_a, shape_b, code, type, pa, da, pb, db, ra, rb = found
    return FoundContacts(
        body_a[:n], body_b[:n], shape_a[:n], shape_b[:n], code[:n], type[:n], pa[:n], da[:n], pb[:n], db[:n], ra[:n],
        rb[:n],
    )  # fmt: skip


@njit(leaf=True)
def turned(angle, body, v, i):
    """v[i] turned by angle[body] as a pair; body -1 is the world."""
    if body < 0:
        return (v[i, 0], v[i, 1])
    c, s = math.cos(angle[body]), math.sin(angle[body])
    return (c * v[i, 0] - s * v[i, 1], s * v[i, 0] + c * v[i, 1])


@njit
def point_point2(a, b, ref, sharp):
    """Points a and b in the plane: gap, normal from b to a, and the two core points. See `towards`."""
    w = (a[0] - b[0], a[1] - b[1])
    size = math.sqrt(w[0] * w[0] + w[1] * w[1])
    known = ref[0] * ref[0] + ref[1] * ref[1] > 0.25
    depth = w[0] * ref[0] + w[1] * ref[1]
    scale = math.sqrt(a[0] * a[0] + a[1] * a[1]) + math.sqrt(b[0] * b[0] + b[1] * b[1])
    if size <= _COINCIDENT_SHARE * scale or size < 1e-150:
        return depth if known else 0.0, ref if known else (0.0, 1.0), a, b
    if sharp and known and depth < 0.0:
        return depth, ref, a, (a[0] - depth * ref[0], a[1] - depth * ref[1])
    return size, (w[0] / size, w[1] / size), a, b


@njit(leaf=True)
def evaluate2(x, angle, found, geometry):
    """The same as `evaluate3` in the plane: x (nb, 2), angle (nb,)."""
    body_a, body_b, type, pa, da, pb, db, ra, rb = found
    gap, normal, point_a, point_b = geometry
    for i in range(type.size):
        body = body_a[i]
        a = turned(angle, body, pa, i)
        u = turned(angle, body, da, i)
        if body >= 0:
            a = (a[0] + x[body, 0], a[1] + x[body, 1])
        body = body_b[i]
        b = turned(angle, body, pb, i)
        v = turned(angle, body, db, i)
        if body >= 0:
            b = (b[0] + x[body, 0], b[1] + x[body, 1])
        if type[i] == POINT_LINE:
            n = v
            g = v[0] * (a[0] - b[0]) + v[1] * (a[1] - b[1])
            p, q = a, (a[0] - g * v[0], a[1] - g * v[1])
        elif type[i] == LINE_POINT:
            n = (-u[0], -u[1])
            g = u[0] * (b[0] - a[0]) + u[1] * (b[1] - a[1])
            p, q = (b[0] - g * u[0], b[1] - g * u[1]), b
        else:
            g, n, p, q = point_point2(a, b, v, ra[i] + rb[i] == 0.0)
        gap[i] = g - ra[i] - rb[i]
        for k in range(2):
            normal[i, k] = n[k]
            point_a[i, k] = p[k] - ra[i] * n[k]
            point_b[i, k] = q[k] + rb[i] * n[k]
