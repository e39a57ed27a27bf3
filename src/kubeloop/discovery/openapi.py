"""OpenAPI v3: an index of documents, and a document for each group version.

Promises: a document is asked for under the hash that the index names, so that caches on
the way may keep it; nothing is decoded further than JSON.
Elsewhere: OpenAPI v2 (`client`), keeping documents on disk (`answer_cache`).
"""

from __future__ import annotations

from typing import Any, final
from urllib.parse import parse_qs, urlsplit

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersion
from kubeloop.rest import path_request, uri_request
from kubeloop.wire import decode

from .answer_cache import AnswerCache
from .sending import Sender, said_by

__all__ = ["OpenApiPath", "OpenApiV3"]


class OpenApiPath(msgspec.Struct, frozen=True):
    """One entry of the index: the key, and where its document is."""

    key: str  # `apis/apps/v1`
    url: str  # on this server, with the hash

    @property
    def hash(self) -> str:
        """Changes when the document does; empty where the server names none."""
        return next(iter(parse_qs(urlsplit(self.url).query).get("hash", ())), "")


class _Entry(msgspec.Struct, rename={"url": "serverRelativeURL"}):
    url: str


class _Index(msgspec.Struct):
    paths: dict[str, _Entry] = {}


@final
class OpenApiV3:
    """The OpenAPI v3 documents of one server. The index is kept until `invalidate()`."""

    def __init__(self, rest: Sender, *, cache: AnswerCache | None = None) -> None:
        self._rest = rest
        self._cache = cache
        self._paths: dict[str, OpenApiPath] | None = None
        self._forgotten = 0  # how often the index was

    async def paths(self) -> dict[str, OpenApiPath]:
        """The index. Safe to cancel."""
        if self._paths is not None:
            return dict(self._paths)
        forgotten = self._forgotten
        request = path_request("GET", "/openapi/v3", accept="application/json")
        answer = await self._rest.send(request)
        with said_by("GET /openapi/v3"):
            index = decode(_Index, answer.body)
        found = {key: OpenApiPath(key, entry.url) for key, entry in index.paths.items()}
        if forgotten == self._forgotten:
            self._paths = found
        return dict(found)

    async def document(self, key: str | GroupVersion) -> dict[str, Any]:
        """The document of a group version, or of any other key of the index. Safe to cancel.

        Raises: InvalidArgument when the index has no such key.
        """
        wanted = _key(key) if isinstance(key, GroupVersion) else key
        path = (await self.paths()).get(wanted)
        if path is None:
            raise InvalidArgument(f"OpenAPI v3 of {wanted}: the server has no such document")
        text = await self._text(path)
        with said_by(f"GET {path.url}"):
            return decode(dict[str, Any], text)

    def invalidate(self) -> None:
        """Forget the index, also one that is on its way."""
        self._paths = None
        self._forgotten += 1

    async def _text(self, path: OpenApiPath) -> bytes:
        # A document under a hash never changes.
        cache = self._cache if path.hash else None
        known = await cache.get(path.url) if cache else None
        if known is not None:
            return known
        answer = await self._rest.send(uri_request("GET", path.url))
        if cache:
            await cache.put(path.url, answer.body)
        return answer.body


def _key(version: GroupVersion) -> str:
    return f"apis/{version}" if version.group else f"api/{version.version}"
