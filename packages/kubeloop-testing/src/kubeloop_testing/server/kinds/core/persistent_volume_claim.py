"""PersistentVolumeClaim: defaults, preparation, validation, warnings and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject, Quantity

from ...values import causes
from ...values.go_values import changes
from ...values.json_values import json_equal, map_field, value_at
from ..kind import Causes, Json, Kind, Since, Warnings, unchecked
from ..rules.cell_text import age_of, items_at, name_of, or_else
from ..rules.cells import modes_text, phase_text, storage_class_of
from ..rules.claim_validation import problems_of_claim_spec, quantity_of
from ..rules.defaults import claim_defaults
from ..rules.pod_warnings import storage_warnings
from ..rules.value_rules import check_unchanged
from ..rules.warnings import CLASS_ANNOTATION, annotations_of

__all__ = ["KIND"]


def _data_sources(spec: JsonObject) -> JsonObject:
    # `NormalizeDataSources`: old and new clients use different fields for the same.
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not ref:
        return {**spec, "dataSourceRef": source}
    if ref and not source and not ref.get("namespace"):
        return {**spec, "dataSource": ref}
    return spec


_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"


def _validate(obj: Json, old: Json | None) -> Causes:
    """What is wrong with a claim, or with its update."""
    yield from problems_of_claim_spec(obj.get("spec") or {}, "spec")
    if old is not None:
        yield from _change(obj, old)


def _change(obj: Json, old: Json) -> Causes:
    # `ValidatePersistentVolumeClaimUpdate`.
    is_bound = (obj.get("status") or {}).get("phase") == "Bound"
    new, before = dict(obj.get("spec") or {}), dict(old.get("spec") or {})
    # The volume may be set once, by binding; the class may be set later by its default.
    if not before.get("volumeName"):
        new.pop("volumeName", None)
        before.pop("volumeName", None)
    if before.get("storageClassName") is None:
        new.pop("storageClassName", None)
    if is_bound:
        for spec in (new, before):
            spec.pop("volumeAttributesClassName", None)
            spec["resources"] = _without_storage(spec.get("resources") or {})
    if not json_equal(new, before):
        yield causes.forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims"
            + changes("core/v1.PersistentVolumeClaimSpec", before, new),
        )
    requested, before_request = _storage(obj), _storage(old)
    if requested < before_request and requested <= _capacity(old):
        rule = "field can not be less than status.capacity"
        yield causes.forbidden("spec.resources.requests.storage", rule)
    mode, former = ((each.get("spec") or {}).get("volumeMode") for each in (obj, old))
    yield from check_unchanged("volumeMode", mode, former)
    yield from _annotation_change(obj, old)


def _annotation_change(obj: Json, old: Json) -> Causes:
    new, before = (
        ((each.get("metadata") or {}).get("annotations") or {}).get(_CLASS_ANNOTATION) or ""
        for each in (obj, old)
    )
    if new != before and not (before and (obj.get("spec") or {}).get("storageClassName") == before):
        where = f"metadata.annotations[{_CLASS_ANNOTATION}]"
        yield causes.invalid(where, new, causes.IMMUTABLE)


def _without_storage(resources: Json) -> dict[str, Any]:
    requests = {
        key: value for key, value in (resources.get("requests") or {}).items() if key != "storage"
    }
    return {**resources, "requests": requests}


def _storage(obj: Json) -> Quantity:
    resources = (obj.get("spec") or {}).get("resources") or {}
    return quantity_of((resources.get("requests") or {}).get("storage", "0"))


def _capacity(obj: Json) -> Quantity:
    return quantity_of(((obj.get("status") or {}).get("capacity") or {}).get("storage", "0"))


def _warn(obj: Json, _: Json | None) -> Warnings:
    if CLASS_ANNOTATION in annotations_of(obj):
        yield (
            f"metadata.annotations[{CLASS_ANNOTATION}]: deprecated since v1.8; use "
            '"storageClassName" attribute instead'
        )
    yield from storage_warnings(obj.get("spec") or {}, "spec")


def _cells(obj: Json, since: Since) -> list[Any]:
    volume = value_at(obj, "spec", "volumeName") or ""
    return [
        name_of(obj),
        phase_text(obj),
        volume,
        str(value_at(obj, "status", "capacity", "storage") or "0") if volume else "",
        modes_text(items_at(obj, "status", "accessModes")) if volume else "",
        storage_class_of(obj),
        or_else(value_at(obj, "spec", "volumeAttributesClassName"), "<unset>"),
        age_of(obj, since),
        or_else(value_at(obj, "spec", "volumeMode"), "<unset>"),
    ]


KIND: Final = Kind(
    "",
    "PersistentVolumeClaim",
    returns_deleted=True,
    defaults=(claim_defaults,),
    prepare_new=lambda obj: map_field(obj, "spec", _data_sources),
    validate=_validate,
    validate_parts={"status": unchecked},
    warn=_warn,
    columns="Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, "
    "Age, *VolumeMode",
    cells=_cells,
)
