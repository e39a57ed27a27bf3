"""Requests by their whole URL."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop.rest import (
    APPLY_PATCH,
    APPLY_PATCH_CBOR,
    JSON_PATCH,
    MAX_RETRIES,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    Request,
    Timeouts,
    api_path,
    encode_query,
    path_request,
    query_options,
    resource_request,
    uri_request,
)
from kubeloop.wire import ResourceInfo
from tests.support.scripted_server import DEPLOYMENTS, NODES, PODS

BASE = "https://h:6443/"


def test_the_request_line_is_the_one_that_go_makes() -> None:
    """V-8: namespace, lower-cased resource, name, sorted parameters, the timeout replaced."""
    pods = msgspec.structs.replace(PODS, plural="Pods")

    request = resource_request(
        "get", pods, namespace="ns", name="n", timeout=90, params={"a": 1, "timeout": "zz"}
    )

    assert request.url("https://h/p1") == (
        "https://h/p1/api/v1/namespaces/ns/pods/n?a=1&timeout=1m30s"
    )


@pytest.mark.parametrize(
    ("verb", "method", "resource", "options", "path"),
    [
        ("create", "POST", PODS, {"namespace": "shop"}, "/api/v1/namespaces/shop/pods"),
        ("get", "GET", PODS, {"namespace": "s", "name": "w"}, "/api/v1/namespaces/s/pods/w"),
        ("list", "GET", PODS, {}, "/api/v1/pods"),
        ("watch", "GET", PODS, {"namespace": "shop"}, "/api/v1/namespaces/shop/pods"),
        ("update", "PUT", NODES, {"name": "n1"}, "/api/v1/nodes/n1"),
        (
            "patch",
            "PATCH",
            DEPLOYMENTS,
            {"namespace": "s", "name": "w", "subresource": "scale"},
            "/apis/apps/v1/namespaces/s/deployments/w/scale",
        ),
        ("delete", "DELETE", NODES, {"name": "n1"}, "/api/v1/nodes/n1"),
        (
            "deletecollection",
            "DELETE",
            DEPLOYMENTS,
            {"namespace": "s"},
            "/apis/apps/v1/namespaces/s/deployments",
        ),
        (
            "create",
            "POST",
            PODS,
            {"namespace": "s", "name": "w", "subresource": "eviction"},
            "/api/v1/namespaces/s/pods/w/eviction",
        ),
        (
            "POST",
            "POST",
            PODS,
            {"namespace": "s", "name": "w", "subresource": "proxy", "suffix": "/a b/c/"},
            "/api/v1/namespaces/s/pods/w/proxy/a%20b/c/",
        ),
    ],
)
def test_each_verb_has_its_method_and_its_path(
    verb: str, method: str, resource: ResourceInfo, options: dict[str, Any], path: str
) -> None:
    """REST-4, REST-13: `/api` for the core group, `/apis` for the others."""
    request = resource_request(verb, resource, **options)

    assert (request.method, request.url(BASE)) == (method, f"https://h:6443{path}")


def test_subresource_segments_and_a_suffix_come_last() -> None:
    """REST-C4: Name, resource, namespace set in any order give `/test/namespaces/foo/baz/bar`."""
    request = resource_request(
        "get", PODS, namespace="foo", name="bar", subresource=("a", "b"), suffix="test"
    )

    assert request.path == "/api/v1/namespaces/foo/pods/bar/a/b/test"


@pytest.mark.parametrize("bad", [".", "..", "test/segment", "test%2bsegment"])
@pytest.mark.parametrize("field", ["name", "namespace", "subresource", "resource"])
def test_a_segment_that_could_lead_elsewhere_is_rejected(field: str, bad: str) -> None:
    """REST-16, REST-C5: path safety for all four."""
    options: dict[str, Any] = {"namespace": "ns", "name": "n"}
    resource = PODS
    if field == "resource":
        resource = msgspec.structs.replace(PODS, plural=bad)
    else:
        options[field] = bad

    with pytest.raises(InvalidArgument, match="is not allowed"):
        resource_request("get", resource, **options)


def test_a_suffix_cannot_climb_out_of_its_object() -> None:
    """REST-16: what is proxied stays below the proxy."""
    with pytest.raises(InvalidArgument, match=r"'\.\.'"):
        resource_request(
            "get", PODS, namespace="ns", name="n", subresource="proxy", suffix="a/../../../secrets"
        )


@pytest.mark.parametrize("verb", ["get", "update", "patch", "delete"])
def test_one_object_needs_a_name(verb: str) -> None:
    """REST-15: name must not be empty. Namespace may be set to empty."""
    with pytest.raises(InvalidArgument, match="the name is empty"):
        resource_request(verb, PODS, namespace="ns")


def test_a_name_does_not_belong_to_a_collection() -> None:
    """REST-15: deleting a collection with a name would delete more than was meant."""
    with pytest.raises(InvalidArgument, match="takes no name"):
        resource_request("deletecollection", PODS, namespace="ns", name="web")


@pytest.mark.parametrize(
    ("verb", "name"), [("create", ""), ("get", "n"), ("update", "n"), ("delete", "n")]
)
def test_an_object_in_a_namespace_needs_the_namespace(verb: str, name: str) -> None:
    """REST-19: POST, and GET, PUT, DELETE with a name."""
    with pytest.raises(InvalidArgument, match="the namespace is empty"):
        resource_request(verb, PODS, name=name)


@pytest.mark.parametrize(("verb", "name"), [("patch", "n"), ("list", ""), ("watch", "")])
def test_patch_list_and_watch_may_leave_the_namespace_out(verb: str, name: str) -> None:
    """REST-19: these are not checked."""
    request = resource_request(verb, PODS, name=name)

    assert "namespaces" not in request.path


def test_a_namespace_for_what_is_in_none_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="are not namespaced"):
        resource_request("get", NODES, namespace="ns", name="n")


def test_an_unknown_verb_is_rejected() -> None:
    """REST-12: a mistake is raised when the request is made, not when it is sent."""
    with pytest.raises(InvalidArgument, match="unknown verb"):
        resource_request("fetch", PODS, namespace="ns")
    with pytest.raises(InvalidArgument, match="not an HTTP method"):
        path_request("get", "/version")


@pytest.mark.parametrize(("group", "version"), [("", ""), ("apps", ""), ("a/b", "v1")])
def test_a_resource_without_a_version_is_rejected(group: str, version: str) -> None:
    """REST-1: before anything is opened."""
    with pytest.raises(InvalidArgument, match="in a path"):
        api_path(group, version)


def test_names_with_odd_characters_are_escaped_as_go_does() -> None:
    request = resource_request("get", NODES, name="system:node:é x!")

    assert request.path == "/api/v1/nodes/system:node:%C3%A9%20x%21"


@pytest.mark.parametrize(
    ("base", "segments", "path"),
    [
        ("https://h/", ("",), "/"),
        ("https://h", ("/",), "/"),
        ("https://h", ("/api/",), "/api/"),
        ("https://h/p1", ("",), "/p1"),
        ("https://h/p1", ("/",), "/p1/"),
        ("https://h/p1/api/p2", ("/api/",), "/p1/api/p2/api/"),
        ("https://h", ("foo/bar", "baz"), "/foo/bar/baz"),
        ("https://h", ("foo/bar/", "baz/"), "/foo/bar/baz"),
        ("https://h/p1/", ("//x//y",), "/p1/x/y"),
    ],
)
def test_an_absolute_path_is_below_the_base(
    base: str, segments: tuple[str, ...], path: str
) -> None:
    """REST-5, REST-17, REST-C2: the prefix is kept, a final slash only after a single segment."""
    assert path_request("GET", *segments).url(base) == f"https://h{path}"


def test_a_request_uri_may_climb_above_the_base() -> None:
    """REST-C3: RequestURI `../test?x=1` under base `/context` resolves to `/test`."""
    assert uri_request("GET", "../test?x=1").url("https://h/context/") == "https://h/test?x=1"


def test_a_request_uri_brings_its_query_with_repeated_keys() -> None:
    """REST-18: `RequestURI(uri)`: parse; path goes through AbsPath."""
    request = uri_request("GET", "/apis/x?b=2&a=1&b=&a=0")

    assert request.params == (("b", "2"), ("a", "1"), ("b", ""), ("a", "0"))
    assert request.url(BASE) == "https://h:6443/apis/x?a=1&a=0&b=2&b="


def test_parameters_add_up_and_are_sorted_by_key() -> None:
    """REST-20: query parameters are additive."""
    request = resource_request("list", PODS, params=[("resourceVersion", "1"), ("b", "x y&z")])

    added = request.with_params({"resourceVersion": 2, "a": ["1", "2"]})

    assert added.query() == "a=1&a=2&b=x+y%26z&resourceVersion=1&resourceVersion=2"


def test_options_leave_out_what_is_zero_unless_zero_means_something() -> None:
    """REST-21: VersionedParams encodes an options object."""
    sent = query_options(
        label_selector="app=web",
        field_selector="",
        limit=0,
        continue_="token",
        watch=True,
        allow_watch_bookmarks=False,
        timeout_seconds=0,
        send_initial_events=False,
        resource_version=None,
        dry_run=["All"],
    )

    assert sent == {
        "labelSelector": "app=web",
        "continue": "token",
        "watch": "true",
        "timeoutSeconds": "0",
        "sendInitialEvents": "false",
        "dryRun": ["All"],
    }


def test_what_cannot_be_in_a_url_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="expected a string, a number or a Boolean"):
        resource_request("list", PODS, params={"a": {"b": 1}})


def test_the_query_is_encoded_as_go_does() -> None:
    assert encode_query([("k", "a b+c/d~e_f-g.h*")]) == "k=a+b%2Bc%2Fd~e_f-g.h%2A"


@pytest.mark.parametrize(
    ("own", "default", "query"),
    [
        (None, 7.0, "timeout=7s"),
        (0, 7.0, ""),
        (None, 0.0, ""),
        (300, 7.0, "timeout=5m0s"),
        (0.5, 0.0, "timeout=500ms"),
    ],
)
def test_a_timeout_is_sent_to_the_server_in_go_s_notation(
    own: float | None, default: float, query: str
) -> None:
    """REST-41, REST-42, V-9: the client's default, unless the request has its own, or none."""
    request = resource_request("list", PODS, timeout=own)

    assert request.query(timeout=default) == query


def test_headers_may_be_given_more_than_once() -> None:
    """REST-22: SetHeader replaces all values of that header."""
    request = path_request(
        "GET", "/x", headers=[("Impersonate-Group", "a"), ("Impersonate-Group", "b")]
    )

    assert request.headers == (("Impersonate-Group", "a"), ("Impersonate-Group", "b"))


@pytest.mark.parametrize("value", ["a\r\nEvil: yes", "a\nb", "a\0b"])
def test_a_header_cannot_carry_another_one(value: str) -> None:
    with pytest.raises(InvalidArgument, match="header X-Y"):
        path_request("GET", "/x", headers={"X-Y": value})


def test_the_types_of_patches_have_the_api_s_names() -> None:
    """REST-51: patch content types: `application/json-patch+json`."""
    assert {JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH, APPLY_PATCH_CBOR} == {
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
        "application/apply-patch+cbor",
    }


@pytest.mark.parametrize(
    ("request_", "action"),
    [
        (
            resource_request("update", DEPLOYMENTS, namespace="shop", name="web"),
            "PUT deployments/web in shop",
        ),
        (resource_request("watch", PODS), "WATCH pods"),
        (resource_request("get", NODES, name="n", subresource="status"), "GET nodes/n/status"),
        (path_request("GET", "/version"), "GET /version"),
    ],
)
def test_the_action_says_what_is_tried(request_: Request, action: str) -> None:
    assert request_.action == action


def test_printing_a_request_shows_neither_body_nor_headers() -> None:
    request = path_request("POST", "/x", headers={"Authorization": "Bearer s3cret"}, body=b"s3cret")

    assert "s3cret" not in repr(request)
    assert repr(request) == "Request(POST /x, 6 bytes)"


def test_the_defaults_are_those_of_the_contract() -> None:
    """REST-24, X-8: the defaults are public."""
    assert MAX_RETRIES == 10
    assert api_path("", "v1") == "/api/v1"
    assert api_path("apps", "v1") == "/apis/apps/v1"


def test_no_timeout_is_infinite_by_default() -> None:
    assert None not in msgspec.structs.astuple(Timeouts())
    assert Timeouts(idle=None).idle is None
    with pytest.raises(InvalidArgument, match="idle=0"):
        Timeouts(idle=0)


def test_what_is_not_utf_8_is_rejected_before_it_is_sent() -> None:
    """An argument of a program may be bytes of any kind."""
    with pytest.raises(InvalidArgument, match="not valid UTF-8"):
        resource_request("get", PODS, namespace="shop", name="\udcff")
    with pytest.raises(InvalidArgument, match="not valid UTF-8"):
        path_request("GET", "/x", params={"fieldSelector": "a=\udcff"}).url("http://h")


@given(st.text(min_size=1) | st.text("a.-/%:", min_size=1))
def test_any_name_is_one_escaped_segment_or_an_error(name: str) -> None:
    try:
        request = resource_request("get", PODS, namespace="shop", name=name)
    except InvalidArgument:
        assert {"/", "%"} & set(name) or name in {".", ".."}
        return
    assert request.path == "/api/v1/namespaces/shop/pods/" + quote(name, safe="$&+,:;=@")
