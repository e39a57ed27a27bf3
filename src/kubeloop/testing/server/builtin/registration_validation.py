"""Validation of API services and of migrations of stored objects.

Guarantees: the checks of kube-aggregator's `pkg/apis/apiregistration/validation` and of
kube-apiserver's `pkg/apis/storagemigration/validation`, with their paths, reasons and order.
See also: webhooks and policies (`webhook_validation`, `policy_validation`).
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from kubeloop.meta import (
    problems_of_dns_1035_label,
    problems_of_dns_subdomain,
    problems_of_path_segment,
)

from ..values import causes
from .field_rules import (
    Check,
    Raw,
    check_conditions,
    check_known,
    check_required,
    check_service_port,
)
from .value_rules import (
    Causes,
    check_name,
    check_unchanged,
    enumerate_objects,
)

__all__ = ["REGISTRATION", "REGISTRATION_STATUSES"]


def _api_service(obj: Raw, _: Raw | None) -> Causes:
    # `ValidateAPIService`.
    spec = obj.get("spec") or {}
    group, version = spec.get("group") or "", spec.get("version") or ""
    rule = f'must be `spec.version+"."+spec.group`: "{version}.{group}"'
    metadata = obj.get("metadata") or {}
    for field in ("generateName", "name"):
        name = metadata.get(field) or ""
        if name and not problems_of_path_segment(name) and name != f"{version}.{group}":
            yield causes.invalid(f"metadata.{field}", name, rule)
    if not group and version != "v1":
        yield causes.required(
            "spec.group", "only v1 may have an empty group and it better be legacy kube"
        )
    if group:
        yield from check_name("spec.group", group, problems_of_dns_subdomain)
    yield from check_name("spec.version", version, problems_of_dns_1035_label)
    priority = spec.get("groupPriorityMinimum") or 0
    limits = {
        "groupPriorityMinimum": (priority, 20_000),
        "versionPriority": (spec.get("versionPriority") or 0, 1_000),
    }
    for field, (number, highest) in limits.items():
        if not 1 <= number <= highest:
            rule = f"must be positive and less than {highest}"
            yield causes.invalid(f"spec.{field}", number, rule)
    yield from _backend(spec)


def _backend(spec: Raw) -> Causes:
    service, bundle = spec.get("service"), spec.get("caBundle")
    insecure, where = spec.get("insecureSkipTLSVerify"), "spec.insecureSkipTLSVerify"
    if service is None:
        if bundle:
            rule = "local APIServices may not have a caBundle"
            yield causes.invalid("spec.caBundle", f"{_size(bundle)} bytes", rule)
        if insecure:
            yield causes.invalid(
                where, insecure, "local APIServices may not have insecureSkipTLSVerify"
            )
        return
    yield from check_required("spec.service.namespace", service.get("namespace"))
    yield from check_required("spec.service.name", service.get("name"))
    yield from check_service_port("spec.service.port", service.get("port", 443))
    if insecure and bundle:
        yield causes.invalid(where, insecure, "may not be true if caBundle is present")


def _size(bundle: Any) -> int:
    try:
        return len(base64.b64decode(bundle))
    except (binascii.Error, TypeError, ValueError):
        return 0


def _api_service_status(obj: Raw, _: Raw | None) -> Causes:
    for index, each in enumerate_objects((obj.get("status") or {}).get("conditions")):
        where, status = f"status.conditions[{index}].status", each.get("status") or ""
        yield from check_known(where, status, ("False", "True", "Unknown"))


# --- migrations of stored objects


def _migration(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateStorageVersionMigration`.
    spec = obj.get("spec") or {}
    resource = spec.get("resource") or {}
    name, group = resource.get("resource") or "", resource.get("group") or ""
    yield from check_required("spec.resource.resource", name, "resource is required to be set")
    if name:
        problems = problems_of_dns_1035_label(name)
        if problems:
            yield causes.invalid("spec.resource.resource", name, ",".join(problems))
    if group:
        yield from check_name("spec.resource.group", group, problems_of_dns_subdomain)
    if old is not None:
        yield from check_unchanged("spec", spec, old.get("spec"))


def _migration_status(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateStorageVersionMigrationStatusUpdate`.
    status, before = obj.get("status") or {}, (old or {}).get("status") or {}
    version, where = status.get("resourceVersion") or "", "status.resourceVersion"
    if version and not (version.isascii() and version.isdigit()):
        yield causes.invalid(where, version, "must be a resource version")
    yield from check_conditions("status.conditions", status.get("conditions"))
    if before.get("resourceVersion") and before["resourceVersion"] != version:
        yield causes.invalid(where, version, causes.IMMUTABLE)
    true, true_before = _true_conditions(status), _true_conditions(before)
    conditions = status.get("conditions")
    if {"Succeeded", "Failed"} <= true:
        rule = "Succeeded and Failed exclude each other"
        yield causes.invalid("status.conditions", conditions, rule)
    for kind in ("Succeeded", "Failed"):
        if kind in true_before and kind not in true:
            rule = f"{kind} cannot be set to false once it is true"
            yield causes.invalid("status.conditions", conditions, rule)


def _true_conditions(status: Raw) -> set[str]:
    found = enumerate_objects(status.get("conditions"))
    return {each.get("type") or "" for _, each in found if each.get("status") == "True"}


REGISTRATION: Final[dict[tuple[str, str], Check]] = {
    ("apiregistration.k8s.io", "APIService"): _api_service,
    ("storagemigration.k8s.io", "StorageVersionMigration"): _migration,
}
REGISTRATION_STATUSES: Final[dict[tuple[str, str, str], Check]] = {
    ("apiregistration.k8s.io", "APIService", "status"): _api_service_status,
    ("storagemigration.k8s.io", "StorageVersionMigration", "status"): _migration_status,
}
