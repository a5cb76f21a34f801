"""The command line: `stiction COMMAND`. Errors are one clear line; exit code 2: bad input, 1: it ran and failed."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    from ..errors import ModelError, SceneError, StictionError
    from .app import app

    try:
        app()
    except StictionError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, (ModelError, SceneError)) else 1)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
