# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Time
from msgspec import field
from . import meta_v1

__all__ = [
    "CrossVersionObjectReference",
    "HorizontalPodAutoscaler",
    "HorizontalPodAutoscalerList",
    "HorizontalPodAutoscalerSpec",
    "HorizontalPodAutoscalerStatus",
    "Scale",
    "ScaleSpec",
    "ScaleStatus",
]


class CrossVersionObjectReference(Model):
    api_version: str | None = None
    kind: str = UNSET
    name: str = UNSET


class HorizontalPodAutoscaler(Resource, group="autoscaling", version="v1", plural="horizontalpodautoscalers"):
    spec: HorizontalPodAutoscalerSpec = UNSET
    status: HorizontalPodAutoscalerStatus = UNSET


class HorizontalPodAutoscalerList(Kind, group="autoscaling", version="v1"):
    items: list[HorizontalPodAutoscaler] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class HorizontalPodAutoscalerSpec(Model):
    max_replicas: int = UNSET
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = UNSET
    target_cpu_utilization_percentage: int | None = field(default=None, name="targetCPUUtilizationPercentage")


class HorizontalPodAutoscalerStatus(Model):
    current_cpu_utilization_percentage: int | None = field(default=None, name="currentCPUUtilizationPercentage")
    current_replicas: int = UNSET
    desired_replicas: int = UNSET
    last_scale_time: Time | None = None
    observed_generation: int | None = None


class Scale(Resource, group="autoscaling", version="v1"):
    spec: ScaleSpec = UNSET
    status: ScaleStatus = UNSET


class ScaleSpec(Model):
    replicas: int | None = None


class ScaleStatus(Model):
    replicas: int = UNSET
    selector: str | None = None
