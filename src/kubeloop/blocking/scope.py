"""A `with` block around something that is open in the loop.

Promises: it is entered and left by one task over there, so that whatever it holds, tasks and
deadlines included, holds for the whole block; an exception of the block is seen by it as if
the block were there. Ctrl-C while entering undoes it.
Elsewhere: one result (`calls`).
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
from .portal import Place

__all__ = ["Scope"]

T = TypeVar("T")


@final
class Scope(AbstractContextManager[T], Generic[T]):
    """One `with` block, entered once.

    A patient one waits for the end of the block even when what is open wants to close before.
    """

    def __init__(
        self,
        place: Place,
        manager: Callable[[], AbstractAsyncContextManager[T]],
        *,
        is_patient: bool = False,
    ) -> None:
        self._portal = place.portal
        self._forks = self._portal.forks
        self._life: _Life[T] = _Life(place, manager, is_patient=is_patient)

    def __enter__(self) -> T:
        try:
            return call(self._portal, self._life.begin)
        except Exception:
            raise
        except BaseException:
            # Whether it was entered or not: nobody will leave it.
            call(self._portal, self._life.undo)
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
                "end a block: it was begun before the process was forked, and is the parent's"
                " (begin and end it in one process)"
            )
        try:
            left = call(self._portal, lambda: self._life.end(error))
        except BaseException:  # Ctrl-C: the block is over, and so is what it held
            call(self._portal, self._life.undo)
            raise
        if error is not None:
            error.__traceback__ = trace  # as it was, without its way through the loop
            if left is error:
                return False
        if left is not None:
            raise left
        return True


@final
class _Life(Generic[T]):
    """The loop's side: one task from the beginning of the block to its end."""

    def __init__(
        self,
        place: Place,
        manager: Callable[[], AbstractAsyncContextManager[T]],
        *,
        is_patient: bool,
    ) -> None:
        self._place = place
        self._is_patient = is_patient
        self._manager = manager
        self._task: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()  # or it could not
        self._leaving = asyncio.Event()
        self._value: T | None = None
        self._thrown: BaseException | None = None  # by the block
        self._raised: BaseException | None = None  # by the manager

    async def begin(self) -> T:
        """Enter, and return what the block is given. Cancelled, it goes on: see `undo`."""
        if self._task is not None:
            raise RuntimeError("begin a block again: it serves once (ask for another one)")
        self._task = self._place.spawn(self._run())
        await self._begun.wait()
        if self._raised is not None:
            raise self._raised
        return cast("T", self._value)

    async def end(self, thrown: BaseException | None) -> BaseException | None:
        """Leave, and return what is to be raised: what the block threw, or something new."""
        assert self._task is not None
        self._thrown = thrown
        self._leaving.set()
        await asyncio.wait([self._task])
        raised, self._raised, self._thrown = self._raised, None, None
        return raised

    async def undo(self) -> None:
        """Leave because nobody wants it any more."""
        self._leaving.set()
        if self._task is not None and not self._task.done():
            await cancel_and_wait(self._task)

    async def _run(self) -> None:
        try:
            async with self._manager() as self._value:
                self._begun.set()
                await self._until_left()
                if self._thrown is not None:
                    raise self._thrown
        except asyncio.CancelledError:
            self._raised = self._place.why_cancelled()
            raise
        except BaseException as error:  # noqa: BLE001 - for the thread that waits
            self._raised = error
        finally:
            self._begun.set()

    async def _until_left(self) -> None:
        interruption = None
        while not self._leaving.is_set():
            try:
                await self._leaving.wait()
            except asyncio.CancelledError as error:
                # A thread cannot be cancelled; at the end of the program there is none.
                if not self._is_patient or self._place.portal.ending:
                    raise
                interruption = error
        if interruption is not None:
            raise interruption
