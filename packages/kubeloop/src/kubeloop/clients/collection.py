"""A collection of the API: its path, the requests to it, and its objects.

Guarantees: a kind that is known only by name is looked up at the first request; an object of
another namespace is rejected before a request.
See also: `resource` (verbs), `object_codecs` (how objects are read), `kubeloop.rest` (paths).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypedDict, TypeVar, Unpack, final, overload

import msgspec

from kubeloop.errors import Cause, InvalidArgument, KubeError, NotFound, has_cause
from kubeloop.kit import Clock
from kubeloop.meta import GroupResource, Owner
from kubeloop.rest import (
    APPLY_PATCH,
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
from kubeloop.wire import Kind, RawList, ResourceInfo, resource_of

from .formats import ReadFormats, is_refusal
from .object_codecs import (
    DEFAULT_MANAGER,
    ObjectCodec,
    ObjectReader,
    TypedCodec,
    ViewReader,
    body_of,
    check_appliable,
    check_object,
)
from .options import ClientOptions, ListOptions, WatchOptions, WriteOptions, write_params

__all__ = [
    "ALL_NAMESPACES",
    "Collection",
    "Lookup",
    "ObjectCollection",
    "RawCollection",
    "RequestOptions",
    "is_object_missing",
]

ALL_NAMESPACES = ""
"""For `namespace`: all namespaces. None is the namespace of the configuration."""

_DEFAULTS = ClientOptions()

T = TypeVar("T")
K = TypeVar("K", bound=Kind)

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

    With a `subresource`, requests go to that subresource of its objects.
    """

    def __init__(
        self,
        rest: RequestSender,
        resource: ResourceInfo | Lookup,
        *,
        namespace: str | None = None,
        default_namespace: str = "default",
        options: ClientOptions = _DEFAULTS,
        subresource: str = "",
        formats: ReadFormats | None = None,
    ) -> None:
        self.rest = rest
        self.formats = formats or ReadFormats("json")
        self.namespace = namespace
        self.options = options
        self.subresource = subresource
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
            options=self.options,
        )

    def _copy(self, namespace: str | None, subresource: str) -> Collection:
        return Collection(
            self.rest,
            self._resource,
            namespace=namespace,
            default_namespace=self._default,
            options=self.options,
            subresource=subresource,
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
        request = await self.request(verb, obj=obj, name=name, subresource=subresource, **options)
        return await self.rest.send(request)

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


class ObjectCollection(msgspec.Struct, Generic[T], frozen=True):
    """A collection and the codec of its objects: what verbs, waits and rollouts work on."""

    collection: Collection
    codec: ObjectCodec[T]

    @property
    def clock(self) -> Clock:
        return self.collection.rest.clock

    def in_namespace(self, namespace: str | None) -> ObjectCollection[T]:
        """The same kind in another namespace."""
        return ObjectCollection(self.collection.in_namespace(namespace), self.codec)

    def at_subresource(self, name: str) -> ObjectCollection[T]:
        """The same objects, for requests to one subresource of them."""
        return ObjectCollection(self.collection.at_subresource(name), self.codec)

    def of_kind(self, kind: type[K]) -> ObjectCollection[K]:
        """The objects of another kind in the same namespace."""
        return ObjectCollection(self.collection.at_resource(resource_of(kind)), TypedCodec(kind))

    @property
    def raw(self) -> RawCollection:
        """Lists and watches without decoding, for caches."""
        codec = self.codec
        return RawCollection(self.collection, codec.accept_many, watch_accept=codec.accept_one)

    def reader(self, model: type[Any] | None) -> ObjectReader[Any]:
        """Reads the objects as another class, if there is one."""
        return self.codec if model is None else ViewReader(self.codec, model)

    def write_params(
        self, options: WriteOptions, *, force: bool | None = None, default_manager: str = ""
    ) -> Params:
        """The query parameters of a write; `force` and the default manager are for an apply."""
        manager = (
            options.get("field_manager") or self.collection.options.field_manager or default_manager
        )
        if force is None and not options and not manager:
            return ()
        return write_params(
            dry_run=options.get("dry_run", False),
            field_manager=manager,
            field_validation=options.get("field_validation"),
            force=force,
        )

    @overload
    async def get(self, name: str, *, resource_version: str = ...) -> T: ...
    @overload
    async def get(
        self, name: str, *, model: type[Any] | None, resource_version: str = ...
    ) -> Any: ...
    async def get(
        self, name: str, *, model: type[Any] | None = None, resource_version: str = ""
    ) -> Any:
        """One object, as protobuf if the client prefers it and the kind has it."""
        reader: ObjectReader[Any] = self.codec if model is None else ViewReader(self.codec, model)
        collection, accept, protobuf = self.collection, reader.accept_one, ""
        formats = collection.formats
        if formats.preference == "protobuf" and formats.uses_protobuf(collection.resource_name):
            accept = protobuf = reader.protobuf[0] or accept
        while True:
            request = await collection.request(
                "get",
                name=name,
                params={"resourceVersion": resource_version} if resource_version else None,
                accept=accept,
            )
            try:
                return reader.decode(await collection.rest.send(request))
            except KubeError as error:
                if not protobuf or accept != protobuf or not is_refusal(error):
                    raise
                formats.switch_to_json(collection.resource_name, error)
                accept = reader.accept_one

    async def get_or_none(
        self, name: str, *, model: type[Any] | None = None, resource_version: str = ""
    ) -> Any:
        """None if the object does not exist. Raises: NotFound if its resource does not."""
        try:
            return await self.get(name, model=model, resource_version=resource_version)
        except NotFound as error:
            if is_object_missing(error, name):
                return None
            raise

    async def apply(
        self, obj: T, options: WriteOptions, *, force: bool = False, owner: Owner | None = None
    ) -> T:
        """Server-side apply; the owner becomes the controller of the object."""
        params = self.write_params(options, force=force, default_manager=DEFAULT_MANAGER)
        data = check_appliable(check_object(self.codec.to_data(obj)))
        if owner is not None:
            from .manifests import set_owner

            set_owner(data, owner)
        return await self.send_object("patch", data, params, content_type=APPLY_PATCH)

    async def send_object(
        self, verb: str, data: dict[str, Any], params: Params, *, content_type: str = ""
    ) -> T:
        """Send a whole object; returns it as the server stored it."""
        request = await self.collection.request(
            verb,
            obj=data,
            body=body_of(data),
            content_type=content_type,
            params=params,
            accept=self.codec.accept_one,
        )
        return self.codec.decode(await self.collection.rest.send(request))

    async def send_patch(
        self,
        name: str,
        body: bytes,
        *,
        content_type: str,
        params: Params,
        max_retries: int | None = None,
    ) -> T:
        """Send a patch; returns the object as the server stored it."""
        request = await self.collection.request(
            "patch",
            name=name,
            body=body,
            content_type=content_type,
            params=params,
            accept=self.codec.accept_one,
            max_retries=max_retries,
        )
        return self.codec.decode(await self.collection.rest.send(request))

    def __repr__(self) -> str:
        return repr(self.collection)


def is_object_missing(error: NotFound, name: str) -> bool:
    """Whether the object is missing, and not its resource or the whole API."""
    details = error.status.details
    return (
        details is not None
        and details.name == name
        and not has_cause(error, Cause.UNEXPECTED_SERVER_RESPONSE)
    )
