"""A request as a frozen value, created without I/O.

Guarantees: a path is what its arguments say: no segment can go up, contain a slash or be
empty; an invalid request is an `InvalidArgument` when the value is created, not when it is sent;
the repr of a request shows neither its body nor the values of its headers.
See also: `query` (parameters), `client` (sending), `response` (what the response means).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypedDict, Unpack
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupResource
from kubeloop.wire import Duration, ResourceInfo

from .query import Params, encode_query, pairs_of
from .retry import RequestSpacing
from .timeouts import Timeouts

__all__ = [
    "APPLY_PATCH",
    "APPLY_PATCH_CBOR",
    "JSON",
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC_MERGE_PATCH",
    "Headers",
    "Request",
    "api_path",
    "header_pairs",
    "path_request",
    "resource_request",
    "uri_request",
]

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
APPLY_PATCH_CBOR = "application/apply-patch+cbor"

Headers = Mapping[str, str] | Iterable[tuple[str, str]]

_METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
} | {method: method for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")}
_OBJECT_VERBS = frozenset({"get", "update", "patch", "delete"})
_COLLECTION_VERBS = frozenset({"list", "deletecollection"})
# What Go does not escape in a path, besides letters, digits and "-_.~".
_SAFE_IN_PATH = "$&+,/:;=@"
_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
# A segment that needs no escape and no further check, as nearly all names are.
_is_plain = re.compile(r"[\w$&+,:;=@~-][\w$&+,:;=@~.-]*", re.ASCII).fullmatch


class RequestChanges(TypedDict, total=False):
    """Keywords of `Request.replace`: the fields of a `Request`."""

    method: str
    path: str
    params: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    content_type: str
    accept: str
    timeout: float | None
    timeouts: Timeouts | None
    max_retries: int | None
    spacing: RequestSpacing | None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Created by `resource_request`, `path_request` and `uri_request`."""

    method: str  # of HTTP: GET
    path: str  # below the server's base URL, escaped, beginning with "/"
    params: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = ""  # of the body; empty: the codec's
    accept: str = ""  # empty: the codec's
    # Seconds: None is the client's timeout, zero is no timeout. It bounds `send` and is sent to
    # the server; a watch only sends it.
    timeout: float | None = None
    timeouts: Timeouts | None = None  # instead of the client's
    max_retries: int | None = None  # instead of the client's; zero is one attempt
    spacing: RequestSpacing | None = None  # shared by the calls of an informer
    # For messages and metrics
    verb: str = ""
    resource: GroupResource | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def action(self) -> str:
        """The request in messages: `PUT deployments/web in shop`."""
        if self.resource is None:
            return f"{self.method} {self.path}"
        what = "/".join(filter(None, (self.resource.resource, self.name, self.subresource)))
        verb = "WATCH" if self.verb == "watch" else self.method
        return f"{verb} {what} in {self.namespace}" if self.namespace else f"{verb} {what}"

    def url(self, base: str, *, timeout: float = 0.0) -> str:
        """The whole URL below `base`; `timeout` applies where the request has none.

        >>> path_request("GET", "/healthz").url("https://h/prefix/")
        'https://h/prefix/healthz'
        """
        stem = base.rstrip("/")
        path = _resolve_parent(stem, self.path) if self.path.startswith("..") else stem + self.path
        if not self.path and stem.count("/") == 2:  # a host alone
            path += "/"
        query = self.query(timeout=timeout)
        return f"{path}?{query}" if query else path

    def query(self, *, timeout: float = 0.0) -> str:
        """The query string, without the question mark."""
        seconds = timeout if self.timeout is None else self.timeout
        if not seconds:
            return encode_query(self.params) if self.params else ""
        others = [pair for pair in self.params if pair[0] != "timeout"]
        return encode_query([*others, ("timeout", str(Duration.from_seconds(seconds)))])

    def replace(self, **changes: Unpack[RequestChanges]) -> Request:
        """The same request with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def with_params(self, params: Params) -> Request:
        """The same request with more parameters; those with the same key are kept as well."""
        return msgspec.structs.replace(self, params=(*self.params, *pairs_of(params)))

    def with_headers(self, headers: Headers) -> Request:
        """The same request with more headers, which override those of the client.

        Raises:
            InvalidArgument: a header has a line break.
        """
        return msgspec.structs.replace(self, headers=(*self.headers, *header_pairs(headers)))

    def __repr__(self) -> str:
        body = "" if self.body is None else f", {len(self.body)} bytes"
        query = self.query()
        return f"Request({self.method} {self.path}{'?' if query else ''}{query}{body})"


def resource_request(
    verb: str,
    resource: ResourceInfo,
    *,
    namespace: str = "",
    name: str = "",
    subresource: str | tuple[str, ...] = (),
    suffix: str = "",
    params: Params | None = None,
    headers: Headers = (),
    body: bytes | None = None,
    content_type: str = "",
    accept: str = "",
    timeout: float | None = None,
    timeouts: Timeouts | None = None,
    max_retries: int | None = None,
) -> Request:
    """A request for a collection, an object or a subresource.

    `verb` is the API's (`list`, `deletecollection`, …) or an HTTP method. `suffix` is the
    path after a proxy subresource. An empty namespace means all namespaces.

    Raises:
        InvalidArgument: a path segment is invalid, the name is missing, or the namespace of a
            namespaced object is.
    """
    method = _METHODS.get(verb)
    if method is None:
        raise InvalidArgument(
            f"unknown verb {verb!r} (use get, list, watch, create, update, patch, delete,"
            " deletecollection or an HTTP method in capitals)"
        )
    part = _subresource(subresource) if subresource else ""
    if not (namespace and name and verb in _OBJECT_VERBS and resource.namespaced):
        _check_target(verb, method, resource, namespace=namespace, name=name, part=part)
    if namespace and type(namespace) is not str:  # which the cache may not be able to look up
        _segment("namespace", namespace)
    path, group_resource = _collection_path(
        resource.group, resource.version, resource.plural, namespace
    )
    if name:
        is_plain = type(name) is str and _is_plain(name)
        path = f"{path}/{name if is_plain else _segment('name', name)}"
    if part:
        path = f"{path}/{part}"
    if suffix:
        path += _suffix(suffix)
    return Request(
        method=method,
        path=path,
        params=pairs_of(params) if params else (),
        headers=header_pairs(headers) if headers else (),
        body=body,
        content_type=content_type,
        accept=accept,
        timeout=timeout,
        timeouts=timeouts,
        max_retries=max_retries,
        verb=verb,
        resource=group_resource,
        namespace=namespace,
        name=name,
        subresource=part,
    )


def path_request(
    method: str,
    *segments: str,
    params: Params | None = None,
    headers: Headers = (),
    body: bytes | None = None,
    content_type: str = "",
    accept: str = "",
    timeout: float | None = None,
    timeouts: Timeouts | None = None,
    max_retries: int | None = None,
) -> Request:
    """A request for any path below the server's base URL (client-go: `AbsPath`).

    A trailing slash of a single segment is kept: `/healthz/`.
    """
    if _METHODS.get(method) != method:
        raise InvalidArgument(f"{method!r} is not an HTTP method (write it in capitals)")
    return Request(
        method=method,
        path=_absolute(segments),
        params=pairs_of(params),
        headers=header_pairs(headers) if headers else (),
        body=body,
        content_type=content_type,
        accept=accept,
        timeout=timeout,
        timeouts=timeouts,
        max_retries=max_retries,
        verb=method.lower(),
    )


def uri_request(
    method: str, uri: str, *, headers: Headers = (), body: bytes | None = None
) -> Request:
    """A request for a path with a query, as a server returns them in its documents.

    Raises:
        InvalidArgument: `uri` is not a URI.
    """
    try:
        parts = urlsplit(uri)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise InvalidArgument(
            f"request URI {uri!r}: {error} (write it as /path?key=value)"
        ) from error
    if _BROKEN_ESCAPE.search(uri):
        raise InvalidArgument(
            f"request URI {uri!r}: '%' without two hexadecimal digits after it (write it as %25)"
        )
    # path_request escapes the path: an escaped path must not be escaped twice.
    return path_request(method, unquote(parts.path), params=pairs, headers=headers, body=body)


def api_path(group: str, version: str) -> str:
    """The path of a group version: `/api/v1` for the core group, else `/apis/apps/v1`."""
    if not group:
        return "/api/" + _segment("version", version)
    return f"/apis/{_segment('group', group)}/{_segment('version', version)}"


@lru_cache(maxsize=1024)
def _collection_path(
    group: str, version: str, plural: str, namespace: str
) -> tuple[str, GroupResource]:
    """The path of a collection and its name in messages, prepared once for many requests."""
    path = api_path(group, version)
    if namespace:
        path += f"/namespaces/{_segment('namespace', namespace)}"
    return f"{path}/{_segment('resource', plural.lower())}", GroupResource(group, plural)


def _subresource(given: str | tuple[str, ...]) -> str:
    parts = (given,) if isinstance(given, str) else given
    return "/".join([_segment("subresource", each) for each in parts if each])


def _check_target(
    verb: str, method: str, resource: ResourceInfo, *, namespace: str, name: str, part: str
) -> None:
    what = f"{verb} {resource.plural}"
    if not name and (part or verb in _OBJECT_VERBS):
        raise InvalidArgument(f"{what}: the name is empty (give the name of the object)")
    if name and verb in _COLLECTION_VERBS:
        raise InvalidArgument(f"{what}: takes no name, got {name!r} (use a selector)")
    if namespace and not resource.namespaced:
        raise InvalidArgument(
            f"{what} in {namespace!r}: {resource.plural} are not namespaced"
            " (leave the namespace out)"
        )
    if namespace or not resource.namespaced:
        return
    if method == "POST" or (name and method in {"GET", "PUT", "DELETE"}):
        raise InvalidArgument(f"{what}: the namespace is empty (give the namespace of the object)")


def _segment(what: str, text: str) -> str:
    """`text` as one segment of a path, escaped."""
    if not isinstance(text, str):  # a dict may hold any value
        raise InvalidArgument(f"{what} in a path: expected a string, got {type(text).__name__}")
    if not text or "/" in text or "%" in text or text in {".", ".."}:
        problem = f"{text!r} is not allowed" if text else "it is empty"
        raise InvalidArgument(
            f"{what} in a path: {problem} ('.', '..', '/' and '%' are not allowed)"
        )
    if text.isalnum() and text.isascii():
        return text
    try:
        return quote(text, safe="$&+,:;=@")
    except UnicodeEncodeError as error:  # arguments of a program may be any bytes
        raise InvalidArgument(f"{what} in a path: {text!r} is not valid UTF-8") from error


def _suffix(text: str) -> str:
    parts = text.strip("/").split("/")
    if ".." in parts or "." in parts:
        raise InvalidArgument(f"suffix {text!r} in a path: '.' and '..' are not allowed")
    slash = "/" if text.endswith("/") and text != "/" else ""
    return "/" + quote("/".join(parts), safe=_SAFE_IN_PATH) + slash


def _absolute(segments: tuple[str, ...]) -> str:
    path = _clean("/".join(filter(None, segments)))
    if path and not path.startswith(("/", "..")):
        path = "/" + path
    if len(segments) == 1 and segments[0].endswith("/") and not path.endswith("/"):
        path += "/"
    return quote(path, safe=_SAFE_IN_PATH)


def _clean(path: str) -> str:
    """Without empty segments and `..`; a path that leads above its start keeps its `..`."""
    if not path:
        return ""
    cleaned = posixpath.normpath(path)
    if cleaned.startswith("//"):  # POSIX keeps two leading slashes
        cleaned = cleaned[1:]
    return "" if cleaned == "." else cleaned


def _resolve_parent(stem: str, path: str) -> str:
    scheme, _, rest = stem.partition("://")
    host, _, below = rest.partition("/")
    return f"{scheme}://{host}{posixpath.normpath(f'/{below}/{path}')}"


def header_pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Headers as pairs. Raises: InvalidArgument for a line break or NUL."""
    if not headers:
        return ()
    pairs = tuple(headers.items() if isinstance(headers, Mapping) else headers)
    for name, value in pairs:
        if any(character in name + value for character in "\r\n\0"):
            raise InvalidArgument(
                f"header {name[:80]}: a header must not contain a line break or NUL"
            )
    return pairs
