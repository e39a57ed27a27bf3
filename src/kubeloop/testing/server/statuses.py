"""Every refusal the server can give, as the `Status` that kube-apiserver would send.

Promises: reason, code, message and details have kube-apiserver's shape; nothing of
the server's own insides (a traceback, a path of the machine) is ever in one.
Elsewhere: how a refusal becomes an HTTP answer (`http`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import msgspec

__all__ = [
    "Cause",
    "Refusal",
    "already_exists",
    "apply_conflict",
    "bad_request",
    "conflict",
    "expired",
    "forbidden",
    "from_web_page",
    "generate_name_conflict",
    "internal_error",
    "invalid",
    "method_not_allowed",
    "method_not_supported",
    "not_acceptable",
    "not_found",
    "qualified",
    "request_entity_too_large",
    "server_timeout",
    "service_unavailable",
    "success",
    "timeout",
    "too_large_version",
    "too_many_requests",
    "unauthorized",
    "unexplained",
    "unknown_resource",
    "unsupported_media_type",
]


@final
class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong with a request; `reason` is the API's word for its sort."""

    field: str = ""
    reason: str = ""
    message: str = ""

    def as_dict(self) -> dict[str, str]:
        """The cause as it stands in `details.causes`: what is empty is left out."""
        said = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in said.items() if value}


@final
class Refusal(Exception):
    """The server says no; `status` is the whole body of the answer."""

    def __init__(self, status: dict[str, Any], *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status.get("message", ""))
        self.status = status
        self.headers = dict(headers or {})
        self.warnings: tuple[str, ...] = ()  # what the client is told beside the refusal

    @property
    def code(self) -> int:
        return int(self.status.get("code", 500))

    @property
    def reason(self) -> str:
        return str(self.status.get("reason", ""))


def _refusal(
    code: int,
    reason: str,
    message: str,
    *,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Refusal:
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if details is not None:
        status["details"] = {key: value for key, value in details.items() if value}
    status["code"] = code
    return Refusal(status, headers=headers)


def success(*, group: str, plural: str, name: str, uid: str = "") -> dict[str, Any]:
    """The `Status` that a finished deletion is answered with."""
    said = {"name": name, "group": group, "kind": plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in said.items() if value},
    }


def qualified(group: str, word: str) -> str:
    """`deployments.apps`, or `pods` for the core group."""
    return f"{word}.{group}" if group else word


def _about(group: str, plural: str, name: str) -> dict[str, Any]:
    return {"name": name, "group": group, "kind": plural}


# --- 400s that say what is wrong with the request


def bad_request(message: str) -> Refusal:
    return _refusal(400, "BadRequest", message)


def unauthorized() -> Refusal:
    return _refusal(401, "Unauthorized", "Unauthorized")


def forbidden(
    group: str, plural: str, name: str, why: str, *, causes: Sequence[Cause] = ()
) -> Refusal:
    """403; `plural` is empty for paths that are no resource."""
    what = qualified(group, plural)
    subject = f'{what} "{name}" is forbidden' if name else f"{what} is forbidden"
    message = f"{subject if plural else 'forbidden'}: {why}"
    details = {**_about(group, plural, name), "causes": [each.as_dict() for each in causes]}
    return _refusal(403, "Forbidden", message, details=details)


def from_web_page(code: int, message: str) -> Refusal:
    """400 or 403 for a request that a web page of somebody else may have sent."""
    return _refusal(code, "BadRequest" if code == 400 else "Forbidden", message, details={})


def not_found(group: str, plural: str, name: str) -> Refusal:
    message = f'{qualified(group, plural)} "{name}" not found'
    return _refusal(404, "NotFound", message, details=_about(group, plural, name))


def unknown_resource() -> Refusal:
    """404 for a resource that a served group version does not have."""
    message = "the server could not find the requested resource"
    return _refusal(404, "NotFound", message, details={})


def method_not_supported(group: str, plural: str, verb: str) -> Refusal:
    """405 for a verb that the resource does not have."""
    message = f'{verb} is not supported on resources of kind "{qualified(group, plural)}"'
    return _refusal(405, "MethodNotAllowed", message, details=_about(group, plural, ""))


def method_not_allowed() -> Refusal:
    """405 for an HTTP method that means nothing at this path."""
    message = "the server does not allow this method on the requested resource"
    return _refusal(405, "MethodNotAllowed", message, details={})


def not_acceptable(accepted: Iterable[str]) -> Refusal:
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return _refusal(406, "NotAcceptable", message)


def already_exists(group: str, plural: str, name: str) -> Refusal:
    message = f'{qualified(group, plural)} "{name}" already exists'
    return _refusal(409, "AlreadyExists", message, details=_about(group, plural, name))


def generate_name_conflict(group: str, plural: str, name: str) -> Refusal:
    """409 for a generated name that is taken, however often another was made up."""
    message = (
        f'{qualified(group, plural)} "{name}" already exists, the server was not able to '
        "generate a unique name for the object"
    )
    details = {**_about(group, plural, name), "retryAfterSeconds": 1}
    return _refusal(409, "AlreadyExists", message, details=details)


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(
    group: str, plural: str, name: str, why: str = MODIFIED, *, causes: Sequence[Cause] = ()
) -> Refusal:
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    details = {**_about(group, plural, name), "causes": [each.as_dict() for each in causes]}
    return _refusal(409, "Conflict", message, details=details)


def apply_conflict(causes: Sequence[Cause], message: str) -> Refusal:
    """409 of a server-side apply; the causes name field and manager."""
    return _refusal(
        409, "Conflict", message, details={"causes": [each.as_dict() for each in causes]}
    )


def expired(message: str, *, next_page: str = "") -> Refusal:
    """410; `next_page` is a token for going on at the cost of consistency."""
    refusal = _refusal(410, "Expired", message)
    if next_page:
        refusal.status["metadata"] = {"continue": next_page}
    return refusal


def request_entity_too_large(limit: int) -> Refusal:
    message = f"Request entity too large: limit is {limit}"
    return _refusal(413, "RequestEntityTooLarge", message)


def unsupported_media_type(accepted: Iterable[str]) -> Refusal:
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join(accepted)}"
    )
    return _refusal(415, "UnsupportedMediaType", message)


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> Refusal:
    """422 with every cause; unlike elsewhere `details.kind` is the Kind, not the resource."""
    message = f'{qualified(group, kind)} "{name}" is invalid'
    # Equal messages are told once, but each cause stays in the details.
    told = list(dict.fromkeys(f"{each.field}: {each.message}" for each in causes))
    if told:
        message += f": {told[0]}" if len(told) == 1 else f": [{', '.join(told)}]"
    details = {
        "name": name,
        "group": group,
        "kind": kind,
        "causes": [each.as_dict() for each in causes],
    }
    return _refusal(422, "Invalid", message, details=details)


def too_many_requests(
    message: str, *, retry_after: int = 0, causes: Sequence[Cause] = ()
) -> Refusal:
    details = {
        "retryAfterSeconds": retry_after,
        "causes": [each.as_dict() for each in causes],
    }
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return _refusal(429, "TooManyRequests", message, details=details, headers=headers)


# --- 500s


def internal_error(message: str) -> Refusal:
    return _refusal(
        500,
        "InternalError",
        f"Internal error occurred: {message}",
        details={"causes": [{"message": message}]},
    )


def unexplained(message: str) -> Refusal:
    """500 without a reason: an error that kube-apiserver passes on as it is."""
    refusal = _refusal(500, "", message)
    del refusal.status["reason"]
    return refusal


def service_unavailable(message: str) -> Refusal:
    return _refusal(503, "ServiceUnavailable", message)


def timeout(message: str, *, retry_after: int = 0, causes: Sequence[Cause] = ()) -> Refusal:
    details = {
        "causes": [each.as_dict() for each in causes],
        "retryAfterSeconds": retry_after,
    }
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return _refusal(504, "Timeout", f"Timeout: {message}", details=details, headers=headers)


def too_large_version(asked: int, current: int) -> Refusal:
    """504 for a resource version that this server has not reached."""
    cause = Cause(reason="ResourceVersionTooLarge", message="Too large resource version")
    message = f"Too large resource version: {asked}, current: {current}"
    return timeout(message, retry_after=1, causes=[cause])


def server_timeout(group: str, plural: str, verb: str, retry_after: int) -> Refusal:
    message = (
        f"The {verb} operation against {qualified(group, plural)} could not be completed at "
        "this time, please try again."
    )
    details = {**_about(group, plural, ""), "retryAfterSeconds": retry_after}
    headers = {"Retry-After": str(retry_after)}
    return _refusal(500, "ServerTimeout", message, details=details, headers=headers)
