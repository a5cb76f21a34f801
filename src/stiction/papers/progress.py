"""How far a study is: it walks through its runs with `track`, and who shows it listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[str, int, int], None]  # what is run, how many runs are done, of how many
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this is entered, the listener is told of every run of every `track`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def track(items: Sequence[T], what: str) -> Iterator[T]:
    """The items, one by one; the listener is told before the first and after each."""
    for done, item in enumerate(items):
        _tell(what, done, len(items))
        yield item
    _tell(what, len(items), len(items))


def _tell(what: str, done: int, total: int) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)
