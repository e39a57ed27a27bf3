"""References from events to objects, and the selector of the events about an object.

Guarantees: a reference shares nothing with its object; an object without apiVersion and kind
is rejected, never guessed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersion
from kubeloop.selectors import FieldSelector, field_selector_from_map
from kubeloop.wire import Kind
from kubeloop.wire.core.v1 import ObjectReference

__all__ = ["Regarding", "events_about", "object_reference"]

_PREFIXES: Final = {"v1": "involvedObject", "events.k8s.io/v1": "regarding"}

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


def events_about(
    *,
    name: str = "",
    kind: str = "",
    api_version: str = "",
    uid: str = "",
    events: str = "v1",
) -> FieldSelector:
    """Selects the events about an object by the fields that are given.

    `events` is the apiVersion of the events to list: `v1` or `events.k8s.io/v1`.

    Raises:
        InvalidArgument: there are no events of that apiVersion.
    """
    prefix = _PREFIXES.get(events)
    if prefix is None:
        raise InvalidArgument(f"events of apiVersion {events!r}: expected v1 or events.k8s.io/v1")
    given = {"name": name, "kind": kind, "apiVersion": api_version, "uid": uid}
    return field_selector_from_map(
        {f"{prefix}.{field}": value for field, value in given.items() if value}
    )
