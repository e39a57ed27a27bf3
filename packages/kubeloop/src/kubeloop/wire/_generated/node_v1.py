# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Quantity
from . import core_v1, meta_v1

__all__ = [
    "Overhead",
    "RuntimeClass",
    "RuntimeClassList",
    "Scheduling",
]


class Overhead(Model):
    pod_fixed: dict[str, Quantity] = UNSET


class RuntimeClass(Resource, group="node.k8s.io", version="v1", plural="runtimeclasses", namespaced=False):
    handler: str = UNSET
    overhead: Overhead | None = None
    scheduling: Scheduling | None = None


class RuntimeClassList(Kind, group="node.k8s.io", version="v1"):
    items: list[RuntimeClass] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class Scheduling(Model):
    node_selector: dict[str, str] = UNSET
    tolerations: list[core_v1.Toleration] = UNSET
