"""The rows of what makes up a cluster: nodes, namespaces, data, access, events, registrations.

Elsewhere: the columns' names (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from .human import at, condition_of, human_duration, items_at, or_else

__all__ = [
    "api_service_cells",
    "binding_cells",
    "certificate_request_cells",
    "component_status_cells",
    "config_map_cells",
    "definition_cells",
    "event_cells",
    "flow_schema_cells",
    "lease_candidate_cells",
    "lease_cells",
    "named_and_aged",
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
    "simple",
    "webhook_cells",
]

Obj: TypeAlias = Mapping[str, Any]
Since: TypeAlias = Callable[[object], str]
Cells: TypeAlias = Callable[[Obj, Since], list[Any]]

_ROLE: Final = "node-role.kubernetes.io/"


def _name(obj: Obj) -> Any:
    return at(obj, "metadata", "name")


def _age(obj: Obj, since: Since) -> str:
    return since(at(obj, "metadata", "creationTimestamp"))


def named_and_aged(obj: Obj, since: Since) -> list[Any]:
    return [_name(obj), _age(obj, since)]


def simple(*paths: str, aged: bool = True) -> Cells:
    """Cells that are fields as they are: `simple("spec.leaseName")`."""
    split = [path.split(".") for path in paths]

    def cells(obj: Obj, since: Since) -> list[Any]:
        shown = [or_else(at(obj, *path), "") for path in split]
        return [_name(obj), *shown, *([_age(obj, since)] if aged else [])]

    return cells


def namespace_cells(obj: Obj, since: Since) -> list[Any]:
    return [_name(obj), at(obj, "status", "phase") or "", _age(obj, since)]


def secret_cells(obj: Obj, since: Since) -> list[Any]:
    return [_name(obj), at(obj, "type") or "", len(at(obj, "data") or {}), _age(obj, since)]


def config_map_cells(obj: Obj, since: Since) -> list[Any]:
    size = len(at(obj, "data") or {}) + len(at(obj, "binaryData") or {})
    return [_name(obj), size, _age(obj, since)]


def node_cells(obj: Obj, since: Since) -> list[Any]:
    info = at(obj, "status", "nodeInfo")
    kernel, machine = or_else(at(info, "kernelVersion"), "<unknown>"), at(info, "architecture")
    return [
        _name(obj),
        _node_status(obj),
        _node_roles(obj),
        _age(obj, since),
        at(info, "kubeletVersion") or "",
        _node_address(obj, "InternalIP"),
        _node_address(obj, "ExternalIP"),
        or_else(at(info, "osImage"), "<unknown>"),
        f"{kernel} ({machine})" if machine else kernel,
        or_else(at(info, "containerRuntimeVersion"), "<unknown>"),
    ]


def _node_status(obj: Obj) -> str:
    ready = condition_of(obj, "Ready")
    told = "Unknown"
    if ready is not None:
        told = "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{told},SchedulingDisabled" if at(obj, "spec", "unschedulable") else told


def _node_roles(obj: Obj) -> str:
    labels = at(obj, "metadata", "labels") or {}
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    roles |= {str(labels.get("kubernetes.io/role") or "")}
    return ",".join(sorted(roles - {""})) or "<none>"


def _node_address(obj: Obj, sort: str) -> str:
    found = items_at(obj, "status", "addresses")
    return next((str(at(e, "address")) for e in found if at(e, "type") == sort), "<none>")


def event_cells(obj: Obj, since: Since) -> list[Any]:
    """Of core v1 and of events.k8s.io alike, whose fields have other names."""
    series = at(obj, "series")
    first = at(obj, "firstTimestamp") or at(obj, "deprecatedFirstTimestamp")
    last = at(obj, "lastTimestamp") or at(obj, "deprecatedLastTimestamp")
    count = at(obj, "count") or at(obj, "deprecatedCount") or 1
    started = since(first or at(obj, "eventTime"))
    ended = since(last) if last else started
    if series is not None:
        ended, count = since(at(series, "lastObservedTime")), at(series, "count") or 0
    about = at(obj, "involvedObject") or at(obj, "regarding")
    message = at(obj, "message") or at(obj, "note") or ""
    return [
        ended,
        at(obj, "type") or "",
        at(obj, "reason") or "",
        _about(about),
        at(about, "fieldPath") or "",
        _event_source(obj),
        str(message).strip(),
        started,
        count,
        _name(obj),
    ]


def _about(reference: Any) -> str:
    kind, name = str(at(reference, "kind") or "").lower(), at(reference, "name")
    return f"{kind}/{name}" if name else kind


def _event_source(obj: Obj) -> str:
    source = at(obj, "source") or at(obj, "deprecatedSource")
    component = (
        at(source, "component")
        or at(obj, "reportingComponent")
        or at(obj, "reportingController")
        or ""
    )
    instance = at(source, "host") or at(obj, "reportingInstance")
    return f"{component}, {instance}" if instance else str(component)


def lease_cells(obj: Obj, since: Since) -> list[Any]:
    return [_name(obj), at(obj, "spec", "holderIdentity") or "", _age(obj, since)]


lease_candidate_cells = simple("spec.leaseName", "spec.binaryVersion", "spec.emulationVersion")


def binding_cells(obj: Obj, since: Since) -> list[Any]:
    role = f"{at(obj, 'roleRef', 'kind') or ''}/{at(obj, 'roleRef', 'name') or ''}"
    subjects = items_at(obj, "subjects")

    def of(kind: str) -> list[Any]:
        return [each for each in subjects if at(each, "kind") == kind]

    accounts = [f"{at(e, 'namespace') or ''}/{at(e, 'name')}" for e in of("ServiceAccount")]
    return [
        _name(obj),
        role,
        _age(obj, since),
        ", ".join(str(at(each, "name")) for each in of("User")),
        ", ".join(str(at(each, "name")) for each in of("Group")),
        ", ".join(accounts),
    ]


def quota_cells(obj: Obj, since: Since) -> list[Any]:
    hard, used = at(obj, "status", "hard") or {}, at(obj, "status", "used") or {}
    told = {name: f"{name}: {used.get(name, 0)}/{hard[name]}" for name in sorted(hard)}
    requests = [text for name, text in told.items() if not name.startswith("limits.")]
    limits = [text for name, text in told.items() if name.startswith("limits.")]
    return [_name(obj), ", ".join(requests), ", ".join(limits), _age(obj, since)]


def webhook_cells(obj: Obj, since: Since) -> list[Any]:
    return [_name(obj), len(items_at(obj, "webhooks")), _age(obj, since)]


def policy_cells(field: str) -> Cells:
    """An admission policy: how many validations or mutations it has."""

    def cells(obj: Obj, since: Since) -> list[Any]:
        said = at(obj, "spec", "paramKind")
        parameter = f"{at(said, 'apiVersion')}/{at(said, 'kind')}" if said else "<unset>"
        return [_name(obj), len(items_at(obj, "spec", field)), parameter, _age(obj, since)]

    return cells


def policy_binding_cells(obj: Obj, since: Since) -> list[Any]:
    said = at(obj, "spec", "paramRef")
    name = at(said, "name")
    parameter = f"{at(said, 'namespace') or '*'}/{name}" if name else "<unset>"
    return [_name(obj), at(obj, "spec", "policyName") or "", parameter, _age(obj, since)]


def certificate_request_cells(obj: Obj, since: Since) -> list[Any]:
    seconds = at(obj, "spec", "expirationSeconds")
    return [
        _name(obj),
        _age(obj, since),
        or_else(at(obj, "spec", "signerName"), "<none>"),
        at(obj, "spec", "username") or "",
        "<none>" if seconds is None else human_duration(seconds),
        _request_status(obj),
    ]


def _request_status(obj: Obj) -> str:
    told = "Pending"
    if condition_of(obj, "Denied"):
        told = "Denied"
    elif condition_of(obj, "Approved"):
        told = "Approved"
    told += ",Failed" if condition_of(obj, "Failed") else ""
    return told + (",Issued" if at(obj, "status", "certificate") else "")


def priority_class_cells(obj: Obj, since: Since) -> list[Any]:
    return [
        _name(obj),
        at(obj, "value") or 0,
        bool(at(obj, "globalDefault")),
        _age(obj, since),
        at(obj, "preemptionPolicy") or "",
    ]


def flow_schema_cells(obj: Obj, since: Since) -> list[Any]:
    dangling = condition_of(obj, "Dangling")
    return [
        _name(obj),
        at(obj, "spec", "priorityLevelConfiguration", "name") or "",
        at(obj, "spec", "matchingPrecedence") or 0,
        or_else(at(obj, "spec", "distinguisherMethod", "type"), "<none>"),
        _age(obj, since),
        str(dangling.get("status")) if dangling else "?",
    ]


def priority_level_cells(obj: Obj, since: Since) -> list[Any]:
    limited = at(obj, "spec", "limited")
    queuing = at(limited, "limitResponse", "queuing")

    def of(part: Any, key: str) -> Any:
        return "<none>" if part is None else at(part, key) or 0

    return [
        _name(obj),
        at(obj, "spec", "type") or "",
        of(limited, "nominalConcurrencyShares"),
        of(queuing, "queues"),
        of(queuing, "handSize"),
        of(queuing, "queueLengthLimit"),
        _age(obj, since),
    ]


def api_service_cells(obj: Obj, since: Since) -> list[Any]:
    service, available = at(obj, "spec", "service"), condition_of(obj, "Available")
    where = f"{at(service, 'namespace')}/{at(service, 'name')}" if service else "Local"
    told = "Unknown"
    if available is not None:
        told, reason = str(available.get("status")), available.get("reason")
        told = f"{told} ({reason})" if told != "True" and reason else told
    return [_name(obj), where, told, _age(obj, since)]


def component_status_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # no age here
    found = next((e for e in items_at(obj, "conditions") if at(e, "type") == "Healthy"), None)
    if found is None:
        return [_name(obj), "Unknown", "", ""]
    told = "Healthy" if at(found, "status") == "True" else "Unhealthy"
    return [_name(obj), told, at(found, "message") or "", at(found, "error") or ""]


def resource_claim_cells(obj: Obj, since: Since) -> list[Any]:
    deleted, given = at(obj, "metadata", "deletionTimestamp"), at(obj, "status", "allocation")
    states = ["deleted"] if deleted else []
    if given is not None:
        states += ["allocated"]
        states += ["reserved"] if items_at(obj, "status", "reservedFor") else []
    elif not deleted:
        states += ["pending"]
    return [_name(obj), ",".join(states), _age(obj, since)]


resource_slice_cells = simple("spec.nodeName", "spec.driver", "spec.pool.name")


def definition_cells(obj: Obj, since: Since) -> list[Any]:  # noqa: ARG001 # shows the moment
    served = [each for each in items_at(obj, "spec", "versions") if at(each, "served")]
    versions = [f"{at(e, 'name')}(storage)" if at(e, "storage") else at(e, "name") for e in served]
    established = condition_of(obj, "Established")
    return [
        at(obj, "metadata", "name"),
        at(obj, "spec", "scope"),
        ",".join(sorted(versions)),
        at(obj, "metadata", "creationTimestamp"),
        at(obj, "spec", "group"),
        at(obj, "spec", "names", "kind"),
        ",".join(items_at(obj, "spec", "names", "shortNames")),
        at(established, "status") == "True",
    ]
