# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import MicroTime
from . import meta_v1

__all__ = [
    "Lease",
    "LeaseList",
    "LeaseSpec",
]


class Lease(Resource, group="coordination.k8s.io", version="v1", plural="leases"):
    spec: LeaseSpec = UNSET


class LeaseList(Kind, group="coordination.k8s.io", version="v1"):
    items: list[Lease] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class LeaseSpec(Model):
    acquire_time: MicroTime | None = None
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None
    preferred_holder: str | None = None
    renew_time: MicroTime | None = None
    strategy: str | None = None
