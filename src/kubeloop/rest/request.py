"""A request as a frozen value, made without I/O and compared by its whole URL.

Promises: a path is what was asked for and nothing else: no segment can climb, hide a
slash or be empty; what cannot be asked is an `InvalidArgument` when the value is made, not
when it is sent; printing a request shows neither its body nor its headers' values.
Elsewhere: parameters (`query`), sending (`client`), what the answer means (`answer`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupResource
from kubeloop.wire import Duration, ResourceInfo

from .query import Params, encode_query, pairs_of
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
_OF_ONE_OBJECT = frozenset({"get", "update", "patch", "delete"})
_OF_ALL_OBJECTS = frozenset({"list", "deletecollection"})
# What Go leaves alone in a path, besides letters, digits and "-_.~".
_PLAIN = "$&+,/:;=@"
_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the server. Made by `resource_request`, `path_request`, `uri_request`."""

    method: str  # as HTTP says it: GET
    path: str  # below the server's base URL, escaped, beginning with "/"
    params: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = ""  # of the body; empty: the codec's
    accept: str = ""  # empty: the codec's
    # Seconds: None is the client's own, zero none at all. It bounds `send` and is told
    # to the server; a watch is only told.
    timeout: float | None = None
    timeouts: Timeouts | None = None  # instead of the client's
    max_retries: int | None = None  # instead of the client's; zero is one attempt
    # What it is about, for messages
    verb: str = ""
    resource: GroupResource | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def action(self) -> str:
        """What is tried, in the words of our messages: `PUT deployments/web in shop`."""
        if self.resource is None:
            return f"{self.method} {self.path}"
        what = "/".join(filter(None, (self.resource.resource, self.name, self.subresource)))
        verb = "WATCH" if self.verb == "watch" else self.method
        return f"{verb} {what} in {self.namespace}" if self.namespace else f"{verb} {what}"

    def url(self, base: str, *, timeout: float = 0.0) -> str:
        """The whole URL below `base`; `timeout` is the client's own, where none is given.

        >>> path_request("GET", "/healthz").url("https://h/prefix/")
        'https://h/prefix/healthz'
        """
        stem = base.rstrip("/")
        path = _climbed(stem, self.path) if self.path.startswith("..") else stem + self.path
        if not self.path and stem.count("/") == 2:  # a host alone
            path += "/"
        query = self.query(timeout=timeout)
        return f"{path}?{query}" if query else path

    def query(self, *, timeout: float = 0.0) -> str:
        """What stands behind the question mark."""
        seconds = timeout if self.timeout is None else self.timeout
        if not seconds:
            return encode_query(self.params) if self.params else ""
        others = [pair for pair in self.params if pair[0] != "timeout"]
        return encode_query([*others, ("timeout", str(Duration.from_seconds(seconds)))])

    def replace(self, **changes: object) -> Request:
        """The same request with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def with_params(self, params: Params) -> Request:
        """The same request with further parameters; one that is there already is kept too."""
        return msgspec.structs.replace(self, params=(*self.params, *pairs_of(params)))

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
    """A request for a collection, an object or a part of one.

    `verb` is the API's (`list`, `deletecollection`, …) or an HTTP method. `suffix` is the
    path behind a proxy subresource. An empty namespace means all of them.

    Raises:
        InvalidArgument: a segment that a path cannot hold, a name that is missing, an empty
            namespace where the object must be in one.
    """
    method = _METHODS.get(verb)
    if method is None:
        raise InvalidArgument(
            f"verb {verb!r} is not known (use get, list, watch, create, update, patch, delete,"
            " deletecollection or an HTTP method in capitals)"
        )
    parts = (subresource,) if isinstance(subresource, str) else subresource
    part = "/".join([_segment("subresource", each) for each in parts if each])
    _check_target(verb, method, resource, namespace=namespace, name=name, part=part)
    path = api_path(resource.group, resource.version)
    if namespace:
        path += f"/namespaces/{_segment('namespace', namespace)}"
    path += "/" + _segment("resource", resource.plural.lower())
    if name:
        path += "/" + _segment("name", name)
    if part:
        path += "/" + part
    if suffix:
        path += _suffix(suffix)
    return Request(
        method=method,
        path=path,
        params=pairs_of(params),
        headers=_pairs(headers),
        body=body,
        content_type=content_type,
        accept=accept,
        timeout=timeout,
        timeouts=timeouts,
        max_retries=max_retries,
        verb=verb,
        resource=GroupResource(resource.group, resource.plural),
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

    A slash at the end counts where there is one segment: `/healthz/` stays what it is.
    """
    if _METHODS.get(method) != method:
        raise InvalidArgument(f"{method!r} is not an HTTP method (write it in capitals)")
    return Request(
        method=method,
        path=_absolute(segments),
        params=pairs_of(params),
        headers=_pairs(headers),
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
    """A request for a path with its query, as the server itself hands them out.

    Raises:
        InvalidArgument: it is no URI.
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
            f"request URI {uri!r}: a % that no two hexadecimal digits follow (write it as %25)"
        )
    # path_request escapes the path: one that is escaped already must not be escaped twice.
    return path_request(method, unquote(parts.path), params=pairs, headers=headers, body=body)


def api_path(group: str, version: str) -> str:
    """Where a version of a group lives: `/api/v1` for the core group, else `/apis/apps/v1`."""
    if not group:
        return "/api/" + _segment("version", version)
    return f"/apis/{_segment('group', group)}/{_segment('version', version)}"


def _check_target(
    verb: str, method: str, resource: ResourceInfo, *, namespace: str, name: str, part: str
) -> None:
    what = f"{verb} {resource.plural}"
    if not name and (part or verb in _OF_ONE_OBJECT):
        raise InvalidArgument(f"{what}: the name is empty (say which object)")
    if name and verb in _OF_ALL_OBJECTS:
        raise InvalidArgument(f"{what}: a name, {name!r}, does not belong here (use a selector)")
    if namespace and not resource.namespaced:
        raise InvalidArgument(
            f"{what} in {namespace!r}: {resource.plural} are in no namespace (leave it out)"
        )
    if namespace or not resource.namespaced:
        return
    if method == "POST" or (name and method in {"GET", "PUT", "DELETE"}):
        raise InvalidArgument(f"{what}: the namespace is empty (say in which one)")


def _segment(what: str, text: str) -> str:
    """`text` as one part of a path, escaped."""
    if not isinstance(text, str):  # an object that is a dict may say anything
        raise InvalidArgument(f"{what} in a path: a {type(text).__name__} is no text")
    if not text or "/" in text or "%" in text or text in {".", ".."}:
        fault = f"{text!r} is not allowed" if text else "it is empty"
        raise InvalidArgument(
            f"{what} in a path: {fault} (neither '.' nor '..', and no '/' or '%' in it)"
        )
    if text.isalnum() and text.isascii():
        return text
    try:
        return quote(text, safe="$&+,:;=@")
    except UnicodeEncodeError as error:  # an argument of a program may be bytes of any kind
        raise InvalidArgument(f"{what} in a path: {text!r} is not UTF-8 (write it anew)") from error


def _suffix(text: str) -> str:
    parts = text.strip("/").split("/")
    if ".." in parts or "." in parts:
        raise InvalidArgument(f"suffix {text!r} in a path: '.' and '..' are not allowed")
    slash = "/" if text.endswith("/") and text != "/" else ""
    return "/" + quote("/".join(parts), safe=_PLAIN) + slash


def _absolute(segments: tuple[str, ...]) -> str:
    path = _clean("/".join(filter(None, segments)))
    if path and not path.startswith(("/", "..")):
        path = "/" + path
    if len(segments) == 1 and segments[0].endswith("/") and not path.endswith("/"):
        path += "/"
    return quote(path, safe=_PLAIN)


def _clean(path: str) -> str:
    """Without empty and climbing parts; a path that climbs above its start keeps the dots."""
    if not path:
        return ""
    cleaned = posixpath.normpath(path)
    if cleaned.startswith("//"):  # POSIX lets two slashes be
        cleaned = cleaned[1:]
    return "" if cleaned == "." else cleaned


def _climbed(stem: str, path: str) -> str:
    scheme, _, rest = stem.partition("://")
    host, _, below = rest.partition("/")
    return f"{scheme}://{host}{posixpath.normpath(f'/{below}/{path}')}"


def _pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    if not headers:
        return ()
    pairs = tuple(headers.items() if isinstance(headers, Mapping) else headers)
    for name, value in pairs:
        if any(character in name + value for character in "\r\n\0"):
            raise InvalidArgument(f"header {name[:80]}: a line break does not belong into a header")
    return pairs
