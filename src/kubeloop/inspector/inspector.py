"""A web page that shows how a process that uses kubeloop is doing, live.

Promises: off unless somebody runs it, and for this machine only unless told otherwise; it
reads and never changes anything, and what a Secret holds never leaves the process. It looks
at its parts once a second, which costs next to nothing; the page is only made while somebody
looks. A process goes on without it when it fails.
Elsewhere: what is shown (`collect`), who may look (`guard`), finding it (`whereabouts`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import platform
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import msgspec

import kubeloop
from kubeloop.cache import Change, InformerState, Registration, SharedInformer
from kubeloop.errors import ConfigError, InvalidArgument
from kubeloop.events import EventWatcher
from kubeloop.kit import Clock, SystemClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.wire import format_time, get_logger
from kubeloop.wire.core.v1 import Event

from .collect import HANDLER, collect, numbers
from .guard import Guard
from .history import History, HistoryStats
from .journal import Journal, line_of_event, news
from .model import About, Snapshot
from .objects import described, known
from .parts import Inspectable, Reading, checked, event_watcher, informers_of, read
from .search import Query, search
from .server import Server
from .showing import Showing
from .timeline import Timeline
from .whereabouts import RunningInspector, announced

__all__ = ["EVERY", "Inspector", "InspectorStats"]

log = get_logger(__name__)

EVERY = 1.0
"""Seconds between two looks at the parts."""


class InspectorStats(msgspec.Struct, frozen=True):
    """What an inspector is at."""

    address: str  # without the token; empty before it listens
    viewers: int
    looks: int
    history: HistoryStats


@final
class Inspector:
    """Serves the page while it runs.

        manager.add(Inspector(manager))

        async with Inspector(informer, queue, port=8090) as page:
            print(page.url)

    It is given managers, informers, factories, queues, electors, or whatever has `stats()`.
    Port 0 is one that is free: `kubeloop inspect` finds it. At a `host` that others can reach
    a `token` is needed to see the page; one is made where none is given, and `url` has it.
    Without a token only requests to loopback names are answered, and to `allow_hosts`.
    `name` is what the page calls the process. For one life.

    Raises:
        InvalidArgument: there is nothing to look at, something has no `stats()`, the token is
            empty, or one of `allow_hosts` is no host.
    """

    def __init__(
        self,
        *parts: Inspectable,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        allow_hosts: Iterable[str] = (),
        name: str = "",
        clock: Clock | None = None,
    ) -> None:
        self._parts = checked(parts)
        self._host = host
        self._port = port
        self._guard = Guard(host, token, allow_hosts=allow_hosts)
        self._clock: Clock = clock or SystemClock()
        self._name = name or _own_name()
        self._address = ""
        self._about: About | None = None
        self._reading = Reading()
        self._timeline = Timeline()
        self._journal = Journal()
        self._history = History()
        self._showing = Showing()
        self._server = Server(self, self._guard, clock=self._clock)
        self._page: bytes | None = None  # made when somebody looks, once for each look
        self._looks = 0
        self._listening: dict[SharedInformer[Any], Registration[Any]] = {}
        self._watching: dict[int, EventWatcher[Event]] = {}  # by the part's place
        self._life = contextlib.AsyncExitStack()

    # --- life

    async def run(self) -> None:
        """Serve until cancelled; what keeps it from that is logged, and the process goes on."""
        try:
            async with self:
                await asyncio.get_running_loop().create_future()  # until cancelled
        except ConfigError as error:
            log.error("%s; the process goes on without it", error)
        except Exception:
            log.exception("inspector: failed; the process goes on without it")

    async def __aenter__(self) -> Self:
        """Begin. Cancelled, nothing is left running.

        Raises:
            ConfigError: the address cannot be had.
            InvalidArgument: it has begun before.
        """
        if self._about is not None:
            raise InvalidArgument("inspector: begin again: it lives once (make another one)")
        self._about = self._description()
        async with contextlib.AsyncExitStack() as stack:
            port = await stack.enter_async_context(self._server.listen(self._host, self._port))
            self._address = f"http://{_spoken(self._host)}:{port}/"
            stack.callback(self._let_go)
            tasks = await stack.enter_async_context(TaskOwner())
            self._look()
            tasks.spawn(self._look_on(), name="inspector")
            stack.enter_context(announced(self._whereabouts()))
            self._life = stack.pop_all()
        needs = ", with a token that `kubeloop inspect` knows" if self._guard.token else ""
        log.info("inspector at %s%s", self._address, needs)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._life.__aexit__(kind, error, trace)

    @property
    def url(self) -> str:
        """Where to look, with the token where there is one; empty before it listens."""
        return self._whereabouts().url

    def stats(self) -> InspectorStats:
        return InspectorStats(
            self._address, self._server.viewers, self._looks, self._history.stats()
        )

    def __repr__(self) -> str:
        return f"Inspector({self._address or 'not listening'})"

    # --- what the page asks for

    def snapshot(self) -> bytes:
        """Everything at the last look, as JSON."""
        if self._page is None:
            self._page = msgspec.json.encode(self._snapshot())
        return self._page

    async def search(self, query: Query) -> bytes:
        """A page of objects. Safe to cancel.

        Raises: InvalidArgument when the selector does not parse, or there is no such cache.
        """
        caches = informers_of(self._parts)
        if query.cache and query.cache not in caches:
            raise InvalidArgument(f"search: there is no cache {query.cache!r} (it may have ended)")
        return msgspec.json.encode(await asyncio.to_thread(search, caches, query))

    async def object(self, cache: str, key: ObjectKey) -> bytes | None:
        """An object with its changes; None if nothing is known of it. Safe to cancel."""
        informer = informers_of(self._parts).get(cache)
        if informer is None:
            return None
        found = known(cache, informer, key, self._history.of(cache, key))
        if found is None:
            return None
        return msgspec.json.encode(await asyncio.to_thread(described, found, self._showing))

    # --- looking

    async def _look_on(self) -> None:
        while True:
            await self._clock.sleep(EVERY)
            self._look()
            self._server.tick()

    def _look(self) -> None:
        before, self._reading = self._reading, read(self._parts)
        self._timeline.note(self._clock.now(), numbers(self._reading))
        self._journal.note(news(before, self._reading), self._clock.time())
        self._listen()
        self._take_events()
        self._page = None
        self._looks += 1

    def _listen(self) -> None:
        """Hear of changes in every cache, also in those that came later."""
        for name, informer in informers_of(self._parts).items():
            if informer not in self._listening and informer.state is not InformerState.STOPPED:
                note = functools.partial(self._note, name, informer)
                self._listening[informer] = informer.add_handler(on_change=note, name=HANDLER)

    def _note(self, name: str, informer: SharedInformer[Any], change: Change[Any]) -> None:
        self._history.note(name, change, informer.indexer.codec.raw, self._clock.time())

    def _take_events(self) -> None:
        for place, part in enumerate(self._parts):
            watcher = self._watching.get(place) or event_watcher(part)
            if watcher is None:
                continue
            self._watching[place] = watcher
            while (event := watcher.get_nowait()) is not None:
                self._journal.note([line_of_event(event)], self._clock.time())

    def _let_go(self) -> None:
        for registration in self._listening.values():
            registration.remove()
        for watcher in self._watching.values():
            watcher.stop()

    # --- telling

    def _snapshot(self) -> Snapshot:
        assert self._about is not None, "it is asked while it serves"
        return collect(
            self._reading,
            self._timeline,
            self._journal,
            about=self._about,
            at=format_time(self._clock.time()),
            now=self._clock.now(),
        )

    def _description(self) -> About:
        return About(
            name=self._name,
            pid=os.getpid(),
            host=socket.gethostname(),
            kubeloop=kubeloop.__version__,
            python=platform.python_version(),
            started=format_time(self._clock.time()),
            state="",
        )

    def _whereabouts(self) -> RunningInspector:
        return RunningInspector(self._address, os.getpid(), self._name, self._guard.token or "")


def _own_name() -> str:
    """What the process was started as."""
    script = Path(sys.argv[0] or "python")
    return script.parent.name if script.stem == "__main__" else script.stem


def _spoken(host: str) -> str:
    """A host as addresses have it; all interfaces are reached through this machine's own."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - recognised, not listened at
        return "localhost"
    return f"[{host}]" if ":" in host else host
