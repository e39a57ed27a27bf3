"""The layout of kinds that have none of their own: all fields, with readable names."""

from __future__ import annotations

import re
from typing import Any

from .page import Json, Page

__all__ = ["describe_generic", "field_title"]

_ACRONYMS = {"API", "URL", "UID", "OSB", "GUID"}
_SKIPPED = {
    f".metadata.{field}"
    for field in ("managedFields", "name", "namespace", "labels", "annotations")
}
# A run of capitals before a lower-case word: its last capital begins the word.
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z]+")


def describe_generic(page: Page, obj: Json) -> None:
    page.add_metadata(obj)
    _add_fields(page, 0, obj, "")


def _add_fields(page: Page, level: int, content: Json, path: str) -> None:
    for field in sorted(content):
        value, here = content[field], f"{path}.{field}"
        if here in _SKIPPED:
            continue
        title = f"{field_title(field)}:"
        if isinstance(value, dict):
            page.add(level, title)
            _add_fields(page, level + 1, value, here)
        elif isinstance(value, list):
            page.add(level, title)
            for child in value:
                if isinstance(child, dict):
                    _add_fields(page, level + 1, child, here)
                else:
                    page.add(level + 1, _text(child))
        else:
            page.add_value(level, title, _text(value))


def _text(value: Any) -> str:
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{' '.join(map(_text, value))}]"
    return str(value)


def field_title(field: str) -> str:
    """`Creation Timestamp` for `creationTimestamp`; a name with other characters stays."""
    if not re.fullmatch(r"[^\W\d_]+(?:-|[^\W\d_])*", field):
        return field
    parts = _WORDS.findall(field)
    words = [
        word.upper() if word.upper() in _ACRONYMS else word[:1].upper() + word[1:] for word in parts
    ]
    return " ".join(words)
