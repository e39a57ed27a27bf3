"""Shares informers: one for each kind, namespace, selector, model and format.

Guarantees: equal requests get the same informer, and the server sees one list and one watch.
Nothing is listed before `start()`, and each informer is started once. When the factory's block
ends, so have all its informers.
See also: `informer` (one informer).
"""

# ruff: noqa: ASYNC109 - a clock enforces the caller's timeout, and the error names it
from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, TypeVar, Unpack, final, overload

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, TaskOwner, strict_keywords
from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.selectors import (
    ALL_FIELDS,
    EVERYTHING,
    FieldSelector,
    field_selector_text,
    selector_text,
)
from kubeloop.wire import Resource
from kubeloop.wire.protobuf_messages import ReadFormat

from .entry_decoder import Transform
from .indexer import SelectorLike
from .informer import (
    DROPPED,
    InformerState,
    InformerStats,
    SharedInformer,
    StorageOptions,
)
from .list_watch import ListWatch
from .metrics import CacheMetrics
from .reflector import WatchErrorHandler
from .report import CacheReport, cache_report
from .storage import StorageFormat
from .waiting import NotSynced

__all__ = ["FactoryStats", "ListWatchClient", "SharedInformerFactory", "SyncResult", "Watchable"]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)

# What can be cached: a generated class or one of yours, or a kind known only at run time.
Watchable: TypeAlias = type[Resource] | GroupVersionKind | GroupVersionResource
FieldSelectorLike: TypeAlias = FieldSelector | str | Mapping[str, str]


class ListWatchClient(Protocol):
    """What a factory needs of a client."""

    def list_watch(
        self,
        kind: Watchable,
        *,
        namespace: str,
        selector: str,
        field_selector: str,
        metadata_only: bool,
        format: ReadFormat | None,  # noqa: A002 - what it is
    ) -> ListWatch:
        """The collection of that kind. Cluster-scoped kinds ignore the namespace.

        A `format` of None is the client's.

        Raises what the client raises for a kind that it does not know.
        """
        ...


class SyncResult(msgspec.Struct, frozen=True):
    """Which informers have their first list, by name."""

    synced: Mapping[str, bool]

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name, is_synced in self.synced.items() if not is_synced)

    def __bool__(self) -> bool:
        return not self.missing

    def check(self) -> None:
        """Raises `NotSynced`, which names the informers without a first list."""
        if self.missing:
            raise NotSynced(f"wait for first lists: still missing: {', '.join(self.missing)}")


class FactoryStats(msgspec.Struct, frozen=True):
    """All informers of a factory."""

    informers: tuple[InformerStats, ...]
    started: int
    is_shut_down: bool


class _InformerKey(msgspec.Struct, frozen=True):
    """Requests with the same key share an informer."""

    kind: Watchable
    namespace: str
    selector: str
    field_selector: str
    model: type[Any]
    format: ReadFormat | None = None
    metadata_only: bool = False


@final
class SharedInformerFactory:
    """Informers of many kinds, shared.

        async with SharedInformerFactory(client) as factory:
            pods = factory.informer(Pod)
            nodes = factory.informer(Node)
            factory.start()
            (await factory.wait_synced(timeout=30)).check()

    `namespace` is the default for all informers; empty means all namespaces. So are `resync`,
    `store_as`, `transform` and `drop`; `resync_of` has other periods for some kinds.
    `on_watch_error` is called with the errors of all informers. `name` is for metrics.
    """

    def __init__(
        self,
        client: ListWatchClient,
        *,
        namespace: str = "",
        selector: SelectorLike = EVERYTHING,
        field_selector: FieldSelectorLike = ALL_FIELDS,
        resync: float = 0.0,
        resync_of: Mapping[Watchable, float] | None = None,
        store_as: StorageFormat = "bytes",
        transform: Transform[Any] | None = None,
        drop: Sequence[str] = DROPPED,
        on_watch_error: WatchErrorHandler | None = None,
        name: str = "",
        metrics: CacheMetrics | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._selector = selector_text(selector)
        self._field_selector = field_selector_text(field_selector)
        self._resync = resync
        self._resync_of = dict(resync_of or {})
        self._store_as: StorageFormat = store_as
        self._transform = transform
        self._drop = drop
        self._on_watch_error = on_watch_error
        self._name = name
        self._metrics = metrics
        self._clock = clock or SystemClock()
        self._informers: dict[_InformerKey, SharedInformer[Any]] = {}
        self._started: list[SharedInformer[Any]] = []
        self._exit_stack = contextlib.AsyncExitStack()
        self._tasks: TaskOwner | None = None
        self._is_shut_down = False

    # --- getting informers

    @overload
    def informer(
        self,
        kind: type[R],
        *,
        namespace: str | None = ...,
        selector: SelectorLike | None = ...,
        field_selector: FieldSelectorLike | None = ...,
        format: ReadFormat | None = ...,
        on_watch_error: WatchErrorHandler | None = ...,
        **options: Unpack[StorageOptions[R]],
    ) -> SharedInformer[R]: ...

    @overload
    def informer(
        self,
        kind: GroupVersionKind | GroupVersionResource,
        *,
        namespace: str | None = ...,
        selector: SelectorLike | None = ...,
        field_selector: FieldSelectorLike | None = ...,
        format: ReadFormat | None = ...,
        on_watch_error: WatchErrorHandler | None = ...,
        **options: Unpack[StorageOptions[dict[str, Any]]],
    ) -> SharedInformer[dict[str, Any]]: ...

    @overload
    def informer(
        self,
        kind: Watchable,
        *,
        model: type[T],
        namespace: str | None = ...,
        selector: SelectorLike | None = ...,
        field_selector: FieldSelectorLike | None = ...,
        format: ReadFormat | None = ...,
        on_watch_error: WatchErrorHandler | None = ...,
        **options: Unpack[StorageOptions[T]],
    ) -> SharedInformer[T]: ...

    @strict_keywords
    def informer(
        self,
        kind: Watchable,
        *,
        model: type[Any] | None = None,
        namespace: str | None = None,
        selector: SelectorLike | None = None,
        field_selector: FieldSelectorLike | None = None,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
        on_watch_error: WatchErrorHandler | None = None,
        **options: Unpack[StorageOptions[Any]],
    ) -> SharedInformer[Any]:
        """The informer for this collection; created by the first call.

        Objects have the type `kind`, or `dict` if that is no class, or `model`: a struct with
        the fields you need. `index` is added to the indexes of the informer. `format` is how a
        built-in kind is read and cached, in place of the client's; another format is another
        informer. `on_watch_error` replaces the factory's.

        Raises:
            InvalidArgument: it exists, and stores or transforms objects in another way, or calls
                another `on_watch_error`.
            IndexConflict: it exists, and has an index of one of the names.
        """
        model = model or (kind if isinstance(kind, type) else dict)
        key = self._key(kind, model, namespace, selector, field_selector, format_=format)
        return self._share(key, options, on_watch_error)

    def metadata_informer(
        self,
        kind: Watchable,
        *,
        namespace: str | None = None,
        selector: SelectorLike | None = None,
        field_selector: FieldSelectorLike | None = None,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
    ) -> SharedInformer[Resource]:
        """An informer that requests only metadata (PartialObjectMetadata)."""
        key = self._key(kind, Resource, namespace, selector, field_selector, format_=format)
        return self._share(msgspec.structs.replace(key, metadata_only=True), {})

    # --- lifecycle

    async def __aenter__(self) -> Self:
        if self._tasks is not None or self._is_shut_down:
            raise InvalidArgument("start a factory again: it runs once (create another one)")
        self._tasks = await self._exit_stack.enter_async_context(TaskOwner())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shut_down()
        await self._exit_stack.__aexit__(kind, error, trace)

    def start(self) -> None:
        """Start the informers that do not run yet, without waiting.

        Does nothing once the factory is shut down.

        Raises:
            InvalidArgument: the factory's block has not started.
        """
        if self._is_shut_down:
            return
        if self._tasks is None:
            raise InvalidArgument("start informers: the factory is not open (use `async with`)")
        for informer in self._informers.values():
            if informer not in self._started and informer.state is InformerState.NEW:
                self._started.append(informer)
                self._tasks.spawn(informer.run(), name=f"informer {informer.name}")

    async def wait_synced(self, *, timeout: float | None = None) -> SyncResult:
        """Wait for the first lists of all started informers, for `timeout` seconds at most.

        Safe to cancel: the informers continue.
        """
        deadline = None if timeout is None else self._clock.now() + timeout
        started = tuple(self._started)
        for informer in started:
            remaining = None if deadline is None else max(deadline - self._clock.now(), 0.0)
            with contextlib.suppress(NotSynced):
                await informer.wait_synced(timeout=remaining)
        synced: dict[str, bool] = {}
        for informer in started:  # two with one name are synced when both are
            synced[informer.name] = informer.has_synced and synced.get(informer.name, True)
        return SyncResult(synced)

    async def aclose(self) -> None:
        """Stop all informers, and wait until they have stopped; a factory runs once."""
        self._shut_down()
        stack, self._exit_stack = self._exit_stack, contextlib.AsyncExitStack()
        await stack.aclose()

    @property
    def informers(self) -> tuple[SharedInformer[Any], ...]:
        """All informers, started or not."""
        return tuple(self._informers.values())

    def report(self) -> CacheReport:
        """A report of all informers."""
        return cache_report(self._informers.values())

    def stats(self) -> FactoryStats:
        return FactoryStats(
            informers=tuple(informer.stats() for informer in self._informers.values()),
            started=len(self._started),
            is_shut_down=self._is_shut_down,
        )

    def _shut_down(self) -> None:
        self._is_shut_down = True
        self._tasks = None

    def _key(
        self,
        kind: Watchable,
        model: type[Any],
        namespace: str | None,
        selector: SelectorLike | None,
        field_selector: FieldSelectorLike | None,
        *,
        format_: ReadFormat | None,
    ) -> _InformerKey:
        return _InformerKey(
            kind,
            self._namespace if namespace is None else namespace,
            self._selector if selector is None else selector_text(selector),
            self._field_selector if field_selector is None else field_selector_text(field_selector),
            model,
            format_,
        )

    def _share(
        self,
        key: _InformerKey,
        options: StorageOptions[Any],
        on_watch_error: WatchErrorHandler | None = None,
    ) -> SharedInformer[Any]:
        found = self._informers.get(key)
        if found is None:
            handler = on_watch_error or self._on_watch_error
            found = self._informers[key] = self._create(key, options, handler)
            return found
        store_as, transform = options.get("store_as"), options.get("transform")
        if (
            store_as not in {None, found.store_as}
            or transform not in {None, found.transform}
            or tuple(options.get("drop", found.drop)) != found.drop
            or on_watch_error not in {None, found.on_watch_error}
        ):
            raise InvalidArgument(
                f"share the informer of {found.name}: it stores objects as {found.store_as}, or "
                "has another transform, drops other fields or calls another on_watch_error (use "
                "the same options, or create a SharedInformer)"
            )
        if index := options.get("index"):
            found.indexer.add_indexers(index)
        return found

    def _create(
        self,
        key: _InformerKey,
        options: StorageOptions[Any],
        on_watch_error: WatchErrorHandler | None,
    ) -> SharedInformer[Any]:
        source = self._client.list_watch(
            key.kind,
            namespace=key.namespace,
            selector=key.selector,
            field_selector=key.field_selector,
            metadata_only=key.metadata_only,
            format=key.format,
        )
        return SharedInformer(
            source,
            key.model,
            index=options.get("index"),
            store_as=options.get("store_as") or self._store_as,
            transform=options.get("transform") or self._transform,
            drop=options.get("drop", self._drop),
            resync=self._resync_of.get(key.kind, self._resync),
            on_watch_error=on_watch_error,
            metrics_name=self._name,
            metrics=self._metrics,
            clock=self._clock,
        )
