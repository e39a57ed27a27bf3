# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import IntOrString
from ..scalars import Time
from . import meta_v1

__all__ = [
    "Eviction",
    "PodDisruptionBudget",
    "PodDisruptionBudgetList",
    "PodDisruptionBudgetSpec",
    "PodDisruptionBudgetStatus",
]


class Eviction(Resource, group="policy", version="v1"):
    delete_options: meta_v1.DeleteOptions | None = None


class PodDisruptionBudget(Resource, group="policy", version="v1", plural="poddisruptionbudgets"):
    spec: PodDisruptionBudgetSpec = UNSET
    status: PodDisruptionBudgetStatus = UNSET


class PodDisruptionBudgetList(Kind, group="policy", version="v1"):
    items: list[PodDisruptionBudget] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PodDisruptionBudgetSpec(Model):
    max_unavailable: IntOrString | None = None
    min_available: IntOrString | None = None
    selector: meta_v1.LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET
    current_healthy: int | None = None
    desired_healthy: int | None = None
    disrupted_pods: dict[str, Time] = UNSET
    disruptions_allowed: int | None = None
    expected_pods: int | None = None
    observed_generation: int | None = None
