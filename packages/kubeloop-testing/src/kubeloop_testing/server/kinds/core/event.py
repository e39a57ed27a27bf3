"""Event: conversion, validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import value_at
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import name_of
from ..rules.names import path_name
from ..rules.value_rules import check_label_key

__all__ = ["COLUMNS", "INVOLVED", "KIND", "convert_event", "event_cells", "legacy_event"]

_EVENT_NAMES: Final = {
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "source": "deprecatedSource",
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
}


def _rename_fields(obj: JsonObject, names: dict[str, str]) -> JsonObject:
    return {names.get(key, key): value for key, value in obj.items()}


def convert_event(obj: JsonObject, source: str, target: str) -> JsonObject:
    """An event with the field names of the group that `target` is in."""
    if source == "v1":
        return _rename_fields(obj, _EVENT_NAMES)
    if target == "v1":
        return _rename_fields(obj, {new: old for old, new in _EVENT_NAMES.items()})
    return obj


COLUMNS: Final = (
    "Last Seen, Type, Reason, Object, *Subobject, *Source, Message, *First Seen, *Count, *Name"
)
INVOLVED: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def _validate(obj: Json, _: Json | None) -> Causes:
    yield from legacy_event(obj, "reportingComponent")


def legacy_event(obj: Json, component: str) -> Causes:
    # `legacyValidateEvent`: events of cluster-scoped objects belong into `default`.
    own = (obj.get("metadata") or {}).get("namespace") or ""
    involved = (obj.get("involvedObject") or {}).get("namespace") or ""
    rule = "does not match event.namespace"
    if obj.get("eventTime"):
        if not involved and own not in {"default", "kube-system"}:
            yield causes.invalid("involvedObject.namespace", involved, rule)
        yield from _event_fields(obj, component)
    elif involved != own and (involved or own not in {"", "default"}):
        yield causes.invalid("involvedObject.namespace", involved, rule)


def _event_fields(obj: Json, where: str) -> Causes:
    # Events with `eventTime` are of the new style, which requires these fields.
    component = obj.get("reportingComponent") or ""
    if not component:
        yield causes.required(where)
    yield from check_label_key(where, component)
    limits = {"reportingInstance": 128, "action": 128, "reason": 128}
    for field, limit in limits.items():
        text = obj.get(field) or ""
        if not text:
            yield causes.required(field)
        elif len(text) > limit:
            yield causes.invalid(field, "", f"can have at most {limit} characters")
    if len(obj.get("message") or "") > 1024:
        yield causes.invalid("message", "", "can have at most 1024 characters")


def event_cells(obj: Json, since: Since) -> list[Any]:
    # Of core/v1 and events.k8s.io/v1, whose fields have different names.
    series = value_at(obj, "series")
    first = value_at(obj, "firstTimestamp") or value_at(obj, "deprecatedFirstTimestamp")
    last = value_at(obj, "lastTimestamp") or value_at(obj, "deprecatedLastTimestamp")
    count = value_at(obj, "count") or value_at(obj, "deprecatedCount") or 1
    started = since(first or value_at(obj, "eventTime"))
    ended = since(last) if last else started
    if series is not None:
        ended, count = since(value_at(series, "lastObservedTime")), value_at(series, "count") or 0
    reference = value_at(obj, "involvedObject") or value_at(obj, "regarding")
    message = value_at(obj, "message") or value_at(obj, "note") or ""
    return [
        ended,
        value_at(obj, "type") or "",
        value_at(obj, "reason") or "",
        _reference_text(reference),
        value_at(reference, "fieldPath") or "",
        _event_source(obj),
        str(message).strip(),
        started,
        count,
        name_of(obj),
    ]


def _reference_text(reference: Any) -> str:
    kind, name = str(value_at(reference, "kind") or "").lower(), value_at(reference, "name")
    return f"{kind}/{name}" if name else kind


def _event_source(obj: Json) -> str:
    # `formatEventSource`; new events have other fields.
    source = value_at(obj, "source") or value_at(obj, "deprecatedSource")
    component = (
        value_at(source, "component")
        or value_at(obj, "reportingComponent")
        or value_at(obj, "reportingController")
        or ""
    )
    instance = value_at(source, "host") or value_at(obj, "reportingInstance")
    return f"{component}, {instance}" if instance else str(component)


KIND: Final = Kind(
    "",
    "Event",
    creates_on_update=True,
    name_rule=path_name,
    selectable={
        **{f"involvedObject.{name}": f"involvedObject.{name}" for name in INVOLVED},
        "reason": "reason",
        "reportingComponent": "reportingComponent",
        "source": "source.component",
        "type": "type",
    },
    convert=convert_event,
    validate=_validate,
    columns=COLUMNS,
    cells=event_cells,
)
