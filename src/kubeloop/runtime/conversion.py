"""Conversion of a custom kind between its versions, as functions between its classes.

Promises: what an object is called and who owns it stays, whatever a function does, and its
labels and annotations stay unless a function sets others; versions that no function joins
directly are reached over others; one object that cannot be converted fails the review: the
answer and the log say which, and why.
Elsewhere: receiving reviews (`webhook_server`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire import Resource, get_logger, resource_of

from .admission import check_object

__all__ = ["ConversionFunction", "Conversions"]

log = get_logger(__name__)

ConversionFunction: TypeAlias = Callable[[Any], Any]
Place: TypeAlias = tuple[str, str]  # apiVersion and kind

_API_VERSION = "apiextensions.k8s.io/v1"


class _Asked(msgspec.Struct, frozen=True, rename={"desired": "desiredAPIVersion"}):
    uid: str
    desired: str
    objects: Sequence[dict[str, Any]] = ()


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: _Asked | None = None


_reviews = msgspec.json.Decoder(_Review)


@final
class Conversions:
    """Functions between classes, and the ways over them."""

    def __init__(self) -> None:
        self._classes: dict[Place, type[Resource]] = {}
        self._steps: dict[Place, dict[Place, ConversionFunction]] = {}
        self.converted = 0  # reviews
        self.failed = 0

    def add(self, old: type[Resource], new: type[Resource], function: ConversionFunction) -> None:
        """Raises: InvalidArgument when the classes are not versions of one kind."""
        one, other = resource_of(old), resource_of(new)
        if (one.group, one.kind) != (other.group, other.kind) or one.version == other.version:
            raise InvalidArgument(
                f"convert {old.__name__} to {new.__name__}: they are not two versions of one kind"
            )
        here, there = (one.api_version, one.kind), (other.api_version, other.kind)
        self._classes |= {here: old, there: new}
        self._steps.setdefault(here, {})[there] = function

    def __len__(self) -> int:
        return sum(map(len, self._steps.values()))

    def answer(self, body: bytes) -> bytes:
        """The answer to a ConversionReview. Raises: InvalidArgument when it is none."""
        asked = _read(body)
        converted: list[dict[str, Any]] = []
        for obj in asked.objects:
            try:
                converted.append(self.convert(obj, asked.desired))
            except Exception as error:  # functions of the user's; said to the server
                log.exception("%s: the conversion to %s failed", _key(obj), asked.desired)
                self.failed += 1
                result = {
                    "status": "Failure",
                    "message": f"{_key(obj)}: {str(error) or repr(error)}",
                }
                return _answered({"uid": asked.uid, "result": result})
        self.converted += 1
        return _answered(
            {"uid": asked.uid, "result": {"status": "Success"}, "convertedObjects": converted}
        )

    def convert(self, obj: Mapping[str, Any], version: str) -> dict[str, Any]:
        """One object in another version, as dicts. Raises: InvalidArgument, or as the function."""
        here = (str(obj.get("apiVersion")), str(obj.get("kind")))
        path = self._path(here, (version, here[1]))
        value: Any = dict(obj)
        for start, end in path:
            said = self._steps[start][end](self._classes[start].from_dict(value))
            before = value.get("metadata") or {}
            value = _checked(said, self._classes[end]).to_dict()
            value["metadata"] = _kept(before, value.get("metadata") or {})
        return dict(value)

    def _path(self, here: Place, goal: Place) -> list[tuple[Place, Place]]:
        came: dict[Place, Place | None] = {here: None}
        waiting = deque([here])
        while waiting and goal not in came:
            place = waiting.popleft()
            for step in self._steps.get(place, {}):
                if step not in came:
                    came[step] = place
                    waiting.append(step)
        if goal not in came:
            raise InvalidArgument(
                f"convert {here[1]} from {here[0]} to {goal[0]}: nobody knows how"
            )
        path: list[tuple[Place, Place]] = []
        while (before := came[goal]) is not None:
            path.append((before, goal))
            goal = before
        return path[::-1]


def _read(body: bytes) -> _Asked:
    try:
        # As text: names of fields that are not looked at would not be checked.
        review = _reviews.decode(body.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgument(f"conversion review: it cannot be read: {error}") from error
    if review.kind != "ConversionReview" or review.api_version != _API_VERSION:
        raise InvalidArgument(
            f"conversion review: found {review.api_version!r} {review.kind!r} (expected"
            f" {_API_VERSION} ConversionReview)"
        )
    if review.request is None:
        raise InvalidArgument("conversion review: it has no request")
    for obj in review.request.objects:
        check_object("conversion review: an object", obj)
    return review.request


def _checked(said: object, cls: type[Resource]) -> Resource:
    if isinstance(said, cls):
        return said
    raise InvalidArgument(f"the function returned {said!r}, expected {cls.__name__}")


def _key(obj: Mapping[str, Any]) -> ObjectKey:
    """Which object; whatever it looks like."""
    metadata = obj.get("metadata")
    said = metadata if isinstance(metadata, Mapping) else {}
    return ObjectKey(str(said.get("namespace") or ""), str(said.get("name") or ""))


def _kept(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The server lets a conversion change labels and annotations of metadata, and no more."""
    changed = {key: after[key] for key in ("labels", "annotations") if key in after}
    return {**before, **changed}


def _answered(response: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(
        {"apiVersion": _API_VERSION, "kind": "ConversionReview", "response": response}
    )
