"""The largest residuals of a table of them, in one pass."""

from __future__ import annotations

from .._jit import njit


@njit(leaf=True)
def largest(table, value, block):
    """value (n,) and block (n,): the largest entry of each column and its first row, -1 where it is zero.

    What is not a number counts as the largest of all.
    """
    for c in range(table.shape[1]):
        value[c], block[c] = 0.0, -1
    for k in range(table.shape[0]):
        for c in range(table.shape[1]):
            x = table[k, c]
            if value[c] == value[c] and (x > value[c] or x != x):
                value[c], block[c] = x, k
