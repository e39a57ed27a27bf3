"""Logs of containers: the text that a test has set, or a few lines about a simulated container.

Guarantees: wrong options and an unknown container are rejected as by kube-apiserver, a container
without a log as by a kubelet; `tailLines`, `sinceSeconds`, `sinceTime`, `timestamps`, `previous`
and `limitBytes` are honoured; `follow` sends what is added until the container ends.
See also: `log_lines` (the lines), `serving.streaming` (sending a log).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import final

from ..request.calls import Call
from ..request.negotiation import Response
from ..request.requests import Request
from ..statuses import StatusError, bad_request
from ..storage.store import Change, Object, key_of
from .log_lines import (
    LogLine,
    LogOptions,
    append_text,
    container_lines,
    has_ended,
    log_options,
    select_lines,
)
from .writing import Verbs

__all__ = ["LogStream", "Logs"]

_PODS = ("", "pods")


@final
class LogStream:
    """A log that is followed: its pieces, until the container ends."""

    def __init__(self, key: str, container: str, *, timestamps: bool) -> None:
        self.key = key
        self.container = container
        self._timestamps = timestamps
        self._sent: list[LogLine] = []  # the lines of the log that were sent, or left out
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def start(self, lines: list[LogLine], selected: list[LogLine]) -> None:
        """Queue the lines that the client requests, of all lines."""
        self._sent = lines
        self._put(selected)

    def update(self, lines: list[LogLine]) -> None:
        """Queue what `lines` add to the log, or all of them if the log was replaced."""
        before, self._sent = self._sent, lines
        if lines[: len(before)] == before:
            self._put(lines[len(before) :])
            return
        whole, sent = _joined(lines), _joined(before)
        if before and whole.startswith(sent) and not self._timestamps:
            self._pieces.put_nowait(whole.removeprefix(sent).encode())  # a line goes on
        else:
            self._put(lines)

    def end(self) -> None:
        """End the stream after the queued pieces."""
        self._pieces.put_nowait(b"")

    def _put(self, lines: list[LogLine]) -> None:
        if lines:
            self._pieces.put_nowait(_encode(lines, timestamps=self._timestamps))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._pieces.get():
            yield piece


@final
class Logs:
    """The log of each container, by namespace, pod and container."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self._lines: dict[tuple[str, str], list[LogLine]] = {}  # by the pod's key, and container
        self._streams: set[LogStream] = set()
        verbs.store.subscribe(self._observe, _PODS)

    def set(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Set the log of a container; without `container`, of all containers of the pod."""
        key = key_of(namespace, pod)
        before = self._lines.get((key, container), [])
        old = _joined(before)
        now = self._verbs.clock.time()
        # The lines that are there already keep their times.
        kept, added = (before, text.removeprefix(old)) if text.startswith(old) else ([], text)
        self._lines[key, container] = append_text(kept, added, now)
        for each in self._streams:
            if each.key == key:
                each.update(self._own_lines(key, each.container) or [])

    def respond(self, request: Request, call: Call) -> Response | LogStream:
        """The log of a container. Raises `StatusError`."""
        options = log_options(request.query, call.name, now=self._verbs.clock.time())
        pod = self._verbs.get(call).obj
        container = _container(pod, call.name, options.container)
        lines = self._own_lines(call.key, container)
        if lines is None or options.previous:
            lines = container_lines(pod, container, previous=options.previous) or lines
        if lines is None:
            # A pod that is not bound has no kubelet to ask.
            is_bound = bool((pod.get("spec") or {}).get("nodeName"))
            return (
                Response(200, b"", media="text/plain") if is_bound else Response(204, b"", media="")
            )
        selected = select_lines(lines, options)
        # Only a running container can write more; all other logs end at once.
        if options.limit is None and options.follow and not has_ended(pod, container):
            return self._follow(call.key, container, lines, selected, options)
        body = _encode(selected, timestamps=options.timestamps)
        return Response(200, body[: options.limit], media="text/plain")

    def close(self, stream: LogStream) -> None:
        """Remove a stream whose client is gone."""
        self._streams.discard(stream)

    def _follow(
        self,
        key: str,
        container: str,
        lines: list[LogLine],
        selected: list[LogLine],
        options: LogOptions,
    ) -> LogStream:
        stream = LogStream(key, container, timestamps=options.timestamps)
        stream.start(lines, selected)
        self._streams.add(stream)
        return stream

    def _own_lines(self, key: str, container: str) -> list[LogLine] | None:
        """The lines that a test has set."""
        found = self._lines.get((key, container))
        return self._lines.get((key, "")) if found is None else found

    def _observe(self, change: Change) -> None:
        for each in self._streams:
            if each.key != change.key:
                continue
            pod = change.new or change.old
            assert pod is not None  # a change has a state before or after it
            if self._own_lines(each.key, each.container) is None:
                self._update(each, pod.obj)
            if change.new is None or has_ended(pod.obj, each.container):
                each.end()

    def _update(self, stream: LogStream, pod: Object) -> None:
        try:
            lines = container_lines(pod, stream.container)
        except StatusError:
            return  # it waits to be restarted
        if lines:
            stream.update(lines)


def _joined(lines: list[LogLine]) -> str:
    return "".join([line.text for line in lines])


def _encode(lines: list[LogLine], *, timestamps: bool) -> bytes:
    if not timestamps:
        return _joined(lines).encode()
    # RFC 3339 with nine digits, as the container runtimes write it.
    times = [line.time.strftime("%Y-%m-%dT%H:%M:%S.%f000Z") for line in lines]
    return "".join(
        [f"{time} {line.text}" for time, line in zip(times, lines, strict=True)]
    ).encode()


def _container(pod: Object, name: str, container: str) -> str:
    spec = pod.get("spec") or {}
    fields = ("initContainers", "containers", "ephemeralContainers")
    names = [each["name"] for field in fields for each in spec.get(field) or ()]
    if container:
        if container not in names:
            raise bad_request(f"container {container} is not valid for pod {name}")
        return container
    # LogLocation: one container, or the annotated default of kubectl, or an error.
    main = [each["name"] for each in spec.get("containers") or ()]
    if len(main) == 1:
        return str(main[0])
    chosen = (pod["metadata"].get("annotations") or {}).get(
        "kubectl.kubernetes.io/default-container"
    )
    if chosen in main:
        return str(chosen)
    raise bad_request(
        f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    )
