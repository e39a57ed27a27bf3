"""How a new object starts: status reset, addresses and ports given out, what a job selects by.

Promises: objects are never changed in place. What a client may not write (a status, through
the object itself) is left out; what the server counts or dates itself, it does.
Elsewhere: defaults that hold at any time (`builtin_defaults`), what is free (`allocation`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.wire import resources

from ..statuses import Cause, StatusError, invalid
from ..values import causes
from ..values.editing import Json, at, each, filled, within, without
from .allocation import Allocator
from .builtin_defaults import default
from .remembering import remembered

__all__ = [
    "prepare_for_create",
    "prepare_for_update",
    "quality_of_service",
    "with_condition_times",
]

# Kinds whose status may be written when they are created.
_KEEPS_STATUS: Final = frozenset(
    {("", "Node"), ("apiextensions.k8s.io", "CustomResourceDefinition")}
)
_JOB: Final = "batch.kubernetes.io/"
_TEMPLATES: Final = "deprecated.daemonset.template.generation"
_NUMBER: Final = re.compile("[1-9][0-9]{0,17}")
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def prepare_for_create(
    group: str, kind: str, obj: dict[str, Any], allocator: Allocator
) -> dict[str, Any]:
    """`obj` as it starts its life; its defaults are filled in, its name and uid are given.

    Raises:
        StatusError: a wanted address or port cannot be had (422).
    """
    if (group, kind) in _WITH_STATUS and (group, kind) not in _KEEPS_STATUS:
        first = _first_status(group, kind)
        obj = without(obj, "status") if first is None else {**obj, "status": first}
    match group, kind:
        case "", "Pod":
            return _new_pod(obj)
        case "", "Namespace":
            return _new_namespace(obj)
        case "", "Service":
            return _allocated(obj, allocator)
        case "apiextensions.k8s.io", "CustomResourceDefinition":
            return default(group, kind, without(obj, "status"))
        case "apps", "DaemonSet":
            return _numbered(obj, _template_number(obj))
        case "batch", "Job":
            return _new_job(obj)
    return obj


@functools.cache
def _first_status(group: str, kind: str) -> Json | None:
    """The status that an object of the kind has before anyone wrote one."""
    found: Json | None = default(group, kind, {}).get("status")
    return found


def _kinds_with_status() -> Iterable[tuple[str, str]]:
    for info in resources():
        if any(part.name == "status" for part in info.subresources):
            yield info.group, info.kind


_WITH_STATUS: Final = frozenset(_kinds_with_status())


# --- pods, namespaces, jobs


def _new_pod(obj: Json) -> Json:
    return {**obj, **_started({key: obj[key] for key in obj.keys() & {"spec"}})}


@remembered
def _started(pod: Json) -> Json:
    """Of a pod, what follows from its spec alone."""
    pod = within(pod, "spec", _admitted_spec)
    return {**pod, "status": {"phase": "Pending", "qosClass": quality_of_service(pod)}}


def _admitted_spec(spec: Json) -> Json:
    """What the server's own admission adds to every pod."""
    spec = filled(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    known = spec.get("tolerations") or []
    missing = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _TOLERATED
        if not any(_tolerates(each, key) for each in known)
    ]
    return {**spec, "tolerations": [*known, *missing]} if missing else spec


def _tolerates(toleration: Mapping[str, Any], key: str) -> bool:
    same = toleration.get("key") in (key, None, "")
    return same and toleration.get("effect") in ("NoExecute", None, "")


def quality_of_service(pod: Mapping[str, Any]) -> str:
    """`Guaranteed` when all containers are limited to what they ask for, `BestEffort` when
    nothing is asked for at all, else `Burstable`."""
    containers = [
        *(at(pod, "spec", "containers") or ()),
        *(at(pod, "spec", "initContainers") or ()),
    ]
    asked = [_asked(each) for each in containers]
    if not any(limits or requests for limits, requests in asked):
        return "BestEffort"
    whole = all(limits.keys() == {"cpu", "memory"} for limits, _ in asked)
    same = all({**limits, **requests} == limits for limits, requests in asked)
    return "Guaranteed" if whole and same else "Burstable"


def _asked(container: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    def of(name: str) -> dict[str, str]:
        amounts = at(container, "resources", name) or {}
        return {key: str(said) for key, said in amounts.items() if key in {"cpu", "memory"}}

    return of("limits"), of("requests")


def _new_namespace(obj: Json) -> Json:
    def hold(spec: Json) -> Json:
        known = spec.get("finalizers") or []
        return spec if "kubernetes" in known else {**spec, "finalizers": [*known, "kubernetes"]}

    return {**within(obj, "spec", hold, make=True), "status": {"phase": "Active"}}


def _new_job(obj: Json) -> Json:
    """Unless told otherwise a job selects its pods by its own uid."""
    uid, name = at(obj, "metadata", "uid"), at(obj, "metadata", "name")
    if at(obj, "spec", "manualSelector") or not uid:
        return obj
    marks = {"controller-uid": uid, f"{_JOB}controller-uid": uid}
    if name:
        marks |= {"job-name": name, f"{_JOB}job-name": name}

    def mark(meta: Json) -> Json:
        return {**meta, "labels": {**(meta.get("labels") or {}), **marks}}

    def select(spec: Json) -> Json:
        chosen = {"matchLabels": {f"{_JOB}controller-uid": uid}}
        spec = spec if spec.get("selector") else {**spec, "selector": chosen}
        return within(spec, "template", lambda said: within(said, "metadata", mark, make=True))

    made = within(obj, "spec", select)
    own, inner = at(obj, "metadata", "labels"), at(obj, "spec", "template", "metadata", "labels")
    # A job that has no labels of its own has those of its pods.
    return made if own and own != inner else within(made, "metadata", mark)


def _template_number(obj: Json) -> int:
    """Which template of a daemon set this is; it stands in an annotation."""
    said = at(obj, "metadata", "annotations", _TEMPLATES) or ""
    return int(said) if _NUMBER.fullmatch(said) else 1


def _numbered(obj: Json, number: int) -> Json:
    def number_it(meta: Json) -> Json:
        notes = {**(meta.get("annotations") or {}), _TEMPLATES: str(number)}
        return {**meta, "annotations": notes}

    return within(obj, "metadata", number_it)


def _recounted(new: Json, old: Json) -> Json:
    number = _template_number(old)
    same = at(new, "spec", "template") == at(old, "spec", "template")
    return _numbered(new, number if same else number + 1)


def with_condition_times(new: dict[str, Any], old: dict[str, Any], *, now: str) -> dict[str, Any]:
    """`new` with the times that its conditions do not say; those of a state that lasts stay."""
    known = {
        (one.get("type"), one.get("status")): one.get("lastTransitionTime")
        for one in at(old, "status", "conditions") or ()
    }

    def date(condition: Json) -> Json:
        since = known.get((condition.get("type"), condition.get("status"))) or now
        return filled(condition, {"lastUpdateTime": now, "lastTransitionTime": since})

    return within(new, "status", lambda status: each(status, "conditions", date))


# --- services


def prepare_for_update(
    group: str, kind: str, new: dict[str, Any], old: dict[str, Any], allocator: Allocator
) -> dict[str, Any]:
    """`new` with what `old` was given and does not say again; what it gives up is released.

    Raises:
        StatusError: a wanted address or port cannot be had (422).
    """
    if (group, kind) == ("apps", "DaemonSet"):
        return _recounted(new, old)
    if (group, kind) != ("", "Service"):
        return new
    kept = within(new, "spec", lambda spec: _carried(spec, old.get("spec") or {}))
    if _moves(kept.get("spec") or {}, old.get("spec") or {}):
        return kept  # validation refuses that
    # What it keeps is its own to ask for again.
    allocator.release(old)
    try:
        return _allocated(kept, allocator)
    except StatusError:
        allocator.adopt(old)
        raise


def _moves(spec: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a service wants another address than it has."""
    had = before.get("clusterIP")
    named = "ExternalName" in {spec.get("type"), before.get("type")}
    return bool(had) and not named and spec.get("clusterIP") != had


def _carried(spec: Json, before: Mapping[str, Any]) -> Json:
    """A spec with the addresses and ports that it had and does not mention."""
    if spec.get("type") == "ExternalName":
        return without(spec, "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
    if before.get("type") != "ExternalName":
        names = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
        spec = filled(spec, {key: before[key] for key in names if before.get(key)})
    known = {
        (port.get("protocol"), port.get("port")): port["nodePort"]
        for port in before.get("ports") or ()
        if port.get("nodePort")
    }
    if spec.get("type") == "ClusterIP":
        return each(spec, "ports", lambda port: _without_old_node_port(port, known))
    return each(spec, "ports", lambda port: _with_old_node_port(port, known))


_Known: TypeAlias = Mapping[tuple[Any, Any], int]


def _with_old_node_port(port: Json, known: _Known) -> Json:
    number = known.get((port.get("protocol"), port.get("port")))
    return port if port.get("nodePort") or not number else {**port, "nodePort": number}


def _without_old_node_port(port: Json, known: _Known) -> Json:
    """A service that is no longer reached by node ports need not strike them itself."""
    number = known.get((port.get("protocol"), port.get("port")))
    return without(port, "nodePort") if port.get("nodePort") == number else port


def _allocated(obj: Json, allocator: Allocator) -> Json:
    """A service with its addresses and ports; when one cannot be had none is kept."""
    problems: list[Cause] = []
    before = obj
    obj = within(obj, "spec", lambda spec: _with_addresses(spec, allocator, problems))
    if not problems:
        obj = within(obj, "spec", lambda spec: _with_ports(spec, allocator, problems))
    if problems:
        if obj is not before:
            allocator.release(obj)
        raise invalid("", "Service", at(obj, "metadata", "name") or "", problems)
    return obj


def _with_addresses(spec: Json, allocator: Allocator, problems: list[Cause]) -> Json:
    if spec.get("type") == "ExternalName":
        return spec
    wanted = spec.get("clusterIP") or (spec.get("clusterIPs") or [""])[0]
    try:
        address = wanted if wanted == "None" else allocator.address(wanted)
    except ValueError as error:
        detail = f"failed to allocate IP {wanted}: {error}"
        if "does not appear to be" in detail:
            detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            problems.append(causes.invalid("spec.clusterIPs[0]", wanted, detail))
        else:
            problems.append(causes.invalid("spec.clusterIPs", [wanted], detail))
        return spec
    family = {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
    return filled({**spec, "clusterIP": address, "clusterIPs": [address]}, family)


def _with_ports(spec: Json, allocator: Allocator, problems: list[Cause]) -> Json:
    kind, ports = spec.get("type"), spec.get("ports") or []
    balanced = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False
    if kind not in {"NodePort", "LoadBalancer"}:
        return spec
    given: set[int] = set()
    result: list[Any] = []
    for index, port in enumerate(ports):
        wanted = port.get("nodePort") or 0
        if not wanted and kind == "LoadBalancer" and not balanced:
            result.append(port)
            continue
        try:
            # One number may serve two protocols of the same service.
            number = wanted if wanted in given else allocator.port(wanted)
        except ValueError as error:
            problems.append(causes.invalid(f"spec.ports[{index}].nodePort", wanted, str(error)))
            continue
        given.add(number)
        result.append({**port, "nodePort": number})
    return {**spec, "ports": result}
