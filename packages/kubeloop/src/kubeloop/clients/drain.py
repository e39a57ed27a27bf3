"""Cordons and drains nodes: which pods go, and their eviction.

Guarantees: which pods are evicted, ignored or refused is decided as by `kubectl drain`, by a pure
function. Only the pod that was found is evicted, never a new one of the same name. An eviction
that a disruption budget forbids is repeated until it is allowed or the timeout has passed.
See also: `PodClient.evict` (one eviction).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, Unpack, final

import msgspec

from kubeloop.errors import (
    Cause,
    Conflict,
    Forbidden,
    KubeError,
    NotFound,
    TooManyRequests,
    has_cause,
)
from kubeloop.kit import TaskOwner, strict_keywords
from kubeloop.meta import ObjectKey, controller_of
from kubeloop.wire import Resource
from kubeloop.wire.core.v1 import Pod

from .collection import ALL_NAMESPACES, ObjectCollection
from .options import DeleteOptions, LabelSelection
from .paging import key_of
from .pods import PodClient
from .resource import ResourceClient
from .wait import WaitTimeout, snapshots

if TYPE_CHECKING:
    from kubeloop.wire.apps.v1 import DaemonSet
    from kubeloop.wire.core.v1 import Node

__all__ = [
    "DrainFailed",
    "DrainOptions",
    "DrainPlan",
    "DrainProgress",
    "DrainRefused",
    "DrainStep",
    "decide_pod",
    "drain",
    "drain_plan",
    "set_unschedulable",
]

K = TypeVar("K", bound=Resource)

RETRY_DELAY = 5.0  # seconds, as kubectl
_POLL = 1.0  # seconds between two checks of how long a pod has been terminating
_STATIC = "kubernetes.io/config.mirror"

_DAEMON_SET = "DaemonSet-managed Pods"
_LOCAL_STORAGE = "Pods with local storage"
_UNMANAGED = "Pods that declare no controller"
# What allows to drain a node with such pods.
_OPTIONS = {
    _DAEMON_SET: "ignore_daemonsets=True",
    _LOCAL_STORAGE: "delete_emptydir_data=True",
    _UNMANAGED: "force=True",
}


class PlanOptions(TypedDict, total=False):
    """Which pods are evicted; the names are those of `kubectl drain`.

    `force`: also pods without a controller, and those of a daemon set that does not exist.
    `ignore_daemonsets`: leave the pods of daemon sets where they are. `delete_emptydir_data`: also
    pods with an `emptyDir`, whose data is lost. `pod_selector`: only these pods.
    `skip_wait_for_delete_timeout`: not those that have been terminating for more seconds.
    """

    force: bool
    ignore_daemonsets: bool
    delete_emptydir_data: bool
    pod_selector: LabelSelection | None
    skip_wait_for_delete_timeout: int


class DrainOptions(PlanOptions, total=False):
    """The options of a drain.

    `grace_period`: seconds for each pod instead of its own. `disable_eviction`: delete the pods,
    without regard to disruption budgets. `timeout`: seconds for all pods, None is no limit.
    `dry_run`: the server checks everything, and nothing is changed.
    """

    grace_period: int | None
    disable_eviction: bool
    timeout: float | None
    dry_run: bool


class PodDecision(msgspec.Struct, frozen=True):
    """What happens to a pod, and why, if there is something to say."""

    action: Literal["evict", "ignore", "refuse"]
    reason: str = ""


class DrainPlan(msgspec.Struct, frozen=True):
    """The pods of a node: to evict, and those that forbid the drain, by reason."""

    node: str
    evict: tuple[Pod, ...]
    refused: Mapping[str, tuple[ObjectKey, ...]]
    warnings: tuple[str, ...]


class DrainStep(msgspec.Struct, frozen=True):
    """One step of a drain; `pod` is None for steps that are about the node."""

    action: Literal["cordoned", "warning", "evicting", "retrying", "evicted", "skipped"]
    message: str
    pod: ObjectKey | None = None

    def __str__(self) -> str:
        return self.message


DrainProgress = Callable[[DrainStep], Awaitable[None] | None]


@final
class DrainRefused(KubeError):
    """The node has pods that may not be evicted; nothing was evicted. `plan` has them."""

    def __init__(self, plan: DrainPlan) -> None:
        parts = [
            f"cannot delete {reason}: {', '.join(map(str, pods))}"
            for reason, pods in plan.refused.items()
        ]
        super().__init__(f"drain node {plan.node}: {'; '.join(parts)}")
        options = [_OPTIONS[reason] for reason in plan.refused if reason in _OPTIONS]
        if options:
            self.with_hint(python=f"pass {', '.join(options)}")
        self.plan = plan


@final
class DrainFailed(KubeError):
    """Some pods are still on the node, which stays cordoned; `errors` says why, by pod."""

    def __init__(self, node: str, errors: Mapping[ObjectKey, KubeError]) -> None:
        parts = "; ".join(f"pod {pod}: {error}" for pod, error in errors.items())
        left = "1 pod is" if len(errors) == 1 else f"{len(errors)} pods are"
        super().__init__(f"drain node {node}: {left} left: {parts}")
        self.errors = dict(errors)


# --- the decision


def decide_pod(
    pod: Pod,
    *,
    missing_daemon_set: str | None = None,
    now: datetime,
    force: bool = False,
    ignore_daemonsets: bool = False,
    delete_emptydir_data: bool = False,
    skip_wait_for_delete_timeout: int = 0,
) -> PodDecision:
    """What a drain does with a pod, in the order of kubectl's filters.

    `missing_daemon_set` is the error of reading the daemon set that controls it; None if it exists.
    """
    reason = ""
    if _is_skipped(pod, skip_wait_for_delete_timeout, now):
        return PodDecision("ignore")
    is_finished = pod.status.phase in {"Succeeded", "Failed"}
    if is_daemon_pod(pod) and not is_finished:
        if missing_daemon_set is None:
            if not ignore_daemonsets:
                return PodDecision("refuse", _DAEMON_SET)
            return PodDecision("ignore", f"ignoring {_DAEMON_SET}")
        if not force:
            return PodDecision("refuse", missing_daemon_set)
        reason = missing_daemon_set
    if _STATIC in pod.metadata.annotations:  # of a static pod, which only its kubelet can stop
        return PodDecision("ignore")
    has_local_data = any(volume.empty_dir is not None for volume in pod.spec.volumes)
    if has_local_data and not is_finished:
        if not delete_emptydir_data:
            return PodDecision("refuse", _LOCAL_STORAGE)
        reason = f"deleting {_LOCAL_STORAGE}"
    if controller_of(pod) is None and not is_finished:
        if not force:
            return PodDecision("refuse", _UNMANAGED)
        reason = f"deleting {_UNMANAGED}"
    return PodDecision("evict", reason)


def is_daemon_pod(pod: Pod) -> bool:
    """Whether a daemon set controls the pod."""
    owner = controller_of(pod)
    return owner is not None and (owner.api_version, owner.kind) == ("apps/v1", "DaemonSet")


def _is_skipped(pod: Pod, seconds: int, now: datetime) -> bool:
    deleted = pod.metadata.deletion_timestamp
    return seconds > 0 and deleted is not None and (now - deleted).total_seconds() > seconds


def plan_of(node: str, decisions: Iterable[tuple[Pod, PodDecision]]) -> DrainPlan:
    """The plan of a drain; pods with the same reason are listed together, as by kubectl."""
    evict: list[Pod] = []
    refused: dict[str, list[ObjectKey]] = {}
    warned: dict[str, list[ObjectKey]] = {}
    for pod, decision in decisions:
        if decision.action == "evict":
            evict.append(pod)
        if decision.action == "refuse":
            refused.setdefault(decision.reason, []).append(ObjectKey.of(pod))
        elif decision.reason:
            warned.setdefault(decision.reason, []).append(ObjectKey.of(pod))
    return DrainPlan(
        node=node,
        evict=tuple(evict),
        refused={reason: tuple(pods) for reason, pods in refused.items()},
        warnings=tuple(f"{why}: {', '.join(map(str, pods))}" for why, pods in warned.items()),
    )


# --- the requests


async def set_unschedulable(
    nodes: ObjectCollection[Node], name: str, *, unschedulable: bool, dry_run: bool = False
) -> bool:
    """Cordon or uncordon; False if nothing had to be changed."""
    node = await nodes.get(name)
    if bool(node.spec.unschedulable) == unschedulable:
        return False
    change = {"spec": {"unschedulable": True if unschedulable else None}}
    await ResourceClient(nodes).patch(name, change, type="merge", dry_run=dry_run)
    return True


@strict_keywords
async def drain_plan(
    nodes: ObjectCollection[Node], name: str, **options: Unpack[PlanOptions]
) -> DrainPlan:
    """Read the pods of a node, and decide."""
    from kubeloop.wire.apps.v1 import DaemonSet

    now = nodes.clock.time()
    pods = await PodClient(_all_namespaces(nodes, Pod)).list_all(
        selector=options.get("pod_selector"), field_selector={"spec.nodeName": name}
    )
    sets = _all_namespaces(nodes, DaemonSet)
    missing: dict[ObjectKey, str | None] = {}

    async def decide(pod: Pod) -> PodDecision:
        owner = controller_of(pod)
        error = None
        if owner is not None and is_daemon_pod(pod):
            key = ObjectKey(pod.metadata.namespace, owner.name)
            if key not in missing:
                missing[key] = await _missing(sets.in_namespace(key.namespace), key.name)
            error = missing[key]
        return decide_pod(
            pod,
            missing_daemon_set=error,
            now=now,
            force=options.get("force", False),
            ignore_daemonsets=options.get("ignore_daemonsets", False),
            delete_emptydir_data=options.get("delete_emptydir_data", False),
            skip_wait_for_delete_timeout=options.get("skip_wait_for_delete_timeout", 0),
        )

    return plan_of(name, [(pod, await decide(pod)) for pod in pods])


@strict_keywords
async def drain(
    nodes: ObjectCollection[Node],
    name: str,
    *,
    progress: DrainProgress | None,
    **options: Unpack[DrainOptions],
) -> DrainPlan:
    """Cordon the node and evict its pods; returns what was decided."""
    dry_run = options.get("dry_run", False)
    changed = await set_unschedulable(nodes, name, unschedulable=True, dry_run=dry_run)
    run = _Drain(nodes, name, options, progress)
    await run.report("cordoned", f"node {name} {'cordoned' if changed else 'already cordoned'}")
    plan = await drain_plan(nodes, name, **_plan_options(options))
    if plan.refused:
        raise DrainRefused(plan)
    for warning in plan.warnings:
        await run.report("warning", warning)
    if plan.evict:
        await run.evict(plan.evict)
    return plan


def _plan_options(options: DrainOptions) -> PlanOptions:
    return {
        "force": options.get("force", False),
        "ignore_daemonsets": options.get("ignore_daemonsets", False),
        "delete_emptydir_data": options.get("delete_emptydir_data", False),
        "pod_selector": options.get("pod_selector"),
        "skip_wait_for_delete_timeout": options.get("skip_wait_for_delete_timeout", 0),
    }


def _all_namespaces(nodes: ObjectCollection[Node], kind: type[K]) -> ObjectCollection[K]:
    return nodes.of_kind(kind).in_namespace(ALL_NAMESPACES)


async def _missing(sets: ObjectCollection[DaemonSet], name: str) -> str | None:
    """The error of reading a daemon set; None if it exists."""
    try:
        await sets.get(name)
    except NotFound as error:
        return error.message or error.summary
    return None


@final
class _Drain:
    """Evicts pods at the same time, and waits until they are gone."""

    def __init__(
        self,
        nodes: ObjectCollection[Node],
        node: str,
        options: DrainOptions,
        progress: DrainProgress | None,
    ) -> None:
        self._pods = _all_namespaces(nodes, Pod)
        self._clock = nodes.clock
        self._node = node
        self._options = options
        self._progress = progress
        self._errors: dict[ObjectKey, KubeError] = {}
        self._present: Mapping[Hashable, Pod] = {}  # the pods of the node, as the watch has them
        self._changed = asyncio.Event()

    async def report(
        self,
        action: Literal["cordoned", "warning", "evicting", "retrying", "evicted", "skipped"],
        message: str,
        pod: ObjectKey | None = None,
    ) -> None:
        if self._progress is not None:
            result = self._progress(DrainStep(action, message, pod))
            if inspect.isawaitable(result):
                await result

    async def evict(self, pods: Iterable[Pod]) -> None:
        """Raises: DrainFailed when pods are left."""
        left = {ObjectKey.of(pod): pod for pod in pods}
        self._present = {key_of(pod): pod for pod in left.values()}
        timeout = self._options.get("timeout")
        try:
            async with self._clock.timeout(timeout) as bound, TaskOwner() as tasks:
                if not self._options.get("dry_run"):
                    tasks.spawn(self._follow(), name=f"pods of {self._node}")
                work = [
                    tasks.spawn(self._evict_one(key, pod, left), name=f"evict {key}")
                    for key, pod in list(left.items())
                ]
                await asyncio.wait(work)
        except TimeoutError:
            if not bound.expired():
                raise
        for key in left:
            if key not in self._errors:
                text = f"global timeout reached: {timeout or 0:g} s"
                self._errors[key] = WaitTimeout(text, "not evicted, or still terminating")
        if self._errors:
            raise DrainFailed(self._node, self._errors)

    async def _follow(self) -> None:
        selector = {"spec.nodeName": self._node}
        async with aclosing(snapshots(self._pods, _itself, field_selector=selector)) as changes:
            async for found in changes:
                self._present = found
                self._changed.set()
                self._changed = asyncio.Event()

    async def _evict_one(self, key: ObjectKey, pod: Pod, left: dict[ObjectKey, Pod]) -> None:
        try:
            exists = await self._send_eviction(key, pod)
            if exists and not self._options.get("dry_run"):
                await self._wait_until_gone(key, pod)
        except KubeError as error:
            self._errors[key] = error
        else:
            del left[key]

    async def _send_eviction(self, key: ObjectKey, pod: Pod) -> bool:
        """Evict or delete; False if there is no such pod any more."""
        pods = PodClient(self._pods.in_namespace(key.namespace))
        dry_run = self._options.get("dry_run", False)
        options: DeleteOptions = {
            "grace_period": self._options.get("grace_period"),
            "expected_uid": str(pod.metadata.uid),
            "dry_run": dry_run,
        }
        what = f"{key}{' (server dry run)' if dry_run else ''}"
        while True:
            await self.report("evicting", f"evicting pod {what}", key)
            try:
                if self._options.get("disable_eviction"):
                    await pods.delete(key.name, **options)
                else:
                    await pods.evict(key.name, max_retries=0, **options)
            except (NotFound, Conflict):  # a conflict: another pod has its name
                return False
            except TooManyRequests as error:
                if dry_run:
                    raise
                text = f'error when evicting pods/"{key.name}" -n "{key.namespace}"'
                await self._retry(key, text, error)
            except Forbidden as error:
                if not has_cause(error, Cause.NAMESPACE_TERMINATING):
                    raise
                current = self._present.get(key_of(pod))
                if current is None or current.metadata.deletion_timestamp is not None:
                    return True  # it cannot be evicted, and will be deleted with its namespace
                text = (
                    f'error when evicting pod "{key.name}" from terminating namespace'
                    f' "{key.namespace}"'
                )
                await self._retry(key, text, error)
            else:
                return True

    async def _retry(self, key: ObjectKey, text: str, error: KubeError) -> None:
        text = f"{text} (will retry after {RETRY_DELAY:g}s): {error.summary}"
        await self.report("retrying", text, key)
        await self._clock.sleep(RETRY_DELAY)

    async def _wait_until_gone(self, key: ObjectKey, pod: Pod) -> None:
        seconds = self._options.get("skip_wait_for_delete_timeout", 0)
        while True:
            current = self._present.get(key_of(pod))
            if current is None or current.metadata.uid != pod.metadata.uid:
                verb = "deleted" if self._options.get("disable_eviction") else "evicted"
                await self.report("evicted", f"pod/{key.name} {verb}", key)
                return
            if _is_skipped(current, seconds, self._clock.time()):
                text = (
                    f'pod "{key.name}" has DeletionTimestamp older than {seconds} seconds, skipping'
                )
                await self.report("skipped", text, key)
                return
            if seconds > 0:
                await self._clock.sleep(_POLL)
            else:
                await self._changed.wait()


def _itself(pod: Pod) -> Pod:
    return pod
