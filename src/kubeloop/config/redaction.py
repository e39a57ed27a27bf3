"""Keeps secrets out of everything that is printed.

Promises: the `repr` of a `Veiled` struct (also the one `rich` asks for) shows that
a secret is set, never what it is; certificate data is shown by its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

import msgspec

__all__ = ["MASK", "Veiled", "mask_authorization", "redacted_url"]

MASK = "<masked>"

_KNOWN_SCHEMES = frozenset({"basic", "bearer", "negotiate"})


class Veiled(msgspec.Struct, frozen=True):
    """A struct that prints the fields that are set, and a mask for those in `veiled`."""

    veiled: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value}" for name, value in self._shown())
        return f"{type(self).__name__}({fields})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return list(self._shown())

    def _shown(self) -> Iterator[tuple[str, str]]:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value not in (None, "", b"", (), {}, False):
                yield name, MASK if name in self.veiled else _short(value)


def redacted_url(url: str) -> str:
    """`url` without the password in it."""
    try:
        parts = urlsplit(url)
        user, at, host = parts.netloc.rpartition("@")
    except ValueError:
        return MASK  # what cannot be taken apart may hide anything
    if not at:
        return url
    name = user.partition(":")[0]
    return urlunsplit(
        parts._replace(netloc=f"{name}:{MASK}@{host}" if ":" in user else f"{MASK}@{host}")
    )


def mask_authorization(value: str) -> str:
    """An Authorization header as it may be logged: its scheme when that is a known one."""
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
