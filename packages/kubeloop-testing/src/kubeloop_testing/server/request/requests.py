"""A request as a value, and the resource and verb that its path and method name.

This is what kube-apiserver calls RequestInfo (`apiserver/pkg/endpoints/request`).

Guarantees: pure; a path that names no resource has `resource` None, it is never guessed.
See also: `options` (the query), `registry` (whether the resource exists), `serving.http`
(reading a request from a connection).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import final
from urllib.parse import unquote

import msgspec

from ..faults import SeenRequest
from ..identity import User
from .options import Query

__all__ = [
    "Request",
    "ResourcePath",
    "is_proxied",
    "parse_request",
    "parse_resource_path",
    "verb_of",
]


@final
class ResourcePath(msgspec.Struct, frozen=True):
    """The parts of `/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}/{part}`."""

    group: str
    version: str
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""  # the path behind the subresource, for proxies
    watch: bool = False  # the deprecated /watch/ prefix


@final
class Request(msgspec.Struct, frozen=True):
    """One request: what the client sent, and what it means to the API."""

    method: str
    path: str
    query: Query
    headers: Mapping[str, str]  # names in any case
    body: bytes = b""
    resource: ResourcePath | None = None
    verb: str = ""  # empty where the method means nothing at this path
    user: User | None = None  # None until the request is authenticated

    def header(self, name: str) -> str:
        return self.headers.get(name) or ""


def parse_request(
    method: str,
    path: str,
    query: Query,
    headers: Mapping[str, str],
    body: bytes,
    *,
    user: User | None,
) -> tuple[Request, SeenRequest]:
    """The request, and the same request as it is recorded and passed to reactors."""
    found = parse_resource_path(path)
    verb = ""
    if found is not None and found.plural:
        verb = verb_of(method, found, watch=method == "GET" and bool(query.flag("watch")))
    request = Request(method, path, query, headers, body, found, verb, user)
    named = found or _NO_RESOURCE
    seen = SeenRequest(
        method=method,
        path=path,
        query=query,
        headers=headers,
        body=body,
        verb=verb,
        group=named.group,
        version=named.version,
        resource=named.plural,
        subresource=named.subresource,
        namespace=named.namespace,
        name=named.name,
        user=user.name if user is not None else "",
    )
    return request, seen


_NO_RESOURCE = ResourcePath("", "")


# Cached: clients repeat the paths of their collections.
@functools.lru_cache(maxsize=1024)
def parse_resource_path(path: str) -> ResourcePath | None:
    """The resource or the group version that a path names; None for all other paths."""
    match path.removeprefix("/").rstrip("/").split("/"):
        case ["api", version, *steps]:
            group = ""
        case ["apis", group, version, *steps]:
            pass
        case _:
            return None
    watch = len(steps) > 1 and steps[0] == "watch"
    if watch:
        del steps[0]
    if "%" in path:
        steps = list(map(unquote, steps))
    # `namespaces/x/pods` is a collection in the namespace x, but `namespaces/x/status` is a
    # subresource of the Namespace itself: RequestInfo has the same special case.
    namespace = ""
    in_namespace = len(steps) > 2 and steps[0] == "namespaces"
    if in_namespace and not group:
        in_namespace = steps[2:] not in (["status"], ["finalize"])
    if in_namespace:
        namespace, steps = steps[1], steps[2:]
    plural, name, subresource, *rest = [*steps, "", "", ""][: max(len(steps), 3)]
    # A proxy passes on any path.
    if (in_namespace and not namespace) or not all(steps[:3] if subresource == "proxy" else steps):
        return None
    return ResourcePath(
        group=group,
        version=version,
        plural=plural,
        namespace=namespace,
        name=name,
        subresource=subresource,
        rest="/".join(rest),
        watch=watch,
    )


def is_proxied(path: str) -> bool:
    """Whether a request for this path is passed on to a service, a pod or a node."""
    found = parse_resource_path(path) if "/proxy" in path else None
    return found is not None and found.subresource == "proxy"


_OBJECT_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION_VERBS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}


def verb_of(method: str, path: ResourcePath, *, watch: bool) -> str:
    """The API's verb for a request; empty where the method means nothing."""
    # `?watch=1` at the path of one object is a get; only the deprecated prefix watches one object.
    if method == "GET" and (path.watch or (watch and not path.name)) and not path.subresource:
        return "watch"
    if path.name:
        if method == "HEAD" and path.subresource == "proxy":
            return "get"
        if method == "POST" and path.subresource:
            return "create"
        return _OBJECT_VERBS.get(method, "")
    return _COLLECTION_VERBS.get(method, "")
