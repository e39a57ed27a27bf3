"""Documents about the API itself, built once for each state of the registry.

Elsewhere: what they say (`discovery`, `openapi`).
"""

from __future__ import annotations

from typing import TypeAlias, final
from weakref import WeakKeyDictionary

import msgspec

from ..registry import Registry

__all__ = ["Document", "kept_for"]


@final
class Document(msgspec.Struct, frozen=True):
    """A whole answer: its bytes, what they are, and the ETag (with its quotes)."""

    body: bytes
    media: str = "application/json"
    etag: str = ""

    def is_known(self, if_none_match: str | None) -> bool:
        """Whether the client has it already: the answer is then 304."""
        said = (if_none_match or "").split(",")
        return bool(self.etag) and self.etag in {each.strip() for each in said}


_Kept: TypeAlias = dict[tuple[str, ...], Document]
_documents: WeakKeyDictionary[Registry, tuple[int, _Kept]] = WeakKeyDictionary()


def kept_for(registry: Registry) -> _Kept:
    """The documents that were built from what `registry` serves right now."""
    found = _documents.get(registry)
    if found is None or found[0] != registry.generation:
        found = (registry.generation, {})
        _documents[registry] = found
    return found[1]
