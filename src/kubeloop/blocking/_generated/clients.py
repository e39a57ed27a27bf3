# Generated from the async classes by tools/generate_blocking.py. Do not edit.

"""The blocking forms of the async classes: each method runs the async one and waits for it."""

# ruff: noqa: A002 - names of the API

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, cast, final, overload

from kubeloop import clients, discovery, rest
from kubeloop.blocking.calls import in_caller_thread
from kubeloop.blocking.reference import LoopReference
from kubeloop.blocking.stream import Stream, iterate_awaited
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
from kubeloop.meta import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from kubeloop.rest import Answer, Params, Request, RESTStats, WarningHandler
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
    """The blocking form of `kubeloop.clients.ResourceClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.ResourceClient[T]]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @property
    def namespace(self) -> str | None:
        """As it was given: None is the configuration's, `ALL` all of them."""
        return self._reference.read(lambda wrapped: wrapped.namespace)

    @property
    def object_type(self) -> type[T]:
        """As what objects are read and sent: their class, or `dict`."""
        return self._reference.read(lambda wrapped: wrapped.object_type)

    def in_namespace(self, namespace: str | None) -> ResourceClient[T]:
        """The same kind in another namespace; this one stays what it is."""
        return ResourceClient(self._reference.then(lambda wrapped: wrapped.in_namespace(namespace)))

    def info(self) -> ResourceInfo:
        """Where the collection is and what it can do. Safe to interrupt.

        Raises: NoKindMatch when the server has no such kind.
        """
        return self._reference.call(lambda wrapped: wrapped.info())

    def get(self, name: str, *, resource_version: str = "") -> T:
        """The object; with `resource_version="0"` one from the server's cache will do.

        Raises: NotFound. Safe to interrupt.
        """
        return self._reference.call(
            lambda wrapped: wrapped.get(name, resource_version=resource_version)
        )

    def get_or_none(self, name: str, *, resource_version: str = "") -> T | None:
        """The object, or None when there is none of this name. Safe to interrupt.

        Raises: NotFound when it is the kind that the server does not have.
        """
        return self._reference.call(
            lambda wrapped: wrapped.get_or_none(name, resource_version=resource_version)
        )

    def exists(self, name: str) -> bool:
        """Whether there is an object of this name. Safe to interrupt.

        Raises: NotFound when it is the kind that the server does not have.
        """
        return self._reference.call(lambda wrapped: wrapped.exists(name))

    def list(self, **options: Unpack[ListArguments]) -> ObjectList[T]:
        """One page of the collection; without `limit`, all of it. Safe to interrupt.

        Raises: Expired when `resource_version` or `next_page` is too old.
        """
        return self._reference.call(lambda wrapped: wrapped.list(**options))

    def list_all(
        self,
        *,
        page_size: int = PAGE_SIZE,
        resource_version: str = "",
        resource_version_match: VersionMatch | None = None,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[T]:
        """The whole collection, fetched in pages. Safe to interrupt.

        When the server forgets in the middle, it is fetched anew in one.
        """
        return self._reference.call(
            lambda wrapped: wrapped.list_all(
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
        return self._reference.stream(
            lambda wrapped: wrapped.each(page_size=page_size, **selectors)
        )

    def table(
        self,
        name: str = "",
        *,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
        **selectors: Unpack[Selectors],
    ) -> Table:
        """What `kubectl get` shows, of one object or of the collection. Safe to interrupt."""
        return self._reference.call(
            lambda wrapped: wrapped.table(
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
        return self._reference.stream(
            lambda wrapped: wrapped.watch(
                resource_version=resource_version, timeout_seconds=timeout_seconds, **selectors
            )
        )

    def until(
        self, *conditions: EventCondition[T], resource_version: str, **selectors: Unpack[Selectors]
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        Raises: Expired when `resource_version` is too old. Safe to interrupt.
        """
        return self._reference.call(
            lambda wrapped: wrapped.until(
                *conditions, resource_version=resource_version, **selectors
            )
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
        a path that is to exist, `function` gets the object. Safe to interrupt.
        Raises: WaitTimeout, which says what was last seen.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[T | None]]", wrapped.wait_for)(
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

        Raises: AlreadyExists, Invalid. An interrupted call may have made it.
        """
        return self._reference.call(lambda wrapped: wrapped.create(obj, **options))

    def create_or_update(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Make the object, or bring what it says into the one that is there.

        Fields that `obj` does not mention stay as they are; nothing is sent when nothing
        would change. Raises: Invalid. An interrupted call may have changed it.
        """
        return self._reference.call(lambda wrapped: wrapped.create_or_update(obj, **options))

    def update(self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Put the whole object in place of the one that is there, and return the new one.

        The version and uid in `obj` are sent, so that an object from a stale cache is
        refused. One without a version would erase what others wrote since: it is not sent,
        unless `unconditional`, which leaves the version out and replaces whatever is there.
        Raises: Conflict when the object has changed since it was read; Invalid; InvalidArgument
        for an object without a version. An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.update(obj, unconditional=unconditional, **options)
        )

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
        An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.patch(name, patch, type=type, force=force, **options)
        )

    def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Server-side apply: make the object have what `obj` says, and own those fields.

        Raises: Conflict when another manager owns a field, unless `force`.
        An interrupted call may have changed it.
        """
        return self._reference.call(lambda wrapped: wrapped.apply(obj, force=force, **options))

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
        object was deleted and created again; TimeoutExceeded; InvalidArgument for a change
        that the server would ignore. An interrupted call may have stored the change.
        """
        return self._reference.context(
            lambda wrapped: wrapped.edit(name, strict=strict, timeout=timeout, **options)
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
        Raises: TimeoutExceeded when others were faster all the time; InvalidArgument for a
        change that the server would ignore. An interrupted call may have stored the change.
        """
        return self._reference.call(
            lambda wrapped: wrapped.modify(
                name, in_caller_thread(function), timeout=timeout, **options
            )
        )

    def delete(
        self, name: str, *, missing_ok: bool = False, **options: Unpack[DeleteOptions]
    ) -> None:
        """Delete an object; it may stay until its finalizers are done.

        Raises: NotFound unless `missing_ok`, Conflict when it has another uid or version.
        An interrupted call may have deleted it.
        """
        self._reference.call(lambda wrapped: wrapped.delete(name, missing_ok=missing_ok, **options))

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
        """Delete all objects that the selectors select. An interrupted call may have begun."""
        self._reference.call(
            lambda wrapped: wrapped.delete_collection(
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
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.subresource(name)))

    @property
    def status(self) -> SubresourceClient[T]:
        """What is, beside what is wanted."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.status))

    @property
    def scale(self) -> ScaleVerbs:
        """The number of replicas, in the one form that all kinds share."""
        return ScaleVerbs(self._reference.then(lambda wrapped: wrapped.scale))

    @property
    def ephemeral_containers(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The containers that were added to a running pod."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.ephemeral_containers))

    @property
    def resize(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.resize))

    @property
    def approval(
        self: ResourceClient[CertificateSigningRequest],
    ) -> SubresourceClient[CertificateSigningRequest]:
        """Whether a certificate is granted."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.approval))

    @property
    def finalize(self: ResourceClient[Namespace]) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.finalize))

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
        Raises: TooManyRequests, NotFound. An interrupted call may have evicted it.
        """
        self._reference.call(
            lambda wrapped: wrapped.evict(name, max_retries=max_retries, **options)
        )

    def bind(self: ResourceClient[Pod], name: str, *, node: str, dry_run: bool = False) -> None:
        """Assign a pod to a node, as a scheduler does.

        Raises: Conflict when it is assigned already. An interrupted call may have bound it.
        """
        self._reference.call(lambda wrapped: wrapped.bind(name, node=node, dry_run=dry_run))

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
        return self._reference.stream(
            lambda wrapped: wrapped.logs(
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

        An interrupted call may have made one.
        """
        return self._reference.call(
            lambda wrapped: wrapped.token(
                name, audiences=audiences, expiration_seconds=expiration_seconds, bound_to=bound_to
            )
        )

    def proxy(
        self: ResourceClient[P], name: str, *, port: str | int = "", scheme: str = ""
    ) -> Proxy:
        """HTTP through the API server to a pod, a service or a node's kubelet."""
        return Proxy(
            self._reference.then(lambda wrapped: wrapped.proxy(name, port=port, scheme=scheme))
        )


@final
class SubresourceClient(Generic[T]):
    """The blocking form of `kubeloop.clients.SubresourceClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.SubresourceClient[T]]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def get(self, name: str, *, resource_version: str = "") -> T:
        """As `ResourceClient.get`."""
        return self._reference.call(
            lambda wrapped: wrapped.get(name, resource_version=resource_version)
        )

    def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Post to the part of the object whose name `obj` has, and return the answer.

        Raises: InvalidArgument without a name. An interrupted call may have done it.
        """
        return self._reference.call(lambda wrapped: wrapped.create(obj, **options))

    def update(self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]) -> T:
        """As `ResourceClient.update`."""
        return self._reference.call(
            lambda wrapped: wrapped.update(obj, unconditional=unconditional, **options)
        )

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
        return self._reference.call(
            lambda wrapped: wrapped.patch(name, patch, type=type, force=force, **options)
        )

    def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """As `ResourceClient.apply`."""
        return self._reference.call(lambda wrapped: wrapped.apply(obj, force=force, **options))

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractContextManager[T]:
        """As `ResourceClient.edit`."""
        return self._reference.context(
            lambda wrapped: wrapped.edit(name, strict=strict, timeout=timeout, **options)
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
        return self._reference.call(
            lambda wrapped: wrapped.modify(
                name, in_caller_thread(function), timeout=timeout, **options
            )
        )


@final
class ScaleVerbs:
    """The blocking form of `kubeloop.clients.ScaleVerbs`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.ScaleVerbs]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def get(self, name: str, *, resource_version: str = "") -> Scale:
        """As `ResourceClient.get`."""
        return self._reference.call(
            lambda wrapped: wrapped.get(name, resource_version=resource_version)
        )

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

        Raises: Conflict when it is not. An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.set(
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
        return self._reference.call(
            lambda wrapped: wrapped.update(obj, unconditional=unconditional, **options)
        )

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
        return self._reference.call(
            lambda wrapped: wrapped.patch(name, patch, type=type, force=force, **options)
        )

    def apply(self, obj: Scale, *, force: bool = False, **options: Unpack[WriteOptions]) -> Scale:
        """As `ResourceClient.apply`."""
        return self._reference.call(lambda wrapped: wrapped.apply(obj, force=force, **options))

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractContextManager[Scale]:
        """As `ResourceClient.edit`."""
        return self._reference.context(
            lambda wrapped: wrapped.edit(name, strict=strict, timeout=timeout, **options)
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
        return self._reference.call(
            lambda wrapped: wrapped.modify(
                name, in_caller_thread(function), timeout=timeout, **options
            )
        )


@final
class MetadataClient:
    """The blocking form of `kubeloop.clients.MetadataClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.MetadataClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def in_namespace(self, namespace: str | None) -> MetadataClient:
        """The same kind in another namespace; this one stays what it is."""
        return MetadataClient(self._reference.then(lambda wrapped: wrapped.in_namespace(namespace)))

    def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        """As `ResourceClient.get`."""
        return self._reference.call(
            lambda wrapped: wrapped.get(name, resource_version=resource_version)
        )

    def list(self, **options: Unpack[ListArguments]) -> ObjectList[PartialObjectMetadata]:
        """As `ResourceClient.list`."""
        return self._reference.call(lambda wrapped: wrapped.list(**options))

    def each(self, **selectors: Unpack[Selectors]) -> Stream[PartialObjectMetadata]:
        """As `ResourceClient.each`."""
        return self._reference.stream(lambda wrapped: wrapped.each(**selectors))

    def watch(
        self, *, resource_version: str | None = None, **selectors: Unpack[Selectors]
    ) -> Stream[WatchEvent[PartialObjectMetadata]]:
        """As `ResourceClient.watch`."""
        return self._reference.stream(
            lambda wrapped: wrapped.watch(resource_version=resource_version, **selectors)
        )

    def patch(
        self, name: str, patch: PatchBody, *, type: PatchType, **options: Unpack[WriteOptions]
    ) -> PartialObjectMetadata:
        """As `ResourceClient.patch`."""
        return self._reference.call(
            lambda wrapped: wrapped.patch(name, patch, type=type, **options)
        )

    def delete(self, name: str, **options: Unpack[DeleteOptions]) -> None:
        """As `ResourceClient.delete`."""
        self._reference.call(lambda wrapped: wrapped.delete(name, **options))

    def delete_collection(
        self, *, propagation: Propagation | None = None, **selectors: Unpack[Selectors]
    ) -> None:
        """As `ResourceClient.delete_collection`."""
        self._reference.call(
            lambda wrapped: wrapped.delete_collection(propagation=propagation, **selectors)
        )


@final
class ScaleClient:
    """The blocking form of `kubeloop.clients.ScaleClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.ScaleClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def get(self, resource: GroupResource, namespace: str, name: str) -> Scale:
        """The scale of an object. Raises: NotFound, NoResourceMatch. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.get(resource, namespace, name))

    def update(
        self, resource: GroupResource, namespace: str, scale: Scale, *, dry_run: bool = False
    ) -> Scale:
        """Put a scale in place of the one there is.

        Raises: Conflict, InvalidArgument when the resource has no scale.
        An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.update(resource, namespace, scale, dry_run=dry_run)
        )

    def patch(
        self,
        resource: GroupVersionResource,
        namespace: str,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
    ) -> Scale:
        """Change fields of a scale. An interrupted call may have changed it."""
        return self._reference.call(
            lambda wrapped: wrapped.patch(resource, namespace, name, patch, type=type)
        )


@final
class Proxy:
    """The blocking form of `kubeloop.clients.Proxy`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.Proxy]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def get(self, path: str = "", *, params: Params | None = None) -> bytes:
        """The body of `path`. Raises: ApiError. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.get(path, params=params))

    def request(
        self,
        method: str,
        path: str = "",
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "",
    ) -> Answer:
        """Any request, and the whole answer. Raises: ApiError.
        An interrupted call may have reached the other side.
        """
        return self._reference.call(
            lambda wrapped: wrapped.request(
                method, path, params=params, headers=headers, body=body, content_type=content_type
            )
        )

    def stream(self, path: str = "", *, params: Params | None = None) -> Stream[bytes]:
        """The body of `path` piece by piece."""
        return self._reference.stream(
            lambda wrapped: iterate_awaited(wrapped.stream(path, params=params))
        )


@final
class DiscoveryClient:
    """The blocking form of `kubeloop.discovery.DiscoveryClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[discovery.DiscoveryClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @property
    def openapi(self) -> OpenApiV3:
        return OpenApiV3(self._reference.then(lambda wrapped: wrapped.openapi))

    def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions, the core group first."""
        return self._reference.call(lambda wrapped: wrapped.groups())

    def overview(self) -> tuple[tuple[ApiGroup, ...], Discovered | None]:
        """The groups and, where the server said it all at once, everything.

        Raises: what `/apis` fails with; a missing `/api` only means: no core group.
        """
        return self._reference.call(lambda wrapped: wrapped.overview())

    def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of one group version, parts such as `pods/status` included.

        Raises: InvalidArgument for an empty version; what the server answers, but a missing
        `v1` is an empty one.
        """
        return self._reference.call(lambda wrapped: wrapped.resources(version))

    def discover(self) -> Discovered:
        """Everything; what failed is in `failures`, after a second try."""
        return self._reference.call(lambda wrapped: wrapped.discover())

    def preferred(self, *, namespaced: bool = False) -> dict[GroupVersion, tuple[ApiResource, ...]]:
        """Each resource once, in the version to use; with `namespaced` only those in one."""
        return self._reference.call(lambda wrapped: wrapped.preferred(namespaced=namespaced))

    def version(self) -> VersionInfo:
        """The server's version."""
        return self._reference.call(lambda wrapped: wrapped.version())

    def openapi_v2(self) -> bytes:
        """The OpenAPI v2 document as it comes: protobuf."""
        return self._reference.call(lambda wrapped: wrapped.openapi_v2())

    def supports(self, version: GroupVersion) -> bool:
        """Whether a group version is served; a server that lists nothing is believed to."""
        return self._reference.call(lambda wrapped: wrapped.supports(version))

    def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served (client-go: `IsResourceEnabled`)."""
        return self._reference.call(lambda wrapped: wrapped.serves(resource))


@final
class OpenApiV3:
    """The blocking form of `kubeloop.discovery.OpenApiV3`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[discovery.OpenApiV3]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def paths(self) -> dict[str, OpenApiPath]:
        """The index. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.paths())

    def document(self, key: str | GroupVersion) -> dict[str, Any]:
        """The document of a group version, or of any other key of the index. Safe to interrupt.

        Raises: InvalidArgument when the index has no such key.
        """
        return self._reference.call(lambda wrapped: wrapped.document(key))

    def invalidate(self) -> None:
        """Forget the index, also one that is on its way."""
        self._reference.read(lambda wrapped: wrapped.invalidate())


@final
class DeferredMapper:
    """The blocking form of `kubeloop.discovery.DeferredMapper`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[discovery.DeferredMapper]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def resources_for(self, wanted: GroupVersionResource) -> list[GroupVersionResource]:
        """As `RESTMapper.resources_for`."""
        return self._reference.call(lambda wrapped: wrapped.resources_for(wanted))

    def resource_for(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.resource_for`."""
        return self._reference.call(lambda wrapped: wrapped.resource_for(wanted))

    def kinds_for(self, wanted: GroupVersionResource) -> list[GroupVersionKind]:
        """As `RESTMapper.kinds_for`."""
        return self._reference.call(lambda wrapped: wrapped.kinds_for(wanted))

    def kind_for(self, wanted: GroupVersionResource) -> GroupVersionKind:
        """As `RESTMapper.kind_for`."""
        return self._reference.call(lambda wrapped: wrapped.kind_for(wanted))

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """As `RESTMapper.mappings`."""
        return self._reference.call(lambda wrapped: wrapped.mappings(kind, *versions))

    def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """As `RESTMapper.mapping`."""
        return self._reference.call(lambda wrapped: wrapped.mapping(kind, *versions))

    def find(self, word: str) -> ResourceInfo:
        """As `RESTMapper.find`."""
        return self._reference.call(lambda wrapped: wrapped.find(word))

    def singular_of(self, resource: str) -> str:
        """As `RESTMapper.singular_of`."""
        return self._reference.call(lambda wrapped: wrapped.singular_of(resource))

    def expand(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.expand`."""
        return self._reference.call(lambda wrapped: wrapped.expand(wanted))

    def category(self, word: str) -> tuple[GroupResource, ...]:
        """As `RESTMapper.category`."""
        return self._reference.call(lambda wrapped: wrapped.category(word))

    def reset(self) -> None:
        """Forget what was discovered, and what was built from it."""
        self._reference.read(lambda wrapped: wrapped.reset())

    def stats(self) -> MapperStats:
        return self._reference.read(lambda wrapped: wrapped.stats())


@final
class RESTClient:
    """The blocking form of `kubeloop.rest.RESTClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[rest.RequestSender]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @property
    def config(self) -> ClusterConfig:
        return self._reference.read(lambda wrapped: wrapped.config)

    def url(self, request: Request) -> str:
        """The whole URL that the request goes to."""
        return self._reference.read(lambda wrapped: wrapped.url(request))

    def send(self, request: Request, *, warnings: WarningHandler | None = None) -> Answer:
        """Send and wait for the whole answer.

        Safe to interrupt: the connection is closed; what was sent may have been done.

        Raises:
            ApiError: the server said no.
            InFlightTimeout: as many calls as allowed were under way for too long.
            ResponseTooLarge: the response is larger than its limit.
            TransportError: no whole answer came in time.
            ConfigError: credentials or certificates could not be had.
        """
        return self._reference.call(lambda wrapped: wrapped.send(request, warnings=warnings))

    def watch(
        self, request: Request, *, life: float | None = None, warnings: WarningHandler | None = None
    ) -> Stream[RawEvent]:
        """A watch that is opened when it is entered or first read.

        `life` is when it ends at the latest, in seconds; without it 5 to 10 minutes, at
        random, which the server is told as well unless the request says otherwise.
        """
        return self._reference.stream(
            lambda wrapped: wrapped.watch(request, life=life, warnings=warnings)
        )

    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> Stream[bytes]:
        """A body read in pieces: logs, mostly. Opened when it is entered or first read.

        A log that is followed may be silent for long: give its request
        `timeouts=Timeouts(idle=None)`.
        """
        return self._reference.stream(lambda wrapped: wrapped.stream(request, warnings=warnings))

    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> Stream[bytes]:
        """The items of a list one by one, with memory that does not depend on its length."""
        return self._reference.stream(lambda wrapped: wrapped.items(request, warnings=warnings))

    def stats(self) -> RESTStats:
        return self._reference.read(lambda wrapped: wrapped.stats())
