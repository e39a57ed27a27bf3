"""The admission plugin PodTopologyLabels: pods have the zone and the region of their node.

Guarantees: a pod that is created on a node, or bound to one, has the labels of that node; labels
in the Binding itself win.
See also: `verbs.bindings` (copies the labels of a Binding to its pod).
"""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ...values.json_values import value_at
from ..plugin import PODS, Cluster, Plugin

__all__ = ["POD_TOPOLOGY_LABELS"]

_LABELS: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def _mutate_pod(cluster: Cluster, _: Call, pod: Object) -> Object:
    name = value_at(pod, "spec", "nodeName")
    labels = _topology(cluster, name) if name else {}
    if not labels:
        return pod
    meta = pod["metadata"]
    own = {**(meta.get("labels") or {}), **labels}
    return {**pod, "metadata": {**meta, "labels": own}}


def _mutate_binding(cluster: Cluster, _: Call, binding: Object) -> Object:
    target = binding.get("target") or {}
    labels = _topology(cluster, target["name"]) if target.get("kind") == "Node" else {}
    if not labels:
        return binding
    meta = binding.get("metadata") or {}
    own = {**labels, **(meta.get("labels") or {})}
    return {**binding, "metadata": {**meta, "labels": own}}


def _topology(cluster: Cluster, node: str) -> dict[str, str]:
    labels = value_at(cluster.find("", "nodes", node), "metadata", "labels") or {}
    return {key: labels[key] for key in _LABELS if key in labels}


POD_TOPOLOGY_LABELS: Final = Plugin(
    "PodTopologyLabels", mutate={PODS: _mutate_pod, ("", "pods/binding"): _mutate_binding}
)
