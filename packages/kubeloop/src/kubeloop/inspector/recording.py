"""Recordings: what an inspector shows over time, in one file that any machine can open.

Guarantees: a recording has what the live page shows and nothing else: secret values are masked
before they are written. It is a gzip stream of JSON lines that is complete after each step, so
that the file of an interrupted recording can be opened. A file is not trusted: each line is
validated, and its size is limited, as is that of the file. Other users cannot read it.
See also: `inspector` (records), `server` (sends it), `masking` (what is hidden).
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias, final

import msgspec

from kubeloop.cache import Change, Entry, Scope, SharedInformer
from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, open_private
from kubeloop.meta import ObjectKey
from kubeloop.selectors import as_selector

from .guard import Guard
from .history import State
from .model import RecordingPosition, Snapshot
from .objects import KnownObject, describe_object
from .rendering import ObjectRenderer
from .search import PAGE, Query, Row, SearchResult
from .server import Server

__all__ = ["MAX_OBJECTS", "Recorder", "Replay", "record_url"]

MAX_OBJECTS = 20_000
"""Objects of the caches that are written at the start of a recording."""
MAX_PENDING = 64 << 20
"""Bytes that wait for a slow reader, before the recording ends."""
MAX_SIZE = 1 << 30
"""Bytes of a recording without compression."""
MAX_LINE = 64 << 20
"""Bytes of one line: the page at one time, or an object."""
_VERSION = 1


class Header(msgspec.Struct, frozen=True, tag_field="line", tag="recording"):
    """The first line. `omitted` objects of the caches are not in the recording."""

    version: int
    omitted: int = 0


class ObjectLine(msgspec.Struct, frozen=True, tag_field="line", tag="object", omit_defaults=True):
    """The state of an object; `type` is empty for those at the start of the recording."""

    cache: str
    resource: str
    namespace: str
    name: str
    at: datetime
    content: msgspec.Raw  # null if it was deleted
    version: str = ""
    kind: str = ""
    api_version: str = ""
    type: str = ""

    @property
    def is_deleted(self) -> bool:
        return bytes(self.content) == b"null"

    @property
    def scope(self) -> Scope:
        return Scope(self.resource, kind=self.kind, api_version=self.api_version)


class StepLine(msgspec.Struct, frozen=True, tag_field="line", tag="step"):
    """The page at one time."""

    snapshot: msgspec.Raw


_Line: TypeAlias = Header | ObjectLine | StepLine
_decode_line = msgspec.json.Decoder(_Line).decode


class _Pending(msgspec.Struct, frozen=True):
    """A state that is not masked and encoded yet."""

    cache: str
    scope: Scope
    key: ObjectKey
    version: str
    raw: bytes  # empty if the object was deleted
    at: datetime
    type: str


# --- recording


@final
class Recorder:
    """Collects the lines of one recording; `encode` may run in another thread."""

    def __init__(
        self, caches: Mapping[str, SharedInformer[Any]], renderer: ObjectRenderer, at: datetime
    ) -> None:
        self._renderer = renderer
        self._gzip = zlib.compressobj(wbits=31)
        self._size = 0
        entries = [
            (cache, informer, entry)
            for cache, informer in caches.items()
            for entry in informer.indexer.entries()
        ]
        header = Header(_VERSION, max(len(entries) - MAX_OBJECTS, 0))
        self._lines: list[_Pending | bytes] = [msgspec.json.encode(header)]
        for cache, informer, entry in entries[:MAX_OBJECTS]:
            self._add(cache, informer, entry, at, "")

    def add_change(
        self, cache: str, informer: SharedInformer[Any], change: Change[Any], at: datetime
    ) -> None:
        """Add the change of an object."""
        if change.is_resync:
            return
        if change.new_entry is not None:
            kind = "Recreated" if change.is_recreation else str(change.type)
            self._add(cache, informer, change.new_entry, at, "" if change.is_initial else kind)
        elif change.old_entry is not None:
            line = _Pending(cache, informer.scope, change.key, "", b"", at, "Deleted")
            self._lines.append(line)

    def add_step(self, snapshot: bytes) -> None:
        """Add the page; the objects before it are those of its time."""
        self._lines.append(msgspec.json.encode(StepLine(msgspec.Raw(snapshot))))
        self._size += len(snapshot)

    def take(self) -> list[_Pending | bytes]:
        """The lines since the last call. Raises: InvalidArgument if there are too many."""
        if self._size > MAX_PENDING:
            raise InvalidArgument("record: the reader is too slow")
        lines, self._lines, self._size = self._lines, [], 0
        return lines

    def encode(self, lines: Sequence[_Pending | bytes]) -> bytes:
        """The lines, masked and compressed. Slow if there are many: call it in a thread."""
        parts = [self._gzip.compress(self._encode(line) + b"\n") for line in lines]
        # After each step, the file can be read up to here.
        return b"".join([*parts, self._gzip.flush(zlib.Z_SYNC_FLUSH)])

    def _add(
        self, cache: str, informer: SharedInformer[Any], entry: Entry, at: datetime, kind: str
    ) -> None:
        raw = informer.indexer.codec.raw(entry)
        self._size += len(raw) if kind else 0  # those of the start are in the cache anyway
        line = _Pending(cache, informer.scope, entry.key, entry.version, raw, at, kind)
        self._lines.append(line)

    def _encode(self, line: _Pending | bytes) -> bytes:
        if isinstance(line, bytes):
            return line
        visible = self._renderer.visible(line.raw, line.scope) if line.raw else None
        return msgspec.json.encode(
            ObjectLine(
                cache=line.cache,
                resource=line.scope.resource,
                namespace=line.key.namespace,
                name=line.key.name,
                at=line.at,
                content=msgspec.Raw(msgspec.json.encode(visible)),
                version=line.version,
                kind=line.scope.kind,
                api_version=line.scope.api_version,
                type=line.type,
            )
        )


async def record_url(url: str, path: Path) -> None:
    """Write a recording of the inspector at `url` into a file, until the inspector ends.

    A cancelled call leaves a file that can be opened.
    Raises: InvalidArgument if there is no inspector, or the file cannot be written.
    """
    import aiohttp

    jar = aiohttp.CookieJar(unsafe=True)  # also for addresses instead of names
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
    try:
        async with aiohttp.ClientSession(cookie_jar=jar, timeout=timeout) as session:
            async with session.get(url) as page:  # sets the cookie of the token
                page.raise_for_status()
            async with session.get(page.url.join(page.url.with_path("/recording"))) as response:
                response.raise_for_status()
                # The names, labels and statuses in it are not for other users.
                with open_private(path) as file:
                    async for chunk in response.content.iter_any():
                        file.write(chunk)
                        file.flush()
    except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
        return  # the process has ended
    except (aiohttp.ClientError, ValueError, TimeoutError) as error:
        address = url.partition("?")[0]  # without the token
        reason = getattr(error, "message", "") or str(error) or type(error).__name__
        raise InvalidArgument(f"record {address}: {reason}") from None
    except OSError as error:
        raise InvalidArgument(f"record to {path}: {error.strerror or error}") from error


# --- replay


@final
class Replay:
    """Serves the page of a recording.

        async with Replay("run.kubeloop") as page:
            print(page.url)

    Raises: InvalidArgument if the file is not a recording, or has no complete step.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._steps: list[
            tuple[int, msgspec.Raw]
        ] = []  # the number of objects before each, and the page
        self._objects: list[ObjectLine] = []
        self._omitted = 0
        self._load(Path(path))
        self._renderer = ObjectRenderer()
        self._guard = Guard(host, token)
        self._host, self._port = host, port
        self._server = Server(self, self._guard, clock=clock or SystemClock())
        self._address = ""
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start to serve. Raises: ConfigError if the address cannot be bound."""
        serving = self._server.serve(self._host, self._port)
        port = await self._stack.enter_async_context(serving)
        self._address = f"http://{self._host}:{port}/"
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
        """The URL of the page, with the token if there is one."""
        return f"{self._address}?token={self._guard.token}" if self._guard.token else self._address

    @property
    def steps(self) -> int:
        return len(self._steps)

    def __repr__(self) -> str:
        return f"Replay({self._address or 'not listening'}, {self.steps} steps)"

    # --- the content of the page

    def snapshot(self, step: int = -1) -> bytes:
        """The page at a step, the last one by default."""
        number = self._number(step)
        page = msgspec.json.decode(self._steps[number][1], type=Snapshot)
        position = RecordingPosition(number, self.steps, self._omitted)
        return msgspec.json.encode(msgspec.structs.replace(page, recording=position))

    async def search(self, query: Query) -> bytes:
        """One page of the matching objects at a step. Raises: InvalidArgument."""
        selector, part = as_selector(query.labels), query.name.lower()
        found = list(self._present(self._number(query.step), query).values())
        rows = [(line, _Labels.of(line)) for line in found]
        matches = [
            (line, metadata)
            for line, metadata in sorted(rows, key=lambda row: (row[0].namespace, row[0].name))
            if part in line.name.lower()
            and query.namespace in ("", line.namespace)
            and selector.matches(metadata.labels)
        ]
        shown = matches[query.after : query.after + PAGE]
        namespaces = sorted({line.namespace for line in found} - {""})
        result = SearchResult(
            len(matches), query.after, tuple(_row(*each) for each in shown), tuple(namespaces)
        )
        return msgspec.json.encode(result)

    async def object(self, cache: str, key: ObjectKey, step: int = -1) -> bytes | None:
        """An object with its changes until a step; None if the recording does not have it."""
        count, _ = self._steps[self._number(step)]
        lines = [
            line
            for line in self._objects[:count]
            if (line.cache, line.namespace, line.name) == (cache, key.namespace, key.name)
        ]
        if not lines:
            return None
        last = lines[-1]
        known = KnownObject(cache, last.scope, key, last.version, _raw(last), _states(lines))
        return msgspec.json.encode(describe_object(known, self._renderer))

    def start_recording(self) -> None:
        """A recording is not recorded again: copy its file."""

    def stop_recording(self, recorder: Recorder) -> None: ...

    def _number(self, step: int) -> int:
        return step if 0 <= step < self.steps else self.steps - 1

    def _present(self, step: int, query: Query) -> dict[tuple[str, str, str], ObjectLine]:
        """The objects that exist at a step, in the caches of the query."""
        caches: set[str] | None = {query.cache} if query.cache else None
        count, page = self._steps[step]
        if query.manager and not query.cache:
            informers = msgspec.json.decode(page, type=Snapshot).informers
            caches = {each.id for each in informers if each.manager == query.manager}
        present: dict[tuple[str, str, str], ObjectLine] = {}
        for line in self._objects[:count]:
            if caches is None or line.cache in caches:
                key = (line.cache, line.namespace, line.name)
                if line.is_deleted:
                    present.pop(key, None)
                else:
                    present[key] = line
        return present

    # --- the file

    def _load(self, path: Path) -> None:
        is_recording, number = False, 1
        try:
            for number, text in enumerate(_lines_of(path), 1):  # noqa: B007 - of the last one
                line = _decode_line(text)
                match line:
                    case Header():
                        _check_version(path, line)
                        is_recording, self._omitted = True, line.omitted
                    case ObjectLine():
                        self._objects.append(line)
                    case StepLine():
                        msgspec.json.decode(line.snapshot, type=Snapshot)
                        self._steps.append((len(self._objects), line.snapshot))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, zlib.error) as error:
            raise InvalidArgument(
                f"open {path}: line {number}: not a recording of the inspector: {error}"
            ) from error
        except OSError as error:
            raise InvalidArgument(f"open {path}: {error.strerror or error}") from error
        if not is_recording or not self._steps:
            raise InvalidArgument(f"open {path}: the recording has no complete step")


def _check_version(path: Path, header: Header) -> None:
    if header.version != _VERSION:
        raise InvalidArgument(
            f"open {path}: a recording of version {header.version}, expected {_VERSION} (open it"
            " with the release of kubeloop that recorded it)"
        )


def _lines_of(path: Path) -> Iterator[bytes]:
    """The complete lines of a file; it may end in the middle of one."""
    held, number, size = bytearray(), 1, 0
    for text in _content_of(path):
        size += len(text)
        if size > MAX_SIZE:
            raise InvalidArgument(f"open {path}: more than {MAX_SIZE} bytes")
        first, *lines = text.split(b"\n")
        held += first
        for line in lines:
            yield bytes(held)
            held[:] = line
            number += 1
        if len(held) > MAX_LINE:
            raise InvalidArgument(f"open {path}: line {number} is longer than {MAX_LINE} bytes")


def _content_of(path: Path) -> Iterator[bytes]:
    """The decompressed bytes of a file, in pieces."""
    gunzip = zlib.decompressobj(wbits=31)
    with path.open("rb") as file:
        while chunk := file.read(1 << 16):
            while chunk:
                yield gunzip.decompress(chunk, 1 << 20)
                chunk = gunzip.unconsumed_tail
    yield gunzip.flush()  # what did not fit into the last piece


class _Labels(msgspec.Struct, frozen=True):
    """The metadata that a search needs."""

    labels: dict[str, str] = {}
    created: str = msgspec.field(name="creationTimestamp", default="")
    deleted: str = msgspec.field(name="deletionTimestamp", default="")

    @classmethod
    def of(cls, line: ObjectLine) -> _Labels:
        try:
            return msgspec.json.decode(_raw(line), type=_WithMetadata).metadata
        except (msgspec.DecodeError, RecursionError):
            return cls()


class _WithMetadata(msgspec.Struct, frozen=True):
    metadata: _Labels = _Labels()


def _row(line: ObjectLine, metadata: _Labels) -> Row:
    return Row(
        cache=line.cache,
        kind=line.kind or line.resource,
        namespace=line.namespace,
        name=line.name,
        labels=metadata.labels,
        version=line.version,
        created=metadata.created,
        is_deleting=bool(metadata.deleted),
    )


def _raw(line: ObjectLine) -> bytes:
    return b"" if line.is_deleted else bytes(line.content)


def _states(lines: Sequence[ObjectLine]) -> tuple[State, ...]:
    if len(lines) == 1 and not lines[0].type:
        return ()
    return tuple(State(line.type or "Before", line.at, line.version, _raw(line)) for line in lines)
