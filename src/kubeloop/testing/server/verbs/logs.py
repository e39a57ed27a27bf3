"""Logs of containers that never ran: whatever text a test put there.

Promises: who asks for a container that the pod does not have is refused as by
kube-apiserver; `tailLines` and `limitBytes` are honoured; who follows the log of a running
pod is sent what is added, until the pod has ended or is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import final

from ..request.calls import Call
from ..request.incoming import Incoming
from ..request.negotiation import Answer
from ..statuses import bad_request
from ..storage.store import Change, Object, key_of
from .writing import Verbs

__all__ = ["Following", "Logs"]

_PODS = ("", "pods")


@final
class Following:
    """The pieces of a log as they are written; ends with the pod."""

    def __init__(self, key: str, container: str, text: str) -> None:
        self.key = key
        self.container = container
        self._known = text
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def grown(self, text: str) -> None:
        """The log is this now: what was added is sent, or all of it where it is another."""
        added = text.removeprefix(self._known)
        self._known = text
        if added:
            self._pieces.put_nowait(added.encode())

    def end(self) -> None:
        """The container writes no more."""
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
        self._followers: set[Following] = set()
        verbs.store.listeners.append(self._observe)

    def set(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Say what a container has written; without `container`, every one of the pod."""
        key = key_of(namespace, pod)
        self._texts[key, container] = text
        for each in self._followers:
            if each.key == key:
                each.grown(self._text(key, each.container))

    def answer(self, request: Incoming, call: Call) -> Answer | Following:
        """The log that a request asks for. Raises `Refusal`."""
        pod = self._verbs.get(call).obj
        container = _container(pod, call.name, request.query.text("container"))
        text = self._text(call.key, container)
        shown = text
        tail = request.query.number("tailLines")
        if tail is not None:
            if tail < 0:
                raise bad_request("tailLines must be greater than or equal to 0")
            lines = text.splitlines(keepends=True)
            shown = "".join(lines[len(lines) - min(tail, len(lines)) :])
        limit = request.query.number("limitBytes")
        if limit is None and request.query.flag("follow") and _phase(pod) == "Running":
            return self._followed(call.key, container, text, shown)
        body = shown.encode()
        return Answer(200, body if limit is None else body[: max(limit, 0)], media="text/plain")

    def forget(self, following: Following) -> None:
        """Nobody reads it any more."""
        self._followers.discard(following)

    def _followed(self, key: str, container: str, text: str, shown: str) -> Following:
        following = Following(key, container, text.removesuffix(shown))
        following.grown(text)
        self._followers.add(following)
        return following

    def _text(self, key: str, container: str) -> str:
        found = self._texts.get((key, container))
        return self._texts.get((key, ""), "") if found is None else found

    def _observe(self, change: Change) -> None:
        if self._followers and change.storage == _PODS:
            has_ended = change.new is None or _phase(change.new.obj) in {"Succeeded", "Failed"}
            for each in self._followers:
                if has_ended and each.key == change.key:
                    each.end()


def _phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


def _container(pod: Object, name: str, asked: str) -> str:
    spec = pod.get("spec") or {}
    fields = ("initContainers", "containers", "ephemeralContainers")
    known = [each["name"] for field in fields for each in spec.get(field) or ()]
    if asked:
        if asked not in known:
            raise bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    main = [each["name"] for each in spec.get("containers") or ()]
    if len(main) == 1:
        return str(main[0])
    chosen = (pod["metadata"].get("annotations") or {}).get(
        "kubectl.kubernetes.io/default-container"
    )
    if chosen in main:
        return str(chosen)
    raise bad_request(
        f"a container name must be specified for pod {name}, choose one of: [{' '.join(known)}]"
    )
