# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from msgspec import field
from . import meta_v1

__all__ = [
    "AggregationRule",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "ClusterRoleList",
    "PolicyRule",
    "Role",
    "RoleBinding",
    "RoleBindingList",
    "RoleList",
    "RoleRef",
    "Subject",
]


class AggregationRule(Model):
    cluster_role_selectors: list[meta_v1.LabelSelector] = UNSET


class ClusterRole(Resource, group="rbac.authorization.k8s.io", version="v1", plural="clusterroles", namespaced=False):
    aggregation_rule: AggregationRule | None = None
    rules: list[PolicyRule] = UNSET


class ClusterRoleBinding(Resource, group="rbac.authorization.k8s.io", version="v1", plural="clusterrolebindings", namespaced=False):
    role_ref: RoleRef = UNSET
    subjects: list[Subject] = UNSET


class ClusterRoleBindingList(Kind, group="rbac.authorization.k8s.io", version="v1"):
    items: list[ClusterRoleBinding] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ClusterRoleList(Kind, group="rbac.authorization.k8s.io", version="v1"):
    items: list[ClusterRole] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PolicyRule(Model):
    api_groups: list[str] = UNSET
    non_resource_urls: list[str] = field(default=UNSET, name="nonResourceURLs")
    resource_names: list[str] = UNSET
    resources: list[str] = UNSET
    verbs: list[str] = UNSET


class Role(Resource, group="rbac.authorization.k8s.io", version="v1", plural="roles"):
    rules: list[PolicyRule] = UNSET


class RoleBinding(Resource, group="rbac.authorization.k8s.io", version="v1", plural="rolebindings"):
    role_ref: RoleRef = UNSET
    subjects: list[Subject] = UNSET


class RoleBindingList(Kind, group="rbac.authorization.k8s.io", version="v1"):
    items: list[RoleBinding] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class RoleList(Kind, group="rbac.authorization.k8s.io", version="v1"):
    items: list[Role] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class RoleRef(Model):
    api_group: str | None = None
    kind: str = UNSET
    name: str = UNSET


class Subject(Model):
    api_group: str | None = None
    kind: str = UNSET
    name: str = UNSET
    namespace: str | None = None
