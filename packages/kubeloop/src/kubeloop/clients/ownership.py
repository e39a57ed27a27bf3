"""Owners and dependents of objects, as trees.

Guarantees: only metadata is read; what cannot be read is named in the tree, never left out
silently; a cycle of owner references ends.
See also: `kubeloop.meta` (owner references).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kubeloop.errors import ApiError, InvalidArgument, NotFound
from kubeloop.kit import TaskOwner
from kubeloop.meta import GroupVersionResource
from kubeloop.wire import Kind

if TYPE_CHECKING:
    from kubeloop.wire.meta.v1 import ObjectMeta, OwnerReference

    from .cluster import Cluster
    from .manifests import AnyObject

__all__ = ["ObjectTree", "children_of", "owners_of"]

_PARALLEL = 8  # lists at the same time
# They have owner references rarely or never. There are many events; the others are deprecated, and
# the server would warn about it.
_SKIPPED = {
    ("", "componentstatuses"),
    ("", "endpoints"),
    ("", "events"),
    ("events.k8s.io", "events"),
}


class ObjectTree(msgspec.Struct, frozen=True, kw_only=True):
    """An object and those that own it, or that it owns, in `branches`.

    `exists` is False for an owner that is gone. `unread` of the first object names the resources
    that could not be listed: dependents of these kinds are missing.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""
    exists: bool = True
    branches: tuple[ObjectTree, ...] = ()
    unread: tuple[str, ...] = ()

    def walk(self) -> Iterator[ObjectTree]:
        """This object, and all below it."""
        yield self
        for branch in self.branches:
            yield from branch.walk()

    def __str__(self) -> str:
        """The tree, one object per line."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        where = f" in {self.namespace}" if self.namespace else ""
        yield f"{self.kind}/{self.name}{where}{'' if self.exists else ' (does not exist)'}"
        for number, branch in enumerate(self.branches, start=1):
            is_last = number == len(self.branches)
            first, *others = branch._lines()
            yield f"{'└─' if is_last else '├─'} {first}"
            yield from (f"{'  ' if is_last else '│ '} {line}" for line in others)


class _Identity(msgspec.Struct, frozen=True):
    """An object, and the references to its owners."""

    api_version: str
    kind: str
    name: str
    namespace: str
    uid: str
    owners: tuple[OwnerReference, ...]


def _identity(api_version: str, kind: str, metadata: ObjectMeta) -> _Identity:
    return _Identity(
        api_version,
        kind,
        metadata.name,
        metadata.namespace or "",
        str(metadata.uid or ""),
        tuple(metadata.owner_references),
    )


def _identity_of(obj: AnyObject, action: str) -> _Identity:
    from kubeloop.wire.meta.v1 import ObjectMeta

    if isinstance(obj, Kind):
        data: Mapping[str, Any] = {"metadata": obj.to_dict().get("metadata") or {}}
        api_version, kind = obj.api_version, obj.kind
    else:
        data = obj
        api_version, kind = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
    metadata = ObjectMeta.from_dict(dict(data.get("metadata") or {}))
    if not (metadata.uid and kind):
        raise InvalidArgument(
            f"{action} of {kind or 'an object'} {metadata.name}: it has no uid, kind or apiVersion"
            " (read it from the server first)"
        )
    return _identity(api_version, kind, metadata)


def _tree(obj: _Identity, branches: Sequence[ObjectTree], unread: Sequence[str] = ()) -> ObjectTree:
    return ObjectTree(
        api_version=obj.api_version,
        kind=obj.kind,
        name=obj.name,
        namespace=obj.namespace,
        uid=obj.uid,
        branches=tuple(branches),
        unread=tuple(unread),
    )


# --- owners


async def owners_of(cluster: Cluster, obj: AnyObject) -> ObjectTree:
    """The object with its owners, their owners, and so on."""
    return await _with_owners(cluster, _identity_of(obj, "owners"), frozenset())


async def _with_owners(cluster: Cluster, obj: _Identity, below: frozenset[str]) -> ObjectTree:
    below |= {obj.uid}
    branches = [
        await _owner(cluster, each, obj.namespace, below)
        for each in obj.owners
        if str(each.uid) not in below
    ]
    return _tree(obj, branches)


async def _owner(
    cluster: Cluster, reference: OwnerReference, namespace: str, below: frozenset[str]
) -> ObjectTree:
    at = cluster.metadata(reference.api_version, reference.kind)
    info = await at.info()
    where = namespace if info.namespaced else ""
    gone = ObjectTree(
        api_version=reference.api_version,
        kind=reference.kind,
        name=reference.name,
        namespace=where,
        uid=str(reference.uid),
        exists=False,
    )
    try:
        found = await (at.in_namespace(where) if where else at).get(reference.name)
    except NotFound:
        return gone
    if found.metadata.uid != reference.uid:  # another object of the same name
        return gone
    owner = _identity(reference.api_version, reference.kind, found.metadata)
    return await _with_owners(cluster, owner, below)


# --- children


async def children_of(cluster: Cluster, obj: AnyObject) -> ObjectTree:
    """The object with what it owns, what that owns, and so on."""
    root = _identity_of(obj, "children")
    found, unread = await _candidates(cluster, root.namespace)
    by_owner: dict[str, list[_Identity]] = {}
    for each in {each.uid: each for each in found}.values():  # served in two groups: once
        for uid in {str(reference.uid) for reference in each.owners}:
            by_owner.setdefault(uid, []).append(each)

    def grow(parent: _Identity, above: frozenset[str]) -> list[ObjectTree]:
        above |= {parent.uid}
        owned = [each for each in by_owner.get(parent.uid, ()) if each.uid not in above]
        owned.sort(key=lambda each: (each.kind, each.namespace, each.name))
        return [_tree(each, grow(each, above)) for each in owned]

    return _tree(root, grow(root, frozenset()), sorted(unread))


async def _candidates(cluster: Cluster, namespace: str) -> tuple[list[_Identity], list[str]]:
    """The metadata of everything that may be owned, and the resources that cannot be listed.

    What a namespaced object owns is in its namespace.
    """
    from kubeloop.discovery import preferred_resources

    result = await cluster.discovery.discover()
    unread = [str(version) for version in result.failures]
    resources = [
        (GroupVersionResource(version.group, version.version, row.name), row)
        for version, rows in preferred_resources(result).items()
        for row in rows
        if "list" in row.verbs
        and (row.namespaced or not namespace)
        and (version.group, row.name) not in _SKIPPED
    ]
    found: list[_Identity] = []
    left = iter(resources)

    async def work() -> None:
        for resource, row in left:
            at = cluster.metadata(resource, namespace=namespace if row.namespaced else None)
            try:
                async for each in at.each():
                    if each.metadata.owner_references:
                        api_version = resource.api_version
                        found.append(_identity(api_version, row.kind, each.metadata))
            except ApiError:  # forbidden, or an aggregated server does not respond
                unread.append(str(resource.group_resource))

    async with TaskOwner() as tasks:
        workers = [tasks.spawn(work(), name=f"list {number}") for number in range(_PARALLEL)]
        await asyncio.wait(workers)
    return found, unread
