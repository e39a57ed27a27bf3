"""The inspector: samples its parts, and serves a live web page about them.

Guarantees: it runs only if started, and listens on loopback unless configured otherwise; it
changes nothing, and the data of Secrets never leaves the process. It takes a sample every
second; the page is computed only while a browser has it open. If the inspector fails, the
process continues.
See also: `collect` (what is shown), `guard` (who may see it), `running` (how it is found).
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
from .journal import Journal, changes_between, entry_of_event
from .model import Process, Snapshot
from .objects import describe_object, find_object
from .recording import Recorder
from .rendering import ObjectRenderer
from .running import RunningInspector, register
from .samples import (
    Inspectable,
    Sample,
    check_parts,
    event_watcher,
    informers_of,
    take_sample,
)
from .search import Query, search
from .server import Server
from .timeline import Timeline

__all__ = ["INTERVAL", "Inspector", "InspectorStats"]

log = get_logger(__name__)

INTERVAL = 1.0
"""Seconds between two samples."""


class InspectorStats(msgspec.Struct, frozen=True):
    """Counters of an inspector."""

    address: str  # without the token; empty before it listens
    viewers: int
    samples: int
    history: HistoryStats


@final
class Inspector:
    """Serves a live page about its parts.

        manager.add(Inspector(manager))

        async with Inspector(informer, queue, port=8090) as page:
            print(page.url)

    Parts are managers, informers, informer factories, queues, electors, or anything else with
    `stats()`. Port 0 is any free port; `kubeloop inspect` finds it. If `host` is not loopback,
    the page needs a `token`; without one, a token is created, and `url` contains it. Without a
    token, only requests to loopback names and `allow_hosts` are accepted. `name` is the name
    of the process on the page. An inspector can be started once.

    Raises:
        InvalidArgument: there are no parts, a part has no `stats()`, the token is empty, or one of
            `allow_hosts` is not a host.
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
        self._parts = check_parts(parts)
        self._host = host
        self._port = port
        self._guard = Guard(host, token, allow_hosts=allow_hosts)
        self._clock: Clock = clock or SystemClock()
        self._name = name or _process_name()
        self._address = ""
        self._process: Process | None = None
        self._last = Sample()
        self._timeline = Timeline()
        self._journal = Journal()
        self._history = History()
        self._renderer = ObjectRenderer()
        self._server = Server(self, self._guard, clock=self._clock)
        self._page: bytes | None = None  # the encoded snapshot; computed on demand, once per sample
        self._samples = 0
        self._recorders: list[Recorder] = []
        self._registrations: dict[SharedInformer[Any], Registration[Any]] = {}
        self._event_watchers: dict[int, EventWatcher[Event]] = {}  # by the index of the part
        self._stack = contextlib.AsyncExitStack()

    # --- lifecycle

    async def run(self) -> None:
        """Serve until cancelled; an error is logged, and the process continues."""
        try:
            async with self:
                await asyncio.get_running_loop().create_future()  # until cancelled
        except ConfigError as error:
            log.error("%s; the process continues without it", error)
        except Exception:
            log.exception("inspector: failed; the process continues without it")

    async def __aenter__(self) -> Self:
        """Start. If cancelled, nothing is left running.

        Raises:
            ConfigError: the address cannot be bound.
            InvalidArgument: it was started before.
        """
        if self._process is not None:
            raise InvalidArgument("inspector: it was started before (create a new one)")
        self._process = self._describe_process()
        async with contextlib.AsyncExitStack() as stack:
            port = await stack.enter_async_context(self._server.serve(self._host, self._port))
            self._address = f"http://{_url_host(self._host)}:{port}/"
            stack.callback(self._unsubscribe)
            tasks = await stack.enter_async_context(TaskOwner())
            self._sample()
            tasks.spawn(self._sample_forever(), name="inspector")
            stack.enter_context(register(self._running_inspector()))
            self._stack = stack.pop_all()
        token = "; `kubeloop inspect` prints the URL with its token" if self._guard.token else ""
        log.info("inspector: serving at %s%s", self._address, token)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    @property
    def url(self) -> str:
        """The URL of the page, with the token if there is one; empty before it listens."""
        return self._running_inspector().url

    def stats(self) -> InspectorStats:
        return InspectorStats(
            self._address, self._server.viewers, self._samples, self._history.stats()
        )

    def __repr__(self) -> str:
        return f"Inspector({self._address or 'not listening'})"

    # --- the content of the page

    def snapshot(self, step: int = -1) -> bytes:  # noqa: ARG002 - for recordings
        """The values of the last sample, as JSON."""
        if self._page is None:
            self._page = msgspec.json.encode(self._snapshot())
        return self._page

    async def search(self, query: Query) -> bytes:
        """One page of the matching objects. Safe to cancel.

        Raises: InvalidArgument if the selector is invalid, or there is no such cache.
        """
        caches = informers_of(self._parts)
        if query.cache and query.cache not in caches:
            raise InvalidArgument(
                f"search: no cache {query.cache!r} (its informer may have stopped)"
            )
        if query.manager and not query.cache:
            managers = [each for each in self._last.manager_parts if each.name == query.manager]
            names = {name for each in managers for _, name in each.informers}
            caches = {name: each for name, each in caches.items() if name in names}
        return msgspec.json.encode(await asyncio.to_thread(search, caches, query))

    def start_recording(self) -> Recorder:
        """A recorder of everything from now on, until `stop_recording`."""
        self._sample()  # the first step shows the same time as the objects of the start
        recorder = Recorder(informers_of(self._parts), self._renderer, self._clock.time())
        recorder.add_step(self.snapshot())
        self._recorders.append(recorder)
        return recorder

    def stop_recording(self, recorder: Recorder) -> None:
        self._recorders.remove(recorder)

    async def object(self, cache: str, key: ObjectKey, step: int = -1) -> bytes | None:  # noqa: ARG002
        """An object with its changes; None if it is unknown. Safe to cancel."""
        informer = informers_of(self._parts).get(cache)
        if informer is None:
            return None
        found = find_object(cache, informer, key, self._history.of(cache, key))
        if found is None:
            return None
        return msgspec.json.encode(await asyncio.to_thread(describe_object, found, self._renderer))

    # --- sampling

    async def _sample_forever(self) -> None:
        while True:
            await self._clock.sleep(INTERVAL)
            self._sample()
            self._server.update()

    def _sample(self) -> None:
        previous, self._last = self._last, take_sample(self._parts)
        self._timeline.record(self._clock.now(), numbers(self._last))
        self._journal.add(changes_between(previous, self._last), self._clock.time())
        self._subscribe()
        self._read_events()
        self._page = None
        self._samples += 1
        for recorder in self._recorders:
            recorder.add_step(self.snapshot())

    def _subscribe(self) -> None:
        """Add a handler to every informer, also to those created since the last sample."""
        for name, informer in informers_of(self._parts).items():
            if informer not in self._registrations and informer.state is not InformerState.STOPPED:
                record = functools.partial(self._record, name, informer)
                self._registrations[informer] = informer.add_handler(on_change=record, name=HANDLER)

    def _record(self, name: str, informer: SharedInformer[Any], change: Change[Any]) -> None:
        now = self._clock.time()
        self._history.record(name, change, informer.indexer.codec.raw, now)
        for recorder in self._recorders:
            recorder.add_change(name, informer, change, now)

    def _read_events(self) -> None:
        for index, part in enumerate(self._parts):
            watcher = self._event_watchers.get(index) or event_watcher(part)
            if watcher is None:
                continue
            self._event_watchers[index] = watcher
            while (event := watcher.get_nowait()) is not None:
                self._journal.add([entry_of_event(event)], self._clock.time())

    def _unsubscribe(self) -> None:
        for registration in self._registrations.values():
            registration.remove()
        for watcher in self._event_watchers.values():
            watcher.stop()

    def _snapshot(self) -> Snapshot:
        assert self._process is not None, "called only while it serves"
        return collect(
            self._last,
            self._timeline,
            self._journal,
            process=self._process,
            at=format_time(self._clock.time()),
            now=self._clock.now(),
        )

    def _describe_process(self) -> Process:
        return Process(
            name=self._name,
            pid=os.getpid(),
            host=socket.gethostname(),
            kubeloop=kubeloop.__version__,
            python=platform.python_version(),
            started=format_time(self._clock.time()),
            state="",
        )

    def _running_inspector(self) -> RunningInspector:
        return RunningInspector(self._address, os.getpid(), self._name, self._guard.token or "")


def _process_name() -> str:
    """The name of the script or the package that was started."""
    script = Path(sys.argv[0] or "python")
    return script.parent.name if script.stem == "__main__" else script.stem


def _url_host(host: str) -> str:
    """A host as it is written in a URL; localhost for all interfaces."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - compared, not bound
        return "localhost"
    return f"[{host}]" if ":" in host else host
