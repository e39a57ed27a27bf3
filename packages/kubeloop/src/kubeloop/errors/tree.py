"""Every error that kubeloop raises on purpose, under one root.

    KubeError
    ├── InvalidArgument             a value breaks a rule of the API; also a ValueError
    │   ├── DecodeError             text or data cannot be decoded as the expected type
    │   │   └── UnexpectedObject    the server sent another object where a Status was expected
    │   └── AlreadyOwned            the object already has another controller
    ├── ConfigError                 before the request: no usable cluster, user or credential
    ├── TransportError              during the request: no complete response was received
    │   ├── ClientClosed            the client was closed before or during the request
    │   ├── ConnectError            no connection: refused, unknown host, untrusted certificate
    │   ├── InFlightTimeout         no in-flight slot became free in time; also a TimeoutError
    │   ├── ResponseTooLarge        the response is larger than the client's limit for it
    │   ├── StreamBroken            the connection ended inside a response
    │   └── TimeoutExceeded         the timeout expired first; also a TimeoutError
    └── ApiError                    after the response: the server responded with an error status
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
        ├── ServerTimeout           500, and the server asks the client to retry
        ├── StorageReadError        500
        ├── ServiceUnavailable      503
        └── Timeout                 504

Guarantees: the reason in the server's Status selects the class; the code does only if the
reason is unknown. A reason newer than this release is still an `ApiError`. The functions
search errors that wrap others too (`raise … from …`, exception groups).
See also: creating and reading a Status (`statuses`), retries (`kubeloop.rest`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Self, final

import msgspec

from kubeloop.wire.errors import DecodeError, InvalidArgument, KubeError
from kubeloop.wire.meta.v1 import Status, StatusCause

from .hidden_values import hide_values

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
    """The server sent another object where a Status was expected; `found` holds it."""

    def __init__(self, found: object) -> None:
        super().__init__(f"unexpected object: expected a Status, found {_kind_of(found)}")
        self.found = found


class ConfigError(KubeError):
    """The configuration of the request is missing or unusable; nothing was sent."""


class TransportError(KubeError):
    """The request may have been sent, but no complete response was received."""


@final
class ClientClosed(TransportError):
    """The client was closed before the response was complete; a retry cannot succeed."""


@final
class ConnectError(TransportError):
    """No connection could be opened: nothing was sent, so a retry is safe."""


@final
class InFlightTimeout(TransportError, TimeoutError):
    """No in-flight slot of the client became free in time; nothing was sent."""


@final
class ResponseTooLarge(TransportError):
    """The response is larger than the client's limit; the request may have taken effect."""


@final
class StreamBroken(TransportError):
    """The connection ended inside a response; the request may have taken effect."""


@final
class TimeoutExceeded(TransportError, TimeoutError):
    """The timeout expired before the response was complete; the request may have taken effect."""


class ApiError(KubeError):
    """The server responded with an error status, which is in `status`.

    `str()` is one line with hidden characters escaped; `status.message` is unchanged. If the
    request was for Secrets, only `status` has the values that the server quotes.
    Reasons without a subclass use this class.
    """

    _shown: tuple[str, list[StatusCause]] | None = None  # without values, if they are hidden

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        self.action = action
        self.status = status

    @classmethod
    def of(cls, action: str, message: str, *, retry_after: int = 0) -> Self:
        """An error as a server responds with it: `Expired.of("watch pods", "too old")`.

        For a `ListWatch` of your own and for tests. The class is the reason and the code.
        """
        from .statuses import failure  # it needs this module

        if _BY_REASON.get(cls.__name__) is not cls:
            raise InvalidArgument(f"{cls.__name__} is no reason of the API (use a subclass)")
        return cls(action, failure(cls.__name__, message, retry_after=retry_after))

    @property
    def message(self) -> str:
        """The server's message, without values of a Secret."""
        return self._shown[0] if self._shown else self.status.message or ""

    @property
    def code(self) -> int:
        return self.status.code or 0

    @property
    def reason(self) -> str:
        return self.status.reason or ""

    @property
    def causes(self) -> list[StatusCause]:
        """The details of the error, if the server lists them: one for each invalid field."""
        if self._shown:
            return self._shown[1]
        return self.status.details.causes if self.status.details else []

    @property
    def retry_after(self) -> int:
        """The seconds that the server asks the client to wait; 0 if it does not."""
        return (self.status.details.retry_after_seconds or 0) if self.status.details else 0

    def with_hidden_values(self, sent: Sequence[str]) -> Self:
        """The same error without what the server quotes, and without the values that were sent.

        Its `status` keeps them.
        """
        causes = [
            msgspec.structs.replace(cause, message=hide_values(cause.message or "", sent))
            for cause in self.causes
        ]
        self._shown = (hide_values(self.message, sent), causes)
        return self

    def __repr__(self) -> str:
        # That of an exception would show the whole Status.
        return f"{type(self).__name__}({self.summary!r})"

    def _message(self) -> str:
        response = f"{self.code} {self.reason}".strip()
        return f"{self.action}: {response}: {self.message or 'no message'}"


@final
class BadRequest(ApiError):
    """The request is malformed."""


@final
class Unauthorized(ApiError):
    """The server cannot authenticate the caller."""

    hint = "check the credentials of the context in use"


@final
class Forbidden(ApiError):
    """The caller is not allowed to do this."""

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        # Quotas, policies, webhooks and terminating namespaces respond with this code as well;
        # a role would not help there.
        if _is_from_authorizer(status.message or "") and not _is_denied_by_webhook(status):
            self.hint = "grant the verb on the resource to this user or service account"


@final
class NotFound(ApiError):
    """The object or the resource does not exist."""

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        if any(text in (status.message or "") for text in _NO_SUCH_RESOURCE):
            self.hint = "does the server serve this kind, in this version? is its CRD installed?"


@final
class MethodNotAllowed(ApiError):
    """The resource does not support this verb."""


@final
class NotAcceptable(ApiError):
    """The server supports none of the requested response formats."""


@final
class AlreadyExists(ApiError):
    """An object with this name already exists."""


@final
class Conflict(ApiError):
    """The object was modified since it was read, or another field manager owns a field."""

    def __init__(self, action: str, status: Status) -> None:
        super().__init__(action, status)
        message = status.message or ""
        # Reading the object again does not change the owner of an applied field.
        if self.is_ownership:
            self.with_hint("leave the field to its owner", python="take it with force=True")
        elif not _is_denied_by_webhook(status) and (
            _MODIFIED in message or not message.startswith(_CANNOT_BE_FULFILLED)
        ):
            self.hint = "read the object again and redo the change"

    @property
    def is_ownership(self) -> bool:
        """Whether another field manager owns a field that was applied."""
        return has_cause(self, _FIELD_MANAGER_CONFLICT)


class Gone(ApiError):
    """The requested object or version existed but is no longer available."""


@final
class Expired(Gone):
    """A resource version or a continue token is too old."""

    hint = "list again and continue from the new resource version"


@final
class RequestEntityTooLarge(ApiError):
    """The request body is larger than the server accepts."""


@final
class UnsupportedMediaType(ApiError):
    """The server does not accept this format, or this patch type, for this resource."""


@final
class Invalid(ApiError):
    """The object failed validation; `causes` names the fields."""


@final
class TooManyRequests(ApiError):
    """The server is overloaded, or an eviction would violate a disruption budget."""

    hint = "try again later"


@final
class InternalError(ApiError):
    """An unexpected error inside the server."""


@final
class ServerTimeout(ApiError):
    """The server could not complete the request in time and asks the client to retry."""

    hint = "try again later"


@final
class StorageReadError(ApiError):
    """The server cannot read the object from its storage."""


@final
class ServiceUnavailable(ApiError):
    """The server, or a server behind it, accepts no requests at the moment."""

    hint = "try again later"


@final
class Timeout(ApiError):
    """The request timed out on the server; it may still take effect."""


# `Cause.FIELD_MANAGER_CONFLICT`; its module imports this one.
_FIELD_MANAGER_CONFLICT = "FieldManagerConflict"

# The messages of kube-apiserver and of `statuses` for a resource that is not served.
_NO_SUCH_RESOURCE = (
    "the server could not find the requested resource",
    "the server has no such resource",
)
# The beginning of every conflict of kube-apiserver, and the text for a stale resource version.
_CANNOT_BE_FULFILLED = "Operation cannot be fulfilled on "
_MODIFIED = "the object has been modified"
# kube-apiserver's authorizer: `User "ann" cannot list resource "pods"`, `cannot get path "/x"`.
_is_from_authorizer = re.compile(r'User ".*" cannot \S+ (resource|path) "').search


def _is_denied_by_webhook(status: Status) -> bool:
    """Whether an admission webhook denied the request; webhooks choose code and reason."""
    message = status.message or ""
    return message.startswith("admission webhook ") and " denied the request" in message


# The classes have the names of the reasons.
_BY_REASON: dict[str, type[ApiError]] = {
    kind.__name__: kind
    for kind in (
        *(AlreadyExists, BadRequest, Conflict, Expired, Forbidden, Gone, InternalError, Invalid),
        *(MethodNotAllowed, NotAcceptable, NotFound, RequestEntityTooLarge, ServerTimeout),
        *(ServiceUnavailable, StorageReadError, Timeout, TooManyRequests, Unauthorized),
        UnsupportedMediaType,
    )
}

# Used if the reason is unknown; 409, 410 and 500 have several reasons.
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

# For these two the code decides whatever the reason is: proxies send them.
_DECIDED_BY_CODE = frozenset({413, 429})


def api_error(action: str, status: Status) -> ApiError:
    """The error for `status`, of the class of its reason, otherwise of its code.

    `action` is the request: `PUT deployments/web in shop`.
    """
    by_code = _BY_CODE.get(status.code or 0, ApiError)
    return _BY_REASON.get(status.reason or "", by_code)(action, status)


def find_api_error(error: BaseException) -> ApiError | None:
    """The server's error in `error`: itself, or the first one that it wraps."""
    return next((each for each in _chain(error) if isinstance(each, ApiError)), None)


def is_api_error(error: BaseException, kind: type[ApiError]) -> bool:
    """Whether `error` is, or wraps, an error of this class from the server.

    More than `isinstance`: code 429 is `TooManyRequests` and 413 `RequestEntityTooLarge`
    even under another reason.
    """
    found = find_api_error(error)
    if found is None or isinstance(found, kind):
        return found is not None
    return found.code in _DECIDED_BY_CODE and _BY_CODE[found.code] is kind


def status_of_error(error: BaseException) -> Status | None:
    """The server's Status, if `error` is or wraps an error of the server."""
    found = find_api_error(error)
    return found.status if found is not None else None


def suggested_delay(error: BaseException) -> int | None:
    """The seconds that the server asks to wait before a retry; None if it does not."""
    found = find_api_error(error)
    if found is None:
        return None
    if isinstance(found, ServerTimeout) and found.status.details is not None:
        return found.retry_after  # this one may ask for a delay of zero
    return found.retry_after or None


def causes_of(error: BaseException, cause: str) -> list[StatusCause]:
    """The causes of one type in the server's Status; `Cause` lists the types."""
    found = find_api_error(error)
    return [each for each in found.causes if each.reason == cause] if found is not None else []


def has_cause(error: BaseException, cause: str) -> bool:
    """Whether the server's Status has a cause of this type."""
    return bool(causes_of(error, cause))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all that it wraps, outermost first, each once."""
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()  # `raise error from error` makes a cycle
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        pending += reversed((*inner, each.__cause__))


def _kind_of(found: object) -> str:
    if not isinstance(found, Mapping):
        return f"a {type(found).__name__}"
    return f"kind {found.get('kind')!r} in apiVersion {found.get('apiVersion')!r}"
