"""Reads aggregated discovery documents into rows, one for each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from .document import BadDocument

__all__ = ["ResourceRow", "rows_in"]


class ResourceRow(msgspec.Struct, frozen=True, order=True):
    """One resource of one group version; subresources are (name, group, version, kind, verbs)."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = ()


def rows_in(documents: Iterable[Mapping[str, Any]]) -> list[ResourceRow]:
    """The rows of aggregated discovery documents.

    Keeps the order of the server: the first version of a group is preferred.
    """
    rows = [
        _row(group.get("metadata", {}).get("name", ""), version["version"], resource)
        for document in documents
        for group in document.get("items", ())
        for version in group["versions"]
        for resource in version.get("resources", ())
    ]
    if not rows:
        raise BadDocument("no resources found: expected APIGroupDiscoveryList documents")
    return rows


def _row(group: str, version: str, resource: Mapping[str, Any]) -> ResourceRow:
    return ResourceRow(
        group=group,
        version=version,
        plural=resource["resource"],
        kind=resource["responseKind"]["kind"],
        singular=resource.get("singularResource", ""),
        namespaced=resource["scope"] == "Namespaced",
        verbs=tuple(sorted(resource["verbs"])),
        short_names=tuple(resource.get("shortNames", ())),
        categories=tuple(resource.get("categories", ())),
        subresources=tuple(
            sorted(_subresource(group, version, part) for part in resource.get("subresources", ()))
        ),
    )


def _subresource(
    group: str, version: str, part: Mapping[str, Any]
) -> tuple[str, str, str, str, tuple[str, ...]]:
    kind = part.get("responseKind") or {}
    # An empty group and version mean those of the resource.
    has_group_version = bool(kind.get("group") or kind.get("version"))
    return (
        part["subresource"],
        kind.get("group", "") if has_group_version else group,
        kind.get("version", "") if has_group_version else version,
        kind.get("kind", ""),
        tuple(sorted(part["verbs"])),
    )
