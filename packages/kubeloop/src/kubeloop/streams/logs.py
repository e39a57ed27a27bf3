"""Reads the logs of containers: one, or those of many pods; once, or as they are written.

A log that is followed survives lost connections and restarts of its container. When a stream
ends, the status of the pod decides what is next (`next_step`): continue the same log, read what
is left of the previous run and then the log of the new run, wait for a restart, or end.

Guarantees: no line is returned twice; lines that may be missing are a `LogGap`; a slow reader
slows the servers down, memory stays bounded; when a reader leaves, every connection is closed.
See also: `log_position` (what was read), `pods` (which pod and container).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, final

import msgspec

from kubeloop.errors import (
    ApiError,
    BadRequest,
    ClientClosed,
    DecodeError,
    Expired,
    Forbidden,
    InvalidArgument,
    NotFound,
    TransportError,
    Unauthorized,
)
from kubeloop.kit import Backoff, Clock, TaskOwner
from kubeloop.rest import Timeouts, query_options
from kubeloop.selectors import Selector
from kubeloop.wire import format_time, get_logger

from .log_position import LineSplitter, LogPosition, ReceivedLine
from .pods import (
    ContainerRun,
    PodAccess,
    container_names,
    container_run,
    default_container,
    find_pod,
)

if TYPE_CHECKING:
    from kubeloop.wire.core.v1 import Pod

__all__ = [
    "ContainerLog",
    "LogEntry",
    "LogGap",
    "LogLine",
    "LogQuery",
    "LogStart",
    "next_step",
    "read_entries",
    "read_lines",
]

log = get_logger(__name__)

_MAX_LINE = 16 * 1024 * 1024
_QUEUE = 1000  # entries of all logs that wait for the reader
_BACKOFF = Backoff(duration=0.5, factor=2.0, jitter=0.5, steps=10, cap=15.0)
MAX_STREAMS = 100

LogStreamName = Literal["All", "Stdout", "Stderr"]


class LogLine(msgspec.Struct, frozen=True):
    """One line of a container's log, without its newline."""

    pod: str
    container: str
    time: datetime | None  # when it was written, in UTC; None for a message of the kubelet
    text: str
    timestamp: str = ""  # the same as the server sent it: RFC 3339, with nanoseconds


class LogGap(msgspec.Struct, frozen=True):
    """Lines may be missing here: the log was rotated, or a run ended while it was not read."""

    pod: str
    container: str
    reason: str


class LogStart(msgspec.Struct, frozen=True):
    """The log of a container begins, or that of its next run after a restart."""

    pod: str
    container: str
    restarts: int


LogEntry = LogLine | LogGap | LogStart
"""What the logs of several pods consist of."""


class LogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one request for a log, as the API has them."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    since_seconds: int | None = None
    since_time: datetime | None = None
    tail_lines: int | None = None
    limit_bytes: int | None = None
    timestamps: bool = False
    stream: LogStreamName | None = None
    insecure_skip_tls_verify_backend: bool = False

    def params(self) -> dict[str, str | list[str]]:
        """The parameters of the request."""
        found = query_options(
            container=self.container,
            follow=self.follow,
            previous=self.previous,
            since_seconds=self.since_seconds,
            since_time=format_time(self.since_time) if self.since_time else None,
            timestamps=self.timestamps,
            tail_lines=self.tail_lines,
            limit_bytes=self.limit_bytes,
            stream=self.stream,
        )
        if self.insecure_skip_tls_verify_backend:
            found["insecureSkipTLSVerifyBackend"] = "true"
        return found


# --- what to do when a stream ends


class Resume(msgspec.Struct, frozen=True):
    """Continue the same log."""


class Wait(msgspec.Struct, frozen=True):
    """The log is complete, and the container will be restarted."""


class NextRun(msgspec.Struct, frozen=True):
    """The container was restarted; `missed` runs came and went meanwhile."""

    missed: int


class Finish(msgspec.Struct, frozen=True):
    """Nothing more will be written; with `gap`, the end was not read."""

    gap: bool


Step = Resume | Wait | NextRun | Finish


def next_step(before: ContainerRun, now: ContainerRun | None, *, is_complete: bool) -> Step:
    """What follows a stream of the run `before`; `is_complete` if the server ended it.

    `now` is the current run, None if the pod is gone.
    """
    if now is None or now.pod_uid != before.pod_uid:
        return Finish(gap=not is_complete)
    if now.restarts > before.restarts or (before.id and now.id and now.id != before.id):
        return NextRun(missed=max(now.restarts - before.restarts - 1, 0))
    if now.is_running or not is_complete:
        return Resume()
    return Wait() if now.will_restart else Finish(gap=False)


# --- one container


class LogSource(Protocol):
    """Where the log of one container comes from."""

    def read(self, query: LogQuery) -> AsyncGenerator[bytes, None]:
        """The chunks of the log; an incomplete body is a `TransportError`."""
        ...

    async def run(self) -> ContainerRun | None:
        """The current run of the container; None if its pod is gone."""
        ...


@final
class PodLogSource:
    """The log of one container of a pod, from the API."""

    def __init__(self, access: PodAccess, pod: str, container: str) -> None:
        self._access = access
        self._pod = pod
        self._container = container

    async def read(self, query: LogQuery) -> AsyncGenerator[bytes, None]:
        requests = self._access.requests
        request = await requests.request(
            "get",
            name=self._pod,
            subresource="log",
            params=query.params(),
            accept="*/*",
            # A log may be silent for hours.
            timeouts=Timeouts(idle=None) if query.follow else None,
        )
        async with requests.rest.stream(request) as body:
            async for chunk in body:
                yield chunk

    async def run(self) -> ContainerRun | None:
        try:
            pod = await self._access.pods.get(self._pod)
        except NotFound:
            return None
        return container_run(pod, self._container or default_container(pod))


@final
class ContainerLog:
    """Follows the log of one container until nothing more can be written.

    With `is_patient`, errors before the first line are retried as well.
    """

    def __init__(
        self,
        source: LogSource,
        query: LogQuery,
        *,
        pod: str,
        container: str,
        clock: Clock,
        is_patient: bool = False,
    ) -> None:
        self._source = source
        self._query = query
        self._pod = pod
        self._container = container
        self._clock = clock
        self._is_patient = is_patient
        self._delays = _BACKOFF.delays()
        self._position = LogPosition()
        self._began = clock.now()
        self._has_begun = False  # a stream was opened
        self._rest = b""  # a last line without newline, which the container may complete
        self._is_complete = False  # the server ended the last stream

    async def entries(self) -> AsyncGenerator[LogEntry, None]:
        """The entries. Safe to cancel: the connection is closed.

        Raises: NotFound, BadRequest while there is no log yet; Forbidden.
        """
        # The request reports a pod that does not exist.
        run = await self._source.run() or ContainerRun()
        yield LogStart(self._pod, self._container, run.restarts)
        while True:
            async with aclosing(self._stream(self._next_query())) as entries:
                async for entry in entries:
                    yield entry
            now = await self._current_run()
            step = next_step(run, now, is_complete=self._is_complete)
            while isinstance(step, Wait):
                await self._clock.sleep(self._delays.next())
                now = await self._current_run()
                step = next_step(run, now, is_complete=True)
            if not isinstance(step, Resume):
                for entry in self._take_rest():
                    yield entry
            match step:
                case Resume():
                    self._rest = b""
                    await self._clock.sleep(self._delays.next())
                case Finish(gap):
                    if gap:
                        yield self._gap("the pod was deleted before the end of its log was read")
                    return
                case NextRun(missed):
                    assert now is not None
                    async with aclosing(self._change_run(run, now, missed)) as entries:
                        async for entry in entries:
                            yield entry
                    run = now

    def _next_query(self) -> LogQuery:
        """The query that continues after what was received."""
        # The limit is for all streams together, so the reader counts.
        query = msgspec.structs.replace(self._query, follow=True, timestamps=True, limit_bytes=None)
        since = self._position.since
        if since is not None:
            return msgspec.structs.replace(
                query, since_time=since, since_seconds=None, tail_lines=None
            )
        if not self._has_begun:
            return query
        # Nothing was received yet: do not miss what was written since the first request.
        elapsed = math.ceil(self._clock.now() - self._began) + 1
        if query.since_seconds is not None:
            seconds = query.since_seconds + elapsed
            return msgspec.structs.replace(query, since_seconds=seconds)
        if query.tail_lines == 0:
            return msgspec.structs.replace(query, since_seconds=elapsed, tail_lines=None)
        return query

    async def _stream(self, query: LogQuery) -> AsyncGenerator[LogEntry, None]:
        """One request: its new lines. Errors that another request may fix end it."""
        self._is_complete = False
        self._position.resume()
        splitter = LineSplitter()
        try:
            async with aclosing(self._source.read(query)) as chunks:
                async for chunk in chunks:
                    self._has_begun = True
                    for line in splitter.feed(chunk):
                        for entry in self._receive(line):
                            yield entry
                    _check_line(splitter, self._pod)
        except (TransportError, ApiError) as error:
            if not self._is_retried(error):
                raise
            log.info("log of %s in %s: %s; will resume", self._container, self._pod, error)
            return
        self._has_begun = True
        self._is_complete = True
        self._rest = splitter.rest
        if not self._rest and self._position.end():
            yield self._gap(_ROTATED)

    def _receive(self, line: bytes) -> list[LogEntry]:
        received = self._position.receive(line)
        if received is None:
            return []
        self._delays.reset()
        entry = _log_line(self._pod, self._container, received)
        return [self._gap(_ROTATED), entry] if received.follows_gap else [entry]

    def _take_rest(self) -> list[LogEntry]:
        """The last line of a run that has ended, which may lack a newline."""
        rest, self._rest = self._rest, b""
        return self._receive(rest) if rest else []

    async def _change_run(
        self, before: ContainerRun, run: ContainerRun, missed: int
    ) -> AsyncGenerator[LogEntry, None]:
        """What is left of the previous run, and the start of the new one."""
        # If the new run has ended too, the previous log is its own.
        has_previous = not (before.id and run.previous_id) or before.id == run.previous_id
        if missed:
            yield self._gap(f"the container was restarted {missed + 1} times while it was not read")
        else:
            was_complete = self._is_complete
            if has_previous:
                query = msgspec.structs.replace(self._next_query(), follow=False, previous=True)
                async with aclosing(self._stream_of_previous(query)) as entries:
                    async for entry in entries:
                        yield entry
                for entry in self._take_rest():
                    yield entry
            if not (was_complete or self._is_complete):
                yield self._gap("the container was restarted before the end of its log was read")
        yield LogStart(self._pod, self._container, run.restarts)
        self._delays.reset()
        if run.started is not None:
            self._position = self._position.in_run(run.started)
        self._query = msgspec.structs.replace(
            self._query, since_seconds=None, since_time=None, tail_lines=None
        )

    async def _stream_of_previous(self, query: LogQuery) -> AsyncGenerator[LogEntry, None]:
        try:
            async with aclosing(self._stream(query)) as entries:
                async for entry in entries:
                    yield entry
        except (BadRequest, NotFound) as error:  # the kubelet has removed it
            log.info("previous log of %s in %s: %s", self._container, self._pod, error)

    async def _current_run(self) -> ContainerRun | None:
        while True:
            try:
                return await self._source.run()
            except (TransportError, ApiError) as error:
                if not self._is_retried(error):
                    raise
                log.info("pod %s: %s; will retry", self._pod, error)
            await self._clock.sleep(self._delays.next())

    def _is_retried(self, error: TransportError | ApiError) -> bool:
        if isinstance(error, ClientClosed | Forbidden | Unauthorized):
            return False
        if not (self._has_begun or self._is_patient):
            return False
        # 400: the container waits to be started. 404: the status decides whether the pod is gone.
        return not isinstance(error, ApiError) or error.code >= 500 or error.code in {400, 404, 429}

    def _gap(self, reason: str) -> LogGap:
        return LogGap(self._pod, self._container, reason)


_ROTATED = "the log was rotated"


# --- lines and entries for users


async def read_lines(access: PodAccess, target: str, query: LogQuery) -> AsyncGenerator[str, None]:
    """The lines of one container; with `follow`, over as many streams as needed."""
    found = await find_pod(access, target, must_be_ready=False)
    if found.pod is not None and not query.container:
        query = msgspec.structs.replace(query, container=default_container(found.pod))
    source = PodLogSource(access, found.name, query.container)
    if not query.follow or query.previous:
        async with aclosing(_read_once(source, query, found.name)) as lines:
            async for line in lines:
                yield line.decode(errors="replace")
        return
    followed = ContainerLog(
        source,
        query,
        pod=found.name,
        container=query.container,
        clock=access.requests.rest.clock,
    )
    left = math.inf if query.limit_bytes is None else query.limit_bytes
    async with aclosing(followed.entries()) as entries:
        async for entry in entries:
            if not isinstance(entry, LogLine):
                _report(entry)
                continue
            text = entry.text
            if query.timestamps and entry.timestamp:
                text = f"{entry.timestamp} {text}"
            left -= len(text.encode()) + 1
            if left < 0:
                return
            yield text


def _report(entry: LogGap | LogStart) -> None:
    if isinstance(entry, LogGap):
        log.warning("log of %s: %s; lines may be missing", entry.pod, entry.reason)
    elif entry.restarts:
        log.info("log of %s: the container was restarted (%d)", entry.pod, entry.restarts)


async def _read_once(source: LogSource, query: LogQuery, pod: str) -> AsyncGenerator[bytes, None]:
    """The lines of one request."""
    splitter = LineSplitter()
    async with aclosing(source.read(query)) as chunks:
        async for chunk in chunks:
            for line in splitter.feed(chunk):
                yield line
            _check_line(splitter, pod)
    if splitter.size:
        yield splitter.rest


def _check_line(splitter: LineSplitter, pod: str) -> None:
    if splitter.size > _MAX_LINE:
        raise DecodeError(f"log of {pod}: a line is longer than {_MAX_LINE} bytes")


async def read_entries(
    access: PodAccess,
    target: str,
    query: LogQuery,
    *,
    selector: str | Selector | Mapping[str, str] | None,
    all_containers: bool,
    max_streams: int,
) -> AsyncGenerator[LogEntry, None]:
    """The entries of one pod, or of all pods of a selector; see `PodClient.log_entries`."""
    if bool(target) == (selector is not None):
        raise InvalidArgument("log_entries: expected either a pod or a selector")

    def containers(pod: Pod) -> list[str]:
        if all_containers:
            return container_names(pod)
        return [query.container or default_container(pod)]

    logs = _PodLogs(access, query, containers, selector=selector, max_streams=max_streams)
    if target:
        found = await find_pod(access, target, must_be_ready=False)
        pods = [found.pod or await access.pods.get(found.name)]
        version = None
    else:
        page = await access.pods.list(selector=selector)
        pods, version = sorted(page.items, key=lambda pod: pod.metadata.name or ""), page.version
    entries = logs.follow(pods, version) if query.follow else logs.read(pods)
    async with aclosing(entries):
        async for entry in entries:
            yield entry


@final
class _PodLogs:
    """The logs of several containers, for one reader."""

    def __init__(
        self,
        access: PodAccess,
        query: LogQuery,
        containers: Callable[[Pod], list[str]],
        *,
        selector: str | Selector | Mapping[str, str] | None,
        max_streams: int,
    ) -> None:
        self._access = access
        self._query = query
        self._containers = containers
        self._selector = selector
        self._max_streams = max_streams
        self._followed: dict[str, set[str]] = {}  # the containers of each pod, by its uid
        self._open = 0
        self._ready: asyncio.Queue[LogEntry | Exception | None] = asyncio.Queue()
        self._capacity = asyncio.Semaphore(_QUEUE)

    async def read(self, pods: list[Pod]) -> AsyncGenerator[LogEntry, None]:
        """One log after the other."""
        for pod in pods:
            name = pod.metadata.name or ""
            for container in self._containers(pod):
                if not container_run(pod, container).has_started:
                    continue
                yield LogStart(name, container, container_run(pod, container).restarts)
                query = msgspec.structs.replace(self._query, container=container, timestamps=True)
                source = PodLogSource(self._access, name, container)
                async with aclosing(_read_once(source, query, name)) as lines:
                    async for line in lines:
                        yield _line(name, container, line)

    async def follow(self, pods: list[Pod], version: str | None) -> AsyncGenerator[LogEntry, None]:
        """All logs at once, with those of pods that come later if there is a `version`."""

        def fail(_: str, error: Exception) -> None:
            self._ready.put_nowait(error)

        async with TaskOwner(on_failure=fail) as tasks:
            for pod in pods:
                self._start(tasks, pod, self._query)
            if version is not None:
                tasks.spawn(self._discover(tasks, version), name="pods of a selector")
            elif not self._open:
                return
            while True:
                entry = await self._ready.get()
                if isinstance(entry, Exception):
                    raise entry
                if entry is None:
                    if version is None and not self._open:
                        return
                    continue
                self._capacity.release()
                yield entry

    def _start(self, tasks: TaskOwner, pod: Pod, query: LogQuery) -> None:
        """Follow each container that has started and is not followed yet."""
        followed = self._followed.setdefault(pod.metadata.uid or "", set())
        for container in self._containers(pod):
            if container in followed or not container_run(pod, container).has_started:
                continue
            followed.add(container)
            if self._open >= self._max_streams:
                raise InvalidArgument(
                    f"logs of {self._selector}: more than {self._max_streams} containers are to be"
                    " followed (use a narrower selector, or a larger max_streams)"
                )
            self._open += 1
            name = pod.metadata.name or ""
            tasks.spawn(self._follow(name, container, query), name=f"log of {container} in {name}")

    async def _follow(self, pod: str, container: str, query: LogQuery) -> None:
        followed = ContainerLog(
            PodLogSource(self._access, pod, container),
            msgspec.structs.replace(query, container=container),
            pod=pod,
            container=container,
            clock=self._access.requests.rest.clock,
            is_patient=self._selector is not None,
        )
        try:
            async with aclosing(followed.entries()) as entries:
                async for entry in entries:
                    await self._capacity.acquire()
                    self._ready.put_nowait(entry)
        finally:
            self._open -= 1
            self._ready.put_nowait(None)

    async def _discover(self, tasks: TaskOwner, version: str) -> None:
        """Follow the pods that come later, from the beginning of their logs."""
        whole = msgspec.structs.replace(
            self._query, since_seconds=None, since_time=None, tail_lines=None
        )
        clock, delays = self._access.requests.rest.clock, _BACKOFF.delays()
        while True:
            try:
                watch = self._access.pods.watch(resource_version=version, selector=self._selector)
                async with aclosing(watch) as events:
                    async for event in events:
                        delays.reset()
                        if event.type == "DELETED":
                            self._followed.pop(event.object.metadata.uid or "", None)
                        else:
                            self._start(tasks, event.object, whole)
            except Expired:
                await clock.sleep(delays.next())
            page = await self._access.pods.list(selector=self._selector)
            for pod in page.items:
                self._start(tasks, pod, whole)
            version = page.version


def _line(pod: str, container: str, line: bytes) -> LogLine:
    received = LogPosition().receive(line)
    assert received is not None  # nothing was seen before
    return _log_line(pod, container, received)


def _log_line(pod: str, container: str, line: ReceivedLine) -> LogLine:
    text = line.text.decode(errors="replace")
    return LogLine(pod, container, line.time, text, line.timestamp)
