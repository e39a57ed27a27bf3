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
    "DeviceTaint",
    "DeviceTaintRule",
    "DeviceTaintRuleList",
    "DeviceTaintRuleSpec",
    "DeviceTaintRuleStatus",
    "DeviceTaintSelector",
    "PartitionTypeStatus",
    "PoolStatus",
    "ResourcePoolStatusRequest",
    "ResourcePoolStatusRequestList",
    "ResourcePoolStatusRequestSpec",
    "ResourcePoolStatusRequestStatus",
    "ShareableCapacityStatus",
    "ShareableSummaryStatus",
]


class DeviceTaint(Model):
    effect: str = UNSET
    key: str = UNSET
    time_added: Time | None = None
    value: str | None = None


class DeviceTaintRule(Resource, group="resource.k8s.io", version="v1alpha3", plural="devicetaintrules", namespaced=False):
    spec: DeviceTaintRuleSpec = UNSET
    status: DeviceTaintRuleStatus = UNSET


class DeviceTaintRuleList(Kind, group="resource.k8s.io", version="v1alpha3"):
    items: list[DeviceTaintRule] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class DeviceTaintRuleSpec(Model):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = UNSET


class DeviceTaintRuleStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET


class DeviceTaintSelector(Model):
    device: str | None = None
    driver: str | None = None
    pool: str | None = None


class PartitionTypeStatus(Model):
    allocatable: int = UNSET
    attribute: str = UNSET
    total: int = UNSET
    type: str = UNSET


class PoolStatus(Model):
    allocated_devices: int | None = None
    available_devices: int | None = None
    driver: str = UNSET
    generation: int = UNSET
    node_name: str | None = None
    partition_summary: list[PartitionTypeStatus] = UNSET
    pool_name: str = UNSET
    resource_slice_count: int | None = None
    shareable_summary: ShareableSummaryStatus | None = None
    total_devices: int | None = None
    unavailable_devices: int | None = None
    validation_error: str | None = None


class ResourcePoolStatusRequest(Resource, group="resource.k8s.io", version="v1alpha3", plural="resourcepoolstatusrequests", namespaced=False):
    spec: ResourcePoolStatusRequestSpec = UNSET
    status: ResourcePoolStatusRequestStatus = UNSET


class ResourcePoolStatusRequestList(Kind, group="resource.k8s.io", version="v1alpha3"):
    items: list[ResourcePoolStatusRequest] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ResourcePoolStatusRequestSpec(Model):
    default_partition_type_attribute: str | None = None
    driver: str = UNSET
    limit: int | None = None
    pool_name: str | None = None


class ResourcePoolStatusRequestStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET
    pool_count: int = UNSET
    pools: list[PoolStatus] = UNSET


class ShareableCapacityStatus(Model):
    available: Quantity = UNSET
    consumed: Quantity = UNSET
    name: str = UNSET
    total: Quantity = UNSET


class ShareableSummaryStatus(Model):
    capacity: list[ShareableCapacityStatus] = UNSET
    fully_available_devices: int = UNSET
    partially_available_devices: int = UNSET
