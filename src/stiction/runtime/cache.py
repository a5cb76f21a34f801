"""Machine code of kernels on disk: a file for each kernel and signature, under a name that says all it depends on.

Numba's own cache watches the file of the outermost function only, writes beside the package, names its folders by where
the package lies, and ends in a traceback where a file is damaged or no folder can be written. Here

- a name is a hash of the kernel's module and all modules that it imports, the types it is called with (fields of
  records by name and in their order), the versions of Python, Numba and LLVM, the processor and its features: nothing
  stale can be found, whatever was upgraded, and a folder may be copied to where the package lies elsewhere;
- a file begins with a hash of its content. A damaged one is compiled again and replaced, with one line that says so;
- without a folder that can be written kernels stay in memory, with one line that says so;
- what has not been used for `CACHE_MAX_DAYS`, or exceeds `CACHE_MAX_BYTES` in all, is removed, the oldest first.

The folder is `STICTION_CACHE_DIR`, or else the platform's folder for what can be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import platform
import re
import shutil
import sys
import sysconfig
import time
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

__all__ = ["KernelCache", "cache_root", "closed_over", "kernel_name", "source_hash"]

CACHE_MAX_DAYS = 90  # of a folder that no process has used
CACHE_MAX_BYTES = 2_000_000_000  # some forty versions of the package's kernels
DAY_S = 86_400.0  # s
# what Numba is told by the environment
SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "DEBUGINFO_DEFAULT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
)

_log = logging.getLogger("stiction")
_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)  # at a module's top level
_NAMED = re.compile(r"^(?:from ([a-zA-Z_][\w.]*) import (\([^)]*\)|.*)|import ([\w., ]+))$", re.MULTILINE)
_LIBRARIES = tuple(Path(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """The hash of a module's text, and the modules that it imports at its top level: those of the package, and the
    caller's own."""
    text, found = path.read_bytes(), []
    if not path.is_relative_to(_PACKAGE):
        found += _callers_own(text.decode())
    for dots, module, names in _IMPORT.findall(text.decode()):
        folder = path.parents[len(dots) - 1].joinpath(*module.split("."))
        named = [folder / name for name in re.findall(r"\w+", re.sub(r"\bas\s+\w+", "", names))]
        modules = [file for place in named for file in _files(place)]
        if module or len(modules) < len(named):  # `from . import a` rests on a, not on all that its package imports
            found += _files(folder)
        found += modules
    return hashlib.sha256(text).digest(), tuple(found)


def _callers_own(text: str) -> list[Path]:
    """The files of modules that a caller's module imports by name, which are neither Python's nor installed."""
    found = []
    for module, parts, several in _NAMED.findall(text):
        names = [part.split()[0] for part in several.split(",") if part.strip()]
        if module:  # and what is imported from it may be a module too
            names = [module, *(f"{module}.{part}" for part in re.findall(r"\w+", parts))]
        for name in names:
            place = getattr(sys.modules.get(name), "__file__", None) or ""
            if place.endswith(".py") and not any(Path(place).is_relative_to(library) for library in _LIBRARIES):
                found.append(Path(place))
    return found


_exists = cache(Path.exists)


def _files(place: Path) -> list[Path]:
    """The file of a module or of a package, if there is one."""
    return [file for file in (place.with_suffix(".py"), place / "__init__.py") if _exists(file)]


@cache
def source_hash(path: Path) -> str:
    """A short hash of a module and of all modules of the package that it rests on, wherever the package lies."""
    seen: set[Path] = set()
    todo = [path]
    if not path.is_relative_to(_PACKAGE):  # a caller's own kernel: it may rest on any of ours
        todo += _PACKAGE.rglob("*.py")
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += _read(here)[1]
    digest = hashlib.sha256()
    for file in sorted(seen):
        place = file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name
        digest.update(place.encode() + b"\0" + _read(file)[0])
    return digest.hexdigest()[:16]


def cache_root() -> Path | None:
    """The folder of compiled kernels, which need not exist; None where the user has no folder at all."""
    chosen = os.environ.get("STICTION_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "stiction" / "kernels"


def kernel_name(function: Any) -> tuple[str, str]:
    """Module and name of a kernel or its Python function."""
    function = getattr(function, "py_func", function)
    return function.__module__, function.__qualname__


def closed_over(function: Any) -> tuple[Any, ...]:
    """What a function closes over, kernels by name: Numba would give each a number of its own in every process."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    return tuple((kernel_name(v), closed_over(v.py_func)) if hasattr(v, "py_func") else v for v in values)


def described(kind: Any) -> str:
    """A type in words that tell it from every other: Numba knows records by their class alone, not by their fields."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        fields = (f"{name}: {described(part)}" for name, part in zip(kind.fields, kind))
        return f"{kind.instance_class.__module__}.{kind.instance_class.__qualname__}({', '.join(fields)})"
    if isinstance(kind, types.Tuple | types.UniTuple):
        return f"({', '.join(described(part) for part in kind)})"
    return str(kind)


@cache
def _tell(message: str) -> None:
    """One line, once in a process: on the screen, unless the program that uses the package logs elsewhere."""
    _log.warning("stiction: %s", message)


class KernelCache(NullCache):
    """The machine code of one kernel on disk, by the signature it is called with."""

    def __init__(self, function: Callable[..., Any], reduce: Callable[[Any], Any]):
        self._function, self._reduce = function, reduce
        path = Path(function.__code__.co_filename)
        try:
            self._source = source_hash(path)
        except (OSError, ValueError):  # typed at a prompt, or in an archive: kept in memory
            self._source = ""
        root = cache_root()
        self._folder = root / f"{path.stem}-{self._source}" if root and self._source else None
        self._stem = "".join(c if c.isalnum() or c in "._" else "-" for c in function.__qualname__)
        if root is None:
            _tell("there is no folder to keep compiled kernels in; set STICTION_CACHE_DIR to one that can be written")

    @property
    def cache_path(self) -> str | None:
        """The folder of this kernel's machine code."""
        return None if self._folder is None else str(self._folder)

    def key(self, signature: Any, codegen: Any) -> str:
        """A hash of all that the machine code for a signature depends on."""
        function = self._function
        what = (
            platform.python_implementation(),
            sys.version_info[:2],
            numba.__version__,
            llvmlite.__version__,
            codegen.magic_tuple(),
            [(name, getattr(config, name, None)) for name in SETTINGS],
            kernel_name(function),
            self._source,
            hashlib.sha256(function.__code__.co_code).hexdigest(),
            hashlib.sha256(dumps(closed_over(function))).hexdigest(),
            [described(kind) for kind in signature],
        )
        return hashlib.sha256(repr(what).encode()).hexdigest()

    def kept(self) -> bool:
        """Whether there is machine code of this kernel on disk, for whatever signature."""
        return self._folder is not None and any(self._folder.glob(f"{self._stem}-*.kernel"))

    def _file(self, key: str) -> Path | None:
        return None if self._folder is None else self._folder / f"{self._stem}-{key[:24]}.kernel"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for a signature, with the sealed kernels it needs; None where it must be compiled."""
        target_context.refresh()
        file = self._file(self.key(sig, target_context.codegen()))
        if file is None:
            return None
        try:
            content = file.read_bytes()
        except OSError:
            return None
        _use(file.parent)
        data = memoryview(content)[32:]
        if hashlib.sha256(data).digest() != content[:32]:
            return self._discard(file)
        try:
            result = CompileResult._rebuild(target_context, *pickle.loads(data))
        except LookupError:  # a sealed kernel that it needs has changed
            return None
        except Exception:
            return self._discard(file)
        # so that callers which link it remember what it needs
        result.library._reload_init.update(result.reload_init)
        return result

    def _discard(self, file: Path) -> None:
        _tell(f"a damaged kernel in {file.parent.parent} is compiled again")
        with contextlib.suppress(OSError):
            file.unlink()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, where that can be done."""
        file = self._file(self.key(sig, data.codegen))
        if file is None or data.library.has_dynamic_globals or any(not part.can_cache for part in data.lifted):
            return
        content = dumps(self._reduce(data))
        try:
            _make(file.parent)
            part = file.with_suffix(f".{uuid.uuid4().hex[:12]}.part")
            try:
                part.write_bytes(hashlib.sha256(content).digest() + content)
                os.replace(part, file)
            finally:
                with contextlib.suppress(OSError):
                    part.unlink()
        except OSError as error:
            _tell(
                f"compiled kernels cannot be kept in {file.parent.parent} ({error.strerror}), every process compiles "
                "them; set STICTION_CACHE_DIR to a folder that can be written"
            )


@cache
def _use(folder: Path) -> None:
    """Note on disk that a folder is used, once in a process and not more often than daily."""
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > DAY_S:
            os.utime(folder)


def _make(folder: Path) -> None:
    """Make a folder; the first time in a process, make room for it."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
    _remove_old(folder.parent)


@cache
def _remove_old(root: Path) -> None:
    """Remove folders of kernels that were not used for long, and the oldest where all take too much room."""
    now, found = time.time(), []
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            if folder.is_dir() and any(folder.glob("*.kernel")):
                found.append((folder.stat().st_mtime, folder, sum(f.stat().st_size for f in folder.iterdir())))
    room = CACHE_MAX_BYTES
    for used, folder, size in sorted(found, reverse=True):
        room -= size
        age = (now - used) / DAY_S
        if age > CACHE_MAX_DAYS or (room < 0 and age > 1):  # never what runs today
            shutil.rmtree(folder, ignore_errors=True)
