"""The JSON schema of scene files, with which editors complete and check."""

from __future__ import annotations

from typing import Any

from .document import Document
from .fields import Table, meanings


def scene_schema() -> dict[str, Any]:
    """The schema, as JSON Schema 2020-12 (`stiction schema` prints it)."""
    made = Document.model_json_schema(mode="validation")
    tables = {table.__name__: table for table in _tables(Table)}
    for name, one in {**made["$defs"], "Document": made}.items():
        for key, text in meanings(tables[name]).items() if name in tables else ():
            one["properties"][key].setdefault("description", text)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "A scene of stiction"}


def _tables(table: type[Table]) -> list[type[Table]]:
    return [one for kind in table.__subclasses__() for one in (kind, *_tables(kind))]
