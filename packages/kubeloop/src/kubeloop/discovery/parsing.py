"""Decodes discovery responses, aggregated or not, and encodes the files of a disk cache.

Guarantees: pure; missing fields and null are empty; a body of another shape is a `DecodeError`
that names the expected kind.
See also: `groups` (the values), `client` (requests), `disk_cache` (files).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.meta import GroupVersion

from .errors import StaleGroupVersion
from .groups import ApiGroup, ApiResource, DiscoveryResult

__all__ = [
    "ACCEPT_AGGREGATED",
    "ACCEPT_JSON",
    "ACCEPT_NO_PEER",
    "dump_groups",
    "dump_resources",
    "is_aggregated",
    "parse_aggregated",
    "parse_core_versions",
    "parse_groups",
    "parse_resources",
]

T = TypeVar("T")

ACCEPT_JSON = "application/json"
_V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ACCEPT_AGGREGATED = f"{_V2},{ACCEPT_JSON}"
ACCEPT_NO_PEER = f"{_V2};profile=nopeer,{ACCEPT_AGGREGATED}"


def is_aggregated(content_type: str) -> bool:
    """Whether a content type is that of aggregated discovery, version 2."""
    if content_type == _V2:
        return True
    if ";" not in content_type or not content_type.isascii():  # `email` parses only ASCII
        return False
    from email.message import Message  # slow to import; servers send the type as above

    header = Message()
    header["Content-Type"] = content_type
    parameters = [header.get_param(name) for name in ("g", "v", "as")]
    return header.get_content_type() == "application/json" and parameters == [
        "apidiscovery.k8s.io",
        "v2",
        "APIGroupDiscoveryList",
    ]


# --- aggregated discovery


class _Meta(msgspec.Struct):
    name: str | None = None


class _Kind(msgspec.Struct):
    group: str | None = None
    version: str | None = None
    kind: str | None = None

    def __bool__(self) -> bool:
        return bool(self.group or self.version or self.kind)


class _Subresource(msgspec.Struct, rename="camel"):
    subresource: str | None = None
    response_kind: _Kind | None = None
    verbs: tuple[str, ...] | None = None


class _Resource(msgspec.Struct, rename="camel"):
    resource: str | None = None
    response_kind: _Kind | None = None
    scope: str | None = None
    singular_resource: str | None = None
    verbs: tuple[str, ...] | None = None
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    subresources: list[_Subresource] | None = None


class _Version(msgspec.Struct):
    version: str | None = None
    freshness: str | None = None
    resources: list[_Resource] | None = None


class _Group(msgspec.Struct):
    metadata: _Meta | None = None
    versions: list[_Version] | None = None


class _Groups(msgspec.Struct):
    items: list[_Group] | None = None


# Created at import, in one thread: msgspec crashes if two threads inspect a class at once.
_groups = msgspec.json.Decoder(_Groups)


def parse_aggregated(body: bytes) -> DiscoveryResult:
    """Groups and resources; a stale version is not in its group, but in `failures`."""
    listed = _read(_groups, body, "an APIGroupDiscoveryList")
    groups: list[ApiGroup] = []
    resources: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: dict[GroupVersion, Exception] = {}
    for item in listed.items or ():
        name = (item.metadata and item.metadata.name) or ""
        current: list[str] = []
        for each in item.versions or ():
            version = GroupVersion(name, each.version or "")
            if each.freshness == "Stale":
                failures[version] = StaleGroupVersion(version)
                continue
            current.append(version.version)
            resources[version] = tuple(
                row for resource in each.resources or () for row in _rows(resource, version)
            )
        groups.append(ApiGroup(name, tuple(current), current[0] if current else ""))
    return DiscoveryResult(tuple(groups), resources, failures)


def _rows(resource: _Resource, version: GroupVersion) -> Iterable[ApiResource]:
    name, singular = resource.resource or "", resource.singular_resource or ""
    namespaced = resource.scope == "Namespaced"
    # A resource without a response kind cannot be used; its subresources may have one (DSC-9).
    if kind := resource.response_kind:
        own = _own_group_version(kind, version)
        yield ApiResource(
            name,
            kind.kind or "",
            namespaced,
            tuple(resource.verbs or ()),
            singular=singular,
            short_names=tuple(resource.short_names or ()),
            categories=tuple(resource.categories or ()),
            group=own.group,
            version=own.version,
        )
    for part in resource.subresources or ():
        if kind := part.response_kind:
            own = _own_group_version(kind, version)
            yield ApiResource(
                f"{name}/{part.subresource or ''}",
                kind.kind or "",
                namespaced,
                tuple(part.verbs or ()),
                singular=singular,
                group=own.group,
                version=own.version,
            )


def _own_group_version(kind: _Kind, listed_in: GroupVersion) -> GroupVersion:
    """The group version of a kind if it differs from the one that lists it; else empty."""
    found = GroupVersion(kind.group or "", kind.version or "")
    return GroupVersion() if found == listed_in else found


# --- unaggregated discovery


class _LegacyVersion(msgspec.Struct, rename="camel"):
    group_version: str | None = None
    version: str | None = None


class _LegacyGroup(msgspec.Struct, rename="camel"):
    name: str | None = None
    versions: list[_LegacyVersion] | None = None
    preferred_version: _LegacyVersion | None = None


class _LegacyGroups(msgspec.Struct):
    groups: list[_LegacyGroup] | None = None


class _CoreVersions(msgspec.Struct):
    versions: list[str] | None = None


class _LegacyResource(msgspec.Struct, rename="camel", omit_defaults=True):
    name: str | None = None
    singular_name: str | None = None
    namespaced: bool | None = None
    group: str | None = None
    version: str | None = None
    kind: str | None = None
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _LegacyResources(msgspec.Struct, rename="camel"):
    group_version: str | None = None
    resources: list[_LegacyResource] | None = None


_core_versions = msgspec.json.Decoder(_CoreVersions)
_legacy_groups = msgspec.json.Decoder(_LegacyGroups)
_legacy_resources = msgspec.json.Decoder(_LegacyResources)


def parse_core_versions(body: bytes) -> ApiGroup | None:
    """The core group from `/api`; None when it lists no version."""
    versions = _read(_core_versions, body, "an APIVersions").versions or []
    return ApiGroup("", tuple(versions), versions[0]) if versions else None


def parse_groups(body: bytes) -> tuple[ApiGroup, ...]:
    """The named groups from `/apis`."""
    found = _read(_legacy_groups, body, "an APIGroupList").groups or ()
    return tuple(map(_group, found))


def _group(group: _LegacyGroup) -> ApiGroup:
    versions = tuple(_version_of(each) for each in group.versions or ())
    preferred = _version_of(group.preferred_version) if group.preferred_version else ""
    return ApiGroup(group.name or "", versions, preferred or next(iter(versions), ""))


def _version_of(version: _LegacyVersion) -> str:
    return version.version or (version.group_version or "").rpartition("/")[2]


def parse_resources(body: bytes) -> tuple[ApiResource, ...]:
    """The resources of one group version, with subresources."""
    found = _read(_legacy_resources, body, "an APIResourceList").resources or ()
    return tuple(
        ApiResource(
            row.name or "",
            row.kind or "",
            bool(row.namespaced),
            tuple(row.verbs or ()),
            singular=row.singular_name or "",
            short_names=tuple(row.short_names or ()),
            categories=tuple(row.categories or ()),
            group=row.group or "",
            version=row.version or "",
        )
        for row in found
    )


def _read(decoder: msgspec.json.Decoder[T], body: bytes, what: str) -> T:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(f"discovery: the response is not {what}: {error}") from error


# --- files in the format of other clients' caches


def dump_groups(groups: Iterable[ApiGroup]) -> bytes:
    """An APIGroupList, as in the cache of `kubectl`."""
    listed = [
        {
            "name": group.name,
            "versions": [_version_dict(each) for each in group.group_versions] or None,
            "preferredVersion": _version_dict(GroupVersion(group.name, group.preferred)),
        }
        for group in groups
    ]
    return msgspec.json.encode({"kind": "APIGroupList", "apiVersion": "v1", "groups": listed})


def _version_dict(version: GroupVersion) -> dict[str, str]:
    return {"groupVersion": str(version), "version": version.version}


def dump_resources(version: GroupVersion, rows: Iterable[ApiResource]) -> bytes:
    """An APIResourceList, as in the cache of `kubectl`."""
    listed = [
        _LegacyResource(
            name=row.name,
            singular_name=row.singular,
            namespaced=row.namespaced,
            group=row.group or None,
            version=row.version or None,
            kind=row.kind,
            verbs=list(row.verbs),
            short_names=list(row.short_names) or None,
            categories=list(row.categories) or None,
        )
        for row in rows
    ]
    return msgspec.json.encode(
        {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": str(version),
            "resources": listed,
        }
    )
