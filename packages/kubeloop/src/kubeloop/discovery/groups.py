"""The groups of a server, their versions, and the resources in them.

Guarantees: frozen; groups, versions and resources are in the server's order.
See also: `parsing` (from bytes), `client` (from a server).
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
    "DiscoveryResult",
    "infos_in",
    "namespaced_only",
    "preferred_resources",
    "supports_version",
]


class ApiGroup(msgspec.Struct, frozen=True):
    """A group, its versions in the server's order, and the preferred one (empty: none)."""

    name: str
    versions: tuple[str, ...] = ()
    preferred: str = ""

    @property
    def group_versions(self) -> tuple[GroupVersion, ...]:
        return tuple(GroupVersion(self.name, version) for version in self.versions)


class ApiResource(msgspec.Struct, frozen=True):
    """A resource or a subresource (`pods/status`) in discovery.

    `group` and `version` are those of the kind if they differ from the group version that lists
    the resource, such as autoscaling/v1 for `deployments/scale`; else empty. They are as the
    server sends them: a kind without a version has an empty one.
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

    def kind_at(self, version: GroupVersion) -> GroupVersionKind:
        """The kind of the objects, for a resource that `version` lists."""
        if self.version:
            return GroupVersionKind(self.group, self.version, self.kind)
        return version.with_kind(self.kind)


class DiscoveryResult(msgspec.Struct, frozen=True):
    """Groups and resources of a server, and the group versions that failed."""

    groups: tuple[ApiGroup, ...] = ()
    resources: Mapping[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: Mapping[GroupVersion, Exception] = {}

    def check(self) -> None:
        """Raise GroupDiscoveryFailed if a group version failed."""
        if self.failures:
            raise GroupDiscoveryFailed(self.failures, self)


def infos_in(result: DiscoveryResult, version: GroupVersion) -> Iterator[ResourceInfo]:
    """The resources of a group version, each with its subresources."""
    rows = result.resources.get(version, ())
    for row in rows:
        if not row.is_subresource:
            yield _info(row, version, rows)


def _info(row: ApiResource, version: GroupVersion, rows: tuple[ApiResource, ...]) -> ResourceInfo:
    parts = [each for each in rows if each.name.startswith(f"{row.name}/")]
    return ResourceInfo(
        group=version.group,
        version=version.version,
        plural=row.name,
        kind=row.kind,
        singular=row.singular or row.kind.lower(),
        namespaced=row.namespaced,
        verbs=row.verbs,
        short_names=row.short_names,
        categories=row.categories,
        subresources=tuple(_part(each, version) for each in parts),
    )


def _part(row: ApiResource, version: GroupVersion) -> Subresource:
    kind = row.kind_at(version)
    return Subresource(row.name.partition("/")[2], kind.group, kind.version, kind.kind, row.verbs)


def preferred_resources(
    result: DiscoveryResult,
) -> dict[GroupVersion, tuple[ApiResource, ...]]:
    """Each resource once: in the preferred version of its group, else in the first that has it.

    Subresources are left out; versions without resources are empty.
    """
    chosen: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    for group in result.groups:
        preferred = _preferred_versions(group, result)
        for version in group.group_versions:
            if version in result.resources:
                chosen[version] = tuple(
                    row for row in result.resources[version] if preferred.get(row.name) == version
                )
    return chosen


def _preferred_versions(group: ApiGroup, result: DiscoveryResult) -> dict[str, GroupVersion]:
    """The preferred version of each resource of a group."""
    versions: dict[str, GroupVersion] = {}
    for version in group.group_versions:
        for row in result.resources.get(version, ()):
            if not row.is_subresource and (
                row.name not in versions or version.version == group.preferred
            ):
                versions[row.name] = version
    return versions


def namespaced_only(
    chosen: Mapping[GroupVersion, tuple[ApiResource, ...]],
) -> dict[GroupVersion, tuple[ApiResource, ...]]:
    """Only the namespaced resources; versions without any are dropped."""
    kept = {
        version: tuple(row for row in rows if row.namespaced) for version, rows in chosen.items()
    }
    return {version: rows for version, rows in kept.items() if rows}


def supports_version(result: DiscoveryResult, version: GroupVersion) -> bool:
    """Whether the server serves a version; True if it lists no version at all, as in client-go."""
    listed = [each for group in result.groups for each in group.group_versions]
    return not listed or version in listed
