"""Servers for code without asyncio: a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

__all__ = ["running_in_thread"]

T = TypeVar("T")


@contextmanager
def running_in_thread(server: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Run a server beside blocking code; it is gone when the block ends.

    Example::

        with running_in_thread(APIServer()) as server:
            subprocess.run(["kubectl", f"--server={server.url}", "get", "pods"], check=True)
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="kubeloop-testing", daemon=True)
    thread.start()
    try:
        started = asyncio.run_coroutine_threadsafe(_started(server), loop).result()
        try:
            yield started
        finally:
            asyncio.run_coroutine_threadsafe(_ended(server), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _started(server: AbstractAsyncContextManager[T]) -> T:
    return await server.__aenter__()


async def _ended(server: AbstractAsyncContextManager[T]) -> None:
    await server.__aexit__(None, None, None)
