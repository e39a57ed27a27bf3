"""Servers for code without asyncio, or with a loop of its own: a loop in a thread.

Promises: a server lives in the loop it was started in; what is asked of it from another
thread is done there.
Elsewhere: pytest's fixtures, which are made of this (`plugin`).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar, final

from kubeloop.kit import new_event_loop

__all__ = ["Home", "LoopThread", "running_in_thread"]

T = TypeVar("T")


@contextmanager
def running_in_thread(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Run a server beside blocking code; it is gone when the block ends.

    ```python
    with running_in_thread(APIServer()) as server:
        subprocess.run(["kubectl", f"--server={server.url}", "get", "pods"], check=True)
    ```
    """
    with LoopThread() as thread, thread.running(server) as started:
        yield started


@final
class LoopThread:
    """An event loop in a thread of its own, for one `with` block."""

    def __init__(self) -> None:
        self._loop = new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="kubeloop-testing", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.call(self._finish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` over there and wait for it here; when the wait is broken off, so is it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _finish(self) -> None:
        # Over there, because this thread may have a running loop of its own.
        broken_off = [task for task in asyncio.all_tasks() if task.cancelling()]
        if broken_off:  # a server that is still being put in order, say
            await asyncio.wait(broken_off)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    @contextmanager
    def running(self, server: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """A server that lives over there for as long as the block lasts here."""
        started = self.call(_started(server))
        try:
            yield started
        finally:
            self.call(_ended(server))


@final
class Home:
    """The loop that a server lives in, for those who ask from elsewhere."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None  # None: not settled yet

    def settle(self) -> None:
        """Live in the running loop from now on."""
        self._loop = asyncio.get_running_loop()

    def is_here(self) -> bool:
        """Whether the caller runs in that loop, or nobody lives anywhere yet."""
        if self._loop is None:
            return True
        with contextlib.suppress(RuntimeError):  # no loop runs here at all
            return asyncio.get_running_loop() is self._loop
        return False

    def must_be_here(self) -> None:
        """Refuse what would be used in one loop and closed in another."""
        if not self.is_here():
            raise RuntimeError(
                "the server runs in another thread, and a client lives where it is used"
                " (use `async with Client(server.config)`, or the fixture `kube_client`)"
            )

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` at home. Cancelled, it is cancelled there."""
        if self._loop is None or self.is_here():
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call(self, function: Callable[[], T]) -> T:
        """Call a plain function at home, and wait for its result."""
        if self._loop is None or self.is_here():
            return function()
        return asyncio.run_coroutine_threadsafe(_called(function), self._loop).result()


async def _called(function: Callable[[], T]) -> T:
    return function()


async def _started(server: AbstractAsyncContextManager[T]) -> T:
    return await server.__aenter__()


async def _ended(server: AbstractAsyncContextManager[T]) -> None:
    await server.__aexit__(None, None, None)
