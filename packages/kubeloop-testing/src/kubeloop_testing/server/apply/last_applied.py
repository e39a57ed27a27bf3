"""The annotation of kubectl's client-side apply, as server-side apply treats it.

kube-apiserver lets `kubectl apply --server-side` take over fields of client-side apply without
conflicts (`lastAppliedManager`), and updates the annotation so that users can go back
(`lastAppliedUpdater`).
Guarantees: pure; an annotation that cannot be parsed is ignored.
See also: conflicts and owners (`managed`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kubeloop.wire import InvalidArgument

from .fieldsets import EMPTY, FieldSet
from .object_fields import compare, fields_of
from .shapes import Shape

__all__ = ["LAST_APPLIED", "client_side_fields", "with_last_applied"]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
# What Go's encoding/json escapes in strings; none of them occurs outside of strings.
_ESCAPES: Final = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def client_side_fields(stored: dict[str, Any], shape: Shape, *, api_version: str) -> FieldSet:
    """The fields whose values are still those of kubectl's last client-side apply."""
    try:
        last = msgspec.json.decode(_annotations(stored).get(LAST_APPLIED) or "null")
        if not isinstance(last, dict) or last.get("apiVersion") != api_version:
            return EMPTY
        change = compare(last, stored, shape)
        return fields_of(last, shape) - change.new_values - change.removed
    except (msgspec.DecodeError, InvalidArgument):
        return EMPTY


def with_last_applied(obj: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    """`obj` with `applied` in the annotation, if it has one."""
    annotations = _annotations(obj)
    if not annotations.get(LAST_APPLIED):
        return obj
    content = _without_annotation(applied)
    text = msgspec.json.encode(content, order="deterministic").decode() + "\n"
    return _with_annotations(obj, {**annotations, LAST_APPLIED: text.translate(_ESCAPES)})


def _without_annotation(applied: dict[str, Any]) -> dict[str, Any]:
    annotations = _annotations(applied)
    if LAST_APPLIED not in annotations:
        return applied
    rest = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    return _with_annotations(applied, rest)


def _annotations(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _with_annotations(obj: dict[str, Any], annotations: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}
