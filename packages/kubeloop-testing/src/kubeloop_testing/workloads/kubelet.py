"""Simulates scheduler and kubelets: binds pods to nodes and updates their status.

Guarantees: pods are bound round-robin, never to a cordoned node or to one without the labels
of the node selector; a deleted pod ends one step later, within its grace period: its containers
terminate, it is not ready, and then it is removed; pods of a deleted node are removed immediately.
See also: the next status of a pod (`pod_lifecycle`), the nodes (`nodes`).
"""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import final

from kubeloop.errors import Conflict, NotFound
from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey, find_condition
from kubeloop.runtime import Context, Result
from kubeloop.wire.core.v1 import Node, Pod, PodCondition, PodStatus

from .nodes import fits, host_ip
from .pod_lifecycle import next_step, terminated_status
from .pods import save_status
from .stages import Stages

__all__ = ["Kubelet"]


@final
class Kubelet:
    """Takes pods through their lifecycle; each step takes `delay` seconds."""

    def __init__(self, *, delay: float, clock: Clock) -> None:
        self._delay = delay
        self._stages = Stages(clock)
        self._turns = itertools.count()
        self._addresses = itertools.count(1)

    async def reconcile(self, key: ObjectKey, ctx: Context) -> Result | None:
        """Reconcile one pod. If cancelled, its next step may be done."""
        pod = ctx.get(Pod, key)
        if pod is None:
            self._stages.forget(key)
            return None
        if pod.metadata.deletion_timestamp is not None:
            return await self._terminate(ctx, pod)
        if not pod.spec.node_name:
            await self._bind(ctx, pod)
            return None
        return await self._advance(ctx, pod)

    async def _bind(self, ctx: Context, pod: Pod) -> None:
        # Gated pods wait; so do pods that fit no node, with a condition.
        if pod.spec.scheduling_gates:
            return
        nodes = [node for node in ctx.list(Node) if fits(pod.spec, node)]
        if not nodes:
            await save_status(ctx, pod, _unschedulable(pod, ctx.now()))
            return
        names = sorted(node.metadata.name for node in nodes)
        node = names[next(self._turns) % len(names)]
        try:
            await ctx.client.core_v1.pods(pod.metadata.namespace).bind(pod.metadata.name, node=node)
        except (Conflict, NotFound):
            return  # bound, terminating or gone: the cache will receive the change

    async def _advance(self, ctx: Context, pod: Pod) -> Result | None:
        address = pod.status.pod_ip or _pod_ip(next(self._addresses))
        host = host_ip(ctx, str(pod.spec.node_name))
        step = next_step(pod, now=ctx.now(), host_ip=host, pod_ip=address)
        if step is None:
            return None
        left = self._stages.left(
            ctx.key, f"{pod.metadata.uid} {step.stage}", step.steps * self._delay
        )
        if left > 0:
            return Result(requeue_after=left)
        await save_status(ctx, pod, step.status)
        return None

    async def _terminate(self, ctx: Context, pod: Pod) -> Result | None:
        duration = min(self._delay, pod.metadata.deletion_grace_period_seconds)
        left = self._stages.left(ctx.key, f"{pod.metadata.uid} terminating", duration)
        if left > 0:
            return Result(requeue_after=left)
        # As the kubelet: once the containers have stopped, it writes a last status and then
        # deletes with grace period 0.
        status = terminated_status(pod, ctx.now())
        if status is not None:
            await save_status(ctx, pod, status)
        at = ctx.client.resource(Pod, namespace=pod.metadata.namespace)
        uid, name = pod.metadata.uid, pod.metadata.name
        await at.delete(name, expected_uid=uid, grace_period=0, missing_ok=True)
        return None


def _unschedulable(pod: Pod, now: datetime) -> PodStatus:
    status = PodStatus.from_dict(pod.status.to_dict())
    found = find_condition(pod.status.conditions, "PodScheduled")
    status.conditions = [
        PodCondition(
            type="PodScheduled",
            status="False",
            reason="Unschedulable",
            message="no node matches the pod",
            last_transition_time=now if found is None else found.last_transition_time,
        )
    ]
    return status


def _pod_ip(number: int) -> str:
    # From 10.64.0.0/10, away from the services in 10.96.0.0/16 for the first two million pods.
    return f"10.{64 + number // 65536 % 64}.{number // 256 % 256}.{number % 256}"
