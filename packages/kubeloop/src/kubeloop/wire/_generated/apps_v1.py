# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import IntOrString
from ..scalars import Time
from typing import Any
from typing import ClassVar
from . import core_v1, meta_v1

__all__ = [
    "ControllerRevision",
    "ControllerRevisionList",
    "DaemonSet",
    "DaemonSetCondition",
    "DaemonSetList",
    "DaemonSetSpec",
    "DaemonSetStatus",
    "DaemonSetUpdateStrategy",
    "Deployment",
    "DeploymentCondition",
    "DeploymentList",
    "DeploymentSpec",
    "DeploymentStatus",
    "DeploymentStrategy",
    "ReplicaSet",
    "ReplicaSetCondition",
    "ReplicaSetList",
    "ReplicaSetSpec",
    "ReplicaSetStatus",
    "RollingUpdateDaemonSet",
    "RollingUpdateDeployment",
    "RollingUpdateStatefulSetStrategy",
    "StatefulSet",
    "StatefulSetCondition",
    "StatefulSetList",
    "StatefulSetOrdinals",
    "StatefulSetPersistentVolumeClaimRetentionPolicy",
    "StatefulSetSpec",
    "StatefulSetStatus",
    "StatefulSetUpdateStrategy",
]


class ControllerRevision(Resource, group="apps", version="v1", plural="controllerrevisions"):
    data: dict[str, Any] = UNSET
    revision: int | None = None


class ControllerRevisionList(Kind, group="apps", version="v1"):
    items: list[ControllerRevision] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class DaemonSet(Resource, group="apps", version="v1", plural="daemonsets"):
    spec: DaemonSetSpec = UNSET
    status: DaemonSetStatus = UNSET


class DaemonSetCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str | None = None


class DaemonSetList(Kind, group="apps", version="v1"):
    items: list[DaemonSet] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class DaemonSetSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['update_strategy'])
    min_ready_seconds: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector = UNSET
    template: core_v1.PodTemplateSpec = UNSET
    update_strategy: DaemonSetUpdateStrategy = UNSET


class DaemonSetStatus(Model):
    collision_count: int | None = None
    conditions: list[DaemonSetCondition] = UNSET
    current_number_scheduled: int = UNSET
    desired_number_scheduled: int = UNSET
    number_available: int | None = None
    number_misscheduled: int = UNSET
    number_ready: int = UNSET
    number_unavailable: int | None = None
    observed_generation: int | None = None
    updated_number_scheduled: int | None = None


class DaemonSetUpdateStrategy(Model):
    rolling_update: RollingUpdateDaemonSet | None = None
    type: str | None = None


class Deployment(Resource, group="apps", version="v1", plural="deployments"):
    spec: DeploymentSpec = UNSET
    status: DeploymentStatus = UNSET


class DeploymentCondition(Model):
    last_transition_time: Time | None = None
    last_update_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str | None = None


class DeploymentList(Kind, group="apps", version="v1"):
    items: list[Deployment] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class DeploymentSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['strategy'])
    min_ready_seconds: int | None = None
    paused: bool | None = None
    progress_deadline_seconds: int | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector = UNSET
    strategy: DeploymentStrategy = UNSET
    template: core_v1.PodTemplateSpec = UNSET


class DeploymentStatus(Model):
    available_replicas: int | None = None
    collision_count: int | None = None
    conditions: list[DeploymentCondition] = UNSET
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    terminating_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class DeploymentStrategy(Model):
    rolling_update: RollingUpdateDeployment | None = None
    type: str | None = None


class ReplicaSet(Resource, group="apps", version="v1", plural="replicasets"):
    spec: ReplicaSetSpec = UNSET
    status: ReplicaSetStatus = UNSET


class ReplicaSetCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str | None = None


class ReplicaSetList(Kind, group="apps", version="v1"):
    items: list[ReplicaSet] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ReplicaSetSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['template'])
    min_ready_seconds: int | None = None
    replicas: int | None = None
    selector: meta_v1.LabelSelector = UNSET
    template: core_v1.PodTemplateSpec = UNSET


class ReplicaSetStatus(Model):
    available_replicas: int | None = None
    conditions: list[ReplicaSetCondition] = UNSET
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = UNSET
    terminating_replicas: int | None = None


class RollingUpdateDaemonSet(Model):
    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class RollingUpdateDeployment(Model):
    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class RollingUpdateStatefulSetStrategy(Model):
    max_unavailable: IntOrString | None = None
    partition: int | None = None


class StatefulSet(Resource, group="apps", version="v1", plural="statefulsets"):
    spec: StatefulSetSpec = UNSET
    status: StatefulSetStatus = UNSET


class StatefulSetCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str | None = None


class StatefulSetList(Kind, group="apps", version="v1"):
    items: list[StatefulSet] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class StatefulSetOrdinals(Model):
    start: int | None = None


class StatefulSetPersistentVolumeClaimRetentionPolicy(Model):
    when_deleted: str | None = None
    when_scaled: str | None = None


class StatefulSetSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['update_strategy'])
    min_ready_seconds: int | None = None
    ordinals: StatefulSetOrdinals | None = None
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    pod_management_policy: str | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector = UNSET
    service_name: str | None = None
    template: core_v1.PodTemplateSpec = UNSET
    update_strategy: StatefulSetUpdateStrategy = UNSET
    volume_claim_templates: list[core_v1.PersistentVolumeClaim] = UNSET


class StatefulSetStatus(Model):
    available_replicas: int | None = None
    collision_count: int | None = None
    conditions: list[StatefulSetCondition] = UNSET
    current_replicas: int | None = None
    current_revision: str | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = UNSET
    update_revision: str | None = None
    updated_replicas: int | None = None


class StatefulSetUpdateStrategy(Model):
    rolling_update: RollingUpdateStatefulSetStrategy | None = None
    type: str | None = None
