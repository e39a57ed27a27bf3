"""The proxies of services, pods and nodes: which port of what a request is for.

Guarantees: names, endpoints and addresses are checked in the order of kube-apiserver, with its
texts; whether anything listens at the port is found out later.
See also: `serving.proxying` (the connection), `kubelet.programs` (what a port is connected to).
"""

from __future__ import annotations

import ipaddress
import posixpath
import random
from collections.abc import Iterator
from typing import Final, NamedTuple, final
from urllib.parse import quote

import msgspec

from ..registry import ServedResource
from ..request.calls import Call
from ..request.requests import Request, ResourcePath
from ..statuses import bad_request, method_not_allowed, service_unavailable, untyped_error
from ..storage.store import Object
from .writing import Verbs

__all__ = ["Proxied", "proxied"]

_KUBELET_PORT: Final = 10250
_PODS: Final = ("", "pods")
_SLICES: Final = ("discovery.k8s.io", "endpointslices")
_SERVICE: Final = "kubernetes.io/service-name"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@final
class Proxied(msgspec.Struct, frozen=True):
    """The port that a request is passed to: of a pod, or of a node where `pod` is empty."""

    address: str
    port: str  # as it was requested: it may be no number
    path: str  # escaped; empty where the request ends with `proxy`
    namespace: str = ""
    pod: str = ""
    node: str = ""  # whose kubelet the request is for
    is_secure: bool = False

    @property
    def host(self) -> str:
        """Address and port as Go joins them."""
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{address}:{self.port}"


class _Name(NamedTuple):
    scheme: str
    name: str
    port: str


def proxied(verbs: Verbs, request: Request, served: ServedResource, path: ResourcePath) -> Proxied:
    """What a request to a proxy is for. Raises `StatusError`."""
    if request.method not in _METHODS:
        raise method_not_allowed()
    name = _split(path.name)
    if name is None:
        raise bad_request(f'invalid {served.singular} request "{path.name}"')
    call = Call(served, path.namespace, name.name)
    match served.plural:
        case "services":
            found = _service_port(verbs, call, name)
        case "pods":
            found = _pod_port(verbs.get(call).obj, call, name)
        case _:
            found = _node_port(verbs.get(call).obj, name)
    return msgspec.structs.replace(
        found, path=_joined(path.rest, request.path), is_secure=name.scheme == "https"
    )


def _split(text: str) -> _Name | None:
    """`name`, `name:port` or `scheme:name:port`."""
    match text.split(":"):
        case [name]:
            found = _Name("", name, "")
        case [name, port]:
            found = _Name("", name, port)
        case [scheme, name, port]:
            found = _Name(scheme, name, port)
        case _:
            return None
    return found if found.name and found.scheme in {"", "http", "https"} else None


def _joined(rest: str, path: str) -> str:
    """The path at the backend, as Go joins and escapes it."""
    clean = posixpath.normpath(f"/{rest.lstrip('/')}") if rest else ""
    if path.endswith("/") and not clean.endswith("/"):
        clean += "/"
    return quote(clean, safe="$&+,/:;=@")


# --- pods


def _pod_port(pod: Object, call: Call, name: _Name) -> Proxied:
    status = pod.get("status") or {}
    addresses = [each.get("ip") for each in status.get("podIPs") or ()]
    address = next(iter(addresses), None) or status.get("podIP") or ""
    if not _is_global(address):
        raise bad_request("address not allowed")
    port = name.port or _first_port(pod) or ("443" if name.scheme == "https" else "80")
    return Proxied(address, port, "", call.namespace, call.name)


def _first_port(pod: Object) -> str:
    for container in (pod.get("spec") or {}).get("containers") or ():
        for port in container.get("ports") or ():
            return str(port.get("containerPort", ""))
    return ""


def _is_global(address: str) -> bool:
    """Whether an address is one that a pod may have: neither loopback nor link-local."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    special = ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_unspecified
    return not special and address != "255.255.255.255"


# --- services


def _service_port(verbs: Verbs, call: Call, name: _Name) -> Proxied:
    port = name.port
    if _is_number(port):
        ports = (verbs.get(call).obj.get("spec") or {}).get("ports") or ()
        names = [each.get("name", "") for each in ports if each.get("port") == int(port)]
        if not names:
            raise service_unavailable(
                f'no service port {int(port)} found for service "{name.name}"'
            )
        port = names[0]
    endpoints = list(_endpoints(verbs, call, port))
    if not endpoints:
        raise service_unavailable(f'no endpoints available for service "{name.name}"')
    return random.choice(endpoints)


def _endpoints(verbs: Verbs, call: Call, port: str) -> Iterator[Proxied]:
    """The ready pods that serve the named port."""
    for entry in verbs.store.collection(_SLICES).select(call.namespace):
        if (entry.metadata.get("labels") or {}).get(_SERVICE) != call.name:
            continue
        ports = entry.obj.get("ports") or ()
        numbers = [each.get("port") for each in ports if (each.get("name") or "") == port]
        for endpoint in entry.obj.get("endpoints") or ():
            pod, address = _pod_of(verbs, call, endpoint), endpoint["addresses"][0]
            if pod and numbers and numbers[0]:
                yield Proxied(address, str(numbers[0]), "", call.namespace, pod)


def _pod_of(verbs: Verbs, call: Call, endpoint: Object) -> str:
    """The name of the ready pod that an endpoint is; empty if it is none."""
    target = endpoint.get("targetRef") or {}
    is_ready = (endpoint.get("conditions") or {}).get("ready") is not False
    if not is_ready or target.get("namespace") != call.namespace:
        return ""
    pod = verbs.store.get(_PODS, f"{call.namespace}/{target.get('name')}")
    addresses = ((pod.obj.get("status") or {}).get("podIPs") or ()) if pod is not None else ()
    is_own = endpoint["addresses"][0] in [each.get("ip") for each in addresses]
    return str(target["name"]) if is_own else ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").removeprefix("+").isdecimal()


# --- nodes


def _node_port(node: Object, name: _Name) -> Proxied:
    address = _node_address(node)
    if not _is_global(address):
        raise bad_request("address not allowed")
    endpoints = (node.get("status") or {}).get("daemonEndpoints") or {}
    kubelet = str((endpoints.get("kubeletEndpoint") or {}).get("Port") or _KUBELET_PORT)
    if name.port in {"", kubelet}:
        return Proxied(address, kubelet, "", node=name.name)
    return Proxied(address, name.port, "")


def _node_address(node: Object) -> str:
    addresses = (node.get("status") or {}).get("addresses") or ()
    # `--kubelet-preferred-address-types` as it is where nodes have no DNS names.
    for each in addresses:
        if each["type"] == "InternalIP":
            return str(each["address"])
    known = " ".join(f"{{{each['type']} {each['address']}}}" for each in addresses)
    raise untyped_error(f"no preferred addresses found; known addresses: [{known}]")
