"""The members of an apply set, and what of them is pruned (KEP-3659).

Guarantees: labels and annotations are those of the KEP, as kubectl writes them; the parent lists
every kind and namespace with members before the first of them is applied, and drops one only
after it was pruned, so that an interrupted apply loses none. A set of another tool is not touched.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, final

from kubeloop import __version__
from kubeloop.discovery import NoKindMatch
from kubeloop.errors import NotFound
from kubeloop.meta import GroupKind
from kubeloop.runtime import Client
from kubeloop.wire import InvalidArgument, ResourceInfo

from .flags import Flags
from .kinds import qualified_name, resource_client_of
from .sources import DryRun, ObjectRef, Outcomes

if TYPE_CHECKING:
    from kubeloop.clients import ResourceClient

__all__ = ["ApplySet", "apply_set_id"]

_ID = "applyset.kubernetes.io/id"
_PART_OF = "applyset.kubernetes.io/part-of"
_TOOLING = "applyset.kubernetes.io/tooling"
_KINDS = "applyset.kubernetes.io/contains-group-kinds"
_NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
_PARENT_TYPE = "applyset.kubernetes.io/is-parent-type"
_TOOL = "kubeloop"
_MANAGER = "kubeloop-applyset"
_BUILT_IN = ("configmaps", "secrets")


def apply_set_id(name: str, namespace: str, kind: str, group: str) -> str:
    """The ID of the set with this parent."""
    digest = hashlib.sha256(f"{name}.{namespace}.{kind}.{group}".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


@final
class ApplySet:
    """One apply: `open` reads the parent, `add` the new members, `prune` deletes the old ones."""

    def __init__(self, info: ResourceInfo, name: str, namespace: str) -> None:
        self._info = info
        self._name = name
        self._namespace = namespace  # empty for a cluster-scoped parent
        self.id = apply_set_id(name, namespace, info.kind, info.group)
        self._old_kinds: set[GroupKind] = set()
        self._old_namespaces: set[str] = set()
        self._kinds: set[GroupKind] = set()
        self._namespaces: set[str] = set()

    def __str__(self) -> str:
        return qualified_name(self._info, self._name)

    @classmethod
    async def open(cls, client: Client, flags: Flags, parent: str) -> ApplySet:
        """The set of a parent, `NAME` or `KIND/NAME`. Raises: InvalidArgument if it is unusable."""
        kind, _, name = parent.rpartition("/")
        info = await client.mapper.find(kind or "secrets")
        if info.namespaced and not flags.namespace:
            raise InvalidArgument(
                "apply --applyset: a namespace is required to use a namespace-scoped ApplySet"
                " (add -n)"
            )
        found = cls(info, name, flags.namespace if info.namespaced else "")
        await found._read_parent(client)
        return found

    async def add(self, client: Client, refs: Sequence[ObjectRef], *, dry_run: DryRun) -> None:
        """Label the objects as members, and list their kinds and namespaces in the parent."""
        for ref in refs:
            assert ref.content is not None
            labels = ref.content["metadata"].setdefault("labels", {})
            if _PART_OF in labels:
                raise InvalidArgument(f'apply {ref}: ApplySet label "{_PART_OF}" already set')
            labels[_PART_OF] = self.id
            self._kinds.add(GroupKind(ref.info.group, ref.info.kind))
            if ref.info.namespaced:
                self._namespaces.add(ref.namespace_in(client))
        await self._write_parent(
            client,
            self._old_kinds | self._kinds,
            self._old_namespaces | self._namespaces,
            dry_run=dry_run,
        )

    async def prune(self, client: Client, applied: set[str], outcomes: Outcomes) -> None:
        """Delete the members whose uid is not among the applied ones."""
        if outcomes.dry_run == "client":
            return
        for kind in sorted(self._old_kinds | self._kinds, key=str):
            try:
                info = await client.mapper.mapping(kind)
            except NoKindMatch:
                continue  # its CRD is gone, and so are its objects
            namespaces: Iterable[str] = [""]
            if info.namespaced:
                namespaces = sorted(self._old_namespaces | self._namespaces)
            for namespace in namespaces:
                resource = resource_client_of(client, info, namespace=namespace or None)
                for obj in await resource.list_all(selector=f"{_PART_OF}={self.id}"):
                    if obj["metadata"]["uid"] not in applied:
                        await _delete(resource, obj, outcomes)
                        outcomes.show(info, obj, "pruned")
        await self._write_parent(client, self._kinds, self._namespaces, dry_run=outcomes.dry_run)

    def _client(self, client: Client) -> ResourceClient[dict[str, Any]]:
        return resource_client_of(client, self._info, namespace=self._namespace or None)

    async def _read_parent(self, client: Client) -> None:
        is_built_in = not self._info.group and self._info.plural in _BUILT_IN
        if not is_built_in:
            await self._check_custom_parent(client)
        parent = await self._client(client).get_or_none(self._name)
        if parent is None:
            if not is_built_in:
                raise InvalidArgument(
                    f"apply --applyset {self}: custom resource ApplySet parents cannot be created"
                    " automatically (create it first)"
                )
            return
        labels = parent["metadata"].get("labels") or {}
        notes = parent["metadata"].get("annotations") or {}
        tool = str(notes.get(_TOOLING) or "")
        if tool.partition("/")[0] != _TOOL or labels.get(_ID) != self.id:
            owner = f"is managed by {tool}" if tool else "is not an ApplySet"
            raise InvalidArgument(
                f"apply --applyset {self}: the object exists and {owner} (use another name)"
            )
        self._old_kinds = {_group_kind(text) for text in _split(notes.get(_KINDS))}
        self._old_namespaces = {*_split(notes.get(_NAMESPACES)), *filter(None, [self._namespace])}

    async def _check_custom_parent(self, client: Client) -> None:
        crds = client.dynamic.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        crd = await crds.get_or_none(f"{self._info.plural}.{self._info.group}")
        labels = crd["metadata"].get("labels") if crd is not None else None
        if (labels or {}).get(_PARENT_TYPE) != "true":
            raise InvalidArgument(
                f"apply --applyset {self}: {self._info.plural} are not permitted as ApplySet"
                f" parents (use a secret or a config map, or label the CRD {_PARENT_TYPE}=true)"
            )

    async def _write_parent(
        self, client: Client, kinds: set[GroupKind], namespaces: set[str], *, dry_run: DryRun
    ) -> None:
        if dry_run == "client":
            return
        metadata: dict[str, Any] = {
            "name": self._name,
            "labels": {_ID: self.id},
            "annotations": {
                _TOOLING: f"{_TOOL}/v{__version__}",
                _KINDS: ",".join(sorted(str(kind) for kind in kinds)),
                _NAMESPACES: ",".join(sorted(namespaces - {self._namespace})),
            },
        }
        if self._namespace:
            metadata["namespace"] = self._namespace
        info = self._info
        api_version = f"{info.group}/{info.version}" if info.group else info.version
        parent = {"apiVersion": api_version, "kind": info.kind, "metadata": metadata}
        await self._client(client).apply(
            parent, field_manager=_MANAGER, dry_run=dry_run == "server"
        )


async def _delete(
    resource: ResourceClient[dict[str, Any]], obj: dict[str, Any], outcomes: Outcomes
) -> None:
    metadata = obj["metadata"]
    try:
        await resource.delete(
            metadata["name"],
            propagation="Background",
            expected_uid=metadata["uid"],
            dry_run=outcomes.is_server_dry_run,
        )
    except NotFound:
        return  # it was deleted meanwhile


def _split(text: object) -> list[str]:
    return [part for part in str(text or "").split(",") if part]


def _group_kind(text: str) -> GroupKind:
    kind, _, group = text.partition(".")
    return GroupKind(group, kind)
