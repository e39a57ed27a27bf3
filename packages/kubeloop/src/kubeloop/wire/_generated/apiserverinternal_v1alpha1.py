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
    "ServerStorageVersion",
    "StorageVersion",
    "StorageVersionCondition",
    "StorageVersionList",
    "StorageVersionSpec",
    "StorageVersionStatus",
]


class ServerStorageVersion(Model):
    api_server_id: str = field(default=UNSET, name="apiServerID")
    decodable_versions: list[str] = UNSET
    encoding_version: str = UNSET
    served_versions: list[str] = UNSET


class StorageVersion(Resource, group="internal.apiserver.k8s.io", version="v1alpha1", plural="storageversions", namespaced=False):
    spec: StorageVersionSpec = UNSET
    status: StorageVersionStatus = UNSET


class StorageVersionCondition(Model):
    last_transition_time: Time | None = None
    message: str = UNSET
    observed_generation: int | None = None
    reason: str = UNSET
    status: str = UNSET
    type: str = UNSET


class StorageVersionList(Kind, group="internal.apiserver.k8s.io", version="v1alpha1"):
    items: list[StorageVersion] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class StorageVersionSpec(Model):
    pass


class StorageVersionStatus(Model):
    common_encoding_version: str | None = None
    conditions: list[StorageVersionCondition] = UNSET
    storage_versions: list[ServerStorageVersion] = UNSET
