"""The pod and the container that a stream is for.

A target is the name of a pod, or a kind and a name: `deploy/web`, `svc/web`. The pods of such an
object are found by its selector, and one that is ready is used.

Guarantees: a pod that is being deleted or has ended is used only if there is no other; the same
pods give the same choice; a kind that selects no pods is an `InvalidArgument`.
See also: `kubeloop.clients` (which passes itself as `PodReader` and `PodRequests`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.rest import Params, Request, RequestSender, Timeouts, resource_request
from kubeloop.selectors import Selector, selector_from_wire
from kubeloop.wire import ResourceInfo, resource_for

if TYPE_CHECKING:
    from kubeloop.wire.core.v1 import ContainerStatus, Pod

__all__ = [
    "ContainerRun",
    "NoReadyPod",
    "PodAccess",
    "PodReader",
    "PodRequests",
    "TargetPod",
    "container_names",
    "container_run",
    "container_status",
    "default_container",
    "find_pod",
    "is_ready",
    "port_in_pod",
]

_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_ENDED = ("Succeeded", "Failed")
# The kinds whose selector selects pods, as `kubectl exec` accepts them.
_KINDS = (
    ("", "v1", "Service"),
    ("", "v1", "ReplicationController"),
    ("apps", "v1", "Deployment"),
    ("apps", "v1", "ReplicaSet"),
    ("apps", "v1", "StatefulSet"),
    ("apps", "v1", "DaemonSet"),
    ("batch", "v1", "Job"),
)


class NoReadyPod(KubeError):
    """The object that was named selects no pod that a stream can use."""


class PodPage(Protocol):
    """Pods of one list."""

    @property
    def items(self) -> list[Pod]: ...
    @property
    def version(self) -> str: ...


class PodEvent(Protocol):
    """One change of a pod."""

    @property
    def type(self) -> str: ...
    @property
    def object(self) -> Pod: ...


class PodReader(Protocol):
    """Reads pods: a `PodClient`."""

    async def get(self, name: str) -> Pod: ...
    async def list(
        self, *, selector: str | Selector | Mapping[str, str] | None = None
    ) -> PodPage: ...
    def watch(
        self,
        *,
        resource_version: str | None = None,
        selector: str | Selector | Mapping[str, str] | None = None,
        field_selector: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[PodEvent, None]: ...


class PodRequests(Protocol):
    """Creates requests to pods, in the namespace of their client."""

    @property
    def rest(self) -> RequestSender: ...

    async def request(
        self,
        verb: str,
        *,
        name: str = "",
        subresource: str = "",
        params: Params | None = None,
        accept: str = "",
        timeouts: Timeouts | None = None,
    ) -> Request: ...


class PodAccess(msgspec.Struct, frozen=True):
    """How streams reach the pods of one namespace."""

    pods: PodReader
    requests: PodRequests


class TargetPod(msgspec.Struct, frozen=True):
    """The pod of a target, and how it was chosen."""

    name: str
    # None if the target is the name of a pod: it has not been read.
    pod: Pod | None = None
    owner: Mapping[str, Any] | None = None  # the object that was named, such as a Service
    candidates: int = 1  # pods that the object selects


async def find_pod(access: PodAccess, target: str, *, must_be_ready: bool = True) -> TargetPod:
    """The pod of a target. Sends no request for the name of a pod. Safe to cancel.

    Raises: NotFound when the object does not exist; NoReadyPod when it has no pod, or none that
    is ready and it must be; InvalidArgument for a kind that selects no pods.
    """
    kind, slash, name = target.partition("/")
    if not slash:
        return TargetPod(target)
    if kind in {"po", "pod", "pods"}:
        return TargetPod(name)
    info = _resource(kind, target)
    # The namespace of the client, in the way its own requests have it.
    namespace = (await access.requests.request("get", name=name)).namespace
    rest = access.requests.rest
    response = await rest.send(resource_request("get", info, namespace=namespace, name=name))
    owner: dict[str, Any] = response.decode(dict)
    pods = (await access.pods.list(selector=_selector(target, owner))).items
    if not pods:
        raise NoReadyPod(f"pod of {target}: it selects no pods (is it scaled to zero?)")
    chosen = min(pods, key=_rank)
    if must_be_ready and not is_ready(chosen):
        states = ", ".join(f"{pod.metadata.name} ({_state(pod)})" for pod in pods[:5])
        raise NoReadyPod(
            f"pod of {target}: none of its {len(pods)} pods is ready: {states}"
            " (name a pod to use it anyway)"
        )
    return TargetPod(chosen.metadata.name or "", chosen, owner, len(pods))


def _resource(kind: str, target: str) -> ResourceInfo:
    for each in _KINDS:
        info = resource_for(*each)
        if info is not None and kind.lower() in {info.plural, info.singular, *info.short_names}:
            return info
    known = ", ".join(sorted(each[2].lower() for each in _KINDS))
    raise InvalidArgument(f"pod of {target}: {kind!r} is not one of pod, {known}")


def _selector(target: str, owner: dict[str, Any]) -> Selector:
    """The label selector of an object's pods; Services and others have a plain map of labels."""
    selector = (owner.get("spec") or {}).get("selector")
    if not isinstance(selector, dict) or not selector:
        raise InvalidArgument(f"pod of {target}: it has no selector (name a pod)")
    if not {"matchLabels", "matchExpressions"} & selector.keys():
        selector = {"matchLabels": selector}
    return selector_from_wire(selector)


def _rank(pod: Pod) -> tuple[bool, bool, str]:
    return not is_ready(pod), pod.metadata.deletion_timestamp is not None, pod.metadata.name or ""


def is_ready(pod: Pod) -> bool:
    """Whether a pod serves: its condition Ready is true, and it is not being deleted."""
    if pod.metadata.deletion_timestamp is not None or pod.status.phase in _ENDED:
        return False
    conditions = pod.status.conditions or ()
    return any(each.type == "Ready" and each.status == "True" for each in conditions)


def _state(pod: Pod) -> str:
    if pod.metadata.deletion_timestamp is not None:
        return "Terminating"
    return pod.status.phase or "Unknown"


# --- containers


def container_names(pod: Pod) -> list[str]:
    """All containers: init containers, containers, ephemeral containers."""
    spec = pod.spec
    found: Iterable[Sequence[Any] | None] = (
        spec.init_containers,
        spec.containers,
        spec.ephemeral_containers,
    )
    return [each.name for group in found for each in group or ()]


def default_container(pod: Pod) -> str:
    """The container that the pod's annotation names, or its first."""
    names = [each.name for each in pod.spec.containers]
    marked = (pod.metadata.annotations or {}).get(_DEFAULT_CONTAINER, "")
    return marked if marked in names else next(iter(names), "")


def container_status(pod: Pod, container: str) -> ContainerStatus | None:
    """The status of a container, if its kubelet has reported one."""
    status = pod.status
    groups = (
        status.container_statuses,
        status.init_container_statuses,
        status.ephemeral_container_statuses,
    )
    return next((each for group in groups for each in group or () if each.name == container), None)


class ContainerRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a container, from its start to its end."""

    pod_uid: str = ""
    id: str = ""  # of the container; each run has another one
    previous_id: str = ""  # of the last run that has ended, whose log is the previous one
    restarts: int = 0
    started: datetime | None = None
    has_started: bool = False
    is_running: bool = False
    will_restart: bool = False  # if it does not run


def container_run(pod: Pod, container: str) -> ContainerRun:
    """The current run of a container according to the pod's status."""
    status = container_status(pod, container)
    uid = pod.metadata.uid or ""
    phase = pod.status.phase or ""
    if status is None:
        is_running = phase == "Running"
        return ContainerRun(
            pod_uid=uid, has_started=is_running or phase in _ENDED, is_running=is_running
        )
    state = status.state
    previous = status.last_state.terminated
    running, ended = state.running, state.terminated or previous
    started = running.started_at if running else ended.started_at if ended else None
    return ContainerRun(
        pod_uid=uid,
        id=status.container_id or "",
        previous_id=(previous.container_id if previous else None) or "",
        restarts=status.restart_count,
        started=started,
        has_started=running is not None or ended is not None,
        is_running=running is not None,
        will_restart=_will_restart(pod, container, ended.exit_code if ended else 0),
    )


def _will_restart(pod: Pod, container: str, exit_code: int) -> bool:
    if pod.metadata.deletion_timestamp is not None or pod.status.phase in _ENDED:
        return False
    if any(each.name == container for each in pod.spec.ephemeral_containers or ()):
        return False
    is_init = any(each.name == container for each in pod.spec.init_containers or ())
    policy = pod.spec.restart_policy or "Always"
    if policy == "OnFailure" or (is_init and policy == "Always"):
        return exit_code != 0
    return policy == "Always"


# --- ports


def port_in_pod(target: TargetPod, port: int) -> int:
    """The port of the pod for a port of the target: a Service maps its ports.

    Raises: InvalidArgument when the Service does not have the port, or the pod has no port of
    the name that the Service uses.
    """
    if target.owner is None or target.pod is None or target.owner.get("kind") != "Service":
        return port
    spec = target.owner.get("spec") or {}
    ports: list[dict[str, Any]] = spec.get("ports") or []
    found = next((each for each in ports if each.get("port") == port), None)
    name = (target.owner.get("metadata") or {}).get("name")
    if found is None:
        known = ", ".join(str(each.get("port")) for each in ports)
        raise InvalidArgument(f"port {port} of svc/{name}: it has only {known}")
    if spec.get("clusterIP") == "None":
        return port  # a headless service does not map ports
    wanted = found.get("targetPort", port)
    if isinstance(wanted, int):
        return wanted
    for container in target.pod.spec.containers:
        for each in container.ports or ():
            if each.name == wanted:
                return each.container_port
    raise InvalidArgument(
        f"port {port} of svc/{name}: pod {target.name} has no port named {wanted!r}"
    )
