"""stiction: rigid bodies with hard contact, impact and Coulomb friction, certified step by step.

This file is the table of contents. Every public name is listed here and loaded when it is first used, so that
`import stiction` itself is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    # errors and outcomes
    "errors": ["StictionError", "ModelError", "SceneError", "SolverError"],
    "status": ["Status"],
}
_MODULES = ["analysis", "lcp", "papers"]
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_HOME, *_MODULES])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'stiction' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if TYPE_CHECKING:
    from . import lcp as lcp
    from .errors import ModelError as ModelError
    from .errors import SceneError as SceneError
    from .errors import SolverError as SolverError
    from .errors import StictionError as StictionError
    from .status import Status as Status
