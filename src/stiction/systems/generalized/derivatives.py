"""Derivatives of functions that come without them: central differences of fourth order.

Differences rather than complex steps: a gap function may use abs, norms or conditionals, for which a complex step
returns a wrong derivative without a word. Near 1 the error is about 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._check import FloatArray

DIFFERENCE_STEP = float(np.finfo(float).eps) ** 0.2


def derivative(f: Callable[[FloatArray], FloatArray | float], q: FloatArray) -> FloatArray:
    """∂f/∂q with the coordinates last: shape f(q).shape + (n,)."""
    columns = []
    for i in range(q.size):
        step = DIFFERENCE_STEP * max(1.0, abs(float(q[i])))
        x = q.copy()
        values = []
        for k in (-2, -1, 1, 2):
            x[i] = q[i] + k * step
            values.append(np.asarray(f(x.copy()), dtype=float))
        columns.append((values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step))
    return np.stack(columns, axis=-1)
