"""Which collection is meant, and the way to it.

Promises: a kind that is known only by name is looked up at the first request and not
before; no request is made for an object that says it is in another namespace.
Elsewhere: what is asked of it (`verbs`, `resource`), paths (`kubeloop.rest`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypedDict, Unpack, final

from kubeloop.kit import Clock, SystemClock
from kubeloop.machinery import GroupResource, InvalidValue
from kubeloop.rest import (
    Answer,
    Headers,
    Params,
    Request,
    RequestSender,
    Timeouts,
    resource_request,
)
from kubeloop.wire import ResourceInfo

__all__ = ["ALL", "Collection", "Lookup", "RequestOptions"]

ALL = ""
"""For `namespace`: all of them. None is the one that the configuration names."""

Lookup = Callable[[], Awaitable[ResourceInfo]]


class RequestOptions(TypedDict, total=False):
    """What a request says besides the object it is about; as for `rest.resource_request`."""

    suffix: str
    params: Params | None
    headers: Headers
    body: bytes | None
    content_type: str
    accept: str
    timeout: float | None
    timeouts: Timeouts | None
    max_retries: int | None


@final
class Collection:
    """A resource in one namespace, in all, or in none; immutable."""

    def __init__(
        self,
        rest: RequestSender,
        resource: ResourceInfo | Lookup,
        *,
        namespace: str | None = None,
        default_namespace: str = "default",
        field_manager: str = "",
        clock: Clock | None = None,
    ) -> None:
        self.rest = rest
        self.namespace = namespace
        self.field_manager = field_manager
        self.clock: Clock = clock or SystemClock()
        self._resource = resource
        self._default = default_namespace

    async def info(self) -> ResourceInfo:
        """The resource, looked up where only its name was given. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        if not isinstance(self._resource, ResourceInfo):
            self._resource = await self._resource()
        return self._resource

    def within(self, namespace: str | None) -> Collection:
        """The same resource in another namespace."""
        return Collection(
            self.rest,
            self._resource,
            namespace=namespace,
            default_namespace=self._default,
            field_manager=self.field_manager,
            clock=self.clock,
        )

    async def request(
        self,
        verb: str,
        *,
        of: dict[str, Any] | None = None,
        name: str = "",
        subresource: str = "",
        **options: Unpack[RequestOptions],
    ) -> Request:
        """A request to this collection; `of` is the object it is about, which names itself.

        Raises: InvalidValue when the object has no name, or is in another namespace.
        """
        info = await self.info()
        said = _metadata_of(of)
        inside = self._namespace_for(info, said.get("namespace") or "")
        # What is created is not there yet: its name is in the body alone.
        own = "" if verb == "create" else said.get("name") or ""
        return resource_request(
            verb, info, namespace=inside, name=name or own, subresource=subresource, **options
        )

    async def send(
        self,
        verb: str,
        *,
        of: dict[str, Any] | None = None,
        name: str = "",
        subresource: str = "",
        **options: Unpack[RequestOptions],
    ) -> Answer:
        """Make a request and send it. Raises: what the server answers."""
        request = await self.request(verb, of=of, name=name, subresource=subresource, **options)
        return await self.rest.send(request)

    async def group_resource(self) -> GroupResource:
        """The resource's name for messages."""
        info = await self.info()
        return GroupResource(info.group, info.plural)

    def __repr__(self) -> str:
        resource = self._resource
        name = resource.plural if isinstance(resource, ResourceInfo) else "a kind to be looked up"
        where = {None: self._default, ALL: "all namespaces"}.get(self.namespace, self.namespace)
        return f"{name} in {where}"

    def _namespace_for(self, info: ResourceInfo, own: str) -> str:
        if not info.namespaced:
            return self.namespace or ""  # one that was asked for is refused by the request
        if self.namespace is None:
            return own or self._default
        if own and self.namespace and own != self.namespace:
            raise InvalidValue(
                f"{info.plural}: the object is in namespace {own!r}, the client is for"
                f" {self.namespace!r} (use the client of its namespace)"
            )
        return self.namespace or own


def _metadata_of(data: dict[str, Any] | None) -> dict[str, Any]:
    found = (data or {}).get("metadata")
    return found if isinstance(found, dict) else {}
