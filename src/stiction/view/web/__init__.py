"""The viewer in the browser.

viewer     the server that shows a run; `live` shows one while it is made
guard      who may talk to the viewer, and what they may say
reel       frames to look at; `play` is where the viewer stands in time
stage      what there is to see of a frame, as arrays; `surfaces` are the shapes
scene      the scene in the browser
panel      controls, charts and numbers beside it
"""

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
