"""StorageVersionMigration (storagemigration.k8s.io): validation."""

from __future__ import annotations

from typing import Final

from kubeloop.meta import problems_of_dns_1035_label, problems_of_dns_subdomain

from ...values import causes
from ..kind import METADATA, Causes, Json, Kind
from ..rules.field_rules import check_conditions, check_required
from ..rules.value_rules import check_name, check_unchanged, enumerate_objects

__all__ = ["KIND"]


def _validate(obj: Json, old: Json | None) -> Causes:
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


def _validate_status(obj: Json, old: Json | None) -> Causes:
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


def _true_conditions(status: Json) -> set[str]:
    found = enumerate_objects(status.get("conditions"))
    return {each.get("type") or "" for _, each in found if each.get("status") == "True"}


KIND: Final = Kind(
    "storagemigration.k8s.io",
    "StorageVersionMigration",
    requires_version=True,
    kept_by_status=METADATA,
    validate=_validate,
    validate_parts={"status": _validate_status},
)
