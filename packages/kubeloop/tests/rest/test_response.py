"""A response: decoded as a type, or its error."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from kubeloop.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    DecodeError,
    Forbidden,
    InternalError,
    NotAcceptable,
    NotFound,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
    has_cause,
    suggested_delay,
)
from kubeloop.rest import JsonCodec, Response, error_of, is_success, resource_request
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import Status
from tests.support.scripted_server import PODS

GET = resource_request("get", PODS, namespace="shop", name="web")
POST = resource_request("create", PODS, namespace="shop", body=b"{}")
PUT = resource_request("update", PODS, namespace="shop", name="web", body=b"{}")


class View(msgspec.Struct):
    metadata: dict[str, Any] | None = None


def answer(body: object, content_type: str = "application/json", *, status: int = 200) -> Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(GET, status, {"Content-Type": content_type}, data, JsonCodec())


def refusal(
    code: int, body: object = b"", *, content_type: str = "", request: Any = GET, **headers: str
) -> ApiError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return error_of(request, code, {"Content-Type": content_type} | sent, data, codec=JsonCodec())


def test_a_body_is_decoded_into_the_type_that_is_asked_for() -> None:
    """REST-25, REST-47: terminal calls: Do (decode), DoRaw (bytes), Stream (open body)."""
    read = answer({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}})

    assert read.decode(Pod).metadata.name == "web"
    assert read.decode(dict)["kind"] == "Pod"
    assert json.loads(read.body)["kind"] == "Pod"


def test_without_a_content_type_the_codec_s_own_is_taken() -> None:
    """REST-47: response decoding uses the response Content-Type."""
    assert answer({"kind": "Pod", "apiVersion": "v1"}, "").decode(dict)["kind"] == "Pod"


@pytest.mark.parametrize(("status", "created"), [(200, False), (201, True)])
def test_201_says_that_the_object_is_new(status: int, created: bool) -> None:
    """REST-C13: status code 199 is an error, 201 marks "created", 206 is success."""
    assert answer({}, status=status).created is created


@pytest.mark.parametrize(
    ("status", "success"),
    [(101, True), (199, False), (200, True), (201, True), (206, True), (207, False), (302, False)],
)
def test_success_is_200_to_206_and_switching_protocols(status: int, success: bool) -> None:
    """REST-52, REST-C13: Do/DoRaw: success is 200..206 (and 101 switching protocols)."""
    assert is_success(status) is success


def test_a_status_that_says_no_is_raised_even_with_200() -> None:
    """REST-55: a 200 response with a `Status` of a failure is an error."""
    failed = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": "NotFound",
        "code": 404,
        "message": "gone fishing",
    }

    for kind in (Pod, dict, Status):
        with pytest.raises(NotFound, match="gone fishing"):
            answer(failed).decode(kind)


def test_a_status_that_says_yes_is_a_value() -> None:
    """REST-55: a deletion responds with it."""
    found_text = {"kind": "Status", "apiVersion": "v1", "status": "Success"}

    assert answer(found_text).decode(Status).status == "Success"
    assert answer(found_text).decode(dict)["status"] == "Success"


def test_an_object_that_has_a_status_field_is_no_status() -> None:
    """REST-55: a 200 response with a `Status` of a failure is an error."""
    pod = {"kind": "Pod", "apiVersion": "v1", "status": {"phase": "Running"}}

    assert answer(pod).decode(dict)["status"] == {"phase": "Running"}


def test_an_empty_body_cannot_be_decoded_and_may_be_ignored() -> None:
    """REST-56: into with an empty body is an error mentioning a 0-length response."""
    empty = answer(b"")

    assert empty.body == b""
    with pytest.raises(DecodeError, match="0-length response"):
        empty.decode(Pod)


def test_an_html_page_is_called_what_it_is() -> None:
    """REST-47, REST-C21: no serializer; the decode error itself, not a status error."""
    page = answer(b"<html>log in</html>", "text/html; charset=utf-8")

    with pytest.raises(DecodeError) as caught:
        page.decode(Pod)

    found_text = str(caught.value)
    assert found_text.startswith("GET pods/web in shop: no serializer for content type 'text/html'")
    assert "<html>log in" in found_text
    assert "(does the address belong to the API server" in found_text


def test_invalid_json_is_a_decode_error() -> None:
    """REST-C21: a panic-free decode failure of a success body raises the decode error itself."""
    with pytest.raises(DecodeError, match="GET pods/web in shop: cannot decode the response"):
        answer(b"{nope").decode(Pod)
    with pytest.raises(DecodeError, match="cannot decode the response"):
        answer(b'{"items":[{]}').split()


def test_a_content_type_that_is_none_is_an_internal_error() -> None:
    """REST-47: response decoding uses the response Content-Type."""
    with pytest.raises(InternalError, match="not a media type"):
        answer({}, "a b c").decode(Pod)
    assert type(refusal(404, content_type="/")) is InternalError


@pytest.mark.parametrize("asked_as", ["list", "view"])
def test_a_rejection_is_never_read_as_a_list_or_a_view_with_nothing_in_it(asked_as: str) -> None:
    """REST-55: a 200 response with a `Status` of a failure is an error."""
    refused = answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404})

    with pytest.raises(NotFound):
        refused.split() if asked_as == "list" else refused.decode(View)


@pytest.mark.parametrize("body", [{}, {"message": "log in first"}, {"kind": "Status"}])
def test_an_object_that_is_no_list_is_not_read_as_an_empty_one(body: object) -> None:
    """REST-55: a 200 response with a `Status` of a failure is an error."""
    with pytest.raises(DecodeError, match=r"GET pods/web in shop: .* is not a list"):
        answer(body).split()


def test_a_list_is_split_without_decoding_its_items() -> None:
    split = answer({"metadata": {"resourceVersion": "7", "continue": "t"}, "items": [{}]}).split()

    assert (split.version, split.next_page, len(split.items or [])) == ("7", "t", 1)


@pytest.mark.parametrize(
    ("code", "request_", "kind"),
    [
        (400, GET, BadRequest),
        (401, GET, Unauthorized),
        (403, GET, Forbidden),
        (404, GET, NotFound),
        (406, GET, NotAcceptable),
        (409, POST, AlreadyExists),
        (409, PUT, Conflict),
        (415, GET, UnsupportedMediaType),
        (429, GET, TooManyRequests),
        (500, GET, InternalError),
        (503, GET, ServiceUnavailable),
        (502, GET, InternalError),
        (418, GET, ApiError),
        (199, GET, ApiError),
        (302, GET, ApiError),
    ],
)
def test_without_a_status_the_code_decides(code: int, request_: Any, kind: type[ApiError]) -> None:
    """REST-58, REST-48, REST-C10, REST-C13: mapping HTTP code."""
    error = refusal(code, request=request_)

    assert type(error) is kind
    assert error.code == code


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        ({"kind": "Status", "status": "Failure", "code": 404}, NotFound, 404),
        ({"status": "Failure", "code": 404}, BadRequest, 400),
        ({}, BadRequest, 400),
        ({"kind": "Status", "status": "Success", "code": 200}, BadRequest, 400),
        (b"{not json", BadRequest, 400),
        ([1], BadRequest, 400),
    ],
)
def test_the_server_s_status_wins_where_it_is_one(
    body: object, kind: type[ApiError], code: int
) -> None:
    """REST-53, REST-54, REST-64, REST-C11: error construction order."""
    error = refusal(400, body, content_type="application/json")

    assert (type(error), error.code) == (kind, code)


def test_a_reason_newer_than_us_is_an_error_all_the_same() -> None:
    body = {"kind": "Status", "status": "Failure", "reason": "SunIsShining", "code": 499}

    error = refusal(499, body, content_type="application/json")

    assert (type(error), error.reason) == (ApiError, "SunIsShining")


@pytest.mark.parametrize(
    ("code", "content_type", "body", "part"),
    [
        (403, "text/plain", b" no entry \n", "no entry"),
        (401, "text/any", b"secret page", "asks for credentials"),
        (403, "application/octet-stream", b"\x00\x01", "unknown"),
        (403, "", b"x" * 5000, "x" * 2048),
    ],
)
def test_only_text_becomes_part_of_a_message(
    code: int, content_type: str, body: bytes, part: str
) -> None:
    """REST-57, REST-C12: 401 has its own words, 403 the server's; at most 2048 bytes."""
    error = refusal(code, body, content_type=content_type)

    assert part in (error.status.message or "")
    assert "x" * 2049 not in str(error)
    assert has_cause(error, Cause.UNEXPECTED_SERVER_RESPONSE)


def test_the_header_s_delay_is_kept() -> None:
    """REST-57, REST-62: unstructured error text: body used only for textual responses."""
    assert suggested_delay(refusal(429, Retry_After="3")) == 3
    assert suggested_delay(refusal(429)) is None


def test_an_error_says_what_was_tried_and_what_to_do() -> None:
    error = refusal(409, request=PUT)

    assert str(error) == (
        "PUT pods/web in shop: 409 Conflict: the server reported a conflict (put pods web)"
        " (read the object again and redo the change)"
    )


def test_a_response_prints_no_body() -> None:
    assert repr(answer(b"s3cret")) == "Response(GET pods/web in shop: 200, 6 bytes)"
