"""Takes the initial state from a watch that begins with it (WatchList).

Promises: a state is complete, as the server says by a bookmark, or there is none; what
changes while it comes is part of it. Silence is warned of; a stream that brings no new
object for a minute, and no end either, is an error.
Elsewhere: the state as a list (`fetching`), what follows on the same watch (`reflector`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from kubeloop.kit import Clock, TaskOwner, Yielder
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent, get_logger

from .entry import Entry
from .errors import TransformFailed
from .fetching import Fetching, State
from .intake import Bookmark, EntryDecoder
from .list_watch import Scope
from .verdicts import WatchListInconsistent
from .watch_events import EventReader, OpenWatch
from .watch_list import STALL, StreamEnded, StreamStalled

__all__ = ["SILENCE", "Gathering"]

log = get_logger(__name__)

SILENCE = 10.0  # seconds without an event that are worth a warning


@final
class Gathering:
    """Gathers initial states for a reflector.

    `on_arrival` is called when events have come. With `check_consistency` each state is
    compared with a list of the same version.
    """

    def __init__(
        self,
        scope: Scope,
        intake: EntryDecoder[Any],
        fetching: Fetching,
        *,
        clock: Clock,
        on_arrival: Callable[[], None],
        check_consistency: bool,
    ) -> None:
        self._scope = scope
        self._intake = intake
        self._fetching = fetching
        self._reader = EventReader(scope, intake, fetching)
        self._clock = clock
        self._on_arrival = on_arrival
        self._check_consistency = check_consistency
        self._last_came = 0.0
        self._last_new = 0.0  # when an object came that was not part of the state yet

    async def take(self, watch: OpenWatch) -> State:
        """The state.

        Raises:
            StreamEnded: the watch ended before the state was complete.
            StreamStalled: it stayed open, and nothing new came for a minute.
            WatchListInconsistent: a list of the same version has another state.
        """
        entries: dict[ObjectKey, Entry] = {}
        self._last_came = self._last_new = self._clock.now()
        async with TaskOwner() as tasks:
            tasks.spawn(self._check_silence(), name=f"silence {self._scope}")
            end = await self._gather(watch, entries)
        state = State(list(entries.values()), end.version)
        if self._check_consistency:
            await self._compare(state)
        return state

    async def _gather(self, watch: OpenWatch, entries: dict[ObjectKey, Entry]) -> Bookmark:
        yielder = Yielder()
        while batch := await watch.batch():
            self._last_came = self._clock.now()
            self._on_arrival()
            for place, event in enumerate(batch):
                if (end := self._put(event, entries)) is not None:
                    watch.push_back(batch[place + 1 :])
                    return end
                if yielder.is_due():
                    await yielder.yield_to_loop()
        raise StreamEnded(
            f"watch {self._scope}: the stream of the initial state ended after {watch.events}"
            " events, before the bookmark that completes it",
            events=watch.events,
        )

    def _put(self, event: RawEvent, entries: dict[ObjectKey, Entry]) -> Bookmark | None:
        """Make an event part of the state; returns the bookmark that ends it."""
        if event.type == "BOOKMARK":
            found = self._intake.bookmark(event.object)
            return found if found.ends_initial else None
        entry = self._reader.read(event, instead=self._fetching.instead_of)
        if entry is None:
            return None
        if event.type == "DELETED":
            entries.pop(entry.key, None)
            return None
        if entry.key not in entries:
            self._last_new = self._clock.now()
        try:
            entries[entry.key] = self._intake.transformed(entry)
        except TransformFailed as error:
            log.error("%s: left out of the cache: %s", self._scope, error)
        return None

    async def _compare(self, state: State) -> None:
        listed = await self._fetching.fetch_exactly(state.version)
        ours, theirs = _versions(state.entries), _versions(listed.entries)
        if ours != theirs:
            different = sorted({key for key, _ in ours.items() ^ theirs.items()})
            raise WatchListInconsistent(
                f"the state of {self._scope} at {state.version}: the stream and a list differ "
                f"in {len(different)} objects, the first of them {different[0]}"
            )

    async def _check_silence(self) -> None:
        """Warn of silence; raises `StreamStalled` when it has lasted too long.

        Bookmarks that do not end the state, and changes of what is part of it, break the
        silence but are no progress: some servers send them without end.
        """
        while True:
            left = self._last_new + STALL - self._clock.now()
            await self._clock.sleep(min(left, SILENCE))
            now = self._clock.now()
            if now - self._last_new >= STALL:
                raise StreamStalled(
                    f"watch {self._scope}: the stream of the initial state is open, and brought"
                    f" neither a new object nor its end for {STALL:g} s"
                )
            silent = now - self._last_came
            if silent >= SILENCE:
                log.warning(
                    "%s: waiting for the initial state, nothing came for %.0f s",
                    self._scope,
                    silent,
                )


def _versions(entries: Sequence[Entry]) -> dict[ObjectKey, str]:
    return {entry.key: entry.version for entry in entries}
