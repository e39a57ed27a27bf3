# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from typing import ClassVar
from . import core_v1, meta_v1

__all__ = [
    "Endpoint",
    "EndpointConditions",
    "EndpointHints",
    "EndpointPort",
    "EndpointSlice",
    "EndpointSliceList",
    "ForNode",
    "ForZone",
]


class Endpoint(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['conditions'])
    addresses: list[str] = UNSET
    conditions: EndpointConditions = UNSET
    deprecated_topology: dict[str, str] = UNSET
    hints: EndpointHints | None = None
    hostname: str | None = None
    node_name: str | None = None
    target_ref: core_v1.ObjectReference | None = None
    zone: str | None = None


class EndpointConditions(Model):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class EndpointHints(Model):
    for_nodes: list[ForNode] = UNSET
    for_zones: list[ForZone] = UNSET


class EndpointPort(Model):
    app_protocol: str | None = None
    name: str | None = None
    port: int | None = None
    protocol: str | None = None


class EndpointSlice(Resource, group="discovery.k8s.io", version="v1", plural="endpointslices"):
    address_type: str = UNSET
    endpoints: list[Endpoint] = UNSET
    ports: list[EndpointPort] = UNSET


class EndpointSliceList(Kind, group="discovery.k8s.io", version="v1"):
    items: list[EndpointSlice] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ForNode(Model):
    name: str = UNSET


class ForZone(Model):
    name: str = UNSET
