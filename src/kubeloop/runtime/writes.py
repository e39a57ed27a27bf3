"""What a reconcile has written, so that caches can be waited for until they have seen it.

Promises: only answers to writes are looked at, and nothing is asked again; a write that a
cache will never hear of (another namespace, labels that its selector leaves out) is not
waited for.
Elsewhere: the waiting (`caches`), who waits (`controller`, `context`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast, final

import msgspec

from kubeloop.cache import Scope
from kubeloop.machinery import DecodeError, GroupKind, GroupVersionKind, ObjectKey, parse_labels
from kubeloop.rest import Answer, Request, RESTClient, WarningHandler
from kubeloop.wire import Projection

from .client import Client

__all__ = ["Write", "is_heard_of", "noting", "write_of"]

_fields = Projection(
    "apiVersion",
    "kind",
    "metadata.namespace",
    "metadata.name",
    "metadata.resourceVersion",
    "metadata.labels",
)


class Write(msgspec.Struct, frozen=True):
    """An object as the server has had it since a write."""

    kind: GroupKind
    key: ObjectKey
    version: str
    labels: Mapping[str, str]


def write_of(answer: Answer) -> Write | None:
    """What an answer says was written; None for reads, and for answers that do not say."""
    if answer.request.method in {"GET", "HEAD"} or ("dryRun", "All") in answer.request.params:
        return None
    try:
        api_version, kind, namespace, name, version, labels = _fields.read(answer.body)
        gvk = GroupVersionKind.of(api_version or "", kind or "")
    except (DecodeError, TypeError, AttributeError):
        return None  # a Status, a log, or bytes of another format
    if not (kind and name and version):
        return None
    return Write(gvk.group_kind, ObjectKey(namespace or "", name), version, labels or {})


def is_heard_of(write: Write, scope: Scope) -> bool:
    """Whether a cache of that scope is sure to be told of the write."""
    if scope.namespace and scope.namespace != write.key.namespace:
        return False
    if scope.fields:  # only the server can say
        return False
    return not scope.labels or parse_labels(scope.labels).matches(write.labels)


def noting(client: Client, note: Callable[[Write], None]) -> Client:
    """The same client; `note` is told of everything that is written through it."""
    return _NotingClient(client, note)


@final
class _NotingREST:
    """A REST client whose answers to writes are noted; all else is the other's."""

    def __init__(self, rest: RESTClient, note: Callable[[Write], None]) -> None:
        self._rest = rest
        self._note = note

    async def send(self, request: Request, *, warnings: WarningHandler | None = None) -> Answer:
        answer = await self._rest.send(request, warnings=warnings)
        write = write_of(answer)
        if write is not None:
            self._note(write)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rest, name)

    def __repr__(self) -> str:
        return repr(self._rest)


@final
class _NotingClient(Client):
    def __init__(self, client: Client, note: Callable[[Write], None]) -> None:
        rest = cast("RESTClient", _NotingREST(client.rest, note))
        super().__init__(rest=rest, field_manager=client._field_manager)
        # What the other has learned of the server's kinds is learned.
        self._cache = client._cache
        self.mapper = client.mapper
