"""What a server offers, as values: groups, their versions, and the resources in them.

Promises: frozen; the server's order of groups, versions and resources is kept.
Elsewhere: reading them from an answer (`parsing`), fetching the answer (`client`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kubeloop.meta import GroupVersion, GroupVersionKind
from kubeloop.wire import ResourceInfo, Subresource

from .errors import GroupDiscoveryFailed

__all__ = [
    "ApiGroup",
    "ApiResource",
    "Discovered",
    "infos_in",
    "namespaced_only",
    "preferred_resources",
    "supports_version",
]


class ApiGroup(msgspec.Struct, frozen=True):
    """A group, its versions in the server's order, and the one to prefer (empty: none)."""

    name: str
    versions: tuple[str, ...] = ()
    preferred: str = ""

    @property
    def group_versions(self) -> tuple[GroupVersion, ...]:
        return tuple(GroupVersion(self.name, version) for version in self.versions)


class ApiResource(msgspec.Struct, frozen=True):
    """One row of discovery: a resource, or a part of one (`pods/status`).

    `group` and `version` are those of the kind where they differ from the place it is
    listed at, as autoscaling/v1 does for `deployments/scale`; else empty.
    """

    name: str
    kind: str
    namespaced: bool = False
    verbs: tuple[str, ...] = ()
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    group: str = ""
    version: str = ""

    @property
    def is_subresource(self) -> bool:
        return "/" in self.name

    def kind_at(self, place: GroupVersion) -> GroupVersionKind:
        """The kind that is spoken here, for a row listed under `place`."""
        if self.version:
            return GroupVersionKind(self.group, self.version, self.kind)
        return place.with_kind(self.kind)


class Discovered(msgspec.Struct, frozen=True):
    """All that a server told, and what it failed to tell."""

    groups: tuple[ApiGroup, ...] = ()
    resources: Mapping[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: Mapping[GroupVersion, Exception] = {}

    def check(self) -> None:
        """Raise GroupDiscoveryFailed, which carries all of this, when something failed."""
        if self.failures:
            raise GroupDiscoveryFailed(self.failures, self)


def infos_in(discovered: Discovered, version: GroupVersion) -> Iterator[ResourceInfo]:
    """The resources of a group version, each with its parts."""
    rows = discovered.resources.get(version, ())
    for row in rows:
        if not row.is_subresource:
            yield _info(row, version, rows)


def _info(row: ApiResource, place: GroupVersion, rows: tuple[ApiResource, ...]) -> ResourceInfo:
    parts = [each for each in rows if each.name.startswith(f"{row.name}/")]
    return ResourceInfo(
        group=place.group,
        version=place.version,
        plural=row.name,
        kind=row.kind,
        singular=row.singular or row.kind.lower(),
        namespaced=row.namespaced,
        verbs=row.verbs,
        short_names=row.short_names,
        categories=row.categories,
        subresources=tuple(_part(each, place) for each in parts),
    )


def _part(row: ApiResource, place: GroupVersion) -> Subresource:
    kind = row.kind_at(place)
    return Subresource(row.name.partition("/")[2], kind.group, kind.version, kind.kind, row.verbs)


def preferred_resources(
    discovered: Discovered,
) -> dict[GroupVersion, tuple[ApiResource, ...]]:
    """Each resource once: in its group's preferred version, else the first that serves it.

    Parts of resources are left out; versions that contribute nothing stay, empty.
    """
    chosen: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    for group in discovered.groups:
        homes = _homes(group, discovered)
        for version in group.group_versions:
            if version in discovered.resources:
                chosen[version] = tuple(
                    row for row in discovered.resources[version] if homes.get(row.name) == version
                )
    return chosen


def _homes(group: ApiGroup, discovered: Discovered) -> dict[str, GroupVersion]:
    """Which version of the group each of its resources is to be taken from."""
    homes: dict[str, GroupVersion] = {}
    for version in group.group_versions:
        for row in discovered.resources.get(version, ()):
            if not row.is_subresource and (
                row.name not in homes or version.version == group.preferred
            ):
                homes[row.name] = version
    return homes


def namespaced_only(
    chosen: Mapping[GroupVersion, tuple[ApiResource, ...]],
) -> dict[GroupVersion, tuple[ApiResource, ...]]:
    """Only the resources that live in namespaces; versions without any are dropped."""
    kept = {
        version: tuple(row for row in rows if row.namespaced) for version, rows in chosen.items()
    }
    return {version: rows for version, rows in kept.items() if rows}


def supports_version(discovered: Discovered, version: GroupVersion) -> bool:
    """Whether the server serves a version; one that lists none at all is believed to."""
    listed = [each for group in discovered.groups for each in group.group_versions]
    return not listed or version in listed
