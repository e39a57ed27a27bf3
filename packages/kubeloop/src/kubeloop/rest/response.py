"""A whole response: its bytes decoded as a type, or the error that it stands for.

Guarantees: the bytes are unchanged; the server's `Status` decides which error is raised, and
the HTTP status only where there is no `Status`; a body that is neither JSON nor protobuf of the
API is reported as such; errors of requests for Secrets show no value of one.
See also: `kubeloop.errors` (the error classes), `codec` (formats).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import msgspec

from kubeloop.errors import (
    ApiError,
    Cause,
    DecodeError,
    UnexpectedObject,
    api_error,
    failure,
    status_from_object,
    status_from_response,
    values_in,
)
from kubeloop.wire import Kind, RawList, split_list
from kubeloop.wire.meta.v1 import Status, StatusCause, StatusDetails
from kubeloop.wire.protobuf_messages import MAGIC, PROTOBUF

from .codec import Codec, media_type_of
from .request import Request
from .retry import retry_after_of

__all__ = [
    "WATCH_DECODING",
    "Response",
    "error_of",
    "is_not_a_list",
    "is_success",
    "undecodable_event",
]

T = TypeVar("T")

# The cause that client-go sets for an event that it cannot decode.
WATCH_DECODING = "ClientWatchDecoding"

_SHOWN_BYTES = 200  # of an unexpected body, in an error

_is_for_secrets = re.compile(r"/api/v1/(?:namespaces/[^/]+/)?secrets(?:/|$)").search


class Response(msgspec.Struct, frozen=True):
    """A successful response, not decoded yet."""

    request: Request
    status: int
    headers: Mapping[str, str]
    body: bytes
    codec: Codec

    @property
    def created(self) -> bool:
        """Whether the object is new: an apply or an update may have created it."""
        return self.status == 201

    @property
    def content_type(self) -> str:
        """The header with its parameters; empty if there is none."""
        return self.headers.get("Content-Type", "")

    def decode(self, type_: type[T]) -> T:
        """The body as a model, a partial struct or a `dict`.

        Raises:
            ApiError: the body is a `Status` of a failure.
            UnknownFields: the body is protobuf with fields that our models do not know.
            DecodeError: the body is empty, in an unknown format, or not of this type.
        """
        if not self.body:
            raise DecodeError(
                f"{self.request.action}: 0-length response with status {self.status}"
                f" and content type {self.content_type!r} (an object was expected)"
            )
        if self.headers.get("Content-Type") != self.codec.content_type and self._is_protobuf():
            return self._decode_protobuf(type_)
        try:
            value = self.codec.decode(type_, self.body)
        except DecodeError as error:
            self._raise_status()
            raise self._decode_error(error) from error
        if isinstance(value, Kind):  # whose kind is right
            if isinstance(value, Status):
                self._check_status(value)
        elif isinstance(value, dict):
            self._check_status(value)
        elif b'"Status"' in self.body:
            self._raise_status()  # a partial struct would decode it as an empty object
        return value

    def split(self) -> RawList:
        """The body as a list whose items are not decoded.

        Raises:
            ApiError: the body is a `Status` of a failure.
            DecodeError: it is not a list.
        """
        is_json = self.headers.get("Content-Type") == self.codec.content_type
        try:
            found = split_list(self.body) if is_json else self._split_other()
        except DecodeError as error:
            raise self._decode_error(error) from error
        if not found.items and is_not_a_list(found, self.body):
            self._raise_status()
            raise self._decode_error(DecodeError(f"it is not a list, its kind is {found.kind}"))
        return found

    def __repr__(self) -> str:
        return f"Response({self.request.action}: {self.status}, {len(self.body)} bytes)"

    def _split_other(self) -> RawList:
        if not self._is_protobuf():
            return split_list(self.body)
        from kubeloop.wire.protobuf_codec import split_protobuf_list

        return split_protobuf_list(self.body)

    def _decode_protobuf(self, type_: type[T]) -> T:
        from kubeloop.wire.protobuf_codec import UnknownFields, decode_envelope

        try:
            return decode_envelope(type_, self.body)
        except UnknownFields:
            raise
        except DecodeError as error:
            self._raise_status()
            raise self._decode_error(error) from error

    def _is_protobuf(self) -> bool:
        """Whether the body is protobuf of the API. Raises: DecodeError for an unknown format."""
        try:
            media_type = media_type_of(self.content_type)
        except DecodeError as error:
            raise api_error(
                self.request.action, failure("InternalError", str(error), code=500)
            ) from error
        if media_type == PROTOBUF:
            from kubeloop.wire.protobuf_descriptors import is_available

            if is_available():
                return True
        if media_type and not self.codec.reads(media_type):
            is_shown = not _is_for_secrets(self.request.path)
            begin = f", the response begins with {self.body[:_SHOWN_BYTES]!r}" if is_shown else ""
            raise DecodeError(
                f"{self.request.action}: no serializer for content type {media_type!r}{begin}"
                " (does the address belong to the API server, or to a proxy in front of it?)"
            )
        return False

    def _raise_status(self) -> None:
        """Raise the error of the body if it is a `Status` instead of the expected type."""
        try:
            found = _plain_data(self.body)
        except (msgspec.DecodeError, DecodeError, UnicodeDecodeError, RecursionError):
            return
        if isinstance(found, dict):
            self._check_status(found)

    def _check_status(self, value: Status | dict[str, Any]) -> None:
        if isinstance(value, dict):
            if value.get("kind") != "Status" or "status" not in value:
                return
            try:
                value = status_from_object(value)
            except UnexpectedObject:
                return
        if value.status and value.status != "Success":
            raise _error_for(self.request, self.request.action, value)

    def _decode_error(self, error: DecodeError) -> DecodeError:
        return DecodeError(f"{self.request.action}: cannot decode the response: {error}")


def _plain_data(body: bytes) -> Any:
    """The data of a body, JSON or protobuf. Raises: DecodeError, and what msgspec raises."""
    if not body.startswith(MAGIC):
        return msgspec.json.decode(body)
    from kubeloop.wire.protobuf import from_protobuf

    return from_protobuf(body)


def is_not_a_list(found: RawList, text: bytes) -> bool:
    """Whether a body without items is something else than an empty list."""
    is_empty = found.kind is None and found.metadata is None and b'"items"' not in text
    return found.kind == "Status" or is_empty


def is_success(status: int) -> bool:
    """Whether `send` returns a response with this status."""
    return 200 <= status <= 206 or status == 101


def error_of(
    request: Request,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    codec: Codec,
    before: str = "",
    note: str = "",
) -> ApiError:
    """The error for an unsuccessful response; `before` is the failure of an earlier attempt.

    `note` is added to its message.
    """
    content_type = headers.get("Content-Type", "")
    action = f"{request.action} (before that: {before})" if before else request.action
    try:
        media_type = media_type_of(content_type)
    except DecodeError as error:
        return api_error(action, failure("InternalError", f"{error}{note}", code=500))
    retry_after = retry_after_of(headers.get("Retry-After")) or 0
    found = None
    if not media_type or media_type == PROTOBUF or codec.reads(media_type):
        found = _status_in(body, status)
    if found is not None:
        found = _with_delay(found, retry_after)
    else:
        found = status_from_response(
            status,
            verb=request.method,
            resource=request.resource,
            name=request.name,
            content_type=content_type,
            body=body,
            retry_after=retry_after,
        )
    if note:
        found.message = f"{found.message or ''}{note}".strip()
    return _error_for(request, action, found)


def _error_for(request: Request, action: str, status: Status) -> ApiError:
    """The error for a Status; without values of Secrets if the request was for them."""
    error = api_error(action, status)
    if _is_for_secrets(request.path):
        error.with_hidden_values(values_in(request.body))
    return error


def undecodable_event(action: str, error: DecodeError) -> ApiError:
    """The error for bytes of a watch that are not an event."""
    text = f"unable to decode an event from the watch stream: {error}"
    causes = [
        StatusCause(reason=Cause.UNEXPECTED_SERVER_RESPONSE.value, message=text),
        StatusCause(reason=WATCH_DECODING, message=text),
    ]
    return api_error(action, failure("InternalError", text, causes=causes, code=500))


def _with_delay(status: Status, seconds: int) -> Status:
    """The Status, with the delay of the `Retry-After` header if it has none itself."""
    if seconds and not (status.details and status.details.retry_after_seconds):
        details = status.details or StatusDetails()
        status.details = msgspec.structs.replace(details, retry_after_seconds=seconds)
    return status


def _status_in(body: bytes, code: int) -> Status | None:
    """The `Status` in this body if it is one of a failure."""
    try:
        found = _plain_data(body)
        if not isinstance(found, dict) or found.get("status") != "Failure":
            return None
        status = status_from_object({"apiVersion": "v1", **cast("dict[str, Any]", found)})
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, DecodeError):
        return None
    if status.code is None:
        status.code = code
    return status
