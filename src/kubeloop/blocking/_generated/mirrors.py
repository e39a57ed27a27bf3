# Generated from the async classes by tools/generate_blocking.py. Do not edit.

"""The async classes for code that waits: each method is the async one, waited for."""

# ruff: noqa: A002 - the API's own words

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, cast, final, overload

from kubeloop import clients, discovery, rest
from kubeloop.blocking.calls import here
from kubeloop.blocking.route import Route
from kubeloop.blocking.stream import Stream, awaited
from kubeloop.clients import (
    PAGE_SIZE,
    DeleteOptions,
    EventCondition,
    IncludeObject,
    ListArguments,
    ObjectList,
    PartialObjectMetadata,
    PatchBody,
    PatchType,
    Propagation,
    Selectors,
    Table,
    VersionMatch,
    WatchEvent,
    WriteOptions,
)
from kubeloop.config import ClusterConfig
from kubeloop.discovery import (
    ApiGroup,
    ApiResource,
    Discovered,
    MapperStats,
    OpenApiPath,
    VersionInfo,
)
from kubeloop.machinery import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from kubeloop.rest import Params, Request, Response, RESTStats, WarningHandler
from kubeloop.wire import RawEvent, ResourceInfo

if TYPE_CHECKING:
    from kubeloop.wire.authentication.v1 import BoundObjectReference, TokenRequest
    from kubeloop.wire.autoscaling.v1 import Scale
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import Namespace, Node, Pod, Service, ServiceAccount

__all__ = [
    "DeferredMapper",
    "DiscoveryClient",
    "MetadataClient",
    "OpenApiV3",
    "Proxy",
    "RESTClient",
    "ResourceClient",
    "ScaleClient",
    "ScaleVerbs",
    "SubresourceClient",
]

P = TypeVar("P", "Pod", "Service", "Node")
T = TypeVar("T")


@final
class ResourceClient(Generic[T]):
    """As `kubeloop.clients.ResourceClient`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.ResourceClient[T]]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    @property
    def namespace(self) -> str | None:
        """As it was given: None is the configuration's, `ALL` all of them."""
        return self._route.read(lambda to: to.namespace)

    @property
    def object_type(self) -> type[T]:
        """As what objects are read and sent: their class, or `dict`."""
        return self._route.read(lambda to: to.object_type)

    def in_namespace(self, namespace: str | None) -> ResourceClient[T]:
        """The same kind in another namespace; this one stays what it is."""
        return ResourceClient(self._route.then(lambda to: to.in_namespace(namespace)))

    def info(self) -> ResourceInfo:
        """Where the collection is and what it can do. Safe to break off.

        Raises: NoKindMatch when the server has no such kind.
        """
        return self._route.call(lambda to: to.info())

    def get(self, name: str, *, resource_version: str = "") -> T:
        """The object; with `resource_version="0"` one from the server's cache will do.

        Raises: NotFound. Safe to break off.
        """
        return self._route.call(lambda to: to.get(name, resource_version=resource_version))

    def get_or_none(self, name: str, *, resource_version: str = "") -> T | None:
        """The object, or None when there is none of this name. Safe to break off.

        Raises: NotFound when it is the kind that the server does not have.
        """
        return self._route.call(lambda to: to.get_or_none(name, resource_version=resource_version))

    def exists(self, name: str) -> bool:
        """Whether there is an object of this name. Safe to break off.

        Raises: NotFound when it is the kind that the server does not have.
        """
        return self._route.call(lambda to: to.exists(name))

    def list(self, **options: Unpack[ListArguments]) -> ObjectList[T]:
        """One page of the collection; without `limit`, all of it. Safe to break off.

        Raises: Expired when `resource_version` or `next_page` is too old.
        """
        return self._route.call(lambda to: to.list(**options))

    def list_all(
        self,
        *,
        page_size: int = PAGE_SIZE,
        resource_version: str = "",
        resource_version_match: VersionMatch | None = None,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[T]:
        """The whole collection, fetched in pages. Safe to break off.

        When the server forgets in the middle, it is fetched anew in one.
        """
        return self._route.call(
            lambda to: to.list_all(
                page_size=page_size,
                resource_version=resource_version,
                resource_version_match=resource_version_match,
                **selectors,
            )
        )

    def each(self, *, page_size: int = PAGE_SIZE, **selectors: Unpack[Selectors]) -> Stream[T]:
        """Every object, one by one, fetched in pages and decoded when its turn comes.

        None comes twice. When the server forgets in the middle it goes on from where the
        server says, else from a new list.
        """
        return self._route.stream(lambda to: to.each(page_size=page_size, **selectors))

    def table(
        self,
        name: str = "",
        *,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
        **selectors: Unpack[Selectors],
    ) -> Table:
        """What `kubectl get` shows, of one object or of the collection. Safe to break off."""
        return self._route.call(
            lambda to: to.table(
                name, limit=limit, next_page=next_page, include_object=include_object, **selectors
            )
        )

    def watch(
        self,
        *,
        resource_version: str | None = None,
        timeout_seconds: int | None = None,
        **selectors: Unpack[Selectors],
    ) -> Stream[WatchEvent[T]]:
        """The changes after `resource_version`, until you close the watch.

        A stream that breaks is resumed at its last version. Without `resource_version`, all
        existing objects come first, as ADDED.
        If you leave early, close it (or use `with`).
        Raises: Expired when the version is too old: list, and watch from there.
        """
        return self._route.stream(
            lambda to: to.watch(
                resource_version=resource_version, timeout_seconds=timeout_seconds, **selectors
            )
        )

    def until(
        self, *conditions: EventCondition[T], resource_version: str, **selectors: Unpack[Selectors]
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        Raises: Expired when `resource_version` is too old. Safe to break off.
        """
        return self._route.call(
            lambda to: to.until(*conditions, resource_version=resource_version, **selectors)
        )

    @overload
    def wait_for(
        self, name: str, *, deleted: Literal[True], timeout: float | None = ...
    ) -> None: ...

    @overload
    def wait_for(self, name: str, *, condition: str, timeout: float | None = ...) -> T: ...

    @overload
    def wait_for(self, name: str, *, jsonpath: str, timeout: float | None = ...) -> T: ...

    @overload
    def wait_for(
        self, name: str, *, function: Callable[[T], bool], timeout: float | None = ...
    ) -> T: ...

    def wait_for(
        self,
        name: str,
        *,
        condition: str = "",
        jsonpath: str = "",
        deleted: bool = False,
        function: Callable[[T], bool] | None = None,
        timeout: float | None = 30.0,
    ) -> T | None:
        """Wait until an object, there or still to come, is as it is wanted, and return it.

        `condition` is `Ready` or `Ready=False`, `jsonpath` is `{.status.phase}=Running` or
        a path that is to exist, `function` gets the object. Safe to break off.
        Raises: WaitTimeout, which says what was last seen.
        """
        return self._route.call(
            lambda to: cast("Callable[..., Awaitable[T | None]]", to.wait_for)(
                name,
                condition=condition,
                jsonpath=jsonpath,
                deleted=deleted,
                function=function,
                timeout=timeout,
            )
        )

    def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Make a new object, and return it as the server has it.

        Raises: AlreadyExists, Invalid. One broken off may have made it.
        """
        return self._route.call(lambda to: to.create(obj, **options))

    def create_or_update(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Make the object, or bring what it says into the one that is there.

        Fields that `obj` does not mention stay as they are; nothing is sent when nothing
        would change. Raises: Invalid. One broken off may have changed it.
        """
        return self._route.call(lambda to: to.create_or_update(obj, **options))

    def update(self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Put the whole object in place of the one that is there, and return the new one.

        The version and uid in `obj` are sent, so that an object from a stale cache is
        refused. One without a version would erase what others wrote since: it is not sent,
        unless `unconditional`, which leaves the version out and replaces whatever is there.
        Raises: Conflict when the object has changed since it was read; Invalid; InvalidValue
        for an object without a version. One broken off may have changed it.
        """
        return self._route.call(lambda to: to.update(obj, unconditional=unconditional, **options))

    def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Change some fields and return the new object; bytes are sent as they are.

        A patch changes the object that is there now, however old what you read is: the
        fields that it names are overwritten. It is refused for a newer object only if it
        says a version itself (`metadata.resourceVersion`, or a `test` operation); an object
        that was read and is sent as a patch says one.
        `strategic` is for built-in kinds only; `force` for `apply` only.
        Raises: Invalid, and Conflict where the patch names a version.
        One broken off may have changed it.
        """
        return self._route.call(lambda to: to.patch(name, patch, type=type, force=force, **options))

    def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Server-side apply: make the object have what `obj` says, and own those fields.

        Raises: Conflict when another manager owns a field, unless `force`.
        One broken off may have changed it.
        """
        return self._route.call(lambda to: to.apply(obj, force=force, **options))

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractContextManager[T]:
        """Change the object in a `with` block; only the difference is sent, when it ends.

            with pods.edit("web") as pod:
                pod.metadata.labels["tier"] = "front"

        The block runs once. When others changed other fields meanwhile, the difference is
        made in the newer object, as often as needed until `timeout` seconds after the block;
        when they changed one of the same fields, to whatever value, that is a `Conflict`
        that names it. With `strict` any change since the read is one: for a block whose
        decision depends on fields that it does not change. Nothing is sent when the block
        raises or changes nothing; afterwards the object is as the server has it. What only
        the server writes (version, generation, managed fields) is neither sent nor compared.
        Raises: Conflict when nothing was stored because of another writer, also when the
        object was deleted and created again; TimeoutExceeded; InvalidValue for a change
        that the server would ignore. One broken off may have stored the change.
        """
        return self._route.scope(
            lambda to: to.edit(name, strict=strict, timeout=timeout, **options)
        )

    def modify(
        self,
        name: str,
        function: Callable[[T], T | None],
        *,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Read, let `function` change the object, send the difference; again on a conflict.

        `function` changes what it is given, or returns another object in its place. It is
        called again, on a fresh read, whenever the object was changed after the read, until
        the change is stored or `timeout` seconds are over; so what it decides holds for the
        object that is stored. It is never called again after a change that may be stored.
        A call of it is not interrupted by the timeout. Returns the object as the server has
        it; nothing is sent when nothing was changed.
        Raises: TimeoutExceeded when others were faster all the time; InvalidValue for a
        change that the server would ignore. One broken off may have stored the change.
        """
        return self._route.call(
            lambda to: to.modify(name, here(function), timeout=timeout, **options)
        )

    def delete(
        self, name: str, *, missing_ok: bool = False, **options: Unpack[DeleteOptions]
    ) -> None:
        """Delete an object; it may stay until its finalizers are done.

        Raises: NotFound unless `missing_ok`, Conflict when it has another uid or version.
        One broken off may have deleted it.
        """
        self._route.call(lambda to: to.delete(name, missing_ok=missing_ok, **options))

    def delete_collection(
        self,
        *,
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
        timeout_seconds: int | None = None,
        limit: int = 0,
        resource_version: str = "",
        **selectors: Unpack[Selectors],
    ) -> None:
        """Delete all objects that the selectors select. One broken off may have begun."""
        self._route.call(
            lambda to: to.delete_collection(
                propagation=propagation,
                grace_period=grace_period,
                dry_run=dry_run,
                timeout_seconds=timeout_seconds,
                limit=limit,
                resource_version=resource_version,
                **selectors,
            )
        )

    def subresource(self, name: str) -> SubresourceClient[T]:
        """A part that holds the same kind as the object itself."""
        return SubresourceClient(self._route.then(lambda to: to.subresource(name)))

    @property
    def status(self) -> SubresourceClient[T]:
        """What is, beside what is wanted."""
        return SubresourceClient(self._route.then(lambda to: to.status))

    @property
    def scale(self) -> ScaleVerbs:
        """The number of replicas, in the one form that all kinds share."""
        return ScaleVerbs(self._route.then(lambda to: to.scale))

    @property
    def ephemeral_containers(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The containers that were added to a running pod."""
        return SubresourceClient(self._route.then(lambda to: to.ephemeral_containers))

    @property
    def resize(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return SubresourceClient(self._route.then(lambda to: to.resize))

    @property
    def approval(
        self: ResourceClient[CertificateSigningRequest],
    ) -> SubresourceClient[CertificateSigningRequest]:
        """Whether a certificate is granted."""
        return SubresourceClient(self._route.then(lambda to: to.approval))

    @property
    def finalize(self: ResourceClient[Namespace]) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return SubresourceClient(self._route.then(lambda to: to.finalize))

    def evict(
        self: ResourceClient[Pod],
        name: str,
        *,
        max_retries: int | None = None,
        **options: Unpack[DeleteOptions],
    ) -> None:
        """Delete a pod if its disruption budget allows it.

        A refusal that says when to come back is tried again, as any such answer is, up to
        ten times; `max_retries=0` gives up at once.
        Raises: TooManyRequests, NotFound. One broken off may have evicted it.
        """
        self._route.call(lambda to: to.evict(name, max_retries=max_retries, **options))

    def bind(self: ResourceClient[Pod], name: str, *, node: str, dry_run: bool = False) -> None:
        """Assign a pod to a node, as a scheduler does.

        Raises: Conflict when it is assigned already. One broken off may have bound it.
        """
        self._route.call(lambda to: to.bind(name, node=node, dry_run=dry_run))

    def logs(
        self: ResourceClient[Pod],
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
    ) -> Stream[str]:
        """The lines of a container's log; with `follow`, those to come as well.

        Bytes that are no UTF-8 are replaced. Ends when the server ends it; leaving early
        closes the connection. Raises: NotFound, BadRequest while there is no log yet.
        """
        return self._route.stream(
            lambda to: to.logs(
                name,
                container=container,
                follow=follow,
                previous=previous,
                since_seconds=since_seconds,
                since_time=since_time,
                tail_lines=tail_lines,
                limit_bytes=limit_bytes,
                timestamps=timestamps,
                stream=stream,
                insecure_skip_tls_verify_backend=insecure_skip_tls_verify_backend,
            )
        )

    def token(
        self: ResourceClient[ServiceAccount],
        name: str,
        *,
        audiences: Iterable[str] = (),
        expiration_seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequest:
        """A token for the service account; it is in `status.token`.

        One broken off may have made one.
        """
        return self._route.call(
            lambda to: to.token(
                name, audiences=audiences, expiration_seconds=expiration_seconds, bound_to=bound_to
            )
        )

    def proxy(
        self: ResourceClient[P], name: str, *, port: str | int = "", scheme: str = ""
    ) -> Proxy:
        """HTTP through the API server to a pod, a service or a node's kubelet."""
        return Proxy(self._route.then(lambda to: to.proxy(name, port=port, scheme=scheme)))


@final
class SubresourceClient(Generic[T]):
    """As `kubeloop.clients.SubresourceClient`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.SubresourceClient[T]]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def get(self, name: str, *, resource_version: str = "") -> T:
        """As `ResourceClient.get`."""
        return self._route.call(lambda to: to.get(name, resource_version=resource_version))

    def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Post to the part of the object whose name `obj` has, and return the answer.

        Raises: InvalidValue without a name. One broken off may have done it.
        """
        return self._route.call(lambda to: to.create(obj, **options))

    def update(self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]) -> T:
        """As `ResourceClient.update`."""
        return self._route.call(lambda to: to.update(obj, unconditional=unconditional, **options))

    def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> T:
        """As `ResourceClient.patch`."""
        return self._route.call(lambda to: to.patch(name, patch, type=type, force=force, **options))

    def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """As `ResourceClient.apply`."""
        return self._route.call(lambda to: to.apply(obj, force=force, **options))

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractContextManager[T]:
        """As `ResourceClient.edit`."""
        return self._route.scope(
            lambda to: to.edit(name, strict=strict, timeout=timeout, **options)
        )

    def modify(
        self,
        name: str,
        function: Callable[[T], T | None],
        *,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> T:
        """As `ResourceClient.modify`."""
        return self._route.call(
            lambda to: to.modify(name, here(function), timeout=timeout, **options)
        )


@final
class ScaleVerbs:
    """As `kubeloop.clients.ScaleVerbs`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.ScaleVerbs]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def get(self, name: str, *, resource_version: str = "") -> Scale:
        """As `ResourceClient.get`."""
        return self._route.call(lambda to: to.get(name, resource_version=resource_version))

    def set(
        self,
        name: str,
        replicas: int,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        expected_version: str = "",
    ) -> Scale:
        """Ask for so many replicas; with `expected_version`, only if the object is still at it.

        Raises: Conflict when it is not. One broken off may have changed it.
        """
        return self._route.call(
            lambda to: to.set(
                name,
                replicas,
                dry_run=dry_run,
                field_manager=field_manager,
                expected_version=expected_version,
            )
        )

    def update(
        self, obj: Scale, *, unconditional: bool = False, **options: Unpack[WriteOptions]
    ) -> Scale:
        """As `ResourceClient.update`."""
        return self._route.call(lambda to: to.update(obj, unconditional=unconditional, **options))

    def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> Scale:
        """As `ResourceClient.patch`."""
        return self._route.call(lambda to: to.patch(name, patch, type=type, force=force, **options))

    def apply(self, obj: Scale, *, force: bool = False, **options: Unpack[WriteOptions]) -> Scale:
        """As `ResourceClient.apply`."""
        return self._route.call(lambda to: to.apply(obj, force=force, **options))

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractContextManager[Scale]:
        """As `ResourceClient.edit`."""
        return self._route.scope(
            lambda to: to.edit(name, strict=strict, timeout=timeout, **options)
        )

    def modify(
        self,
        name: str,
        function: Callable[[Scale], Scale | None],
        *,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> Scale:
        """As `ResourceClient.modify`."""
        return self._route.call(
            lambda to: to.modify(name, here(function), timeout=timeout, **options)
        )


@final
class MetadataClient:
    """As `kubeloop.clients.MetadataClient`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.MetadataClient]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def in_namespace(self, namespace: str | None) -> MetadataClient:
        """The same kind in another namespace; this one stays what it is."""
        return MetadataClient(self._route.then(lambda to: to.in_namespace(namespace)))

    def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        """As `ResourceClient.get`."""
        return self._route.call(lambda to: to.get(name, resource_version=resource_version))

    def list(self, **options: Unpack[ListArguments]) -> ObjectList[PartialObjectMetadata]:
        """As `ResourceClient.list`."""
        return self._route.call(lambda to: to.list(**options))

    def each(self, **selectors: Unpack[Selectors]) -> Stream[PartialObjectMetadata]:
        """As `ResourceClient.each`."""
        return self._route.stream(lambda to: to.each(**selectors))

    def watch(
        self, *, resource_version: str | None = None, **selectors: Unpack[Selectors]
    ) -> Stream[WatchEvent[PartialObjectMetadata]]:
        """As `ResourceClient.watch`."""
        return self._route.stream(
            lambda to: to.watch(resource_version=resource_version, **selectors)
        )

    def patch(
        self, name: str, patch: PatchBody, *, type: PatchType, **options: Unpack[WriteOptions]
    ) -> PartialObjectMetadata:
        """As `ResourceClient.patch`."""
        return self._route.call(lambda to: to.patch(name, patch, type=type, **options))

    def delete(self, name: str, **options: Unpack[DeleteOptions]) -> None:
        """As `ResourceClient.delete`."""
        self._route.call(lambda to: to.delete(name, **options))

    def delete_collection(
        self, *, propagation: Propagation | None = None, **selectors: Unpack[Selectors]
    ) -> None:
        """As `ResourceClient.delete_collection`."""
        self._route.call(lambda to: to.delete_collection(propagation=propagation, **selectors))


@final
class ScaleClient:
    """As `kubeloop.clients.ScaleClient`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.ScaleClient]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def get(self, resource: GroupResource, namespace: str, name: str) -> Scale:
        """The scale of an object. Raises: NotFound, NoResourceMatch. Safe to break off."""
        return self._route.call(lambda to: to.get(resource, namespace, name))

    def update(
        self, resource: GroupResource, namespace: str, scale: Scale, *, dry_run: bool = False
    ) -> Scale:
        """Put a scale in place of the one there is.

        Raises: Conflict, InvalidValue when the resource has no scale.
        One broken off may have changed it.
        """
        return self._route.call(lambda to: to.update(resource, namespace, scale, dry_run=dry_run))

    def patch(
        self,
        resource: GroupVersionResource,
        namespace: str,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
    ) -> Scale:
        """Change fields of a scale. One broken off may have changed it."""
        return self._route.call(lambda to: to.patch(resource, namespace, name, patch, type=type))


@final
class Proxy:
    """As `kubeloop.clients.Proxy`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.Proxy]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def get(self, path: str = "", *, params: Params | None = None) -> bytes:
        """The body of `path`. Raises: ApiError. Safe to break off."""
        return self._route.call(lambda to: to.get(path, params=params))

    def request(
        self,
        method: str,
        path: str = "",
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "",
    ) -> Response:
        """Any request, and the whole answer. Raises: ApiError.
        One broken off may have reached the other side.
        """
        return self._route.call(
            lambda to: to.request(
                method, path, params=params, headers=headers, body=body, content_type=content_type
            )
        )

    def stream(self, path: str = "", *, params: Params | None = None) -> Stream[bytes]:
        """The body of `path` piece by piece."""
        return self._route.stream(lambda to: awaited(to.stream(path, params=params)))


@final
class DiscoveryClient:
    """As `kubeloop.discovery.DiscoveryClient`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[discovery.DiscoveryClient]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    @property
    def openapi(self) -> OpenApiV3:
        return OpenApiV3(self._route.then(lambda to: to.openapi))

    def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions, the core group first."""
        return self._route.call(lambda to: to.groups())

    def overview(self) -> tuple[tuple[ApiGroup, ...], Discovered | None]:
        """The groups and, where the server said it all at once, everything.

        Raises: what `/apis` fails with; a missing `/api` only means: no core group.
        """
        return self._route.call(lambda to: to.overview())

    def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of one group version, parts such as `pods/status` included.

        Raises: InvalidValue for an empty version; what the server answers, but a missing
        `v1` is an empty one.
        """
        return self._route.call(lambda to: to.resources(version))

    def discover(self) -> Discovered:
        """Everything; what failed is in `failures`, after a second try."""
        return self._route.call(lambda to: to.discover())

    def preferred(self, *, namespaced: bool = False) -> dict[GroupVersion, tuple[ApiResource, ...]]:
        """Each resource once, in the version to use; with `namespaced` only those in one."""
        return self._route.call(lambda to: to.preferred(namespaced=namespaced))

    def version(self) -> VersionInfo:
        """The server's version."""
        return self._route.call(lambda to: to.version())

    def openapi_v2(self) -> bytes:
        """The OpenAPI v2 document as it comes: protobuf."""
        return self._route.call(lambda to: to.openapi_v2())

    def supports(self, version: GroupVersion) -> bool:
        """Whether a group version is served; a server that lists nothing is believed to."""
        return self._route.call(lambda to: to.supports(version))

    def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served (client-go: `IsResourceEnabled`)."""
        return self._route.call(lambda to: to.serves(resource))


@final
class OpenApiV3:
    """As `kubeloop.discovery.OpenApiV3`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[discovery.OpenApiV3]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def paths(self) -> dict[str, OpenApiPath]:
        """The index. Safe to break off."""
        return self._route.call(lambda to: to.paths())

    def document(self, key: str | GroupVersion) -> dict[str, Any]:
        """The document of a group version, or of any other key of the index. Safe to break off.

        Raises: InvalidValue when the index has no such key.
        """
        return self._route.call(lambda to: to.document(key))

    def invalidate(self) -> None:
        """Forget the index, also one that is on its way."""
        self._route.read(lambda to: to.invalidate())


@final
class DeferredMapper:
    """As `kubeloop.discovery.DeferredMapper`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[discovery.DeferredMapper]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    def resources_for(self, wanted: GroupVersionResource) -> list[GroupVersionResource]:
        """As `RESTMapper.resources_for`."""
        return self._route.call(lambda to: to.resources_for(wanted))

    def resource_for(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.resource_for`."""
        return self._route.call(lambda to: to.resource_for(wanted))

    def kinds_for(self, wanted: GroupVersionResource) -> list[GroupVersionKind]:
        """As `RESTMapper.kinds_for`."""
        return self._route.call(lambda to: to.kinds_for(wanted))

    def kind_for(self, wanted: GroupVersionResource) -> GroupVersionKind:
        """As `RESTMapper.kind_for`."""
        return self._route.call(lambda to: to.kind_for(wanted))

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """As `RESTMapper.mappings`."""
        return self._route.call(lambda to: to.mappings(kind, *versions))

    def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """As `RESTMapper.mapping`."""
        return self._route.call(lambda to: to.mapping(kind, *versions))

    def find(self, word: str) -> ResourceInfo:
        """As `RESTMapper.find`."""
        return self._route.call(lambda to: to.find(word))

    def singular_of(self, resource: str) -> str:
        """As `RESTMapper.singular_of`."""
        return self._route.call(lambda to: to.singular_of(resource))

    def expand(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.expand`."""
        return self._route.call(lambda to: to.expand(wanted))

    def category(self, word: str) -> tuple[GroupResource, ...]:
        """As `RESTMapper.category`."""
        return self._route.call(lambda to: to.category(word))

    def reset(self) -> None:
        """Forget what was discovered, and what was built from it."""
        self._route.read(lambda to: to.reset())

    def stats(self) -> MapperStats:
        return self._route.read(lambda to: to.stats())


@final
class RESTClient:
    """As `kubeloop.rest.RESTClient`, waited for."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[rest.RequestSender]) -> None:
        self._route = route

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    @property
    def config(self) -> ClusterConfig:
        return self._route.read(lambda to: to.config)

    def url(self, request: Request) -> str:
        """The whole URL of the request."""
        return self._route.read(lambda to: to.url(request))

    def send(self, request: Request, *, warnings: WarningHandler | None = None) -> Response:
        """Send the request and read the whole response.

        Safe to break off: the connection is closed; the server may have executed the request.

        Raises:
            ApiError: the response is not a success.
            InFlightTimeout: no in-flight slot became free in time.
            ResponseTooLarge: the response is larger than its limit.
            TransportError: no whole response arrived in time.
            ConfigError: credentials or certificates are not available.
        """
        return self._route.call(lambda to: to.send(request, warnings=warnings))

    def watch(
        self,
        request: Request,
        *,
        max_duration: float | None = None,
        warnings: WarningHandler | None = None,
    ) -> Stream[RawEvent]:
        """A watch that is opened when it is entered or first read.

        `max_duration` ends it after so many seconds. The default is 5 to 10 minutes, at random,
        and is sent to the server as `timeoutSeconds` unless the request has its own.
        """
        return self._route.stream(
            lambda to: to.watch(request, max_duration=max_duration, warnings=warnings)
        )

    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> Stream[bytes]:
        """A body that is read in chunks, such as a log; opened when it is entered or first read.

        A log that is followed may be silent for a long time: set `timeouts=Timeouts(idle=None)`
        in its request.
        """
        return self._route.stream(lambda to: to.stream(request, warnings=warnings))

    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> Stream[bytes]:
        """The items of a list one by one; memory does not grow with the length of the list."""
        return self._route.stream(lambda to: to.items(request, warnings=warnings))

    def stats(self) -> RESTStats:
        return self._route.read(lambda to: to.stats())
