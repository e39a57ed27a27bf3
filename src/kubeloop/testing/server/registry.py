"""Which resources the server serves right now: the built-in table and live custom kinds.

Promises: a `Served` is a value and never changes; a custom kind comes and goes whole;
two collections that show the same objects have the same `storage` key.
Elsewhere: what a CustomResourceDefinition says (`crds`), what is stored (`store`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import final

import msgspec

from kubeloop.meta import api_version_rank
from kubeloop.wire import (
    Kind,
    ResourceInfo,
    Subresource,
    TypeFacts,
    class_for,
    facts_of,
    resources,
)

from .schema.crds import CustomKind, CustomVersion

__all__ = ["Registry", "Served"]


class Served(msgspec.Struct, frozen=True, eq=False):
    """One resource in one version, as clients see it."""

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
    parts: tuple[Subresource, ...]  # its subresources, with the kinds spoken there
    storage: tuple[str, str]  # the collection that holds the objects: (group, plural)
    storage_version: str  # the version that objects are stored in
    custom: CustomVersion | None = None

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def subresources(self) -> tuple[str, ...]:
        """The names of its subresources: `("scale", "status")`."""
        return tuple(part.name for part in self.parts)

    @property
    def cls(self) -> type[Kind] | None:
        """The built-in class, imported now; None for custom kinds."""
        return None if self.custom else class_for(self.group, self.version, self.kind)

    @property
    def facts(self) -> TypeFacts | None:
        """The merge rules of its fields; None where nobody wrote a schema."""
        if self.custom is not None:
            return self.custom.facts
        cls = self.cls
        return facts_of(cls) if cls is not None else None

    def part(self, name: str) -> Subresource | None:
        """The subresource of this name."""
        return next((part for part in self.parts if part.name == name), None)


_FULL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
# Two groups that show the same objects.
_SHARED_STORAGE = {("events.k8s.io", "events"): ("", "events")}


@functools.cache
def _built_in() -> dict[tuple[str, str, str], Served]:
    rows = [_from_row(info) for info in resources()]
    return {(each.group, each.version, each.plural): each for each in rows}


@functools.cache
def _built_in_groups() -> frozenset[str]:
    return frozenset(group for group, _, _ in _built_in())


@functools.cache
def _storage_versions() -> dict[tuple[str, str], str]:
    """The version each built-in collection is stored in: the one the server prefers."""
    found: dict[tuple[str, str], str] = {}
    for info in sorted(resources(), key=lambda each: api_version_rank(each.version)):
        found.setdefault((info.group, info.plural), info.version)
    return found


def _from_row(info: ResourceInfo) -> Served:
    own = (info.group, info.plural)
    storage = _SHARED_STORAGE.get(own, own)
    return Served(
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


def _from_custom(kind: CustomKind) -> Iterator[Served]:
    for version in kind.versions:
        if version.served:
            yield Served(
                group=kind.group,
                version=version.name,
                plural=kind.plural,
                kind=kind.kind,
                singular=kind.singular,
                list_kind=kind.list_kind,
                namespaced=kind.namespaced,
                verbs=_FULL,
                short_names=kind.short_names,
                categories=kind.categories,
                parts=tuple(_custom_parts(kind, version)),
                storage=(kind.group, kind.plural),
                storage_version=kind.storage_version,
                custom=version,
            )


def _custom_parts(kind: CustomKind, version: CustomVersion) -> Iterator[Subresource]:
    verbs = ("get", "patch", "update")
    if version.scale:
        yield Subresource("scale", "autoscaling", "v1", "Scale", verbs)
    if version.has_status:
        yield Subresource("status", kind.group, version.name, kind.kind, verbs)


@final
class Registry:
    """What is served, looked up by path; custom kinds are added and removed live."""

    def __init__(self) -> None:
        self._served = dict(_built_in())
        self._custom: dict[tuple[str, str], CustomKind] = {}
        self._versions: dict[str, list[str]] = {}
        self._generation = 0
        self._count_versions()

    @property
    def generation(self) -> int:
        """Changes whenever what is served changes: a key for caches."""
        return self._generation

    def find(self, group: str, version: str, plural: str) -> Served | None:
        return self._served.get((group, version, plural))

    def find_storage(self, group: str, plural: str) -> Served | None:
        """The collection in the version its objects are stored in."""
        version = self._storage_version(group, plural)
        return self._served.get((group, version, plural)) if version else None

    def all(self) -> tuple[Served, ...]:
        return tuple(self._served.values())

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Every group with its versions, the preferred one first; the core group is ""."""
        return {group: tuple(versions) for group, versions in self._versions.items()}

    def has_version(self, group: str, version: str) -> bool:
        return version in self._versions.get(group, ())

    def is_built_in(self, group: str) -> bool:
        """Whether a group is the server's own, whatever its versions."""
        return group in _built_in_groups()

    def in_version(self, group: str, version: str) -> tuple[Served, ...]:
        """The resources of one group version."""
        wanted = (group, version)
        return tuple(e for e in self._served.values() if (e.group, e.version) == wanted)

    def stored(self) -> Iterable[Served]:
        """Each collection that holds objects, once, in its storage version."""
        for each in self._served.values():
            own = (each.group, each.plural)
            if own == each.storage and each.version == each.storage_version and "get" in each.verbs:
                yield each

    def custom(self, group: str, plural: str) -> CustomKind | None:
        return self._custom.get((group, plural))

    def add_custom(self, kind: CustomKind) -> None:
        """Serve `kind` from now on, in place of what it was before."""
        self._drop(kind.group, kind.plural)
        self._custom[kind.group, kind.plural] = kind
        for each in _from_custom(kind):
            self._served[each.group, each.version, each.plural] = each
        self._changed()

    def remove_custom(self, group: str, plural: str) -> None:
        """Stop serving a custom kind; unknown ones are no matter."""
        self._drop(group, plural)
        self._changed()

    def _drop(self, group: str, plural: str) -> None:
        if self._custom.pop((group, plural), None) is not None:
            gone = [key for key in self._served if (key[0], key[2]) == (group, plural)]
            for key in gone:
                del self._served[key]

    def _changed(self) -> None:
        self._generation += 1
        self._count_versions()

    def _count_versions(self) -> None:
        versions: dict[str, list[str]] = {}
        for group, version, _ in self._served:
            known = versions.setdefault(group, [])
            if version not in known:
                known.append(version)
        for known in versions.values():
            known.sort(key=api_version_rank)
        self._versions = versions

    def _storage_version(self, group: str, plural: str) -> str:
        custom = self._custom.get((group, plural))
        if custom is not None:
            return custom.storage_version
        return _storage_versions().get((group, plural), "")
