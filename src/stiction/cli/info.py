"""`stiction info`: versions, the machine, the kernel cache."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import __version__
from .output import console, write_json

PACKAGES = ("numpy", "scipy", "numba", "h5py", "matplotlib", "typer", "rich")
EXTRAS = {"view": "viser", "robots": "pin", "mesh": "coacd", "cluster": "dask", "gpu": "numba-cuda"}


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def show_info(json: Path | None) -> None:
    """Print what a bug report needs."""
    from ..papers import experiments
    from ..runtime.cache import cache_root
    from ..solvers import SOLVERS

    data: dict[str, Any] = {
        "stiction": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        **{name: _installed(name) for name in PACKAGES},
        "extras": {extra: _installed(package) for extra, package in EXTRAS.items()},
        "kernel cache": str(cache_root() or "in memory only: set STICTION_CACHE_DIR"),
        "solvers": list(SOLVERS),
        "experiments": list(experiments()),
    }
    screen = console()
    for name, value in data.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v or 'not installed'}" for k, v in value.items())
        elif isinstance(value, list):
            value = ", ".join(value)
        screen.print(f"{name:<13s} {value}", highlight=False)
    if json is not None:
        write_json(json, data)
