"""The JSON schema of scene files, with which editors complete and check."""

from __future__ import annotations

from typing import Any

from .document import Document


def scene_schema() -> dict[str, Any]:
    """The schema, as JSON Schema 2020-12 (`stiction schema` prints it)."""
    made = Document.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "A scene of stiction"}
