"""References to objects that live in the loop thread.

Guarantees: the object is created at the first use, and again in each forked child that uses
it, because it cannot cross a fork; only the loop thread uses it.
See also: `_generated` (the methods), `client` (the first reference).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Generic, TypeVar, final

from .calls import call
from .context import BlockingContext
from .errors import OpenedBeforeFork
from .portal import TaskScope
from .stream import Stream

__all__ = ["LoopReference"]

C_co = TypeVar("C_co", covariant=True)
D = TypeVar("D")
T = TypeVar("T")


@final
class LoopReference(Generic[C_co]):
    """A reference to what `create` returns, which is called in the loop thread."""

    def __init__(self, create: Callable[[], C_co], scope: TaskScope) -> None:
        self._create = create
        self._scope = scope
        self._object: tuple[int, C_co] | None = None  # with the fork count of its process

    def then(self, function: Callable[[C_co], D]) -> LoopReference[D]:
        """A reference to what the function returns for the object."""
        return LoopReference(lambda: function(self.get()), self._scope)

    def call(self, function: Callable[[C_co], Awaitable[T]]) -> T:
        """Await what the function returns for the object, and wait for it here."""
        return call(self._scope, lambda: function(self.get()))

    def read(self, function: Callable[[C_co], T]) -> T:
        """What a synchronous function returns for the object, called in the loop thread."""

        async def read() -> T:
            return function(self.get())

        return call(self._scope, read)

    def stream(self, function: Callable[[C_co], AsyncIterator[T]]) -> Stream[T]:
        """A blocking iterator over an async iterator of the object."""
        return Stream(self._scope, lambda: function(self.get()))

    def context(
        self, function: Callable[[C_co], AbstractAsyncContextManager[T]]
    ) -> BlockingContext[T]:
        """A blocking context manager for an async one of the object."""
        return BlockingContext(self._scope, lambda: function(self.get()))

    def open(
        self,
        function: Callable[[C_co], AbstractAsyncContextManager[T]],
        wrap: Callable[[LoopReference[T]], D],
    ) -> AbstractContextManager[D]:
        """A blocking context manager whose value is the blocking form of that of an async one."""
        return _Opened(self.context(function), wrap, self._scope)

    def get(self) -> C_co:
        """The object; in the loop thread only."""
        forks = self._scope.portal.forks
        if self._object is None or self._object[0] != forks:
            self._object = (forks, self._create())
        return self._object[1]

    def __repr__(self) -> str:
        found = self._object
        if found is None or found[0] != self._scope.portal.forks:
            return "not used yet"
        return repr(found[1])


@final
class _Opened(AbstractContextManager[D], Generic[T, D]):
    """A `with` block whose value lives in the loop thread."""

    def __init__(
        self,
        context: BlockingContext[T],
        wrap: Callable[[LoopReference[T]], D],
        scope: TaskScope,
    ) -> None:
        self._context = context
        self._wrap = wrap
        self._scope = scope

    def __enter__(self) -> D:
        value = self._context.__enter__()
        forks = self._scope.portal.forks

        def get() -> T:
            if self._scope.portal.forks != forks:
                raise OpenedBeforeFork(
                    "use a connection: it was opened before the process was forked, by the parent"
                    " (open it in the child)"
                )
            return value

        return self._wrap(LoopReference(get, self._scope))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return self._context.__exit__(kind, error, trace)
