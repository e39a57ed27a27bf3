"""Following a collection: its changes, and waiting for them.

Promises: a stream that breaks is resumed without loss; where that cannot be, it is said.
Elsewhere: one stream as bytes (`raw`), what is waited for (`waiting`, `watching`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Literal, TypeVar, overload

from kubeloop.rest import ResumingWatch

from .lists import EventType, WatchEvent
from .options import FieldSelection, LabelSelection, ListOptions, WatchOptions
from .reading import ReadingVerbs
from .waiting import goal_of, wait_until
from .watching import EventCondition, until

__all__ = ["FollowingVerbs"]

T = TypeVar("T")


class FollowingVerbs(ReadingVerbs[T]):
    """watch, until and wait_for."""

    async def watch(
        self,
        *,
        since: str | None = None,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        timeout_seconds: int | None = None,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Changes after the version `since`, for as long as you like to listen.

        Broken streams are resumed where they broke. Without `since`, all objects that there
        are come first, as ADDED. Close it when you leave early (`contextlib.aclosing`).
        Raises: Expired when the version is too old: list, and watch from there.
        """
        options = WatchOptions.of(labels=labels, fields=fields, timeout_seconds=timeout_seconds)
        if since is None:
            page = await self._list(ListOptions(labels=options.labels, fields=options.fields))
            for obj in page:
                yield WatchEvent("ADDED", obj)
            since = page.version
        request = await self.raw.watch_request(options)

        rest = self._collection.rest
        resuming = ResumingWatch(
            lambda version: rest.watch(request.with_params({"resourceVersion": version})),
            since,
            clock=self._collection.clock,
        )
        async with resuming as events:
            async for event in events:
                yield WatchEvent(_event_type(event.type), self._form.read_item(event.object, None))

    async def until(
        self,
        *conditions: EventCondition[T],
        since: str,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        Raises: Expired when `since` is too old. Safe to cancel.
        """
        return await until(self.watch(since=since, labels=labels, fields=fields), *conditions)

    @overload
    async def wait_for(
        self, name: str, *, deleted: Literal[True], timeout: float | None = ...
    ) -> None: ...
    @overload
    async def wait_for(self, name: str, *, condition: str, timeout: float | None = ...) -> T: ...
    @overload
    async def wait_for(self, name: str, *, jsonpath: str, timeout: float | None = ...) -> T: ...
    @overload
    async def wait_for(
        self, name: str, *, function: Callable[[T], bool], timeout: float | None = ...
    ) -> T: ...
    async def wait_for(
        self,
        name: str,
        *,
        condition: str = "",
        jsonpath: str = "",
        deleted: bool = False,
        function: Callable[[T], bool] | None = None,
        timeout: float | None = 30.0,
    ) -> T | None:
        """Wait until an object, there or still to come, is as it is wanted, and return it.

        `condition` is `Ready` or `Ready=False`, `jsonpath` is `{.status.phase}=Running` or
        a path that is to exist, `function` gets the object. Safe to cancel.
        Raises: WaitTimeout, which says what was last seen.
        """
        goal = goal_of(condition=condition, jsonpath=jsonpath, deleted=deleted, function=function)
        return await wait_until(self, name, goal, timeout=timeout)


def _event_type(text: str) -> EventType:
    return text  # type: ignore[return-value] # the watch lets no other type through
