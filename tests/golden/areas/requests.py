"""URLs of requests, their parameters, and the meaning of error responses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from kubeloop import errors
from kubeloop.config import ClusterConfig
from kubeloop.errors import ApiError, api_error, is_api_error, status_from_object, suggested_delay
from kubeloop.rest import (
    JsonCodec,
    api_path,
    encode_query,
    error_of,
    is_success,
    path_request,
    query_options,
    resource_request,
    uri_request,
)
from kubeloop.rest.query import pairs_of
from kubeloop.wire import ResourceInfo
from tests.golden.case import Area, Case

_CODES = [400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 418, 422, 429]
_CODES += [500, 501, 502, 503, 504, 505, 599]
_STATUS: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
_BODIES: list[tuple[str, str]] = [
    ("", ""),
    ("text/plain", "no"),
    ("text/html; charset=utf-8", "<html>"),
    ("application/json", "{}"),
    ("application/json", json.dumps({**_STATUS, "message": "no"})),
    ("application/json", json.dumps({**_STATUS, "reason": "NotFound", "code": 404})),
    ("application/json", json.dumps({**_STATUS, "reason": "Expired", "code": 410})),
    ("application/json", json.dumps({**_STATUS, "reason": "Unheard", "code": 499})),
    (
        "application/json",
        json.dumps(
            {
                **_STATUS,
                "reason": "ServerTimeout",
                "code": 500,
                "details": {"retryAfterSeconds": 7, "causes": [{"reason": "FieldValueInvalid"}]},
            }
        ),
    ),
    ("application/json", json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Success"})),
    ("application/json", json.dumps({"kind": "Pod", "apiVersion": "v1"})),
    ("application/json", "not json"),
]
_REASONS = [
    *("", "Unauthorized", "Forbidden", "NotFound", "AlreadyExists", "Conflict", "Gone", "Invalid"),
    *("ServerTimeout", "StorageReadError", "Timeout", "TooManyRequests", "BadRequest"),
    *("MethodNotAllowed", "NotAcceptable", "RequestEntityTooLarge", "UnsupportedMediaType"),
    *("InternalError", "Expired", "ServiceUnavailable", "Unknown", "Else"),
]
_SEGMENTS = ["web", "a b", "a/b", "..", ".", "%", "é", "a:b", "a?b", "a#b", "A", "a+b", "a&b", "~"]
_BASES = ["http://h", "http://h/", "https://h:6443", "http://h/prefix", "http://h/prefix/", "h"]
_HOSTS = [
    *("h", "h:80", "http://h", "https://h", "https://h/", "https://h/p", "https://h/p/", "h/p"),
    *(
        "",
        "://",
        "http://",
        "h:port",
        "http://h:port",
        "http://[::1]",
        "[::1]:80",
        "::1",
        "http:// h",
    ),
    *("https://h?a=b", "https://h/p?a=b", "ftp://h", "https://u:p@h", "https://h#f", "1.2.3.4:443"),
]


def _list_options() -> Iterator[dict[str, Any]]:
    yield {}
    options: dict[str, list[Any]] = {
        "labelSelector": ["", "a=b", "a in (b,c)", "a b&c"],
        "fieldSelector": ["", "a=b"],
        "resourceVersion": ["", "0", "5"],
        "resourceVersionMatch": ["", "Exact"],
        "continue": ["", "a b/c=="],
        "limit": [0, 5, -1],
        "timeoutSeconds": [0, 30],
        "watch": [True, False],
        "allowWatchBookmarks": [True, False],
        "sendInitialEvents": [True, False],
    }
    for name, values in options.items():
        for value in values:
            yield {name: value}
    yield {"labelSelector": "x=y", "limit": 500, "continue": "abc", "watch": True}


def _log_options() -> Iterator[dict[str, Any]]:
    options: dict[str, list[Any]] = {
        "container": ["", "web"],
        "follow": [True, False],
        "previous": [True],
        "sinceSeconds": [0, 5],
        "timestamps": [True, False],
        "tailLines": [0, 10],
        "limitBytes": [0, 100],
        "stream": ["All"],
    }
    for name, values in options.items():
        for value in values:
            yield {name: value}


def _exec_options() -> Iterator[dict[str, Any]]:
    yield {"command": ["sh", "-c", "echo a b"], "stdout": True, "stderr": True}
    yield {"command": [], "stdin": True, "tty": True, "container": "web"}
    yield {"command": ["", "a"], "stdout": False}


def _cases() -> Iterator[Case]:
    for code, (content_type, body) in itertools.product(_CODES, _BODIES):
        if code not in (400, 410) and ('"message": "no"' in body or "Expired" in body):
            continue  # each of them differs: two codes show it
        given = {"method": "GET", "code": code, "contentType": content_type, "body": body}
        yield Case("errors.ofAnswer", {**given, "retryAfter": ""})
    for code, method in itertools.product((403, 404, 405, 409, 500), ("POST", "PUT", "DELETE")):
        given = {"method": method, "code": code, "contentType": "", "body": "", "retryAfter": ""}
        yield Case("errors.ofAnswer", given)
    for code, retry in itertools.product(
        (404, 429, 500, 503, 504),
        ("0", "1", "30", "-1", "x", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT"),
    ):
        given = {"method": "GET", "code": code, "contentType": "", "body": "", "retryAfter": retry}
        yield Case("errors.ofAnswer", given)
    for code in (200, 201, 202, 204, 206, 207, 299, 300, 301, 304, 307, 399):
        given = {"method": "GET", "code": code, "contentType": "application/json", "retryAfter": ""}
        yield Case("errors.ofAnswer", {**given, "body": '{"kind": "Pod", "apiVersion": "v1"}'})
    for reason, code in itertools.product(_REASONS, (0, 404, 413, 429, 500)):
        yield Case("errors.ofStatus", {**_STATUS, "reason": reason, "code": code})
    for reason, seconds in itertools.product(_REASONS, (0, 7)):
        details = {"retryAfterSeconds": seconds, "causes": [{"reason": "FieldManagerConflict"}]}
        yield Case("errors.ofStatus", {**_STATUS, "reason": reason, "details": details})
    yield from _addresses()


def _addresses() -> Iterator[Case]:
    plain = {"verb": "GET", "group": "", "version": "v1", "resource": "pods", "base": "http://h"}
    for name, sub in itertools.product(["", *_SEGMENTS], ([], ["status"], ["a/b"], ["exec", "x"])):
        yield Case(
            "request.path",
            {
                **plain,
                "namespace": "shop",
                "name": name,
                "subresource": sub,
                "suffix": "",
                "params": [],
            },
        )
    for namespace, group, base in itertools.product(_SEGMENTS, ("", "apps"), _BASES):
        yield Case(
            "request.path",
            {
                **plain,
                "namespace": namespace,
                "group": group,
                "base": base,
                "name": "web",
                "subresource": [],
                "suffix": "",
                "params": [],
            },
        )
    for suffix in ("a", "/a", "a/b", "a/", "/", "a b", "é", "a?b", "..", "a/../b", "a//b", "%41"):
        yield Case(
            "request.path",
            {
                **plain,
                "namespace": "shop",
                "name": "web",
                "subresource": ["proxy"],
                "suffix": suffix,
                "params": [],
            },
        )
    for params in (
        [["a", "b"]],
        [["b", "1"], ["a", "2"]],
        [["a", "1"], ["a", "2"]],
        [["a", "b c"], ["d", "é&="]],
        [["a", ""]],
        [["", "a"]],
        [["a b", "~*'()"]],
    ):
        yield Case(
            "request.path",
            {
                **plain,
                "namespace": "",
                "name": "",
                "subresource": [],
                "suffix": "",
                "params": params,
            },
        )
    for base, segments in itertools.product(
        _BASES,
        (
            *(["/healthz"], ["healthz"], ["/healthz/"], ["a", "b"], ["/a/", "/b/"], ["a//b"], [""]),
            *(["/"], [], ["a b"], ["é"], ["/a/../b"], ["a", ""], ["a?b"], ["%41"], ["/api/v1/"]),
        ),
    ):
        yield Case("request.absolute", {**plain, "base": base, "segments": segments})
    yield from _uris_and_options(plain)


def _uris_and_options(plain: dict[str, str]) -> Iterator[Case]:
    for uri in (
        "/a",
        "/a?b=c",
        "a?b=c",
        "/a?b=c&b=d",
        "/a?b",
        "/a?",
        "",
        "?a=b",
        "/a b",
        "/é",
        "/%41",
    ):
        yield Case("request.uri", {**plain, "uri": uri})
    for uri in ("/a?c=1&b=2", "http://other/a", "/a#b", "/a?b=%zz", "/%zz", "//x/a", "/a?b=c+d"):
        yield Case("request.uri", {**plain, "uri": uri})
    for options in _list_options():
        yield Case("request.listOptions", options)
    for options in _log_options():
        yield Case("request.logOptions", options)
    for options in _exec_options():
        yield Case("request.execOptions", options)
    for host, tls in itertools.product(_HOSTS, (True, False)):
        yield Case("server.url", {"Host": host, "TLS": tls})
    for group, version in itertools.product(("", "apps", "a.b"), ("v1", "v2beta1")):
        yield Case("server.apiPath", [group, version])


_KINDS = [
    *("AlreadyExists", "BadRequest", "Conflict", "Expired", "Forbidden", "Gone", "InternalError"),
    *("Invalid", "MethodNotAllowed", "NotAcceptable", "NotFound", "RequestEntityTooLarge"),
    *("ServerTimeout", "ServiceUnavailable", "StorageReadError", "Timeout", "TooManyRequests"),
    *("Unauthorized", "UnsupportedMediaType"),
]


def _failure(error: ApiError) -> Any:
    return {
        "is": [each for each in _KINDS if is_api_error(error, getattr(errors, each))],
        "reason": error.status.reason or "",
        "delay": suggested_delay(error),
        "code": error.status.code or 0,
        "causes": [each.reason or "" for each in error.causes],
    }


def _from_response(given: Any) -> Any:
    if is_success(given["code"]):
        return None
    request = resource_request(
        given["method"], _PODS, namespace="shop", name="" if given["method"] == "POST" else "web"
    )
    headers = {"Content-Type": given["contentType"], "Retry-After": given["retryAfter"]}
    present = {name: value for name, value in headers.items() if value}
    error = error_of(request, given["code"], present, given["body"].encode(), codec=JsonCodec())
    return _failure(error)


_PODS = ResourceInfo(
    group="", version="v1", plural="pods", kind="Pod", singular="pod", namespaced=True, verbs=()
)


def _path(given: Any) -> str:
    info = ResourceInfo(
        group=given["group"],
        version=given["version"],
        plural=given["resource"],
        kind="Pod",
        singular="pod",
        namespaced=True,
        verbs=(),
    )
    request = resource_request(
        given["verb"],
        info,
        namespace=given["namespace"],
        name=given["name"],
        subresource=tuple(given["subresource"]),
        suffix=given["suffix"],
        params=[(key, value) for key, value in given["params"]],
    )
    return request.url(_base(given["base"]))


def _base(host: str) -> str:
    return ClusterConfig(server=host, anonymous=True).base_url


def _encode(given: Any) -> str:
    options = {_snake(name): value for name, value in given.items()}
    return encode_query(pairs_of(query_options(**options)))


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _server(given: Any) -> str:
    # A configuration has certificates or not; that decides where no scheme is given.
    config = ClusterConfig(
        server=given["Host"], anonymous=True, insecure_skip_tls_verify=given["TLS"]
    )
    return config.base_url.rstrip("/") + "/api/v1"


AREA = Area(
    _cases,
    {
        "errors.ofAnswer": _from_response,
        "errors.ofStatus": lambda given: _failure(api_error("GET pods", status_from_object(given))),
        "request.path": _path,
        "request.absolute": lambda given: path_request("GET", *given["segments"]).url(
            _base(given["base"])
        ),
        "request.uri": lambda given: uri_request("GET", given["uri"]).url(_base(given["base"])),
        "request.listOptions": _encode,
        "request.logOptions": _encode,
        "request.execOptions": _encode,
        "server.url": _server,
        "server.apiPath": lambda given: api_path(*given),
    },
)
