# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Model
from ..model import UNSET
from msgspec import field
from . import meta_v1

__all__ = [
    "FieldSelectorAttributes",
    "LabelSelectorAttributes",
    "LocalSubjectAccessReview",
    "NonResourceAttributes",
    "NonResourceRule",
    "ResourceAttributes",
    "ResourceRule",
    "SelfSubjectAccessReview",
    "SelfSubjectAccessReviewSpec",
    "SelfSubjectRulesReview",
    "SelfSubjectRulesReviewSpec",
    "SubjectAccessReview",
    "SubjectAccessReviewSpec",
    "SubjectAccessReviewStatus",
    "SubjectRulesReviewStatus",
]


class FieldSelectorAttributes(Model):
    raw_selector: str | None = None
    requirements: list[meta_v1.FieldSelectorRequirement] = UNSET


class LabelSelectorAttributes(Model):
    raw_selector: str | None = None
    requirements: list[meta_v1.LabelSelectorRequirement] = UNSET


class LocalSubjectAccessReview(Resource, group="authorization.k8s.io", version="v1", plural="localsubjectaccessreviews"):
    spec: SubjectAccessReviewSpec = UNSET
    status: SubjectAccessReviewStatus = UNSET


class NonResourceAttributes(Model):
    path: str | None = None
    verb: str | None = None


class NonResourceRule(Model):
    non_resource_urls: list[str] = field(default=UNSET, name="nonResourceURLs")
    verbs: list[str] = UNSET


class ResourceAttributes(Model):
    field_selector: FieldSelectorAttributes | None = None
    group: str | None = None
    label_selector: LabelSelectorAttributes | None = None
    name: str | None = None
    namespace: str | None = None
    resource: str | None = None
    subresource: str | None = None
    verb: str | None = None
    version: str | None = None


class ResourceRule(Model):
    api_groups: list[str] = UNSET
    resource_names: list[str] = UNSET
    resources: list[str] = UNSET
    verbs: list[str] = UNSET


class SelfSubjectAccessReview(Resource, group="authorization.k8s.io", version="v1", plural="selfsubjectaccessreviews", namespaced=False):
    spec: SelfSubjectAccessReviewSpec = UNSET
    status: SubjectAccessReviewStatus = UNSET


class SelfSubjectAccessReviewSpec(Model):
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None


class SelfSubjectRulesReview(Resource, group="authorization.k8s.io", version="v1", plural="selfsubjectrulesreviews", namespaced=False):
    spec: SelfSubjectRulesReviewSpec = UNSET
    status: SubjectRulesReviewStatus = UNSET


class SelfSubjectRulesReviewSpec(Model):
    namespace: str | None = None


class SubjectAccessReview(Resource, group="authorization.k8s.io", version="v1", plural="subjectaccessreviews", namespaced=False):
    spec: SubjectAccessReviewSpec = UNSET
    status: SubjectAccessReviewStatus = UNSET


class SubjectAccessReviewSpec(Model):
    extra: dict[str, list[str]] = UNSET
    groups: list[str] = UNSET
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None
    uid: str | None = None
    user: str | None = None


class SubjectAccessReviewStatus(Model):
    allowed: bool = UNSET
    denied: bool | None = None
    evaluation_error: str | None = None
    reason: str | None = None


class SubjectRulesReviewStatus(Model):
    evaluation_error: str | None = None
    incomplete: bool = UNSET
    non_resource_rules: list[NonResourceRule] = UNSET
    resource_rules: list[ResourceRule] = UNSET
