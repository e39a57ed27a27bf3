"""Lists and watches without decoding any object: what a cache keeps is the bytes."""

from __future__ import annotations

from typing import final

from kubeloop.rest import ItemStream, Request, Watch
from kubeloop.wire import RawList

from .collection import Collection
from .options import ListOptions, WatchOptions

__all__ = ["RawCollection"]


@final
class RawCollection:
    """One collection, as the bytes that come. A watch is one stream and is not resumed."""

    def __init__(self, collection: Collection, accept: str = "", *, watch_accept: str = "") -> None:
        self._collection = collection
        self._accept = accept
        self._watch_accept = watch_accept

    async def list(self, options: ListOptions | None = None) -> RawList:
        """One page. Raises: Expired. Safe to cancel."""
        answer = await self._collection.rest.send(await self.list_request(options or ListOptions()))
        return answer.split()

    async def items(self, options: ListOptions | None = None) -> ItemStream:
        """The items of one page while they come, for lists too long to hold."""
        return self._collection.rest.items(await self.list_request(options or ListOptions()))

    async def watch(
        self, options: WatchOptions | None = None, *, max_retries: int | None = None
    ) -> Watch:
        """One stream of events, opened when it is first read.

        `max_retries` bounds the retries of opening it, in place of the client's own bound.
        """
        request = await self.watch_request(options or WatchOptions())
        return self._collection.rest.watch(request.replace(max_retries=max_retries))

    async def list_request(self, options: ListOptions) -> Request:
        """The request of a list; its own timeout stands in for the client's."""
        return await self._collection.request(
            "list",
            params=options.params(),
            accept=self._accept,
            timeout=float(options.timeout_seconds or 0),
        )

    async def watch_request(self, options: WatchOptions) -> Request:
        """The request of a watch; its own timeout stands in for the client's."""
        return await self._collection.request(
            "watch",
            params=options.params(),
            accept=self._watch_accept,
            timeout=float(options.timeout_seconds or 0),
        )
