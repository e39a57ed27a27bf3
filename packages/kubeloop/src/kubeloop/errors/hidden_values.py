"""Cuts the values of an object out of a message of the server.

kube-apiserver quotes what it rejects: a value, a patch, or the whole object that a patch would
make. For a Secret such a message must not get into logs and reports.
Guarantees: pure; what the server quotes is cut in each of its forms, and so is each value that
was sent, wherever it is (a webhook may quote it as well). A cut that is not certain of its end
takes the rest of the message.
See also: which requests need it (`kubeloop.rest`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

__all__ = ["HIDDEN", "hide_values", "values_in"]

HIDDEN = "‹hidden›"

_SHORTEST = 4  # characters of a value that is looked for: a shorter one is in many words
# Fields of a Secret that are no secret. Annotations may be a copy of it, but are not looked for.
_HARMLESS = frozenset({"apiVersion", "kind", "metadata", "type"})

_QUOTED = r'"(?:[^"\\]|\\.)*"'
# Go quotes text; numbers and so on are as they are; a list or a struct has no end that can be
# found.
_VALUE = rf"(?:{_QUOTED}|(?:[-+.\w]+)(?=[:,\]]|$)|.*)"
_CUTS = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        # An error of a field
        (rf"\b((?:Invalid|Unsupported|Duplicate) value: ){_VALUE}", rf"\1{HIDDEN}"),
        (rf"\b((?:Not found|Too long|Too many): ){_QUOTED}", rf"\1{HIDDEN}"),
        # A strategic merge patch: `unknown patch type: x in map: map[…]`
        (r"\b(patch type: ).*", rf"\1{HIDDEN}"),
        # A server-side apply: `.data: expected map, got &{…}`
        (r"\b(got )&.*\}", rf"\1{HIDDEN}"),
        # A map as Go prints it, and not a type: `map[string]string`
        (r"\bmap\[(?!string\]).*\]", HIDDEN),
        # The beginning of a body that cannot be parsed
        (r"\b(parse error: .*? )\(.*\)", rf"\1({HIDDEN})"),
        (r"\([0-9a-f]{8,}\)", f"({HIDDEN})"),
        # The same of servers before 1.23
        (r"\.\.\.\|.*\|\.\.\.", HIDDEN),
    )
)


def hide_values(message: str, sent: Sequence[str]) -> str:
    """The message without what the server quotes, and without the values that were sent."""
    for pattern, replacement in _CUTS:
        message = pattern.sub(replacement, message)
    for value in sent:
        message = message.replace(value, HIDDEN)
    return message


def values_in(body: bytes | None) -> list[str]:
    """The texts in the body of a request that may be in a message; the longest come first."""
    try:
        content: Any = msgspec.json.decode(body or b"null")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    if isinstance(content, dict):
        parts = [value for key, value in content.items() if key not in _HARMLESS]
    elif isinstance(content, list):  # a JSON patch
        parts = [each.get("value") for each in content if isinstance(each, dict)]
    else:
        parts = [content]
    forms = {form for text in _texts(parts) for form in _forms(text) if len(form) >= _SHORTEST}
    return sorted(forms, key=len, reverse=True)


def _texts(parts: list[Any]) -> Iterator[str]:
    pending = list(parts)
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, list):
            pending += part


def _forms(text: str) -> Iterator[str]:
    """A text as it may be quoted: itself, escaped, and in or out of base64."""
    yield text
    yield msgspec.json.encode(text).decode()[1:-1]
    yield base64.b64encode(text.encode()).decode()
    with suppress(ValueError):  # it is not base64, or its content no text
        yield base64.b64decode(text, validate=True).decode()
