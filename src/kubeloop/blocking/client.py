"""The client for code without asyncio: every kind, by class, by name or by its group's method.

Promises: one client may be used by many threads at once; nothing is connected, and no thread
started, before the first call. A forked child that goes on using a client of its parent has
connections of its own from its first call on.
Elsewhere: the verbs (`_generated.mirrors`), mirrors (`informer`), the loop (`portal`).
"""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, cast, final, overload

from kubeloop import clients, runtime
from kubeloop.clients import AnyObject, ApplyOptions, Manifest
from kubeloop.config import ClusterConfig
from kubeloop.discovery import VersionInfo
from kubeloop.errors import InvalidArgument, TransportError
from kubeloop.kit import DEFAULT_RETRY, Backoff, Clock
from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.rest import ResponseLimits, RESTStats, WarningHandler
from kubeloop.rest import RESTClient as AsyncRESTClient
from kubeloop.wire import Kind

from ._generated.clientset import Clientset
from ._generated.mirrors import (
    DeferredMapper,
    DiscoveryClient,
    MetadataClient,
    ResourceClient,
    RESTClient,
    ScaleClient,
)
from .calls import call, here
from .informer import Informers
from .leading import Elections
from .portal import PORTAL, Branch, Closable, Portal
from .route import Route

__all__ = ["Client", "DynamicClient", "retry_on_conflict"]

K = TypeVar("K", bound=Kind)
T = TypeVar("T")

AnyKind = type[Kind] | str | GroupVersionResource | GroupVersionKind


@final
class Client(Clientset, Informers, Elections):
    """All of one cluster.

        with Client() as client:                       # kubeconfig, or the pod's own account
            pods = client.resource(Pod, namespace="shop")
            deployments = client.apps_v1.deployments("shop")

    A namespace of None is the configuration's, `ALL` all of them. `field_manager` is who
    owns what is written, where a call does not say. `request_timeout` bounds each call, with
    its retries, in seconds; `rate_limit` is how many requests may go out a second (twice as
    many at once after a pause); `response_limits` are the response size limits. `rest` makes
    the way to the server where it needs more than that: it is called in the loop's thread,
    and once more in each forked child. Without a `with` block, `close()` it.
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
        clock: Clock | None = None,
    ) -> None:
        said = (config, request_timeout, rate_limit, response_limits, warnings, clock)
        if rest is not None and any(each is not None for each in said):
            raise InvalidArgument(
                "client: give what makes a REST client, or what one is made of, not both"
            )
        made = partial(
            runtime.Client,
            config,
            field_manager=field_manager,
            request_timeout=request_timeout,
            rate_limit=rate_limit,
            response_limits=response_limits,
            warnings=warnings,
            clock=clock,
        )
        made()  # what makes no sense is refused here, and not by the first call
        self._connection = _Connection(made, rest)
        self._route: Route[runtime.Client] = Route(self._connection.open, self._connection.branch)
        # Resource clients keep the route, so that this waits for the last of them.
        weakref.finalize(self._route, self._connection.forsake).atexit = False

    # --- its life

    def __enter__(self) -> Self:
        self._route.call(lambda to: to.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection; calls that still run, and those to come, fail.

        Safe to repeat. In a forked child only the child's own connections are closed.
        """
        self._connection.close()

    def stats(self) -> RESTStats:
        """What was asked of the server so far, by this process."""
        return self._route.read(lambda to: to.stats())

    @property
    def config(self) -> ClusterConfig:
        """Raises: ConfigError when none was given and none can be found."""
        return self._route.read(lambda to: to.config)

    @property
    def namespace(self) -> str:
        """The namespace where none is given."""
        return self.config.namespace

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    # --- collections

    @overload
    def resource(self, kind: type[K], /, *, namespace: str | None = ...) -> ResourceClient[K]: ...
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
        """The objects of a kind: typed for a class, as dicts for a name.

        A name that is not built in is looked up on the server, at the first request; what
        does not name a kind is refused then.
        """
        return ResourceClient(
            self._route.then(
                lambda to: cast("Callable[..., clients.ResourceClient[Any]]", to.resource)(
                    *_named(what, kind), namespace=namespace
                )
            )
        )

    def metadata(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> MetadataClient:
        """The metadata of the objects of a kind, which is named as for `resource`."""
        return MetadataClient(
            self._route.then(lambda to: to.metadata(what, kind, namespace=namespace))
        )

    @property
    def dynamic(self) -> DynamicClient:
        """Every kind as dicts, also those that have a class."""
        return DynamicClient(self._route.then(lambda to: to.dynamic))

    @property
    def scales(self) -> ScaleClient:
        """Scales of anything that has one."""
        return ScaleClient(self._route.then(lambda to: to.scales))

    @property
    def rest(self) -> RESTClient:
        """The way to the server, for requests that have no verb here."""
        return RESTClient(self._route.then(lambda to: to.rest))

    # --- what the server is

    @property
    def discovery(self) -> DiscoveryClient:
        """What the server serves, asked each time."""
        return DiscoveryClient(self._route.then(lambda to: to.discovery))

    @property
    def mapper(self) -> DeferredMapper:
        """From names to resources, remembered; the server is asked again for unknown ones."""
        return DeferredMapper(self._route.then(lambda to: to.mapper))

    def version(self) -> VersionInfo:
        """The server's version."""
        return self._route.call(lambda to: to.version())

    # --- many at once

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
        """Server-side apply of an object, of many, of a YAML text, or of a path to YAML.

        Namespaces and CRDs come first, and a CRD is waited for until it is served; the
        results are in the order of what was given. `namespace` is for objects that say
        none; `owner` becomes the controller of all; `kinds` are classes of your own that
        YAML is read as. An object that is refused, or a document that is no object, does
        not keep the others back; of a text or file that is not YAML nothing is applied.
        Raises: Conflict when another manager owns a field, unless `force`; InvalidArgument for
        what cannot be read; ApplyErrors, with all errors and what was applied, when there
        is more to say than one error. One broken off may have applied some.
        """
        return self._route.call(
            lambda to: cast("Callable[..., Awaitable[Any]]", to.apply)(what, kinds=kinds, **options)
        )


@final
class DynamicClient:
    """Every kind as dicts: `client.dynamic.resource("apps/v1", "Deployment")`."""

    __slots__ = ("_route",)

    def __init__(self, route: Route[clients.DynamicClient]) -> None:
        self._route = route

    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[dict[str, Any]]:
        """The objects of a kind, named by class, apiVersion and kind, GVK or GVR."""
        return ResourceClient(
            self._route.then(lambda to: to.resource(what, kind, namespace=namespace))
        )


def retry_on_conflict(change: Callable[[], T], *, backoff: Backoff = DEFAULT_RETRY) -> T:
    """Call `change` until it meets no conflict, at most `backoff.steps` times.

    `change` has to read the object anew each time; it is called in this thread.
    """
    return call(PORTAL, lambda: clients.retry_on_conflict(here(change), backoff=backoff))


@final
class _Connection:
    """Opens the async client: one a process, closed once. It does not know who uses it."""

    def __init__(
        self,
        made: Callable[..., runtime.Client],
        rest: Callable[[], AsyncRESTClient] | None,
        *,
        portal: Portal = PORTAL,
    ) -> None:
        self._client = made
        self._rest = rest
        self._portal = portal
        self.branch = Branch(portal)
        self._opened: tuple[int, Closable] | None = None  # with the number of forks
        self._is_closed = False

    def open(self) -> runtime.Client:
        """The client of this process; in the loop's thread.

        Raises: TransportError when it was closed.
        """
        if self._is_closed:
            raise TransportError("call the cluster: the client is closed (use it inside its block)")
        client, closable = self._made()
        self._portal.own(closable)
        self._opened = (self._portal.forks, closable)
        return client

    def close(self) -> None:
        """Close what this process has opened, and wait for it."""
        self._is_closed = True
        opened = self._opened
        if opened is not None and opened[0] == self._portal.forks:
            call(self._portal, lambda: self._end(opened[1]))

    def forsake(self) -> None:
        """Close what this process has opened, soon: nobody uses it any more."""
        opened = self._opened
        if opened is not None and not self._is_closed:
            self._portal.post_if_running(lambda: self._close_soon(opened[1]), forks=opened[0])

    async def _end(self, opened: Closable) -> None:
        await self.branch.end()
        await self._portal.close_owned(opened)

    def _close_soon(self, opened: Closable) -> None:
        self._portal.spawn(self._portal.close_owned(opened))

    def _made(self) -> tuple[runtime.Client, Closable]:
        """A client, and what is to be closed: a client does not close what it was given."""
        if self._rest is not None:
            rest = self._rest()
            return self._client(rest=rest), rest
        client = self._client()
        return client, client


def _named(what: AnyKind, kind: str) -> tuple[Any, ...]:
    return (what, kind) if kind else (what,)
