# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from . import meta_v1

__all__ = [
    "ApplyConfiguration",
    "AuditAnnotation",
    "ExpressionWarning",
    "JSONPatch",
    "MatchCondition",
    "MatchResources",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBindingList",
    "MutatingAdmissionPolicyBindingSpec",
    "MutatingAdmissionPolicyList",
    "MutatingAdmissionPolicySpec",
    "MutatingWebhook",
    "MutatingWebhookConfiguration",
    "MutatingWebhookConfigurationList",
    "Mutation",
    "NamedRuleWithOperations",
    "ParamKind",
    "ParamRef",
    "RuleWithOperations",
    "ServiceReference",
    "TypeChecking",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicyBindingList",
    "ValidatingAdmissionPolicyBindingSpec",
    "ValidatingAdmissionPolicyList",
    "ValidatingAdmissionPolicySpec",
    "ValidatingAdmissionPolicyStatus",
    "ValidatingWebhook",
    "ValidatingWebhookConfiguration",
    "ValidatingWebhookConfigurationList",
    "Validation",
    "Variable",
    "WebhookClientConfig",
]


class ApplyConfiguration(Model):
    expression: str | None = None


class AuditAnnotation(Model):
    key: str = UNSET
    value_expression: str = UNSET


class ExpressionWarning(Model):
    field_ref: str = UNSET
    warning: str = UNSET


class JSONPatch(Model):
    expression: str | None = None


class MatchCondition(Model):
    expression: str = UNSET
    name: str = UNSET


class MatchResources(Model):
    exclude_resource_rules: list[NamedRuleWithOperations] = UNSET
    match_policy: str | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    resource_rules: list[NamedRuleWithOperations] = UNSET


class MutatingAdmissionPolicy(Resource, group="admissionregistration.k8s.io", version="v1", plural="mutatingadmissionpolicies", namespaced=False):
    spec: MutatingAdmissionPolicySpec = UNSET


class MutatingAdmissionPolicyBinding(Resource, group="admissionregistration.k8s.io", version="v1", plural="mutatingadmissionpolicybindings", namespaced=False):
    spec: MutatingAdmissionPolicyBindingSpec = UNSET


class MutatingAdmissionPolicyBindingList(Kind, group="admissionregistration.k8s.io", version="v1"):
    items: list[MutatingAdmissionPolicyBinding] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class MutatingAdmissionPolicyBindingSpec(Model):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str | None = None


class MutatingAdmissionPolicyList(Kind, group="admissionregistration.k8s.io", version="v1"):
    items: list[MutatingAdmissionPolicy] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class MutatingAdmissionPolicySpec(Model):
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = UNSET
    match_constraints: MatchResources | None = None
    mutations: list[Mutation] = UNSET
    param_kind: ParamKind | None = None
    reinvocation_policy: str | None = None
    variables: list[Variable] = UNSET


class MutatingWebhook(Model):
    admission_review_versions: list[str] = UNSET
    client_config: WebhookClientConfig = UNSET
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = UNSET
    match_policy: str | None = None
    name: str = UNSET
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    reinvocation_policy: str | None = None
    rules: list[RuleWithOperations] = UNSET
    side_effects: str = UNSET
    timeout_seconds: int | None = None


class MutatingWebhookConfiguration(Resource, group="admissionregistration.k8s.io", version="v1", plural="mutatingwebhookconfigurations", namespaced=False):
    webhooks: list[MutatingWebhook] = UNSET


class MutatingWebhookConfigurationList(Kind, group="admissionregistration.k8s.io", version="v1"):
    items: list[MutatingWebhookConfiguration] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class Mutation(Model):
    apply_configuration: ApplyConfiguration | None = None
    json_patch: JSONPatch | None = None
    patch_type: str = UNSET


class NamedRuleWithOperations(Model):
    api_groups: list[str] = UNSET
    api_versions: list[str] = UNSET
    operations: list[str] = UNSET
    resource_names: list[str] = UNSET
    resources: list[str] = UNSET
    scope: str | None = None


class ParamKind(Model):
    api_version: str | None = None
    kind: str | None = None


class ParamRef(Model):
    name: str | None = None
    namespace: str | None = None
    parameter_not_found_action: str | None = None
    selector: meta_v1.LabelSelector | None = None


class RuleWithOperations(Model):
    api_groups: list[str] = UNSET
    api_versions: list[str] = UNSET
    operations: list[str] = UNSET
    resources: list[str] = UNSET
    scope: str | None = None


class ServiceReference(Model):
    name: str = UNSET
    namespace: str = UNSET
    path: str | None = None
    port: int | None = None


class TypeChecking(Model):
    expression_warnings: list[ExpressionWarning] = UNSET


class ValidatingAdmissionPolicy(Resource, group="admissionregistration.k8s.io", version="v1", plural="validatingadmissionpolicies", namespaced=False):
    spec: ValidatingAdmissionPolicySpec = UNSET
    status: ValidatingAdmissionPolicyStatus = UNSET


class ValidatingAdmissionPolicyBinding(Resource, group="admissionregistration.k8s.io", version="v1", plural="validatingadmissionpolicybindings", namespaced=False):
    spec: ValidatingAdmissionPolicyBindingSpec = UNSET


class ValidatingAdmissionPolicyBindingList(Kind, group="admissionregistration.k8s.io", version="v1"):
    items: list[ValidatingAdmissionPolicyBinding] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ValidatingAdmissionPolicyBindingSpec(Model):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str = UNSET
    validation_actions: list[str] = UNSET


class ValidatingAdmissionPolicyList(Kind, group="admissionregistration.k8s.io", version="v1"):
    items: list[ValidatingAdmissionPolicy] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ValidatingAdmissionPolicySpec(Model):
    audit_annotations: list[AuditAnnotation] = UNSET
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = UNSET
    match_constraints: MatchResources | None = None
    param_kind: ParamKind | None = None
    validations: list[Validation] = UNSET
    variables: list[Variable] = UNSET


class ValidatingAdmissionPolicyStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET
    observed_generation: int | None = None
    type_checking: TypeChecking | None = None


class ValidatingWebhook(Model):
    admission_review_versions: list[str] = UNSET
    client_config: WebhookClientConfig = UNSET
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = UNSET
    match_policy: str | None = None
    name: str = UNSET
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    rules: list[RuleWithOperations] = UNSET
    side_effects: str = UNSET
    timeout_seconds: int | None = None


class ValidatingWebhookConfiguration(Resource, group="admissionregistration.k8s.io", version="v1", plural="validatingwebhookconfigurations", namespaced=False):
    webhooks: list[ValidatingWebhook] = UNSET


class ValidatingWebhookConfigurationList(Kind, group="admissionregistration.k8s.io", version="v1"):
    items: list[ValidatingWebhookConfiguration] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class Validation(Model):
    expression: str = UNSET
    message: str | None = None
    message_expression: str | None = None
    reason: str | None = None


class Variable(Model):
    expression: str = UNSET
    name: str = UNSET


class WebhookClientConfig(Model):
    ca_bundle: bytes | None = None
    service: ServiceReference | None = None
    url: str | None = None
