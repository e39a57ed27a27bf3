"""Runs a pod or a job to its end, and returns exit code and logs.

Guarantees: what was created is deleted, also when the call fails or is cancelled; a timeout says
what the pod waits for.
See also: `PodClient.logs`.
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar, final

import msgspec

from kubeloop.errors import BadRequest, InvalidArgument, KubeError, NotFound
from kubeloop.kit import run_to_completion
from kubeloop.meta import ObjectKey, is_condition_true, is_controlled_by
from kubeloop.selectors import selector_from_wire
from kubeloop.wire import Resource

from .collection import ObjectCollection
from .pods import PodClient
from .resource import ResourceClient
from .rollout_decision import pod_problems
from .wait import WaitTimeout, snapshots

if TYPE_CHECKING:
    from kubeloop.wire.batch.v1 import Job
    from kubeloop.wire.core.v1 import Pod

__all__ = ["RunInterrupted", "RunResult", "exit_code_of", "run_pod"]

R = TypeVar("R", bound=Resource)


@final
class RunInterrupted(KubeError):
    """A pod or job was deleted before its exit code could be read."""


class RunResult(msgspec.Struct, frozen=True):
    """How a run ended; `reason` is that of the container, such as `Completed` or `OOMKilled`."""

    exit_code: int
    logs: str
    reason: str
    pod: ObjectKey


async def run_pod(
    pods: ObjectCollection[Pod],
    what: Pod | Job | str,
    command: Sequence[str],
    *,
    timeout: float | None,
    keep: bool,
) -> RunResult:
    """Create, wait, read logs, delete."""
    from kubeloop.wire.batch.v1 import Job

    if isinstance(what, Job):
        if command:
            raise InvalidArgument("run: a command is for an image (set it in the job)")
        jobs = pods.of_kind(Job)
        job = await ResourceClient(jobs).create(_named(Job.from_dict(what.to_dict())))
        jobs = jobs.in_namespace(job.metadata.namespace)
        pods = pods.in_namespace(job.metadata.namespace)
        try:
            job = await _finished(jobs, job, _is_job_finished, timeout=timeout)
            pod = await _last_pod(pods, job)
            return await _result(
                pods, pod, failed=is_condition_true(job.status.conditions, "Failed")
            )
        finally:
            if not keep:
                await run_to_completion(_delete(jobs, job))
    pod = await ResourceClient(pods).create(_named(_pod_of(what, command)))
    pods = pods.in_namespace(pod.metadata.namespace)
    try:
        pod = await _finished(pods, pod, _is_pod_finished, timeout=timeout)
        return await _result(pods, pod, failed=pod.status.phase == "Failed")
    finally:
        if not keep:
            await run_to_completion(_delete(pods, pod))


def exit_code_of(pod: Pod) -> tuple[int, str]:
    """The exit code and reason of the first container that failed, else of the first one."""
    ended = [
        each.state.terminated
        for each in (*pod.status.init_container_statuses, *pod.status.container_statuses)
        if each.state.terminated is not None
    ]
    for each in ended:
        if each.exit_code:
            return each.exit_code, each.reason or ""
    if pod.status.phase == "Failed":  # evicted, or its deadline has passed
        return 1, pod.status.reason or "Failed"
    return 0, (ended[-1].reason or "") if ended else ""


def _pod_of(what: Pod | str, command: Sequence[str]) -> Pod:
    from kubeloop.wire.core.v1 import Container, Pod, PodSpec

    if isinstance(what, str):
        container = Container(name="main", image=what)
        if command:
            container.command = list(command)
        return Pod(spec=PodSpec(containers=[container], restart_policy="Never"))
    if command:
        raise InvalidArgument("run: a command is for an image (set it in the pod)")
    pod = Pod.from_dict(what.to_dict())
    if not pod.spec.restart_policy:
        pod.spec.restart_policy = "Never"
    if pod.spec.restart_policy == "Always":
        raise InvalidArgument(
            "run: a pod with restartPolicy Always never ends (use Never or OnFailure)"
        )
    return pod


def _named(obj: R) -> R:
    if not obj.metadata.name and not obj.metadata.generate_name:
        obj.metadata.generate_name = "run-"
    return obj


def _is_pod_finished(pod: Pod) -> bool:
    return pod.status.phase in {"Succeeded", "Failed"}


def _is_job_finished(job: Job) -> bool:
    return any(is_condition_true(job.status.conditions, name) for name in ("Complete", "Failed"))


async def _finished(
    objects: ObjectCollection[R],
    obj: R,
    is_finished: Callable[[R], bool],
    *,
    timeout: float | None,
) -> R:
    """Wait until an object has finished. Raises: WaitTimeout; KubeError when it was deleted."""
    name = obj.metadata.name
    what = f"run {obj.kind.lower()}/{name} in {obj.metadata.namespace}"
    changes = snapshots(objects, lambda each: each, field_selector={"metadata.name": name})
    try:
        async with objects.clock.timeout(timeout) as bound, aclosing(changes):
            async for found in changes:
                current = next(iter(found.values()), None)
                if current is None or current.metadata.uid != obj.metadata.uid:
                    raise RunInterrupted(f"{what}: it was deleted before it had finished")
                obj = current
                if is_finished(obj):
                    return obj
    except TimeoutError:
        if not bound.expired():
            raise
    seen = _describe(obj)
    raise WaitTimeout(
        f"{what}: not finished within {timeout or 0:g} s, last seen: {seen} (use a longer timeout)",
        seen,
    )


def _describe(obj: Resource) -> str:
    from kubeloop.wire.core.v1 import Pod

    if isinstance(obj, Pod):
        problems = "; ".join(map(str, pod_problems(obj)))
        return f"{obj.status.phase or 'Pending'}{f', {problems}' if problems else ''}"
    status = obj.to_dict().get("status") or {}
    return f"{status.get('active') or 0} active pods, {status.get('failed') or 0} failed ones"


async def _last_pod(pods: ObjectCollection[Pod], job: Job) -> Pod:
    """The pod of a job that ended last; of the failed ones if the job failed."""
    selector = str(selector_from_wire(job.spec.selector)) if job.spec.selector else None
    selected = await ResourceClient(pods).list_all(selector=selector)
    owned = [each for each in selected if is_controlled_by(each, job)]
    failed = is_condition_true(job.status.conditions, "Failed")
    wanted = [each for each in owned if (each.status.phase == "Failed") == failed] or owned
    if not wanted:
        raise RunInterrupted(
            f"run job/{job.metadata.name} in {job.metadata.namespace}: its pods were deleted, and"
            " with them exit code and logs"
        )
    return max(wanted, key=lambda pod: str(pod.metadata.creation_timestamp))


async def _result(pods: ObjectCollection[Pod], pod: Pod, *, failed: bool) -> RunResult:
    code, reason = exit_code_of(pod)
    lines = PodClient(pods).logs(pod.metadata.name, container=pod.spec.containers[0].name)
    try:
        logs = "".join([f"{line}\n" async for line in lines])
    except (BadRequest, NotFound):
        logs = ""  # the container never started, or its node is gone
    return RunResult(code or int(failed), logs, reason, ObjectKey.of(pod))


async def _delete(objects: ObjectCollection[R], obj: R) -> None:
    metadata = obj.metadata
    await ResourceClient(objects).delete(
        metadata.name,
        expected_uid=str(metadata.uid),
        propagation="Background",
        missing_ok=True,
    )
