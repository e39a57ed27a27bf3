"""The non-resource paths: version, health, discovery, OpenAPI.

Guarantees: a client that has a document already (If-None-Match) gets a 304.
See also: the content of the documents (`discovery`, `openapi`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, final

from ..registry import Registry
from ..request.negotiation import PAGE_NOT_FOUND, Response
from ..request.requests import Request
from ..statuses import method_not_allowed, unknown_resource
from ..storage.store import encoded
from .documents import Document

if TYPE_CHECKING:
    from .discovery import Root

__all__ = ["DocumentHandler", "is_health_check"]

_HEALTH = frozenset({"healthz", "livez", "readyz"})
_CHECKS = frozenset({"etcd", "ping"})  # of the many checks of kube-apiserver


def is_health_check(path: str) -> bool:
    """Whether a path is a health check, such as `/livez` or `/readyz/ping`."""
    page, *checks = path.strip("/").split("/")
    return page in _HEALTH and set(checks) <= _CHECKS


@final
class DocumentHandler:
    """Serves every path that is not a resource."""

    def __init__(self, registry: Registry, *, extra: Mapping[str, Callable[[], Any]]) -> None:
        self._registry = registry
        self._extra = extra  # more documents by path: the OIDC discovery of service accounts

    def respond(self, request: Request) -> Response:
        """The document at a path. Raises `StatusError` 404 or 405."""
        if request.method not in {"GET", "HEAD"}:
            raise method_not_allowed()
        path = request.path.rstrip("/") or "/"
        steps = path.strip("/").split("/")
        if is_health_check(path):
            return _health(request, steps[0])
        if path in self._extra:
            return Response(200, encoded(self._extra[path]()))
        found = self._find(request, steps)
        if found is None and self._is_in_version(steps):
            raise unknown_resource()
        return found or PAGE_NOT_FOUND

    def _is_in_version(self, steps: list[str]) -> bool:
        match steps:
            case ["api", _, *_]:
                return True
            case ["apis", group, _, *_]:
                return self._registry.is_built_in(group)
        return False

    def _find(self, request: Request, steps: list[str]) -> Response | None:
        from . import discovery  # at the first use: most tests request no discovery

        registry = self._registry
        match steps:
            case ["version"]:
                return Response(200, encoded(discovery.version()))
            case [""]:
                return Response(200, encoded(discovery.paths(registry)))
            case ["api" | "apis"]:
                return self._root(request, steps[0])
            case ["apis", group]:
                return _encode(discovery.legacy_group(registry, group))
            case ["api", version]:
                return _encode(discovery.legacy_resources(registry, "", version))
            case ["apis", group, version]:
                return _encode(discovery.legacy_resources(registry, group, version))
            case ["openapi", *rest]:
                return self._openapi(request, rest)
        return None

    def _root(self, request: Request, root: str) -> Response:
        from . import discovery

        version = discovery.aggregated_version(request.header("Accept"))
        if version:
            path: Root = "/api" if root == "api" else "/apis"
            return _send(request, discovery.aggregated(self._registry, path, version))
        if root == "api":
            address = request.header("Host") or "127.0.0.1"
            return Response(200, encoded(discovery.legacy_versions(address)))
        return Response(200, encoded(discovery.legacy_groups(self._registry)))

    def _openapi(self, request: Request, steps: list[str]) -> Response | None:
        from . import openapi, openapi_protobuf

        registry = self._registry
        found: Document | None = None
        match steps:
            case ["v2"]:
                protobuf = openapi_protobuf.is_accepted(request.header("Accept"))
                found = openapi.v2_protobuf(registry) if protobuf else openapi.v2(registry)
            case ["v3"]:
                found = openapi.v3_index(registry)
            case ["v3", "api", version]:
                found = openapi.v3(registry, "", version)
            case ["v3", "apis", group, version]:
                found = openapi.v3(registry, group, version)
        return None if found is None else _send(request, found)


def _send(request: Request, found: Document) -> Response:
    headers = {"ETag": found.etag} if found.etag else {}
    if found.is_known(request.header("If-None-Match")):
        return Response(304, b"", headers, found.media)
    return Response(200, found.body, headers, found.media)


def _encode(found: Any) -> Response | None:
    return None if found is None else Response(200, encoded(found))


def _health(request: Request, name: str) -> Response:
    text = b"ok"
    if request.query.flag("verbose"):
        text = f"[+]ping ok\n[+]etcd ok\n{name} check passed\n".encode()
    return Response(200, text, media="text/plain")
