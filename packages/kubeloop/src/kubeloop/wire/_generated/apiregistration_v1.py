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
    "APIService",
    "APIServiceCondition",
    "APIServiceList",
    "APIServiceSpec",
    "APIServiceStatus",
    "ServiceReference",
]


class APIService(Resource, group="apiregistration.k8s.io", version="v1", plural="apiservices", namespaced=False):
    spec: APIServiceSpec = UNSET
    status: APIServiceStatus = UNSET


class APIServiceCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class APIServiceList(Kind, group="apiregistration.k8s.io", version="v1"):
    items: list[APIService] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class APIServiceSpec(Model):
    ca_bundle: bytes | None = None
    group: str | None = None
    group_priority_minimum: int = UNSET
    insecure_skip_tls_verify: bool | None = field(default=None, name="insecureSkipTLSVerify")
    service: ServiceReference | None = None
    version: str | None = None
    version_priority: int = UNSET


class APIServiceStatus(Model):
    conditions: list[APIServiceCondition] = UNSET


class ServiceReference(Model):
    name: str | None = None
    namespace: str | None = None
    port: int | None = None
