"""The cells of cluster kinds: nodes, namespaces, data, access, events, registrations.

Each function imitates the printer of the same kind in kube-apiserver's internalversion printers.
See also: the names of the columns (`table_kinds`).
"""

from __future__ import annotations

from typing import Any, Final

from ..values.json_values import value_at
from .cell_text import (
    Cells,
    Obj,
    Since,
    age_of,
    condition_of,
    human_duration,
    items_at,
    name_of,
    or_else,
)

__all__ = [
    "api_service_cells",
    "binding_cells",
    "certificate_request_cells",
    "component_status_cells",
    "config_map_cells",
    "definition_cells",
    "event_cells",
    "field_cells",
    "flow_schema_cells",
    "lease_candidate_cells",
    "lease_cells",
    "name_and_age",
    "namespace_cells",
    "node_cells",
    "policy_binding_cells",
    "policy_cells",
    "priority_class_cells",
    "priority_level_cells",
    "quota_cells",
    "resource_claim_cells",
    "resource_slice_cells",
    "secret_cells",
    "webhook_cells",
]

_ROLE: Final = "node-role.kubernetes.io/"


def name_and_age(obj: Obj, since: Since) -> list[Any]:
    return [name_of(obj), age_of(obj, since)]


def field_cells(*paths: str, age: bool = True) -> Cells:
    """Cells that are values of fields: `field_cells("spec.leaseName")`."""
    split = [path.split(".") for path in paths]

    def cells(obj: Obj, since: Since) -> list[Any]:
        values = [or_else(value_at(obj, *path), "") for path in split]
        return [name_of(obj), *values, *([age_of(obj, since)] if age else [])]

    return cells


def namespace_cells(obj: Obj, since: Since) -> list[Any]:
    return [name_of(obj), value_at(obj, "status", "phase") or "", age_of(obj, since)]


def secret_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "type") or "",
        len(value_at(obj, "data") or {}),
        age_of(obj, since),
    ]


def config_map_cells(obj: Obj, since: Since) -> list[Any]:
    size = len(value_at(obj, "data") or {}) + len(value_at(obj, "binaryData") or {})
    return [name_of(obj), size, age_of(obj, since)]


def node_cells(obj: Obj, since: Since) -> list[Any]:
    info = value_at(obj, "status", "nodeInfo")
    kernel, machine = (
        or_else(value_at(info, "kernelVersion"), "<unknown>"),
        value_at(info, "architecture"),
    )
    return [
        name_of(obj),
        _node_status(obj),
        _node_roles(obj),
        age_of(obj, since),
        value_at(info, "kubeletVersion") or "",
        _node_address(obj, "InternalIP"),
        _node_address(obj, "ExternalIP"),
        or_else(value_at(info, "osImage"), "<unknown>"),
        f"{kernel} ({machine})" if machine else kernel,
        or_else(value_at(info, "containerRuntimeVersion"), "<unknown>"),
    ]


def _node_status(obj: Obj) -> str:
    # A cordoned node is marked, ready or not.
    ready = condition_of(obj, "Ready")
    status = "Unknown"
    if ready is not None:
        status = "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if value_at(obj, "spec", "unschedulable") else status


def _node_roles(obj: Obj) -> str:
    # `findNodeRoles` of kube-apiserver's printers.
    labels = value_at(obj, "metadata", "labels") or {}
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    roles |= {str(labels.get("kubernetes.io/role") or "")}
    return ",".join(sorted(roles - {""})) or "<none>"


def _node_address(obj: Obj, address_type: str) -> str:
    found = items_at(obj, "status", "addresses")
    addresses = (
        str(value_at(each, "address")) for each in found if value_at(each, "type") == address_type
    )
    return next(addresses, "<none>")


def event_cells(obj: Obj, since: Since) -> list[Any]:
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


def _event_source(obj: Obj) -> str:
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


def lease_cells(obj: Obj, since: Since) -> list[Any]:
    return [name_of(obj), value_at(obj, "spec", "holderIdentity") or "", age_of(obj, since)]


lease_candidate_cells = field_cells("spec.leaseName", "spec.binaryVersion", "spec.emulationVersion")


def binding_cells(obj: Obj, since: Since) -> list[Any]:
    role = f"{value_at(obj, 'roleRef', 'kind') or ''}/{value_at(obj, 'roleRef', 'name') or ''}"
    subjects = items_at(obj, "subjects")

    def of(kind: str) -> list[Any]:
        return [each for each in subjects if value_at(each, "kind") == kind]

    accounts = [
        f"{value_at(e, 'namespace') or ''}/{value_at(e, 'name')}" for e in of("ServiceAccount")
    ]
    return [
        name_of(obj),
        role,
        age_of(obj, since),
        ", ".join(str(value_at(each, "name")) for each in of("User")),
        ", ".join(str(value_at(each, "name")) for each in of("Group")),
        ", ".join(accounts),
    ]


def quota_cells(obj: Obj, since: Since) -> list[Any]:
    # `printResourceQuota` splits requests and limits into two columns.
    hard, used = value_at(obj, "status", "hard") or {}, value_at(obj, "status", "used") or {}
    texts = {name: f"{name}: {used.get(name, 0)}/{hard[name]}" for name in sorted(hard)}
    requests = [text for name, text in texts.items() if not name.startswith("limits.")]
    limits = [text for name, text in texts.items() if name.startswith("limits.")]
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age_of(obj, since)]


def webhook_cells(obj: Obj, since: Since) -> list[Any]:
    return [name_of(obj), len(items_at(obj, "webhooks")), age_of(obj, since)]


def policy_cells(field: str) -> Cells:
    """The cells of an admission policy; `field` is "validations" or "mutations"."""

    def cells(obj: Obj, since: Since) -> list[Any]:
        kind = value_at(obj, "spec", "paramKind")
        parameter = (
            f"{value_at(kind, 'apiVersion')}/{value_at(kind, 'kind')}" if kind else "<unset>"
        )
        return [name_of(obj), len(items_at(obj, "spec", field)), parameter, age_of(obj, since)]

    return cells


def policy_binding_cells(obj: Obj, since: Since) -> list[Any]:
    reference = value_at(obj, "spec", "paramRef")
    name = value_at(reference, "name")
    parameter = f"{value_at(reference, 'namespace') or '*'}/{name}" if name else "<unset>"
    return [name_of(obj), value_at(obj, "spec", "policyName") or "", parameter, age_of(obj, since)]


def certificate_request_cells(obj: Obj, since: Since) -> list[Any]:
    seconds = value_at(obj, "spec", "expirationSeconds")
    return [
        name_of(obj),
        age_of(obj, since),
        or_else(value_at(obj, "spec", "signerName"), "<none>"),
        value_at(obj, "spec", "username") or "",
        "<none>" if seconds is None else human_duration(seconds),
        _request_status(obj),
    ]


def _request_status(obj: Obj) -> str:
    # `extractCSRStatus`.
    status = "Pending"
    if condition_of(obj, "Denied"):
        status = "Denied"
    elif condition_of(obj, "Approved"):
        status = "Approved"
    status += ",Failed" if condition_of(obj, "Failed") else ""
    return status + (",Issued" if value_at(obj, "status", "certificate") else "")


def priority_class_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        name_of(obj),
        value_at(obj, "value") or 0,
        bool(value_at(obj, "globalDefault")),
        age_of(obj, since),
        value_at(obj, "preemptionPolicy") or "",
    ]


def flow_schema_cells(obj: Obj, since: Since) -> list[Any]:
    dangling = condition_of(obj, "Dangling")
    return [
        name_of(obj),
        value_at(obj, "spec", "priorityLevelConfiguration", "name") or "",
        value_at(obj, "spec", "matchingPrecedence") or 0,
        or_else(value_at(obj, "spec", "distinguisherMethod", "type"), "<none>"),
        age_of(obj, since),
        str(dangling.get("status")) if dangling else "?",
    ]


def priority_level_cells(obj: Obj, since: Since) -> list[Any]:
    # An exempt level has no limits, hence `<none>`.
    limited = value_at(obj, "spec", "limited")
    queuing = value_at(limited, "limitResponse", "queuing")

    def of(part: Any, key: str) -> Any:
        return "<none>" if part is None else value_at(part, key) or 0

    return [
        name_of(obj),
        value_at(obj, "spec", "type") or "",
        of(limited, "nominalConcurrencyShares"),
        of(queuing, "queues"),
        of(queuing, "handSize"),
        of(queuing, "queueLengthLimit"),
        age_of(obj, since),
    ]


def api_service_cells(obj: Obj, since: Since) -> list[Any]:
    service, available = value_at(obj, "spec", "service"), condition_of(obj, "Available")
    name = f"{value_at(service, 'namespace')}/{value_at(service, 'name')}" if service else "Local"
    status = "Unknown"
    if available is not None:
        status, reason = str(available.get("status")), available.get("reason")
        status = f"{status} ({reason})" if status != "True" and reason else status
    return [name_of(obj), name, status, age_of(obj, since)]


def component_status_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    found = next((e for e in items_at(obj, "conditions") if value_at(e, "type") == "Healthy"), None)
    if found is None:
        return [name_of(obj), "Unknown", "", ""]
    health = "Healthy" if value_at(found, "status") == "True" else "Unhealthy"
    return [name_of(obj), health, value_at(found, "message") or "", value_at(found, "error") or ""]


def resource_claim_cells(obj: Obj, since: Since) -> list[Any]:
    # `resourceClaimState`.
    deleted = value_at(obj, "metadata", "deletionTimestamp")
    states = ["deleted"] if deleted else []
    if value_at(obj, "status", "allocation") is not None:
        states += ["allocated"]
        states += ["reserved"] if items_at(obj, "status", "reservedFor") else []
    elif not deleted:
        states += ["pending"]
    return [name_of(obj), ",".join(states), age_of(obj, since)]


resource_slice_cells = field_cells("spec.nodeName", "spec.driver", "spec.pool.name")


def definition_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # has the timestamp itself
    # The table convertor of apiextensions, not a printer.
    served = [each for each in items_at(obj, "spec", "versions") if value_at(each, "served")]
    versions = [
        f"{value_at(e, 'name')}(storage)" if value_at(e, "storage") else value_at(e, "name")
        for e in served
    ]
    established = condition_of(obj, "Established")
    return [
        value_at(obj, "metadata", "name"),
        value_at(obj, "spec", "scope"),
        ",".join(sorted(versions)),
        value_at(obj, "metadata", "creationTimestamp"),
        value_at(obj, "spec", "group"),
        value_at(obj, "spec", "names", "kind"),
        ",".join(items_at(obj, "spec", "names", "shortNames")),
        value_at(established, "status") == "True",
    ]
