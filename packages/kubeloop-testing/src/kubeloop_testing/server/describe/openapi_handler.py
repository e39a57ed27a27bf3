"""Serves `/openapi/v2` and `/openapi/v3`.

Guarantees: as kube-openapi, any method gets the document, and a path or a media type that does
not exist gets a response without a body; a URL with an old hash is redirected to the new one.
See also: the documents (`openapi`).
"""

from __future__ import annotations

from ..registry import Registry
from ..request.negotiation import PAGE_NOT_FOUND, PLAIN_TEXT, Response
from ..request.requests import Request
from . import openapi, openapi_protobuf
from .documents import Document

__all__ = ["openapi_response"]

_NOT_FOUND = Response(404, b"", media="", is_final=True)
# What a URL with a hash names never changes: it may be cached for ever.
_IMMUTABLE = {"Cache-Control": "public, immutable", "Expires": "Fri, 01 Jan 2100 00:00:00 GMT"}


def openapi_response(registry: Registry, request: Request) -> Response:
    """The document at a path below `/openapi`."""
    accept = request.header("Accept")
    match request.path.split("/")[2:]:
        case ["v2"]:
            return _v2(registry, request, accept)
        case ["v3"]:
            # The aggregator writes the index without a media type.
            body = openapi.v3_index(registry).body
            return Response(200, body, media=PLAIN_TEXT, is_final=True)
        case ["v3", *steps]:
            found = openapi.v3(registry, "/".join(steps))
            return _NOT_FOUND if found is None else _v3(request, found, "/".join(steps), accept)
    return PAGE_NOT_FOUND


def _v2(registry: Registry, request: Request, accept: str) -> Response:
    headers = {"Vary": "Accept, Accept-Encoding"}
    if openapi_protobuf.is_accepted(accept):
        return _send(request, openapi.v2_protobuf(registry), headers)
    if not _accepts_json(accept):
        return Response(406, b"", headers, media="", is_final=True)
    return _send(request, openapi.v2(registry), headers)


def _v3(request: Request, found: Document, path: str, accept: str) -> Response:
    headers = {"Vary": "Accept"}
    if not _accepts_json(accept):
        return Response(406, b"", headers, media="", is_final=True)
    wanted = request.query.text("hash")
    if wanted and wanted != found.etag.strip('"'):
        url = openapi.v3_url(path, found)
        moved = {**headers, "ETag": found.etag, "Location": url}
        return Response(301, b"", moved, is_final=True)
    return _send(request, found, headers | _IMMUTABLE if wanted else headers)


def _accepts_json(accept: str) -> bool:
    types = {each.partition(";")[0].strip() for each in accept.split(",")}
    return not accept or bool(types & {"*/*", "application/*", "application/json"})


def _send(request: Request, found: Document, headers: dict[str, str]) -> Response:
    headers = {**headers, "ETag": found.etag}
    if found.is_known(request.header("If-None-Match")):
        return Response(304, b"", headers, found.media, is_final=True)
    return Response(200, found.body, headers, found.media, is_final=True)
