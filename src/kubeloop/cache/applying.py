"""Turns deltas into changes of the store, and changes of the store into notices.

Promises: the store is changed first and whole, then handlers hear of it, in order: whoever
is told of a change finds it in the store. A list is held at once and told in steps, between
which the event loop goes on. What the store does not have is added, whatever the delta
says; what it has is updated. An object with another uid than the one held is another object:
handlers are notified of the delete of the old one, then of the add of the new one.
Elsewhere: where deltas come from (`delta_queue`), who hears (`handlers`).
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, final

from kubeloop.kit import Yielder

from .content import Held
from .entry import Delta, DeltaType, Entry, are_different_objects
from .indexer import Indexer, let_go
from .notices import Notice

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
        # All of them are applied before the first handler is called.
        changes = [self._apply(delta, is_initial=is_initial) for delta in deltas]
        audience([notice for notices in changes for notice in notices])
        return None

    def at_once(self, delta: Delta) -> bool:
        """Apply what has happened to one object, and tell of it; whether it was about one."""
        if delta.entry is None:
            return False
        audience = self._telling()
        audience(self._apply(delta, is_initial=False))
        return True

    def _apply(self, delta: Delta, *, is_initial: bool) -> Sequence[Notice]:
        if delta.type is DeltaType.DELETED:
            return self._delete(delta)
        entry = delta.entry
        assert entry is not None, f"{delta.type} of {delta.key} says nothing of the object"
        old = self._indexer.add(entry)
        if self._on_held is not None:
            self._on_held(entry)
        if are_different_objects(old, entry):
            return (
                Notice(entry.key, old, None, last_state_known=False, is_recreation=True),
                Notice(entry.key, None, entry, is_recreation=True),
            )
        return (
            Notice(
                entry.key,
                old,
                entry,
                is_initial=is_initial and old is None,
                is_recreation=delta.is_recreation and old is None,
            ),
        )

    def _delete(self, delta: Delta) -> Sequence[Notice]:
        entry, is_known = delta.entry, delta.last_state_known
        held = self._indexer.delete(entry if entry is not None and is_known else delta.key)
        if are_different_objects(held, entry):
            # Handlers know the held object; they were never notified of the one that is gone now.
            entry, is_known = held, False
        final = entry or held
        if final is None:
            return ()  # not even a last state: no handler was ever notified of it
        return (
            Notice(
                delta.key,
                final,
                None,
                last_state_known=is_known,
                is_recreation=delta.is_recreation,
                previous=held if held is not final else None,
            ),
        )

    async def _replace(self, delta: Delta, *, is_initial: bool) -> None:
        """Hold exactly the list; notify first of what is gone, then of what is there.

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
            now = self._indexer.entry(key)
            is_recreation = are_different_objects(entry, now)
            if now is not None and not is_recreation:
                yield None
            else:
                yield Notice(key, entry, None, last_state_known=False, is_recreation=is_recreation)

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
            if are_different_objects(old, entry):  # `_gone` has notified of the delete
                yield Notice(entry.key, None, entry, is_recreation=True)
            else:
                yield Notice(entry.key, old, entry, is_initial=is_initial and old is None)

    async def _tell_again(self) -> None:
        entries = self._indexer.entries()
        audience = self._telling()
        again = (Notice(entry.key, entry, entry) for entry in entries)
        await self._tell_in_steps(audience, again)

    async def _tell_in_steps(self, audience: Audience, notices: Iterable[Notice | None]) -> None:
        """Tell what there is to tell; None is nothing, but takes its time as well."""
        yielder = Yielder()
        left = iter(notices)
        while looked_at := list(itertools.islice(left, STEP)):
            audience([notice for notice in looked_at if notice is not None])
            if yielder.is_due():
                await yielder.yield_to_loop()
