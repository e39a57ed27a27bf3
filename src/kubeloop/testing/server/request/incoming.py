"""A request as a value: what the socket's side hands to the side that decides.

Elsewhere: reading one from a socket (`http`), carrying it out (`dispatch`).
"""

from __future__ import annotations

from typing import Any, final

import msgspec

from ..faults import SeenRequest
from .options import Query
from .paths import ResourcePath, parse_resource_path, verb_of

__all__ = ["Incoming", "incoming", "seen_of"]


@final
class Incoming(msgspec.Struct, frozen=True):
    """A request that was read: everything there is to know about it."""

    method: str
    path: str
    query: Query
    headers: Any  # a multi-map of headers, names in any case
    body: bytes = b""
    resource: ResourcePath | None = None
    verb: str = ""
    user: Any = None

    def header(self, name: str) -> str:
        return self.headers.get(name) or ""


def incoming(method: str, path: str, query: Query, headers: Any, body: bytes) -> Incoming:
    """Put together what a request says; the resource and the verb are read from its path."""
    found = parse_resource_path(path)
    verb = ""
    if found is not None and found.plural:
        verb = verb_of(method, found, watch=bool(query.flag("watch")))
    return Incoming(method, path, query, headers, body, found, verb)


def seen_of(request: Incoming, user: str = "") -> SeenRequest:
    """The request as it is recorded and shown to reactors."""
    found = request.resource or ResourcePath("", "")
    return SeenRequest(
        method=request.method,
        path=request.path,
        query=request.query.as_dict(),
        headers=request.headers,
        body=request.body,
        verb=request.verb,
        group=found.group,
        version=found.version,
        resource=found.plural,
        subresource=found.subresource,
        namespace=found.namespace,
        name=found.name,
        user=user,
    )
