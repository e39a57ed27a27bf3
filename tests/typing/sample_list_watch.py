"""Sources of informers as users write them; mypy and pyright read it, it never runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

from kubeloop.cache import ListWatch, RawEvent, RawPage, Scope, SharedInformer
from kubeloop.wire import Raw
from kubeloop.wire.core.v1 import Pod


class Inherits(ListWatch):
    """Leaves out what is optional, and has a generator."""

    @property
    def scope(self) -> Scope:
        return Scope("pods")

    @property
    def streams_lists(self) -> bool:
        return False

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        return RawPage([], "1")

    async def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        yield RawEvent("ADDED", Raw(b"{}"))


class Pushed:
    """Calls the reflector with the events."""

    async def open(self) -> bool:
        return True

    async def pump(
        self, apply: Callable[[Iterator[RawEvent]], bool], split: Callable[[bytes], RawEvent]
    ) -> None:
        apply(iter([split(b"{}")]))

    async def aclose(self) -> None:
        """Nothing is open."""


class Fits:
    """Inherits nothing, so it has all members."""

    def __init__(self) -> None:
        self.scope = Scope("pods")
        self.streams_lists = True
        self.watch_list_support = None
        self.messages = None

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        return RawPage([], "1")

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> Pushed:
        return Pushed()


SharedInformer(Inherits(), Pod)
SharedInformer(Fits(), Pod)
