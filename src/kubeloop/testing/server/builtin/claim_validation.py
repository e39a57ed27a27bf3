"""Validation of persistent volume claims and of the templates of claims.

Guarantees: the causes of `ValidatePersistentVolumeClaim`, its update, and
`ValidatePersistentVolumeClaimTemplate`.
See also: persistent volumes (`volume_validation`), volumes of pods (`volume_source_validation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import Quantity

from ..values import causes
from ..values.go_values import changes
from ..values.json_values import json_equal
from .value_rules import (
    Causes,
    check_choice,
    check_labels,
    check_name,
    check_selector,
    check_unchanged,
    parse_quantity,
)

__all__ = [
    "check_access_modes",
    "problems_of_claim",
    "problems_of_claim_spec",
    "problems_of_claim_template",
]

_Raw: TypeAlias = Mapping[str, Any]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ZERO: Final = Quantity("0")
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"


def problems_of_claim(obj: _Raw, old: _Raw | None) -> Causes:
    """What is wrong with a claim, or with its update."""
    yield from problems_of_claim_spec(obj.get("spec") or {}, "spec")
    if old is not None:
        yield from _change(obj, old)


def problems_of_claim_template(template: _Raw, path: str) -> Causes:
    """What is wrong with the template of a pod's ephemeral volume."""
    # Only labels and annotations of the template's metadata are used.
    meta = template.get("metadata") or {}
    yield from check_labels(f"{path}.metadata.labels", meta.get("labels"))
    for field, value in meta.items():
        if value and field not in {"labels", "annotations"}:
            yield causes.forbidden(f"{path}.metadata.{field}", "cannot be set")
    yield from problems_of_claim_spec(template.get("spec") or {}, f"{path}.spec")


def problems_of_claim_spec(spec: _Raw, path: str) -> Causes:
    """What is wrong with the spec of a claim."""
    if not spec.get("accessModes"):
        yield causes.required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from check_selector(f"{path}.selector", spec.get("selector"))
    yield from check_access_modes(spec, f"{path}.accessModes")
    requests, where = (spec.get("resources") or {}).get("requests") or {}, f"{path}.resources"
    if "storage" not in requests:
        yield causes.required(f"{where}[storage]")
    elif _quantity(requests["storage"]) <= _ZERO:
        shown = _quantity(requests["storage"]).canonical()
        yield causes.invalid(f"{where}[storage]", shown, "must be greater than zero")
    for field in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(field):
            yield from check_name(f"{path}.{field}", spec[field], problems_of_dns_subdomain)
    yield from check_choice(f"{path}.volumeMode", spec.get("volumeMode"), ("Block", "Filesystem"))
    yield from _data_sources(spec, path)


def check_access_modes(spec: _Raw, path: str) -> Causes:
    """The access modes: a volume that is exclusive to one pod cannot have other modes."""
    modes = spec.get("accessModes") or []
    for mode in modes:
        if mode not in _ACCESS_MODES:
            yield causes.not_supported(path, mode, _ACCESS_MODES)
    others = {*modes} & {*_ACCESS_MODES} - {"ReadWriteOncePod"}
    if "ReadWriteOncePod" in modes and others:
        yield causes.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _data_sources(spec: _Raw, path: str) -> Causes:
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, each in (("dataSource", source), ("dataSourceRef", ref)):
        if isinstance(each, Mapping):
            yield from _data_source(each, f"{path}.{field}")
    if not isinstance(source, Mapping) or not isinstance(ref, Mapping):
        return
    if ref.get("namespace"):
        yield causes.invalid(path, {}, "dataSource must not be set with dataSourceRef.namespace")
    elif any(source.get(key) != ref.get(key) for key in ("apiGroup", "kind", "name")):
        yield causes.invalid(path, {}, "must match dataSourceRef")


def _data_source(source: _Raw, path: str) -> Causes:
    for field in ("name", "kind"):
        if not source.get(field):
            yield causes.required(f"{path}.{field}")
    group, kind = source.get("apiGroup") or "", source.get("kind") or ""
    if not group and kind != "PersistentVolumeClaim":
        rule = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield causes.invalid(path, kind, rule)
    if group:
        yield from check_name(f"{path}.apiGroup", group, problems_of_dns_subdomain)
    if source.get("namespace"):
        yield from check_name(f"{path}.namespace", source["namespace"], problems_of_dns_label)


# --- updates


def _quantity(value: Any) -> Quantity:
    """A quantity; zero if it is invalid, which decoding has reported already."""
    found = parse_quantity(value)
    return _ZERO if found is None else found


def _change(obj: _Raw, old: _Raw) -> Causes:
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


def _annotation_change(obj: _Raw, old: _Raw) -> Causes:
    new, before = (
        ((each.get("metadata") or {}).get("annotations") or {}).get(_CLASS_ANNOTATION) or ""
        for each in (obj, old)
    )
    if new != before and not (before and (obj.get("spec") or {}).get("storageClassName") == before):
        where = f"metadata.annotations[{_CLASS_ANNOTATION}]"
        yield causes.invalid(where, new, causes.IMMUTABLE)


def _without_storage(resources: _Raw) -> dict[str, Any]:
    requests = {
        key: value for key, value in (resources.get("requests") or {}).items() if key != "storage"
    }
    return {**resources, "requests": requests}


def _storage(obj: _Raw) -> Quantity:
    resources = (obj.get("spec") or {}).get("resources") or {}
    return _quantity((resources.get("requests") or {}).get("storage", "0"))


def _capacity(obj: _Raw) -> Quantity:
    return _quantity(((obj.get("status") or {}).get("capacity") or {}).get("storage", "0"))
