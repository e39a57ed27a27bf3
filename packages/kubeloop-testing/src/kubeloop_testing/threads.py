"""Runs a server in the event loop of another thread, for blocking code and for other loops.

Guarantees: a server runs in the loop it was started in; its methods are thread-safe, because
calls from other threads are executed in that loop.
See also: pytest's fixtures, which use this (`plugin`).
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

__all__ = ["LoopThread", "ServerLoop", "running_in_thread"]

T = TypeVar("T")


@contextmanager
def running_in_thread(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Run a server beside blocking code; it is stopped when the block ends.

    ```python
    with running_in_thread(APIServer()) as server:
        subprocess.run(["kubectl", f"--server={server.url}", "get", "pods"], check=True)
    ```
    """
    with LoopThread() as thread, thread.running(server) as started:
        yield started


@final
class LoopThread:
    """An event loop in another thread, for one `with` block."""

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
        """Run `work` in the loop and wait for it; an interrupted wait cancels the work."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _finish(self) -> None:
        # Runs in the loop's thread, because the caller's thread may have a running loop.
        cancelled = [task for task in asyncio.all_tasks() if task.cancelling()]
        if cancelled:  # for example a server whose start was interrupted and is being undone
            await asyncio.wait(cancelled)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    @contextmanager
    def running(self, server: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Run a server in the loop while the block lasts."""
        started = self.call(_enter(server))
        try:
            yield started
        finally:
            self.call(_exit(server))


@final
class ServerLoop:
    """The event loop that a server runs in; executes calls from other threads there."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None  # None: not started yet

    def bind(self) -> None:
        """Use the running loop from now on."""
        self._loop = asyncio.get_running_loop()

    def is_current(self) -> bool:
        """Whether the caller runs in that loop, or no loop is bound yet."""
        if self._loop is None:
            return True
        with contextlib.suppress(RuntimeError):  # no loop runs in this thread
            return asyncio.get_running_loop() is self._loop
        return False

    def require_current(self) -> None:
        """Raise RuntimeError in another loop: a client must be closed in the loop that uses it."""
        if not self.is_current():
            raise RuntimeError(
                "the server runs in another thread, and a client belongs to the loop that uses it"
                " (use `async with Client(server.config)`, or the fixture `kube_client`)"
            )

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the server's loop. If cancelled, the work is cancelled there."""
        if self._loop is None or self.is_current():
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call(self, function: Callable[[], T]) -> T:
        """Call a plain function in the server's loop, and wait for its result.

        A loop that has ended is not waited for.
        """
        if self._loop is None or not self._loop.is_running() or self.is_current():
            return function()
        return asyncio.run_coroutine_threadsafe(_call(function), self._loop).result()


async def _call(function: Callable[[], T]) -> T:
    return function()


async def _enter(server: AbstractAsyncContextManager[T]) -> T:
    return await server.__aenter__()


async def _exit(server: AbstractAsyncContextManager[T]) -> None:
    await server.__aexit__(None, None, None)
