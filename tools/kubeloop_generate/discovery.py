"""Reads aggregated or legacy discovery documents into rows, one for each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from .document import BadDocument

__all__ = ["ResourceRow", "legacy_rows", "rows_in"]


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
    """The rows of aggregated discovery documents, or of files with several of them.

    Keeps the order of the server: the first version of a group is preferred.
    """
    rows = [row for document in documents for row in _rows_of(document)]
    if not rows:
        raise BadDocument("no resources found: expected APIGroupDiscoveryList documents")
    return rows


def _rows_of(document: Mapping[str, Any]) -> Iterable[ResourceRow]:
    if document.get("kind") == "APIGroupDiscoveryList":
        for group in document["items"]:
            name = group.get("metadata", {}).get("name", "")
            for version in group["versions"]:
                for resource in version.get("resources", ()):
                    yield _row(name, version["version"], resource)
    else:
        for part in document.values():
            if isinstance(part, dict):
                yield from _rows_of(part)


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


def legacy_rows(group: str, version: str, document: Mapping[str, Any]) -> list[ResourceRow]:
    """The rows of one APIResourceList, for servers without aggregated discovery."""
    resources = document.get("resources", ())
    parents = [part for part in resources if "/" not in part["name"]]
    return [
        _row(group, version, _as_aggregated(parent, resources, (group, version)))
        for parent in parents
    ]


def _as_aggregated(
    parent: Mapping[str, Any], resources: Iterable[Mapping[str, Any]], default: tuple[str, str]
) -> dict[str, Any]:
    def kind_of(part: Mapping[str, Any]) -> dict[str, str]:
        return {
            "group": part.get("group", default[0]),
            "version": part.get("version", default[1]),
            "kind": part["kind"],
        }

    return {
        "resource": parent["name"],
        "responseKind": kind_of(parent),
        "singularResource": parent.get("singularName", ""),
        "scope": "Namespaced" if parent["namespaced"] else "Cluster",
        "verbs": parent["verbs"],
        "shortNames": parent.get("shortNames", ()),
        "categories": parent.get("categories", ()),
        "subresources": [
            {
                "subresource": part["name"].partition("/")[2],
                "responseKind": kind_of(part),
                "verbs": part["verbs"],
            }
            for part in resources
            if part["name"].startswith(parent["name"] + "/")
        ],
    }
