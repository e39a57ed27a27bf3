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
    container_status,
    has_ended,
    log_options,
    select_lines,
)
from .writing import Verbs

__all__ = ["LogStream", "Logs"]

_PODS = ("", "pods")


@final
class LogStream:
    """A log that is followed: its pieces, until the container ends or `limit` bytes were sent."""

    def __init__(
        self, key: str, container: str, *, timestamps: bool = False, limit: int | None = None
    ) -> None:
        self.key = key
        self.container = container
        self._timestamps = timestamps
        self._left = limit  # bytes
        self._sent: list[LogLine] = []  # the lines of the log that were sent, or left out
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def start(self, lines: list[LogLine], selected: list[LogLine]) -> None:
        """Queue the lines that the client requests, of all lines."""
        self._sent = lines
        self._put(_encode(selected, timestamps=self._timestamps))

    def update(self, lines: list[LogLine]) -> None:
        """Queue what `lines` add to the log, or all of them if the log was replaced."""
        before, self._sent = self._sent, lines
        if lines[: len(before)] == before:
            self._put(_encode(lines[len(before) :], timestamps=self._timestamps))
            return
        whole, sent = _joined(lines), _joined(before)
        if before and whole.startswith(sent) and not self._timestamps:
            self._put(whole.removeprefix(sent).encode())  # a line goes on
        else:
            self._put(_encode(lines, timestamps=self._timestamps))

    def extend(self, lines: list[LogLine], rest: str, added: list[LogLine]) -> None:
        """Queue what was appended to `lines`: the rest of its last line, and further lines."""
        if self._sent is lines:
            self._put(rest.encode() + _encode(added, timestamps=self._timestamps))
        else:
            self.update(lines)

    def forget(self, lines: list[LogLine] | None) -> None:
        """Continue with a log that was rotated: nothing is sent again."""
        if lines is not None:
            self._sent = lines

    def end(self) -> None:
        """End the stream after the queued pieces."""
        self._pieces.put_nowait(b"")

    def _put(self, piece: bytes) -> None:
        if self._left is not None:
            piece = piece[: self._left]
            self._left -= len(piece)
        if piece:
            self._pieces.put_nowait(piece)
        if self._left == 0:
            self.end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._pieces.get():
            yield piece


@final
class Logs:
    """The log of each container, by namespace, pod and container."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        # By the pod's key, and container; an empty container is for all without lines of their own.
        self._lines: dict[tuple[str, str], list[LogLine]] = {}
        self._previous: dict[tuple[str, str], list[LogLine]] = {}  # before the last restart
        self._streams: set[LogStream] = set()
        verbs.store.subscribe(self._observe, _PODS)

    def adopt(self, before: Logs) -> None:
        """Continue with the lines of the server's last run."""
        self._lines, self._previous = before._lines, before._previous

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

    def append(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Append to the log of a container, or of all; a line without a newline continues."""
        key = key_of(namespace, pod)
        now = self._verbs.clock.time()
        for lines in self._appendable(key, container):
            rest = ""
            if lines and not lines[-1].text.endswith("\n"):
                rest = text[: text.find("\n") + 1] or text
                lines[-1] = LogLine(lines[-1].time, lines[-1].text + rest)
            added = append_text([], text.removeprefix(rest), now)
            lines.extend(added)
            for each in self._streams:
                if each.key == key and self._own_lines(key, each.container) is lines:
                    each.extend(lines, rest, added)

    def _appendable(self, key: str, container: str) -> list[list[LogLine]]:
        """The lines to append to: those of one container, or of all of the pod."""
        common = self._lines.get((key, ""), [])
        if container:
            # What was written for all containers is a part of its own log, too.
            return [self._lines.setdefault((key, container), [*common])]
        self._lines[key, ""] = common
        return [lines for (each, _), lines in self._lines.items() if each == key]

    def rotate(self, namespace: str, pod: str, *, container: str = "", keep: int = 0) -> None:
        """Drop all but the last `keep` lines, as a kubelet that rotates the file of a log."""
        key = key_of(namespace, pod)
        for each in [each for each in self._lines if each[0] == key]:
            if container in {"", each[1]}:
                lines = self._lines[each]
                self._lines[each] = lines[len(lines) - min(keep, len(lines)) :]
        for stream in self._streams:
            if stream.key == key:
                stream.forget(self._own_lines(key, stream.container))

    def restart(self, key: str, container: str) -> None:
        """Begin the log of a new run; the lines so far are those of the previous one."""
        lines = self._own_lines(key, container)
        if lines is not None:
            self._previous[key, container] = [*lines]
            self._lines[key, container] = []
        for each in self._streams:
            if (each.key, each.container) == (key, container):
                each.end()

    def attach(self, key: str, container: str) -> LogStream:
        """What a container writes from now on; the caller closes the stream."""
        stream = LogStream(key, container)
        entry = self._verbs.store.get(_PODS, key)
        lines = self._own_lines(key, container)
        if lines is None and entry is not None:
            lines = container_lines(entry.obj, container)
        stream.start(lines or [], [])
        self._streams.add(stream)
        return stream

    def respond(self, request: Request, call: Call) -> Response | LogStream:
        """The log of a container. Raises `StatusError`."""
        options = log_options(request.query, call.name, now=self._verbs.clock.time())
        pod = self._verbs.get(call).obj
        container = _container(pod, call.name, options.container)
        lines = self._lines_for(pod, call.key, container, options)
        if lines is None:
            # A pod that is not bound has no kubelet to ask.
            is_bound = bool((pod.get("spec") or {}).get("nodeName"))
            return (
                Response(200, b"", media="text/plain") if is_bound else Response(204, b"", media="")
            )
        selected = select_lines(lines, options)
        # Only a running container can write more; all other logs end at once.
        if options.follow and not options.previous and not has_ended(pod, container):
            return self._follow(call.key, container, lines, selected, options)
        body = _encode(selected, timestamps=options.timestamps)
        return Response(200, body[: options.limit], media="text/plain")

    def _lines_for(
        self, pod: Object, key: str, container: str, options: LogOptions
    ) -> list[LogLine] | None:
        if options.previous and (key, container) in self._previous:
            return self._previous[key, container]
        lines = self._own_lines(key, container)
        if lines is None or options.previous:
            lines = container_lines(pod, container, previous=options.previous) or lines
        return lines

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
        stream = LogStream(key, container, timestamps=options.timestamps, limit=options.limit)
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
            if _is_restart(change, each.container):
                each.end()  # the lines of the new run are those of another log
                continue
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


def _is_restart(change: Change, container: str) -> bool:
    if change.old is None or change.new is None:
        return False
    before, after = (container_status(each.obj, container) for each in (change.old, change.new))
    counts = {int((each or {}).get("restartCount") or 0) for each in (before, after)}
    return len(counts) > 1


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
