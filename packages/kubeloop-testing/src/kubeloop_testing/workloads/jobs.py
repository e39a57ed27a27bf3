"""Jobs: creates pods until enough have succeeded or too many have failed.

Guarantees: never more than `parallelism` active pods, nor more than `completions` requires; an
exponential backoff after failures; a finished job changes no more.
Not simulated: indexed completion, pod failure policies and success policies.
See also: how its pods end (`pod_lifecycle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import final

import msgspec

from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey, is_condition_true
from kubeloop.runtime import Context, Result
from kubeloop.wire.batch.v1 import Job, JobCondition, JobStatus
from kubeloop.wire.core.v1 import Pod

from .pods import (
    create_pods,
    delete_pods,
    is_active,
    is_ready,
    owned_pods,
    pod_from,
    save_status,
)
from .stages import Stages, backoff_steps

__all__ = ["JobCounts", "Jobs", "desired_active", "finished_condition"]

_BACKOFF_LIMIT = 6  # the default of `backoffLimit`


class JobCounts(msgspec.Struct, frozen=True):
    """The pods of a job by state."""

    active: int
    succeeded: int
    failed: int


@final
class Jobs:
    """Reconciles jobs; the backoff after the first failure is `delay` seconds."""

    def __init__(self, *, delay: float, clock: Clock) -> None:
        self._delay = delay
        self._stages = Stages(clock)

    async def reconcile(self, key: ObjectKey, ctx: Context) -> Result | None:
        """Reconcile one job. If cancelled, some pods may be created or deleted."""
        job = ctx.get(Job, key)
        if job is None or job.metadata.deletion_timestamp is not None or _is_finished(job):
            self._stages.forget(key)
            return None
        pods = owned_pods(ctx, job)
        active = [pod for pod in pods if is_active(pod)]
        counts = _counts(job, pods, len(active))
        finished = finished_condition(job, counts)
        missing = (0 if finished else desired_active(job, counts)) - len(active)
        left = self._backoff(key, job, counts) if missing > 0 else 0.0
        if missing > 0 and left <= 0:
            await create_pods(ctx, [pod_from(job.spec.template, job) for _ in range(missing)])
        elif missing < 0:
            await delete_pods(ctx, active[:-missing])
        ready = sum(map(is_ready, active))
        await save_status(ctx, job, _status(job, counts, finished, ready=ready, now=ctx.now()))
        return Result(requeue_after=left) if left > 0 else None

    def _backoff(self, key: ObjectKey, job: Job, counts: JobCounts) -> float:
        """Seconds until the next pod may be created."""
        if not counts.failed:
            return 0.0
        duration = backoff_steps(counts.failed - 1) * self._delay
        return self._stages.left(key, f"{job.metadata.uid} {counts.failed} failed", duration)


def desired_active(job: Job, counts: JobCounts) -> int:
    """How many pods should be active."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.suspend:
        return 0
    # Without `completions` the pods share a work queue: after a success no pod is created.
    if job.spec.completions is None:
        return counts.active if counts.succeeded else parallelism
    return min(parallelism, job.spec.completions - counts.succeeded)


def finished_condition(job: Job, counts: JobCounts) -> str:
    """`Complete`, `Failed`, or "" while the job runs."""
    limit = _BACKOFF_LIMIT if job.spec.backoff_limit is None else job.spec.backoff_limit
    if counts.failed > limit:
        return "Failed"
    if job.spec.completions is None:
        return "Complete" if counts.succeeded and not counts.active else ""
    return "Complete" if counts.succeeded >= job.spec.completions else ""


def _is_finished(job: Job) -> bool:
    # Terminal conditions never change back.
    return any(is_condition_true(job.status.conditions, end) for end in ("Complete", "Failed"))


def _counts(job: Job, pods: Sequence[Pod], active: int) -> JobCounts:
    def count(phase: str, before: int | None) -> int:
        # Pods that were counted before may have been deleted since; the end of a pod that is
        # deleted while it runs, as when the job is suspended, does not count.
        ended = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
        return max(sum(pod.status.phase == phase for pod in ended), before or 0)

    return JobCounts(
        active=active,
        succeeded=count("Succeeded", job.status.succeeded),
        failed=count("Failed", job.status.failed),
    )


def _status(job: Job, counts: JobCounts, finished: str, *, ready: int, now: datetime) -> JobStatus:
    return JobStatus(
        active=(0 if finished else counts.active) or None,
        ready=0 if finished else ready,
        succeeded=counts.succeeded or None,
        failed=counts.failed or None,
        terminating=0,
        start_time=job.status.start_time or (None if job.spec.suspend else now),
        completion_time=now if finished == "Complete" else None,
        conditions=_conditions(finished, now) if finished else [],
    )


def _conditions(finished: str, now: datetime) -> list[JobCondition]:
    # The job controller sets an interim condition before each terminal one.
    kinds, reason, message = {
        "Complete": (("SuccessCriteriaMet", "Complete"), "CompletionsReached", "enough succeeded"),
        "Failed": (("FailureTarget", "Failed"), "BackoffLimitExceeded", "too many pods failed"),
    }[finished]
    return [
        JobCondition(
            type=kind,
            status="True",
            reason=reason,
            message=message,
            last_probe_time=now,
            last_transition_time=now,
        )
        for kind in kinds
    ]
