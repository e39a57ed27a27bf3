"""The layout of kinds that have none of their own: all fields, with readable names."""

from __future__ import annotations

import itertools
import re
from typing import Any

from .page import Json, Page

__all__ = ["describe_generic", "field_title"]

_ACRONYMS = {"API", "URL", "UID", "GUID"}
_SKIPPED = {
    f".metadata.{field}"
    for field in ("managedFields", "name", "namespace", "labels", "annotations")
}


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
    parts = _words(field)
    words = [
        word.upper() if word.upper() in _ACRONYMS else word[:1].upper() + word[1:] for word in parts
    ]
    return " ".join(words)


def _words(field: str) -> list[str]:
    """The words of a name in camel case, as kubectl finds them: `Cluster I Ps`, `Pod CIDRs`."""
    parts: list[str] = []
    for _, chars in itertools.groupby(field, key=lambda char: (char.isupper(), char.islower())):
        part = "".join(chars)
        if not (parts and part[0].islower() and parts[-1][-1].isupper()):
            parts.append(part)
        elif len(parts[-1]) == 2:
            parts[-1:] = [parts[-1][0], parts[-1][1] + part]
        else:
            parts[-1] += part
    return parts
