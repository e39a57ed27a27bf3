"""The row of a pod: what its containers add up to.

Promises: the status column says what `kubectl get pods` says, from the first reason that
matters: init containers, then containers, then deletion.
Elsewhere: the other kinds (`table_kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

from .human import at, condition_of, items_at, or_else

__all__ = ["pod_cells", "pod_conditions"]

_ENDED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def pod_conditions(pod: Mapping[str, Any]) -> list[dict[str, str]]:
    """The row's conditions: whether the pod has ended, and how."""
    phase = at(pod, "status", "phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


def pod_cells(pod: Mapping[str, Any], since: Callable[[object], str]) -> list[Any]:
    """Name, Ready, Status, Restarts, Age, IP, Node, Nominated Node, Readiness Gates."""
    summary = _Summary(pod)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{summary.restarts} ({since(summary.last_restart)} ago)"
    return [
        at(pod, "metadata", "name"),
        f"{summary.ready}/{summary.total}",
        summary.reason,
        restarts,
        since(at(pod, "metadata", "creationTimestamp")),
        or_else(at(pod, "status", "podIPs", 0, "ip"), "<none>"),
        or_else(at(pod, "spec", "nodeName"), "<none>"),
        or_else(at(pod, "status", "nominatedNodeName"), "<none>"),
        _gates(pod),
    ]


def _gates(pod: Mapping[str, Any]) -> str:
    gates = items_at(pod, "spec", "readinessGates")
    found = [condition_of(pod, str(at(gate, "conditionType"))) for gate in gates]
    true = sum(1 for each in found if each and each.get("status") == "True")
    return f"{true}/{len(gates)}" if gates else "<none>"


@final
class _Summary:
    """What a pod's containers add up to."""

    def __init__(self, pod: Mapping[str, Any]) -> None:
        self.restarts = 0
        self.last_restart = ""  # timestamps of the API sort as text
        self.ready = 0
        self._pod = pod
        self._sidecars = {
            at(each, "name")
            for each in items_at(pod, "spec", "initContainers")
            if at(each, "restartPolicy") == "Always"
        }
        self.total = len(items_at(pod, "spec", "containers")) + len(self._sidecars)
        self.reason = _first_reason(pod)
        initializing = self._look_at_init_containers()
        initialized = condition_of(pod, "Initialized")
        if not initializing or (initialized and initialized.get("status") == "True"):
            self._look_at_containers()
        self._look_at_deletion()

    def _look_at_init_containers(self) -> bool:
        """Whether one of them has not come to its end."""
        count = len(items_at(self._pod, "spec", "initContainers"))
        for index, status in enumerate(items_at(self._pod, "status", "initContainerStatuses")):
            self._count_restarts(status)
            ended = at(status, "state", "terminated")
            if ended is not None and not at(ended, "exitCode"):
                continue
            if at(status, "name") in self._sidecars and at(status, "started"):
                self.ready += bool(at(status, "ready"))
                continue
            waiting = at(status, "state", "waiting", "reason")
            if ended is not None:
                self.reason = f"Init:{_end_of(ended)}"
            elif waiting and waiting != "PodInitializing":
                self.reason = f"Init:{waiting}"
            else:
                self.reason = f"Init:{index}/{count}"
            return True
        return False

    def _look_at_containers(self) -> None:
        self._count_sidecar_restarts_only()
        running, error = False, ""
        for status in reversed(items_at(self._pod, "status", "containerStatuses")):
            self._count_restarts(status)
            waiting = at(status, "state", "waiting", "reason")
            ended = at(status, "state", "terminated")
            if waiting:
                self.reason = waiting
            elif ended is not None:
                self.reason = _end_of(ended)
                error = self.reason if at(ended, "exitCode") else error
            elif at(status, "ready") and at(status, "state", "running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            self.reason = self._completed(error, running=running)

    def _completed(self, error: str, *, running: bool) -> str:
        """Some containers are done, perhaps not all."""
        ready = condition_of(self._pod, "Ready")
        if running and ready and ready.get("status") == "True":
            return "Running"
        return error or ("NotReady" if running else "Completed")

    def _look_at_deletion(self) -> None:
        if not at(self._pod, "metadata", "deletionTimestamp"):
            return
        if at(self._pod, "status", "reason") == "NodeLost":
            self.reason = "Unknown"
        elif at(self._pod, "status", "phase") not in _ENDED:
            self.reason = "Terminating"

    def _count_sidecar_restarts_only(self) -> None:
        self.restarts, self.last_restart = 0, ""
        for status in items_at(self._pod, "status", "initContainerStatuses"):
            if at(status, "name") in self._sidecars:
                self._count_restarts(status)

    def _count_restarts(self, status: Any) -> None:
        self.restarts += int(at(status, "restartCount") or 0)
        finished = at(status, "lastState", "terminated", "finishedAt") or ""
        self.last_restart = max(self.last_restart, str(finished))


def _first_reason(pod: Mapping[str, Any]) -> str:
    scheduled = condition_of(pod, "PodScheduled")
    if scheduled and scheduled.get("reason") == "SchedulingGated":
        return "SchedulingGated"
    return str(at(pod, "status", "reason") or at(pod, "status", "phase") or "")


def _end_of(ended: Any) -> str:
    if at(ended, "reason"):
        return str(ended["reason"])
    if at(ended, "signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{at(ended, 'exitCode') or 0}"
