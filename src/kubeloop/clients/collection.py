"""A collection of the API: its path, and the requests to it.

Guarantees: a kind that is known only by name is looked up at the first request; an object of
another namespace is rejected before a request.
See also: `resource` (verbs), `kubeloop.rest` (paths).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypedDict, Unpack, final

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock
from kubeloop.meta import GroupResource
from kubeloop.rest import (
    Headers,
    ItemStream,
    Params,
    Request,
    RequestSender,
    RequestSpacing,
    Response,
    Timeouts,
    Watch,
    resource_request,
)
from kubeloop.wire import RawList, ResourceInfo

from .formats import ReadFormats
from .options import ListOptions, WatchOptions

__all__ = ["ALL_NAMESPACES", "Collection", "Lookup", "RawCollection", "RequestOptions"]

ALL_NAMESPACES = ""
"""For `namespace`: all namespaces. None is the namespace of the configuration."""

Lookup = Callable[[], Awaitable[ResourceInfo]]


class RequestOptions(TypedDict, total=False):
    """Keywords of a request besides its object, as for `rest.resource_request`."""

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
    """A resource in one namespace, in all, or cluster-scoped; immutable.

    With a `subresource`, requests go to that subresource of its objects. With `tune_gc` the
    garbage collector is paused while a page is decoded.
    """

    def __init__(
        self,
        rest: RequestSender,
        resource: ResourceInfo | Lookup,
        *,
        namespace: str | None = None,
        default_namespace: str = "default",
        field_manager: str = "",
        subresource: str = "",
        tune_gc: bool = False,
        formats: ReadFormats | None = None,
    ) -> None:
        self.rest = rest
        self.formats = formats or ReadFormats("json")
        self.namespace = namespace
        self.field_manager = field_manager
        self.subresource = subresource
        self.tune_gc = tune_gc
        self._resource = resource
        self._default = default_namespace

    @property
    def clock(self) -> Clock:
        return self.rest.clock

    async def info(self) -> ResourceInfo:
        """The resource; a kind given by name is looked up. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        if not isinstance(self._resource, ResourceInfo):
            self._resource = await self._resource()
        return self._resource

    def in_namespace(self, namespace: str | None) -> Collection:
        """The same resource in another namespace."""
        return self._copy(namespace, self.subresource)

    def at_subresource(self, name: str) -> Collection:
        """The same resource, for requests to one subresource of its objects."""
        return self._copy(self.namespace, name)

    def at_resource(self, resource: ResourceInfo) -> Collection:
        """Another resource in the same namespace."""
        return Collection(
            self.rest,
            resource,
            namespace=self.namespace if resource.namespaced else None,
            default_namespace=self._default,
            field_manager=self.field_manager,
            tune_gc=self.tune_gc,
        )

    def _copy(self, namespace: str | None, subresource: str) -> Collection:
        return Collection(
            self.rest,
            self._resource,
            namespace=namespace,
            default_namespace=self._default,
            field_manager=self.field_manager,
            subresource=subresource,
            tune_gc=self.tune_gc,
            formats=self.formats,
        )

    async def request(
        self,
        verb: str,
        *,
        obj: dict[str, Any] | None = None,
        name: str = "",
        subresource: str = "",
        **options: Unpack[RequestOptions],
    ) -> Request:
        """A request to this collection; `obj` is an object that has the name.

        Raises: InvalidArgument when the object has no name, or is in another namespace.
        """
        resource = self._resource
        info = resource if isinstance(resource, ResourceInfo) else await self.info()
        return self._request(info, verb, obj, name=name, subresource=subresource, options=options)

    async def send(
        self,
        verb: str,
        *,
        obj: dict[str, Any] | None = None,
        name: str = "",
        subresource: str = "",
        **options: Unpack[RequestOptions],
    ) -> Response:
        """Create a request and send it. Raises: ApiError, TransportError."""
        resource = self._resource
        info = resource if isinstance(resource, ResourceInfo) else await self.info()
        return await self.rest.send(
            self._request(info, verb, obj, name=name, subresource=subresource, options=options)
        )

    def _request(
        self,
        info: ResourceInfo,
        verb: str,
        obj: dict[str, Any] | None,
        *,
        name: str,
        subresource: str,
        options: RequestOptions,
    ) -> Request:
        subresource = subresource or self.subresource
        own = ""  # the namespace of the object
        if obj is not None:
            metadata = obj.get("metadata")
            if not isinstance(metadata, dict):
                metadata = {}
            own = metadata.get("namespace") or ""
            # The path of a create has no name, unless it is for a subresource.
            if verb != "create" or subresource:
                name = name or metadata.get("name") or ""
            if verb == "create" and subresource and not name:
                raise InvalidArgument(f"create {subresource}: the object has no name (set it)")
        namespace = self.namespace
        if not info.namespaced:
            own = ""  # ignored, as by the server; the request rejects a namespace of the client
        elif namespace is None:
            namespace = own or self._default
        elif own and namespace and own != namespace:
            raise InvalidArgument(
                f"{info.plural}: the object is in namespace {own!r}, the client is for"
                f" {namespace!r} (use a client of the object's namespace)"
            )
        return resource_request(
            verb,
            info,
            namespace=namespace or own,
            name=name,
            subresource=subresource,
            **options,
        )

    @property
    def resource_name(self) -> str:
        """The resource as logs name it: `deployments.apps`."""
        resource = self._resource
        return (
            str(GroupResource(resource.group, resource.plural))
            if isinstance(resource, ResourceInfo)
            else "objects of an unresolved kind"
        )

    async def group_resource(self) -> GroupResource:
        """The name of the resource, for messages."""
        info = await self.info()
        return GroupResource(info.group, info.plural)

    def __repr__(self) -> str:
        resource = self._resource
        name = resource.plural if isinstance(resource, ResourceInfo) else "an unresolved kind"
        where = {None: self._default, ALL_NAMESPACES: "all namespaces"}.get(
            self.namespace, self.namespace
        )
        return f"{name} in {where}"


@final
class RawCollection:
    """Lists and watches one collection without decoding objects, for caches.

    A watch is one stream and is not resumed.
    """

    def __init__(self, collection: Collection, accept: str = "", *, watch_accept: str = "") -> None:
        self._collection = collection
        self._accept = accept
        self._watch_accept = watch_accept

    def accepting(self, accept: str, watch_accept: str) -> RawCollection:
        """The same collection with other `Accept` headers, of lists and of watches."""
        return RawCollection(self._collection, accept, watch_accept=watch_accept)

    async def list(self, options: ListOptions | None = None) -> RawList:
        """One page. Raises: Expired. Safe to cancel."""
        request = await self.list_request(options or ListOptions())
        return (await self._collection.rest.send(request)).split()

    async def items(
        self, options: ListOptions | None = None, *, spacing: RequestSpacing | None = None
    ) -> ItemStream:
        """The items of one page as a stream, for long lists.

        `spacing` is shared by the requests of a caller that repeats them.
        """
        request = await self.list_request(options or ListOptions())
        return self._collection.rest.items(request.replace(spacing=spacing))

    async def watch(
        self,
        options: WatchOptions | None = None,
        *,
        max_retries: int | None = None,
        spacing: RequestSpacing | None = None,
    ) -> Watch:
        """One stream of events, opened when it is first read.

        `max_retries` limits the retries of opening it, instead of the client's limit; `spacing`
        is as for `items`.
        """
        request = await self.watch_request(options or WatchOptions())
        changed = request.replace(max_retries=max_retries, spacing=spacing)
        return self._collection.rest.watch(changed)

    async def list_request(self, options: ListOptions) -> Request:
        """The request of a list; `timeout_seconds` replaces the client's timeout."""
        return await self._collection.request(
            "list",
            params=options.params(),
            accept=self._accept,
            timeout=float(options.timeout_seconds or 0),
        )

    async def watch_request(self, options: WatchOptions) -> Request:
        """The request of a watch; `timeout_seconds` replaces the client's timeout."""
        return await self._collection.request(
            "watch",
            params=options.params(),
            accept=self._watch_accept,
            timeout=float(options.timeout_seconds or 0),
        )
