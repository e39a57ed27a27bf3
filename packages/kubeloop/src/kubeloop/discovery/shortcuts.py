"""Short names and categories: `po` for pods, `all` for the resources of `kubectl get all`.

Guarantees: the name of a resource is never expanded; if two resources share a short name, the
first in the server's order is used, with a warning for each other one.
See also: `mapper` (uses the expanded names).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeloop.meta import GroupResource, GroupVersion, GroupVersionResource
from kubeloop.wire import get_logger

from .groups import ApiResource, DiscoveryResult

__all__ = ["OnWarning", "expand_categories", "expand_category", "expand_shortcut"]

log = get_logger(__name__)

OnWarning = Callable[[str], None]


def expand_shortcut(
    result: DiscoveryResult, partial: GroupVersionResource, *, on_warning: OnWarning | None = None
) -> GroupVersionResource:
    """The resource of a short name; other names are returned unchanged."""
    rows = list(_rows(result))
    if _is_resource_name(partial, rows):
        return partial
    found = _match_short_name(partial, rows, on_warning or _log)
    return found or _match_group_prefix(partial, rows) or partial


def _log(text: str) -> None:
    log.warning("%s", text)


def _rows(result: DiscoveryResult) -> Iterator[tuple[GroupVersion, ApiResource]]:
    for group in result.groups:
        for version in group.group_versions:
            for row in result.resources.get(version, ()):
                if not row.is_subresource:
                    yield version, row


def _is_resource_name(
    partial: GroupVersionResource, rows: list[tuple[GroupVersion, ApiResource]]
) -> bool:
    return any(
        partial.resource in (row.name, row.singular)
        for version, row in rows
        if partial.group in ("", version.group)
    )


def _match_short_name(
    partial: GroupVersionResource,
    rows: list[tuple[GroupVersion, ApiResource]],
    on_warning: OnWarning,
) -> GroupVersionResource | None:
    matches = [
        GroupResource(version.group, row.name)
        for version, row in rows
        if partial.resource in row.short_names and partial.group in ("", version.group)
    ]
    if not matches:
        return None
    # Several versions of one resource are one resource.
    first, *others = dict.fromkeys(matches)
    for other in others:
        on_warning(
            f"short name {partial.resource!r}: using {first}, could also be {other}"
            " (use the full name of the resource)"
        )
    return first.with_version(partial.version)


def _match_group_prefix(
    partial: GroupVersionResource, rows: list[tuple[GroupVersion, ApiResource]]
) -> GroupVersionResource | None:
    """The resource if the group is given by a prefix; tried last."""
    if not partial.group:
        return None
    for version, row in rows:
        if partial.resource in row.short_names and version.group.startswith(partial.group):
            return GroupVersionResource(version.group, partial.version, row.name)
    return None


def expand_category(result: DiscoveryResult, word: str) -> tuple[GroupResource, ...]:
    """The resources of a category, in all versions; empty for an unknown category."""
    return tuple(
        dict.fromkeys(
            GroupResource(version.group, row.name)
            for version, row in _rows(result)
            if word in row.categories
        )
    )


def expand_categories(word: str, *result: DiscoveryResult) -> tuple[GroupResource, ...]:
    """The resources of a category in several discovery results, each once."""
    found = (resource for each in result for resource in expand_category(each, word))
    return tuple(dict.fromkeys(found))
