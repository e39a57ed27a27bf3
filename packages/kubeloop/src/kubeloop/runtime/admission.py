"""Admission reviews: the request of the API server, and the response of a webhook.

Guarantees: pure; an invalid review is rejected with a reason, and never allowed; a function
gets copies of objects, and the response to a change is only the difference, so that fields
newer than the class are kept.
See also: `webhook_server` (receives reviews), `conversion` (conversion reviews).
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument, KubeError
from kubeloop.meta import GroupVersionKind, GroupVersionResource, ObjectKey
from kubeloop.patches import json_patch_between
from kubeloop.wire import Kind, Resource

__all__ = [
    "AdmissionRequest",
    "Denied",
    "Operation",
    "UserInfo",
    "allow_response",
    "check_object",
    "deny_response",
    "patch_between",
    "read_review",
]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)

Operation: TypeAlias = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]

_API_VERSION = "admission.k8s.io/v1"


class Denied(KubeError):
    """Raised by a webhook's function to deny a request; the user sees the message.

    ```python
    raise Denied("spec.replicas: at most 10")
    ```
    """

    def __init__(self, message: str, *, code: int = 403, reason: str = "Forbidden") -> None:
        super().__init__(message)
        self.message = message  # as given, for the response; `str()` is one line
        self.code = code
        self.reason = reason


@final
class UserInfo(msgspec.Struct, frozen=True):
    """The user of a request."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)


class _Kind(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Resource(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class ReviewRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The field `request` of a review."""

    uid: str
    kind: _Kind
    resource: _Resource
    operation: Operation
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: UserInfo = UserInfo()
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None
    dry_run: bool | None = None
    options: dict[str, Any] | None = None


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: ReviewRequest | None = None


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str | None = None
    namespace: str | None = None
    generate_name: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    """What every object has, so that functions can rely on it."""

    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None


_reviews = msgspec.json.Decoder(_Review)


@final
class AdmissionRequest(Generic[T]):
    """The request, besides the object itself (controller-runtime: `admission.Request`).

    `old` is the object before an update or a delete.
    """

    def __init__(
        self, request: ReviewRequest, old: T | None, *, warnings: list[str] | None = None
    ) -> None:
        self.uid = request.uid
        self.operation: Operation = request.operation
        self.kind = GroupVersionKind(request.kind.group, request.kind.version, request.kind.kind)
        self.resource = GroupVersionResource(
            request.resource.group, request.resource.version, request.resource.resource
        )
        self.subresource = request.sub_resource
        self.key = key_of(request)
        self.user = request.user_info
        self.dry_run = bool(request.dry_run)
        self.options: Mapping[str, Any] = request.options or {}
        self.old = old
        self.warnings = [] if warnings is None else warnings

    def warn(self, text: str) -> None:
        """Show the user a warning, also if the request is denied."""
        self.warnings.append(text)


def read_review(body: bytes) -> ReviewRequest:
    """Raises: InvalidArgument when it is not a valid v1 review."""
    try:
        # As text: msgspec does not check that unknown field names are UTF-8.
        review = _reviews.decode(body.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgument(f"admission review: invalid: {error}") from error
    if (review.api_version, review.kind) != (_API_VERSION, "AdmissionReview"):
        raise InvalidArgument(
            f"admission review: found {review.api_version!r} {review.kind!r}, expected"
            f" {_API_VERSION} AdmissionReview (set admissionReviewVersions to v1)"
        )
    if review.request is None:
        raise InvalidArgument("admission review: no request")
    check_object("admission review: the object", review.request.object)
    check_object("admission review: the old object", review.request.old_object)
    return review.request


def check_object(what: str, obj: Mapping[str, Any] | None) -> None:
    """Raises: InvalidArgument when it is not an object of the API."""
    if obj is None:
        return
    try:
        msgspec.convert(obj, _Object)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"{what} is not an object of the API: {error}") from error


def objects_of(request: ReviewRequest, cls: type[R]) -> tuple[R, R | None]:
    """The object, and the old one; for a delete both are the old one.

    Raises: Denied when it does not fit the class.
    """
    try:
        new = cls.from_dict(request.object) if request.object is not None else None
        old = cls.from_dict(request.old_object) if request.old_object is not None else None
    except DecodeError as error:
        raise Denied(f"{key_of(request)}: {error}", code=400, reason="BadRequest") from error
    obj = new if new is not None else old
    if obj is None:
        raise Denied(f"{key_of(request)}: the review has no object", code=400, reason="BadRequest")
    return obj, old


def key_of(request: ReviewRequest) -> ObjectKey:
    """The key of the object; with `generateName` if the server has not named it yet."""
    metadata = (request.object or request.old_object or {}).get("metadata") or {}
    name = request.name or metadata.get("name") or metadata.get("generateName") or ""
    return ObjectKey(request.namespace, name)


def patch_between(
    before: Mapping[str, Any],
    changed: object,
    cls: type[Kind],
    *,
    sent: Mapping[str, Any] | None = None,
) -> bytes | None:
    """The JSON patch to the object that a function returned; None if there is no change.

    `before` is the object as the class decoded it. The patch is for the object that was
    `sent`, which may lack what the class has by default.

    Raises: InvalidArgument when it is not an object of the class.
    """
    if not isinstance(changed, cls):
        raise InvalidArgument(
            f"mutate returned {changed!r} (return the {cls.__name__}, or nothing)"
        )
    operations = json_patch_between(dict(before), changed.to_dict())
    if sent is not None:
        operations = _missing_parents(operations, sent, before) + operations
    return msgspec.json.encode(operations) if operations else None


def _missing_parents(
    operations: Sequence[Mapping[str, Any]], sent: Mapping[str, Any], before: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Operations that add defaults of the class on which the change depends."""
    parents: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = _first_missing(sent, operation["path"])
        if path and (operation["op"], operation["path"]) != ("add", path):
            value = functools.reduce(_child, _steps(path), before)
            parents[path] = {"op": "add", "path": path, "value": value}
    return list(parents.values())


def _first_missing(document: Any, path: str) -> str:
    """The first part of a path that does not exist; empty if all of it exists."""
    steps = _steps(path)
    for number, step in enumerate(steps, start=1):
        if isinstance(document, dict) and document.get(step) is None:
            return "/".join(path.split("/")[: number + 1])
        if number < len(steps):  # the last one may be a new position in a list
            document = _child(document, step)
    return ""


def _child(document: Any, step: str) -> Any:
    return document[int(step)] if isinstance(document, list) else document[step]


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def allow_response(uid: str, *, patch: bytes | None = None, warnings: Sequence[str] = ()) -> bytes:
    """The response that allows the request, with an optional patch."""
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if patch is not None:
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
    return _review(response, warnings)


def deny_response(
    uid: str, message: str, *, code: int, reason: str = "", warnings: Sequence[str] = ()
) -> bytes:
    """The response that denies the request."""
    status = {"status": "Failure", "message": message, "code": code}
    if reason:
        status["reason"] = reason
    return _review({"uid": uid, "allowed": False, "status": status}, warnings)


def _review(response: dict[str, Any], warnings: Sequence[str]) -> bytes:
    if warnings:
        response["warnings"] = list(warnings)
    return msgspec.json.encode(
        {"apiVersion": _API_VERSION, "kind": "AdmissionReview", "response": response}
    )
