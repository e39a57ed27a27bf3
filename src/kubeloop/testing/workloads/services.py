"""Services: the addresses of the pods that a service selects, in endpoint slices.

Promises: slices are named, labelled and cut (a hundred addresses each) as in Kubernetes;
only those that changed are written. Services without a selector are left alone.
Elsewhere: which pods are ready (`pods`).
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
_A_SLICE = 100  # endpoints


async def reconcile_service(key: ObjectKey, ctx: Context) -> None:
    """One look at one service. Cancelled, some slices may be written."""
    service = ctx.get(Service, key)
    if service is None or not service.spec.selector or service.spec.type == "ExternalName":
        return
    found = ctx.list(Pod, as_selector(service.spec.selector), namespace=key.namespace)
    pods = sorted(filter(_has_address, found), key=lambda pod: pod.metadata.name)
    wanted = {each.metadata.name: each for each in _slices(service, pods)}
    mine = ctx.list(EndpointSlice, {**_LABELS, SERVICE: key.name}, namespace=key.namespace)
    there = {each.metadata.name: each for each in mine}
    at = ctx.client.resource(EndpointSlice, namespace=key.namespace)
    for name, new in wanted.items():
        if name not in there:
            await at.create(new)
        elif _content(there[name]) != _content(new):
            await at.patch(name, _content(new), type="merge")
    for name in there.keys() - wanted.keys():
        await at.delete(name, missing_ok=True)


def selects(service: Service, pod: Pod) -> bool:
    selector = service.spec.selector
    return bool(selector) and selector.items() <= pod.metadata.labels.items()


def _has_address(pod: Pod) -> bool:
    return bool(pod.status.pod_ip) and pod.status.phase not in {"Succeeded", "Failed"}


def _content(found: EndpointSlice) -> dict[str, object]:
    said = found.to_dict()
    return {"endpoints": said.get("endpoints") or [], "ports": said.get("ports") or []}


def _slices(service: Service, pods: Sequence[Pod]) -> list[EndpointSlice]:
    rest = iter(pods)
    chunks = [list(itertools.islice(rest, _A_SLICE)) for _ in range(0, len(pods), _A_SLICE)]
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
    is_going, well = pod.metadata.deletion_timestamp is not None, is_ready(pod)
    return Endpoint(
        addresses=[pod.status.pod_ip or ""],
        conditions=EndpointConditions(
            ready=well and not is_going, serving=well, terminating=is_going
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
    target = port.target_port or port.port
    number = target if isinstance(target, int) else _named_port(target, pods)
    return EndpointPort(name=port.name or "", port=number, protocol=port.protocol)


def _named_port(name: str, pods: Sequence[Pod]) -> int | None:
    """The port of that name, of the first container that has one."""
    for container in (each for pod in pods for each in pod.spec.containers):
        for port in container.ports:
            if port.name == name:
                return port.container_port
    return None
