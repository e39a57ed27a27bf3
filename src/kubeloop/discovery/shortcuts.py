"""Short names and categories: `po` for pods, `all` for what `kubectl get all` shows.

Promises: a word that is a resource's own name is never expanded; where two resources share
a short name the first in the server's order is taken, and it is said once for each other.
Elsewhere: what becomes of the expanded name (`mapper`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeloop.meta import GroupResource, GroupVersion, GroupVersionResource
from kubeloop.wire import get_logger

from .groups import ApiResource, Discovered

__all__ = ["OnWarning", "expand_categories", "expand_category", "expand_shortcut"]

log = get_logger(__name__)

OnWarning = Callable[[str], None]


def expand_shortcut(
    discovered: Discovered, wanted: GroupVersionResource, *, on_warning: OnWarning | None = None
) -> GroupVersionResource:
    """The resource that a short name stands for; other names come back as they are."""
    rows = list(_rows(discovered))
    if _is_a_name(wanted, rows):
        return wanted
    found = _shortened(wanted, rows, on_warning or _log)
    return found or _shortened_by_prefix(wanted, rows) or wanted


def _log(text: str) -> None:
    log.warning("%s", text)


def _rows(discovered: Discovered) -> Iterator[tuple[GroupVersion, ApiResource]]:
    for group in discovered.groups:
        for version in group.group_versions:
            for row in discovered.resources.get(version, ()):
                if not row.is_subresource:
                    yield version, row


def _is_a_name(wanted: GroupVersionResource, rows: list[tuple[GroupVersion, ApiResource]]) -> bool:
    return any(
        wanted.resource in (row.name, row.singular)
        for version, row in rows
        if wanted.group in ("", version.group)
    )


def _shortened(
    wanted: GroupVersionResource,
    rows: list[tuple[GroupVersion, ApiResource]],
    on_warning: OnWarning,
) -> GroupVersionResource | None:
    meant = [
        GroupResource(version.group, row.name)
        for version, row in rows
        if wanted.resource in row.short_names and wanted.group in ("", version.group)
    ]
    if not meant:
        return None
    # Several versions of one resource are one resource.
    first, *others = dict.fromkeys(meant)
    for other in others:
        on_warning(
            f"short name {wanted.resource!r}: taken for {first}, could also be {other}"
            " (write the resource's full name)"
        )
    return first.with_version(wanted.version)


def _shortened_by_prefix(
    wanted: GroupVersionResource, rows: list[tuple[GroupVersion, ApiResource]]
) -> GroupVersionResource | None:
    """A group given by its beginning: the last thing to be tried."""
    if not wanted.group:
        return None
    for version, row in rows:
        if wanted.resource in row.short_names and version.group.startswith(wanted.group):
            return GroupVersionResource(version.group, wanted.version, row.name)
    return None


def expand_category(discovered: Discovered, word: str) -> tuple[GroupResource, ...]:
    """The resources of all versions that are in a category; none for an unknown word."""
    return tuple(
        dict.fromkeys(
            GroupResource(version.group, row.name)
            for version, row in _rows(discovered)
            if word in row.categories
        )
    )


def expand_categories(word: str, *discovered: Discovered) -> tuple[GroupResource, ...]:
    """The same from several servers or discoveries, each resource once."""
    found = (resource for each in discovered for resource in expand_category(each, word))
    return tuple(dict.fromkeys(found))
