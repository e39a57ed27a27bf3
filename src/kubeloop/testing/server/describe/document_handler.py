"""The paths that are no resource: version, health, discovery, OpenAPI.

Promises: whoever has a document already is told so (304) instead of sent it again.
Elsewhere: what stands in the documents (`discovery`, `openapi`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, final

from ..registry import Registry
from ..request.incoming import Incoming
from ..request.negotiation import NOWHERE, Answer
from ..statuses import method_not_allowed, unknown_resource
from ..storage.store import encoded
from .documents import Document

if TYPE_CHECKING:
    from .discovery import Root

__all__ = ["Catalogue", "is_health_check"]

_HEALTH = frozenset({"healthz", "livez", "readyz"})
_CHECKS = frozenset({"etcd", "ping"})


def is_health_check(path: str) -> bool:
    """Whether a path is one at which the server says that it is well: `/livez`, `/readyz/ping`."""
    page, *checks = path.strip("/").split("/")
    return page in _HEALTH and set(checks) <= _CHECKS


@final
class Catalogue:
    """Answers every path that names no resource."""

    def __init__(self, registry: Registry, *, extra: Mapping[str, Callable[[], Any]]) -> None:
        self._registry = registry
        self._extra = extra  # more documents by path: the keys of service account tokens

    def answer(self, request: Incoming) -> Answer:
        """The document at a path. Raises `Refusal` 404 or 405."""
        if request.method not in {"GET", "HEAD"}:
            raise method_not_allowed()
        path = request.path.rstrip("/") or "/"
        steps = path.strip("/").split("/")
        if is_health_check(path):
            return _health(request, steps[0])
        if path in self._extra:
            return Answer(200, encoded(self._extra[path]()))
        found = self._found(request, steps)
        if found is None and self._is_in_version(steps):
            raise unknown_resource()
        return found or NOWHERE

    def _is_in_version(self, steps: list[str]) -> bool:
        match steps:
            case ["api", _, *_]:
                return True
            case ["apis", group, _, *_]:
                return self._registry.is_built_in(group)
        return False

    def _found(self, request: Incoming, steps: list[str]) -> Answer | None:
        from . import discovery

        registry = self._registry
        match steps:
            case ["version"]:
                return Answer(200, encoded(discovery.version()))
            case [""]:
                return Answer(200, encoded(discovery.paths(registry)))
            case ["api" | "apis"]:
                return self._root(request, steps[0])
            case ["apis", group]:
                return _given(discovery.legacy_group(registry, group))
            case ["api", version]:
                return _given(discovery.legacy_resources(registry, "", version))
            case ["apis", group, version]:
                return _given(discovery.legacy_resources(registry, group, version))
            case ["openapi", *rest]:
                return self._openapi(request, rest)
        return None

    def _root(self, request: Incoming, root: str) -> Answer:
        from . import discovery

        form = discovery.aggregated_version(request.header("Accept"))
        if form:
            place: Root = "/api" if root == "api" else "/apis"
            return _sent(request, discovery.aggregated(self._registry, place, form))
        if root == "api":
            address = request.header("Host") or "127.0.0.1"
            return Answer(200, encoded(discovery.legacy_versions(address)))
        return Answer(200, encoded(discovery.legacy_groups(self._registry)))

    def _openapi(self, request: Incoming, steps: list[str]) -> Answer | None:
        from . import openapi, openapi_protobuf

        registry = self._registry
        found: Document | None = None
        match steps:
            case ["v2"]:
                wanted = openapi_protobuf.is_wanted(request.header("Accept"))
                found = openapi.v2_protobuf(registry) if wanted else openapi.v2(registry)
            case ["v3"]:
                found = openapi.v3_index(registry)
            case ["v3", "api", version]:
                found = openapi.v3(registry, "", version)
            case ["v3", "apis", group, version]:
                found = openapi.v3(registry, group, version)
        return None if found is None else _sent(request, found)


def _sent(request: Incoming, found: Document) -> Answer:
    headers = {"ETag": found.etag} if found.etag else {}
    if found.is_known(request.header("If-None-Match")):
        return Answer(304, b"", headers, found.media)
    return Answer(200, found.body, headers, found.media)


def _given(found: Any) -> Answer | None:
    return None if found is None else Answer(200, encoded(found))


def _health(request: Incoming, name: str) -> Answer:
    text = b"ok"
    if request.query.flag("verbose"):
        text = f"[+]ping ok\n[+]etcd ok\n{name} check passed\n".encode()
    return Answer(200, text, media="text/plain")
