"""The residual by which an answer of a complementarity problem is judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from ..errors import ModelError
from .pivoting import free_mask


def residual(M: Any, q: Any, z: Any, *, free: Any = None) -> float:
    """The natural-map residual `‖min(z, M z + q)‖_∞` of the problem (M, q); zero exactly at its solutions.

    M is (n, n), q and z (n,). Rows of the boolean mask `free` (n,) are equations and count with `|M z + q|`. The
    number is in the caller's units, where z and w may differ in scale; compare it with the largest entry of `|M||z| +
    |q|`.
    """
    M = _check.floats("M", M, (None, None))
    n = M.shape[0]
    if M.shape[1] != n:
        raise ModelError(f"M must be square; got {M.shape}.")
    q = _check.floats("q", q, (n,))
    z = _check.floats("z", z, (n,))
    w = M @ z + q
    natural = np.minimum(z, w)
    if free is not None:
        mask = free_mask(free, n)
        natural[mask] = w[mask]
    return float(np.abs(natural).max(initial=0.0))
