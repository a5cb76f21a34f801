"""Data classes whose fields are read when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound="Lazy")


class Lazy:
    """A base for frozen data classes without defaults: `lazily` makes one that reads its fields on access."""

    @classmethod
    def lazily(cls: type[T], read: Callable[[str], Any]) -> T:
        """An instance whose fields come from `read(name)`, each once."""
        made = object.__new__(cls)
        made.__dict__["_read"] = read
        return made

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: what is read from a file is left there, and read again."""
        state = self.__dict__
        return {name: state[name] for name in state if name.startswith("_")} if "_read" in state else dict(state)

    def __getattr__(self, name: str) -> Any:
        read = self.__dict__.get("_read")
        if read is None or name not in type(self).__dict__.get("__dataclass_fields__", {}):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        value = self.__dict__[name] = read(name)
        return value
