# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import IntOrString
from typing import ClassVar
from . import core_v1, meta_v1

__all__ = [
    "HTTPIngressPath",
    "HTTPIngressRuleValue",
    "IPAddress",
    "IPAddressList",
    "IPAddressSpec",
    "IPBlock",
    "Ingress",
    "IngressBackend",
    "IngressClass",
    "IngressClassList",
    "IngressClassParametersReference",
    "IngressClassSpec",
    "IngressList",
    "IngressLoadBalancerIngress",
    "IngressLoadBalancerStatus",
    "IngressPortStatus",
    "IngressRule",
    "IngressServiceBackend",
    "IngressSpec",
    "IngressStatus",
    "IngressTLS",
    "NetworkPolicy",
    "NetworkPolicyEgressRule",
    "NetworkPolicyIngressRule",
    "NetworkPolicyList",
    "NetworkPolicyPeer",
    "NetworkPolicyPort",
    "NetworkPolicySpec",
    "ParentReference",
    "ServiceBackendPort",
    "ServiceCIDR",
    "ServiceCIDRList",
    "ServiceCIDRSpec",
    "ServiceCIDRStatus",
]


class HTTPIngressPath(Model):
    backend: IngressBackend = UNSET
    path: str | None = None
    path_type: str = UNSET


class HTTPIngressRuleValue(Model):
    paths: list[HTTPIngressPath] = UNSET


class IPAddress(Resource, group="networking.k8s.io", version="v1", plural="ipaddresses", namespaced=False):
    spec: IPAddressSpec = UNSET


class IPAddressList(Kind, group="networking.k8s.io", version="v1"):
    items: list[IPAddress] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class IPAddressSpec(Model):
    parent_ref: ParentReference = UNSET


class IPBlock(Model):
    cidr: str = UNSET
    except_: list[str] = UNSET


class Ingress(Resource, group="networking.k8s.io", version="v1", plural="ingresses"):
    spec: IngressSpec = UNSET
    status: IngressStatus = UNSET


class IngressBackend(Model):
    resource: core_v1.TypedLocalObjectReference | None = None
    service: IngressServiceBackend | None = None


class IngressClass(Resource, group="networking.k8s.io", version="v1", plural="ingressclasses", namespaced=False):
    spec: IngressClassSpec = UNSET


class IngressClassList(Kind, group="networking.k8s.io", version="v1"):
    items: list[IngressClass] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class IngressClassParametersReference(Model):
    api_group: str | None = None
    kind: str = UNSET
    name: str = UNSET
    namespace: str | None = None
    scope: str | None = None


class IngressClassSpec(Model):
    controller: str | None = None
    parameters: IngressClassParametersReference | None = None


class IngressList(Kind, group="networking.k8s.io", version="v1"):
    items: list[Ingress] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class IngressLoadBalancerIngress(Model):
    hostname: str | None = None
    ip: str | None = None
    ports: list[IngressPortStatus] = UNSET


class IngressLoadBalancerStatus(Model):
    ingress: list[IngressLoadBalancerIngress] = UNSET


class IngressPortStatus(Model):
    error: str | None = None
    port: int = UNSET
    protocol: str = UNSET


class IngressRule(Model):
    host: str | None = None
    http: HTTPIngressRuleValue | None = None


class IngressServiceBackend(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['port'])
    name: str = UNSET
    port: ServiceBackendPort = UNSET


class IngressSpec(Model):
    default_backend: IngressBackend | None = None
    ingress_class_name: str | None = None
    rules: list[IngressRule] = UNSET
    tls: list[IngressTLS] = UNSET


class IngressStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['load_balancer'])
    load_balancer: IngressLoadBalancerStatus = UNSET


class IngressTLS(Model):
    hosts: list[str] = UNSET
    secret_name: str | None = None


class NetworkPolicy(Resource, group="networking.k8s.io", version="v1", plural="networkpolicies"):
    spec: NetworkPolicySpec = UNSET


class NetworkPolicyEgressRule(Model):
    ports: list[NetworkPolicyPort] = UNSET
    to: list[NetworkPolicyPeer] = UNSET


class NetworkPolicyIngressRule(Model):
    from_: list[NetworkPolicyPeer] = UNSET
    ports: list[NetworkPolicyPort] = UNSET


class NetworkPolicyList(Kind, group="networking.k8s.io", version="v1"):
    items: list[NetworkPolicy] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class NetworkPolicyPeer(Model):
    ip_block: IPBlock | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    pod_selector: meta_v1.LabelSelector | None = None


class NetworkPolicyPort(Model):
    end_port: int | None = None
    port: IntOrString | None = None
    protocol: str | None = None


class NetworkPolicySpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['pod_selector'])
    egress: list[NetworkPolicyEgressRule] = UNSET
    ingress: list[NetworkPolicyIngressRule] = UNSET
    pod_selector: meta_v1.LabelSelector = UNSET
    policy_types: list[str] = UNSET


class ParentReference(Model):
    group: str | None = None
    name: str = UNSET
    namespace: str | None = None
    resource: str = UNSET


class ServiceBackendPort(Model):
    name: str | None = None
    number: int | None = None


class ServiceCIDR(Resource, group="networking.k8s.io", version="v1", plural="servicecidrs", namespaced=False):
    spec: ServiceCIDRSpec = UNSET
    status: ServiceCIDRStatus = UNSET


class ServiceCIDRList(Kind, group="networking.k8s.io", version="v1"):
    items: list[ServiceCIDR] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ServiceCIDRSpec(Model):
    cidrs: list[str] = UNSET


class ServiceCIDRStatus(Model):
    conditions: list[meta_v1.Condition] = UNSET
