"""The Status object that a server sends for a failed request, and a substitute for it.

Guarantees: the functions are pure; the code follows from the reason and, if a server or a
proxy sent no Status, the reason from the code.
See also: the errors that hold a Status (`tree`), decoding the response (`kubeloop.rest`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from kubeloop.meta.identity import GroupResource
from kubeloop.wire import Raw
from kubeloop.wire.meta.v1 import Status, StatusCause, StatusDetails

from .tree import ApiError, DecodeError, UnexpectedObject, api_error

__all__ = [
    "CODES",
    "Cause",
    "error_from_event",
    "failure",
    "status_from_object",
    "status_from_response",
]

# The code that goes with each reason.
CODES: Mapping[str, int] = {
    "BadRequest": 400,
    "Unauthorized": 401,
    "Forbidden": 403,
    "NotFound": 404,
    "MethodNotAllowed": 405,
    "NotAcceptable": 406,
    "AlreadyExists": 409,
    "Conflict": 409,
    "Gone": 410,
    "Expired": 410,
    "RequestEntityTooLarge": 413,
    "UnsupportedMediaType": 415,
    "Invalid": 422,
    "TooManyRequests": 429,
    "InternalError": 500,
    "ServerTimeout": 500,
    "StorageReadError": 500,
    "ServiceUnavailable": 503,
    "Timeout": 504,
}

_TEXT_LIMIT = 2048  # bytes of a body that is not a Status
_UNKNOWN = "unknown"
_STATUS_VERSIONS = ("v1", "meta.k8s.io/v1")  # not a set: the value looked up may be unhashable

# Reason and message for a code that came without a Status. An empty message stands for the
# text of the response.
_BY_CODE: Mapping[int, tuple[str, str]] = {
    400: ("BadRequest", "the server rejected the request and gave no reason"),
    401: ("Unauthorized", "the server asks for credentials, or rejected those it got"),
    403: ("Forbidden", ""),
    404: ("NotFound", "the server has no such resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the resource"),
    406: ("NotAcceptable", ""),
    409: ("Conflict", "the server reported a conflict"),
    415: ("UnsupportedMediaType", ""),
    422: ("Invalid", "the server found an error in the request"),
    429: ("TooManyRequests", "the server has too many requests and asks to try again later"),
    503: ("ServiceUnavailable", "the server cannot handle the request now"),
    504: ("Timeout", "the server did not respond in time and may still process the request"),
}


class Cause(StrEnum):
    """The types of causes; in JSON they are under `reason`."""

    FIELD_NOT_FOUND = "FieldValueNotFound"
    FIELD_REQUIRED = "FieldValueRequired"
    FIELD_DUPLICATE = "FieldValueDuplicate"
    FIELD_INVALID = "FieldValueInvalid"
    FIELD_NOT_SUPPORTED = "FieldValueNotSupported"
    FIELD_FORBIDDEN = "FieldValueForbidden"
    FIELD_TOO_LONG = "FieldValueTooLong"
    FIELD_TOO_MANY = "FieldValueTooMany"
    FIELD_TYPE_INVALID = "FieldValueTypeInvalid"
    INTERNAL_ERROR = "InternalError"
    UNEXPECTED_SERVER_RESPONSE = "UnexpectedServerResponse"
    FIELD_MANAGER_CONFLICT = "FieldManagerConflict"
    RESOURCE_VERSION_TOO_LARGE = "ResourceVersionTooLarge"
    NAMESPACE_TERMINATING = "NamespaceTerminating"


def failure(
    reason: str,
    message: str,
    *,
    resource: GroupResource | None = None,
    name: str = "",
    causes: Iterable[StatusCause] = (),
    retry_after: int = 0,
    code: int | None = None,
) -> Status:
    """The Status of a failure, with the code of its reason unless one is given."""
    return Status(
        status="Failure",
        reason=reason,
        message=message,
        details=_details(resource, name=name, causes=list(causes), retry_after=retry_after),
        code=CODES.get(reason, 500) if code is None else code,
    )


def status_from_response(
    code: int,
    *,
    verb: str,
    resource: GroupResource | None = None,
    name: str = "",
    content_type: str = "",
    body: bytes = b"",
    retry_after: int = 0,
) -> Status:
    """The Status for a failure whose body is not a Status: a proxy's page, an empty response.

    `verb` is the HTTP method; `retry_after` is the value of the header, 0 without one.
    """
    text = _text_of(body, content_type)
    reason, message = _reason_and_message(code, verb, text)
    if resource is not None:
        message += f" ({' '.join(filter(None, (verb.lower(), str(resource), name)))})"
    unexpected = StatusCause(reason=Cause.UNEXPECTED_SERVER_RESPONSE.value, message=text)
    return failure(
        reason,
        message,
        resource=resource,
        name=name,
        causes=[unexpected],
        retry_after=retry_after,
        code=code,
    )


def status_from_object(found: Mapping[str, object]) -> Status:
    """Read an object that should be a Status, as in the ERROR event of a watch.

    Raises:
        UnexpectedObject: it has another kind or version, or cannot be decoded.
    """
    if found.get("kind") != "Status" or found.get("apiVersion") not in _STATUS_VERSIONS:
        raise UnexpectedObject(found)
    try:
        return Status.from_dict({**found, "apiVersion": "v1"})
    except DecodeError as error:
        raise UnexpectedObject(found) from error


def error_from_event(action: str, body: bytes | Raw) -> ApiError:
    """The error in an ERROR event of a watch.

    Raises:
        DecodeError: the event does not contain a Status.
    """
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(str(error)) from error
    if not isinstance(found, dict):
        raise UnexpectedObject(found)
    return api_error(action, status_from_object(found))


def _details(
    resource: GroupResource | None, *, name: str, causes: list[StatusCause], retry_after: int
) -> StatusDetails | None:
    """The details of a Status; None if there are none."""
    if resource is None and not name and not causes and not retry_after:
        return None
    details = StatusDetails(
        group=(resource.group or None) if resource else None,
        # kube-apiserver sets the name of the resource here, not the kind.
        kind=resource.resource if resource else None,
        name=name or None,
        retry_after_seconds=retry_after or None,
    )
    details.causes.extend(causes)
    return details


def _text_of(body: bytes, content_type: str) -> str:
    """The body if its media type is text; protobuf in a message would be unreadable."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type and not media_type.startswith("text/"):
        return _UNKNOWN
    return body[:_TEXT_LIMIT].decode(errors="replace").strip()


def _reason_and_message(code: int, verb: str, text: str) -> tuple[str, str]:
    """The reason and the message for a code without a Status."""
    if code == 409 and verb.upper() == "POST":
        return "AlreadyExists", _BY_CODE[409][1]
    if code in _BY_CODE:
        reason, message = _BY_CODE[code]
        return reason, message or text
    if code >= 500:
        return (
            "InternalError",
            f"an error on the server ({text!r}) prevented the request from succeeding",
        )
    return "", f"the server responded with {code} and gave no reason"
