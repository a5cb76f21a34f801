"""What the tables of a scene file share: numbers, vectors, and how a table becomes the object of its name."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

NUMBER_MAX = 1e20  # of any number: squares and products of such numbers can still be computed with
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-NUMBER_MAX, le=NUMBER_MAX)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, le=NUMBER_MAX)]
NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=NUMBER_MAX)]
Unit = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=1.0)]
Vector = Annotated[list[Number], Field(min_length=2, max_length=3)]
Vector2 = Annotated[list[Number], Field(min_length=2, max_length=2)]
Vector3 = Annotated[list[Number], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(strict=True, ge=1)]


class Table(BaseModel):
    """A table of a scene file; keys that it does not have are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True, defer_build=True)

    def given(self, *without: str) -> dict[str, Any]:
        """What was given, by key, without `type`: the rest is left to the defaults of Python."""
        return {
            k: getattr(self, k)
            for k in type(self).model_fields
            if k in self.model_fields_set and k not in ("type", *without)
        }


@cache
def meanings(table: type[Table]) -> dict[str, str]:
    """What the fields of a table mean: the texts below them, of the table and of those that it is made from."""
    found: dict[str, str] = {}
    for kind in reversed(table.__mro__):
        if issubclass(kind, Table) and kind is not Table:
            body = ast.parse(inspect.getsource(kind)).body[0].body  # type: ignore[attr-defined]
            for said, text in pairwise(body):
                if (
                    isinstance(said, ast.AnnAssign)
                    and isinstance(text, ast.Expr)
                    and isinstance(text.value, ast.Constant)
                ):
                    found[ast.unparse(said.target)] = str(text.value.value)
    return found
