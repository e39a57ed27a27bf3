"""What can be done with objects besides reading and writing them.

Promises: a type checker allows each of these only on the kind that has it; where a kind
has not, the server's answer says so.
Elsewhere: parts that are data (`subresources`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from kubeloop.machinery import FieldSelector, field_selector_from_map
from kubeloop.rest import Params, Timeouts, query_options
from kubeloop.wire import format_time

from .forms import TypedForm, body_of
from .options import Propagation, delete_options, write_params
from .proxy import Proxy, proxy_name
from .subresources import ScaleVerbs, SubresourceClient
from .verbs import ObjectVerbs

if TYPE_CHECKING:
    from kubeloop.wire.authentication.v1 import BoundObjectReference, TokenRequest
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import Namespace, Node, Pod, Service, ServiceAccount

__all__ = ["ActionVerbs", "about"]

T = TypeVar("T")
P = TypeVar("P", "Pod", "Service", "Node")


class ActionVerbs(ObjectVerbs[T]):
    """Parts and actions of objects; most belong to one kind."""

    # --- parts that are data

    def subresource(self, name: str) -> SubresourceClient[T]:
        """A part that holds the same kind as the object itself."""
        return SubresourceClient(self._collection, self._form, subresource=name)

    @property
    def status(self) -> SubresourceClient[T]:
        """What is, beside what is wanted."""
        return self.subresource("status")

    @property
    def scale(self) -> ScaleVerbs:
        """The number of replicas, in the one form that all kinds share."""
        from kubeloop.wire.autoscaling.v1 import Scale

        form = TypedForm(Scale)
        return ScaleVerbs(self._collection, form, subresource="scale")

    @property
    def ephemeral_containers(self: ActionVerbs[Pod]) -> SubresourceClient[Pod]:
        """The containers that were added to a running pod."""
        return self.subresource("ephemeralcontainers")

    @property
    def resize(self: ActionVerbs[Pod]) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return self.subresource("resize")

    @property
    def approval(
        self: ActionVerbs[CertificateSigningRequest],
    ) -> SubresourceClient[CertificateSigningRequest]:
        """Whether a certificate is granted."""
        return self.subresource("approval")

    @property
    def finalize(self: ActionVerbs[Namespace]) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return self.subresource("finalize")

    # --- actions

    async def evict(
        self: ActionVerbs[Pod],
        name: str,
        *,
        grace_period: int | None = None,
        propagation: Propagation | None = None,
        uid: str = "",
        version: str = "",
        dry_run: bool = False,
        max_retries: int | None = None,
    ) -> None:
        """Delete a pod if its disruption budget allows it.

        A refusal that says when to come back is tried again, as any such answer is, up to
        ten times; `max_retries=0` gives up at once.
        Raises: TooManyRequests, NotFound. A cancelled call may have evicted it.
        """
        options = delete_options(
            propagation=propagation,
            grace_period=grace_period,
            uid=uid,
            version=version,
            dry_run=dry_run,
        )
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "deleteOptions": options}
        await self._post(name, "eviction", body, max_retries=max_retries)

    async def bind(self: ActionVerbs[Pod], name: str, *, node: str, dry_run: bool = False) -> None:
        """Assign a pod to a node, as a scheduler does.

        Raises: Conflict when it is assigned already. A cancelled call may have bound it.
        """
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "target": target}
        await self._post(name, "binding", body, params=write_params(dry_run=dry_run))

    async def logs(
        self: ActionVerbs[Pod],
        name: str,
        *,
        container: str = "",
        follow: bool = False,
        previous: bool = False,
        since_seconds: int | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        limit_bytes: int | None = None,
        timestamps: bool = False,
        stream: Literal["All", "Stdout", "Stderr"] | None = None,
        insecure_skip_tls_verify_backend: bool = False,
    ) -> AsyncIterator[str]:
        """The lines of a container's log; with `follow`, those to come as well.

        Bytes that are no UTF-8 are replaced. Ends when the server ends it; leaving early
        closes the connection. Raises: NotFound, BadRequest while there is no log yet.
        """
        request = await self._collection.request(
            "get",
            name=name,
            subresource="log",
            params=query_options(
                container=container,
                follow=follow,
                previous=previous,
                since_seconds=since_seconds,
                since_time=format_time(since_time) if since_time else None,
                timestamps=timestamps,
                tail_lines=tail_lines,
                limit_bytes=limit_bytes,
                stream=stream,
            )
            | (
                {"insecureSkipTLSVerifyBackend": "true"} if insecure_skip_tls_verify_backend else {}
            ),
            accept="*/*",
            # A log may have nothing to say for hours.
            timeouts=Timeouts(idle=None) if follow else None,
        )
        async with self._collection.rest.stream(request) as body:
            async for line in body.lines():
                yield line.decode(errors="replace")

    async def token(
        self: ActionVerbs[ServiceAccount],
        name: str,
        *,
        audiences: Iterable[str] = (),
        expiration_seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequest:
        """A token for the service account; it is in `status.token`.

        A cancelled call may have made one.
        """
        from kubeloop.wire.authentication.v1 import TokenRequest, TokenRequestSpec

        spec = TokenRequestSpec(
            audiences=list(audiences),
            expiration_seconds=expiration_seconds,
            bound_object_ref=bound_to,
        )
        answer = await self._collection.send(
            "create", name=name, subresource="token", body=body_of(TokenRequest(spec=spec))
        )
        return answer.decode(TokenRequest)

    def proxy(self: ActionVerbs[P], name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """HTTP through the API server to a pod, a service or a node's kubelet."""
        return Proxy(self._collection, proxy_name(name, scheme=scheme, port=port))

    async def _post(
        self,
        name: str,
        part: str,
        body: dict[str, Any],
        *,
        params: Params | None = None,
        max_retries: int | None = None,
    ) -> None:
        """Post an order to an object; that it is accepted is all the answer says."""
        request = await self._collection.request(
            "create", name=name, subresource=part, params=params, max_retries=max_retries
        )
        metadata = {"name": name, "namespace": request.namespace}
        await self._collection.rest.send(
            request.replace(body=body_of({**body, "metadata": metadata}))
        )


def about(obj: Any) -> FieldSelector:
    """Selects the events about an object: `events.list(fields=about(pod))`.

    What the object does not say (no uid, say) is not asked for.
    """
    data = obj if isinstance(obj, dict) else obj.to_dict()
    metadata = data.get("metadata") or {}
    said = {
        "involvedObject.name": metadata.get("name"),
        "involvedObject.namespace": metadata.get("namespace"),
        "involvedObject.kind": data.get("kind"),
        "involvedObject.uid": metadata.get("uid"),
    }
    return field_selector_from_map({key: value for key, value in said.items() if value})
