"""Redacts secrets in texts.

Guarantees: the `repr` of a `Redacted` struct (also that of `rich`) shows that a secret is set,
never its value; of certificate data only the length is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

import msgspec

__all__ = ["MASK", "Redacted", "mask_authorization", "redacted_url"]

MASK = "<masked>"

_KNOWN_SCHEMES = frozenset({"basic", "bearer", "negotiate"})


class Redacted(msgspec.Struct, frozen=True):
    """A struct whose repr has the fields that are set, with a mask for `redacted_fields`."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value}" for name, value in self._visible_fields())
        return f"{type(self).__name__}({fields})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return list(self._visible_fields())

    def _visible_fields(self) -> Iterator[tuple[str, str]]:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value not in (None, "", b"", (), {}, False):
                yield name, MASK if name in self.redacted_fields else _short(value)


def redacted_url(url: str) -> str:
    """`url` without its password."""
    try:
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
    except ValueError:
        return MASK  # it cannot be parsed, and may contain a secret
    if not at:
        return url
    name = user.partition(":")[0]
    return urlunsplit(
        parts._replace(netloc=f"{name}:{MASK}@{host}" if ":" in user else f"{MASK}@{host}")
    )


def mask_authorization(value: str) -> str:
    """An Authorization header for a log line: its scheme, if that is known."""
    scheme = value.split(" ", 1)[0] if value.find(" ") > 0 else value
    if not value:
        return ""
    if scheme.lower() not in _KNOWN_SCHEMES:
        return MASK
    return f"{scheme} {MASK}" if len(value) > len(scheme) + 1 else scheme


def _short(value: object) -> str:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, str) and "://" in value:
        return repr(redacted_url(value))
    return repr(value)
