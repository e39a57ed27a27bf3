"""The non-resource paths: version, health, metrics, discovery, OpenAPI.

kube-apiserver serves some of them by routes, which allow GET only and compare media types
before the handler does; the others are plain handlers, which answer any method.

Guarantees: a client that has a document already (If-None-Match) gets a 304.
See also: the content of the documents (`discovery`, `health`, `metrics`, `openapi`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, final

from ..registry import Registry
from ..request.negotiation import (
    JSON,
    PAGE_NOT_FOUND,
    MediaTypeOptions,
    Response,
    check_route,
    indent,
    negotiate_discovery,
    negotiate_plain,
)
from ..request.requests import Request
from ..statuses import method_not_allowed, unknown_resource
from ..storage.store import Store, encoded
from .documents import Document
from .health import health_response, is_health_check
from .metrics import METRICS_MEDIA, metrics_text

if TYPE_CHECKING:
    from .discovery import Root

__all__ = ["DocumentHandler"]


@final
class DocumentHandler:
    """Serves every path that is not a resource."""

    def __init__(
        self,
        registry: Registry,
        store: Store,
        *,
        extra: Mapping[str, tuple[str, Callable[[], Any]]],
    ) -> None:
        self._registry = registry
        self._store = store
        # More documents by path, with their media types: the OIDC discovery of service accounts.
        self._extra = extra

    def respond(self, request: Request) -> Response:
        """The document at a path. Raises `StatusError` 404, 405 or 406."""
        path = request.path
        if is_health_check(path):
            return health_response(path, request.query)
        if path == "/metrics":
            collections = self._store.collections()
            sizes = ((*storage, len(each.select(""))) for storage, each in collections)
            body = metrics_text(sizes).encode()
            return Response(200, body, media=METRICS_MEDIA, is_final=True)
        if path.startswith("/openapi/"):
            from .openapi_handler import openapi_response

            return openapi_response(self._registry, request)
        if path.startswith("//"):
            return PAGE_NOT_FOUND
        return self._respond(request, path.rstrip("/") or "/")

    def _respond(self, request: Request, path: str) -> Response:
        from . import discovery  # at the first use: most tests request no discovery

        registry = self._registry
        match path.removeprefix("/").split("/"):
            case [""]:
                return _constant(discovery.paths(registry, self._extra))
            case ["version"]:
                _check_document_route(request, only_json=True)
                return _constant(discovery.version())
            case ["api"]:
                _check_document_route(request)
                return self._root(request, "/api")
            case ["apis"]:
                return self._root(request, "/apis")
            case ["apis", group]:
                return _encode(request, discovery.legacy_group(registry, group))
            case ["api", version]:
                return self._version(request, "", version)
            case ["apis", group, version]:
                return self._version(request, group, version)
            case ["api", *_]:
                raise unknown_resource()
            case ["apis", group, *_] if registry.is_built_in(group):
                raise unknown_resource()
        if path in self._extra:
            _check_document_route(request)
            media, document = self._extra[path]
            headers = {"Cache-Control": "public, max-age=3600"}
            return Response(200, encoded(document()), headers, media, is_final=True)
        return PAGE_NOT_FOUND

    def _root(self, request: Request, root: Root) -> Response:
        from . import discovery

        options = negotiate_discovery(request.header("Accept"))
        if options is not None:
            return _send(request, discovery.aggregated(self._registry, root), options)
        if root == "/api":
            address = request.header("Host") or "127.0.0.1"
            return _encode(request, discovery.legacy_versions(address))
        return _encode(request, discovery.legacy_groups(self._registry))

    def _version(self, request: Request, group: str, version: str) -> Response:
        """The resources of a group version."""
        from . import discovery

        is_built_in = self._registry.is_built_in(group)
        found = discovery.legacy_resources(self._registry, group, version)
        if found is None and is_built_in:
            raise unknown_resource()
        if found is not None and is_built_in:
            _check_document_route(request)
        return _encode(request, found)


def _check_document_route(request: Request, *, only_json: bool = False) -> None:
    if request.method != "GET":
        raise method_not_allowed()
    check_route(request.header("Accept"), only_json=only_json)


def _constant(found: Any) -> Response:
    """A document that is not an API object: indented for every client."""
    return Response(200, indent(encoded(found)), is_final=True)


def _encode(request: Request, found: Any) -> Response:
    if found is None:
        return PAGE_NOT_FOUND
    return Response(200, encoded(found), options=negotiate_plain(request.header("Accept")))


def _send(request: Request, found: Document, options: MediaTypeOptions) -> Response:
    headers = {"Cache-Control": "public", "ETag": found.etag, "Vary": "Accept"}
    if found.is_known(request.header("If-None-Match")):
        return Response(304, b"", headers, found.media, is_final=True)
    # The media type keeps its parameters: clients see from it what they got.
    media = found.media.replace(JSON, options.media)
    return Response(200, found.body, headers, media, options=options)
