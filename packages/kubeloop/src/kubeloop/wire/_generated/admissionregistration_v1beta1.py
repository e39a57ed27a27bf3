# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from . import meta_v1

__all__ = [
    "ApplyConfiguration",
    "JSONPatch",
    "MatchCondition",
    "MatchResources",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBindingList",
    "MutatingAdmissionPolicyBindingSpec",
    "MutatingAdmissionPolicyList",
    "MutatingAdmissionPolicySpec",
    "Mutation",
    "NamedRuleWithOperations",
    "ParamKind",
    "ParamRef",
    "Variable",
]


class ApplyConfiguration(Model):
    expression: str | None = None


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


class MutatingAdmissionPolicy(Resource, group="admissionregistration.k8s.io", version="v1beta1", plural="mutatingadmissionpolicies", namespaced=False):
    spec: MutatingAdmissionPolicySpec = UNSET


class MutatingAdmissionPolicyBinding(Resource, group="admissionregistration.k8s.io", version="v1beta1", plural="mutatingadmissionpolicybindings", namespaced=False):
    spec: MutatingAdmissionPolicyBindingSpec = UNSET


class MutatingAdmissionPolicyBindingList(Kind, group="admissionregistration.k8s.io", version="v1beta1"):
    items: list[MutatingAdmissionPolicyBinding] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class MutatingAdmissionPolicyBindingSpec(Model):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str | None = None


class MutatingAdmissionPolicyList(Kind, group="admissionregistration.k8s.io", version="v1beta1"):
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


class Variable(Model):
    expression: str = UNSET
    name: str = UNSET
