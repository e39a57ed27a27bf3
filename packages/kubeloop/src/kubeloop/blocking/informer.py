"""Informers for code without asyncio: they run in the loop thread, and any thread reads them.

Guarantees: reads do not wait for the loop; each handler has its own thread, so that it may
block and make calls without delaying the informer or other handlers. At the end of the block
the informer and its handlers have stopped. An informer belongs to the process that started it.
See also: `kubeloop.cache` (what an informer does).
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, final

from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING

from .calls import resolve
from .errors import OpenedBeforeFork
from .portal import PORTAL, Portal
from .reference import LoopReference
from .stream import Stream

if TYPE_CHECKING:  # imported only by programs that use an informer
    from kubeloop import cache

__all__ = ["Registration", "SharedInformer"]

T = TypeVar("T")


@final
class HandlerThread:
    """A daemon thread that calls the functions of one handler, one after the other.

    It is started by the first call; errors are raised in the loop.
    """

    def __init__(self, portal: Portal, *, name: str) -> None:
        self._portal = portal
        self._name = name
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    @property
    def has_ended(self) -> bool:
        """Whether it was stopped, and the thread has ended."""
        return self._is_stopped and (self._thread is None or not self._thread.is_alive())

    async def run(self, function: Callable[[], T]) -> T:
        """Call a function in the thread. If cancelled, the function still runs to its end."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put(lambda: resolve(self._portal, function, future, catch=BaseException))
        result: T = await future
        return result

    def stop(self) -> None:
        """End the thread after the queued calls. Idempotent."""
        self._is_stopped = True
        self._jobs.put(None)

    def join(self) -> None:
        """Wait for the thread, unless it is the current one."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


@final
class Registration(Generic[T]):
    """The registration of a handler at an informer; `remove()` ends it."""

    def __init__(
        self, reference: LoopReference[cache.Registration[T]], thread: HandlerThread
    ) -> None:
        self._reference = reference
        self._thread = thread

    @property
    def has_synced(self) -> bool:
        """Whether the handler has processed the objects that existed when it was added."""
        return self._reference.read(lambda wrapped: wrapped.has_synced)

    def wait_synced(self, *, timeout: float | None = None) -> None:
        """Wait until `has_synced`. Raises: NotSynced."""
        self._reference.call(lambda wrapped: wrapped.wait_synced(timeout=timeout))

    def remove(self) -> None:
        """Stop notifying the handler; a call that runs is finished. Idempotent."""
        self._reference.read(lambda wrapped: wrapped.remove())
        self._thread.stop()

    def stats(self) -> cache.HandlerStats:
        return self._reference.read(lambda wrapped: wrapped.stats())


@final
class SharedInformer(Generic[T]):
    """The blocking form of `kubeloop.cache.SharedInformer`.

    ```python
    with client.informer(Pod, index={"node": "spec.nodeName"}) as pods:
        for pod in pods.lister.by_index("node", "node-7"):
            ...
    ```
    """

    def __init__(
        self, reference: LoopReference[cache.SharedInformer[T]], *, portal: Portal = PORTAL
    ) -> None:
        self._reference = reference
        self._portal = portal
        self._forks = portal.forks
        self._context: AbstractContextManager[object] | None = None
        self._threads: set[HandlerThread] = set()

    # --- lifecycle

    def __enter__(self) -> Self:
        """Run it, and wait until it has synced.

        Raises: NotSynced after `sync_timeout`; InformerStopped if it has run before.
        """
        context = self._local_reference().context(lambda wrapped: wrapped)
        context.__enter__()
        self._context = context
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._context is not None
        try:
            self._context.__exit__(kind, error, trace)
        finally:
            for thread in list(self._threads):
                thread.stop()
        for thread in list(self._threads):
            thread.join()

    def stats(self) -> cache.InformerStats:
        return self._local_reference().read(lambda wrapped: wrapped.stats())

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    # --- reading

    @property
    def lister(self) -> cache.Lister[T]:
        """Reads the cache without waiting. (`each` is for async code: use `list`.)"""
        return self._local_reference().read(lambda wrapped: wrapped.lister)

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the cache; handlers may still process it."""
        return self._local_reference().read(lambda wrapped: wrapped.has_synced)

    @property
    def last_sync_version(self) -> str:
        """The resource version of the cache; empty before the first list."""
        return self._local_reference().read(lambda wrapped: wrapped.last_sync_version)

    def wait_for_version(self, version: str, *, timeout: float | None = 10.0) -> None:
        """Wait until the cache has reached a resource version, such as that of a write.

        Raises: NotSynced, InformerStopped; InvalidArgument if it is not a resource version.
        """
        self._local_reference().call(
            lambda wrapped: wrapped.wait_for_version(version, timeout=timeout)
        )

    def get(
        self,
        name: str | ObjectKey,
        *,
        namespace: str = "",
        resource_version: str,
        timeout: float | None = 10.0,
    ) -> T | None:
        """As `lister.get`, after `wait_for_version(resource_version)`, whose errors it raises."""
        return self._local_reference().call(
            lambda wrapped: wrapped.get(
                name, namespace=namespace, resource_version=resource_version, timeout=timeout
            )
        )

    # --- handlers

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
        """Add functions that are called in a separate thread, one after the other, in order.

        Otherwise as the async method; `where` is called in the loop thread and must be quick.
        Raises: InformerStopped.
        """
        thread = self._new_thread(name)
        return self._register(
            thread,
            lambda wrapped: wrapped.add_handler(
                on_add=_in_thread(on_add, thread),
                on_update=_in_thread(on_update, thread),
                on_delete=_in_thread(on_delete, thread),
                on_change=_in_thread(on_change, thread),
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
        """Add a function that is called with the key of each changed object; nothing is decoded."""
        thread = self._new_thread(name)
        return self._register(
            thread,
            lambda wrapped: wrapped.add_key_handler(
                cast("Callable[[ObjectKey], object]", _in_thread(on_key, thread)),
                selector=selector,
                resync=resync,
                name=name,
            ),
        )

    def changes(self, *, resync: float = 0.0, name: str = "") -> Stream[cache.Change[T]]:
        """All objects as adds, then every change. Raises: InformerStopped, at the first read."""
        return self._local_reference().stream(
            lambda wrapped: wrapped.changes(resync=resync, name=name)
        )

    def add_indexers(self, indexers: cache.Indexers[T]) -> None:
        """Add indexes for current and future objects.

        Raises: IndexConflict if a name is in use, InformerStopped.
        """
        self._local_reference().call(lambda wrapped: wrapped.add_indexers(indexers))

    # --- internals

    def _local_reference(self) -> LoopReference[cache.SharedInformer[T]]:
        """The reference. Raises: OpenedBeforeFork if it belongs to the parent process."""
        if self._forks != self._portal.forks:
            raise OpenedBeforeFork(
                f"{self!r}: it was created before the process was forked, and belongs to the parent"
                " (create one in the child)"
            )
        return self._reference

    def _new_thread(self, name: str) -> HandlerThread:
        for each in list(self._threads):
            if each.has_ended:  # its handler was removed
                self._threads.discard(each)
        thread = HandlerThread(self._portal, name=f"kubeloop {name or 'handler'}")
        self._threads.add(thread)
        return thread

    def _register(
        self,
        thread: HandlerThread,
        register: Callable[[cache.SharedInformer[T]], cache.Registration[T]],
    ) -> Registration[T]:
        registration = self._local_reference().then(register)
        registration.read(lambda wrapped: wrapped)  # now, so that errors are raised here
        return Registration(registration, thread)


def _in_thread(
    function: Callable[..., object] | None, thread: HandlerThread
) -> Callable[..., object] | None:
    """An async function that calls `function` in the thread."""
    if function is None:
        return None

    async def run(*args: Any) -> object:
        return await thread.run(lambda: function(*args))

    return run
