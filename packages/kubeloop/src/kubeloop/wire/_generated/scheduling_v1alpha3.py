# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..model import Model
from ..model import UNSET

__all__ = [
    "TopologyConstraint",
    "WorkloadPodGroupAllDisruptionMode",
    "WorkloadPodGroupBasicSchedulingPolicy",
    "WorkloadPodGroupDisruptionMode",
    "WorkloadPodGroupGangSchedulingPolicy",
    "WorkloadPodGroupResourceClaim",
    "WorkloadPodGroupSchedulingConstraints",
    "WorkloadPodGroupSchedulingPolicy",
    "WorkloadPodGroupSingleDisruptionMode",
]


class TopologyConstraint(Model):
    key: str = UNSET


class WorkloadPodGroupAllDisruptionMode(Model):
    pass


class WorkloadPodGroupBasicSchedulingPolicy(Model):
    pass


class WorkloadPodGroupDisruptionMode(Model):
    all: WorkloadPodGroupAllDisruptionMode | None = None
    single: WorkloadPodGroupSingleDisruptionMode | None = None


class WorkloadPodGroupGangSchedulingPolicy(Model):
    min_count: int | None = None


class WorkloadPodGroupResourceClaim(Model):
    name: str = UNSET
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadPodGroupSchedulingConstraints(Model):
    topology: list[TopologyConstraint] = UNSET


class WorkloadPodGroupSchedulingPolicy(Model):
    basic: WorkloadPodGroupBasicSchedulingPolicy | None = None
    gang: WorkloadPodGroupGangSchedulingPolicy | None = None


class WorkloadPodGroupSingleDisruptionMode(Model):
    pass
