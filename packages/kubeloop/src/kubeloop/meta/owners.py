"""Owner references of an object, which the garbage collector follows.

Guarantees: an object has at most one controller; an owner is in the namespace of the object or
is cluster-scoped; a call returns whether it changed something. Works on models and on dicts,
whose other references stay as they are.
See also: finding the objects of an owner (`kubeloop.cache`), watching them (`kubeloop.runtime`).
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol, TypeAlias, cast, final

from kubeloop.wire.errors import InvalidArgument
from kubeloop.wire.meta.v1 import ObjectMeta, OwnerReference

from .identity import GroupVersionKind, ObjectKey

__all__ = [
    "AlreadyOwned",
    "Owned",
    "Owner",
    "add_owner",
    "controller_of",
    "controller_ref",
    "is_controlled_by",
    "owner_ref",
    "remove_owner",
    "set_controller",
]


@final
class AlreadyOwned(InvalidArgument):
    """The object already has another controller; it can have one only."""


class _Typed(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


class _TypedOwner(_Typed, Protocol):
    @property
    def api_version(self) -> str: ...
    @property
    def kind(self) -> str: ...


Owned: TypeAlias = _Typed | MutableMapping[str, Any]
Owner: TypeAlias = _TypedOwner | Mapping[str, Any]


def owner_ref(
    owner: Owner, *, gvk: GroupVersionKind | None = None, block_deletion: bool = False
) -> OwnerReference:
    """An owner reference; pass `gvk` if the owner has no apiVersion and kind.

    Raises:
        InvalidArgument: the owner has no kind, name or uid: it is not yet created.
    """
    gvk = gvk or _gvk_of(owner)
    metadata = _metadata_of(owner)
    if not (gvk.version and gvk.kind and metadata.name and metadata.uid):
        raise InvalidArgument(
            f"owner {gvk} {metadata.name!r}: apiVersion, kind, name and uid are needed "
            "(use the object as the server returned it)"
        )
    return OwnerReference(
        api_version=gvk.api_version,
        kind=gvk.kind,
        name=metadata.name,
        uid=metadata.uid,
        block_owner_deletion=block_deletion or None,
    )


def controller_ref(owner: Owner, *, gvk: GroupVersionKind | None = None) -> OwnerReference:
    """A controller reference: `controller` and `blockOwnerDeletion` are true.

    Raises `InvalidArgument` as `owner_ref` does.
    """
    reference = owner_ref(owner, gvk=gvk, block_deletion=True)
    reference.controller = True
    return reference


def controller_of(obj: Owned) -> OwnerReference | None:
    """The controller reference of the object, or None."""
    return next((each for each in _references_of(obj) if each.controller), None)


def is_controlled_by(obj: Owned, owner: Owner) -> bool:
    """Whether `owner` is the controller, compared by uid."""
    controller = controller_of(obj)
    return controller is not None and controller.uid == _metadata_of(owner).uid


def set_controller(obj: Owned, owner: Owner, *, gvk: GroupVersionKind | None = None) -> bool:
    """Make `owner` the controller of `obj`; False if it already is.

    A plain reference to the same owner becomes the controller reference.

    Raises:
        AlreadyOwned: `obj` has another controller.
        InvalidArgument: the owner is in another namespace, or as in `owner_ref`.
    """
    reference = controller_ref(owner, gvk=gvk)
    _check_namespaces(obj, owner)
    existing = controller_of(obj)
    if existing is not None and existing.uid != reference.uid:
        raise AlreadyOwned(
            f"{ObjectKey.of(obj)}: {reference.kind} {reference.name!r} cannot be its controller, "
            f"{existing.kind} {existing.name!r} already is"
        )
    return _put(obj, reference)


def add_owner(
    obj: Owned,
    owner: Owner,
    *,
    gvk: GroupVersionKind | None = None,
    block_deletion: bool = False,
) -> bool:
    """Add an owner reference; False if `owner` already has one, also as the controller.

    Raises:
        InvalidArgument: the owner is in another namespace, or as in `owner_ref`.
    """
    reference = owner_ref(owner, gvk=gvk, block_deletion=block_deletion)
    _check_namespaces(obj, owner)
    if any(each.uid == reference.uid for each in _references_of(obj)):
        return False
    return _put(obj, reference)


def remove_owner(obj: Owned, owner: Owner) -> bool:
    """Remove all owner references to `owner`; False if there are none."""
    uid = _metadata_of(owner).uid
    references = _references_of(obj)
    stay = [index for index, each in enumerate(references) if each.uid != uid]
    if len(stay) == len(references):
        return False
    raw = _raw_references_of(obj)
    raw[:] = [raw[index] for index in stay]
    return True


def _put(obj: Owned, reference: OwnerReference) -> bool:
    """Replace the reference with the same uid, or append."""
    raw = _raw_references_of(obj)
    new = reference.to_dict() if isinstance(obj, MutableMapping) else reference
    for index, each in enumerate(_references_of(obj)):
        if each == reference:
            return False
        if each.uid == reference.uid:
            raw[index] = new
            return True
    raw.append(new)
    return True


def _check_namespaces(obj: Owned, owner: Owner) -> None:
    inside, outside = ObjectKey.of(obj), ObjectKey.of(owner)
    if not outside.namespace or outside.namespace == inside.namespace:
        return
    where = f"namespace {inside.namespace!r}" if inside.namespace else "no namespace"
    raise InvalidArgument(
        f"{inside}: it is in {where}, its owner {outside.name!r} in {outside.namespace!r} "
        "(an owner is in the same namespace or in none)"
    )


def _gvk_of(owner: Owner) -> GroupVersionKind:
    if isinstance(owner, Mapping):
        gvk, kind = owner.get("apiVersion") or "", owner.get("kind") or ""
        if not isinstance(gvk, str) or not isinstance(kind, str):
            raise InvalidArgument("owner: apiVersion and kind must be text")
        return GroupVersionKind.of(gvk, kind)
    return GroupVersionKind.of(owner.api_version, owner.kind)


def _metadata_of(obj: Owned | Owner) -> ObjectMeta:
    if not isinstance(obj, Mapping):
        return obj.metadata
    return ObjectMeta.from_dict(obj.get("metadata") or {})


def _references_of(obj: Owned) -> list[OwnerReference]:
    if not isinstance(obj, Mapping):
        return obj.metadata.owner_references
    metadata = obj.get("metadata") or {}
    references = metadata.get("ownerReferences") or [] if isinstance(metadata, Mapping) else None
    if not isinstance(references, list):
        raise InvalidArgument("metadata.ownerReferences: expected a list in an object")
    return [OwnerReference.from_dict(each) for each in references]


def _raw_references_of(obj: Owned) -> list[Any]:
    """The list in the object; created if there is none."""
    if not isinstance(obj, MutableMapping):
        return obj.metadata.owner_references
    metadata = obj["metadata"] = obj.get("metadata") or {}
    references = metadata["ownerReferences"] = metadata.get("ownerReferences") or []
    return cast("list[Any]", references)
