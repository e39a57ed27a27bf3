"""Scheduler and kubelets in one: pods get a node, live there, and end.

Promises: a pod is bound to the nodes in turn, to none that is cordoned or lacks the labels
of its node selector; a pod that is deleted is gone one step later, as long as it may take;
what is deleted with its node is gone at once.
Elsewhere: what a pod is next (`pod_life`), the nodes (`nodes`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime
from typing import final

from kubeloop.errors import Conflict, NotFound
from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey, find_condition
from kubeloop.runtime import Context, Result
from kubeloop.wire.core.v1 import Node, Pod, PodCondition, PodStatus

from .nodes import fits, host_ip
from .pod_life import next_step
from .pods import save_status
from .stages import Stages

__all__ = ["Kubelet"]


@final
class Kubelet:
    """Moves pods on, one step after the other; each takes `delay` seconds."""

    def __init__(self, *, delay: float, clock: Clock) -> None:
        self._delay = delay
        self._stages = Stages(clock)
        self._turns = itertools.count()
        self._addresses = itertools.count(1)

    async def reconcile(self, key: ObjectKey, ctx: Context) -> Result | None:
        """One look at one pod. Cancelled, the step may be done."""
        pod = ctx.get(Pod, key)
        if pod is None:
            self._stages.forget(key)
            return None
        if pod.metadata.deletion_timestamp is not None:
            return await self._end(ctx, pod)
        if not pod.spec.node_name:
            await self._bind(ctx, pod)
            return None
        return await self._move_on(ctx, pod)

    async def _bind(self, ctx: Context, pod: Pod) -> None:
        if pod.spec.scheduling_gates:
            return
        nodes = [node for node in ctx.list(Node) if fits(pod.spec, node)]
        if not nodes:
            await save_status(ctx, pod, _unschedulable(pod, ctx.now()))
            return
        node = _in_turn(nodes, next(self._turns))
        try:
            await ctx.client.core_v1.pods(pod.metadata.namespace).bind(pod.metadata.name, node=node)
        except (Conflict, NotFound):
            return  # it is bound, going or gone, which the cache will hear of

    async def _move_on(self, ctx: Context, pod: Pod) -> Result | None:
        address = pod.status.pod_ip or _pod_ip(next(self._addresses))
        at_home = host_ip(ctx, str(pod.spec.node_name))
        step = next_step(pod, now=ctx.now(), host_ip=at_home, pod_ip=address)
        if step is None:
            return None
        left = self._stages.left(
            ctx.key, f"{pod.metadata.uid} {step.stage}", step.steps * self._delay
        )
        if left > 0:
            return Result(requeue_after=left)
        await save_status(ctx, pod, step.status)
        return None

    async def _end(self, ctx: Context, pod: Pod) -> Result | None:
        lasts = min(self._delay, pod.metadata.deletion_grace_period_seconds)
        left = self._stages.left(ctx.key, f"{pod.metadata.uid} ending", lasts)
        if left > 0:
            return Result(requeue_after=left)
        at = ctx.client.resource(Pod, namespace=pod.metadata.namespace)
        uid, name = pod.metadata.uid, pod.metadata.name
        await at.delete(name, expected_uid=uid, grace_period=0, missing_ok=True)
        return None


def _in_turn(nodes: Sequence[Node], turn: int) -> str:
    names = sorted(node.metadata.name for node in nodes)
    return names[turn % len(names)]


def _unschedulable(pod: Pod, now: datetime) -> PodStatus:
    status = PodStatus.from_dict(pod.status.to_dict())
    found = find_condition(pod.status.conditions, "PodScheduled")
    status.conditions = [
        PodCondition(
            type="PodScheduled",
            status="False",
            reason="Unschedulable",
            message="no node is there that the pod may run on",
            last_transition_time=now if found is None else found.last_transition_time,
        )
    ]
    return status


def _pod_ip(number: int) -> str:
    return f"10.{64 + number // 65536 % 64}.{number // 256 % 256}.{number % 256}"
