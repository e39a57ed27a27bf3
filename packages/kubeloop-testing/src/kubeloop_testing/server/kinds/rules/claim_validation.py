"""Validation of the specs of volume claims, which pods and stateful sets contain too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import Quantity

from ...values import causes
from ..kind import Causes, Json
from .value_rules import check_choice, check_labels, check_name, check_selector, parse_quantity

__all__ = [
    "check_access_modes",
    "problems_of_claim_spec",
    "problems_of_claim_template",
    "quantity_of",
]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ZERO: Final = Quantity("0")


def problems_of_claim_template(template: Json, path: str) -> Causes:
    """What is wrong with the template of a pod's ephemeral volume."""
    # Only labels and annotations of the template's metadata are used.
    meta = template.get("metadata") or {}
    yield from check_labels(f"{path}.metadata.labels", meta.get("labels"))
    for field, value in meta.items():
        if value and field not in {"labels", "annotations"}:
            yield causes.forbidden(f"{path}.metadata.{field}", "cannot be set")
    yield from problems_of_claim_spec(template.get("spec") or {}, f"{path}.spec")


def problems_of_claim_spec(spec: Json, path: str) -> Causes:
    """What is wrong with the spec of a claim."""
    if not spec.get("accessModes"):
        yield causes.required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from check_selector(f"{path}.selector", spec.get("selector"))
    yield from check_access_modes(spec, f"{path}.accessModes")
    requests, where = (spec.get("resources") or {}).get("requests") or {}, f"{path}.resources"
    if "storage" not in requests:
        yield causes.required(f"{where}[storage]")
    elif quantity_of(requests["storage"]) <= _ZERO:
        shown = quantity_of(requests["storage"]).canonical()
        yield causes.invalid(f"{where}[storage]", shown, "must be greater than zero")
    for field in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(field):
            yield from check_name(f"{path}.{field}", spec[field], problems_of_dns_subdomain)
    yield from check_choice(f"{path}.volumeMode", spec.get("volumeMode"), ("Block", "Filesystem"))
    yield from _data_sources(spec, path)


def check_access_modes(spec: Json, path: str) -> Causes:
    """The access modes: a volume that is exclusive to one pod cannot have other modes."""
    modes = spec.get("accessModes") or []
    for mode in modes:
        if mode not in _ACCESS_MODES:
            yield causes.not_supported(path, mode, _ACCESS_MODES)
    others = {*modes} & {*_ACCESS_MODES} - {"ReadWriteOncePod"}
    if "ReadWriteOncePod" in modes and others:
        yield causes.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _data_sources(spec: Json, path: str) -> Causes:
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


def _data_source(source: Json, path: str) -> Causes:
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


def quantity_of(value: Any) -> Quantity:
    """A quantity; zero if it is invalid, which decoding has reported already."""
    found = parse_quantity(value)
    return _ZERO if found is None else found
