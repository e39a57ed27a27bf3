# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import UNSET
from . import meta_v1

__all__ = [
    "PriorityClass",
    "PriorityClassList",
]


class PriorityClass(Resource, group="scheduling.k8s.io", version="v1", plural="priorityclasses", namespaced=False):
    description: str | None = None
    global_default: bool | None = None
    preemption_policy: str | None = None
    value: int | None = None


class PriorityClassList(Kind, group="scheduling.k8s.io", version="v1"):
    items: list[PriorityClass] = UNSET
    metadata: meta_v1.ListMeta = UNSET
