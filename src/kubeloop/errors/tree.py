"""Every error that kubeloop raises on purpose, under one root.

    KubeError
    ├── InvalidArgument                the API's rules do not allow a value; also a ValueError
    │   ├── DecodeError             text or data is not what it was read as
    │   │   └── UnexpectedObject    a Status was due, and something else came
    │   └── AlreadyOwned            an object has another controller already
    ├── ConfigError                 before the request: no usable cluster, user or credential
    ├── TransportError              on the way: there was no whole answer
    │   ├── ClientClosed            the client was closed before or during the request
    │   ├── ConnectError            no connection: refused, unknown host, untrusted certificate
    │   ├── InFlightTimeout         no in-flight slot became free in time; also a TimeoutError
    │   ├── ResponseTooLarge        the response is larger than the client's limit for it
    │   ├── StreamBroken            the connection ended inside an answer
    │   └── TimeoutExceeded         the time given was over first; also a TimeoutError
    └── ApiError                    after the answer, and the answer was no
        ├── BadRequest              400
        ├── Unauthorized            401
        ├── Forbidden               403
        ├── NotFound                404
        ├── MethodNotAllowed        405
        ├── NotAcceptable           406
        ├── AlreadyExists           409
        ├── Conflict                409
        ├── Gone                    410
        │   └── Expired             410, a resource version or continue token too old
        ├── RequestEntityTooLarge   413
        ├── UnsupportedMediaType    415
        ├── Invalid                 422
        ├── TooManyRequests         429
        ├── InternalError           500
        ├── ServerTimeout           500, and the server asks to try again
        ├── StorageReadError        500
        ├── ServiceUnavailable      503
        └── Timeout                 504

Guarantees: the reason in the server's Status decides the class, its code only where the
reason is none of the known; a reason newer than us is an `ApiError` all the same. The
functions look through errors that wrap others (`raise … from …`, exception groups).
See also: making and reading a Status (`statuses`), trying again (`kubeloop.rest`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import final

from kubeloop.wire.errors import DecodeError, InvalidArgument, KubeError
from kubeloop.wire.meta.v1 import Status, StatusCause

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "ClientClosed",
    "ConfigError",
    "Conflict",
    "ConnectError",
    "DecodeError",
    "Expired",
    "Forbidden",
    "Gone",
    "InFlightTimeout",
    "InternalError",
    "Invalid",
    "InvalidArgument",
    "KubeError",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ResponseTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "StorageReadError",
    "StreamBroken",
    "Timeout",
    "TimeoutExceeded",
    "TooManyRequests",
    "TransportError",
    "Unauthorized",
    "UnexpectedObject",
    "UnsupportedMediaType",
    "api_error",
    "causes_of",
    "find_api_error",
    "has_cause",
    "is_api_error",
    "status_of_error",
    "suggested_delay",
]


@final
class UnexpectedObject(DecodeError):
    """Where a Status was due the server sent something else; `found` holds it."""

    def __init__(self, found: object) -> None:
        super().__init__(f"unexpected object: expected a Status, found {_kind_of(found)}")
        self.found = found


class ConfigError(KubeError):
    """What the request needed could not be put together; nothing was sent."""


class TransportError(KubeError):
    """The request may have been sent, and no whole answer came back."""


@final
class ClientClosed(TransportError):
    """The client was closed before the answer was there; no new try can mend that."""


@final
class ConnectError(TransportError):
    """No connection came about: nothing was sent, so trying again is safe."""


@final
class InFlightTimeout(TransportError, TimeoutError):
    """The client's own limit of concurrent calls was reached for too long; nothing was sent."""


@final
class ResponseTooLarge(TransportError):
    """The response is larger than its limit; what was requested may have been done."""


@final
class StreamBroken(TransportError):
    """The connection ended inside an answer; what was sent may have been done."""


@final
class TimeoutExceeded(TransportError, TimeoutError):
    """The time given was over before the answer was; what was sent may have been done."""


class ApiError(KubeError):
    """The server answered, and the answer was no. `status` is what it said.

    `str()` is one line with hidden characters escaped; `status.message` is as it came.
    A reason that has no class of its own comes as this one.
    """

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        self.action = action
        self.status = status

    @property
    def code(self) -> int:
        return self.status.code or 0

    @property
    def reason(self) -> str:
        return self.status.reason or ""

    @property
    def causes(self) -> list[StatusCause]:
        """The single faults, where the server names them: one for each invalid field."""
        return self.status.details.causes if self.status.details else []

    @property
    def retry_after(self) -> int:
        """The seconds the server asks to wait; 0 where it does not say."""
        return (self.status.details.retry_after_seconds or 0) if self.status.details else 0

    def _message(self) -> str:
        answer = f"{self.code} {self.reason}".strip()
        return f"{self.action}: {answer}: {self.status.message or 'no message'}"


@final
class BadRequest(ApiError):
    """The server could not make sense of the request."""


@final
class Unauthorized(ApiError):
    """The server does not know who asks."""

    hint = "check the credentials of the context in use"


@final
class Forbidden(ApiError):
    """The server knows who asks, and does not allow it."""

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        # Quotas, policies, webhooks and a namespace that is being deleted refuse with this code
        # as well, and no role would change that.
        if _said_by_authorizer(status.message or "") and not _is_denied_by_webhook(status):
            self.hint = "grant the verb on the resource to this user or service account"


@final
class NotFound(ApiError):
    """No such object, or no such resource."""

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        if any(text in (status.message or "") for text in _NO_SUCH_RESOURCE):
            self.hint = "does the server serve this kind, in this version? is its CRD installed?"


@final
class MethodNotAllowed(ApiError):
    """The resource does not offer this verb."""


@final
class NotAcceptable(ApiError):
    """The server cannot answer in any format that was asked for."""


@final
class AlreadyExists(ApiError):
    """An object of this name is there already."""


@final
class Conflict(ApiError):
    """The object has changed since it was read, or another manager owns the field."""

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        message = status.message or ""
        # No newer version of the object would change who owns the field of an apply.
        if self.is_ownership:
            self.with_hint("leave the field to its owner", python="take it with force=True")
        elif not _is_denied_by_webhook(status) and (
            _MODIFIED in message or not message.startswith(_CANNOT_BE_FULFILLED)
        ):
            self.hint = "read the object again and redo the change"

    @property
    def is_ownership(self) -> bool:
        """Whether another field manager owns a field that was applied."""
        return has_cause(self, _OWNED_BY_ANOTHER)


class Gone(ApiError):
    """What was asked for was there once."""


@final
class Expired(Gone):
    """A resource version or a continue token is too old."""

    hint = "list again and go on from there"


@final
class RequestEntityTooLarge(ApiError):
    """The request is larger than the server takes."""


@final
class UnsupportedMediaType(ApiError):
    """The server does not take this format, or this kind of patch, for this resource."""


@final
class Invalid(ApiError):
    """Values in the object break the rules of its kind; `causes` names the fields."""


@final
class TooManyRequests(ApiError):
    """The server is busy, or an eviction would break a disruption budget."""

    hint = "try again later"


@final
class InternalError(ApiError):
    """The server failed."""


@final
class ServerTimeout(ApiError):
    """The server did not get it done in time, and asks to try again."""

    hint = "try again later"


@final
class StorageReadError(ApiError):
    """The server cannot read what is in its store."""


@final
class ServiceUnavailable(ApiError):
    """The server, or the one behind it, takes no requests now."""

    hint = "try again later"


@final
class Timeout(ApiError):
    """No answer in the time allotted; what was asked may still be done."""


# `Cause.FIELD_MANAGER_CONFLICT`, whose module stands on this one.
_OWNED_BY_ANOTHER = "FieldManagerConflict"

# A resource or version that is not served, as kube-apiserver and as `statuses` say it.
_NO_SUCH_RESOURCE = (
    "the server could not find the requested resource",
    "the server has no such resource",
)
# How kube-apiserver begins every conflict, and how it goes on when it was a stale version.
_CANNOT_BE_FULFILLED = "Operation cannot be fulfilled on "
_MODIFIED = "the object has been modified"
# kube-apiserver's authorizer: `User "ann" cannot list resource "pods"`, `cannot get path "/x"`.
_said_by_authorizer = re.compile(r'User ".*" cannot \S+ (resource|path) "').search


def _is_denied_by_webhook(status: Status) -> bool:
    """Whether an admission webhook said this, with whatever code and reason it chose."""
    message = status.message or ""
    return message.startswith("admission webhook ") and " denied the request" in message


# The classes carry the names of the reasons.
_BY_REASON: dict[str, type[ApiError]] = {
    kind.__name__: kind
    for kind in (
        *(AlreadyExists, BadRequest, Conflict, Expired, Forbidden, Gone, InternalError, Invalid),
        *(MethodNotAllowed, NotAcceptable, NotFound, RequestEntityTooLarge, ServerTimeout),
        *(ServiceUnavailable, StorageReadError, Timeout, TooManyRequests, Unauthorized),
        UnsupportedMediaType,
    )
}

# 409, 410 and 500 have several reasons; this is what the bare code means.
_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    406: NotAcceptable,
    409: Conflict,
    410: Gone,
    413: RequestEntityTooLarge,
    415: UnsupportedMediaType,
    422: Invalid,
    429: TooManyRequests,
    500: InternalError,
    503: ServiceUnavailable,
    504: Timeout,
}

# These two are believed by code whatever the reason says: proxies answer so.
_WHATEVER_THE_REASON = frozenset({413, 429})


def api_error(action: str, status: Status) -> ApiError:
    """The error that `status` stands for, of the class its reason, else its code, names.

    `action` is what was tried: `PUT deployments/web in shop`.
    """
    by_code = _BY_CODE.get(status.code or 0, ApiError)
    return _BY_REASON.get(status.reason or "", by_code)(action, status)


def find_api_error(error: BaseException) -> ApiError | None:
    """The server's answer in `error`: itself, or the first one that it wraps."""
    return next((each for each in _unwrapped(error) if isinstance(each, ApiError)), None)


def is_api_error(error: BaseException, kind: type[ApiError]) -> bool:
    """Whether `error` is, or wraps, an answer of this kind.

    More than `isinstance`: code 429 is `TooManyRequests` and 413 `RequestEntityTooLarge`
    even under another reason.
    """
    found = find_api_error(error)
    if found is None or isinstance(found, kind):
        return found is not None
    return found.code in _WHATEVER_THE_REASON and _BY_CODE[found.code] is kind


def status_of_error(error: BaseException) -> Status | None:
    """What the server said, where `error` is or wraps its answer."""
    found = find_api_error(error)
    return found.status if found is not None else None


def suggested_delay(error: BaseException) -> int | None:
    """The seconds that the server asks to wait before trying again; None where it does not."""
    found = find_api_error(error)
    if found is None:
        return None
    if isinstance(found, ServerTimeout) and found.status.details is not None:
        return found.retry_after  # this one may ask for a delay of zero
    return found.retry_after or None


def causes_of(error: BaseException, cause: str) -> list[StatusCause]:
    """The causes of one type in the server's answer; see `Cause` for the types there are."""
    found = find_api_error(error)
    return [each for each in found.causes if each.reason == cause] if found is not None else []


def has_cause(error: BaseException, cause: str) -> bool:
    """Whether the server's answer names a cause of this type."""
    return bool(causes_of(error, cause))


def _unwrapped(error: BaseException) -> Iterator[BaseException]:
    """The error and all that it wraps, outermost first, each once."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()  # `raise error from error` makes a ring
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        waiting += reversed((*inner, each.__cause__))


def _kind_of(found: object) -> str:
    if not isinstance(found, Mapping):
        return f"a {type(found).__name__}"
    return f"kind {found.get('kind')!r} in apiVersion {found.get('apiVersion')!r}"
