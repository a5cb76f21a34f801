"""A run that is watched while it is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import SolverError
from .reel import LiveReel
from .viewer import Viewer


def watch(
    simulator: Any,
    duration: float,
    *,
    fps: float = 60.0,
    record: str | Path | None = None,
    announce: Callable[[Viewer], None] | None = None,
    **options: Any,
) -> Viewer:
    """Run a simulator with a page that shows its frames; not faster than the clock times the speed of the page.

    announce: called with the viewer before the run begins; by default its address is printed. A step that
    fails ends the run; what was shown stays, and the viewer is in the error's `viewer`.
    """
    reel = LiveReel(simulator)
    viewer = Viewer(reel, **options)
    due = time.monotonic()
    last = simulator.time

    def follow(steps: int, result: Any, between: dict[str, float]) -> None:
        nonlocal due, last
        reel.add(steps, result, between)
        due += (simulator.time - last) / viewer.playhead.speed
        last = simulator.time
        time.sleep(max(0.0, due - time.monotonic()))
        due = max(due, time.monotonic() - 0.1)  # a slow stretch is not made up for

    try:
        print(f"stiction: the run is at {viewer.url}", flush=True) if announce is None else announce(viewer)
        viewer.run = simulator.run(duration, fps=fps, record=record, progress=follow)
    except SolverError as error:
        error.viewer = viewer  # type: ignore[attr-defined]
        raise
    except BaseException:
        viewer.stop()
        raise
    finally:
        reel.growing = False
    return viewer
