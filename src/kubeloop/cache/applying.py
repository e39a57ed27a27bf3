"""Turns deltas into changes of the store, and changes of the store into notices.

Promises: the store is changed first and whole, then handlers hear of it, in order: whoever
is told of a change finds it in the store. A list is held at once and told in steps, between
which the event loop goes on. What the store does not have is added, whatever the delta
says; what it has is updated.
Elsewhere: where deltas come from (`delta_queue`), who hears (`handlers`).
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, final

from .content import Held
from .entry import Delta, DeltaType, Entry
from .indexer import Indexer, let_go
from .notices import Notice
from .pace import Pace

__all__ = ["Applying", "Audience", "Telling"]

STEP = 64  # notices between two looks at the time

Audience: TypeAlias = Callable[[Sequence[Notice]], None]


class Telling(Protocol):
    """Who hears of changes."""

    def __call__(self) -> Audience:
        """Those who are to hear of a change that is made now."""
        ...


@final
class Applying:
    """Applies deltas to an indexer; hand it to `DeltaQueue.pop`."""

    def __init__(
        self,
        indexer: Indexer[Any],
        telling: Telling,
        *,
        on_held: Callable[[Entry], None] | None = None,
    ) -> None:
        self._indexer = indexer
        self._telling = telling
        self._on_held = on_held  # sees every entry that the store holds from now on

    def __call__(self, deltas: Sequence[Delta], is_initial: bool) -> Awaitable[None] | None:  # noqa: FBT001 - the shape of `Process`
        match deltas[0].type:
            case DeltaType.REPLACED_ALL:
                return self._replace(deltas[0], is_initial=is_initial)
            case DeltaType.SYNC_ALL:
                return self._tell_again()
            case DeltaType.BOOKMARK:
                self._indexer.bookmark(deltas[0].version)
                return None
        audience = self._telling()
        audience([self._apply(delta, is_initial=is_initial) for delta in deltas])
        return None

    def at_once(self, delta: Delta) -> bool:
        """Apply what has happened to one object, and tell of it; whether it was about one."""
        if delta.entry is None:
            return False
        audience = self._telling()
        audience((self._apply(delta, is_initial=False),))
        return True

    def _apply(self, delta: Delta, *, is_initial: bool) -> Notice:
        entry = delta.entry
        if delta.type is not DeltaType.DELETED:
            assert entry is not None, f"{delta.type} of {delta.key} says nothing of the object"
            old = self._indexer.add(entry)
            if self._on_held is not None:
                self._on_held(entry)
            return Notice(entry.key, old, entry, is_initial=is_initial and old is None)
        seen = entry if entry is not None and delta.last_state_known else None
        held = self._indexer.delete(delta.key if seen is None else seen)
        return Notice(delta.key, entry or held, None, last_state_known=delta.last_state_known)

    async def _replace(self, delta: Delta, *, is_initial: bool) -> None:
        """Hold exactly the list; tell first who is gone, then who is there.

        Safe to cancel: either the old content stays, or the new one is held and some
        handlers, which end with the informer, were not told of all of it.
        """
        held = await self._indexer.replace_in_steps(delta.entries, delta.version)
        audience = self._telling()  # nobody who comes from now on: they find the new content
        await self._tell_in_steps(audience, self._gone(held))
        await self._tell_in_steps(
            audience, self._listed(delta.entries, held, is_initial=is_initial)
        )
        gone = list(held.values())
        del held
        await let_go(gone)

    def _gone(self, held: Held) -> Iterable[Notice | None]:
        for key, entry in held.items():
            is_here = key in self._indexer
            yield None if is_here else Notice(key, entry, None, last_state_known=False)

    def _listed(
        self, entries: Sequence[Entry], held: Held, *, is_initial: bool
    ) -> Iterable[Notice | None]:
        for entry in entries:
            if self._indexer.entry(entry.key) is not entry:
                yield None  # twice in one list: the later one is held, and told
                continue
            if self._on_held is not None:
                self._on_held(entry)
            old = held.get(entry.key)
            yield Notice(entry.key, old, entry, is_initial=is_initial and old is None)

    async def _tell_again(self) -> None:
        entries = self._indexer.entries()
        audience = self._telling()
        again = (Notice(entry.key, entry, entry) for entry in entries)
        await self._tell_in_steps(audience, again)

    async def _tell_in_steps(self, audience: Audience, notices: Iterable[Notice | None]) -> None:
        """Tell what there is to tell; None is nothing, but takes its time as well."""
        pace = Pace()
        left = iter(notices)
        while looked_at := list(itertools.islice(left, STEP)):
            audience([notice for notice in looked_at if notice is not None])
            if pace.is_due():
                await pace.rest()
