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
    "ExemptPriorityLevelConfiguration",
    "FlowDistinguisherMethod",
    "FlowSchema",
    "FlowSchemaCondition",
    "FlowSchemaList",
    "FlowSchemaSpec",
    "FlowSchemaStatus",
    "GroupSubject",
    "LimitResponse",
    "LimitedPriorityLevelConfiguration",
    "NonResourcePolicyRule",
    "PolicyRulesWithSubjects",
    "PriorityLevelConfiguration",
    "PriorityLevelConfigurationCondition",
    "PriorityLevelConfigurationList",
    "PriorityLevelConfigurationReference",
    "PriorityLevelConfigurationSpec",
    "PriorityLevelConfigurationStatus",
    "QueuingConfiguration",
    "ResourcePolicyRule",
    "ServiceAccountSubject",
    "Subject",
    "UserSubject",
]


class ExemptPriorityLevelConfiguration(Model):
    lendable_percent: int | None = None
    nominal_concurrency_shares: int | None = None


class FlowDistinguisherMethod(Model):
    type: str = UNSET


class FlowSchema(Resource, group="flowcontrol.apiserver.k8s.io", version="v1", plural="flowschemas", namespaced=False):
    spec: FlowSchemaSpec = UNSET
    status: FlowSchemaStatus = UNSET


class FlowSchemaCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str = UNSET


class FlowSchemaList(Kind, group="flowcontrol.apiserver.k8s.io", version="v1"):
    items: list[FlowSchema] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class FlowSchemaSpec(Model):
    distinguisher_method: FlowDistinguisherMethod | None = None
    matching_precedence: int | None = None
    priority_level_configuration: PriorityLevelConfigurationReference = UNSET
    rules: list[PolicyRulesWithSubjects] = UNSET


class FlowSchemaStatus(Model):
    conditions: list[FlowSchemaCondition] = UNSET


class GroupSubject(Model):
    name: str = UNSET


class LimitResponse(Model):
    queuing: QueuingConfiguration | None = None
    type: str = UNSET


class LimitedPriorityLevelConfiguration(Model):
    borrowing_limit_percent: int | None = None
    lendable_percent: int | None = None
    limit_response: LimitResponse = UNSET
    nominal_concurrency_shares: int | None = None


class NonResourcePolicyRule(Model):
    non_resource_urls: list[str] = field(default=UNSET, name="nonResourceURLs")
    verbs: list[str] = UNSET


class PolicyRulesWithSubjects(Model):
    non_resource_rules: list[NonResourcePolicyRule] = UNSET
    resource_rules: list[ResourcePolicyRule] = UNSET
    subjects: list[Subject] = UNSET


class PriorityLevelConfiguration(Resource, group="flowcontrol.apiserver.k8s.io", version="v1", plural="prioritylevelconfigurations", namespaced=False):
    spec: PriorityLevelConfigurationSpec = UNSET
    status: PriorityLevelConfigurationStatus = UNSET


class PriorityLevelConfigurationCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str = UNSET


class PriorityLevelConfigurationList(Kind, group="flowcontrol.apiserver.k8s.io", version="v1"):
    items: list[PriorityLevelConfiguration] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PriorityLevelConfigurationReference(Model):
    name: str = UNSET


class PriorityLevelConfigurationSpec(Model):
    exempt: ExemptPriorityLevelConfiguration | None = None
    limited: LimitedPriorityLevelConfiguration | None = None
    type: str = UNSET


class PriorityLevelConfigurationStatus(Model):
    conditions: list[PriorityLevelConfigurationCondition] = UNSET


class QueuingConfiguration(Model):
    hand_size: int | None = None
    queue_length_limit: int | None = None
    queues: int | None = None


class ResourcePolicyRule(Model):
    api_groups: list[str] = UNSET
    cluster_scope: bool | None = None
    namespaces: list[str] = UNSET
    resources: list[str] = UNSET
    verbs: list[str] = UNSET


class ServiceAccountSubject(Model):
    name: str = UNSET
    namespace: str = UNSET


class Subject(Model):
    group: GroupSubject | None = None
    kind: str = UNSET
    service_account: ServiceAccountSubject | None = None
    user: UserSubject | None = None


class UserSubject(Model):
    name: str = UNSET
