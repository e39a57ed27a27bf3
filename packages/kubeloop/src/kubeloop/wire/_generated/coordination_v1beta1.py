# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import MicroTime
from . import meta_v1

__all__ = [
    "LeaseCandidate",
    "LeaseCandidateList",
    "LeaseCandidateSpec",
]


class LeaseCandidate(Resource, group="coordination.k8s.io", version="v1beta1", plural="leasecandidates"):
    spec: LeaseCandidateSpec = UNSET


class LeaseCandidateList(Kind, group="coordination.k8s.io", version="v1beta1"):
    items: list[LeaseCandidate] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class LeaseCandidateSpec(Model):
    binary_version: str = UNSET
    emulation_version: str | None = None
    lease_name: str = UNSET
    ping_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    strategy: str = UNSET
