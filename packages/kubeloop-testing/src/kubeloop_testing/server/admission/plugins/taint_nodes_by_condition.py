"""The admission plugin TaintNodesByCondition: a new node is tainted until it is ready.

Guarantees: no pod runs on a new node before the node controller allows it.
"""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ...values.json_values import map_field
from ..plugin import Cluster, Plugin

__all__ = ["TAINT_NODES_BY_CONDITION"]

_TAINT: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def _mutate(_: Cluster, __: Call, node: Object) -> Object:
    return map_field(node, "spec", _with_taint, make=True)


def _with_taint(spec: Object) -> Object:
    taints = spec.get("taints") or []
    has_taint = any(_TAINT.items() <= taint.items() for taint in taints)
    return spec if has_taint else {**spec, "taints": [*taints, _TAINT]}


TAINT_NODES_BY_CONDITION: Final = Plugin("TaintNodesByCondition", mutate={("", "nodes"): _mutate})
