# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Quantity
from ..scalars import Time
from . import meta_v1

__all__ = [
    "ContainerResourceMetricSource",
    "ContainerResourceMetricStatus",
    "CrossVersionObjectReference",
    "ExternalMetricSource",
    "ExternalMetricStatus",
    "HPAScalingPolicy",
    "HPAScalingRules",
    "HorizontalPodAutoscaler",
    "HorizontalPodAutoscalerBehavior",
    "HorizontalPodAutoscalerCondition",
    "HorizontalPodAutoscalerList",
    "HorizontalPodAutoscalerSpec",
    "HorizontalPodAutoscalerStatus",
    "MetricIdentifier",
    "MetricSpec",
    "MetricStatus",
    "MetricTarget",
    "MetricValueStatus",
    "ObjectMetricSource",
    "ObjectMetricStatus",
    "PodsMetricSource",
    "PodsMetricStatus",
    "ResourceMetricSource",
    "ResourceMetricStatus",
]


class ContainerResourceMetricSource(Model):
    container: str = UNSET
    name: str = UNSET
    target: MetricTarget = UNSET


class ContainerResourceMetricStatus(Model):
    container: str = UNSET
    current: MetricValueStatus = UNSET
    name: str = UNSET


class CrossVersionObjectReference(Model):
    api_version: str | None = None
    kind: str = UNSET
    name: str = UNSET


class ExternalMetricSource(Model):
    metric: MetricIdentifier = UNSET
    target: MetricTarget = UNSET


class ExternalMetricStatus(Model):
    current: MetricValueStatus = UNSET
    metric: MetricIdentifier = UNSET


class HPAScalingPolicy(Model):
    period_seconds: int = UNSET
    type: str = UNSET
    value: int = UNSET


class HPAScalingRules(Model):
    policies: list[HPAScalingPolicy] = UNSET
    select_policy: str | None = None
    stabilization_window_seconds: int | None = None
    tolerance: Quantity | None = None


class HorizontalPodAutoscaler(Resource, group="autoscaling", version="v2", plural="horizontalpodautoscalers"):
    spec: HorizontalPodAutoscalerSpec = UNSET
    status: HorizontalPodAutoscalerStatus = UNSET


class HorizontalPodAutoscalerBehavior(Model):
    scale_down: HPAScalingRules | None = None
    scale_up: HPAScalingRules | None = None


class HorizontalPodAutoscalerCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class HorizontalPodAutoscalerList(Kind, group="autoscaling", version="v2"):
    items: list[HorizontalPodAutoscaler] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class HorizontalPodAutoscalerSpec(Model):
    behavior: HorizontalPodAutoscalerBehavior | None = None
    max_replicas: int = UNSET
    metrics: list[MetricSpec] = UNSET
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = UNSET


class HorizontalPodAutoscalerStatus(Model):
    conditions: list[HorizontalPodAutoscalerCondition] = UNSET
    current_metrics: list[MetricStatus] = UNSET
    current_replicas: int | None = None
    desired_replicas: int = UNSET
    last_scale_time: Time | None = None
    observed_generation: int | None = None


class MetricIdentifier(Model):
    name: str = UNSET
    selector: meta_v1.LabelSelector | None = None


class MetricSpec(Model):
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    type: str = UNSET


class MetricStatus(Model):
    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    type: str = UNSET


class MetricTarget(Model):
    average_utilization: int | None = None
    average_value: Quantity | None = None
    type: str = UNSET
    value: Quantity | None = None


class MetricValueStatus(Model):
    average_utilization: int | None = None
    average_value: Quantity | None = None
    value: Quantity | None = None


class ObjectMetricSource(Model):
    described_object: CrossVersionObjectReference = UNSET
    metric: MetricIdentifier = UNSET
    target: MetricTarget = UNSET


class ObjectMetricStatus(Model):
    current: MetricValueStatus = UNSET
    described_object: CrossVersionObjectReference = UNSET
    metric: MetricIdentifier = UNSET


class PodsMetricSource(Model):
    metric: MetricIdentifier = UNSET
    target: MetricTarget = UNSET


class PodsMetricStatus(Model):
    current: MetricValueStatus = UNSET
    metric: MetricIdentifier = UNSET


class ResourceMetricSource(Model):
    name: str = UNSET
    target: MetricTarget = UNSET


class ResourceMetricStatus(Model):
    current: MetricValueStatus = UNSET
    name: str = UNSET
