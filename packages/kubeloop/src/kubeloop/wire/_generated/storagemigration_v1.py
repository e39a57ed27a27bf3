# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from . import meta_v1

__all__ = [
    "StorageVersionMigration",
    "StorageVersionMigrationList",
    "StorageVersionMigrationSpec",
    "StorageVersionMigrationStatus",
]


class StorageVersionMigration(Resource, group="storagemigration.k8s.io", version="v1", plural="storageversionmigrations", namespaced=False):
    spec: StorageVersionMigrationSpec = UNSET
    status: StorageVersionMigrationStatus = UNSET


class StorageVersionMigrationList(Kind, group="storagemigration.k8s.io", version="v1"):
    items: list[StorageVersionMigration] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class StorageVersionMigrationSpec(Model):
    resource: meta_v1.GroupResource = UNSET


class StorageVersionMigrationStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET
    resource_version: str | None = None
