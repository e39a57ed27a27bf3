"""The clients of kinds that have verbs of their own.

A class names its kinds: `client.resource()`, the clientset and the error for a verb of another
kind find it by them. A new one is also an overload of `APIClient.resource`; a test compares.
See also: `pods` (the largest of them), `resource` (what all kinds have).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, final

from .object_codecs import body_of
from .pods import PodClient
from .resource import KIND_CLIENTS, ResourceClient
from .subresources import Proxy, ScaleSubresource, SubresourceClient, proxy_name

if TYPE_CHECKING:  # imported by the methods that need them
    from kubeloop.wire.apps.v1 import DaemonSet  # noqa: F401 - a base class has it as text
    from kubeloop.wire.authentication.v1 import BoundObjectReference, TokenRequest
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import (
        Namespace,
        Node,  # noqa: F401
        Service,  # noqa: F401
        ServiceAccount,  # noqa: F401
    )

    from .drain import DrainOptions, DrainPlan, DrainStep, PlanOptions
    from .rollout import Rollout

__all__ = [
    "CertificateSigningRequestClient",
    "DaemonSetClient",
    "NamespaceClient",
    "NodeClient",
    "PodClient",
    "ScalableClient",
    "ServiceAccountClient",
    "ServiceClient",
    "WorkloadClient",
    "client_class",
    "client_classes",
]

T = TypeVar("T")

_MODELS = "kubeloop.wire._generated."


def client_classes() -> Mapping[str, type[ResourceClient[Any]]]:
    """The classes of clients by the module and the name of their kinds: `core_v1.Pod`."""
    return KIND_CLIENTS


def client_class(kind: type[Any]) -> type[ResourceClient[Any]]:
    """The class of the clients of a kind, which may extend a built-in one."""
    for base in kind.__mro__:
        if base.__module__.startswith(_MODELS):
            name = f"{base.__module__.removeprefix(_MODELS)}.{base.__name__}"
            if name in KIND_CLIENTS:
                return KIND_CLIENTS[name]
    return ResourceClient


class ScalableClient(
    ResourceClient[T], kinds=["apps_v1.ReplicaSet", "core_v1.ReplicationController"]
):
    """Kinds with a scale: `client.apps_v1.replica_sets("shop")`."""

    @property
    def scale(self) -> ScaleSubresource:
        """The number of replicas."""
        return self.subresource("scale")


@final
class WorkloadClient(ScalableClient[T], kinds=["apps_v1.Deployment", "apps_v1.StatefulSet"]):
    """Deployments and stateful sets: `client.apps_v1.deployments("shop")`."""

    def rollout(self, name: str) -> Rollout:
        """The rollout of one object: restart, wait, undo, …."""
        from .rollout import Rollout

        return Rollout(self._objects, name)


@final
class DaemonSetClient(ResourceClient["DaemonSet"], kinds=["apps_v1.DaemonSet"]):
    """Daemon sets: `client.apps_v1.daemon_sets("shop")`."""

    def rollout(self, name: str) -> Rollout:
        """The rollout of one object: restart, wait, undo, …."""
        from .rollout import Rollout

        return Rollout(self._objects, name)


@final
class NodeClient(ResourceClient["Node"], kinds=["core_v1.Node"]):
    """Nodes: `client.core_v1.nodes()`."""

    async def cordon(self, name: str, *, dry_run: bool = False) -> bool:
        """Keep new pods off a node; False if it is cordoned already.

        Raises: NotFound. A cancelled call may have cordoned it.
        """
        from .drain import set_unschedulable

        return await set_unschedulable(self._objects, name, unschedulable=True, dry_run=dry_run)

    async def uncordon(self, name: str, *, dry_run: bool = False) -> bool:
        """Allow new pods on a node again; False if it is not cordoned.

        Raises: NotFound. A cancelled call may have uncordoned it.
        """
        from .drain import set_unschedulable

        return await set_unschedulable(self._objects, name, unschedulable=False, dry_run=dry_run)

    async def drain_plan(self, name: str, **options: Unpack[PlanOptions]) -> DrainPlan:
        """What a drain would do with the pods of a node; nothing is changed. Safe to cancel."""
        from .drain import drain_plan

        return await drain_plan(self._objects, name, **options)

    async def drain(
        self,
        name: str,
        *,
        progress: Callable[[DrainStep], Awaitable[None] | None] | None = None,
        **options: Unpack[DrainOptions],
    ) -> DrainPlan:
        """Cordon a node, evict its pods, and wait until they are gone, as `kubectl drain`.

        `progress` is called with each step. An eviction that a disruption budget forbids is
        repeated every 5 seconds; with `dry_run` it is an error.
        Raises: DrainRefused when the node has pods that only an option allows to evict;
        DrainFailed when some could not be evicted, or not within `timeout` seconds; NotFound.
        The node stays cordoned. A cancelled call may have evicted some pods.
        """
        from .drain import drain

        return await drain(self._objects, name, progress=progress, **options)

    def proxy(self, name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """Sends HTTP requests through the API server to a kubelet."""
        return Proxy(self._objects.collection, proxy_name(name, scheme=scheme, port=port))


@final
class ServiceClient(ResourceClient["Service"], kinds=["core_v1.Service"]):
    """Services: `client.core_v1.services("shop")`."""

    def proxy(self, name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """Sends HTTP requests through the API server to a service."""
        return Proxy(self._objects.collection, proxy_name(name, scheme=scheme, port=port))


@final
class ServiceAccountClient(ResourceClient["ServiceAccount"], kinds=["core_v1.ServiceAccount"]):
    """Service accounts: `client.core_v1.service_accounts("shop")`."""

    async def token(
        self,
        name: str,
        *,
        audiences: Iterable[str] = (),
        expiration_seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequest:
        """Request a token of the service account; it is in `status.token`.

        A cancelled call may have created one.
        """
        from kubeloop.wire.authentication.v1 import TokenRequest, TokenRequestSpec

        spec = TokenRequestSpec(
            audiences=list(audiences),
            expiration_seconds=expiration_seconds,
            bound_object_ref=bound_to,
        )
        response = await self._objects.collection.send(
            "create", name=name, subresource="token", body=body_of(TokenRequest(spec=spec))
        )
        return response.decode(TokenRequest)


@final
class NamespaceClient(ResourceClient["Namespace"], kinds=["core_v1.Namespace"]):
    """Namespaces: `client.core_v1.namespaces()`."""

    @property
    def finalize(self) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return self.subresource("finalize")


@final
class CertificateSigningRequestClient(
    ResourceClient["CertificateSigningRequest"],
    kinds=["certificates_v1.CertificateSigningRequest"],
):
    """Certificate signing requests: `client.certificates_v1.certificate_signing_requests()`."""

    @property
    def approval(self) -> SubresourceClient[CertificateSigningRequest]:
        """The approval of a certificate signing request."""
        return self.subresource("approval")
