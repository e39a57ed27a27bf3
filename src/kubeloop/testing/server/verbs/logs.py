"""Logs of containers: the text that a test has set, since no container runs.

Guarantees: an unknown container is rejected as by kube-apiserver; `tailLines` and `limitBytes`
are honoured; `follow` sends what is added until the pod of a running container ends.
See also: `serving.streaming` (sending a log).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import final

from ..request.calls import Call
from ..request.negotiation import Response
from ..request.requests import Request
from ..statuses import bad_request
from ..storage.store import Change, Object, key_of
from .writing import Verbs

__all__ = ["LogStream", "Logs"]

_PODS = ("", "pods")


@final
class LogStream:
    """A log that is followed: its pieces, until the pod ends."""

    def __init__(self, key: str, container: str, text: str) -> None:
        self.key = key
        self.container = container
        self._text = text
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def update(self, text: str) -> None:
        """Queue what `text` adds to the log, or all of it if the log was replaced."""
        added = text.removeprefix(self._text)
        self._text = text
        if added:
            self._pieces.put_nowait(added.encode())

    def end(self) -> None:
        """End the stream after the queued pieces."""
        self._pieces.put_nowait(b"")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._pieces.get():
            yield piece


@final
class Logs:
    """The text of each container's log, by namespace, pod and container."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self._texts: dict[tuple[str, str], str] = {}  # by the pod's key, and container
        self._streams: set[LogStream] = set()
        verbs.store.subscribe(self._observe, _PODS)

    def set(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Set the log of a container; without `container`, of all containers of the pod."""
        key = key_of(namespace, pod)
        self._texts[key, container] = text
        for each in self._streams:
            if each.key == key:
                each.update(self._text(key, each.container))

    def respond(self, request: Request, call: Call) -> Response | LogStream:
        """The log of a container. Raises `StatusError`."""
        pod = self._verbs.get(call).obj
        container = _container(pod, call.name, request.query.text("container"))
        text = self._text(call.key, container)
        lines_sent = text
        tail = request.query.number("tailLines")
        if tail is not None:
            if tail < 0:
                raise bad_request("tailLines must be greater than or equal to 0")
            lines = text.splitlines(keepends=True)
            lines_sent = "".join(lines[len(lines) - min(tail, len(lines)) :])
        limit = request.query.number("limitBytes")
        # Only a running pod can write more; all other logs end at once.
        if limit is None and request.query.flag("follow") and _phase(pod) == "Running":
            return self._follow(call.key, container, text, lines_sent)
        body = lines_sent.encode()
        return Response(200, body if limit is None else body[: max(limit, 0)], media="text/plain")

    def close(self, stream: LogStream) -> None:
        """Remove a stream whose client is gone."""
        self._streams.discard(stream)

    def _follow(self, key: str, container: str, text: str, lines_sent: str) -> LogStream:
        stream = LogStream(key, container, text.removesuffix(lines_sent))
        stream.update(text)
        self._streams.add(stream)
        return stream

    def _text(self, key: str, container: str) -> str:
        found = self._texts.get((key, container))
        return self._texts.get((key, ""), "") if found is None else found

    def _observe(self, change: Change) -> None:
        if change.new is None or _phase(change.new.obj) in {"Succeeded", "Failed"}:
            for each in self._streams:
                if each.key == change.key:
                    each.end()


def _phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


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
