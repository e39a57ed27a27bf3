"""How a new object starts: status reset, addresses and ports given out, what a job selects by.

Promises: objects are never changed in place; an address or a port is given out once until it
is released. What a client may not write (a status, through the object itself) is left out.
Elsewhere: defaults that hold at any time (`builtin_defaults`).
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, final

from kubeloop.wire import resources

from ..statuses import Cause, Refusal, invalid
from . import causes
from .builtin_defaults import default
from .editing import Json, at, each, filled, within, without
from .remembering import remembered

__all__ = [
    "Allocator",
    "for_update",
    "prepare_for_create",
    "prepare_for_update",
    "quality_of_service",
]

# Kinds whose status may be written when they are created.
_KEEPS_STATUS: Final = frozenset(
    {("", "Node"), ("apiextensions.k8s.io", "CustomResourceDefinition")}
)
_JOB: Final = "batch.kubernetes.io/"
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@final
class Allocator:
    """Gives out cluster addresses and node ports, and knows which are taken."""

    def __init__(
        self, *, network: str = "10.96.0.0/16", ports: range = range(30000, 32768)
    ) -> None:
        self._network = ipaddress.IPv4Network(network)
        self._port_range = ports
        self._addresses: set[str] = set()
        self._ports: set[int] = set()
        self._next_address = 2  # the first one is the API server's own service
        self._next_port = 0

    def address(self, wanted: str = "") -> str:
        """A free address, or the one that is wanted.

        Raises:
            ValueError: the wanted one is taken or outside of the network.
        """
        if wanted:
            if ipaddress.ip_address(wanted) not in self._network:
                raise ValueError(
                    f"the provided IP ({wanted}) is not in the valid range. The range of valid "
                    f"IPs is {self._network}"
                )
            if wanted in self._addresses:
                raise ValueError("provided IP is already allocated")
        else:
            wanted = self._free_address()
        self._addresses.add(wanted)
        return wanted

    def port(self, wanted: int = 0) -> int:
        """A free node port, or the one that is wanted.

        Raises:
            ValueError: the wanted one is taken or out of range.
        """
        if wanted:
            if wanted not in self._port_range:
                low, high = self._port_range[0], self._port_range[-1]
                raise ValueError(
                    "provided port is not in the valid range. The range of valid ports is "
                    f"{low}-{high}"
                )
            if wanted in self._ports:
                raise ValueError("provided port is already allocated")
        else:
            wanted = self._free_port()
        self._ports.add(wanted)
        return wanted

    def adopt(self, service: Mapping[str, Any]) -> None:
        """Remember what a stored service holds, after a restart."""
        addresses, ports = _held(service)
        self._addresses |= addresses
        self._ports |= ports

    def release(self, service: Mapping[str, Any]) -> None:
        """Take back what a deleted service held."""
        addresses, ports = _held(service)
        self._addresses -= addresses
        self._ports -= ports

    def _free_address(self) -> str:
        size = self._network.num_addresses
        for _ in range(size):
            candidate = str(self._network[self._next_address])
            # The first address is the network's own, the last one is for broadcasts.
            self._next_address = self._next_address % (size - 2) + 1
            if candidate not in self._addresses:
                return candidate
        raise ValueError("range is full")

    def _free_port(self) -> int:
        for _ in self._port_range:
            candidate = self._port_range[self._next_port]
            self._next_port = (self._next_port + 1) % len(self._port_range)
            if candidate not in self._ports:
                return candidate
        raise ValueError("range is full")


def _held(service: Mapping[str, Any]) -> tuple[set[str], set[int]]:
    addresses = {ip for ip in at(service, "spec", "clusterIPs") or () if ip != "None"}
    ports = {each.get("nodePort", 0) for each in at(service, "spec", "ports") or ()}
    check = at(service, "spec", "healthCheckNodePort") or 0
    return addresses, {*ports, check} - {0, None}


def prepare_for_create(
    group: str, kind: str, obj: dict[str, Any], allocator: Allocator | None = None
) -> dict[str, Any]:
    """`obj` as it starts its life; its defaults are filled in, its name and uid are given.

    Raises:
        Refusal: a wanted address or port cannot be had (422).
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
            return _allocated(obj, allocator or Allocator())
        case "apiextensions.k8s.io", "CustomResourceDefinition":
            return default(group, kind, without(obj, "status"))
        case "batch", "Job":
            return _new_job(obj)
    return obj


@functools.cache
def _first_status(group: str, kind: str) -> Json | None:
    """The status that an object of the kind has before anyone wrote one."""
    found: Json | None = default(group, kind, {}).get("status")
    return found


def for_update(
    group: str,
    kind: str,
    new: dict[str, Any],
    old: dict[str, Any],
    *,
    subresource: str = "",
) -> dict[str, Any]:
    """`new` with the parts that this path cannot write as they were in `old`.

    The object's own path cannot write the status, the status' path nothing else but metadata.
    """
    if subresource == "status":
        rest = without(old, "status")
        status = {"status": new["status"]} if "status" in new else {}
        return {**rest, "metadata": new.get("metadata", old.get("metadata")), **status}
    if (group, kind) not in _WITH_STATUS:
        return new
    kept = {"status": old["status"]} if "status" in old else {}
    return {**without(new, "status"), **kept}


def _kinds_with_status() -> Iterable[tuple[str, str]]:
    for info in resources():
        if any(part.name == "status" for part in info.subresources):
            yield info.group, info.kind


_WITH_STATUS: Final = frozenset(_kinds_with_status())


# --- pods, namespaces, jobs


def _new_pod(obj: Json) -> Json:
    obj = within(obj, "spec", _admitted_spec)
    return {**obj, "status": {"phase": "Pending", "qosClass": quality_of_service(obj)}}


@remembered
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

    return within(obj, "spec", select)


# --- services


def prepare_for_update(
    group: str, kind: str, new: dict[str, Any], old: dict[str, Any], allocator: Allocator
) -> dict[str, Any]:
    """`new` with what `old` was given and does not say again; what it gives up is released.

    Raises:
        Refusal: a wanted address or port cannot be had (422).
    """
    if (group, kind) != ("", "Service"):
        return new
    kept = within(new, "spec", lambda spec: _carried(spec, old.get("spec") or {}))
    if _moves(kept.get("spec") or {}, old.get("spec") or {}):
        return kept  # validation refuses that
    # What it keeps is its own to ask for again.
    allocator.release(old)
    try:
        return _allocated(kept, allocator)
    except Refusal:
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
