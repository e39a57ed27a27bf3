"""The story of a run: processes, faults, writes, watch events and reconciles, in order.

Guarantees: nothing is recorded unless the run is traced, except the latest writes.
See also: `explorer` (prints it), `trace_page` (the same as a page).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, final

import msgspec

from .scenarios import TimelineEntry

if TYPE_CHECKING:
    from .world import World

__all__ = ["Timeline"]

_LIMIT = 20_000  # entries


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    version: str = msgspec.field(default="", name="resourceVersion")


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Event(msgspec.Struct):
    type: str = ""
    object: _Object = msgspec.field(default_factory=_Object)


@final
class Timeline:
    """Records the run of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.entries: list[TimelineEntry] = []
        self._writes: deque[str] = deque(maxlen=4)

    def add(self, process: str, kind: str, text: str) -> None:
        """Add what happens now."""
        if kind == "write":
            self._writes.append(f"{process}: {text.partition(': ')[2]}")
        if self._world.is_traced and len(self.entries) < _LIMIT:
            self.entries.append(TimelineEntry(self._world.now, process, kind, text))

    def last_writes(self) -> str:
        """The latest writes, as text."""
        return "; ".join(self._writes) or "none of a process"

    def watch_reader(self, process: str, resource: str) -> Callable[[bytes], None]:
        """What records the events in the bytes of a watch (chunked JSON)."""
        rest = b""

        def read(data: bytes) -> None:
            nonlocal rest
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if line.startswith(b'{"type"'):
                    self._add_event(process, resource, line)

        return read

    def _add_event(self, process: str, resource: str, line: bytes) -> None:
        try:
            event = msgspec.json.decode(line, type=_Event)
        except msgspec.DecodeError:
            return
        if event.type == "BOOKMARK":
            return
        meta = event.object.metadata
        where = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        self.add(process, "event", f"{event.type} {resource} {where} (version {meta.version})")
