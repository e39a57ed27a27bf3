"""Pod: defaults, preparation, validation, warnings and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

from kubeloop.wire import JsonObject, Quantity

from ...values.json_values import map_field, map_items, value_at, with_defaults
from ..kind import Json, Kind, Warnings, own_paths
from ..rules.address_warnings import address_warnings
from ..rules.cell_text import condition_of, items_at, or_else
from ..rules.pod_defaults import complete_pod_spec, default_pod
from ..rules.pod_validation import problems_of_pod
from ..rules.pod_warnings import pod_warnings
from ..rules.quality import quality_of_service
from ..rules.spec_cache import cached_by_content
from ..rules.tolerations import with_default_tolerations
from ..rules.value_rules import enumerate_objects, parse_quantity
from ..rules.warnings import name_warnings
from .label_keys import with_label_keys
from .pod_updates import problems_of_pod_change, problems_of_pod_status

__all__ = ["KIND", "pod_conditions"]


def _new_pod(obj: JsonObject) -> JsonObject:
    # Cached by spec: the pods of a replica set differ only in their names.
    pod = {**obj, **_pending_pod({key: obj[key] for key in obj.keys() & {"spec"}})}
    spec = pod.get("spec") or {}
    if spec.get("affinity") or spec.get("topologySpreadConstraints"):
        labels = value_at(pod, "metadata", "labels") or {}
        pod = {**pod, "spec": with_label_keys(spec, labels)}
    return _gated(pod) if spec.get("schedulingGates") else pod


def _gated(pod: JsonObject) -> JsonObject:
    # `applySchedulingGatedCondition`.
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": value_at(pod, "metadata", "creationTimestamp"),
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    return {**pod, "status": {**pod["status"], "conditions": [condition]}}


@cached_by_content
def _pending_pod(pod: JsonObject) -> JsonObject:
    """The parts of a new pod that depend on its spec alone, so that they can be cached."""
    pod = map_field(pod, "spec", _admit_spec)
    status = {"phase": "Pending", "qosClass": quality_of_service(pod)}
    return {**map_field(pod, "spec", complete_pod_spec), "status": status}


def _admit_spec(spec: JsonObject) -> JsonObject:
    """The spec after the admission plugins Priority and DefaultTolerationSeconds."""
    spec = map_field(spec, "resources", lambda value: _pod_requests(value, spec))
    spec = with_defaults(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    return with_default_tolerations(spec)


def _pod_requests(resources: JsonObject, spec: JsonObject) -> JsonObject:
    # `defaultPodRequests`: the sum of the containers, else the limit of the pod.
    limits = resources.get("limits")
    if not limits:
        return resources
    requests = dict(resources.get("requests") or {})
    totals: dict[str, int] = {}
    for container in spec.get("containers") or ():
        for key, value in ((container.get("resources") or {}).get("requests") or {}).items():
            amount = parse_quantity(value)
            if key in {"cpu", "memory"} and amount is not None:
                totals[key] = totals.get(key, 0) + amount.milli_value()
    for key, total in totals.items():
        requests.setdefault(key, Quantity(f"{total}m").canonical())
    for key, value in limits.items():
        if key in {"cpu", "memory"} or key.startswith("hugepages-"):
            requests.setdefault(key, value)
    return {**resources, "requests": requests}


def _admit_changed_spec(spec: JsonObject, old: JsonObject) -> JsonObject:
    """The same for an update: a manifest that leaves out what the plugins set can be sent again."""
    kept: JsonObject = {key: old[key] for key in ("priority", "preemptionPolicy") if key in old}
    return with_default_tolerations(with_defaults(spec, kept))


def _admit_changed_pod(new: JsonObject, old: JsonObject) -> JsonObject:
    before = old.get("spec") or {}
    return map_field(new, "spec", lambda spec: _admit_changed_spec(spec, before))


# Fields of a pod's status that a write cannot remove (podStatusStrategy).
_KEPT_BY_PODS: Final = (
    "qosClass",
    "resourceClaimStatuses",
    "extendedResourceClaimStatus",
    "nodeAllocatableResourceClaimStatuses",
    "observedGeneration",
)


def _prepare_pod_part(new: JsonObject, old: JsonObject, part: str, _: str) -> JsonObject:
    return _pod_status(new, old) if part == "status" else new


def _pod_status(new: JsonObject, old: JsonObject) -> JsonObject:
    before = old.get("status") or {}
    kept = {field: before[field] for field in _KEPT_BY_PODS if before.get(field)}
    generations: dict[str, list[int]] = {}
    for each in before.get("conditions") or ():
        generations.setdefault(each.get("type"), []).append(each.get("observedGeneration") or 0)

    def keep_generation(condition: JsonObject) -> JsonObject:
        found = generations.get(str(condition.get("type")))
        number = found.pop(0) if found else 0
        if condition.get("observedGeneration") or not number:
            return condition
        return {**condition, "observedGeneration": number}

    def keep(status: JsonObject) -> JsonObject:
        missing = {key: value for key, value in kept.items() if not status.get(key)}
        status = {**status, **missing} if missing else status
        return map_items(status, "conditions", keep_generation)

    return map_field(new, "status", keep, make=bool(kept))


def _warn(obj: Json, old: Json | None) -> Warnings:
    # Controllers update pods, so that no one would read warnings.
    if old is None:
        yield from name_warnings(obj, old)
        yield from pod_warnings(obj)


def _warn_status(obj: Json, _: Json | None) -> Warnings:
    for field in ("podIPs", "hostIPs"):
        for index, each in enumerate_objects(value_at(obj, "status", field)):
            yield from address_warnings(f"status.{field}[{index}].ip", each.get("ip") or "")


_FINISHED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def pod_conditions(pod: Mapping[str, Any]) -> list[dict[str, str]]:
    """The row's conditions: whether the pod has finished, and how."""
    phase = value_at(pod, "status", "phase")
    if phase not in _FINISHED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _FINISHED[phase]}]


def _cells(pod: Mapping[str, Any], since: Callable[[object], str]) -> list[Any]:
    """Name, Ready, Status, Restarts, Age, IP, Node, Nominated Node, Readiness Gates."""
    summary = _Summary(pod)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{summary.restarts} ({since(summary.last_restart)} ago)"
    return [
        value_at(pod, "metadata", "name"),
        f"{summary.ready}/{summary.total}",
        summary.reason,
        restarts,
        since(value_at(pod, "metadata", "creationTimestamp")),
        or_else(value_at(pod, "status", "podIPs", 0, "ip"), "<none>"),
        or_else(value_at(pod, "spec", "nodeName"), "<none>"),
        or_else(value_at(pod, "status", "nominatedNodeName"), "<none>"),
        _gates(pod),
    ]


def _gates(pod: Mapping[str, Any]) -> str:
    # The fraction of readiness gates whose condition is true.
    gates = items_at(pod, "spec", "readinessGates")
    found = [condition_of(pod, str(value_at(gate, "conditionType"))) for gate in gates]
    true = sum(1 for each in found if each and each.get("status") == "True")
    return f"{true}/{len(gates)}" if gates else "<none>"


@final
class _Summary:
    """The counters and the status of a pod, from its containers."""

    def __init__(self, pod: Mapping[str, Any]) -> None:
        self.restarts = 0
        self.last_restart = ""  # timestamps of the API sort like text
        self.ready = 0
        self._pod = pod
        self._sidecars = {
            value_at(each, "name")
            for each in items_at(pod, "spec", "initContainers")
            if value_at(each, "restartPolicy") == "Always"
        }
        self.total = len(items_at(pod, "spec", "containers")) + len(self._sidecars)
        self.reason = _first_reason(pod)
        initializing = self._read_init_containers()
        initialized = condition_of(pod, "Initialized")
        if not initializing or (initialized and initialized.get("status") == "True"):
            self._read_containers()
        self._read_deletion()

    def _read_init_containers(self) -> bool:
        """Set the status of an unfinished init container; return whether there is one."""
        count = len(items_at(self._pod, "spec", "initContainers"))
        for index, status in enumerate(items_at(self._pod, "status", "initContainerStatuses")):
            self._count_restarts(status)
            terminated = value_at(status, "state", "terminated")
            if terminated is not None and not value_at(terminated, "exitCode"):
                continue
            if value_at(status, "name") in self._sidecars and value_at(status, "started"):
                self.ready += bool(value_at(status, "ready"))
                continue
            waiting = value_at(status, "state", "waiting", "reason")
            if terminated is not None:
                self.reason = f"Init:{_termination_reason(terminated)}"
            elif waiting and waiting != "PodInitializing":
                self.reason = f"Init:{waiting}"
            else:
                self.reason = f"Init:{index}/{count}"
            return True
        return False

    def _read_containers(self) -> None:
        # Once initialized, restarts of init containers other than sidecars no longer count.
        self._count_sidecar_restarts_only()
        running, error = False, ""
        for status in reversed(items_at(self._pod, "status", "containerStatuses")):
            self._count_restarts(status)
            waiting = value_at(status, "state", "waiting", "reason")
            terminated = value_at(status, "state", "terminated")
            if waiting:
                self.reason = waiting
            elif terminated is not None:
                self.reason = _termination_reason(terminated)
                error = self.reason if value_at(terminated, "exitCode") else error
            elif value_at(status, "ready") and value_at(status, "state", "running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            self.reason = self._completed_reason(error, running=running)

    def _completed_reason(self, error: str, *, running: bool) -> str:
        """The status if the last container has completed, while others may still run."""
        ready = condition_of(self._pod, "Ready")
        if running and ready and ready.get("status") == "True":
            return "Running"
        return error or ("NotReady" if running else "Completed")

    def _read_deletion(self) -> None:
        if not value_at(self._pod, "metadata", "deletionTimestamp"):
            return
        if value_at(self._pod, "status", "reason") == "NodeLost":
            self.reason = "Unknown"
        elif value_at(self._pod, "status", "phase") not in _FINISHED:
            self.reason = "Terminating"

    def _count_sidecar_restarts_only(self) -> None:
        self.restarts, self.last_restart = 0, ""
        for status in items_at(self._pod, "status", "initContainerStatuses"):
            if value_at(status, "name") in self._sidecars:
                self._count_restarts(status)

    def _count_restarts(self, status: Any) -> None:
        self.restarts += int(value_at(status, "restartCount") or 0)
        finished = value_at(status, "lastState", "terminated", "finishedAt") or ""
        self.last_restart = max(self.last_restart, str(finished))


def _first_reason(pod: Mapping[str, Any]) -> str:
    # A gated pod is not even pending for the scheduler.
    scheduled = condition_of(pod, "PodScheduled")
    if scheduled and scheduled.get("reason") == "SchedulingGated":
        return "SchedulingGated"
    return str(value_at(pod, "status", "reason") or value_at(pod, "status", "phase") or "")


def _termination_reason(terminated: Any) -> str:
    if value_at(terminated, "reason"):
        return str(terminated["reason"])
    if value_at(terminated, "signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{value_at(terminated, 'exitCode') or 0}"


KIND: Final = Kind(
    "",
    "Pod",
    generation="counted",
    returns_deleted=True,
    kept_by_status=("deletionTimestamp", "ownerReferences"),
    selectable=own_paths(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    defaults=(default_pod,),
    completed=("spec",),
    prepare_new=_new_pod,
    prepare_update=_admit_changed_pod,
    prepare_part=_prepare_pod_part,
    validate=problems_of_pod,
    validate_change=lambda obj, old, part: problems_of_pod_change(obj, old, subresource=part),
    validate_parts={"status": problems_of_pod_status},
    warn=_warn,
    warn_status=_warn_status,
    columns="Name, Ready, Status, Restarts, Age, *IP, *Node, *Nominated Node, *Readiness Gates",
    cells=_cells,
    row_conditions=pod_conditions,
)
