"""A cache of `managedFields` for new objects that have the same fields.

Guarantees: the same result as `managed.track`, which is called except for the creation of an
object whose fields were seen before.
See also: ownership (`managed`).
"""

from __future__ import annotations

from typing import Any, TypeAlias, final

from ..registry import ServedResource
from ..storage.store import Object, encoded
from ..values.shared_specs import shared_text
from .managed import track
from .reset_fields import reset_fields

__all__ = ["Tracker"]

_MAX_ENTRIES = 512
# The metadata fields that a client can own.
_OWNED = ("annotations", "finalizers", "generateName", "labels", "ownerReferences")

_MAPS = frozenset({"annotations", "labels"})

# The manager, the version of the API, and the texts of `_owned_content`.
_Key: TypeAlias = tuple[str, str, bytes, bytes]


@final
class Tracker:
    """Sets `managedFields`, from its cache where possible."""

    def __init__(self) -> None:
        self._cache: dict[_Key, list[Object]] = {}

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
        """`new` with an up-to-date entry of `manager`."""
        meta = new["metadata"]
        is_cacheable = old is None and not subresource and not meta.get("managedFields")
        key = (manager, served.api_version, *_owned_content(new)) if is_cacheable else None
        found = self._cache.get(key) if key is not None else None
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
            resets=reset_fields(served, subresource),
        )
        if key is not None:
            self._remember(key, tracked)
        return tracked

    def forget(self) -> None:
        """Clear the cache: the served resources changed, and with them the schemas."""
        self._cache.clear()

    def _remember(self, key: _Key, tracked: Object) -> None:
        # Without owners there is nothing to cache; the oldest entry goes first.
        fields: Any = tracked["metadata"].get("managedFields")
        if fields:
            self._cache[key] = fields
        while len(self._cache) > _MAX_ENTRIES:
            del self._cache[next(iter(self._cache))]


def _owned_content(obj: Object) -> tuple[bytes, bytes]:
    """The part of an object that decides ownership; equal for objects that differ in name only."""
    meta = obj["metadata"]
    owned = {field: _without_values(meta[field], field) for field in _OWNED if field in meta}
    # The text of a shared spec is known, and so is its hash.
    spec = shared_text(obj.get("spec"))
    if spec is None:
        return b"", encoded({**obj, "metadata": owned})
    return spec, encoded({**obj, "metadata": owned, "spec": None})


def _without_values(value: Any, field: str) -> Any:
    # In these maps each key is owned, regardless of its value.
    return list(value) if field in _MAPS and isinstance(value, dict) else value
