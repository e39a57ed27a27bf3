"""References from events to objects.

Guarantees: a reference shares nothing with its object; an object without apiVersion and kind
is rejected, never guessed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeAlias

from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersion
from kubeloop.wire import Kind
from kubeloop.wire.core.v1 import ObjectReference

__all__ = ["Regarding", "object_reference"]

Regarding: TypeAlias = Kind | Mapping[str, Any] | ObjectReference
"""What an event can be about: a typed object, a dict, or an object reference."""


def object_reference(obj: Regarding, *, field_path: str = "") -> ObjectReference:
    """The reference to an object, or a copy of a reference (client-go: `GetReference`).

    The reference to a list has no name. `field_path` names a part of the object, such as
    `spec.containers{web}`.

    Raises:
        InvalidArgument: it is not an object of the API, has no apiVersion or kind, or its
            apiVersion does not parse.
    """
    reference = _reference(obj)
    if field_path:
        reference.field_path = field_path
    return reference


def _reference(obj: Regarding | None) -> ObjectReference:
    if isinstance(obj, ObjectReference):
        return copy.deepcopy(obj)
    if isinstance(obj, Kind):
        # Only the metadata: the whole object may be large.
        metadata = getattr(obj, "metadata", None)
        fields = metadata.to_dict() if metadata is not None else {}
        return _create(obj.api_version, obj.kind, fields)
    if isinstance(obj, Mapping):
        return _create(obj.get("apiVersion"), obj.get("kind"), obj.get("metadata") or {})
    raise InvalidArgument(
        f"reference to a {type(obj).__name__}: not an object of the API (give a typed"
        " object, a dict or an ObjectReference)"
    )


def _create(
    api_version: str | None, kind: str | None, metadata: Mapping[str, Any]
) -> ObjectReference:
    if not api_version or not kind:
        raise InvalidArgument(
            f"reference to {metadata.get('name') or 'an object'!r}: apiVersion or kind is missing"
            " (set both)"
        )
    GroupVersion.parse(api_version)  # raises if it is not an apiVersion
    return ObjectReference(
        api_version=api_version,
        kind=kind,
        name=metadata.get("name") or None,
        namespace=metadata.get("namespace") or None,
        uid=metadata.get("uid") or None,
        resource_version=metadata.get("resourceVersion") or None,
    )
