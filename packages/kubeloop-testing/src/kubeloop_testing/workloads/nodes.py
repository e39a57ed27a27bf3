"""Nodes that are always ready, and the cleanup after a deleted one.

Guarantees: every node of the server becomes ready, also those that a test creates; the pods of a
deleted node are deleted.
See also: binding pods to nodes (`kubelet`).
"""

from __future__ import annotations

import contextlib
from datetime import datetime

from kubeloop.clients import APIClient
from kubeloop.errors import AlreadyExists, NotFound
from kubeloop.kit import whole_number
from kubeloop.meta import ObjectKey, is_condition_true
from kubeloop.runtime import Context
from kubeloop.wire import Quantity
from kubeloop.wire.core.v1 import (
    Node,
    NodeAddress,
    NodeCondition,
    NodeStatus,
    NodeSystemInfo,
    Pod,
    PodSpec,
)
from kubeloop.wire.meta.v1 import ObjectMeta

from .pods import save_status

__all__ = ["fits", "host_ip", "reconcile_node", "register_nodes"]

_VERSION = "v1.37.0"  # the kubelet version that the nodes report
_NOT_READY = "node.kubernetes.io/not-ready"
_CAPACITY = {"cpu": Quantity("8"), "memory": Quantity("32Gi"), "pods": Quantity("1000")}


async def register_nodes(client: APIClient, count: int) -> None:
    """Create the nodes node-1, node-2, … unless they exist. If cancelled, some may exist."""
    for number in range(1, count + 1):
        name = f"node-{number}"
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
        try:
            await client.resource(Node).create(Node(metadata=ObjectMeta(name=name, labels=labels)))
        except AlreadyExists:
            continue


async def reconcile_node(key: ObjectKey, ctx: Context) -> None:
    """Set a node ready, or delete the pods of a deleted one. If cancelled, some may remain."""
    node = ctx.get(Node, key)
    if node is None:
        await _delete_pods(ctx, key.name)
    elif not is_condition_true(node.status.conditions, "Ready"):
        await save_status(ctx, node, _ready_status(node, ctx.now()))
    elif any(each.key == _NOT_READY for each in node.spec.taints):
        await _remove_taint(ctx, node)


async def _remove_taint(ctx: Context, node: Node) -> None:
    # The server taints new nodes; the node lifecycle controller does this in a real cluster.
    taints = [each.to_dict() for each in node.spec.taints if each.key != _NOT_READY]
    change = {"spec": {"taints": taints or None}}
    with contextlib.suppress(NotFound):
        await ctx.client.resource(Node).patch(node.metadata.name, change, type="merge")


async def _delete_pods(ctx: Context, node: str) -> None:
    # The pod garbage collector does this in a real cluster.
    for pod in ctx.lister(Pod).by_index("node", node):
        at = ctx.client.resource(Pod, namespace=pod.metadata.namespace)
        await at.delete(pod.metadata.name, grace_period=0, missing_ok=True)


def fits(spec: PodSpec, node: Node) -> bool:
    """Whether a pod may be scheduled on a node."""
    # Resources are not simulated: a node never is full.
    selector = spec.node_selector.items()
    return not node.spec.unschedulable and selector <= node.metadata.labels.items()


def host_ip(ctx: Context, name: str) -> str:
    """The address of a node; "" if it is gone."""
    node = ctx.get(Node, ObjectKey("", name))
    return node.status.addresses[0].address if node is not None and node.status.addresses else ""


def _ready_status(node: Node, now: datetime) -> NodeStatus:
    ready = NodeCondition(
        type="Ready",
        status="True",
        reason="KubeletReady",
        message="simulated by kubeloop",
        last_heartbeat_time=now,
        last_transition_time=now,
    )
    return NodeStatus(
        addresses=[
            NodeAddress(type="InternalIP", address=_address(node)),
            NodeAddress(type="Hostname", address=node.metadata.name),
        ],
        allocatable=dict(_CAPACITY),
        capacity=dict(_CAPACITY),
        conditions=[ready],
        node_info=NodeSystemInfo(
            kubelet_version=_VERSION, operating_system="linux", architecture="amd64"
        ),
    )


def _address(node: Node) -> str:
    """192.168.0.7 for node-7; for other names an address derived from the name."""
    _, _, number = node.metadata.name.rpartition("-")
    last = whole_number(number)
    if last is None:
        last = sum(node.metadata.name.encode())
    return f"192.168.{last // 250 % 250}.{last % 250}"
