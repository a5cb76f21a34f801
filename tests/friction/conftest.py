"""One list of friction sets for the tests: every kind, and some that a user might write."""

import numpy as np
import pytest

from stiction import Anisotropic, ConvexSet, Coulomb, Mixed, Polyhedral, Rolling, Torsional


def superellipse(p, semi=(1.0, 1.0)):
    """The p-norm of f/semi: an ellipse for p = 2, between that and its box above, and thinner below."""
    semi = np.array(semi)

    def gauge(f):
        return (np.abs(f / semi) ** p).sum() ** (1 / p)

    def subgradient(f):
        g = f / semi / np.abs(f / semi).max()
        return np.sign(g) * np.abs(g) ** (p - 1) * (np.abs(g) ** p).sum() ** (1 / p - 1) / semi

    return gauge, subgradient


def shifted_ellipse(semi, centre):
    """The gauge of an ellipse whose centre is not the origin: it resists more one way than the other."""
    semi = np.array(semi)
    c = np.array(centre) / semi
    k = 1 - c @ c

    def gauge(f):
        g = f / semi
        return (np.sqrt((g @ c) ** 2 + k * (g @ g)) - g @ c) / k

    def subgradient(f):
        g = f / semi
        return (((g @ c) * c + k * g) / np.sqrt((g @ c) ** 2 + k * (g @ g)) - c) / k / semi

    return gauge, subgradient


def lens():
    """What two disks have in common: curved sides and two corners."""
    sides = [shifted_ellipse((1.0, 1.0), (0.6, 0.1)), shifted_ellipse((1.0, 1.0), (-0.6, 0.1))]

    def gauge(f):
        return max(side(f) for side, _ in sides)

    def subgradient(f):
        return max(sides, key=lambda side: side[0](f))[1](f)

    return gauge, subgradient


def stadium(half, radius):
    """What lies within `radius` of a segment, (-half, 0) to (half, 0): support function, support point, projection."""

    def support(u):
        return half * abs(u[0]) + radius * np.hypot(u[0], u[1])

    def project(f):
        core = np.array([np.clip(f[0], -half, half), 0.0])
        away = f - core
        return core + away * min(1.0, radius / max(np.hypot(away[0], away[1]), 1e-300))

    def support_point(u):
        return np.array([half * np.sign(u[0]), 0.0]) + radius * u / np.hypot(u[0], u[1])

    return support, support_point, project


def user_sets():
    """(name, set, rows) of sets written in Python."""
    four, slope_four = superellipse(4)
    thin, slope_thin = superellipse(1.5)
    corners, slope_corners = lens()
    support, support_point, project = stadium(0.5, 0.4)
    three, slope_three = superellipse(3, (1.0, 0.5, 0.2))
    off, slope_off = shifted_ellipse((1.0, 0.6), (0.3, 0.2))
    return [
        ("superellipse 4", ConvexSet(0.3, 2, gauge=four, subgradient=slope_four), 2),
        ("superellipse 4, differences", ConvexSet(0.3, 2, gauge=four), 2),
        ("superellipse 3/2", ConvexSet(0.4, 2, gauge=thin, subgradient=slope_thin), 2),
        ("shifted ellipse", ConvexSet(0.3, 2, gauge=off, subgradient=slope_off), 2),
        ("lens", ConvexSet(0.3, 2, gauge=corners, subgradient=slope_corners), 2),
        ("stadium", ConvexSet(0.3, 2, support=support, support_point=support_point), 2),
        (
            "stadium with its projection",
            ConvexSet(0.3, 2, support=support, support_point=support_point, project=project),
            2,
        ),
        ("spin and slip", ConvexSet(0.3, 3, gauge=three, subgradient=slope_three), 3),
        ("one row, lopsided", ConvexSet(0.5, 1, gauge=lambda f: max(f[0], -2 * f[0])), 1),
    ]


def sets_of_the_library():
    """(name, set, rows)."""
    rng = np.random.default_rng(4)
    return [
        ("interval", Coulomb(0.4), 1),
        ("disk", Coulomb(0.4), 2),
        ("skate", Anisotropic(0.05, 0.4), 2),
        ("perfect skate", Anisotropic(0.0, 0.4), 2),
        ("torsional", Torsional(0.4, 1.0, 0.7, 0.05), 3),
        ("mixed", Mixed(0.4, 1.0, 0.7, 0.05), 3),
        ("rolling in the plane", Rolling(0.5, 0.1), 2),
        ("rolling", Rolling(0.5, 0.1), 4),
        ("rolling and spin", Rolling(0.5, 0.1, 0.02), 5),
        ("no slip friction", Rolling(0.0, 0.1), 4),
        ("ratchet", Polyhedral(0.5, directions=[[1.0]]), 1),
        ("triangle", Polyhedral(0.5, directions=[[1.0, 0.0], [-0.5, 0.8], [-0.3, -0.9]]), 2),
        ("cube", Polyhedral(0.5, facets=(np.vstack([np.eye(3), -np.eye(3)]), [1, 1, 0.1, 1, 1, 0.1])), 3),
        ("polyhedron", Polyhedral(0.5, directions=rng.normal(size=(20, 4))), 4),
    ]


EVERY = sets_of_the_library() + user_sets()
PLANE = [entry for entry in EVERY if entry[2] == 2 and not isinstance(entry[1], Polyhedral)]
WRITTEN = user_sets()


@pytest.fixture(scope="session", params=EVERY, ids=[entry[0] for entry in EVERY])
def any_set(request):
    """A set and its number of rows."""
    return request.param[1:]


@pytest.fixture(scope="session", params=PLANE, ids=[entry[0] for entry in PLANE])
def plane_set(request):
    """A set of two rows that is not a polygon."""
    return request.param[1]


@pytest.fixture(scope="session", params=WRITTEN, ids=[entry[0] for entry in WRITTEN])
def written_set(request):
    """A set written in Python and its number of rows."""
    return request.param[1:]
