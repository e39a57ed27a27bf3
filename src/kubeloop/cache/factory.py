"""Shares informers: one for each kind, namespace, selection and type that is asked for.

Promises: whoever asks for the same gets the same informer, and the server sees one list and
one watch; nothing is listed before `start()`, and each informer is started once. When the
factory's block ends, so have all its informers.
Elsewhere: one informer by itself (`informer`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, TypeVar, final, overload

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, TaskOwner
from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.selectors import (
    ALL_FIELDS,
    EVERYTHING,
    FieldSelector,
    field_selector_text,
    selector_text,
)
from kubeloop.wire import Resource

from .entry_decoder import Transform
from .index import Indexers
from .informer import InformerState, InformerStats, SharedInformer
from .keeping import Keeping
from .list_watch import ListWatch
from .lister import SelectorLike
from .metrics import CacheMetrics
from .reflector import WatchErrorHandler
from .report import CacheReport, cache_report
from .waiting import NotYet

__all__ = ["FactoryStats", "ListWatches", "SharedInformerFactory", "SyncResult", "Watchable"]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)

# What can be mirrored: a class of ours or of the user's, or a kind known only at run time.
Watchable: TypeAlias = type[Resource] | GroupVersionKind | GroupVersionResource


class ListWatches(Protocol):
    """What this room asks of a client for informers of any kind."""

    def list_watch(
        self,
        kind: Watchable,
        *,
        namespace: str,
        selector: str,
        field_selector: str,
        metadata_only: bool,
    ) -> ListWatch:
        """The collection of that kind. Cluster-wide kinds ignore the namespace.

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
        """Raises `NotYet`, which names those that are missing."""
        if self.missing:
            raise NotYet(f"wait for first lists: still missing: {', '.join(self.missing)}")


class FactoryStats(msgspec.Struct, frozen=True):
    """All informers of a factory."""

    informers: tuple[InformerStats, ...]
    started: int
    is_shut_down: bool


class _Wanted(msgspec.Struct, frozen=True):
    """What makes two requests the same."""

    kind: Watchable
    namespace: str
    selector: str
    field_selector: str
    of: type[Any]
    metadata_only: bool


@final
class SharedInformerFactory:
    """Informers of many kinds, shared.

        async with SharedInformerFactory(client) as factory:
            pods = factory.informer(Pod)
            nodes = factory.informer(Node)
            factory.start()
            (await factory.wait_synced(timeout=30)).check()

    `namespace` is the one that all informers are about, unless asked otherwise; none means
    all. `resync`, `keeping` and `transform` are defaults for all informers; `resync_of` has
    other periods for some kinds. `on_watch_error` is called with the errors of all informers.
    `name` is for metrics.
    """

    def __init__(
        self,
        client: ListWatches,
        *,
        namespace: str = "",
        selector: SelectorLike = EVERYTHING,
        field_selector: FieldSelector | str | Mapping[str, str] = ALL_FIELDS,
        resync: float = 0.0,
        resync_of: Mapping[Watchable, float] | None = None,
        keeping: Keeping = "bytes",
        transform: Transform[Any] | None = None,
        on_watch_error: WatchErrorHandler | None = None,
        name: str = "",
        metrics: CacheMetrics | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._labels = selector_text(selector)
        self._fields = field_selector_text(field_selector)
        self._resync = resync
        self._resync_of = dict(resync_of or {})
        self._keeping: Keeping = keeping
        self._transform = transform
        self._on_watch_error = on_watch_error
        self._name = name
        self._metrics = metrics
        self._clock = clock or SystemClock()
        self._informers: dict[_Wanted, SharedInformer[Any]] = {}
        self._started: list[SharedInformer[Any]] = []
        self._life = contextlib.AsyncExitStack()
        self._tasks: TaskOwner | None = None
        self._is_shut_down = False

    # --- asking for informers

    @overload
    def informer(
        self,
        kind: type[R],
        *,
        namespace: str | None = ...,
        selector: SelectorLike | None = ...,
        field_selector: FieldSelector | str | Mapping[str, str] | None = ...,
        index: Indexers[R] | None = ...,
        keeping: Keeping | None = ...,
        transform: Transform[R] | None = ...,
    ) -> SharedInformer[R]: ...

    @overload
    def informer(
        self,
        kind: GroupVersionKind | GroupVersionResource,
        *,
        namespace: str | None = ...,
        selector: SelectorLike | None = ...,
        field_selector: FieldSelector | str | Mapping[str, str] | None = ...,
        index: Indexers[dict[str, Any]] | None = ...,
        keeping: Keeping | None = ...,
        transform: Transform[dict[str, Any]] | None = ...,
    ) -> SharedInformer[dict[str, Any]]: ...

    @overload
    def informer(
        self,
        kind: Watchable,
        *,
        view: type[T],
        namespace: str | None = ...,
        selector: SelectorLike | None = ...,
        field_selector: FieldSelector | str | Mapping[str, str] | None = ...,
        index: Indexers[T] | None = ...,
        keeping: Keeping | None = ...,
        transform: Transform[T] | None = ...,
    ) -> SharedInformer[T]: ...

    def informer(
        self,
        kind: Watchable,
        *,
        view: type[Any] | None = None,
        namespace: str | None = None,
        selector: SelectorLike | None = None,
        field_selector: FieldSelector | str | Mapping[str, str] | None = None,
        index: Indexers[Any] | None = None,
        keeping: Keeping | None = None,
        transform: Transform[Any] | None = None,
    ) -> SharedInformer[Any]:
        """The informer for this; made if nobody has asked for it yet.

        Objects come as `kind`, as dicts where that is no class, or as `view`: a struct with
        only the fields you want. `index` is added to what the informer has.

        Raises:
            InvalidArgument: it exists, and keeps or transforms objects in another way.
            IndexConflict: it exists, and has an index of one of the names.
        """
        of = view or (kind if isinstance(kind, type) else dict)
        wanted = self._wanted(
            kind, of, namespace=namespace, selector=selector, field_selector=field_selector
        )
        return self._shared(wanted, index=index, keeping=keeping, transform=transform)

    def metadata_informer(
        self,
        kind: Watchable,
        *,
        namespace: str | None = None,
        selector: SelectorLike | None = None,
        field_selector: FieldSelector | str | Mapping[str, str] | None = None,
    ) -> SharedInformer[Resource]:
        """An informer that asks the server only for metadata (PartialObjectMetadata)."""
        wanted = self._wanted(
            kind,
            Resource,
            namespace=namespace,
            selector=selector,
            field_selector=field_selector,
            metadata_only=True,
        )
        return self._shared(wanted, index=None, keeping=None, transform=None)

    # --- life

    async def __aenter__(self) -> Self:
        if self._tasks is not None or self._is_shut_down:
            raise InvalidArgument("begin a factory again: it lives once (make another one)")
        self._tasks = await self._life.enter_async_context(TaskOwner())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shut_down()
        await self._life.__aexit__(kind, error, trace)

    def start(self) -> None:
        """Start what was asked for and does not run yet; does not wait.

        Nothing happens once the factory is shut down.

        Raises:
            InvalidArgument: the factory's block has not begun.
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
        """Wait for the first lists of all that were started, for so long at most.

        Safe to cancel: the informers go on.
        """
        deadline = None if timeout is None else self._clock.now() + timeout
        started = tuple(self._started)
        for informer in started:
            left = None if deadline is None else max(deadline - self._clock.now(), 0.0)
            with contextlib.suppress(NotYet):
                await informer.wait_synced(timeout=left)
        synced: dict[str, bool] = {}
        for informer in started:  # two of one name have synced when both have
            synced[informer.name] = informer.has_synced and synced.get(informer.name, True)
        return SyncResult(synced)

    async def aclose(self) -> None:
        """End all informers, and wait until they have ended; a factory lives once."""
        self._shut_down()
        life, self._life = self._life, contextlib.AsyncExitStack()
        await life.aclose()

    @property
    def informers(self) -> tuple[SharedInformer[Any], ...]:
        """All that were asked for, started or not."""
        return tuple(self._informers.values())

    def report(self) -> CacheReport:
        """What all informers hold."""
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

    def _wanted(
        self,
        kind: Watchable,
        of: type[Any],
        *,
        namespace: str | None,
        selector: SelectorLike | None,
        field_selector: FieldSelector | str | Mapping[str, str] | None,
        metadata_only: bool = False,
    ) -> _Wanted:
        return _Wanted(
            kind,
            self._namespace if namespace is None else namespace,
            self._labels if selector is None else selector_text(selector),
            self._fields if field_selector is None else field_selector_text(field_selector),
            of,
            metadata_only,
        )

    def _shared(
        self,
        wanted: _Wanted,
        *,
        index: Indexers[Any] | None,
        keeping: Keeping | None,
        transform: Transform[Any] | None,
    ) -> SharedInformer[Any]:
        found = self._informers.get(wanted)
        if found is None:
            return self._made(wanted, index=index, keeping=keeping, transform=transform)
        if keeping not in {None, found.keeping} or transform not in {None, found.transform}:
            raise InvalidArgument(
                f"share the informer of {found.name}: it keeps {found.keeping}, or transforms "
                "objects differently (ask for it as the others do, or make one of your own)"
            )
        if index:
            found.indexer.add_indexers(index)
        return found

    def _made(
        self,
        wanted: _Wanted,
        *,
        index: Indexers[Any] | None,
        keeping: Keeping | None,
        transform: Transform[Any] | None,
    ) -> SharedInformer[Any]:
        source = self._client.list_watch(
            wanted.kind,
            namespace=wanted.namespace,
            selector=wanted.selector,
            field_selector=wanted.field_selector,
            metadata_only=wanted.metadata_only,
        )
        made: SharedInformer[Any] = SharedInformer(
            source,
            wanted.of,
            index=index,
            keeping=keeping or self._keeping,
            transform=transform or self._transform,
            resync=self._resync_of.get(wanted.kind, self._resync),
            on_watch_error=self._on_watch_error,
            metrics_name=self._name,
            metrics=self._metrics,
            clock=self._clock,
        )
        self._informers[wanted] = made
        return made
