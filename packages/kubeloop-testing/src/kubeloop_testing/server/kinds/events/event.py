"""Event (events.k8s.io): conversion, validation and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...values import causes
from ..core.event import COLUMNS, INVOLVED, convert_event, event_cells, legacy_event
from ..kind import Causes, Json, Kind
from ..rules.value_rules import check_unchanged

__all__ = ["KIND"]

_EVENT_FIELDS: Final = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingInstance",
)


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidateEventCreate` and `ValidateEventUpdate` of events.k8s.io/v1: events are immutable,
    # apart from the count of a series.
    yield from legacy_event(obj, "reportingController")
    series = obj.get("series")
    if isinstance(series, Mapping) and (old is None or series != old.get("series")):
        if (series.get("count") or 0) < 2:
            yield causes.invalid("series.count", "", "should be at least 2")
        if not series.get("lastObservedTime"):
            yield causes.required("series.lastObservedTime")
    if old is not None:
        for field in _EVENT_FIELDS:
            yield from check_unchanged(field, obj.get(field), old.get(field))
        controllers = obj.get("reportingComponent"), old.get("reportingComponent")
        yield from check_unchanged("reportingController", *controllers)
        return
    if not obj.get("eventTime"):
        yield causes.required("eventTime")
    if obj.get("type") not in {"Normal", "Warning"}:
        yield causes.invalid("type", "", f"has invalid value: {obj.get('type') or ''}")
    for field in ("firstTimestamp", "lastTimestamp", "count"):
        if obj.get(field):
            yield causes.invalid(field, "", "needs to be unset")
    if any((obj.get("source") or {}).values()):
        yield causes.invalid("source", "", "needs to be unset")


KIND: Final = Kind(
    "events.k8s.io",
    "Event",
    creates_on_update=True,
    selectable={
        **{f"regarding.{name}": f"involvedObject.{name}" for name in INVOLVED},
        "reason": "reason",
        "reportingController": "reportingComponent",
        "type": "type",
    },
    convert=convert_event,
    validate=_validate,
    columns=COLUMNS,
    cells=event_cells,
)
