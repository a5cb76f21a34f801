"""What public functions are handed is what their annotations say, or a `ModelError` names the argument."""

from __future__ import annotations

import builtins
import collections.abc as abc
import inspect
import os
import sys
import types
from collections import ChainMap
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from ._check import describe
from .errors import ModelError

T = TypeVar("T", bound=abc.Callable[..., Any])


class Kind(NamedTuple):
    """What an annotation asks for: in words, and whether a value is it."""

    words: str
    has: abc.Callable[[Any], bool]
    each: Kind | None = None  # of a list: what its parts must be


def checks_arguments(what: T) -> T:
    """A function, or a class with its public methods, that looks at its arguments before it begins.

    Where an annotation is a type, a function, a list, or one of several such, an argument that is nothing of the kind
    is refused. Arrays, `Any`, and whether a number is in its range are left to the function. For what users call: a
    look takes some microseconds, which is too much for what every step calls.
    """
    if isinstance(what, type):
        for name, member in list(vars(what).items()):
            if name != "__init__" and name.startswith("_"):
                continue
            if inspect.isfunction(member):
                setattr(what, name, checks_arguments(member))
            elif isinstance(member, classmethod):
                setattr(what, name, classmethod(checks_arguments(member.__func__)))
        return cast(T, what)

    @wraps(what)
    def call(*args: Any, **kwargs: Any) -> Any:
        signature, kinds = _expected(what)
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:  # a wrong signature is said by Python
            return what(*args, **kwargs)
        for name, kind in kinds.items():
            if name in given and not kind.has(given[name]):
                raise ModelError(_refusal(name, given[name], kind))
        return what(*args, **kwargs)

    return cast(T, call)


def _refusal(name: str, value: Any, kind: Kind) -> str:
    """What is wrong with a value, or with the part of a list that is."""
    if kind.each is not None and isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            if not kind.each.has(part):
                return _refusal(f"{name}[{i}]", part, kind.each)
    return f"{name} must be {kind.words}; got {describe(value)}."


class _Public(dict[str, Any]):
    """Public names: types in annotations that a module imports for the type checker only."""

    def __missing__(self, name: str) -> Any:
        import stiction

        return getattr(stiction, name, Any)


@cache
def _expected(function: abc.Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Kind]]:
    """The signature of a function, and what is asked of its arguments; of the others nothing is."""
    signature = inspect.signature(function)
    names = ChainMap(function.__globals__, vars(builtins), _Public())
    kinds = {}
    for p in signature.parameters.values():
        said = eval(p.annotation, {}, names) if isinstance(p.annotation, str) else p.annotation
        kind = None if said is p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) else _kind(said)
        if kind is not None:
            kinds[p.name] = kind
    return signature, kinds


def _kind(annotation: Any) -> Kind | None:
    """What an annotation asks for; None where that is not checked here."""
    origin, parts = get_origin(annotation) or annotation, get_args(annotation)
    if origin in (Union, types.UnionType):
        several = [_kind(part) for part in parts]
        known = [kind for kind in several if kind is not None]
        if len(known) < len(several):
            return None
        each = next((kind.each for kind in known if kind.each is not None), None)
        words = " or ".join(kind.words for kind in known)
        if Path in parts:
            return Kind(words, lambda value: any(kind.has(value) for kind in known) and not _no_name(value), each)
        return Kind(words, lambda value: any(kind.has(value) for kind in known), each)
    if origin in _PLAIN:
        return _PLAIN[origin]
    if origin is abc.Callable:
        return Kind("a function", callable)
    if origin in (list, tuple, abc.Sequence, abc.Iterable):
        alike = len(set(parts) - {...}) == 1
        return _list(_kind(parts[0]) if alike else None)
    if origin is Any or not isinstance(origin, type) or issubclass(origin, np.ndarray):
        return None
    words = f"{'an' if origin.__name__[0] in 'AEIOU' else 'a'} {origin.__name__}"
    if not getattr(origin, "_is_protocol", False):
        return Kind(words, lambda value: isinstance(value, origin))
    methods = [name for name, member in vars(origin).items() if inspect.isfunction(member) and name[0] != "_"]
    return Kind(words, lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in methods))


def _no_name(value: Any) -> bool:
    """Whether something that may be a path can be the name of no file."""
    return isinstance(value, str) and (not value or "\0" in value)


def _list(each: Kind | None) -> Kind:
    """A list or something like it, all of one kind; what can be gone through only once is not looked into."""

    def has(value: Any) -> bool:
        if isinstance(value, (str, bytes, abc.Mapping)) or not isinstance(value, abc.Iterable):
            return False
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return False
        return each is None or not isinstance(value, abc.Collection) or all(map(each.has, value))

    return Kind("a list" if each is None else f"a list (each {each.words})", has, each)


def _number(words: str, *kinds: type) -> Kind:
    """A number of Python's or NumPy's; neither NaN nor True is one, nor, of floats, an integer beyond them all."""
    most = sys.float_info.max if float in kinds else np.inf

    def has(value: Any) -> bool:
        if not isinstance(value, kinds) or isinstance(value, bool) or value != value:
            return False
        return not isinstance(value, int) or abs(value) <= most

    return Kind(words, has)


_PLAIN = {
    float: _number("a number", int, float, np.integer, np.floating),
    int: _number("an integer", int, np.integer),
    bool: Kind("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    str: Kind("a string", lambda value: isinstance(value, str)),
    Path: Kind("a path", lambda value: isinstance(value, os.PathLike)),
    types.NoneType: Kind("None", lambda value: value is None),
}
