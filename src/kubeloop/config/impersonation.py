"""Asking as somebody else: who, and the headers that say so.

Promises: pure; a key that an HTTP header cannot carry is percent-encoded.
Elsewhere: a request that names its own `Impersonate-User` is left alone (`rest`).
"""

from __future__ import annotations

import string
from collections.abc import Mapping

import msgspec

__all__ = ["Impersonation", "impersonation_headers"]

# The characters of a header name that stand for themselves; "%" begins an escape.
_TOKEN = frozenset((string.ascii_letters + string.digits + "!#$&'*+-.^_`|~").encode())


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """The user to be taken for, with uid, groups and whatever else the server is told."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


def impersonation_headers(who: Impersonation | None) -> tuple[tuple[str, str], ...]:
    """The headers for `who`, some of them more than once; none when nothing is set."""
    if who is None or who == Impersonation():
        return ()
    return (
        ("Impersonate-User", who.user),
        *((("Impersonate-Uid", who.uid),) if who.uid else ()),
        *(("Impersonate-Group", group) for group in who.groups),
        *(
            (f"Impersonate-Extra-{_escaped(key)}", value)
            for key, values in who.extra.items()
            for value in values
        ),
    )


def _escaped(key: str) -> str:
    return "".join(chr(byte) if byte in _TOKEN else f"%{byte:02X}" for byte in key.encode())
