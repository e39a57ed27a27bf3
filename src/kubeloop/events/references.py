"""Which object an event is about, as the small reference that the event carries.

Promises: a reference shares nothing with the object it was made from; an object that does
not say its kind is refused, never guessed.
Elsewhere: references that own (`kubeloop.meta.owners`).
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
"""What an event can be about: a typed object, a dict, or a reference that was made before."""


def object_reference(obj: Regarding, *, field_path: str = "") -> ObjectReference:
    """The reference to an object; a reference is returned as it is, as a copy.

    A list, which has no name, gives kind and version only. `field_path` names a part, such
    as `spec.containers{web}`.

    Raises:
        InvalidArgument: there is no object, it does not say its apiVersion and kind, or the
            apiVersion cannot be read.
    """
    reference = _reference(obj)
    if field_path:
        reference.field_path = field_path
    return reference


def _reference(obj: Regarding | None) -> ObjectReference:
    if isinstance(obj, ObjectReference):
        return copy.deepcopy(obj)
    if isinstance(obj, Kind):
        # Only what a reference needs: the whole object may be large.
        metadata = getattr(obj, "metadata", None)
        said = metadata.to_dict() if metadata is not None else {}
        return _made(obj.api_version, obj.kind, said)
    if isinstance(obj, Mapping):
        return _made(obj.get("apiVersion"), obj.get("kind"), obj.get("metadata") or {})
    raise InvalidArgument(
        f"reference to a {type(obj).__name__}: not an object of the API (hand over a typed"
        " object, a dict or an ObjectReference)"
    )


def _made(
    api_version: str | None, kind: str | None, metadata: Mapping[str, Any]
) -> ObjectReference:
    if not api_version or not kind:
        raise InvalidArgument(
            f"reference to {metadata.get('name') or 'an object'!r}: it says neither apiVersion nor"
            " kind or only one of them (set both)"
        )
    GroupVersion.parse(api_version)  # refuses what is no apiVersion
    return ObjectReference(
        api_version=api_version,
        kind=kind,
        name=metadata.get("name") or None,
        namespace=metadata.get("namespace") or None,
        uid=metadata.get("uid") or None,
        resource_version=metadata.get("resourceVersion") or None,
    )
