"""An admission review: what the server asks of a webhook, and what it is answered.

Promises: pure; what is no review is refused with words, and never allowed; a handler is
given objects of its own, and of a change only the difference is answered, so that fields
newer than the class survive.
Elsewhere: receiving reviews (`webhook_server`), conversion (`conversion`).
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
    "allowed",
    "check_object",
    "denied",
    "patch_between",
    "read_review",
]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)

Operation: TypeAlias = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]

_API_VERSION = "admission.k8s.io/v1"


class Denied(KubeError):
    """Raised by a handler to say no; the user who asked is shown the message.

    ```python
    raise Denied("spec.replicas: at most 10")
    ```
    """

    def __init__(self, message: str, *, code: int = 403, reason: str = "Forbidden") -> None:
        super().__init__(message)
        self.message = message  # as given, for the answer; `str()` is one line
        self.code = code
        self.reason = reason


@final
class UserInfo(msgspec.Struct, frozen=True):
    """Who asks."""

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


class Asked(msgspec.Struct, frozen=True, rename="camel"):
    """The request of a review, as it stands there."""

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
    request: Asked | None = None


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str | None = None
    namespace: str | None = None
    generate_name: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    """What every object has, so that the functions of a webhook can rely on it."""

    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None


_reviews = msgspec.json.Decoder(_Review)


@final
class AdmissionRequest(Generic[T]):
    """What is asked, besides the object itself.

    `old` is the object as it was, for updates and deletes.
    """

    def __init__(self, asked: Asked, old: T | None, *, warnings: list[str] | None = None) -> None:
        self.uid = asked.uid
        self.operation: Operation = asked.operation
        self.kind = GroupVersionKind(asked.kind.group, asked.kind.version, asked.kind.kind)
        self.resource = GroupVersionResource(
            asked.resource.group, asked.resource.version, asked.resource.resource
        )
        self.subresource = asked.sub_resource
        self.key = key_of(asked)
        self.user = asked.user_info
        self.dry_run = bool(asked.dry_run)
        self.options: Mapping[str, Any] = asked.options or {}
        self.old = old
        self.warnings = [] if warnings is None else warnings

    def warn(self, text: str) -> None:
        """Show the user a warning, whatever is decided."""
        self.warnings.append(text)


def read_review(body: bytes) -> Asked:
    """Raises: InvalidArgument when it is no review that we know."""
    try:
        # As text: names of fields that are not looked at would not be checked.
        review = _reviews.decode(body.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgument(f"admission review: it cannot be read: {error}") from error
    if (review.api_version, review.kind) != (_API_VERSION, "AdmissionReview"):
        raise InvalidArgument(
            f"admission review: found {review.api_version!r} {review.kind!r}, expected"
            f" {_API_VERSION} AdmissionReview (say v1 in admissionReviewVersions)"
        )
    if review.request is None:
        raise InvalidArgument("admission review: it has no request")
    check_object("admission review: the object", review.request.object)
    check_object("admission review: the old object", review.request.old_object)
    return review.request


def check_object(what: str, obj: Mapping[str, Any] | None) -> None:
    """Raises: InvalidArgument when no object of the API can look like that."""
    if obj is None:
        return
    try:
        msgspec.convert(obj, _Object)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"{what} is none of the API: {error}") from error


def objects_of(asked: Asked, cls: type[R]) -> tuple[R, R | None]:
    """The object that it is about, and the old one; of a delete the old one is both.

    Raises: Denied when it does not read as the class.
    """
    try:
        new = cls.from_dict(asked.object) if asked.object is not None else None
        old = cls.from_dict(asked.old_object) if asked.old_object is not None else None
    except DecodeError as error:
        raise Denied(f"{key_of(asked)}: {error}", code=400, reason="BadRequest") from error
    about = new if new is not None else old
    if about is None:
        raise Denied(f"{key_of(asked)}: the review has no object", code=400, reason="BadRequest")
    return about, old


def key_of(asked: Asked) -> ObjectKey:
    """Which object; one that is to be named by the server has no name yet."""
    metadata = (asked.object or asked.old_object or {}).get("metadata") or {}
    name = asked.name or metadata.get("name") or metadata.get("generateName") or ""
    return ObjectKey(asked.namespace, name)


def patch_between(
    before: Mapping[str, Any],
    changed: object,
    cls: type[Kind],
    *,
    asked: Mapping[str, Any] | None = None,
) -> bytes | None:
    """The JSON patch to the object that a handler returned; None when there is no change.

    `before` is the object as the class has read it. The patch is for the one that was `asked`
    about, which need not have what the class has by default.

    Raises: InvalidArgument when that is no object of the class.
    """
    if not isinstance(changed, cls):
        raise InvalidArgument(
            f"mutate returned {changed!r} (return the {cls.__name__}, or nothing)"
        )
    operations = json_patch_between(dict(before), changed.to_dict())
    if asked is not None:
        operations = _groundwork(operations, asked, before) + operations
    return msgspec.json.encode(operations) if operations else None


def _groundwork(
    operations: Sequence[Mapping[str, Any]], asked: Mapping[str, Any], before: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Adds what the class has by default and the object has not, where the change builds on it."""
    ground: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = _missing(asked, operation["path"])
        if path and (operation["op"], operation["path"]) != ("add", path):
            value = functools.reduce(_child, _steps(path), before)
            ground[path] = {"op": "add", "path": path, "value": value}
    return list(ground.values())


def _missing(document: Any, path: str) -> str:
    """The first part of a path that leads to nothing; empty when all of it is there."""
    steps = _steps(path)
    for number, step in enumerate(steps, start=1):
        if isinstance(document, dict) and document.get(step) is None:
            return "/".join(path.split("/")[: number + 1])
        if number < len(steps):  # the last one may be a new place in a list
            document = _child(document, step)
    return ""


def _child(document: Any, step: str) -> Any:
    return document[int(step)] if isinstance(document, list) else document[step]


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def allowed(uid: str, *, patch: bytes | None = None, warnings: Sequence[str] = ()) -> bytes:
    """The answer yes, perhaps with a change."""
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if patch is not None:
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
    return _answer(response, warnings)


def denied(
    uid: str, message: str, *, code: int, reason: str = "", warnings: Sequence[str] = ()
) -> bytes:
    """The answer no."""
    status = {"status": "Failure", "message": message, "code": code}
    if reason:
        status["reason"] = reason
    return _answer({"uid": uid, "allowed": False, "status": status}, warnings)


def _answer(response: dict[str, Any], warnings: Sequence[str]) -> bytes:
    if warnings:
        response["warnings"] = list(warnings)
    return msgspec.json.encode(
        {"apiVersion": _API_VERSION, "kind": "AdmissionReview", "response": response}
    )
