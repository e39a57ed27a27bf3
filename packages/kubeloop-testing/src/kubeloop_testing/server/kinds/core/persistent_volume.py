"""PersistentVolume: defaults, preparation, validation, warnings and columns."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.go_values import changes
from ...values.json_values import json_equal, map_field, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since, Warnings, unchecked
from ..rules.cell_text import age_of, items_at, name_of, or_else
from ..rules.cells import modes_text, phase_text, storage_class_of
from ..rules.claim_validation import check_access_modes
from ..rules.defaults import spec_defaults, status_defaults
from ..rules.pod_defaults import default_volume_sources
from ..rules.pod_warnings import DEPRECATED_VOLUMES, term_warnings
from ..rules.scheduling_validation import check_node_selector
from ..rules.value_rules import (
    check_choice,
    check_name,
    check_unchanged,
    enumerate_objects,
    has_parent_step,
    parse_quantity,
)
from ..rules.volume_source_validation import SOURCES, check_driver
from ..rules.warnings import CLASS_ANNOTATION, annotations_of

__all__ = ["KIND"]


def _new_volume(obj: JsonObject) -> JsonObject:
    created = value_at(obj, "metadata", "creationTimestamp")
    return {**obj, "status": {"phase": "Pending", "lastPhaseTransitionTime": created}}


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


_OPTIONS: Final = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)
_MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
_SECRETS: Final = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidatePersistentVolumeSpec`.
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield causes.required("spec.accessModes")
    yield from check_access_modes(spec, "spec.accessModes")
    yield from _capacity(spec)
    policy = spec.get("persistentVolumeReclaimPolicy")
    policies = ("Delete", "Recycle", "Retain")
    yield from check_choice("spec.persistentVolumeReclaimPolicy", policy, policies)
    yield from _node_affinity(spec)
    yield from _source(spec)
    root = posixpath.normpath((spec.get("hostPath") or {}).get("path") or ".") == "/"
    if root and policy == "Recycle":
        rule = "may not be 'recycle' for a hostPath mount of '/'"
        yield causes.forbidden("spec.persistentVolumeReclaimPolicy", rule)
    if spec.get("storageClassName"):
        where = "spec.storageClassName"
        yield from check_name(where, spec["storageClassName"], problems_of_dns_subdomain)
    yield from check_choice("spec.volumeMode", spec.get("volumeMode"), ("Block", "Filesystem"))
    yield from _attributes_class(spec)
    yield from _mount_options(obj, spec)
    if old is not None:
        yield from _change(spec, old.get("spec") or {})


def _mount_options(obj: Json, spec: Json) -> Causes:
    # `ValidatePersistentVolume` of pkg/volume/validation: not all plugins can mount with options.
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    if _MOUNT_OPTIONS in annotations and spec.keys() & {"hostPath", "local", "fc", "flocker"}:
        where = f"metadata.annotations.{_MOUNT_OPTIONS}"
        yield causes.forbidden(where, "may not specify mount options for this volume type")


def _capacity(spec: Json) -> Causes:
    capacity, where = spec.get("capacity") or {}, "spec.capacity"
    if not capacity:
        yield causes.required(where)
    if capacity.keys() != {"storage"}:
        yield causes.not_supported(where, dict(capacity) or None, ("storage",))
    for key, value in capacity.items():
        amount = parse_quantity(value)
        if amount is None:
            continue
        if amount.value() < 0:
            yield causes.invalid(f"{where}[{key}]", amount.value(), "must not be negative")
        if amount.value() <= 0:
            yield causes.invalid(f"{where}[{key}]", amount.canonical(), "must be greater than zero")


def _node_affinity(spec: Json) -> Causes:
    affinity, where = spec.get("nodeAffinity"), "spec.nodeAffinity.required"
    if not isinstance(affinity, Mapping):
        return
    if isinstance(affinity.get("required"), Mapping):
        yield from check_node_selector(affinity["required"], where)
    else:
        yield causes.required(where, "must specify required node constraints")


def _source(spec: Json) -> Causes:
    present = [each for each in _SOURCES if isinstance(spec.get(each), Mapping)]
    if not present:
        yield causes.required("spec", "must specify a volume type")
    for index, source in enumerate(present):
        if index:
            where = "cephFS" if source == "cephfs" else source
            yield causes.forbidden(f"spec.{where}", "may not specify more than 1 volume type")
            continue
        where = "persistentDisk" if source == "gcePersistentDisk" else source
        yield from _SOURCES[source](spec[source], f"spec.{where}")
        if source == "local" and spec.get("nodeAffinity") is None:
            rule = "Local volume requires node affinity"
            yield causes.required("spec.nodeAffinity", rule)


def _attributes_class(spec: Json) -> Causes:
    name, where = spec.get("volumeAttributesClassName"), "spec.volumeAttributesClassName"
    if name is None:
        return
    if not name:
        yield causes.required(where, "an empty string is disallowed")
    else:
        yield from check_name(where, name, problems_of_dns_subdomain)
    if spec.get("csi") is None:
        yield causes.required("spec.csi", "is required with volumeAttributesClassName")


def _change(spec: Json, before: Json) -> Causes:
    # `ValidatePersistentVolumeUpdate`.
    new = {key: value for key, value in spec.items() if key not in _OPTIONS}
    old = {key: value for key, value in before.items() if key not in _OPTIONS}
    secret = _SECRETS[1]  # may be added later
    if "csi" in new and "csi" in old and not old["csi"].get(secret):
        new["csi"] = {key: value for key, value in new["csi"].items() if key != secret}
    if not json_equal(new, old):
        rule = "spec.persistentvolumesource is immutable after creation"
        shown = changes("core/v1.PersistentVolumeSource", old, new)
        yield causes.forbidden("spec.persistentvolumesource", rule + shown)
    yield from check_unchanged("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
    affinity = spec.get("nodeAffinity"), before.get("nodeAffinity")
    if affinity[1] is not None and not json_equal(*affinity):
        rule = f"{causes.IMMUTABLE}, except for updating from beta label to GA"
        yield causes.invalid("nodeAffinity", affinity[0], rule)
    name = "volumeAttributesClassName"
    if before.get(name) is not None and spec.get(name) is None:
        yield causes.forbidden(f"spec.{name}", "must not be removed")


def _local(source: Json, path: str) -> Causes:
    target = source.get("path") or ""
    if not target:
        yield causes.required(f"{path}.path")
    elif has_parent_step(target):
        yield causes.invalid(f"{path}.path", target, "must not contain '..'")


def _csi(source: Json, path: str) -> Causes:
    yield from check_driver(f"{path}.driver", source.get("driver") or "")
    if not source.get("volumeHandle"):
        yield causes.required(f"{path}.volumeHandle")
    for field in _SECRETS:
        if isinstance(source.get(field), Mapping):
            yield from _secret_ref(source[field], f"{path}.{field}")


def _secret_ref(ref: Json, path: str) -> Causes:
    rules = {"name": problems_of_dns_subdomain, "namespace": problems_of_dns_label}
    for field, rule in rules.items():
        if not ref.get(field):
            yield causes.required(f"{path}.{field}")
        else:
            yield from check_name(f"{path}.{field}", ref[field], rule)


def _cinder(source: Json, path: str) -> Causes:
    if not source.get("volumeID"):
        yield causes.required(f"{path}.volumeID")
    ref = source.get("secretRef")
    for field in ("name", "namespace") if isinstance(ref, Mapping) else ():
        if not (ref or {}).get(field):
            yield causes.required(f"{path}.secretRef.{field}")


_ORDER: Final = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs"),
    *("rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile"),
    *("vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO"),
    *("local", "storageos", "csi"),
)
_OWN: Final[dict[str, Callable[[Json, str], Causes]]] = {
    "cinder": _cinder,
    "csi": _csi,
    "local": _local,
}
_SOURCES: Final = {name: _OWN.get(name) or SOURCES[name] for name in _ORDER}
_MOUNT_ANNOTATION: Final = "volume.beta.kubernetes.io/mount-options"


def _warn(obj: Json, _: Json | None) -> Warnings:
    spec, annotations = obj.get("spec") or {}, annotations_of(obj)
    for key, field in (
        (CLASS_ANNOTATION, "storageClassName"),
        (_MOUNT_ANNOTATION, "mountOptions"),
    ):
        if key in annotations:
            yield f"metadata.annotations[{key}]: deprecated; use {field}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
    terms = value_at(spec, "nodeAffinity", "required", "nodeSelectorTerms")
    for index, term in enumerate_objects(terms):
        yield from term_warnings(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")
    for field, text in DEPRECATED_VOLUMES.items():
        if spec.get(field) is not None and field not in {"flocker", "gitRepo", "quobyte"}:
            shown = "storageOS" if field == "storageos" else field
            yield f"spec.{shown}: {text}"


def _cells(obj: Json, since: Since) -> list[Any]:
    claim = value_at(obj, "spec", "claimRef")
    return [
        name_of(obj),
        str(value_at(obj, "spec", "capacity", "storage") or "0"),
        modes_text(items_at(obj, "spec", "accessModes")),
        value_at(obj, "spec", "persistentVolumeReclaimPolicy") or "",
        phase_text(obj),
        f"{value_at(claim, 'namespace') or ''}/{value_at(claim, 'name') or ''}" if claim else "",
        storage_class_of(obj),
        or_else(value_at(obj, "spec", "volumeAttributesClassName"), "<unset>"),
        value_at(obj, "status", "reason") or "",
        age_of(obj, since),
        or_else(value_at(obj, "spec", "volumeMode"), "<unset>"),
    ]


KIND: Final = Kind(
    "",
    "PersistentVolume",
    returns_deleted=True,
    defaults=(
        lambda obj: map_field(obj, "spec", default_volume_sources),
        spec_defaults(persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem"),
        status_defaults(phase="Pending"),
    ),
    prepare_new=_new_volume,
    prepare_part=lambda new, old, _, now: _with_phase_time(new, old, now),
    validate=_validate,
    validate_parts={"status": unchecked},
    warn=_warn,
    columns="Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, "
    "VolumeAttributesClass, Reason, Age, *VolumeMode",
    cells=_cells,
)
