"""Checks of what callers hand in. Every message names the argument and says what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ModelError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Array = Any  # in a record that kernels take: an array here, its type in a kernel


def floats(name: str, value: Any, shape: Sequence[int | None] | None = None, *, finite: bool = True) -> FloatArray:
    """`value` as a C-contiguous float64 array of `shape` (None: any length), finite unless said otherwise."""
    raw = any_array(name, value)
    if raw.dtype == object or raw.dtype.kind not in "biuf":
        what = "complex numbers" if raw.dtype.kind == "c" else describe(value)
        raise ModelError(f"{name} must be an array of real numbers; got {what}.")
    array: FloatArray = np.ascontiguousarray(raw, dtype=np.float64).reshape(raw.shape)
    if shape is not None:
        good = array.ndim == len(shape) and all(want is None or want == have for want, have in zip(shape, array.shape))
        if not good:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            wanted = f"({wanted},)" if len(shape) == 1 else f"({wanted})"
            raise ModelError(f"{name} must have shape {wanted}; got {array.shape}.")
    if finite and not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        index = "" if array.ndim == 0 else "[" + ", ".join(str(i) for i in where) + "]"
        raise ModelError(f"{name} must be finite; {name}{index} is {array[tuple(where)]}.")
    return array


def any_array(name: str, value: Any) -> npt.NDArray[Any]:
    """`value` as an array of whatever it holds; lists of unequal lengths are refused."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name} must be an array of numbers; got {describe(value)}.") from error


def integers(name: str, value: Any, shape: Sequence[int | None] | None = None) -> IntArray:
    """`value` as a C-contiguous int64 array of `shape`; floats are refused, so that 1.5 is never truncated."""
    raw = any_array(name, value)
    if raw.size and raw.dtype.kind not in "iu":
        raise ModelError(f"{name} must be an array of integers; got {raw.dtype}.")
    floats(name, raw.astype(np.float64), shape)
    return np.ascontiguousarray(raw, dtype=np.int64)


def number(name: str, value: Any, *, low: float | None = None, positive: bool = False, finite: bool = True) -> float:
    """`value` as a finite float, at least `low`, or above zero when `positive`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ModelError(f"{name} must be a number; got {describe(value)}.")
    try:
        x = float(value)
    except OverflowError:  # of Python's whole numbers
        x = float("inf")
    if x != x or (finite and x in (float("inf"), float("-inf"))):
        raise ModelError(f"{name} must be a finite number; got {x}.")
    if positive and x <= 0:
        raise ModelError(f"{name} must be greater than zero; got {x:g}.")
    if low is not None and x < low:
        raise ModelError(f"{name} must be at least {low:g}; got {x:g}.")
    return x


def count(name: str, value: Any, *, low: int = 1) -> int:
    """`value` as an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ModelError(f"{name} must be an integer; got {describe(value)}.")
    if value < low:
        raise ModelError(f"{name} must be at least {low}; got {value}.")
    return int(value)


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """`value` as one of `options`, with a suggestion when it is nearly one of them."""
    if isinstance(value, str) and value in options:
        return value
    from difflib import get_close_matches

    near = get_close_matches(value, options, n=1) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ModelError(f"{name} must be one of {', '.join(map(repr, options))}; got {shown(value)}.{hint}")


def mass_matrix(name: str, value: Any, n: int) -> FloatArray:
    """`value` as a symmetric positive definite (n, n) matrix."""
    M = floats(name, value, (n, n))
    scale = float(np.abs(M).max()) if M.size else 0.0
    if M.size and np.abs(M - M.T).max() > 1e-10 * scale:
        i, j = np.unravel_index(int(np.argmax(np.abs(M - M.T))), M.shape)
        raise ModelError(f"{name} must be symmetric; entry ({i}, {j}) is {M[i, j]:g} but ({j}, {i}) is {M[j, i]:g}.")
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(M)[0])
        kind = "singular" if abs(smallest) <= 1e-12 * scale else "indefinite"
        raise ModelError(
            f"{name} must be positive definite, but it is {kind} (smallest eigenvalue {smallest:.3g})."
        ) from None
    return M


def describe(value: Any) -> str:
    """The type and a short repr of a value, for messages."""
    return f"{type(value).__name__} {shown(value)}"


def shown(value: Any) -> str:
    """A short repr of a value, one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:  # its own, or Python's for integers of many digits
        return f"({type(error).__name__} in its repr)"
    return text if len(text) <= 60 else text[:57] + "..."
