"""Cached documents about the API itself.

Guarantees: a document is built once for each generation of the registry.
See also: their content (`discovery`, `openapi`).
"""

from __future__ import annotations

from typing import TypeAlias, final
from weakref import WeakKeyDictionary

import msgspec

from ..registry import Registry

__all__ = ["Document", "cached_documents"]


@final
class Document(msgspec.Struct, frozen=True):
    """The body of a response, its media type, and its ETag with quotes."""

    body: bytes
    media: str = "application/json"
    etag: str = ""

    def is_known(self, if_none_match: str | None) -> bool:
        """Whether the client has it already, so that a 304 is enough."""
        tags = (if_none_match or "").split(",")
        return bool(self.etag) and self.etag in {each.strip() for each in tags}


_Cache: TypeAlias = dict[tuple[str, ...], Document]
_caches: WeakKeyDictionary[Registry, tuple[int, _Cache]] = WeakKeyDictionary()


def cached_documents(registry: Registry) -> _Cache:
    """The cache for the current generation of `registry`; callers add to it."""
    found = _caches.get(registry)
    if found is None or found[0] != registry.generation:
        found = (registry.generation, {})
        _caches[registry] = found
    return found[1]
