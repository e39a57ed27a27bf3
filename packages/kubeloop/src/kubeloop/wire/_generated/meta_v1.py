# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Time
from msgspec import field
from typing import Any
from typing import ClassVar

__all__ = [
    "APIGroup",
    "APIGroupList",
    "APIResource",
    "APIResourceList",
    "APIVersions",
    "Condition",
    "DeleteOptions",
    "FieldSelectorRequirement",
    "GroupResource",
    "GroupVersionForDiscovery",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ListMeta",
    "ManagedFieldsEntry",
    "ObjectMeta",
    "OwnerReference",
    "Preconditions",
    "ServerAddressByClientCIDR",
    "ShardInfo",
    "Status",
    "StatusCause",
    "StatusDetails",
    "WatchEvent",
]


class APIGroup(Kind, group="", version="v1"):
    __optional__: ClassVar[frozenset[str]] = frozenset(['preferred_version'])
    name: str = UNSET
    preferred_version: GroupVersionForDiscovery = UNSET
    server_address_by_client_cidrs: list[ServerAddressByClientCIDR] = field(default=UNSET, name="serverAddressByClientCIDRs")
    versions: list[GroupVersionForDiscovery] = UNSET


class APIGroupList(Kind, group="", version="v1"):
    groups: list[APIGroup] = UNSET


class APIResource(Model):
    categories: list[str] = UNSET
    group: str | None = None
    kind: str = UNSET
    name: str = UNSET
    namespaced: bool = UNSET
    short_names: list[str] = UNSET
    singular_name: str = UNSET
    storage_version_hash: str | None = None
    verbs: list[str] = UNSET
    version: str | None = None


class APIResourceList(Kind, group="", version="v1"):
    group_version: str = UNSET
    resources: list[APIResource] = UNSET


class APIVersions(Kind, group="", version="v1"):
    server_address_by_client_cidrs: list[ServerAddressByClientCIDR] = field(default=UNSET, name="serverAddressByClientCIDRs")
    versions: list[str] = UNSET


class Condition(Model):
    last_transition_time: Time | None = None
    message: str = UNSET
    observed_generation: int | None = None
    reason: str = UNSET
    status: str = UNSET
    type: str = UNSET


class DeleteOptions(Kind, group="", version="v1"):
    dry_run: list[str] = UNSET
    grace_period_seconds: int | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    orphan_dependents: bool | None = None
    preconditions: Preconditions | None = None
    propagation_policy: str | None = None


class FieldSelectorRequirement(Model):
    key: str = UNSET
    operator: str = UNSET
    values: list[str] = UNSET


class GroupResource(Model):
    group: str = UNSET
    resource: str = UNSET


class GroupVersionForDiscovery(Model):
    group_version: str = UNSET
    version: str = UNSET


class LabelSelector(Model):
    match_expressions: list[LabelSelectorRequirement] = UNSET
    match_labels: dict[str, str] = UNSET


class LabelSelectorRequirement(Model):
    key: str = UNSET
    operator: str = UNSET
    values: list[str] = UNSET


class ListMeta(Model):
    continue_: str = UNSET
    remaining_item_count: int = UNSET
    resource_version: str = UNSET
    self_link: str = UNSET
    shard_info: ShardInfo | None = None


class ManagedFieldsEntry(Model):
    __lazy__: ClassVar[frozenset[str]] = frozenset(['fields_v1'])
    api_version: str | None = None
    fields_type: str | None = None
    fields_v1: dict[str, Any] = UNSET
    manager: str | None = None
    operation: str | None = None
    subresource: str | None = None
    time: Time | None = None


class ObjectMeta(Model):
    annotations: dict[str, str] = UNSET
    creation_timestamp: Time | None = None
    deletion_grace_period_seconds: int = UNSET
    deletion_timestamp: Time | None = None
    finalizers: list[str] = UNSET
    generate_name: str = UNSET
    generation: int = UNSET
    labels: dict[str, str] = UNSET
    managed_fields: list[ManagedFieldsEntry] = UNSET
    name: str = UNSET
    namespace: str = UNSET
    owner_references: list[OwnerReference] = UNSET
    resource_version: str = UNSET
    self_link: str = UNSET
    uid: str = UNSET


class OwnerReference(Model):
    api_version: str = UNSET
    block_owner_deletion: bool | None = None
    controller: bool | None = None
    kind: str = UNSET
    name: str = UNSET
    uid: str = UNSET


class Preconditions(Model):
    resource_version: str | None = None
    uid: str | None = None


class ServerAddressByClientCIDR(Model):
    client_cidr: str = field(default=UNSET, name="clientCIDR")
    server_address: str = UNSET


class ShardInfo(Model):
    selector: str = UNSET


class Status(Kind, group="", version="v1"):
    code: int | None = None
    details: StatusDetails | None = None
    message: str | None = None
    metadata: ListMeta = UNSET
    reason: str | None = None
    status: str = UNSET


class StatusCause(Model):
    field: str | None = None
    message: str | None = None
    reason: str | None = None


class StatusDetails(Model):
    causes: list[StatusCause] = UNSET
    group: str | None = None
    kind: str | None = None
    name: str | None = None
    retry_after_seconds: int | None = None
    uid: str | None = None


class WatchEvent(Model):
    object: dict[str, Any] = UNSET
    type: str = UNSET
