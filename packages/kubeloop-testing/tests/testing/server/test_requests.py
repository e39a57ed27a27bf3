"""Paths, queries and media types, parsed without a server."""

from __future__ import annotations

import pytest

from kubeloop_testing.server.registry import Registry
from kubeloop_testing.server.request.calls import Call
from kubeloop_testing.server.request.negotiation import (
    PROTOBUF,
    YAML,
    MediaTypeOptions,
    body_type,
    check_route,
    format_body,
    is_pretty,
    negotiate,
    negotiate_plain,
    negotiate_watch,
)
from kubeloop_testing.server.request.options import Query, list_options, write_options
from kubeloop_testing.server.request.requests import ResourcePath, parse_resource_path, verb_of
from kubeloop_testing.server.statuses import Cause, StatusError, invalid


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", ResourcePath("", "v1", "pods")),
        ("/api/v1/namespaces/x", ResourcePath("", "v1", "namespaces", name="x")),
        (
            "/api/v1/namespaces/x/status",
            ResourcePath("", "v1", "namespaces", name="x", subresource="status"),
        ),
        ("/api/v1/namespaces/x/pods", ResourcePath("", "v1", "pods", "x")),
        (
            "/apis/apps/v1/namespaces/x/deployments/web/scale",
            ResourcePath("apps", "v1", "deployments", "x", "web", "scale"),
        ),
        (
            "/api/v1/namespaces/x/pods/a%2Fb",
            ResourcePath("", "v1", "pods", "x", "a/b"),
        ),
        (
            "/api/v1/watch/namespaces/x/pods",
            ResourcePath("", "v1", "pods", "x", watch=True),
        ),
        (
            "/api/v1/namespaces/x/services/s/proxy/a/b",
            ResourcePath("", "v1", "services", "x", "s", "proxy", "a/b"),
        ),
        ("/apis/apps/v1", ResourcePath("apps", "v1")),
        ("/api/v1/namespaces//pods", None),
        ("/apis/apps", None),
        ("/healthz", None),
        ("/", None),
    ],
)
def test_a_path_names_a_resource_or_nothing(path: str, expected: ResourcePath | None) -> None:
    assert parse_resource_path(path) == expected


@pytest.mark.parametrize(
    ("method", "name", "subresource", "verb"),
    [
        ("GET", "", "", "list"),
        ("HEAD", "web", "", ""),
        ("POST", "", "", "create"),
        ("POST", "web", "", ""),
        ("POST", "web", "eviction", "create"),
        ("PUT", "web", "", "update"),
        ("PUT", "", "", ""),
        ("PATCH", "web", "", "patch"),
        ("DELETE", "", "", "deletecollection"),
        ("BREW", "web", "", ""),
    ],
)
def test_a_method_is_a_verb_or_nothing(method: str, name: str, subresource: str, verb: str) -> None:
    path = ResourcePath("", "v1", "pods", "default", name, subresource)

    assert verb_of(method, path, watch=False) == verb


@pytest.mark.parametrize(
    ("text", "value"), [("", True), ("1", True), ("yes", True), ("FALSE", False), ("0", False)]
)
def test_a_flag_is_true_unless_it_says_false(text: str, value: bool) -> None:
    assert Query([("watch", text)]).flag("watch") is value


@pytest.mark.parametrize(
    ("kind", "query", "message"),
    [
        (
            "CreateOptions",
            ("dryRun", "Some"),
            'dryRun: Unsupported value: ["Some"]: supported values: "All"',
        ),
        (
            "UpdateOptions",
            ("fieldValidation", "x"),
            'supported values: "", "Ignore", "Strict", "Warn"',
        ),
        ("UpdateOptions", ("fieldManager", "x" * 200), "fieldManager: Too long"),
        ("UpdateOptions", ("fieldManager", "a\tb"), "invalid character U+0009 (at position 1)"),
        ("PatchOptions", ("force", "true"), "force: Forbidden: may not be specified for non-apply"),
    ],
)
def test_options_outside_the_rules_are_invalid(
    kind: str, query: tuple[str, str], message: str
) -> None:
    with pytest.raises(StatusError) as error:
        write_options(Query([query]), kind)

    assert error.value.code == 422
    assert error.value.status["message"].startswith(f'{kind}.meta.k8s.io "" is invalid: ')
    assert message in error.value.status["message"]


def test_the_manager_is_named_or_the_start_of_the_user_agent() -> None:
    pods = Registry().find("", "v1", "pods")
    assert pods is not None
    unnamed = write_options(Query(), "CreateOptions")
    named = write_options(Query([("fieldManager", "me")]), "CreateOptions")

    assert Call(pods, options=unnamed, agent="kubectl/v1.37 (linux)").manager == "kubectl"
    assert Call(pods, options=named, agent="kubectl/v1.37").manager == "me"


def test_a_negative_timeout_is_no_missing_one() -> None:
    assert list_options(Query([("timeoutSeconds", "-5")]), watch=True).timeout == -5


@pytest.mark.parametrize(
    ("accept", "media", "target"),
    [
        ("", "application/json", ""),
        ("*/*", "application/json", ""),
        ("application/vnd.kubernetes.protobuf,application/json", PROTOBUF, ""),
        (f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io,application/json", "application/json", ""),
        (
            f"{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            PROTOBUF,
            "PartialObjectMetadata",
        ),
        ("application/yaml", "application/yaml", ""),
        ("application/json;q=0.5,application/yaml;q=0.9", "application/yaml", ""),
        ("*/*,application/yaml", "application/yaml", ""),
        ("nonsense,application/yaml;q=0", "application/yaml", ""),
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            "application/json",
            "Table",
        ),
        (
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
            "application/json",
            "Table",
        ),
        (
            "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
            "application/json",
            "",
        ),
    ],
)
def test_the_best_acceptable_form_wins(accept: str, media: str, target: str) -> None:
    found = negotiate(accept)

    assert (found.media, found.target) == (media, target)


@pytest.mark.parametrize("accept", ["text/html", "application/cbor"])
def test_what_cannot_be_given_is_not_acceptable(accept: str) -> None:
    with pytest.raises(StatusError) as error:
        negotiate(accept)

    assert error.value.code == 406


def test_objects_of_crds_have_no_protobuf_but_their_metadata_has() -> None:
    metadata = f"{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

    assert negotiate(f"{PROTOBUF},application/json", custom=True).media == "application/json"
    assert negotiate(metadata, custom=True).media == PROTOBUF
    with pytest.raises(StatusError, match="only the following media types"):
        negotiate(PROTOBUF, custom=True)


@pytest.mark.parametrize("accept", ["", "*/*", "text/html, application/yaml;q=0"])
def test_a_route_passes_what_its_handler_may_answer(accept: str) -> None:
    check_route(accept)


@pytest.mark.parametrize("accept", ["application/*", "text/html", "application/cbor"])
def test_a_route_knows_no_wildcards_of_subtypes(accept: str) -> None:
    with pytest.raises(StatusError, match="406: Not Acceptable"):
        check_route(accept)


def test_a_watch_is_never_yaml() -> None:
    with pytest.raises(StatusError, match="application/json;stream=watch"):
        negotiate_watch("application/yaml")


def test_an_error_has_one_representation() -> None:
    assert negotiate_plain("application/json;as=Table;v=v1;g=meta.k8s.io,*/*").target == ""
    with pytest.raises(StatusError):
        negotiate_plain("application/json;as=Table;v=v1;g=meta.k8s.io")


@pytest.mark.parametrize(
    ("path", "agent", "pretty"),
    [
        ("/api", "curl/8.5.0", True),
        ("/api", "Wget/1.21", True),
        ("/api", "Mozilla/5.0 (X11)", True),
        ("/api", "kubectl/v1.37.1", False),
        ("/api", "", False),
        ("/api?pretty=true", "", True),
        ("/api?limit=1&pretty=1", "", True),
        ("/api?pretty=false", "curl/8.5.0", False),
        ("/api?pretty=yes", "curl/8.5.0", False),
        ("/api?pretty=", "curl/8.5.0", True),
    ],
)
def test_people_get_indented_json_unless_they_say_otherwise(
    path: str, agent: str, pretty: bool
) -> None:
    assert is_pretty(path, agent) is pretty


def test_compact_json_ends_with_a_newline_and_indented_json_does_not() -> None:
    body = b'{"b":{"c":[]},"a":1}'

    assert format_body(body, MediaTypeOptions(), pretty=False) == body + b"\n"
    assert format_body(body, MediaTypeOptions(), pretty=True) == (
        b'{\n  "b": {\n    "c": []\n  },\n  "a": 1\n}'
    )
    assert format_body(body, MediaTypeOptions(YAML), pretty=True) == b"a: 1\nb:\n  c: []\n"


def test_a_body_without_a_type_is_json() -> None:
    assert body_type("") == body_type("application/json; charset=utf-8") == "application/json"


def test_several_causes_are_listed_in_brackets_and_equal_ones_once() -> None:
    """API-C15: the type of a cause is under the key `reason`."""
    cause = Cause("spec.x", "FieldValueRequired", "Required value")
    other = Cause("spec.y", "FieldValueInvalid", "Invalid value: 1: no")

    error = invalid("apps", "Deployment", "web", [cause, cause, other])

    assert error.status["message"] == (
        'Deployment.apps "web" is invalid: [spec.x: Required value, spec.y: Invalid value: 1: no]'
    )
    assert len(error.status["details"]["causes"]) == 3
    assert error.status["details"]["causes"][0]["reason"] == "FieldValueRequired"
    assert error.status["details"]["kind"] == "Deployment"
