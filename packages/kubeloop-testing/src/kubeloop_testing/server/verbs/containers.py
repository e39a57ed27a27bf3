"""Starts and restarts containers of pods, as a kubelet that a test controls.

Guarantees: each change is one write to the status of the pod, which watches see; each run of a
container has its own log.
See also: `logs` (logs), `kubeloop_testing.workloads` (a simulation that does this by itself).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import final

from kubeloop.wire import Json

from ..statuses import bad_request, not_found
from ..storage.store import Object, key_of, timestamp
from .log_lines import container_status, run_of
from .logs import Logs
from .writing import Verbs

__all__ = ["Containers"]

_PODS = ("", "pods")
_FIELDS: Mapping[str, str] = {
    "initContainers": "initContainerStatuses",
    "containers": "containerStatuses",
    "ephemeralContainers": "ephemeralContainerStatuses",
}
_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


@final
class Containers:
    """Changes the states of containers."""

    def __init__(self, verbs: Verbs, logs: Logs) -> None:
        self._verbs = verbs
        self._logs = logs

    def run(self, namespace: str, pod: str, *, node: str = "") -> None:
        """Bind a pod, if it is not bound, and start what does not run. Raises `StatusError`."""
        obj = self._get(namespace, pod)
        now = timestamp(self._verbs.clock.time())
        spec = {**obj["spec"], "nodeName": obj["spec"].get("nodeName") or node or "node-1"}
        uid = str(obj["metadata"].get("uid", ""))
        status = {
            **(obj.get("status") or {}),
            "phase": "Running",
            "hostIP": "192.0.2.1",
            "hostIPs": [{"ip": "192.0.2.1"}],
            "conditions": [_condition(name, now) for name in _CONDITIONS],
        }
        status.setdefault("startTime", now)
        status.setdefault("podIP", _address(uid))
        status.setdefault("podIPs", [{"ip": status["podIP"]}])
        for field, statuses in _FIELDS.items():
            found = [
                container_status(obj, each["name"]) or _status(each, uid)
                for each in spec.get(field) or ()
            ]
            if found:
                status[statuses] = [
                    _started(each, now, ends=field == "initContainers") for each in found
                ]
        self._verbs.store.write(_PODS, {**obj, "spec": spec, "status": status})

    def restart(self, namespace: str, pod: str, container: str, *, exit_code: int) -> None:
        """End a running container and start it again. Raises `StatusError`."""
        obj = self._get(namespace, pod)
        names = [str(each["name"]) for each in obj["spec"].get("containers") or ()]
        container = container or (names[0] if len(names) == 1 else "")
        if container not in names:
            raise bad_request(f"restart a container of pod {pod}: choose one of {names}")
        before = container_status(obj, container)
        if before is None or "running" not in run_of(before):
            raise bad_request(f"restart container {container} of pod {pod}: it does not run")
        now = timestamp(self._verbs.clock.time())
        count = int(before.get("restartCount", 0)) + 1
        after = {
            **before,
            **_running(now),
            "lastState": _terminated(before, exit_code, now),
            "restartCount": count,
            "containerID": _container_id(str(obj["metadata"].get("uid", "")), container, count),
        }
        statuses = [
            after if each["name"] == container else each
            for each in obj["status"]["containerStatuses"]
        ]
        # Before the write: who follows the log gets its end, not the lines of the new run.
        self._logs.restart(key_of(namespace, pod), container)
        status = {**obj["status"], "containerStatuses": statuses}
        self._verbs.store.write(_PODS, {**obj, "status": status})

    def _get(self, namespace: str, pod: str) -> Object:
        entry = self._verbs.store.get(_PODS, key_of(namespace, pod))
        if entry is None:
            raise not_found("", "pods", pod)
        return entry.obj


def _started(status: Object, now: str, *, ends: bool) -> Object:
    """The status of a container that runs now; init containers have ended by then."""
    if {"running", "terminated"} & run_of(status).keys():
        return status
    if ends:
        return {**status, "state": _terminated(status, 0, now), "ready": True, "started": False}
    return {**status, **_running(now)}


def _running(now: str) -> dict[str, Json]:
    return {"state": {"running": {"startedAt": now}}, "ready": True, "started": True}


def _terminated(status: Object, exit_code: int, now: str) -> dict[str, Json]:
    started = (run_of(status).get("running") or {}).get("startedAt", now)
    ended = {
        "exitCode": exit_code,
        "reason": "Error" if exit_code else "Completed",
        "startedAt": started,
        "finishedAt": now,
        "containerID": status.get("containerID", ""),
    }
    return {"terminated": ended}


def _status(container: Object, uid: str) -> Object:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "lastState": {},
        "restartCount": 0,
        "containerID": _container_id(uid, str(container["name"]), 0),
    }


def _container_id(uid: str, container: str, count: int) -> str:
    """The same each time, and another one after a restart."""
    return f"containerd://{hashlib.sha256(f'{uid} {container} {count}'.encode()).hexdigest()}"


def _condition(name: str, now: str) -> Object:
    return {
        "type": name,
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }


def _address(uid: str) -> str:
    digest = hashlib.sha256(uid.encode()).digest()
    return f"10.{64 + digest[0] % 32}.{digest[1]}.{digest[2]}"
