"""The viewer in the browser: `viewer` opens it, `guard` decides who may talk to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .viewer import Viewer

__all__ = ["Viewer"]


def __getattr__(name: str) -> Any:
    """`Viewer`, loaded when it is first used: pictures need the reels here, but no server."""
    if name == "Viewer":
        from .viewer import Viewer

        return Viewer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
