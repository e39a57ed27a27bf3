"""Prepares objects for creation and update, as `PrepareForCreate` and `PrepareForUpdate` do.

Resets the status, allocates addresses and ports, generates the selectors of jobs.
Guarantees: never changes objects in place.
See also: defaults (`builtin_defaults`), free addresses and ports (`allocation`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.wire import JsonObject, resources

from ..statuses import Cause, StatusError, invalid
from ..values import causes
from ..values.json_values import map_field, map_items, value_at, with_defaults, without
from .allocation import Allocator
from .builtin_defaults import default
from .spec_cache import cached_by_content

__all__ = [
    "new_api_service",
    "prepare_for_create",
    "prepare_for_update",
    "quality_of_service",
    "with_condition_times",
    "with_default_tolerations",
]

# Kinds whose status is accepted at creation.
_KEEPS_STATUS: Final = frozenset(
    {("", "Node"), ("apiextensions.k8s.io", "CustomResourceDefinition")}
)
# Fields in the spec that belong to features which are disabled by default.
_DISABLED: Final = {("coordination.k8s.io", "Lease"): ("strategy", "preferredHolder")}
_JOB: Final = "batch.kubernetes.io/"
_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
_NUMBER: Final = re.compile("[1-9][0-9]{0,17}")
# The taints that the admission plugin DefaultTolerationSeconds tolerates for five minutes.
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def prepare_for_create(
    group: str, kind: str, obj: dict[str, Any], allocator: Allocator
) -> dict[str, Any]:
    """`obj` prepared for storage; it has its defaults, its name and its uid already.

    Raises:
        StatusError: a requested address or port cannot be allocated (422).
    """
    if (group, kind) in _WITH_STATUS and (group, kind) not in _KEEPS_STATUS:
        first = _initial_status(group, kind)
        obj = without(obj, "status") if first is None else {**obj, "status": first}
    if (group, kind) in _DISABLED:
        obj = _without_disabled(group, kind, obj, {})
    match group, kind:
        case "", "Pod":
            return _new_pod(obj)
        case "", "Namespace":
            return _new_namespace(obj)
        case "", "Service":
            return _allocate(obj, allocator)
        case "apiextensions.k8s.io", "CustomResourceDefinition":
            return default(group, kind, without(obj, "status"))
        case "apps", "DaemonSet":
            return _with_template_generation(obj, _template_generation(obj))
        case "apiregistration.k8s.io", "APIService":
            return new_api_service(obj)
        case "batch", "Job":
            return _new_job(obj)
        case "resource.k8s.io", "DeviceTaintRule" | "ResourceSlice":
            return _with_taint_times(obj)
    return obj


def _without_disabled(group: str, kind: str, obj: JsonObject, old: JsonObject) -> JsonObject:
    """`obj` without the fields of disabled features, unless `old` has them."""
    before = old.get("spec") or {}
    names = [each for each in _DISABLED[group, kind] if each not in before]
    return map_field(obj, "spec", lambda spec: without(spec, *names))


@functools.cache
def _initial_status(group: str, kind: str) -> JsonObject | None:
    """The status of a new object of the kind."""
    found: JsonObject | None = default(group, kind, {}).get("status")
    return found


def _kinds_with_status() -> Iterable[tuple[str, str]]:
    for info in resources():
        if any(part.name == "status" for part in info.subresources):
            yield info.group, info.kind


_WITH_STATUS: Final = frozenset(_kinds_with_status())


# --- pods, namespaces, jobs


def _new_pod(obj: JsonObject) -> JsonObject:
    # Cached by spec: the pods of a replica set differ only in their names.
    return {**obj, **_pending_pod({key: obj[key] for key in obj.keys() & {"spec"}})}


@cached_by_content
def _pending_pod(pod: JsonObject) -> JsonObject:
    """The parts of a new pod that depend on its spec alone, so that they can be cached."""
    pod = map_field(pod, "spec", _admit_spec)
    return {**pod, "status": {"phase": "Pending", "qosClass": quality_of_service(pod)}}


def _admit_spec(spec: JsonObject) -> JsonObject:
    """The spec after the admission plugins Priority and DefaultTolerationSeconds."""
    spec = with_defaults(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    return with_default_tolerations(spec)


def _admit_changed_spec(spec: JsonObject, old: JsonObject) -> JsonObject:
    """The same for an update: a manifest that leaves out what the plugins set can be sent again."""
    kept: JsonObject = {key: old[key] for key in ("priority", "preemptionPolicy") if key in old}
    return with_default_tolerations(with_defaults(spec, kept))


def with_default_tolerations(spec: JsonObject) -> JsonObject:
    """The spec of a pod that tolerates lost nodes for five minutes."""
    tolerations = spec.get("tolerations") or []
    missing = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _TOLERATED
        if not any(_tolerates(each, key) for each in tolerations)
    ]
    return {**spec, "tolerations": [*tolerations, *missing]} if missing else spec


def _tolerates(toleration: Mapping[str, Any], key: str) -> bool:
    matches_key = toleration.get("key") in (key, None, "")
    return matches_key and toleration.get("effect") in ("NoExecute", None, "")


def quality_of_service(pod: Mapping[str, Any]) -> str:
    """`Guaranteed` if all containers have limits equal to their requests, `BestEffort` without
    any limits and requests, else `Burstable`: `ComputePodQOS` of Kubernetes."""
    containers = [
        *(value_at(pod, "spec", "containers") or ()),
        *(value_at(pod, "spec", "initContainers") or ()),
    ]
    resources_of = [_limits_and_requests(each) for each in containers]
    if not any(limits or requests for limits, requests in resources_of):
        return "BestEffort"
    are_limited = all(limits.keys() == {"cpu", "memory"} for limits, _ in resources_of)
    are_equal = all({**limits, **requests} == limits for limits, requests in resources_of)
    return "Guaranteed" if are_limited and are_equal else "Burstable"


def _limits_and_requests(container: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    def of(name: str) -> dict[str, str]:
        amounts = value_at(container, "resources", name) or {}
        return {key: str(value) for key, value in amounts.items() if key in {"cpu", "memory"}}

    return of("limits"), of("requests")


def _new_namespace(obj: JsonObject) -> JsonObject:
    # This finalizer keeps the namespace until the namespace controller has emptied it.
    def add_finalizer(spec: JsonObject) -> JsonObject:
        found = spec.get("finalizers") or []
        return spec if "kubernetes" in found else {**spec, "finalizers": [*found, "kubernetes"]}

    return {**map_field(obj, "spec", add_finalizer, make=True), "status": {"phase": "Active"}}


def _new_job(obj: JsonObject) -> JsonObject:
    """A job selects its pods by its uid, unless `manualSelector` is set."""
    uid, name = value_at(obj, "metadata", "uid"), value_at(obj, "metadata", "name")
    if value_at(obj, "spec", "manualSelector") or not uid:
        return obj
    labels = {"controller-uid": uid, f"{_JOB}controller-uid": uid}
    if name:
        labels |= {"job-name": name, f"{_JOB}job-name": name}

    def mark(meta: JsonObject) -> JsonObject:
        return {**meta, "labels": {**(meta.get("labels") or {}), **labels}}

    def select(spec: JsonObject) -> JsonObject:
        selector = {"matchLabels": {f"{_JOB}controller-uid": uid}}
        spec = spec if spec.get("selector") else {**spec, "selector": selector}
        return map_field(
            spec, "template", lambda value: map_field(value, "metadata", mark, make=True)
        )

    job = map_field(obj, "spec", select)
    own, inner = (
        value_at(obj, "metadata", "labels"),
        value_at(obj, "spec", "template", "metadata", "labels"),
    )
    # Defaulting copied the labels of the template to a job without labels: keep them equal.
    return job if own and own != inner else map_field(job, "metadata", mark)


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


def _with_taint_times(obj: JsonObject) -> JsonObject:
    # `SetDefaults_DeviceTaint`.
    times = {"timeAdded": value_at(obj, "metadata", "creationTimestamp")}

    def fill(taint: JsonObject) -> JsonObject:
        return with_defaults(taint, times)

    def fill_spec(spec: JsonObject) -> JsonObject:
        spec = map_field(spec, "taint", fill)
        return map_items(spec, "devices", lambda device: map_items(device, "taints", fill))

    return map_field(obj, "spec", fill_spec)


def _template_generation(obj: JsonObject) -> int:
    """The template generation of a daemon set, which apps/v1 keeps in an annotation."""
    text = value_at(obj, "metadata", "annotations", _TEMPLATE_GENERATION) or ""
    return int(text) if _NUMBER.fullmatch(text) else 1


def _with_template_generation(obj: JsonObject, number: int) -> JsonObject:
    def annotate(meta: JsonObject) -> JsonObject:
        annotations = {**(meta.get("annotations") or {}), _TEMPLATE_GENERATION: str(number)}
        return {**meta, "annotations": annotations}

    return map_field(obj, "metadata", annotate)


def _update_template_generation(new: JsonObject, old: JsonObject) -> JsonObject:
    number = _template_generation(old)
    is_same = value_at(new, "spec", "template") == value_at(old, "spec", "template")
    return _with_template_generation(new, number if is_same else number + 1)


def with_condition_times(new: dict[str, Any], old: dict[str, Any], *, now: str) -> dict[str, Any]:
    """`new` with the missing times of its conditions; an unchanged status keeps its time."""
    times = {
        (each.get("type"), each.get("status")): each.get("lastTransitionTime")
        for each in value_at(old, "status", "conditions") or ()
    }

    def set_times(condition: JsonObject) -> JsonObject:
        since = times.get((condition.get("type"), condition.get("status"))) or now
        return with_defaults(condition, {"lastUpdateTime": now, "lastTransitionTime": since})

    return map_field(new, "status", lambda status: map_items(status, "conditions", set_times))


# --- services


def prepare_for_update(
    group: str, kind: str, new: dict[str, Any], old: dict[str, Any], allocator: Allocator
) -> dict[str, Any]:
    """`new` with the allocations of `old` that it does not mention; others are released.

    Raises:
        StatusError: a requested address or port cannot be allocated (422).
    """
    if (group, kind) in _DISABLED:
        return _without_disabled(group, kind, new, old)
    if (group, kind) == ("certificates.k8s.io", "CertificateSigningRequest"):
        return {**new, "spec": old.get("spec") or {}}
    if (group, kind) == ("", "Pod"):
        return map_field(new, "spec", lambda spec: _admit_changed_spec(spec, old.get("spec") or {}))
    if (group, kind) == ("apps", "DaemonSet"):
        return _update_template_generation(new, old)
    if (group, kind) != ("", "Service"):
        return new
    patched = map_field(new, "spec", lambda spec: _with_allocations(spec, old.get("spec") or {}))
    if _changes_address(patched.get("spec") or {}, old.get("spec") or {}):
        return patched  # validation will reject it
    # Released first, so that the service can allocate the same addresses and ports again.
    allocator.release(old)
    try:
        return _allocate(patched, allocator)
    except StatusError:
        allocator.adopt(old)
        raise


def _changes_address(spec: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a service requests another address than it has."""
    address = before.get("clusterIP")
    is_external = "ExternalName" in {spec.get("type"), before.get("type")}
    return bool(address) and not is_external and spec.get("clusterIP") != address


def _with_allocations(spec: JsonObject, before: Mapping[str, Any]) -> JsonObject:
    """A spec with its former addresses and ports, as `patchAllocatedValues` of Kubernetes."""
    if spec.get("type") == "ExternalName":
        return without(spec, "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
    if before.get("type") != "ExternalName":
        names = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
        spec = with_defaults(spec, {key: before[key] for key in names if before.get(key)})
    node_ports = {
        (port.get("protocol"), port.get("port")): port["nodePort"]
        for port in before.get("ports") or ()
        if port.get("nodePort")
    }
    if spec.get("type") == "ClusterIP":
        return map_items(spec, "ports", lambda port: _without_old_node_port(port, node_ports))
    return map_items(spec, "ports", lambda port: _with_old_node_port(port, node_ports))


_NodePorts: TypeAlias = Mapping[tuple[Any, Any], int]


def _with_old_node_port(port: JsonObject, node_ports: _NodePorts) -> JsonObject:
    number = node_ports.get((port.get("protocol"), port.get("port")))
    return port if port.get("nodePort") or not number else {**port, "nodePort": number}


def _without_old_node_port(port: JsonObject, node_ports: _NodePorts) -> JsonObject:
    # A client that changes the type to ClusterIP need not remove the node ports itself.
    number = node_ports.get((port.get("protocol"), port.get("port")))
    return without(port, "nodePort") if port.get("nodePort") == number else port


def _allocate(obj: JsonObject, allocator: Allocator) -> JsonObject:
    """Allocate the addresses and ports of a service; if one fails, all are released."""
    problems: list[Cause] = []
    before = obj
    obj = map_field(obj, "spec", lambda spec: _with_addresses(spec, allocator, problems))
    if not problems:
        obj = map_field(obj, "spec", lambda spec: _with_ports(spec, allocator, problems))
    if problems:
        if obj is not before:
            allocator.release(obj)
        raise invalid("", "Service", value_at(obj, "metadata", "name") or "", problems)
    return obj


def _with_addresses(spec: JsonObject, allocator: Allocator, problems: list[Cause]) -> JsonObject:
    # A headless service has the literal address "None".
    if spec.get("type") == "ExternalName":
        return spec
    requested = spec.get("clusterIP") or (spec.get("clusterIPs") or [""])[0]
    try:
        address = requested if requested == "None" else allocator.allocate_address(requested)
    except ValueError as error:
        detail = f"failed to allocate IP {requested}: {error}"
        if "does not appear to be" in detail:
            detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            problems.append(causes.invalid("spec.clusterIPs[0]", requested, detail))
        else:
            problems.append(causes.invalid("spec.clusterIPs", [requested], detail))
        return spec
    family = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
    return with_defaults({**spec, "clusterIP": address, "clusterIPs": [address]}, family)


def _with_ports(spec: JsonObject, allocator: Allocator, problems: list[Cause]) -> JsonObject:
    kind, ports = spec.get("type"), spec.get("ports") or []
    needs_ports = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False
    if kind not in {"NodePort", "LoadBalancer"}:
        return spec
    allocated: set[int] = set()
    result: list[Any] = []
    for index, port in enumerate(ports):
        requested = port.get("nodePort") or 0
        if not requested and kind == "LoadBalancer" and not needs_ports:
            result.append(port)
            continue
        try:
            # Two protocols of one service may share a node port.
            number = requested if requested in allocated else allocator.allocate_port(requested)
        except ValueError as error:
            problems.append(causes.invalid(f"spec.ports[{index}].nodePort", requested, str(error)))
            continue
        allocated.add(number)
        result.append({**port, "nodePort": number})
    return {**spec, "ports": result}
