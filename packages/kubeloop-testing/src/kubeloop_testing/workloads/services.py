"""Services: the addresses of the pods that a service selects, in endpoint slices.

Guarantees: slices have the labels and the size (at most 100 endpoints) of Kubernetes; only
changed slices are written. Services without a selector are ignored.
See also: which pods are ready (`pods`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from kubeloop.meta import ObjectKey, controller_ref
from kubeloop.runtime import Context
from kubeloop.selectors import as_selector
from kubeloop.wire.core.v1 import ObjectReference, Pod, Service, ServicePort
from kubeloop.wire.discovery.v1 import Endpoint, EndpointConditions, EndpointPort, EndpointSlice
from kubeloop.wire.meta.v1 import ObjectMeta

from .pods import is_ready

__all__ = ["reconcile_service", "selects"]

SERVICE: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_LABELS = {MANAGED_BY: "endpointslice-controller.k8s.io"}
_MAX_ENDPOINTS = 100  # in one slice, as `--max-endpoints-per-slice` defaults to


async def reconcile_service(key: ObjectKey, ctx: Context) -> None:
    """Reconcile one service. If cancelled, some slices may be written."""
    service = ctx.get(Service, key)
    if service is None or not service.spec.selector or service.spec.type == "ExternalName":
        return
    selected = ctx.list(Pod, as_selector(service.spec.selector), namespace=key.namespace)
    pods = sorted(filter(_has_address, selected), key=lambda pod: pod.metadata.name)
    desired = {each.metadata.name: each for each in _slices(service, pods)}
    slices = ctx.list(EndpointSlice, {**_LABELS, SERVICE: key.name}, namespace=key.namespace)
    existing = {each.metadata.name: each for each in slices}
    at = ctx.client.resource(EndpointSlice, namespace=key.namespace)
    for name, new in desired.items():
        if name not in existing:
            await at.create(new)
        elif _content(existing[name]) != _content(new):
            await at.patch(name, _content(new), type="merge")
    for name in existing.keys() - desired.keys():
        await at.delete(name, missing_ok=True)


def selects(service: Service, pod: Pod) -> bool:
    # An empty selector selects no pod, unlike an empty label selector.
    selector = service.spec.selector
    return bool(selector) and selector.items() <= pod.metadata.labels.items()


def _has_address(pod: Pod) -> bool:
    return bool(pod.status.pod_ip) and pod.status.phase not in {"Succeeded", "Failed"}


def _content(slice_: EndpointSlice) -> dict[str, object]:
    data = slice_.to_dict()
    return {"endpoints": data.get("endpoints") or [], "ports": data.get("ports") or []}


def _slices(service: Service, pods: Sequence[Pod]) -> list[EndpointSlice]:
    # A service without pods has one empty slice, as in Kubernetes.
    rest = iter(pods)
    chunks = [
        list(itertools.islice(rest, _MAX_ENDPOINTS)) for _ in range(0, len(pods), _MAX_ENDPOINTS)
    ]
    return [_slice(service, number, chunk) for number, chunk in enumerate(chunks or [[]])]


def _slice(service: Service, number: int, pods: Sequence[Pod]) -> EndpointSlice:
    name = service.metadata.name
    return EndpointSlice(
        metadata=ObjectMeta(
            name=f"{name}-{number}",
            labels={**_LABELS, SERVICE: name},
            owner_references=[controller_ref(service)],
        ),
        address_type="IPv4",
        endpoints=[_endpoint(pod) for pod in pods],
        ports=[_port(each, pods) for each in service.spec.ports],
    )


def _endpoint(pod: Pod) -> Endpoint:
    # A terminating pod is never ready, but it may still serve (`serving`).
    is_terminating, serving = pod.metadata.deletion_timestamp is not None, is_ready(pod)
    return Endpoint(
        addresses=[pod.status.pod_ip or ""],
        conditions=EndpointConditions(
            ready=serving and not is_terminating, serving=serving, terminating=is_terminating
        ),
        node_name=pod.spec.node_name,
        target_ref=ObjectReference(
            kind="Pod",
            name=pod.metadata.name,
            namespace=pod.metadata.namespace,
            uid=pod.metadata.uid,
        ),
    )


def _port(port: ServicePort, pods: Sequence[Pod]) -> EndpointPort:
    # Without a target the service port itself is used.
    target = port.target_port or port.port
    number = target if isinstance(target, int) else _named_port(target, pods)
    return EndpointPort(name=port.name or "", port=number, protocol=port.protocol)


def _named_port(name: str, pods: Sequence[Pod]) -> int | None:
    """The number of the named port, from the first container that has it."""
    for container in (each for pod in pods for each in pod.spec.containers):
        for port in container.ports:
            if port.name == name:
                return port.container_port
    return None
