"""The resources that the server serves now: the built-in ones and those of CRDs.

Guarantees: a `ServedResource` is an immutable value; all versions of a CRD are added and
removed together; two resources that show the same objects have the same `storage` key.
See also: `kinds` (what is known about a kind), `runtime_config` (which built-in versions are
served), `schema.crds` (how a CustomResourceDefinition is read), `storage.store` (objects).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import final

import msgspec
from msgspec.structs import force_setattr

from kubeloop.meta import api_version_rank
from kubeloop.wire import Kind as WireKind
from kubeloop.wire import (
    ResourceInfo,
    Subresource,
    TypeFacts,
    class_for,
    facts_of,
    resources,
)

from .kinds.custom import custom_kind
from .kinds.kind import Kind
from .kinds.registry import kind_of
from .runtime_config import IsEnabled, served_by_default
from .schema.crds import CustomKind, CustomVersion

__all__ = ["Registry", "ServedResource"]


class ServedResource(msgspec.Struct, frozen=True, eq=False):
    """One resource in one version, as clients see it.

    The last fields are derived from the others once, because every request reads them.
    """

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    list_kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    parts: tuple[Subresource, ...]  # its subresources, with the kinds of their bodies
    storage: tuple[str, str]  # the collection that holds the objects: (group, plural)
    storage_version: str  # the version that objects are stored in
    custom: CustomVersion | None = None
    definition: CustomKind | None = None  # of a custom kind: all its versions
    custom_strategy: Kind | None = None
    api_version: str = ""  # `apps/v1`, or `v1` for the core group
    is_storage_version: bool = False  # whether objects are stored in this group and version

    def __post_init__(self) -> None:
        own = f"{self.group}/{self.version}" if self.group else self.version
        is_stored = (self.group, self.version) == (self.storage[0], self.storage_version)
        force_setattr(self, "api_version", own)
        force_setattr(self, "is_storage_version", is_stored)

    @property
    def subresources(self) -> tuple[str, ...]:
        """The names of its subresources: `("scale", "status")`."""
        return tuple(part.name for part in self.parts)

    @property
    def cls(self) -> type[WireKind] | None:
        """The built-in class, imported now; None for custom kinds."""
        return None if self.custom else class_for(self.group, self.version, self.kind)

    @property
    def strategy(self) -> Kind:
        """What the server knows about its kind; a built-in kind is imported with the first use."""
        return self.custom_strategy or kind_of(self.group, self.kind)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sent with every response: the version is deprecated."""
        text = self.strategy.deprecation
        return (text,) if text else ()

    @property
    def facts(self) -> TypeFacts | None:
        """The merge rules of its fields; None for a custom kind without a schema."""
        if self.custom is not None:
            return self.custom.facts
        cls = self.cls
        return facts_of(cls) if cls is not None else None

    def part(self, name: str) -> Subresource | None:
        """The subresource of this name."""
        return next((part for part in self.parts if part.name == name), None)


# In the order of apiextensions-apiserver's discovery.
_CUSTOM_VERBS = (
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
)
# events.k8s.io shows the objects of the core group, as in kube-apiserver.
_SHARED_STORAGE = {("events.k8s.io", "events"): ("", "events")}


@functools.cache
def _built_in() -> dict[tuple[str, str, str], ServedResource]:
    rows = [_from_row(info) for info in resources()]
    return {(each.group, each.version, each.plural): each for each in rows}


@functools.cache
def _storage_versions() -> dict[tuple[str, str], str]:
    """The storage version of each built-in collection: the one that the server prefers."""
    found: dict[tuple[str, str], str] = {}
    for info in sorted(resources(), key=lambda each: api_version_rank(each.version)):
        found.setdefault((info.group, info.plural), info.version)
    return found


def _from_row(info: ResourceInfo) -> ServedResource:
    own = (info.group, info.plural)
    storage = _SHARED_STORAGE.get(own, own)
    return ServedResource(
        group=info.group,
        version=info.version,
        plural=info.plural,
        kind=info.kind,
        singular=info.singular,
        list_kind=f"{info.kind}List",
        namespaced=info.namespaced,
        verbs=info.verbs,
        short_names=info.short_names,
        categories=info.categories,
        parts=info.subresources,
        storage=storage,
        storage_version=_storage_versions()[storage],
    )


def _from_custom(kind: CustomKind) -> Iterator[ServedResource]:
    for version in kind.versions:
        if version.served:
            yield ServedResource(
                group=kind.group,
                version=version.name,
                plural=kind.plural,
                kind=kind.kind,
                singular=kind.singular,
                list_kind=kind.list_kind,
                namespaced=kind.namespaced,
                verbs=_CUSTOM_VERBS,
                short_names=kind.short_names,
                categories=kind.categories,
                parts=tuple(_custom_parts(kind, version)),
                storage=(kind.group, kind.plural),
                storage_version=kind.storage_version,
                custom=version,
                definition=kind,
                custom_strategy=custom_kind(kind.group, kind.kind, version),
            )


def _custom_parts(kind: CustomKind, version: CustomVersion) -> Iterator[Subresource]:
    verbs = ("get", "patch", "update")
    if version.has_status:
        yield Subresource("status", kind.group, version.name, kind.kind, verbs)
    if version.scale:
        yield Subresource("scale", "autoscaling", "v1", "Scale", verbs)


@final
class Registry:
    """The served resources by path; custom kinds are added and removed while the server runs.

    `is_enabled` selects the built-in ones.
    """

    def __init__(self, is_enabled: IsEnabled = served_by_default) -> None:
        self._served = {key: each for key, each in _built_in().items() if is_enabled(*key)}
        self._built_in_groups = frozenset(group for group, _, _ in self._served)
        self._custom: dict[tuple[str, str], CustomKind] = {}
        self._versions: dict[str, list[str]] = {}
        self.generation = 0  # grows when the set of resources changes: a key for caches
        self._update_versions()

    def find(self, group: str, version: str, plural: str) -> ServedResource | None:
        return self._served.get((group, version, plural))

    def find_storage(self, group: str, plural: str) -> ServedResource | None:
        """The resource in its storage version, even if that version is not served."""
        key = (group, self._storage_version(group, plural), plural)
        return self._served.get(key) or _built_in().get(key)

    def all(self) -> tuple[ServedResource, ...]:
        return tuple(self._served.values())

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Every group with its versions, the preferred one first; the core group is ""."""
        return {group: tuple(versions) for group, versions in self._versions.items()}

    def has_version(self, group: str, version: str) -> bool:
        return version in self._versions.get(group, ())

    def is_built_in(self, group: str) -> bool:
        """Whether a group is built in and served, in any version."""
        return group in self._built_in_groups

    def in_version(self, group: str, version: str) -> tuple[ServedResource, ...]:
        """The resources of one group version."""
        wanted = (group, version)
        return tuple(e for e in self._served.values() if (e.group, e.version) == wanted)

    def storage_resources(self) -> Iterable[ServedResource]:
        """Each collection with objects, once, in its storage version."""
        collections = dict.fromkeys(e.storage for e in self._served.values() if "get" in e.verbs)
        for storage in collections:
            found = self.find_storage(*storage)
            if found is not None:
                yield found

    def custom(self, group: str, plural: str) -> CustomKind | None:
        return self._custom.get((group, plural))

    def add_custom(self, kind: CustomKind) -> None:
        """Serve `kind` from now on; it replaces an older definition."""
        self._drop(kind.group, kind.plural)
        self._custom[kind.group, kind.plural] = kind
        for each in _from_custom(kind):
            self._served[each.group, each.version, each.plural] = each
        self._increase_generation()

    def remove_custom(self, group: str, plural: str) -> None:
        """Stop serving a custom kind; idempotent."""
        self._drop(group, plural)
        self._increase_generation()

    def _drop(self, group: str, plural: str) -> None:
        if self._custom.pop((group, plural), None) is not None:
            gone = [key for key in self._served if (key[0], key[2]) == (group, plural)]
            for key in gone:
                del self._served[key]

    def _increase_generation(self) -> None:
        self.generation += 1
        self._update_versions()

    def _update_versions(self) -> None:
        versions: dict[str, list[str]] = {}
        for group, version, _ in self._served:
            found = versions.setdefault(group, [])
            if version not in found:
                found.append(version)
        for found in versions.values():
            found.sort(key=api_version_rank)
        self._versions = versions

    def _storage_version(self, group: str, plural: str) -> str:
        custom = self._custom.get((group, plural))
        if custom is not None:
            return custom.storage_version
        return _storage_versions().get((group, plural), "")
