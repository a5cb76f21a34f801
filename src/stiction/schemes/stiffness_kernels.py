"""How stiff elastic contacts are in a step, from their materials, their sizes and the load that they had.

The law is in `systems/elastic.py`, the sizes are those of `collision/sizes.py`; steps in Python and the compiled loop
share these functions. What is known of a contact is a row in the columns of `systems/elastic.py`.
"""

from __future__ import annotations

import math

from ..runtime.jit import njit
from ..systems.elastic import (
    CONTACT_STEPS,
    DAMPING,
    KN,
    KT,
    LAW_COLUMNS,
    LEAST_CIRCLE,
    MODULUS,
    PATCH,
    RADIUS,
    SHEAR,
    ZETA,
)
from .spring_kernels import KN as OLD_KN

HERTZ_TIME = 2.8682654  # of a contact by Hertz's law, in units of (m²/(R E*² u))^(1/5)


@njit(leaf=True)
def laws_of(number, laws, sizes, elastic):
    """elastic (nk, 8): the laws `number` (n,) and the sizes (n, 2) of contacts; joints, before them, have none."""
    joints = len(elastic) - len(number)
    for k in range(len(elastic)):
        i = k - joints
        for j in range(elastic.shape[1]):
            elastic[k, j] = 0.0
        elastic[k, KN] = math.inf
        if i >= 0:
            for j in range(LAW_COLUMNS):
                elastic[k, j] = laws[number[i], j]
            elastic[k, RADIUS], elastic[k, PATCH] = sizes[i, 0], sizes[i, 1]


@njit(leaf=True)
def by_hertz(k, elastic):
    """Whether the stiffness of contact k, when it is set, is that of Hertz's law and not of a patch."""
    modulus = elastic[k, MODULUS]
    return modulus > 0.0 and elastic[k, KN] > modulus * elastic[k, PATCH]


@njit(leaf=True)
def _stiffness(k, mass, gravity, load, elastic):
    """Set kn and kt of contact k that feels `mass` [kg] at a `load` [N], if it has a modulus."""
    modulus, radius = elastic[k, MODULUS], elastic[k, RADIUS]
    if modulus == 0.0:
        return
    least = mass * gravity
    if gravity == 0.0:
        least = 4.0 / 3.0 * modulus * radius * radius * LEAST_CIRCLE**3
    point = (16.0 / 9.0 * modulus * modulus * radius * max(load, least)) ** (1.0 / 3.0)
    patch = modulus * elastic[k, PATCH]
    elastic[k, KN] = max(point, patch)
    elastic[k, KT] = (6.0 if point > patch else 4.0) * elastic[k, SHEAR] * elastic[k, KN]


@njit(leaf=True)
def contact_time(k, mass, speed, elastic):
    """How long contact k would last that is hit at `speed` by a mass [s]."""
    if by_hertz(k, elastic):
        modulus, radius = elastic[k, MODULUS], elastic[k, RADIUS]
        return HERTZ_TIME * (mass * mass / (radius * modulus * modulus * speed)) ** 0.2
    return math.pi * math.sqrt(mass / elastic[k, KN])


@njit(leaf=True)
def first_load(k, mass, depth, speed, elastic):
    """The load by Hertz's law [N] of contact k that is hit at `speed`, at the `depth` to which that leads in the step.

    No deeper than the impact goes, where its energy is spent.
    """
    modulus, radius = elastic[k, MODULUS], elastic[k, RADIUS]
    if modulus == 0.0 or radius == 0.0:
        return 0.0
    stiff = modulus * math.sqrt(radius)
    deepest = (15.0 / 16.0 * mass * speed * speed / stiff) ** 0.4
    return 4.0 / 3.0 * stiff * min(depth, deepest) ** 1.5


@njit(leaf=True)
def approach(k, first, form, v):
    """How fast the two bodies of contact k approach each other along its row `first` [m/s]."""
    u = 0.0
    for j in range(v.shape[1]):
        u -= form.Ja[first, j] * v[form.body_a[k], j] + form.Jb[first, j] * v[form.body_b[k], j]
    return u


@njit(leaf=True)
def set_stiffness(h, gravity, form, v, row_ptr, diagonal, value, keys, warm_start, elastic):
    """Fill in stiffness and damping in elastic (nk, 8), which holds laws and sizes.

    gravity [m/s²]; diagonal (nr,): W of each row; value (nr,): gaps [m]; v (nb, d): velocities before the step;
    warm_start: keys, impulses and springs of the last one. Returns the first contact that is hit in the step, is to
    bounce, and would end before `CONTACT_STEPS` steps, and how long it lasts [s]; -1 where there is none.
    """
    old_keys, old, springs = warm_start.keys, warm_start.impulses, warm_start.springs
    at, unresolved, time = 0, -1, 0.0
    for k in range(len(keys)):
        if elastic[k, KN] == math.inf:
            continue
        while at < len(old_keys) and old_keys[at] < keys[k]:
            at += 1
        first, known = row_ptr[k], at < len(old_keys) and old_keys[at] == keys[k]
        mass = 1.0 / diagonal[first] if diagonal[first] > 0.0 else 0.0
        load, speed = old[at, 0] / h if known else 0.0, 0.0
        if load > 0.0 and elastic[k, ZETA] >= 0.0 and at < len(springs):  # that of the spring, without the damper
            load = springs[at, OLD_KN] * max(0.0, -value[first])
        elif load == 0.0:
            speed = approach(k, first, form, v)
            depth = h * speed - value[first]
            speed = speed if depth > 0.0 else 0.0
            load = first_load(k, mass, depth, speed, elastic) if speed > 0.0 else 0.0
        _stiffness(k, mass, gravity, load, elastic)
        if elastic[k, ZETA] < 0.0:
            continue
        kn = elastic[k, KN]
        viscous, own = 2.0, 1.0
        if by_hertz(k, elastic):
            viscous, own = math.sqrt(5.0), 0.75
        elastic[k, DAMPING] = max(0.0, viscous * elastic[k, ZETA] * math.sqrt(kn * mass) - own * h * kn)
        if speed > 0.0 and unresolved < 0:
            lasts = contact_time(k, mass, speed, elastic)
            if lasts < CONTACT_STEPS * h:
                unresolved, time = k, lasts
    return unresolved, time
