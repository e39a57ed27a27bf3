"""The client for code without asyncio.

Guarantees: thread-safe; no connection is opened and no thread started before the first call. A
forked child that uses a client of its parent opens its own connections at its first call.
See also: `_generated.clients` (the verbs), `informer` (informers), `portal` (the loop thread).
"""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, cast, final, overload

from kubeloop import clients, runtime
from kubeloop.clients import AnyObject, ApplyOptions, Manifest, PartialObjectMetadata, ReadFormat
from kubeloop.config import ClusterConfig
from kubeloop.discovery import VersionInfo
from kubeloop.errors import InvalidArgument, TransportError
from kubeloop.kit import DEFAULT_RETRY, Backoff, Clock
from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.rest import Headers, ResponseLimits, RESTStats, WarningHandler
from kubeloop.rest import RESTClient as AsyncRESTClient
from kubeloop.runtime import InformerOptions
from kubeloop.wire import Kind, Resource
from kubeloop.wire.model import KindMeta

from ._generated.clients import (
    DeferredMapper,
    DiscoveryClient,
    MetadataClient,
    ResourceClient,
    RESTClient,
    ScaleClient,
)
from ._generated.clientset import Clientset
from .calls import call, in_caller_thread
from .context import BlockingContext
from .informer import SharedInformer
from .leadership import hold_leadership
from .portal import PORTAL, ClientScope, Closable, Portal
from .reference import LoopReference

if TYPE_CHECKING:  # imported only by programs that use an informer or an election
    from kubeloop import cache
    from kubeloop.clients import (
        Access,
        AccessRules,
        AppliedSet,
        ObjectTree,
        RunResult,
        WriteOptions,
    )
    from kubeloop.election import Leadership
    from kubeloop.runtime import LeaderElection
    from kubeloop.wire.batch.v1 import Job
    from kubeloop.wire.core.v1 import Event, Pod

__all__ = ["Client", "DynamicClient", "retry_on_conflict"]

K = TypeVar("K", bound=Kind)
R = TypeVar("R", bound=Resource)
T = TypeVar("T")

AnyKind = type[Kind] | KindMeta | str | GroupVersionResource | GroupVersionKind


@final
class Client(Clientset):
    """A client for one cluster.

        with Client() as client:                       # kubeconfig, or service account
            pods = client.resource(Pod, namespace="shop")
            deployments = client.apps_v1.deployments("shop")

    A namespace of None is that of the configuration, `ALL_NAMESPACES` all of them.
    `field_manager` is the default owner of written fields. `request_timeout` limits each call
    with its retries, in seconds; `rate_limit` is in requests per second (with a burst of twice
    as many); `response_limits` limit the size of responses; `headers` are sent with every
    request. `tune_gc` pauses the garbage collector while a list is decoded.
    `format="protobuf"` reads built-in kinds as protobuf. `rest` creates the REST client if you
    need other options: it is called in the loop thread, and again in each forked child. Without
    a `with` block, call `close()`.
    """

    def __init__(
        self,
        config: ClusterConfig | None = None,
        *,
        rest: Callable[[], AsyncRESTClient] | None = None,
        field_manager: str = "",
        request_timeout: float | None = None,
        rate_limit: float | None = None,
        response_limits: ResponseLimits | None = None,
        warnings: WarningHandler | None = None,
        headers: Headers = (),
        clock: Clock | None = None,
        tune_gc: bool = False,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
    ) -> None:
        options = (config, request_timeout, rate_limit, response_limits, warnings, clock)
        if rest is not None and (headers or any(each is not None for each in options)):
            raise InvalidArgument(
                "client: pass either `rest` or options of the REST client, not both"
            )
        create = partial(
            runtime.Client,
            config,
            field_manager=field_manager,
            request_timeout=request_timeout,
            rate_limit=rate_limit,
            response_limits=response_limits,
            warnings=warnings,
            headers=headers,
            clock=clock,
            tune_gc=tune_gc,
            format=format,
        )
        create()  # validates the options here instead of at the first call
        self._connection = _Connection(create, rest)
        self._reference: LoopReference[runtime.Client] = LoopReference(
            self._connection.open, self._connection.scope
        )
        # Resource clients keep the reference, so this runs after the last of them is collected.
        weakref.finalize(self._reference, self._connection.close_soon).atexit = False

    # --- lifecycle

    def __enter__(self) -> Self:
        self._reference.call(lambda wrapped: wrapped.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection; running and later calls fail.

        Idempotent. In a forked child only the connections of the child are closed.
        """
        self._connection.close()

    def stats(self) -> RESTStats:
        """The requests of this process so far."""
        return self._reference.read(lambda wrapped: wrapped.stats())

    @property
    def config(self) -> ClusterConfig:
        """The configuration. Raises: ConfigError if none was passed and none is found."""
        return self._reference.read(lambda wrapped: wrapped.config)

    @property
    def namespace(self) -> str:
        """The default namespace."""
        return self.config.namespace

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    # --- resource clients

    @overload
    def resource(self, kind: type[K], /, *, namespace: str | None = ...) -> ResourceClient[K]: ...
    @overload
    def resource(
        self, kind: KindMeta, /, *, namespace: str | None = ...
    ) -> ResourceClient[Any]: ...
    @overload
    def resource(
        self, api_version: str, kind: str, /, *, namespace: str | None = ...
    ) -> ResourceClient[dict[str, Any]]: ...
    @overload
    def resource(
        self, kind: GroupVersionKind | GroupVersionResource, /, *, namespace: str | None = ...
    ) -> ResourceClient[dict[str, Any]]: ...
    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[Any]:
        """A client for the objects of a kind: typed for a class, dicts for a name.

        A name that is not built in is resolved by discovery at the first request, which fails
        if there is no such kind.
        """
        return ResourceClient(
            self._reference.then(
                lambda wrapped: cast(
                    "Callable[..., clients.ResourceClient[Any]]", wrapped.resource
                )(*_kind_arguments(what, kind), namespace=namespace)
            )
        )

    def metadata(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> MetadataClient:
        """A client for the metadata of the objects of a kind, named as for `resource`."""
        return MetadataClient(
            self._reference.then(lambda wrapped: wrapped.metadata(what, kind, namespace=namespace))
        )

    @property
    def dynamic(self) -> DynamicClient:
        """A client for every kind as dicts, even if there is a class."""
        return DynamicClient(self._reference.then(lambda wrapped: wrapped.dynamic))

    @property
    def scales(self) -> ScaleClient:
        """A client for the scale subresource of any kind."""
        return ScaleClient(self._reference.then(lambda wrapped: wrapped.scales))

    @property
    def rest(self) -> RESTClient:
        """The REST client, for other requests."""
        return RESTClient(self._reference.then(lambda wrapped: wrapped.rest))

    # --- discovery

    @property
    def discovery(self) -> DiscoveryClient:
        """Discovery without a cache."""
        return DiscoveryClient(self._reference.then(lambda wrapped: wrapped.discovery))

    @property
    def mapper(self) -> DeferredMapper:
        """Maps names to resources, with a cache that is refreshed for unknown names."""
        return DeferredMapper(self._reference.then(lambda wrapped: wrapped.mapper))

    def version(self) -> VersionInfo:
        """The version of the server."""
        return self._reference.call(lambda wrapped: wrapped.version())

    # --- apply

    @overload
    def apply(self, what: K, **options: Unpack[ApplyOptions]) -> K: ...
    @overload
    def apply(self, what: dict[str, Any], **options: Unpack[ApplyOptions]) -> dict[str, Any]: ...
    @overload
    def apply(
        self,
        what: Iterable[AnyObject] | str | bytes | Path,
        *,
        kinds: Sequence[type[Kind]] = ...,
        **options: Unpack[ApplyOptions],
    ) -> list[AnyObject]: ...
    def apply(
        self,
        what: Manifest,
        *,
        kinds: Sequence[type[Kind]] = (),
        **options: Unpack[ApplyOptions],
    ) -> Any:
        """Server-side apply of an object, of several, of YAML text, or of a path to YAML.

        Namespaces and CRDs are applied first, and it waits until a CRD is served; results are
        in the order of the input. `namespace` is for objects without one; `owner` becomes the
        controller of all; `kinds` are additional classes for decoding YAML. A rejected object
        or an invalid document does not prevent the others; of invalid YAML nothing is applied.
        Raises: Conflict if another manager owns a field, unless `force`; InvalidArgument for
        invalid input; ApplyErrors with all errors and the applied objects, if there are
        several. An interrupted call may have applied some objects.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[Any]]", wrapped.apply)(
                what, kinds=kinds, **options
            )
        )

    def apply_set(
        self,
        name: str,
        what: Manifest,
        /,
        *,
        kinds: Sequence[type[Kind]] = (),
        namespace: str | None = None,
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> AppliedSet:
        """Apply a manifest, and delete what an earlier one had and this one has not.

        The objects get a label, and a Secret of this name keeps their kinds and namespaces, as
        with `kubectl apply --prune --applyset`; `configmaps/shop` uses a ConfigMap. Nothing is
        deleted unless everything was applied. With `force`, fields of other managers and
        members of other sets are taken over.
        Raises: as `apply`; InvalidArgument for a set of another tool and for members of another
        set; PruneFailed when something cannot be deleted. After an interrupted or failed call,
        the next one completes it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.apply_set(
                name, what, kinds=kinds, namespace=namespace, force=force, **options
            )
        )

    # --- access, runs, relations

    def can_i(
        self,
        verb: str,
        what: type[Kind] | str,
        /,
        *,
        name: str = "",
        subresource: str = "",
        namespace: str | None = None,
    ) -> Access:
        """Whether this client may do something: `if client.can_i("delete", Pod): ...`.

        `what` is a class, a resource such as `deployments.apps`, or a path such as `/metrics`.
        """
        return self._reference.call(
            lambda wrapped: wrapped.can_i(
                verb, what, name=name, subresource=subresource, namespace=namespace
            )
        )

    def what_can_i(self, *, namespace: str | None = None) -> AccessRules:
        """Everything that this client may do in a namespace."""
        return self._reference.call(lambda wrapped: wrapped.what_can_i(namespace=namespace))

    def run(
        self,
        what: Pod | Job | str,
        command: Sequence[str] = (),
        /,
        *,
        namespace: str | None = None,
        timeout: float | None = 600.0,
        keep: bool = False,
    ) -> RunResult:
        """Run an image, a pod or a job to its end; returns exit code and logs.

        The object is deleted afterwards, also after an error or Ctrl-C, unless `keep`.
        Raises: WaitTimeout, which says what the pod waits for; RunInterrupted when it was deleted.
        """
        return self._reference.call(
            lambda wrapped: wrapped.run(
                what, command, namespace=namespace, timeout=timeout, keep=keep
            )
        )

    def owners(self, obj: AnyObject, /) -> ObjectTree:
        """The object with its owners, their owners, and so on."""
        return self._reference.call(lambda wrapped: wrapped.owners(obj))

    def children(self, obj: AnyObject, /) -> ObjectTree:
        """The object with what it owns, what that owns, and so on.

        `unread` names the resources that cannot be listed.
        """
        return self._reference.call(lambda wrapped: wrapped.children(obj))

    def events_of(self, obj: AnyObject, /) -> list[Event]:
        """The events about an object, oldest first."""
        return self._reference.call(lambda wrapped: wrapped.events_of(obj))

    # --- informers and leadership

    @overload
    def informer(
        self, kind: cache.Watchable, /, *, model: type[T], **options: Unpack[InformerOptions[T]]
    ) -> SharedInformer[T]: ...
    @overload
    def informer(
        self,
        kind: cache.Watchable,
        /,
        *,
        metadata_only: Literal[True],
        **options: Unpack[InformerOptions[PartialObjectMetadata]],
    ) -> SharedInformer[PartialObjectMetadata]: ...
    @overload
    def informer(
        self, kind: type[R], /, **options: Unpack[InformerOptions[R]]
    ) -> SharedInformer[R]: ...
    @overload
    def informer(
        self,
        kind: GroupVersionKind | GroupVersionResource,
        /,
        **options: Unpack[InformerOptions[dict[str, Any]]],
    ) -> SharedInformer[dict[str, Any]]: ...
    def informer(
        self,
        kind: cache.Watchable,
        /,
        *,
        model: type[Any] | None = None,
        metadata_only: bool = False,
        **options: Unpack[InformerOptions[Any]],
    ) -> SharedInformer[Any]:
        """An informer for the objects of a kind, in all namespaces unless one is given.

        Objects are decoded as the class, as dicts if the kind is only a name, or as `model`: a
        struct with the fields that you need. With `metadata_only` the server sends metadata
        only. Functions among the options are called in the loop thread and must be quick.
        """
        return SharedInformer(
            self._reference.then(
                lambda client: cast("Callable[..., cache.SharedInformer[Any]]", client.informer)(
                    kind, model=model, metadata_only=metadata_only, **options
                )
            )
        )

    def leadership(self, election: LeaderElection) -> AbstractContextManager[Leadership]:
        """Wait for leadership, and hold it within the block.

            with client.leadership(LeaderElection("reports", namespace="ops")) as term:
                for each in work:
                    term.ensure()
                    do(each)

        Raises: LeadershipLost, from `ensure()` and at the end of the block. Use `hard_exit` of
        the election if the block does not call `ensure()`.
        """
        # Owned by the portal: closing the client does not end the term.
        return BlockingContext(
            PORTAL, lambda: hold_leadership(self._reference.get(), election), waits_for_block=True
        )


@final
class DynamicClient:
    """Every kind as dicts: `client.dynamic.resource("apps/v1", "Deployment")`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.DynamicClient]) -> None:
        self._reference = reference

    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[dict[str, Any]]:
        """A client for the objects of a kind: a class, apiVersion and kind, GVK or GVR."""
        return ResourceClient(
            self._reference.then(lambda wrapped: wrapped.resource(what, kind, namespace=namespace))
        )


def retry_on_conflict(change: Callable[[], T], *, backoff: Backoff = DEFAULT_RETRY) -> T:
    """Call `change` until there is no conflict, at most `backoff.steps` times.

    `change` has to read the object again each time; it is called in this thread.
    """
    return call(
        PORTAL, lambda: clients.retry_on_conflict(in_caller_thread(change), backoff=backoff)
    )


@final
class _Connection:
    """Opens the async client once per process. It has no reference to the blocking client."""

    def __init__(
        self,
        create: Callable[..., runtime.Client],
        rest: Callable[[], AsyncRESTClient] | None,
        *,
        portal: Portal = PORTAL,
    ) -> None:
        self._create_client = create
        self._create_rest = rest
        self._portal = portal
        self.scope = ClientScope(portal)
        self._open: tuple[int, Closable] | None = None  # with the fork count of its process
        self._is_closed = False

    def open(self) -> runtime.Client:
        """The client of this process; in the loop thread.

        Raises: TransportError if it was closed.
        """
        if self._is_closed:
            raise TransportError(
                "send a request: the client is closed (use it inside its `with` block)"
            )
        client, closable = self._create()
        self._portal.own(closable)
        self._open = (self._portal.forks, closable)
        return client

    def close(self) -> None:
        """Close the client of this process, and wait for it."""
        self._is_closed = True
        current = self._open
        if current is not None and current[0] == self._portal.forks:
            call(self._portal, lambda: self._close(current[1]))

    def close_soon(self) -> None:
        """Close the client of this process without waiting, after it was collected."""
        current = self._open
        if current is not None and not self._is_closed:
            self._portal.post_if_running(lambda: self._spawn_close(current[1]), forks=current[0])

    async def _close(self, closable: Closable) -> None:
        await self.scope.close()
        await self._portal.close_owned(closable)

    def _spawn_close(self, closable: Closable) -> None:
        self._portal.spawn(self._portal.close_owned(closable))

    def _create(self) -> tuple[runtime.Client, Closable]:
        """A client, and what has to be closed: a client does not close a REST client passed in."""
        if self._create_rest is not None:
            rest = self._create_rest()
            return self._create_client(rest=rest), rest
        client = self._create_client()
        return client, client


def _kind_arguments(what: AnyKind, kind: str) -> tuple[Any, ...]:
    return (what, kind) if kind else (what,)
