"""Asking as somebody else: who, and the headers that say so.

Promises: pure; a key that an HTTP header cannot carry is percent-encoded; a value that it
cannot carry is refused when it is given, so that nothing is sent.
Elsewhere: a request that names its own `Impersonate-User` is left alone (`rest`).
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

import msgspec

from .errors import InvalidConfig
from .validation import header_problem

__all__ = ["Impersonation", "impersonation_headers"]

# The characters of a header name that stand for themselves; "%" begins an escape.
_TOKEN = frozenset((string.ascii_letters + string.digits + "!#$&'*+-.^_`|~").encode())


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """The user to be taken for, with uid, groups and whatever else the server is told.

    Raises: `InvalidConfig` for text that a header cannot carry.
    """

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = [("user", self.user), ("uid", self.uid)]
        texts += [("groups", group) for group in _listed("groups", self.groups)]
        for key, values in self.extra.items():
            _check("a key of extra", key, header=False)  # percent-encoded, so anything goes
            texts += [(f"extra[{key}]", value) for value in _listed(f"extra[{key}]", values)]
        for what, text in texts:
            _check(what, text)


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


def _listed(what: str, values: Sequence[str]) -> Sequence[str]:
    if isinstance(values, str):  # its letters would become groups
        raise InvalidConfig(f"impersonate: {what}: expected several texts, found one (use a tuple)")
    return values


def _check(what: str, text: str, *, header: bool = True) -> None:
    if problem := header_problem(text, controls=not header):
        raise InvalidConfig(f"impersonate: {what}: {problem}")


def _escaped(key: str) -> str:
    return "".join(chr(byte) if byte in _TOKEN else f"%{byte:02X}" for byte in key.encode())
