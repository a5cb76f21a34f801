"""What is wrong with a scene, in sentences: where it stands, what it is, and what would be right."""

from __future__ import annotations

import types
import typing
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..errors import SceneError
from .document import Document
from .fields import Table, meanings
from .places import Path, cut, line_of, lines_of, spoken

PROBLEMS_SHOWN = 20
_WORDS = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_type": "must be text in quotes",
    "bool_type": "must be true or false",
    "list_type": "must be a list, [...]",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table with a type, such as {{ type = {first} }}",
    "finite_number": "must be a finite number",
    "string_too_short": "must not be empty",
}


class Problems:
    """Collects what is wrong with a scene; `where` names the file."""

    def __init__(self, where: str, data: Any = None, text: str = ""):
        self.where, self.data, self._text = where, data, text
        self.found: list[tuple[Path, str]] = []

    def add(self, path: Path, message: str) -> None:
        """Note a problem at a path of the file."""
        self.found.append((path, cut(message, 300)))

    def add_all(self, error: ValidationError) -> None:
        """Note what pydantic found."""
        for one in error.errors(include_url=False):
            self.add(*_sentence(one, self.data))

    def check(self) -> None:
        """Raise `SceneError` if there are any."""
        if not self.found:
            return
        lines = lines_of(self._text)
        said = []
        for path, message in self.found[:PROBLEMS_SHOWN]:
            line = line_of(path, lines)
            said.append(f"{'' if line is None else f'line {line}, '}{spoken(path, self.data)}: {message}")
        if len(self.found) > PROBLEMS_SHOWN:
            said.append(f"and {len(self.found) - PROBLEMS_SHOWN} more")
        many = "1 error" if len(self.found) == 1 else f"{len(self.found)} errors"
        raise SceneError(f"{self.where}: {many}", tuple(said))


def _sentence(error: ErrorDetails, data: Any) -> tuple[Path, str]:
    """The path of an error in the file, and what it says."""
    kind, where = error["type"], error["loc"]
    context = error.get("ctx", {})
    path = _plain_path(where, data, missing=kind == "missing")
    if kind == "missing":
        return path, f"is missing{_meaning(where)}."
    if kind == "extra_forbidden":
        return path, "is not known here" + nearest(str(where[-1]), list(_table(where[:-1]).model_fields))
    if kind == "union_tag_invalid":
        known = [word.strip("' ") for word in context["expected_tags"].split(",")]
        return (*path, "type"), f"{_short(context['tag'])} is not known" + nearest(context["tag"], known)
    if kind == "union_tag_not_found":
        return path, f"needs a type: one of {', '.join(_tags(where))}."
    if kind == "literal_error":
        known = [word.strip("' ") for word in context["expected"].replace(" or ", ", ").split(",")]
        hint = nearest(error["input"], known) if isinstance(error["input"], str) else "."
        return path, f"must be {context['expected']}; got {_short(error['input'])}{hint}"
    if kind == "version":
        return path, f"{error['msg']}."
    first = repr(next(iter(_tags(where)), "...")).replace("'", '"')
    said = _WORDS.get(kind, error["msg"].replace("Input should", "must").replace("List should", "must")).format(
        first=first
    )
    return path, f"{said}; got {_short(error['input'])}."


def _plain_path(where: tuple[Any, ...], data: Any, missing: bool) -> Path:
    """Without the tags of unions, which are no keys of the file."""
    path: list[Any] = []
    at = data
    for i, step in enumerate(where):
        if (isinstance(at, dict) and step in at) or (isinstance(at, list) and isinstance(step, int) and step < len(at)):
            path.append(step)
            at = at[step]
        elif missing and i == len(where) - 1:
            path.append(step)
    return tuple(path)


def _meaning(where: tuple[Any, ...]) -> str:
    """What a missing key is for."""
    meaning = meanings(_table(where[:-1])).get(str(where[-1]))
    return f": {meaning.rstrip('.')}" if meaning else ""


def nearest(word: str, known: list[str]) -> str:
    """The end of a sentence that says which of the known words is meant, or which there are."""
    lower = {k.lower(): k for k in known}
    near = get_close_matches(word, known, n=1, cutoff=0.5) or get_close_matches(word.lower(), list(lower), n=1)
    if near:
        return f"; did you mean {lower[near[0].lower()]!r}?"
    return f"; there are {', '.join(known)}."


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of very many digits"
    text = {"True": "true", "False": "false", "nan": "nan"}.get(text, text)
    return cut(text, 60)


def _table(where: tuple[Any, ...]) -> type[Table]:
    """The table in which a path of pydantic's ends."""
    at: Any = Document
    for step in where:
        at = _inside(at, step)
    at = _peeled(at)
    return at if isinstance(at, type) and issubclass(at, Table) else Document


def _peeled(at: Any) -> Any:
    """Without Annotated, and without None in a union of two."""
    while typing.get_origin(at) is typing.Annotated:
        at = typing.get_args(at)[0]
    if typing.get_origin(at) in (typing.Union, types.UnionType):
        rest = [_peeled(one) for one in typing.get_args(at) if one is not types.NoneType]
        if len(rest) == 1:
            return rest[0]
    return at


def _members(at: Any) -> list[Any]:
    at = _peeled(at)
    if typing.get_origin(at) in (typing.Union, types.UnionType):
        return [member for one in typing.get_args(at) for member in _members(one)]
    return [at]


def _inside(at: Any, step: Any) -> Any:
    """What is at a key, number or tag of a type."""
    for one in _members(at):
        if isinstance(one, type) and issubclass(one, Table):
            if step in one.model_fields:
                field = one.model_fields[step]
                return field.annotation
            if step in _type_of(one) or str(step).startswith("<"):
                return one
        if typing.get_origin(one) is list and isinstance(step, int):
            return typing.get_args(one)[0]
        if typing.get_origin(one) is dict:
            return typing.get_args(one)[1]
    return at


def _type_of(table: type[Table]) -> tuple[str, ...]:
    field = table.model_fields.get("type")
    return () if field is None else typing.get_args(field.annotation)


def _tags(where: tuple[Any, ...]) -> list[str]:
    """The types that a table may have at a path."""
    at: Any = Document
    for step in where:
        at = _inside(at, step)
    return [tag for one in _members(at) if isinstance(one, type) and issubclass(one, Table) for tag in _type_of(one)]
