# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Quantity
from ..scalars import Time
from msgspec import field
from typing import Any
from typing import ClassVar
from . import core_v1, meta_v1

__all__ = [
    "AllocatedDeviceStatus",
    "AllocationResult",
    "BasicDevice",
    "CELDeviceSelector",
    "CapacityRequestPolicy",
    "CapacityRequestPolicyRange",
    "CapacityRequirements",
    "Counter",
    "CounterSet",
    "Device",
    "DeviceAllocationConfiguration",
    "DeviceAllocationResult",
    "DeviceAttribute",
    "DeviceCapacity",
    "DeviceClaim",
    "DeviceClaimConfiguration",
    "DeviceClass",
    "DeviceClassConfiguration",
    "DeviceClassList",
    "DeviceClassSpec",
    "DeviceConstraint",
    "DeviceCounterConsumption",
    "DeviceDerivedAttribute",
    "DeviceRequest",
    "DeviceRequestAllocationResult",
    "DeviceSelector",
    "DeviceSubRequest",
    "DeviceTaint",
    "DeviceToleration",
    "NetworkDeviceData",
    "NodeAllocatableMapping",
    "NodeAllocatableOverhead",
    "NodeAllocatableResource",
    "OpaqueDeviceConfiguration",
    "ResourceClaim",
    "ResourceClaimConsumerReference",
    "ResourceClaimList",
    "ResourceClaimSpec",
    "ResourceClaimStatus",
    "ResourceClaimTemplate",
    "ResourceClaimTemplateList",
    "ResourceClaimTemplateSpec",
    "ResourcePool",
    "ResourceSlice",
    "ResourceSliceList",
    "ResourceSliceSpec",
]


class AllocatedDeviceStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET
    data: dict[str, Any] = UNSET
    device: str = UNSET
    driver: str = UNSET
    network_data: NetworkDeviceData | None = None
    pool: str = UNSET
    share_id: str | None = field(default=None, name="shareID")


class AllocationResult(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['devices'])
    allocation_timestamp: Time | None = None
    devices: DeviceAllocationResult = UNSET
    node_selector: core_v1.NodeSelector | None = None


class BasicDevice(Model):
    all_nodes: bool | None = None
    allow_multiple_allocations: bool | None = None
    attributes: dict[str, DeviceAttribute] = UNSET
    binding_conditions: list[str] = UNSET
    binding_failure_conditions: list[str] = UNSET
    binds_to_node: bool | None = None
    capacity: dict[str, DeviceCapacity] = UNSET
    consumes_counters: list[DeviceCounterConsumption] = UNSET
    node_allocatable_resources: dict[str, NodeAllocatableResource] = UNSET
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    taints: list[DeviceTaint] = UNSET


class CELDeviceSelector(Model):
    expression: str = UNSET


class CapacityRequestPolicy(Model):
    default: Quantity | None = None
    valid_range: CapacityRequestPolicyRange | None = None
    valid_values: list[Quantity] = UNSET


class CapacityRequestPolicyRange(Model):
    max: Quantity | None = None
    min: Quantity = UNSET
    step: Quantity | None = None


class CapacityRequirements(Model):
    requests: dict[str, Quantity] = UNSET


class Counter(Model):
    value: Quantity = UNSET


class CounterSet(Model):
    counters: dict[str, Counter] = UNSET
    name: str = UNSET


class Device(Model):
    basic: BasicDevice | None = None
    name: str = UNSET


class DeviceAllocationConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None
    requests: list[str] = UNSET
    source: str = UNSET


class DeviceAllocationResult(Model):
    config: list[DeviceAllocationConfiguration] = UNSET
    results: list[DeviceRequestAllocationResult] = UNSET


class DeviceAttribute(Model):
    bool_: bool | None = None
    bools: list[bool] = UNSET
    int_: int | None = None
    ints: list[int] = UNSET
    string: str | None = None
    strings: list[str] = UNSET
    version: str | None = None
    versions: list[str] = UNSET


class DeviceCapacity(Model):
    request_policy: CapacityRequestPolicy | None = None
    value: Quantity = UNSET


class DeviceClaim(Model):
    config: list[DeviceClaimConfiguration] = UNSET
    constraints: list[DeviceConstraint] = UNSET
    requests: list[DeviceRequest] = UNSET


class DeviceClaimConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None
    requests: list[str] = UNSET


class DeviceClass(Resource, group="resource.k8s.io", version="v1beta1", plural="deviceclasses", namespaced=False):
    spec: DeviceClassSpec = UNSET


class DeviceClassConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassList(Kind, group="resource.k8s.io", version="v1beta1"):
    items: list[DeviceClass] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class DeviceClassSpec(Model):
    config: list[DeviceClassConfiguration] = UNSET
    extended_resource_name: str | None = None
    selectors: list[DeviceSelector] = UNSET


class DeviceConstraint(Model):
    distinct_attribute: str | None = None
    match_attribute: str | None = None
    requests: list[str] = UNSET


class DeviceCounterConsumption(Model):
    compatibility_groups: list[str] = UNSET
    counter_set: str = UNSET
    counters: dict[str, Counter] = UNSET


class DeviceDerivedAttribute(Model):
    expression: str = UNSET
    name: str = UNSET


class DeviceRequest(Model):
    admin_access: bool | None = None
    allocation_mode: str | None = None
    capacity: CapacityRequirements | None = None
    count: int | None = None
    derived_attributes: list[DeviceDerivedAttribute] = UNSET
    device_class_name: str | None = None
    first_available: list[DeviceSubRequest] = UNSET
    name: str = UNSET
    selectors: list[DeviceSelector] = UNSET
    tolerations: list[DeviceToleration] = UNSET


class DeviceRequestAllocationResult(Model):
    admin_access: bool | None = None
    binding_conditions: list[str] = UNSET
    binding_failure_conditions: list[str] = UNSET
    consumed_capacity: dict[str, Quantity] = UNSET
    device: str = UNSET
    driver: str = UNSET
    pool: str = UNSET
    request: str = UNSET
    share_id: str | None = field(default=None, name="shareID")
    skip_node_operations: list[str] = UNSET
    tolerations: list[DeviceToleration] = UNSET


class DeviceSelector(Model):
    cel: CELDeviceSelector | None = None


class DeviceSubRequest(Model):
    allocation_mode: str | None = None
    capacity: CapacityRequirements | None = None
    count: int | None = None
    derived_attributes: list[DeviceDerivedAttribute] = UNSET
    device_class_name: str = UNSET
    name: str = UNSET
    selectors: list[DeviceSelector] = UNSET
    tolerations: list[DeviceToleration] = UNSET


class DeviceTaint(Model):
    effect: str = UNSET
    key: str = UNSET
    time_added: Time | None = None
    value: str | None = None


class DeviceToleration(Model):
    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: int | None = None
    value: str | None = None


class NetworkDeviceData(Model):
    hardware_address: str | None = None
    interface_name: str | None = None
    ips: list[str] = UNSET


class NodeAllocatableMapping(Model):
    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(Model):
    per_container: Quantity | None = None
    per_pod: Quantity | None = None


class NodeAllocatableResource(Model):
    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class OpaqueDeviceConfiguration(Model):
    driver: str = UNSET
    parameters: dict[str, Any] = UNSET


class ResourceClaim(Resource, group="resource.k8s.io", version="v1beta1", plural="resourceclaims"):
    spec: ResourceClaimSpec = UNSET
    status: ResourceClaimStatus = UNSET


class ResourceClaimConsumerReference(Model):
    api_group: str | None = None
    name: str = UNSET
    resource: str = UNSET
    uid: str = UNSET


class ResourceClaimList(Kind, group="resource.k8s.io", version="v1beta1"):
    items: list[ResourceClaim] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ResourceClaimSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['devices'])
    devices: DeviceClaim = UNSET


class ResourceClaimStatus(Model):
    allocation: AllocationResult | None = None
    devices: list[AllocatedDeviceStatus] = UNSET
    reserved_for: list[ResourceClaimConsumerReference] = UNSET


class ResourceClaimTemplate(Resource, group="resource.k8s.io", version="v1beta1", plural="resourceclaimtemplates"):
    spec: ResourceClaimTemplateSpec = UNSET


class ResourceClaimTemplateList(Kind, group="resource.k8s.io", version="v1beta1"):
    items: list[ResourceClaimTemplate] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ResourceClaimTemplateSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['metadata', 'spec'])
    metadata: meta_v1.ObjectMeta = UNSET
    spec: ResourceClaimSpec = UNSET


class ResourcePool(Model):
    generation: int = UNSET
    name: str = UNSET
    resource_slice_count: int = UNSET


class ResourceSlice(Resource, group="resource.k8s.io", version="v1beta1", plural="resourceslices", namespaced=False):
    spec: ResourceSliceSpec = UNSET


class ResourceSliceList(Kind, group="resource.k8s.io", version="v1beta1"):
    items: list[ResourceSlice] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ResourceSliceSpec(Model):
    all_nodes: bool | None = None
    devices: list[Device] = UNSET
    driver: str = UNSET
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    partition_type_attribute: str | None = None
    per_device_node_selection: bool | None = None
    pool: ResourcePool = UNSET
    shared_counters: list[CounterSet] = UNSET
    skip_node_operations: list[str] = UNSET
