"""The way to an object that lives in the loop.

Promises: the object is made at the first use and, because it cannot cross a fork, once more
in each child that uses it; it is only ever touched by the loop's thread.
Elsewhere: the methods that go this way (`_generated`), who makes the first object (`client`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar, final

from .calls import call
from .portal import Place
from .scope import Scope
from .stream import Stream

__all__ = ["Route"]

C = TypeVar("C")
D = TypeVar("D")
T = TypeVar("T")


@final
class Route(Generic[C]):
    """Leads to what `make` makes, which is called in the loop."""

    def __init__(self, make: Callable[[], C], place: Place) -> None:
        self._make = make
        self._place = place
        self._made: tuple[int, C] | None = None  # with the number of forks it belongs to

    def then(self, step: Callable[[C], D]) -> Route[D]:
        """The way to something that is had from the object."""
        return Route(lambda: step(self.reach()), self._place)

    def call(self, ask: Callable[[C], Awaitable[T]]) -> T:
        """Await something of the object, and wait for it here."""
        return call(self._place, lambda: ask(self.reach()))

    def read(self, ask: Callable[[C], T]) -> T:
        """Read something of the object, over there."""

        async def asked() -> T:
            return ask(self.reach())

        return call(self._place, asked)

    def stream(self, ask: Callable[[C], AsyncIterator[T]]) -> Stream[T]:
        """Iterate here over what the object gives one by one."""
        return Stream(self._place, lambda: ask(self.reach()))

    def scope(self, ask: Callable[[C], AbstractAsyncContextManager[T]]) -> Scope[T]:
        """A block here around what the object opens there."""
        return Scope(self._place, lambda: ask(self.reach()))

    def reach(self) -> C:
        """The object itself; for the loop's thread."""
        forks = self._place.portal.forks
        if self._made is None or self._made[0] != forks:
            self._made = (forks, self._make())
        return self._made[1]

    def __repr__(self) -> str:
        made = self._made
        if made is None or made[0] != self._place.portal.forks:
            return "not used yet"
        return repr(made[1])
