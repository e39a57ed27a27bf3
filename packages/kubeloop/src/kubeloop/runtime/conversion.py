"""Conversion of a custom kind between its versions, by functions between its classes.

Guarantees: a function cannot change the identity and the owners of an object, and its labels
and annotations stay unless the function sets others; versions without a direct function are
converted through others; an object that cannot be converted fails the review, and the response
and the log name it.
See also: `webhook_server` (receives reviews).
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
VersionedKind: TypeAlias = tuple[str, str]  # apiVersion and kind

_API_VERSION = "apiextensions.k8s.io/v1"


class _Request(msgspec.Struct, frozen=True, rename={"desired": "desiredAPIVersion"}):
    uid: str
    desired: str
    objects: Sequence[dict[str, Any]] = ()


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: _Request | None = None


_reviews = msgspec.json.Decoder(_Review)


@final
class Conversions:
    """Functions between classes, and the paths over them."""

    def __init__(self) -> None:
        self._classes: dict[VersionedKind, type[Resource]] = {}
        self._steps: dict[VersionedKind, dict[VersionedKind, ConversionFunction]] = {}
        self.converted = 0  # reviews
        self.failed = 0

    def add(self, old: type[Resource], new: type[Resource], function: ConversionFunction) -> None:
        """Raises: InvalidArgument when the classes are not versions of one kind."""
        one, other = resource_of(old), resource_of(new)
        if (one.group, one.kind) != (other.group, other.kind) or one.version == other.version:
            raise InvalidArgument(
                f"convert {old.__name__} to {new.__name__}: they are not two versions of one kind"
            )
        start, end = (one.api_version, one.kind), (other.api_version, other.kind)
        self._classes |= {start: old, end: new}
        self._steps.setdefault(start, {})[end] = function

    def __len__(self) -> int:
        return sum(map(len, self._steps.values()))

    def respond(self, body: bytes) -> bytes:
        """The response to a ConversionReview. Raises: InvalidArgument when it is not one."""
        request = _read(body)
        converted: list[dict[str, Any]] = []
        for obj in request.objects:
            try:
                converted.append(self.convert(obj, request.desired))
            except Exception as error:  # of the user's functions; reported to the server
                log.exception("%s: conversion to %s failed", _key(obj), request.desired)
                self.failed += 1
                result = {
                    "status": "Failure",
                    "message": f"{_key(obj)}: {str(error) or repr(error)}",
                }
                return _review({"uid": request.uid, "result": result})
        self.converted += 1
        return _review(
            {"uid": request.uid, "result": {"status": "Success"}, "convertedObjects": converted}
        )

    def convert(self, obj: Mapping[str, Any], version: str) -> dict[str, Any]:
        """One object in another version, as dicts. Raises: InvalidArgument, or as the function."""
        kind = str(obj.get("kind"))
        path = self._path((str(obj.get("apiVersion")), kind), (version, kind))
        value: Any = dict(obj)
        for start, end in path:
            converted = self._steps[start][end](self._classes[start].from_dict(value))
            before = value.get("metadata") or {}
            value = _check_class(converted, self._classes[end]).to_dict()
            value["metadata"] = _merge_metadata(before, value.get("metadata") or {})
        return dict(value)

    def _path(
        self, start: VersionedKind, end: VersionedKind
    ) -> list[tuple[VersionedKind, VersionedKind]]:
        """The shortest path over the functions, found breadth first."""
        previous: dict[VersionedKind, VersionedKind | None] = {start: None}
        queue = deque([start])
        while queue and end not in previous:
            current = queue.popleft()
            for following in self._steps.get(current, {}):
                if following not in previous:
                    previous[following] = current
                    queue.append(following)
        if end not in previous:
            raise InvalidArgument(
                f"convert {start[1]} from {start[0]} to {end[0]}: no function converts it"
            )
        path: list[tuple[VersionedKind, VersionedKind]] = []
        while (before := previous[end]) is not None:
            path.append((before, end))
            end = before
        return path[::-1]


def _read(body: bytes) -> _Request:
    try:
        # As text: msgspec does not check that unknown field names are UTF-8.
        review = _reviews.decode(body.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgument(f"conversion review: invalid: {error}") from error
    if review.kind != "ConversionReview" or review.api_version != _API_VERSION:
        raise InvalidArgument(
            f"conversion review: found {review.api_version!r} {review.kind!r} (expected"
            f" {_API_VERSION} ConversionReview)"
        )
    if review.request is None:
        raise InvalidArgument("conversion review: no request")
    for obj in review.request.objects:
        check_object("conversion review: the object", obj)
    return review.request


def _check_class(value: object, cls: type[Resource]) -> Resource:
    if isinstance(value, cls):
        return value
    raise InvalidArgument(f"the function returned {value!r}, expected {cls.__name__}")


def _key(obj: Mapping[str, Any]) -> ObjectKey:
    """The key of an object that may be invalid."""
    metadata = obj.get("metadata")
    fields = metadata if isinstance(metadata, Mapping) else {}
    return ObjectKey(str(fields.get("namespace") or ""), str(fields.get("name") or ""))


def _merge_metadata(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """kube-apiserver lets a conversion change only labels and annotations of the metadata."""
    changed = {key: after[key] for key in ("labels", "annotations") if key in after}
    return {**before, **changed}


def _review(response: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(
        {"apiVersion": _API_VERSION, "kind": "ConversionReview", "response": response}
    )
