"""Every error response of the server: the `Status` that kube-apiserver would send.

The functions are the constructors of `apimachinery/pkg/api/errors`.

Guarantees: reason, code, message and details equal kube-apiserver's; a Status never contains
internals of the server, such as a traceback or a file name.
See also: `serving.http` (sending a Status).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

import msgspec

from kubeloop.wire import Json, JsonObject

__all__ = [
    "ESCAPES",
    "Cause",
    "StatusError",
    "already_exists",
    "apply_conflict",
    "bad_request",
    "conflict",
    "cross_site_request",
    "expired",
    "forbidden",
    "generate_name_conflict",
    "internal_error",
    "invalid",
    "joined",
    "method_not_allowed",
    "method_not_supported",
    "no_route_consumes",
    "no_route_produces",
    "not_acceptable",
    "not_found",
    "not_representable",
    "qualified",
    "quoted",
    "request_entity_too_large",
    "service_unavailable",
    "success",
    "timeout",
    "too_large_version",
    "too_many_requests",
    "unauthorized",
    "unknown_resource",
    "unsupported_media_type",
    "untyped_error",
]

# The escapes of Go's `strconv.Quote`.
ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


@final
class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of `details.causes`; `reason` is a `metav1.CauseType`."""

    field: str = ""
    reason: str = ""
    message: str = ""
    # Found by kube-apiserver's declarative validation, which runs after all other rules.
    declared: bool = False

    def as_dict(self) -> dict[str, str]:
        """The entry in `details.causes`: empty fields are left out."""
        fields = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in fields.items() if value}


@final
class StatusError(Exception):
    """An error response; `status` is its body."""

    def __init__(self, status: JsonObject, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status.get("message", ""))
        self.status = status
        self.headers = dict(headers or {})
        self.warnings: tuple[str, ...] = ()  # sent as headers beside the error

    @property
    def code(self) -> int:
        return int(self.status.get("code", 500))

    @property
    def reason(self) -> str:
        return str(self.status.get("reason", ""))


def _status_error(
    code: int,
    reason: str,
    message: str,
    *,
    details: Mapping[str, Json] | None = None,
    headers: Mapping[str, str] | None = None,
) -> StatusError:
    status: JsonObject = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if details is not None:
        status["details"] = {key: value for key, value in details.items() if value}
    # The order of the fields is that of metav1.Status.
    status["code"] = code
    return StatusError(status, headers=headers)


def quoted(text: str) -> str:
    """`text` as a Go string literal, as `%q` prints it."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    return character if character.isprintable() else _escape_point(ord(character))


def _escape_point(point: int) -> str:
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def success(*, group: str, plural: str, name: str, uid: str = "") -> JsonObject:
    """The `Status` of a deletion that is complete."""
    details = {"name": name, "group": group, "kind": plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }


def qualified(group: str, word: str) -> str:
    """`deployments.apps`, or `pods` for the core group."""
    return f"{word}.{group}" if group else word


def _details(group: str, plural: str, name: str) -> JsonObject:
    return {"name": name, "group": group, "kind": plural}


# --- 4xx


def bad_request(message: str) -> StatusError:  # NewBadRequest
    return _status_error(400, "BadRequest", message)


def unauthorized() -> StatusError:  # NewUnauthorized
    return _status_error(401, "Unauthorized", "Unauthorized")


def forbidden(
    group: str, plural: str, name: str, why: str, *, causes: Sequence[Cause] = ()
) -> StatusError:  # NewForbidden
    """403; `plural` is empty for non-resource URLs."""
    what = qualified(group, plural)
    subject = f'{what} "{name}" is forbidden' if name else f"{what} is forbidden"
    message = f"{subject if plural else 'forbidden'}: {why}"
    details = {**_details(group, plural, name), "causes": [each.as_dict() for each in causes]}
    return _status_error(403, "Forbidden", message, details=details)


def cross_site_request(code: int, message: str) -> StatusError:
    """400 or 403 for a request that a foreign web page may have sent."""
    return _status_error(code, "BadRequest" if code == 400 else "Forbidden", message, details={})


def not_found(group: str, plural: str, name: str) -> StatusError:  # NewNotFound
    message = f'{qualified(group, plural)} "{name}" not found'
    return _status_error(404, "NotFound", message, details=_details(group, plural, name))


def unknown_resource() -> StatusError:  # NewGenericServerResponse
    """404 for a resource that a served group version does not have."""
    message = "the server could not find the requested resource"
    return _status_error(404, "NotFound", message, details={})


def method_not_supported(
    group: str, plural: str, verb: str
) -> StatusError:  # NewMethodNotSupported
    """405 for a verb that the resource does not have."""
    message = f'{verb} is not supported on resources of kind "{qualified(group, plural)}"'
    return _status_error(405, "MethodNotAllowed", message, details=_details(group, plural, ""))


def method_not_allowed() -> StatusError:  # NewGenericServerResponse
    """405 for an HTTP method that means nothing at this path."""
    message = "the server does not allow this method on the requested resource"
    return _status_error(405, "MethodNotAllowed", message, details={})


def not_acceptable(accepted: Iterable[str]) -> StatusError:  # negotiation.NewNotAcceptableError
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return _status_error(406, "NotAcceptable", message)


def not_representable(message: str) -> StatusError:  # newNotAcceptableError
    """406 for a representation that the response cannot have, such as a list of one object."""
    return _status_error(406, "NotAcceptable", message)


def no_route_produces(available: Iterable[str]) -> StatusError:  # NewGenericServerResponse
    """406 of a route, before its handler; the text is that of go-restful."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}"
    return _status_error(406, "NotAcceptable", message, details={})


def no_route_consumes() -> StatusError:  # NewGenericServerResponse
    """415 of a route, before its handler; the text is that of go-restful."""
    message = "415: Unsupported Media Type"
    return _status_error(415, "UnsupportedMediaType", message, details={})


def already_exists(group: str, plural: str, name: str) -> StatusError:  # NewAlreadyExists
    message = f'{qualified(group, plural)} "{name}" already exists'
    return _status_error(409, "AlreadyExists", message, details=_details(group, plural, name))


def generate_name_conflict(
    group: str, plural: str, name: str
) -> StatusError:  # NewGenerateNameConflict
    """409 for `generateName` when all generated names exist."""
    message = (
        f'{qualified(group, plural)} "{name}" already exists, the server was not able to '
        "generate a unique name for the object"
    )
    details = {**_details(group, plural, name), "retryAfterSeconds": 1}
    return _status_error(409, "AlreadyExists", message, details=details)


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(
    group: str, plural: str, name: str, why: str = MODIFIED, *, causes: Sequence[Cause] = ()
) -> StatusError:  # NewConflict
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    details = {**_details(group, plural, name), "causes": [each.as_dict() for each in causes]}
    return _status_error(409, "Conflict", message, details=details)


def apply_conflict(causes: Sequence[Cause], message: str) -> StatusError:  # NewApplyConflict
    """409 of a server-side apply; the causes name field and manager."""
    return _status_error(
        409, "Conflict", message, details={"causes": [each.as_dict() for each in causes]}
    )


def expired(message: str, *, next_page: str = "") -> StatusError:  # NewResourceExpired
    """410; `next_page` is a token to continue the list inconsistently."""
    error = _status_error(410, "Expired", message)
    if next_page:
        error.status["metadata"] = {"continue": next_page}
    return error


def request_entity_too_large(limit: int) -> StatusError:  # NewRequestEntityTooLargeError
    message = f"Request entity too large: limit is {limit}"
    return _status_error(413, "RequestEntityTooLarge", message)


def unsupported_media_type(
    accepted: Iterable[str],
) -> StatusError:  # negotiation.NewUnsupportedMediaTypeError
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join(accepted)}"
    )
    return _status_error(415, "UnsupportedMediaType", message)


def joined(causes: Sequence[Cause]) -> str:
    """The causes as one text."""
    # field.ErrorList.ToAggregate drops equal messages; the details keep every cause.
    messages = list(dict.fromkeys(f"{each.field}: {each.message}" for each in causes))
    return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> StatusError:  # NewInvalid
    """422 with all causes; here `details.kind` is the kind, elsewhere it is the resource."""
    message = f"{qualified(group, kind)} {quoted(name)} is invalid"
    if causes:
        message += f": {joined(causes)}"
    details = {
        "name": name,
        "group": group,
        "kind": kind,
        "causes": [each.as_dict() for each in causes],
    }
    return _status_error(422, "Invalid", message, details=details)


def too_many_requests(
    message: str, *, retry_after: int = 0, causes: Sequence[Cause] = ()
) -> StatusError:  # NewTooManyRequests
    details = {
        "retryAfterSeconds": retry_after,
        "causes": [each.as_dict() for each in causes],
    }
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return _status_error(429, "TooManyRequests", message, details=details, headers=headers)


# --- 5xx


def internal_error(message: str) -> StatusError:  # NewInternalError
    return _status_error(
        500,
        "InternalError",
        f"Internal error occurred: {message}",
        details={"causes": [{"message": message}]},
    )


def untyped_error(message: str) -> StatusError:
    """500 without a reason: an error that kube-apiserver returns without converting it."""
    error = _status_error(500, "", message)
    del error.status["reason"]
    return error


def service_unavailable(message: str) -> StatusError:  # NewServiceUnavailable
    return _status_error(503, "ServiceUnavailable", message)


def timeout(
    message: str, *, retry_after: int = 0, causes: Sequence[Cause] = ()
) -> StatusError:  # NewTimeoutError
    details = {
        "causes": [each.as_dict() for each in causes],
        "retryAfterSeconds": retry_after,
    }
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return _status_error(504, "Timeout", f"Timeout: {message}", details=details, headers=headers)


def too_large_version(
    version: int, current: int
) -> StatusError:  # storage.NewTooLargeResourceVersionError
    """504 for a resource version in the future."""
    cause = Cause(reason="ResourceVersionTooLarge", message="Too large resource version")
    message = f"Too large resource version: {version}, current: {current}"
    return timeout(message, retry_after=1, causes=[cause])
