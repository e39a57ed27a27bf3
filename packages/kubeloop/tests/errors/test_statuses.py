"""Making and reading a Status."""

from __future__ import annotations

import pytest

from kubeloop.errors import (
    CODES,
    Cause,
    UnexpectedObject,
    api_error,
    failure,
    status_from_object,
    status_from_response,
)
from kubeloop.meta import GroupResource

PODS = GroupResource("", "pods")
DEPLOYMENTS = GroupResource("apps", "deployments")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (405, "MethodNotAllowed"),
        (406, "NotAcceptable"),
        (409, "Conflict"),
        (415, "UnsupportedMediaType"),
        (422, "Invalid"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (502, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
        (599, "InternalError"),
        (410, ""),
        (418, ""),
        (302, ""),
    ],
)
def test_a_code_without_a_status_has_a_reason(code: int, reason: str) -> None:
    """REST-58: reasons of HTTP codes without a Status."""
    status = status_from_response(code, verb="GET")

    assert (status.code, status.reason, status.status) == (code, reason, "Failure")
    assert status.message is not None


def test_a_conflict_means_that_the_object_exists_when_it_was_to_be_created() -> None:
    """REST-58, REST-C10: 409 is AlreadyExists for POST."""
    assert status_from_response(409, verb="POST").reason == "AlreadyExists"
    assert status_from_response(409, verb="PUT").reason == "Conflict"


@pytest.mark.parametrize("code", [403, 406, 415])
def test_some_messages_are_the_servers_own(code: int) -> None:
    """REST-58, REST-C12: messages of HTTP codes without a Status."""
    status = status_from_response(code, verb="GET", content_type="text/any", body=b" because \n")

    assert status.message == "because"


def test_401_has_a_message_of_kubeloop() -> None:
    """REST-C12: 401 has a message of its own."""
    status = status_from_response(401, verb="GET", content_type="text/any", body=b"<html>")

    assert "credentials" in (status.message or "")
    assert "<html>" not in (status.message or "")


@pytest.mark.parametrize(
    ("resource", "name", "ending"),
    [
        (PODS, "web", "(get pods web)"),
        (DEPLOYMENTS, "web", "(get deployments.apps web)"),
        (PODS, "", "(get pods)"),
    ],
)
def test_the_message_ends_with_verb_resource_and_name(
    resource: GroupResource, name: str, ending: str
) -> None:
    """REST-58: reasons of HTTP codes without a Status."""
    status = status_from_response(404, verb="GET", resource=resource, name=name)

    assert (status.message or "").endswith(ending)
    assert status.details is not None
    assert (status.details.group or "", status.details.kind) == (resource.group, resource.resource)


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("", b" plain \n", "plain"),
        ("text/html; charset=utf-8", b"<p>no</p>", "<p>no</p>"),
        ("TEXT/plain", b"", ""),
        ("application/json", b"{}", "unknown"),
        ("application/vnd.kubernetes.protobuf", b"k8s\x00", "unknown"),
        ("text/plain", b"x" * 3000, "x" * 2048),
        ("text/plain", b"\xff", "�"),
    ],
)
def test_only_text_is_taken_from_the_body(content_type: str, body: bytes, text: str) -> None:
    """REST-57: trimmed, and 2048 bytes at most."""
    status = status_from_response(500, verb="GET", content_type=content_type, body=body)

    assert status.details is not None
    (cause,) = status.details.causes
    assert (cause.reason, cause.message) == (Cause.UNEXPECTED_SERVER_RESPONSE, text)
    assert repr(text) in (status.message or "")


def test_the_header_sets_the_delay_before_a_retry() -> None:
    """REST-57: text of errors without a Status."""
    status = status_from_response(429, verb="GET", retry_after=4)

    assert status.details is not None
    assert status.details.retry_after_seconds == 4
    assert api_error("GET pods", status).retry_after == 4


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("NotFound", 404),
        ("AlreadyExists", 409),
        ("Conflict", 409),
        ("Unauthorized", 401),
        ("Forbidden", 403),
        ("Gone", 410),
        ("Expired", 410),
        ("Invalid", 422),
        ("BadRequest", 400),
        ("TooManyRequests", 429),
        ("ServiceUnavailable", 503),
        ("MethodNotAllowed", 405),
        ("ServerTimeout", 500),
        ("InternalError", 500),
        ("Timeout", 504),
        ("RequestEntityTooLarge", 413),
    ],
)
def test_a_reason_has_a_code(reason: str, code: int) -> None:
    """REST-60: codes of reasons."""
    assert CODES[reason] == code
    assert failure(reason, "no").code == code


def test_a_failure_encodes_only_known_details() -> None:
    status = failure("NotFound", 'pods "web" not found', resource=PODS, name="web")

    assert status.to_dict() == {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "message": 'pods "web" not found',
        "reason": "NotFound",
        "details": {"kind": "pods", "name": "web"},
        "code": 404,
    }
    assert "details" not in failure("Gone", "too late").to_dict()


@pytest.mark.parametrize("version", ["v1", "meta.k8s.io/v1"])
def test_an_object_that_says_it_is_a_status_is_one(version: str) -> None:
    """REST-64: which objects are a Status."""
    found = {"kind": "Status", "apiVersion": version, "status": "Failure", "code": 410}

    assert status_from_object(found).code == 410


@pytest.mark.parametrize(
    "found",
    [
        {"kind": "Pod", "apiVersion": "v1"},
        {"kind": "Status", "apiVersion": "v2"},
        {"kind": "Status"},
        {"apiVersion": "v1"},
        {"kind": "Status", "apiVersion": "v1", "code": "many"},
    ],
)
def test_any_other_object_is_unexpected(found: dict[str, object]) -> None:
    """REST-64: which objects are a Status."""
    with pytest.raises(UnexpectedObject, match="unexpected object") as raised:
        status_from_object(found)
    assert raised.value.found is found
