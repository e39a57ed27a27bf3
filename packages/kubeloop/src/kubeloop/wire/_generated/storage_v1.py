# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Quantity
from ..scalars import Time
from msgspec import field
from . import core_v1, meta_v1

__all__ = [
    "CSIDriver",
    "CSIDriverList",
    "CSIDriverSpec",
    "CSINode",
    "CSINodeDriver",
    "CSINodeList",
    "CSINodeSpec",
    "CSINodeStatus",
    "CSIStorageCapacity",
    "CSIStorageCapacityList",
    "StorageClass",
    "StorageClassList",
    "StorageHealth",
    "StorageHealthCondition",
    "TokenRequest",
    "VolumeAttachment",
    "VolumeAttachmentList",
    "VolumeAttachmentSource",
    "VolumeAttachmentSpec",
    "VolumeAttachmentStatus",
    "VolumeAttributesClass",
    "VolumeAttributesClassList",
    "VolumeError",
    "VolumeNodeResources",
]


class CSIDriver(Resource, group="storage.k8s.io", version="v1", plural="csidrivers", namespaced=False):
    spec: CSIDriverSpec = UNSET


class CSIDriverList(Kind, group="storage.k8s.io", version="v1"):
    items: list[CSIDriver] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class CSIDriverSpec(Model):
    attach_required: bool | None = None
    fs_group_policy: str | None = None
    node_allocatable_update_period_seconds: int | None = None
    pod_info_on_mount: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None
    requires_republish: bool | None = None
    se_linux_mount: bool | None = None
    service_account_token_in_secrets: bool | None = None
    storage_capacity: bool | None = None
    token_requests: list[TokenRequest] = UNSET
    volume_lifecycle_modes: list[str] = UNSET


class CSINode(Resource, group="storage.k8s.io", version="v1", plural="csinodes", namespaced=False):
    spec: CSINodeSpec = UNSET
    status: CSINodeStatus = UNSET


class CSINodeDriver(Model):
    allocatable: VolumeNodeResources | None = None
    name: str = UNSET
    node_id: str = field(default=UNSET, name="nodeID")
    topology_keys: list[str] = UNSET


class CSINodeList(Kind, group="storage.k8s.io", version="v1"):
    items: list[CSINode] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class CSINodeSpec(Model):
    drivers: list[CSINodeDriver] = UNSET


class CSINodeStatus(Model):
    storage_health: list[StorageHealth] = UNSET


class CSIStorageCapacity(Resource, group="storage.k8s.io", version="v1", plural="csistoragecapacities"):
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None
    node_topology: meta_v1.LabelSelector | None = None
    storage_class_name: str = UNSET


class CSIStorageCapacityList(Kind, group="storage.k8s.io", version="v1"):
    items: list[CSIStorageCapacity] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class StorageClass(Resource, group="storage.k8s.io", version="v1", plural="storageclasses", namespaced=False):
    allow_volume_expansion: bool | None = None
    allowed_topologies: list[core_v1.TopologySelectorTerm] = UNSET
    mount_options: list[str] = UNSET
    parameters: dict[str, str] = UNSET
    provisioner: str = UNSET
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None


class StorageClassList(Kind, group="storage.k8s.io", version="v1"):
    items: list[StorageClass] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class StorageHealth(Model):
    health_conditions: list[StorageHealthCondition] = UNSET
    name: str = UNSET


class StorageHealthCondition(Model):
    access_mode: str | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str = UNSET
    status: str = UNSET
    volume_mode: str | None = None


class TokenRequest(Model):
    audience: str = UNSET
    expiration_seconds: int | None = None


class VolumeAttachment(Resource, group="storage.k8s.io", version="v1", plural="volumeattachments", namespaced=False):
    spec: VolumeAttachmentSpec = UNSET
    status: VolumeAttachmentStatus = UNSET


class VolumeAttachmentList(Kind, group="storage.k8s.io", version="v1"):
    items: list[VolumeAttachment] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class VolumeAttachmentSource(Model):
    inline_volume_spec: core_v1.PersistentVolumeSpec | None = None
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Model):
    attacher: str = UNSET
    node_name: str = UNSET
    source: VolumeAttachmentSource = UNSET


class VolumeAttachmentStatus(Model):
    attach_error: VolumeError | None = None
    attached: bool = UNSET
    attachment_metadata: dict[str, str] = UNSET
    detach_error: VolumeError | None = None


class VolumeAttributesClass(Resource, group="storage.k8s.io", version="v1", plural="volumeattributesclasses", namespaced=False):
    driver_name: str = UNSET
    parameters: dict[str, str] = UNSET


class VolumeAttributesClassList(Kind, group="storage.k8s.io", version="v1"):
    items: list[VolumeAttributesClass] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class VolumeError(Model):
    error_code: int | None = None
    message: str | None = None
    time: Time | None = None


class VolumeNodeResources(Model):
    count: int | None = None
