"""APIService (apiregistration.k8s.io): defaults, preparation, validation and columns."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from kubeloop.meta import (
    problems_of_dns_1035_label,
    problems_of_dns_subdomain,
    problems_of_path_segment,
)
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import value_at
from ..kind import CLIENT_METADATA, Causes, Json, Kind, Since
from ..rules.cell_text import age_of, condition_of, name_of
from ..rules.defaults import in_spec, service_reference
from ..rules.field_rules import check_known, check_required, check_service_port
from ..rules.names import path_name
from ..rules.value_rules import check_name, enumerate_objects

__all__ = ["KIND", "new_api_service"]


def new_api_service(obj: JsonObject) -> JsonObject:
    """An API service without a backend is served by this server, and available at once."""
    if value_at(obj, "spec", "service") is not None:
        return obj
    condition = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": value_at(obj, "metadata", "creationTimestamp"),
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
    return {**obj, "status": {"conditions": [condition]}}


def _validate(obj: Json, _: Json | None) -> Causes:
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


def _backend(spec: Json) -> Causes:
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


def _validate_status(obj: Json, _: Json | None) -> Causes:
    for index, each in enumerate_objects((obj.get("status") or {}).get("conditions")):
        where, status = f"status.conditions[{index}].status", each.get("status") or ""
        yield from check_known(where, status, ("False", "True", "Unknown"))


def _cells(obj: Json, since: Since) -> list[Any]:
    service, available = value_at(obj, "spec", "service"), condition_of(obj, "Available")
    name = f"{value_at(service, 'namespace')}/{value_at(service, 'name')}" if service else "Local"
    status = "Unknown"
    if available is not None:
        status, reason = str(available.get("status")), available.get("reason")
        status = f"{status} ({reason})" if status != "True" and reason else status
    return [name_of(obj), name, status, age_of(obj, since)]


KIND: Final = Kind(
    "apiregistration.k8s.io",
    "APIService",
    requires_version=True,
    kept_by_status=CLIENT_METADATA,
    name_rule=path_name,
    defaults=(in_spec(service_reference),),
    prepare_new=new_api_service,
    validate=_validate,
    validate_parts={"status": _validate_status},
    columns="Name, Service, Available, Age",
    cells=_cells,
)
