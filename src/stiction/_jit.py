"""The only place that calls Numba's `njit`.

Numba's on-disk cache watches the file of the outermost function only: editing a leaf function in another file
would leave stale machine code. In a source checkout the cache therefore lives in a folder named by a hash of all
sources of the package; in an installed package, whose files change together, Numba's own location is used.
The first compilation of a process is announced when a person is watching, so that it is never mistaken for a hang.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import config as _config
from numba import njit as _njit
from numba.core import event as _event

_log = logging.getLogger("stiction")
_PACKAGE = Path(__file__).parent


def source_hash() -> str:
    """A short hash of every Python source of the package; names the cache folder of a source checkout."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> str | None:
    """Where compiled kernels are kept: a folder of this checkout, or None for Numba's own choice."""
    root = _PACKAGE.parent.parent
    if _PACKAGE.parent.name != "src" or not (root / "pyproject.toml").exists():
        return None
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or root / ".numba_cache")
    folder = base / source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


def njit(function: Callable[..., Any] | None = None, *, inline: bool = False, boundscheck: bool | None = None) -> Any:
    """Compile a kernel with caching. `inline=True` marks a leaf function that is inlined by LLVM where it is called."""
    if function is None:
        return lambda f: njit(f, inline=inline, boundscheck=boundscheck)
    _listen()
    # The cache location is fixed when the decorator runs; restore it so that other users of Numba are not touched.
    saved = _config.CACHE_DIR  # type: ignore[attr-defined]
    folder = cache_folder()
    try:
        if folder is not None:
            _config.CACHE_DIR = folder  # type: ignore[attr-defined]
        return _njit(function, cache=True, error_model="numpy", boundscheck=boundscheck, forceinline=inline)
    finally:
        _config.CACHE_DIR = saved  # type: ignore[attr-defined]


class _Announcer(_event.Listener):
    """Says once per process that kernels are being compiled."""

    done = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if self.done or not str(getattr(function, "__module__", "")).startswith("stiction"):
            return
        self.done = True
        message = "stiction: compiling kernels (once; the result is cached)"
        if sys.stderr.isatty():
            print(message, file=sys.stderr)
        else:
            _log.info(message)

    def on_end(self, event: Any) -> None:
        """Nothing to say when a compilation ends."""


@cache
def _listen() -> None:
    _event.register("numba:compile", _Announcer())
