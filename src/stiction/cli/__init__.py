"""The command line: `stiction COMMAND`.

app               the commands with their arguments; the work of each is in the module of its name
progress, output  what a person sees while a scene runs, and what programs read

Exit codes: 0, it is done; 1, it ran and failed; 2, bad input; 130, interrupted. Errors are clear lines, never traces.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType


class Stopped(BaseException):
    """Ctrl-C; not a KeyboardInterrupt, which the library of commands would turn into exit code 1."""


def stop(number: int, frame: FrameType | None) -> None:
    """What Ctrl-C does."""
    raise Stopped


def main() -> None:
    """Run the command line and exit."""
    before = signal.signal(signal.SIGINT, stop)  # before anything is loaded: that takes a while
    try:
        _run()
    except Stopped:
        print("interrupted: stopped by Ctrl-C", file=sys.stderr)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, before)


def _run() -> None:
    from ..errors import ModelError, SceneError, StictionError
    from .app import app
    from .output import failure

    try:
        app()
    except StictionError as error:
        failure(str(error))
        sys.exit(2 if isinstance(error, (ModelError, SceneError)) else 1)
    except OSError as error:
        failure(str(error))
        sys.exit(2)
