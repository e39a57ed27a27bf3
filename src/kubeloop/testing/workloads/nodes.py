"""Nodes that are always ready, and what becomes of the pods of one that is removed.

Promises: every node of the server is ready, whoever made it; whose node goes, goes.
Elsewhere: putting pods on them (`kubelet`).
"""

from __future__ import annotations

from datetime import datetime

from kubeloop.clients import APIClient
from kubeloop.errors import AlreadyExists
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

VERSION = "v1.37.0"  # of the kubelet that the nodes pretend to have
_SIZE = {"cpu": Quantity("8"), "memory": Quantity("32Gi"), "pods": Quantity("1000")}


async def register_nodes(client: APIClient, count: int) -> None:
    """Have nodes called node-1, node-2, … there. Cancelled, some may be."""
    for number in range(1, count + 1):
        name = f"node-{number}"
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
        try:
            await client.resource(Node).create(Node(metadata=ObjectMeta(name=name, labels=labels)))
        except AlreadyExists:
            continue


async def reconcile_node(key: ObjectKey, ctx: Context) -> None:
    """Keep a node ready; once it is gone, its pods are. Cancelled, some of it may be done."""
    node = ctx.get(Node, key)
    if node is None:
        await _remove_pods(ctx, key.name)
    elif not is_condition_true(node.status.conditions, "Ready"):
        await save_status(ctx, node, _ready(node, ctx.now()))


async def _remove_pods(ctx: Context, node: str) -> None:
    for pod in ctx.lister(Pod).by_index("node", node):
        at = ctx.client.resource(Pod, namespace=pod.metadata.namespace)
        await at.delete(pod.metadata.name, grace_period=0, missing_ok=True)


def fits(spec: PodSpec, node: Node) -> bool:
    """Whether a pod may be put on a node."""
    wanted = spec.node_selector.items()
    return not node.spec.unschedulable and wanted <= node.metadata.labels.items()


def host_ip(ctx: Context, name: str) -> str:
    """The address of a node; one that is gone has none."""
    node = ctx.get(Node, ObjectKey("", name))
    return node.status.addresses[0].address if node is not None and node.status.addresses else ""


def _ready(node: Node, now: datetime) -> NodeStatus:
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
        allocatable=dict(_SIZE),
        capacity=dict(_SIZE),
        conditions=[ready],
        node_info=NodeSystemInfo(
            kubelet_version=VERSION, operating_system="linux", architecture="amd64"
        ),
    )


def _address(node: Node) -> str:
    """192.168.0.7 for node-7, and some address for a node of another name."""
    _, _, number = node.metadata.name.rpartition("-")
    last = int(number) if number.isdecimal() else sum(node.metadata.name.encode())
    return f"192.168.{last // 250 % 250}.{last % 250}"
