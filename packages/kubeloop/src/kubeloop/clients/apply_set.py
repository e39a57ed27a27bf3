"""Apply sets: what was applied together, and the deletion of what is not in the manifest any more.

Guarantees: labels and annotations are those of `kubectl apply --prune --applyset` (KEP-3659). The
parent names every kind and namespace of a member before the first member is applied, and until
the last one of a kind is deleted: a run that was interrupted is completed by the next. Nothing
is deleted unless everything was applied, and only the object that was found, never a new one of
the same name. A set of another tool, and members of another set, are errors.
See also: `APIClient.apply_set` (all steps in one call), `manifests` (where objects come from).
"""

from __future__ import annotations

import base64
import hashlib
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, cast, final

import msgspec

from kubeloop.errors import (
    ConfigError,
    Conflict,
    InvalidArgument,
    KubeError,
    NotFound,
    TransportError,
    Unauthorized,
)
from kubeloop.meta import GroupKind, GroupVersionResource, ObjectKey
from kubeloop.wire import Kind, ResourceInfo

from .manifests import AnyObject, ApplyErrors, Manifest, manifest_entries
from .options import DeleteOptions, WriteOptions

if TYPE_CHECKING:
    from kubeloop.wire.meta.v1 import ObjectMeta

    from .cluster import Cluster
    from .metadata import MetadataClient

__all__ = [
    "AppliedSet",
    "ApplySet",
    "PruneFailed",
    "PrunedObject",
    "apply_set_id",
    "manifest_objects",
]

A = TypeVar("A", bound=AnyObject)

_PREFIX = "applyset.kubernetes.io"
ID = f"{_PREFIX}/id"  # label of the parent
PART_OF = f"{_PREFIX}/part-of"  # label of the members
TOOLING = f"{_PREFIX}/tooling"
KINDS = f"{_PREFIX}/contains-group-kinds"
NAMESPACES = f"{_PREFIX}/additional-namespaces"
PARENT_TYPE = f"{_PREFIX}/is-parent-type"  # label of a CRD whose objects may be parents

_TOOL = "kubeloop"
_MANAGER = f"{_TOOL}-applyset"
_DEFAULT_PARENT = "secrets"
_BUILT_IN_PARENTS = {("", "secrets"), ("", "configmaps")}
# Deleted after all others: deleting them deletes objects of other kinds.
_PRUNE_LAST = {
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): 1,
    GroupKind("", "Namespace"): 2,
}


def apply_set_id(name: str, namespace: str, kind: GroupKind) -> str:
    """The id of the set with this parent: the value of its labels."""
    digest = hashlib.sha256(f"{name}.{namespace}.{kind.kind}.{kind.group}".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


class PrunedObject(msgspec.Struct, frozen=True):
    """An object that was deleted, because it is not in the manifest any more."""

    info: ResourceInfo
    key: ObjectKey
    uid: str

    def __str__(self) -> str:
        """As kubectl names it: `deployment.apps/web`."""
        group = f".{self.info.group}" if self.info.group else ""
        return f"{self.info.singular or self.info.kind.lower()}{group}/{self.key.name}"


class AppliedSet(msgspec.Struct, frozen=True):
    """The members of a set after an apply, in the order of the manifest, and what was deleted."""

    applied: tuple[AnyObject, ...]
    pruned: tuple[PrunedObject, ...]


@final
class PruneFailed(KubeError):
    """Everything was applied, but some objects could not be deleted: one error for each.

    They are still members of the set, and the next apply of it tries again. `pruned` has those
    that were deleted.
    """

    def __init__(
        self, name: str, errors: Sequence[KubeError], pruned: Sequence[PrunedObject]
    ) -> None:
        super().__init__(name, errors, pruned)
        self.name = name
        self.errors = tuple(errors)
        self.pruned = tuple(pruned)

    @property
    def summary(self) -> str:
        """How many objects were deleted, and a line for each error."""
        errors = "1 error" if len(self.errors) == 1 else f"{len(self.errors)} errors"
        head = f"prune apply set {self.name}: {errors}, {len(self.pruned)} deleted:"
        return "\n".join([head, *map(str, self.errors)])


class ApplySetOptions(TypedDict, total=False):
    """Keywords of an apply set.

    `namespace` is that of the parent, and of objects without one. With `force` the set takes
    over members of other sets. With `dry_run` the server validates everything, and nothing is
    changed.
    """

    namespace: str | None
    force: bool
    dry_run: bool


class _Members(msgspec.Struct, frozen=True):
    """Where the members of a set are: their kinds and namespaces."""

    kinds: frozenset[GroupKind] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def __or__(self, other: _Members) -> _Members:
        return _Members(self.kinds | other.kinds, self.namespaces | other.namespaces)


@final
class ApplySet:
    """One apply of a set: `open`, `prepare`, apply what `prepare` returned, `prune`.

        async with Client() as client:
            shop = await ApplySet.open(client, "shop", namespace="shop")
            applied = [await client.apply(each) for each in await shop.prepare(objects)]
            pruned = await shop.prune(applied)

    `client.apply_set` does all of it. The steps are for programs that report each object.
    """

    def __init__(
        self,
        client: Cluster,
        parent: ResourceInfo,
        name: str,
        namespace: str,
        *,
        members: _Members,
        options: ApplySetOptions,
    ) -> None:
        self._client = client
        self._parent = parent
        self._name = name
        self._namespace = namespace  # "" if the parent is cluster-scoped
        self._members = members  # those that the parent names, from earlier runs and of this one
        self._default = options.get("namespace") or client.namespace
        self._force = options.get("force", False)
        self._dry_run = options.get("dry_run", False)
        self.id = apply_set_id(name, namespace, GroupKind(parent.group, parent.kind))

    @classmethod
    async def open(
        cls, client: Cluster, name: str, /, **options: Unpack[ApplySetOptions]
    ) -> ApplySet:
        """Read the parent of a set: `shop` and `secrets/shop` are a Secret, `configmaps/shop` ...

        A custom resource can be the parent if its CRD has the label
        `applyset.kubernetes.io/is-parent-type: "true"`. Safe to cancel.
        Raises: InvalidArgument if it cannot be a parent, or is the parent of another tool's set.
        """
        resource, slash, short = name.rpartition("/")
        if not short or (slash and not resource):
            raise InvalidArgument(f"apply set {name!r}: expected NAME or RESOURCE/NAME")
        info = await client.mapper.find(resource or _DEFAULT_PARENT)
        where = (options.get("namespace") or client.namespace) if info.namespaced else ""
        opened = cls(client, info, short, where, members=_Members(), options=options)
        await opened._read_parent()
        return opened

    async def prepare(self, objects: Iterable[A]) -> list[A]:
        """Copies of the objects with the label of the set; the parent names their kinds.

        Creates the parent if there is none. A cancelled call may have created or changed it.
        Raises: InvalidArgument without an object, for one with the label of another set, and,
        unless `force`, for one that is a member of another set on the server.
        """
        given = list(objects)
        if not given:
            raise InvalidArgument(
                f"apply set {self}: no objects, and all members would be deleted (to delete them,"
                f" use the selector {PART_OF}={self.id})"
            )
        labelled = [self._with_label(each) for each in given]
        keys = {(_group_kind(each), self._key_of(each)) for each in given}
        members = _Members(
            frozenset(kind for kind, _ in keys),
            frozenset(key.namespace for _, key in keys if key.namespace),
        )
        if not self._force:
            await self._check_other_sets(keys, members)
        self._members |= members
        await self._write_parent(self._members)
        return labelled

    async def prune(self, applied: Iterable[AnyObject]) -> tuple[PrunedObject, ...]:
        """Delete the members that are not in `applied`: all objects as the server returned them.

        Call it only if every object was applied. A cancelled call may have deleted some; the next
        run deletes the rest. Raises: PruneFailed.
        """
        kept = list(applied)
        uids = {str(_metadata(each).get("uid") or "") for each in kept}
        pruned: list[PrunedObject] = []
        errors: list[KubeError] = []
        selector = f"{PART_OF}={self.id}"
        found = [each async for each in self._find(self._members, selector)]
        for each in sorted(found, key=_prune_order):
            if each.uid in uids:
                continue
            try:
                await self._delete(each)
            except (ConfigError, TransportError, Unauthorized):
                raise  # the others would fail as well
            except KubeError as error:
                errors.append(error)
            else:
                pruned.append(each)
        if errors:
            raise PruneFailed(str(self), errors, pruned)
        self._members = _Members(
            frozenset(map(_group_kind, kept)),
            frozenset(str(_metadata(each).get("namespace") or "") for each in kept) - {""},
        )
        await self._write_parent(self._members)
        return tuple(pruned)

    def __str__(self) -> str:
        return f"{self._parent.plural}/{self._name}"

    # --- the parent

    @property
    def _parents(self) -> MetadataClient:
        return _metadata_client(self._client, self._parent, self._namespace)

    async def _read_parent(self) -> None:
        built_in = (self._parent.group, self._parent.plural) in _BUILT_IN_PARENTS
        if not built_in:
            await self._check_parent_type()
        try:
            parent = await self._parents.get(self._name)
        except NotFound:
            if built_in:
                return
            raise InvalidArgument(
                f"apply set {self}: the parent does not exist (create it first: only Secrets and"
                " ConfigMaps are created by an apply)"
            ) from None
        annotations, labels = parent.metadata.annotations, parent.metadata.labels
        tooling = annotations.get(TOOLING) or ""
        if ID not in labels and not tooling and not built_in:
            return  # a new parent
        if tooling.partition("/")[0] != _TOOL:
            managed = f"managed by {tooling}" if tooling else f"without the annotation {TOOLING}"
            raise InvalidArgument(
                f"apply set {self}: the parent exists and is {managed}, expected {_TOOL} (use"
                " another name, or the other tool)"
            )
        if labels.get(ID) != self.id:
            raise InvalidArgument(
                f"apply set {self}: the parent has the label {ID}={labels.get(ID) or ''}, expected"
                f" {self.id} (was it copied from another object?)"
            )
        self._members = _Members(
            frozenset(map(GroupKind.parse, _split(annotations.get(KINDS)))),
            frozenset(_split(annotations.get(NAMESPACES))),
        )

    async def _check_parent_type(self) -> None:
        definition = f"{self._parent.plural}.{self._parent.group}"
        crds = self._client.metadata("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        try:
            labels = (await crds.get(definition)).metadata.labels
        except NotFound:
            labels = {}
        if labels.get(PARENT_TYPE) != "true":
            raise InvalidArgument(
                f"apply set {self}: {definition} cannot be a parent (use a Secret, a ConfigMap, or"
                f' a custom resource whose CRD has the label {PARENT_TYPE}: "true")'
            )

    async def _write_parent(self, members: _Members) -> None:
        version: str = sys.modules["kubeloop"].__version__
        annotations = {
            TOOLING: f"{_TOOL}/v{version}",
            KINDS: ",".join(sorted(map(str, members.kinds))),
            NAMESPACES: ",".join(sorted(members.namespaces - {self._namespace})),
        }
        parent: dict[str, Any] = {
            "apiVersion": self._parent.api_version,
            "kind": self._parent.kind,
            "metadata": {
                "name": self._name,
                "annotations": annotations,
                "labels": {ID: self.id},
            },
        }
        if self._namespace:
            parent["metadata"]["namespace"] = self._namespace
        options: WriteOptions = {"dry_run": self._dry_run, "field_manager": _MANAGER}
        await self._parents.patch(self._name, parent, type="apply", **options)

    # --- the members

    def _with_label(self, obj: A) -> A:
        current = (_metadata(obj).get("labels") or {}).get(PART_OF)
        if current not in (None, self.id):
            raise InvalidArgument(
                f"apply set {self}: {_group_kind(obj)} {_metadata(obj).get('name')} has the label"
                f" {PART_OF} of another set (remove it from the manifest)"
            )
        label = {PART_OF: self.id}
        if isinstance(obj, dict):
            metadata = dict(obj.get("metadata") or {})
            metadata["labels"] = {**(metadata.get("labels") or {}), **label}
            return cast("A", {**obj, "metadata": metadata})
        meta: ObjectMeta = obj.metadata  # type: ignore[attr-defined] # it has a name
        changed = msgspec.structs.replace(meta, labels={**meta.labels, **label})
        return cast("A", msgspec.structs.replace(obj, metadata=changed))

    def _key_of(self, obj: AnyObject) -> ObjectKey:
        metadata = _metadata(obj)
        return ObjectKey(
            str(metadata.get("namespace") or self._default), str(metadata.get("name") or "")
        )

    async def _check_other_sets(
        self, keys: set[tuple[GroupKind, ObjectKey]], members: _Members
    ) -> None:
        """Raise InvalidArgument for an object that is a member of another set."""
        # Server-side apply would not notice: one manager applies the objects of both sets.
        async for each in self._find(members, f"{PART_OF},{PART_OF}!={self.id}"):
            kind = GroupKind(each.info.group, each.info.kind)
            key = each.key if each.key.namespace else ObjectKey(self._default, each.key.name)
            if (kind, key) in keys:
                where = f" in {each.key.namespace}" if each.key.namespace else ""
                raise InvalidArgument(
                    f"apply set {self}: {each}{where} is a member of another apply set"
                ).with_hint("remove it from one of them, or use force to take it over")

    async def _find(self, members: _Members, selector: str) -> AsyncIterator[PrunedObject]:
        namespaces = sorted(members.namespaces | ({self._namespace} - {""}))
        for kind in sorted(members.kinds):
            info = await self._served(kind)
            if info is None:
                continue
            for namespace in namespaces if info.namespaced else [""]:
                found = _metadata_client(self._client, info, namespace).each(selector=selector)
                async with aclosing(found) as objects:
                    async for each in objects:
                        yield PrunedObject(info, ObjectKey.of(each), str(each.metadata.uid))

    async def _served(self, kind: GroupKind) -> ResourceInfo | None:
        """The resource of a kind; None if it is not served, and so has no objects."""
        from kubeloop.discovery import NoKindMatch

        try:
            return await self._client.mapper.mapping(kind)
        except NoKindMatch:
            # Without its group, the server may have objects of the kind all the same.
            found = await self._client.discovery.discover()
            if any(version.group == kind.group for version in found.failures):
                found.check()
            return None

    async def _delete(self, found: PrunedObject) -> None:
        at = _metadata_client(self._client, found.info, found.key.namespace)
        options: DeleteOptions = {
            "expected_uid": found.uid,
            "propagation": "Background",
            "dry_run": self._dry_run,
        }
        try:
            await at.delete(found.key.name, **options)
        except NotFound:
            pass  # deleted by another client, or with its owner
        except Conflict:
            pass  # another object has its name by now; without the label, or it is found next time


def _split(text: str | None) -> list[str]:
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def _prune_order(found: PrunedObject) -> int:
    return _PRUNE_LAST.get(GroupKind(found.info.group, found.info.kind), 0)


def _metadata(obj: AnyObject) -> Mapping[str, Any]:
    data = obj if isinstance(obj, dict) else obj.to_dict()
    return data.get("metadata") or {}


def _group_kind(obj: AnyObject) -> GroupKind:
    if isinstance(obj, Kind):
        api_version, kind = obj.api_version, obj.kind
    else:
        api_version, kind = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
    return GroupKind(api_version.rpartition("/")[0], kind)


def _metadata_client(client: Cluster, info: ResourceInfo, namespace: str) -> MetadataClient:
    # The namespace says that an unknown resource is namespaced.
    return client.metadata(
        GroupVersionResource(info.group, info.version, info.plural), namespace=namespace or None
    )


def manifest_objects(what: Manifest, *, kinds: Sequence[type[Kind]]) -> list[AnyObject]:
    """The objects of a manifest. Raises: the error of one, or ApplyErrors."""
    objects: list[AnyObject] = []
    errors: list[KubeError] = []
    for entry in manifest_entries(what, kinds=kinds):
        if isinstance(entry.content, KubeError):
            errors.append(entry.content)
        else:
            objects.append(entry.content)
    if errors:
        # An object that cannot be read would count as one that is not in the manifest any more.
        total = len(objects) + len(errors)
        raise errors[0] if len(errors) == 1 else ApplyErrors(errors, [], total=total)
    return objects
