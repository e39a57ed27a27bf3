"""Finding the events of an object: the field selector that names it."""

from __future__ import annotations

from typing import Final

from kubeloop.errors import InvalidArgument
from kubeloop.selectors import FieldSelector, field_selector_from_map

__all__ = ["events_about"]

_PREFIXES: Final = {"v1": "involvedObject", "events.k8s.io/v1": "regarding"}


def events_about(
    *,
    name: str = "",
    kind: str = "",
    api_version: str = "",
    uid: str = "",
    events: str = "v1",
) -> FieldSelector:
    """Selects the events about an object, by whatever is given of it.

    `events` is the apiVersion of the events that are listed: `v1` or `events.k8s.io/v1`.

    Raises:
        InvalidArgument: events of that version are unknown.
    """
    prefix = _PREFIXES.get(events)
    if prefix is None:
        raise InvalidArgument(f"events of apiVersion {events!r}: expected v1 or events.k8s.io/v1")
    given = {"name": name, "kind": kind, "apiVersion": api_version, "uid": uid}
    return field_selector_from_map({f"{prefix}.{key}": said for key, said in given.items() if said})
