"""Informers for code without asyncio: the mirror lives in the loop, and is read from here.

Promises: reading never waits for the loop; each handler has a thread of its own, so that it
may block and make calls without holding up the mirror or other handlers. When the block ends,
so have the mirror and its handlers. An informer belongs to the process that began it.
Elsewhere: what an informer does (`kubeloop.cache`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    Self,
    TypeVar,
    Unpack,
    cast,
    final,
    overload,
)

from kubeloop.clients import PartialObjectMetadata
from kubeloop.meta import GroupVersionKind, GroupVersionResource, ObjectKey
from kubeloop.runtime import Client, InformerOptions
from kubeloop.selectors import EVERYTHING
from kubeloop.wire import Resource

from .errors import OpenedBeforeFork
from .portal import PORTAL, Portal
from .route import Route
from .stream import Stream
from .worker import Worker

if TYPE_CHECKING:  # for those who ask for an informer, and not for every script
    from kubeloop import cache

__all__ = ["Informers", "Registration", "SharedInformer"]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)


@final
class Registration(Generic[T]):
    """A handler's place at an informer; `remove()` gives it up."""

    def __init__(self, route: Route[cache.Registration[T]], worker: Worker) -> None:
        self._route = route
        self._worker = worker

    @property
    def has_synced(self) -> bool:
        """Whether the handler has finished with all of the first list, or of what it found."""
        return self._route.read(lambda to: to.has_synced)

    def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait until `has_synced`. Raises: NotSynced."""
        self._route.call(lambda to: to.wait_synced(timeout=timeout))

    def remove(self) -> None:
        """Tell it nothing more; a call that runs comes to its end. Safe to repeat."""
        self._route.read(lambda to: to.remove())
        self._worker.stop()

    def stats(self) -> cache.HandlerStats:
        return self._route.read(lambda to: to.stats())


@final
class SharedInformer(Generic[T]):
    """As `kubeloop.cache.SharedInformer`: a mirror of one collection.

    ```python
    with client.informer(Pod, index={"node": "spec.nodeName"}) as pods:
        for pod in pods.lister.by_index("node", "node-7"):
            ...
    ```
    """

    def __init__(self, route: Route[cache.SharedInformer[T]], *, portal: Portal = PORTAL) -> None:
        self._route = route
        self._portal = portal
        self._forks = portal.forks
        self._block: AbstractContextManager[object] | None = None
        self._workers: set[Worker] = set()

    # --- life

    def __enter__(self) -> Self:
        """Run it, and wait for the first list.

        Raises: NotSynced when there was none within `sync_timeout`, InformerStopped when it has
        run already.
        """
        block = self._here().scope(lambda to: to)
        block.__enter__()
        self._block = block
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._block is not None
        try:
            self._block.__exit__(kind, error, trace)
        finally:
            for worker in list(self._workers):
                worker.stop()
        for worker in list(self._workers):
            worker.join()

    def stats(self) -> cache.InformerStats:
        return self._here().read(lambda to: to.stats())

    def __repr__(self) -> str:
        return f"blocking {self._route!r}"

    # --- reading

    @property
    def lister(self) -> cache.Lister[T]:
        """Reads the mirror; its reads never wait. (`each` is for async code: use `list`.)"""
        return self._here().read(lambda to: to.lister)

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the cache; handlers may still be at work on it."""
        return self._here().read(lambda to: to.has_synced)

    @property
    def last_sync_version(self) -> str:
        """The version that the mirror has come to; empty before the first list."""
        return self._here().read(lambda to: to.last_sync_version)

    def wait_for_version(self, version: str, *, timeout: float | None = 10.0) -> None:
        """Wait until the mirror has seen what was written as `version`.

        Raises: NotSynced, InformerStopped, InvalidArgument for what is no resource version.
        """
        self._here().call(lambda to: to.wait_for_version(version, timeout=timeout))

    def get(
        self,
        name: str | ObjectKey,
        *,
        namespace: str = "",
        resource_version: str,
        timeout: float | None = 10.0,
    ) -> T | None:
        """As `lister.get`, from a mirror that has seen the version `resource_version`.

        Raises as `wait_for_version` does.
        """
        return self._here().call(
            lambda to: to.get(
                name, namespace=namespace, resource_version=resource_version, timeout=timeout
            )
        )

    # --- being told

    def add_handler(
        self,
        *,
        on_add: Callable[[T], object] | None = None,
        on_update: Callable[[T, T], object] | None = None,
        on_delete: Callable[[T], object] | None = None,
        on_change: Callable[[cache.Change[T]], object] | None = None,
        selector: cache.SelectorLike = EVERYTHING,
        where: Callable[[T], bool] | None = None,
        resync: float | None = None,
        name: str = "",
    ) -> Registration[T]:
        """Have functions called in a thread of their own; one after the other, in order.

        As the async one otherwise; `where` is called in the loop's thread, and is to be quick.
        Raises: InformerStopped.
        """
        worker = self._worker(name)
        return self._registered(
            worker,
            lambda to: to.add_handler(
                on_add=_elsewhere(on_add, worker),
                on_update=_elsewhere(on_update, worker),
                on_delete=_elsewhere(on_delete, worker),
                on_change=_elsewhere(on_change, worker),
                selector=selector,
                where=where,
                resync=resync,
                name=name,
            ),
        )

    def add_key_handler(
        self,
        on_key: Callable[[ObjectKey], object],
        *,
        selector: cache.SelectorLike = EVERYTHING,
        resync: float | None = None,
        name: str = "",
    ) -> Registration[T]:
        """Have a function called with the key of each object that changes; nothing is decoded."""
        worker = self._worker(name)
        return self._registered(
            worker,
            lambda to: to.add_key_handler(
                cast("Callable[[ObjectKey], object]", _elsewhere(on_key, worker)),
                selector=selector,
                resync=resync,
                name=name,
            ),
        )

    def changes(self, *, resync: float = 0.0, name: str = "") -> Stream[cache.Change[T]]:
        """All there is, as adds, then every change. Raises: InformerStopped, when first read."""
        return self._here().stream(lambda to: to.changes(resync=resync, name=name))

    def add_indexers(self, indexers: cache.Indexers[T]) -> None:
        """Index what is held and what comes.

        Raises: IndexConflict when one of the names is taken, InformerStopped.
        """
        self._here().call(lambda to: to.add_indexers(indexers))

    # --- the steps

    def _here(self) -> Route[cache.SharedInformer[T]]:
        if self._forks != self._portal.forks:
            raise OpenedBeforeFork(
                f"{self!r}: it was made before the process was forked, and the parent's does not"
                " reach here (make one in the child)"
            )
        return self._route

    def _worker(self, name: str) -> Worker:
        for each in list(self._workers):
            if each.has_ended:  # its handler was removed
                self._workers.discard(each)
        worker = Worker(self._portal, name=f"kubeloop {name or 'handler'}")
        self._workers.add(worker)
        return worker

    def _registered(
        self,
        worker: Worker,
        register: Callable[[cache.SharedInformer[T]], cache.Registration[T]],
    ) -> Registration[T]:
        registration = self._here().then(register)
        registration.read(lambda to: to)
        return Registration(registration, worker)


def _elsewhere(
    function: Callable[..., object] | None, worker: Worker
) -> Callable[..., object] | None:
    """The function, to be called by the worker and awaited in the loop."""
    if function is None:
        return None

    async def there(*args: Any) -> object:
        return await worker.do(lambda: function(*args))

    return there


class Informers:
    """What a client has besides its groups and verbs: mirrors."""

    _route: Route[Client]

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
        """A mirror of the objects of a kind, of all namespaces unless one is named.

        Objects come as the class, as dicts where the kind is only a name, or as `model`: a
        struct of yours with the fields you want. With `metadata_only` the server is asked
        for no more than metadata. Functions among the options are called in the loop's
        thread, and are to be quick.
        """
        return SharedInformer(
            self._route.then(
                lambda client: cast("Callable[..., cache.SharedInformer[Any]]", client.informer)(
                    kind, model=model, metadata_only=metadata_only, **options
                )
            )
        )
