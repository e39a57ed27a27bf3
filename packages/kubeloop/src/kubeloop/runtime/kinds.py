"""The names of kinds: two ways to name the same kind have one canonical form.

See also: `caches` (finds a cache by kind), `specs` (names a controller after its kind).
"""

from __future__ import annotations

from typing import TypeAlias

from kubeloop.cache import Watchable
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupKind, GroupVersionKind, GroupVersionResource
from kubeloop.wire import Resource, resource_of

__all__ = ["KindName", "canonical_kind", "check_kind", "controller_name", "group_kind"]

KindName: TypeAlias = GroupVersionKind | GroupVersionResource


def canonical_kind(kind: Watchable | type) -> KindName | type:
    """The GVK of a model class; any other name, or a class without a kind, is returned as is."""
    if not isinstance(kind, type):
        return kind
    if not issubclass(kind, Resource):
        return kind  # a struct of the user with some fields of a kind
    try:
        info = resource_of(kind)
    except InvalidArgument:
        return kind  # a model without a group and a version
    return GroupVersionKind(info.group, info.version, info.kind)


def check_kind(kind: Watchable | type) -> KindName:
    """The canonical name. Raises: InvalidArgument when it is not a kind of the API."""
    name = canonical_kind(kind)
    if isinstance(name, GroupVersionKind | GroupVersionResource):
        return name
    raise InvalidArgument(
        f"watch {kind!r}: not a kind of the API (give its class, a GroupVersionKind, or a"
        " GroupVersionResource)"
    )


def controller_name(kind: Watchable) -> str:
    """The default name of a controller. Raises: InvalidArgument when it is not a kind."""
    name = check_kind(kind)
    return (name.kind if isinstance(name, GroupVersionKind) else name.resource).lower()


def group_kind(kind: Watchable) -> GroupKind | None:
    """Group and kind; None if only the resource is known."""
    name = canonical_kind(kind)
    return name.group_kind if isinstance(name, GroupVersionKind) else None
