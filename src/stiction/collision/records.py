"""What collision kernels know of shapes, and what they find, as records of arrays that they hand on.

Sizes: ns shapes, n contacts, d coordinates (2 in the plane, 3 in space).
"""

from __future__ import annotations

from typing import NamedTuple

from .._check import Array

__all__ = ["FoundContacts", "Geometry"]


class FoundContacts(NamedTuple):
    """Contacts within a band, sorted by key: bodies, shapes, the pair of features and their geometry."""

    body_a: Array  # (n,)
    body_b: Array
    shape_a: Array
    shape_b: Array
    code: Array  # which features of the two shapes
    kind: Array  # which kinds of features (`collision/features.py`)
    pa: Array  # (n, d) point and direction of each feature, in its body
    da: Array
    pb: Array
    db: Array
    ra: Array  # (n,) radius
    rb: Array


class Geometry(NamedTuple):
    """Where contacts are at one configuration."""

    gap: Array  # (n,) [m]
    normal: Array  # (n, d) from the second body to the first
    point_a: Array  # (n, d) nearest points
    point_b: Array
