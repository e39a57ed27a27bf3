"""Logs of containers that never ran: whatever text a test put there.

Promises: who asks for a container that the pod does not have is refused as by
kube-apiserver; `tailLines` and `limitBytes` are honoured.
"""

from __future__ import annotations

from typing import final

from ..serving.incoming import Incoming
from ..serving.negotiation import Answer
from ..statuses import bad_request
from ..storage.store import Object
from .calls import Call
from .writing import Verbs

__all__ = ["Logs"]


@final
class Logs:
    """The text of each container's log, by namespace, pod and container."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self._texts: dict[tuple[str, str, str], str] = {}

    def set(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Say what a container has written; without `container`, every one of the pod."""
        self._texts[namespace, pod, container] = text

    def answer(self, request: Incoming, call: Call) -> Answer:
        """The log that a request asks for. Raises `Refusal`."""
        pod = self._verbs.get(call).obj
        container = _container(pod, call.name, request.query.text("container"))
        text = self._texts.get((call.namespace, call.name, container))
        if text is None:
            text = self._texts.get((call.namespace, call.name, ""), "")
        tail = request.query.number("tailLines")
        if tail is not None:
            if tail < 0:
                raise bad_request("tailLines must be greater than or equal to 0")
            lines = text.splitlines(keepends=True)
            text = "".join(lines[len(lines) - min(tail, len(lines)) :])
        limit = request.query.number("limitBytes")
        body = text.encode()
        return Answer(200, body if limit is None else body[: max(limit, 0)], media="text/plain")


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
