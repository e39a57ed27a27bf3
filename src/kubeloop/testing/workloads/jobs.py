"""Jobs: pods until enough of them have succeeded, or too many have failed.

Promises: no more than `parallelism` at once, no more than `completions` ask for; after a
failure the next pod waits, twice as long each time; a job that is over changes no more.
Not simulated: indexed completion, failure policies and success policies.
Elsewhere: how its pods end (`pod_life`).
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
from .stages import Stages

__all__ = ["Jobs", "Tally", "active_wanted", "verdict_on"]

MOST_PATIENCE = 2**8  # steps between two tries at most
_BACKOFF_LIMIT = 6


class Tally(msgspec.Struct, frozen=True):
    """How a job's pods have fared."""

    active: int
    succeeded: int
    failed: int


@final
class Jobs:
    """Reconciles jobs; after the first failure the next pod waits `delay` seconds."""

    def __init__(self, *, delay: float, clock: Clock) -> None:
        self._delay = delay
        self._stages = Stages(clock)

    async def reconcile(self, key: ObjectKey, ctx: Context) -> Result | None:
        """One look at one job. Cancelled, some pods may be made or removed."""
        job = ctx.get(Job, key)
        if job is None or job.metadata.deletion_timestamp is not None or _is_over(job):
            self._stages.forget(key)
            return None
        pods = owned_pods(ctx, job)
        active = [pod for pod in pods if is_active(pod)]
        tally = _tally(job, pods, len(active))
        verdict = verdict_on(job, tally)
        missing = (0 if verdict else active_wanted(job, tally)) - len(active)
        left = self._pause(key, job, tally) if missing > 0 else 0.0
        if missing > 0 and left <= 0:
            await create_pods(ctx, [pod_from(job.spec.template, job) for _ in range(missing)])
        elif missing < 0:
            await delete_pods(ctx, active[:-missing])
        ready = sum(map(is_ready, active))
        await save_status(ctx, job, _status(job, tally, verdict, ready=ready, now=ctx.now()))
        return Result(requeue_after=left) if left > 0 else None

    def _pause(self, key: ObjectKey, job: Job, tally: Tally) -> float:
        if not tally.failed:
            return 0.0
        lasts = min(2 ** (tally.failed - 1), MOST_PATIENCE) * self._delay
        return self._stages.left(key, f"{job.metadata.uid} {tally.failed} failed", lasts)


def active_wanted(job: Job, tally: Tally) -> int:
    """How many pods are to be at work."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.suspend:
        return 0
    if job.spec.completions is None:  # whoever succeeds first ends it for all
        return tally.active if tally.succeeded else parallelism
    return min(parallelism, job.spec.completions - tally.succeeded)


def verdict_on(job: Job, tally: Tally) -> str:
    """`Complete`, `Failed`, or nothing yet."""
    limit = _BACKOFF_LIMIT if job.spec.backoff_limit is None else job.spec.backoff_limit
    if tally.failed > limit:
        return "Failed"
    if job.spec.completions is None:
        return "Complete" if tally.succeeded and not tally.active else ""
    return "Complete" if tally.succeeded >= job.spec.completions else ""


def _is_over(job: Job) -> bool:
    return any(is_condition_true(job.status.conditions, end) for end in ("Complete", "Failed"))


def _tally(job: Job, pods: Sequence[Pod], active: int) -> Tally:
    def count(phase: str, before: int | None) -> int:
        # Pods that were counted may be removed.
        return max(sum(pod.status.phase == phase for pod in pods), before or 0)

    return Tally(
        active=active,
        succeeded=count("Succeeded", job.status.succeeded),
        failed=count("Failed", job.status.failed),
    )


def _status(job: Job, tally: Tally, verdict: str, *, ready: int, now: datetime) -> JobStatus:
    is_open = not verdict
    return JobStatus(
        active=(tally.active if is_open else 0) or None,
        ready=ready if is_open else 0,
        succeeded=tally.succeeded or None,
        failed=tally.failed or None,
        terminating=0,
        start_time=job.status.start_time or (None if job.spec.suspend else now),
        completion_time=now if verdict == "Complete" else None,
        conditions=[] if is_open else _conditions(verdict, now),
    )


def _conditions(verdict: str, now: datetime) -> list[JobCondition]:
    kinds, reason, message = {
        "Complete": (("SuccessCriteriaMet", "Complete"), "CompletionsReached", "enough succeeded"),
        "Failed": (("FailureTarget", "Failed"), "BackoffLimitExceeded", "too many pods failed"),
    }[verdict]
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
