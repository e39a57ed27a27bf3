"""A `with` block for an async context manager that runs in the loop thread.

Guarantees: one task enters and exits the context manager, so that tasks and timeouts in it
cover the whole block; it receives the exception of the block. Ctrl-C while entering exits it.
See also: `calls` (one result).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Generic, TypeVar, cast, final

from kubeloop.kit import cancel_and_wait

from .calls import call
from .errors import OpenedBeforeFork
from .portal import TaskScope

__all__ = ["BlockingContext"]

T = TypeVar("T")


@final
class BlockingContext(AbstractContextManager[T], Generic[T]):
    """A context manager for one `with` block.

    With `waits_for_block`, a cancellation in the loop takes effect only after the block.
    """

    def __init__(
        self,
        scope: TaskScope,
        manager: Callable[[], AbstractAsyncContextManager[T]],
        *,
        waits_for_block: bool = False,
    ) -> None:
        self._portal = scope.portal
        self._forks = self._portal.forks
        self._task: _ContextTask[T] = _ContextTask(scope, manager, waits_for_block=waits_for_block)

    def __enter__(self) -> T:
        try:
            return call(self._portal, self._task.enter)
        except Exception:
            raise
        except BaseException:
            # Interrupted: __exit__ will not be called, so exit here, entered or not.
            call(self._portal, self._task.abort)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if self._forks != self._portal.forks:
            if error is not None:
                return False
            raise OpenedBeforeFork(
                "exit a context: it was entered before the process was forked, by the parent"
                " (enter and exit it in one process)"
            )
        try:
            raised = call(self._portal, lambda: self._task.exit(error))
        except BaseException:  # Ctrl-C
            call(self._portal, self._task.abort)
            raise
        if error is not None:
            error.__traceback__ = trace  # without the frames of the loop thread
            if raised is error:
                return False
        if raised is not None:
            raise raised
        return True


@final
class _ContextTask(Generic[T]):
    """The task in the loop, from the start of the block to its end."""

    def __init__(
        self,
        scope: TaskScope,
        manager: Callable[[], AbstractAsyncContextManager[T]],
        *,
        waits_for_block: bool,
    ) -> None:
        self._scope = scope
        self._waits_for_block = waits_for_block
        self._manager = manager
        self._task: asyncio.Task[None] | None = None
        self._entered = asyncio.Event()  # or failed to enter
        self._exiting = asyncio.Event()
        self._value: T | None = None
        self._block_error: BaseException | None = None
        self._raised: BaseException | None = None  # by the context manager

    async def enter(self) -> T:
        """Enter, and return the value of the `with` block. If cancelled, call `abort`."""
        if self._task is not None:
            raise RuntimeError("enter a context again: it can be used once (create another one)")
        self._task = self._scope.spawn(self._run())
        await self._entered.wait()
        if self._raised is not None:
            raise self._raised
        return cast("T", self._value)

    async def exit(self, block_error: BaseException | None) -> BaseException | None:
        """Exit, and return the error to raise: that of the block, or another one."""
        assert self._task is not None
        self._block_error = block_error
        self._exiting.set()
        await asyncio.wait([self._task])
        raised, self._raised, self._block_error = self._raised, None, None
        return raised

    async def abort(self) -> None:
        """Cancel the task, and wait for it."""
        self._exiting.set()
        if self._task is not None and not self._task.done():
            await cancel_and_wait(self._task)

    async def _run(self) -> None:
        try:
            async with self._manager() as self._value:
                self._entered.set()
                await self._wait_for_exit()
                if self._block_error is not None:
                    raise self._block_error
        except asyncio.CancelledError:
            self._raised = self._scope.cancellation_error()
            raise
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
            self._raised = error
        finally:
            self._entered.set()

    async def _wait_for_exit(self) -> None:
        interruption = None
        while not self._exiting.is_set():
            try:
                await self._exiting.wait()
            except asyncio.CancelledError as error:
                # The block runs in a thread, which cannot be cancelled; when the program exits,
                # that thread has ended.
                if not self._waits_for_block or self._scope.portal.is_closing:
                    raise
                interruption = error
        if interruption is not None:
            raise interruption
