"""What a reconcile has written, read from the responses of the server.

Guarantees: only responses to writes are read, and nothing is requested again. A response shows
which object was written, at which version, and whether the object is gone: deleted at once, or
because the write removed its last finalizer.
See also: `own_writes` (which caches have to see a write), `controller` and `context` (wait).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import msgspec

from kubeloop.cache import Scope
from kubeloop.config import ClusterConfig
from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.kit import Clock
from kubeloop.meta import GroupKind, GroupResource, GroupVersionKind, ObjectKey
from kubeloop.rest import (
    ByteStream,
    Codec,
    ItemStream,
    Request,
    RequestSender,
    Response,
    RESTStats,
    WarningHandler,
    Watch,
)
from kubeloop.selectors import parse_fields, parse_labels
from kubeloop.wire import Projection

from .client import Client

if TYPE_CHECKING:
    from kubeloop.discovery import DeferredMapper, MemoryCache
    from kubeloop.rest import WebSocket

__all__ = ["Write", "recording_client", "would_hold", "writes_of"]

_fields = Projection(
    "apiVersion",
    "kind",
    "metadata.namespace",
    "metadata.name",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.labels",
    "metadata.deletionTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.finalizers",
    "details",
    "items",
)
_namespace_finalizers = Projection("spec.finalizers")


class Write(msgspec.Struct, frozen=True):
    """An object as the server stored it."""

    kind: GroupKind  # empty if the response does not name it
    key: ObjectKey
    version: str  # of one that is gone: a version before the delete, or empty
    labels: Mapping[str, str] | None  # None: the response does not have them
    uid: str = ""
    gone: bool = False
    resource: GroupResource | None = None
    body: bytes = b""  # for field selectors


def writes_of(response: Response) -> list[Write]:
    """The writes in a response; none for reads, and for responses without objects."""
    request = response.request
    if request.method in {"GET", "HEAD"} or ("dryRun", "All") in request.params:
        return []
    try:
        return list(_read(request, response.body))
    except (DecodeError, TypeError, AttributeError, ValueError):
        return []  # a log, an exec stream, or bytes of another format


def _read(request: Request, body: bytes) -> Iterator[Write]:
    (
        api_version,
        kind,
        namespace,
        name,
        uid,
        version,
        labels,
        deletion,
        grace,
        finalizers,
        details,
        items,
    ) = _fields.read(body)
    if kind == "Status":
        yield from _read_deleted(request, details)
    elif isinstance(items, list) and request.method == "DELETE":  # of a collection
        for item in items:
            one = msgspec.structs.replace(request, name=item["metadata"]["name"])
            head = {"apiVersion": api_version, "kind": (kind or "").removesuffix("List")}
            yield from _read(one, msgspec.json.encode({**item, **head}))
    elif name and version:
        if kind == "Namespace":  # which has a second list of finalizers
            finalizers = finalizers or _namespace_finalizers.read(body)[0]
        # kube-apiserver responds to an update that removes the last finalizer of a deleted object
        # with the version before it.
        is_last = bool(deletion) and not finalizers and not grace
        gone = is_last or (request.method == "DELETE" and not deletion)
        # The scale subresource has its own kind, and none of the object's labels.
        is_scale = request.subresource == "scale"
        gvk = GroupVersionKind.of(api_version or "", kind or "")
        yield Write(
            GroupKind("", "") if is_scale else gvk.group_kind,
            ObjectKey(namespace or "", name),
            version,
            None if is_scale else labels or {},
            uid or "",
            gone,
            request.resource,
            b"" if is_scale else body,
        )


def _read_deleted(request: Request, details: Any) -> Iterator[Write]:
    uid = details.get("uid") if isinstance(details, Mapping) else None
    if request.method == "DELETE" and request.name and uid:
        key = ObjectKey(request.namespace, request.name)
        yield Write(GroupKind("", ""), key, "", None, uid, True, request.resource)  # noqa: FBT003


def would_hold(write: Write, scope: Scope) -> bool:
    """Whether a cache of that scope holds the object after it has seen the write."""
    if write.gone or (write.key.namespace and scope.namespace not in {"", write.key.namespace}):
        return False
    if scope.selector and (
        write.labels is None or not parse_labels(scope.selector).matches(write.labels)
    ):
        return False
    return not scope.field_selector or parse_fields(scope.field_selector).matches(
        _field_reader(write)
    )


def _field_reader(write: Write) -> Callable[[str], str]:
    """Nearly all field labels are paths in the object; a missing field is empty."""

    def read(field: str) -> str:
        try:
            (value,) = Projection(field).read(write.body)
        except (DecodeError, InvalidArgument):
            return ""
        return _as_text(value)

    return read


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or value is msgspec.UNSET else str(value)


def recording_client(client: Client, record: Callable[[Write], None]) -> Client:
    """The same client; calls `record` with every write through it."""
    return _RecordingClient(client, record)


@final
class _RecordingSender:
    """Sends as `sender` does, and records the writes in responses."""

    def __init__(self, sender: RequestSender, record: Callable[[Write], None]) -> None:
        self._sender = sender
        self._record = record

    @property
    def config(self) -> ClusterConfig:
        return self._sender.config

    @property
    def clock(self) -> Clock:
        return self._sender.clock

    @property
    def codec(self) -> Codec:
        return self._sender.codec

    @property
    def max_retries(self) -> int:
        return self._sender.max_retries

    def url(self, request: Request) -> str:
        return self._sender.url(request)

    async def send(self, request: Request, *, warnings: WarningHandler | None = None) -> Response:
        response = await self._sender.send(request, warnings=warnings)
        for write in writes_of(response):
            self._record(write)
        return response

    def watch(
        self,
        request: Request,
        *,
        max_duration: float | None = None,
        warnings: WarningHandler | None = None,
    ) -> Watch:
        return self._sender.watch(request, max_duration=max_duration, warnings=warnings)

    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> ByteStream:
        return self._sender.stream(request, warnings=warnings)

    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> ItemStream:
        return self._sender.items(request, warnings=warnings)

    async def websocket(
        self,
        request: Request,
        *,
        protocols: tuple[str, ...] = (),
        heartbeat: float | None = None,
        max_size: int | None = None,
    ) -> WebSocket:
        return await self._sender.websocket(
            request, protocols=protocols, heartbeat=heartbeat, max_size=max_size
        )

    def stats(self) -> RESTStats:
        return self._sender.stats()

    def __repr__(self) -> str:
        return repr(self._sender)


@final
class _RecordingClient(Client):
    """A client whose writes are recorded; it shares the discovery cache of `client`."""

    def __init__(self, client: Client, record: Callable[[Write], None]) -> None:
        super().__init__(
            rest=_RecordingSender(client.rest, record), field_manager=client.options.field_manager
        )
        self._client = client

    @cached_property
    def mapper(self) -> DeferredMapper:
        return self._client.mapper

    @cached_property
    def _cache(self) -> MemoryCache:
        return self._client._cache
