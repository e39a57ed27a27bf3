"""What came back: bytes that can be read as a type, or the error they stand for.

Promises: the bytes are there as they came; the server's own Status decides which error
is raised, and only where it sent none its code; a page that is no JSON is called so.
Elsewhere: the classes of errors (`kubeloop.errors`), formats (`codec`).
"""

from __future__ import annotations

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
)
from kubeloop.wire import Kind, RawList, split_list
from kubeloop.wire.meta.v1 import Status, StatusCause, StatusDetails

from .codec import Codec, media_type_of
from .request import Request
from .retry import retry_after_of

__all__ = [
    "WATCH_DECODING",
    "Answer",
    "error_of",
    "is_no_list",
    "is_success",
    "undecodable_event",
]

T = TypeVar("T")

# The cause that client-go gives an event it cannot read.
WATCH_DECODING = "ClientWatchDecoding"

_SHOWN = 200  # bytes of an answer that is not what it should be


class Answer(msgspec.Struct, frozen=True):
    """A whole answer of success, not decoded yet."""

    request: Request
    status: int
    headers: Mapping[str, str]
    body: bytes
    codec: Codec

    @property
    def created(self) -> bool:
        """Whether the object is new: an apply or an update may have made it."""
        return self.status == 201

    @property
    def content_type(self) -> str:
        """As the server said it, with its parameters; empty where it did not."""
        return self.headers.get("Content-Type", "")

    def decode(self, type_: type[T]) -> T:
        """The body as a model, a view or `dict`; `dict` is for kinds known only at run time.

        Raises:
            ApiError: the body is a Status that says no.
            DecodeError: it is empty, not of a format we read, or not of this type.
        """
        if not self.body:
            raise DecodeError(
                f"{self.request.action}: 0-length response with status {self.status}"
                f" and content type {self.content_type!r} (an object was expected)"
            )
        self._check_format()
        try:
            value = self.codec.decode(type_, self.body)
        except DecodeError as error:
            self._raise_refusal()
            raise self._unreadable(error) from error
        if isinstance(value, Status | dict):
            self._refuse_failure(value)
        elif not isinstance(value, Kind) and b'"Status"' in self.body:
            self._raise_refusal()  # a view would read it as an object with nothing in it
        return value

    def split(self) -> RawList:
        """The body as a list whose items are not decoded.

        Raises:
            ApiError: the body is a Status that says no.
            DecodeError: it is no list.
        """
        self._check_format()
        try:
            found = split_list(self.body)
        except DecodeError as error:
            raise self._unreadable(error) from error
        if not found.items and is_no_list(found, self.body):
            self._raise_refusal()
            raise self._unreadable(DecodeError(f"it is no list, its kind is {found.kind}"))
        return found

    def __repr__(self) -> str:
        return f"Answer({self.request.action}: {self.status}, {len(self.body)} bytes)"

    def _check_format(self) -> None:
        try:
            media_type = media_type_of(self.content_type)
        except DecodeError as error:
            raise api_error(
                self.request.action, failure("InternalError", str(error), code=500)
            ) from error
        if media_type and not self.codec.reads(media_type):
            raise DecodeError(
                f"{self.request.action}: no serializer for content type {media_type!r}, the answer"
                f" begins {self.body[:_SHOWN]!r} (is this the API server, or a proxy before it?)"
            )

    def _raise_refusal(self) -> None:
        """Raise what the body says, where it is a Status instead of what was asked for."""
        try:
            found = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if isinstance(found, dict):
            self._refuse_failure(found)

    def _refuse_failure(self, value: Status | dict[str, Any]) -> None:
        if isinstance(value, dict):
            if value.get("kind") != "Status" or "status" not in value:
                return
            try:
                value = status_from_object(value)
            except UnexpectedObject:
                return
        if value.status and value.status != "Success":
            raise api_error(self.request.action, value)

    def _unreadable(self, error: DecodeError) -> DecodeError:
        return DecodeError(f"{self.request.action}: the answer cannot be read: {error}")


def is_no_list(found: RawList, text: bytes) -> bool:
    """Whether something without items, which would read as "there are none", is no list."""
    says_nothing = found.kind is None and found.metadata is None and b'"items"' not in text
    return found.kind == "Status" or says_nothing


def is_success(status: int) -> bool:
    """Whether this is an answer to a request that is sent and read as a whole."""
    return 200 <= status <= 206 or status == 101


def error_of(
    request: Request,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    codec: Codec,
    before: str = "",
) -> ApiError:
    """The error for an answer that is no success; `before` tells of an earlier attempt."""
    content_type = headers.get("Content-Type", "")
    action = f"{request.action} (before that: {before})" if before else request.action
    try:
        media_type = media_type_of(content_type)
    except DecodeError as error:
        return api_error(action, failure("InternalError", str(error), code=500))
    asked_to_wait = retry_after_of(headers.get("Retry-After")) or 0
    if not media_type or codec.reads(media_type):
        said = _status_in(body, status)
        if said is not None:
            return api_error(action, _with_delay(said, asked_to_wait))
    return api_error(
        action,
        status_from_response(
            status,
            verb=request.method,
            resource=request.resource,
            name=request.name,
            content_type=content_type,
            body=body,
            retry_after=asked_to_wait,
        ),
    )


def undecodable_event(action: str, error: DecodeError) -> ApiError:
    """The error for a watch that sent something which is no event."""
    text = f"unable to decode an event from the watch stream: {error}"
    causes = [
        StatusCause(reason=Cause.UNEXPECTED_SERVER_RESPONSE.value, message=text),
        StatusCause(reason=WATCH_DECODING, message=text),
    ]
    return api_error(action, failure("InternalError", text, causes=causes, code=500))


def _with_delay(status: Status, seconds: int) -> Status:
    """The Status with the delay of the answer's header, where it names none itself."""
    if seconds and not (status.details and status.details.retry_after_seconds):
        details = status.details or StatusDetails()
        status.details = msgspec.structs.replace(details, retry_after_seconds=seconds)
    return status


def _status_in(body: bytes, code: int) -> Status | None:
    """The Status that says no in this body, if it is one."""
    try:
        found = msgspec.json.decode(body)
        if not isinstance(found, dict) or found.get("status") != "Failure":
            return None
        status = status_from_object({"apiVersion": "v1", **cast("dict[str, Any]", found)})
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, DecodeError):
        return None
    if status.code is None:
        status.code = code
    return status
