"""The Status object: what a server says instead of an answer, and what stands in for it.

Guarantees: pure values in, a Status out; the code follows from the reason and, where a
server or a proxy sent no Status, the reason from the code.
See also: the errors that carry a Status (`errors`), decoding the answer (`kubeloop.rest`).
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

_TEXT_LIMIT = 2048  # bytes of a body that is no Status
_UNKNOWN = "unknown"
_STATUS_VERSIONS = ("v1", "meta.k8s.io/v1")  # no set: what is looked for may be a list

# What to say for a code that came without a Status: the reason, and a sentence. An empty
# sentence means that the server's own text says it better.
_BARE: Mapping[int, tuple[str, str]] = {
    400: ("BadRequest", "the server rejected the request and gave no reason"),
    401: ("Unauthorized", "the server asks for credentials, or does not accept those it got"),
    403: ("Forbidden", ""),
    404: ("NotFound", "the server has no such resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the resource"),
    406: ("NotAcceptable", ""),
    409: ("Conflict", "the server reported a conflict"),
    415: ("UnsupportedMediaType", ""),
    422: ("Invalid", "the server found an error in the request"),
    429: ("TooManyRequests", "the server has too many requests and asks to try again later"),
    503: ("ServiceUnavailable", "the server cannot handle the request now"),
    504: ("Timeout", "the server did not answer in time and may still be at work on the request"),
}


class Cause(StrEnum):
    """The types of causes; in JSON they stand under `reason`."""

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
    """A Status that says no, with the code of its reason unless one is given."""
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
    """What a failure means whose body is no Status: a proxy's page, an empty answer.

    `verb` is the HTTP method; `retry_after` is the header's, 0 where there is none.
    """
    text = _text_of(body, content_type)
    reason, message = _meaning(code, verb, text)
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
        UnexpectedObject: it is of another kind or version, or not readable as one.
    """
    if found.get("kind") != "Status" or found.get("apiVersion") not in _STATUS_VERSIONS:
        raise UnexpectedObject(found)
    try:
        return Status.from_dict({**found, "apiVersion": "v1"})
    except DecodeError as error:
        raise UnexpectedObject(found) from error


def error_from_event(action: str, body: bytes | Raw) -> ApiError:
    """The error of an ERROR event of a watch.

    Raises:
        DecodeError: the event has no Status.
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
    """What is known besides the message, without the fields nobody knows."""
    if resource is None and not name and not causes and not retry_after:
        return None
    details = StatusDetails(
        group=(resource.group or None) if resource else None,
        kind=resource.resource if resource else None,  # the API's habit: the resource's name
        name=name or None,
        retry_after_seconds=retry_after or None,
    )
    details.causes.extend(causes)
    return details


def _text_of(body: bytes, content_type: str) -> str:
    """The body where it is meant to be read; a page of protobuf helps nobody."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type and not media_type.startswith("text/"):
        return _UNKNOWN
    return body[:_TEXT_LIMIT].decode(errors="replace").strip()


def _meaning(code: int, verb: str, text: str) -> tuple[str, str]:
    """The reason and the sentence for a bare code."""
    if code == 409 and verb.upper() == "POST":
        return "AlreadyExists", _BARE[409][1]
    if code in _BARE:
        reason, sentence = _BARE[code]
        return reason, sentence or text
    if code >= 500:
        return (
            "InternalError",
            f"an error on the server ({text!r}) kept the request from succeeding",
        )
    return "", f"the server answered {code} and said no more"
