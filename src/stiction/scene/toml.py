"""Writing TOML, so that numbers come back to the bit and people can read it."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from typing import Any

LINE_WIDTH = 110
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(data: Mapping[str, Any]) -> str:
    """Tables as TOML: single values first, then [tables] and [[lists of tables]], with what is in them in line."""
    parts = ["".join(f"{_key(k)} = {_value(v)}\n" for k, v in data.items() if not _is_table(v) and not _is_list(v))]
    for key, value in data.items():
        if _is_list(value):
            parts += [f"[[{_key(key)}]]\n" + _body(one) for one in value]
        elif _is_table(value):
            nested = {k: v for k, v in value.items() if _is_table(v)} if _of_tables(value) else {}
            if not nested or len(nested) < len(value):
                parts.append(f"[{_key(key)}]\n" + _body({k: v for k, v in value.items() if k not in nested}))
            parts += [f"[{_key(key)}.{_key(k)}]\n" + _body(v) for k, v in nested.items()]
    return "\n".join(part for part in parts if part)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_table(one) for one in value)


def _of_tables(value: Mapping[str, Any]) -> bool:
    """Whether a table holds nothing but tables, as [materials] does."""
    return bool(value) and all(_is_table(one) for one in value.values())


def _body(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(k)} = {_value(v)}\n" for k, v in table.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    items = [_value(one) for one in value]
    flat = "[" + ", ".join(items) + "]"
    if len(flat) <= LINE_WIDTH or not any(isinstance(one, list) for one in value):
        return flat
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
