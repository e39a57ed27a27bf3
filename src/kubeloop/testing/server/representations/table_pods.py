"""The cells of a pod: a summary of its containers, as `printPod` of kube-apiserver.

Guarantees: the status is that of `kubectl get pods`: the reason of the first init container
that has not finished, else of the containers, else of the deletion.
See also: the other kinds (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

from ..values.json_values import value_at
from .cell_text import condition_of, items_at, or_else

__all__ = ["pod_cells", "pod_conditions"]

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


def pod_cells(pod: Mapping[str, Any], since: Callable[[object], str]) -> list[Any]:
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
