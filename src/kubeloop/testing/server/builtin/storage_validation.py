"""Validation of volumes, volume claims and storage classes.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: the other core kinds (`core_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_subdomain
from kubeloop.wire import Quantity

from ..values import causes
from ..values.json_values import json_equal
from .value_rules import (
    Causes,
    check_choice,
    check_name,
    check_quantity,
    check_selector,
    parse_quantity,
)

__all__ = ["STORAGE"]

_Raw: TypeAlias = Mapping[str, Any]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def _claim(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidatePersistentVolumeClaimSpec`.
    spec = obj.get("spec") or {}
    yield from _access_modes(spec, "spec.accessModes")
    yield from check_selector("spec.selector", spec.get("selector"))
    requests, where = (spec.get("resources") or {}).get("requests") or {}, "spec.resources[storage]"
    if "storage" not in requests:
        yield causes.required(where)
    elif _quantity(requests["storage"]) <= _ZERO:
        yield causes.invalid(where, requests["storage"], "must be greater than zero")
    if spec.get("storageClassName"):
        where = "spec.storageClassName"
        yield from check_name(where, spec["storageClassName"], problems_of_dns_subdomain)
    yield from check_choice("spec.volumeMode", spec.get("volumeMode"), ("Block", "Filesystem"))
    if old is not None:
        yield from _claim_change(obj, old)


_ZERO: Final = Quantity("0")


def _quantity(value: Any) -> Quantity:
    """A quantity; zero if it is invalid, which `check_types` has reported already."""
    found = parse_quantity(value)
    return _ZERO if found is None else found


def _access_modes(spec: _Raw, path: str) -> Causes:
    # A volume that is exclusive to one pod cannot have other modes.
    modes = spec.get("accessModes") or []
    if not modes:
        yield causes.required(path, "at least 1 access mode is required")
    for mode in modes:
        yield from check_choice(path, mode, _ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield causes.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _claim_change(obj: _Raw, old: _Raw) -> Causes:
    # `ValidatePersistentVolumeClaimUpdate`.
    bound = (obj.get("status") or {}).get("phase") == "Bound"
    new, before = dict(obj.get("spec") or {}), dict(old.get("spec") or {})
    # The volume may be set once, by binding; the class may be set later by its default.
    if not before.get("volumeName"):
        new.pop("volumeName", None)
        before.pop("volumeName", None)
    if before.get("storageClassName") is None:
        new.pop("storageClassName", None)
    if bound:
        for spec in (new, before):
            spec.pop("resources", None)
            spec.pop("volumeAttributesClassName", None)
    if not json_equal(new, before):
        yield causes.forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims",
        )
    requested, before_request = _storage(obj), _storage(old)
    if bound and requested < before_request and requested <= _capacity(old):
        rule = "field can not be less than status.capacity"
        yield causes.forbidden("spec.resources.requests.storage", rule)


def _storage(obj: _Raw) -> Quantity:
    resources = (obj.get("spec") or {}).get("resources") or {}
    return _quantity((resources.get("requests") or {}).get("storage", "0"))


def _capacity(obj: _Raw) -> Quantity:
    return _quantity(((obj.get("status") or {}).get("capacity") or {}).get("storage", "0"))


_VOLUME_FIELDS: Final = frozenset(
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


def _volume(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidatePersistentVolumeSpec`.
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield causes.required("spec.accessModes")
    else:
        yield from _access_modes(spec, "spec.accessModes")
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield causes.required("spec.capacity")
    for key, value in capacity.items():
        yield from check_quantity(f"spec.capacity[{key}]", value)
    policy = spec.get("persistentVolumeReclaimPolicy")
    policies = ("Delete", "Recycle", "Retain")
    yield from check_choice("spec.persistentVolumeReclaimPolicy", policy, policies)
    sources = spec.keys() - _VOLUME_FIELDS
    if not sources:
        yield causes.required("spec", "must specify a volume type")
    elif old is not None:
        before = old.get("spec") or {}
        if any(not json_equal(spec.get(each), before.get(each)) for each in sources):
            rule = "spec.persistentvolumesource is immutable after creation"
            yield causes.forbidden("spec.persistentvolumesource", rule)


STORAGE: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    ("", "PersistentVolume"): _volume,
    ("", "PersistentVolumeClaim"): _claim,
}
