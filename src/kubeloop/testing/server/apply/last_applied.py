"""The annotation that kubectl's client-side apply keeps, seen from server-side apply.

kube-apiserver lets `kubectl apply --server-side` take over from its own client side
without conflicts, and keeps the annotation true so that one can go back.
Promises: pure; an annotation that cannot be read says nothing.
Elsewhere: conflicts and owners (`managed`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kubeloop.wire import InvalidArgument

from .fieldsets import EMPTY, FieldSet
from .object_fields import compare, set_of
from .shapes import Shape

__all__ = ["LAST_APPLIED", "client_side_fields", "with_last_applied"]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def client_side_fields(stored: dict[str, Any], shape: Shape, *, api_version: str) -> FieldSet:
    """The fields of an object that still stand as kubectl last applied them by itself."""
    try:
        said = msgspec.json.decode(_annotations(stored).get(LAST_APPLIED) or "null")
        if not isinstance(said, dict) or said.get("apiVersion") != api_version:
            return EMPTY
        change = compare(said, stored, shape)
        return set_of(said, shape) - change.taken - change.removed
    except (msgspec.DecodeError, InvalidArgument):
        return EMPTY


def with_last_applied(obj: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    """`obj` with `applied` in the annotation, where it has one."""
    annotations = _annotations(obj)
    if not annotations.get(LAST_APPLIED):
        return obj
    said = _without_annotation(applied)
    text = msgspec.json.encode(said, order="deterministic").decode() + "\n"
    return _annotated(obj, {**annotations, LAST_APPLIED: text})


def _without_annotation(applied: dict[str, Any]) -> dict[str, Any]:
    annotations = _annotations(applied)
    if LAST_APPLIED not in annotations:
        return applied
    rest = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    return _annotated(applied, rest)


def _annotations(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _annotated(obj: dict[str, Any], annotations: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}
