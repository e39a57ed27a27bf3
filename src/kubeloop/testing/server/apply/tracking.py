"""Who owns the fields of a new object, worked out once for objects that are alike.

Promises: the same answer as `managed.track`, which is asked for everything but the
creation of an object like one that was created before.
Elsewhere: what owning means (`managed`).
"""

from __future__ import annotations

from typing import Any, final

from ..registry import ServedResource
from ..storage.store import Object, encoded
from .managed import track

__all__ = ["Tracker"]

_KEPT = 512  # sorts of objects remembered
# What of an object's metadata is owned by whoever writes it.
_OWNED = ("annotations", "finalizers", "generateName", "labels", "ownerReferences")

_MAPS = frozenset({"annotations", "labels"})


@final
class Tracker:
    """Fills in `managedFields`."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bytes], list[Object]] = {}

    def track(
        self,
        served: ServedResource,
        old: Object | None,
        new: Object,
        *,
        manager: str,
        subresource: str,
        now: str,
    ) -> Object:
        """`new` with the entry of `manager` brought up to date."""
        meta = new["metadata"]
        alike = old is None and not subresource and not meta.get("managedFields")
        key = (manager, served.api_version, _likeness(new)) if alike else None
        found = self._known.get(key) if key is not None else None
        if found is not None:
            fields = [{**each, "time": now} for each in found]
            return {**new, "metadata": {**meta, "managedFields": fields}}
        tracked = track(
            old,
            new,
            manager=manager,
            api_version=served.api_version,
            subresource=subresource,
            facts=served.facts,
            now=now,
            has_status="status" in served.subresources,
        )
        if key is not None:
            self._remember(key, tracked)
        return tracked

    def forget(self) -> None:
        """Forget everything: what is served has changed, and with it who owns what."""
        self._known.clear()

    def _remember(self, key: tuple[str, str, bytes], tracked: Object) -> None:
        fields: Any = tracked["metadata"].get("managedFields")
        if fields:
            self._known[key] = fields
        while len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]


def _likeness(obj: Object) -> bytes:
    """All of an object that says who owns what; equal for objects that differ in name only."""
    meta = obj["metadata"]
    owned = {field: _told_of(meta[field], field) for field in _OWNED if field in meta}
    return encoded({**obj, "metadata": owned})


def _told_of(value: Any, field: str) -> Any:
    # Of these maps each key is owned, whatever stands under it.
    return list(value) if field in _MAPS and isinstance(value, dict) else value
