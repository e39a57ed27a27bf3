"""Prepares objects for writes to subresources, as `PrepareForUpdate` of their strategies.

What is kept of metadata and spec is decided before (`verbs.updates`); this is about values that
the server sets or keeps in the status.
Guarantees: never changes objects in place.
See also: creation and update of whole objects (`preparation`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ..values.json_values import map_field, map_items, value_at, with_defaults
from .preparation import with_template_generation_of

__all__ = ["prepare_part_for_update"]

# Fields of a pod's status that a write cannot remove (podStatusStrategy).
_KEPT_BY_PODS: Final = (
    "qosClass",
    "resourceClaimStatuses",
    "extendedResourceClaimStatus",
    "nodeAllocatableResourceClaimStatuses",
    "observedGeneration",
)
_DECISIONS: Final = ("Approved", "Denied")


def prepare_part_for_update(
    group: str, kind: str, new: dict[str, Any], old: dict[str, Any], *, part: str, now: str
) -> dict[str, Any]:
    """`new`, which replaces `old` by a write to the subresource `part`, ready for validation."""
    match group, kind:
        case "", "Pod" if part == "status":
            return _pod_status(new, old)
        case "", "PersistentVolume":
            return _with_phase_time(new, old, now)
        case "apps", "DaemonSet":
            return with_template_generation_of(new, old)
        case "certificates.k8s.io", "CertificateSigningRequest":
            if part == "status":
                new = _with_decisions(new, old)
            return _with_condition_times(new, old, now=now)
    return new


def _pod_status(new: JsonObject, old: JsonObject) -> JsonObject:
    before = old.get("status") or {}
    kept = {field: before[field] for field in _KEPT_BY_PODS if before.get(field)}
    generations: dict[str, list[int]] = {}
    for each in before.get("conditions") or ():
        generations.setdefault(each.get("type"), []).append(each.get("observedGeneration") or 0)

    def keep_generation(condition: JsonObject) -> JsonObject:
        found = generations.get(str(condition.get("type")))
        number = found.pop(0) if found else 0
        if condition.get("observedGeneration") or not number:
            return condition
        return {**condition, "observedGeneration": number}

    def keep(status: JsonObject) -> JsonObject:
        missing = {key: value for key, value in kept.items() if not status.get(key)}
        status = {**status, **missing} if missing else status
        return map_items(status, "conditions", keep_generation)

    return map_field(new, "status", keep, make=bool(kept))


def _with_phase_time(new: JsonObject, old: JsonObject, now: str) -> JsonObject:
    """A volume with the time at which its phase changed."""
    field, before = "lastPhaseTransitionTime", old.get("status") or {}

    def set_time(status: JsonObject) -> JsonObject:
        if before.get("phase") == status.get("phase"):
            return with_defaults(status, {field: before[field]} if before.get(field) else {})
        if status.get(field) in (None, before.get(field)):
            return {**status, field: now}
        return status

    return map_field(new, "status", set_time)


def _with_decisions(new: JsonObject, old: JsonObject) -> JsonObject:
    """A signing request whose conditions of these types are the old ones, if as many are left."""
    conditions = list(value_at(new, "status", "conditions") or ())
    before = value_at(old, "status", "conditions") or ()
    for kind in _DECISIONS:
        kept = [each for each in before if each.get("type") == kind]
        found = [index for index, each in enumerate(conditions) if each.get("type") == kind]
        if len(kept) == len(found):
            for index, each in zip(found, kept, strict=True):
                conditions[index] = each
    if not conditions:
        return new
    return map_field(new, "status", lambda status: {**status, "conditions": conditions})


def _with_condition_times(new: JsonObject, old: JsonObject, *, now: str) -> JsonObject:
    """`new` with the missing times of its conditions; an unchanged status keeps its time."""
    times = {
        (each.get("type"), each.get("status")): each.get("lastTransitionTime")
        for each in value_at(old, "status", "conditions") or ()
    }

    def set_times(condition: JsonObject) -> JsonObject:
        since = times.get((condition.get("type"), condition.get("status"))) or now
        return with_defaults(condition, {"lastUpdateTime": now, "lastTransitionTime": since})

    return map_field(new, "status", lambda status: map_items(status, "conditions", set_times))
