"""Applies deltas to a store, and notifies the handlers of what has changed.

Guarantees: the store changes first, then handlers are notified, in order: a handler finds its
change in the store. A list is stored at once and its notifications are sent in steps, between
which the event loop runs. What is not in the store is added, whatever the type of the delta;
what is, is updated. An object with another uid than the stored one is another object: handlers
are notified of the delete of the old one, then of the add of the new one.
See also: `delta_queue` (where deltas come from), `handlers` (receive notifications),
`informer` (the path of an event).
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeAlias, final

from kubeloop.kit import Clock, SystemClock, Yielder
from kubeloop.wire import get_logger

from .changes import Notification
from .entry import Delta, DeltaType, Entry, are_different_objects
from .indexer import Indexer, free_in_steps
from .metrics import NO_METER, Meter
from .store import EntriesByKey

__all__ = ["DeltaApplier", "Recipient"]

log = get_logger(__name__)

STEP = 64  # notifications between two checks of the time

Recipient: TypeAlias = Callable[[Sequence[Notification]], None]


@final
class DeltaApplier:
    """Applies deltas to an indexer; pass it to `DeltaQueue.pop`.

    `recipients` returns the handlers to notify of a change that is made now. `on_store` is
    called with each entry that is stored, `after_change` after a delta that was applied
    directly.
    """

    def __init__(
        self,
        indexer: Indexer[Any],
        recipients: Callable[[], Sequence[Recipient]],
        *,
        on_store: Callable[[Entry], None] | None = None,
        after_change: Callable[[], None] | None = None,
        meter: Meter = NO_METER,
        clock: Clock | None = None,
    ) -> None:
        self._indexer = indexer
        self._store = indexer.store
        self._recipients = recipients
        self._on_store = on_store
        self._after_change = after_change
        self._meter = meter if meter is not NO_METER else None
        self._clock = clock or SystemClock()

    def __call__(self, deltas: Sequence[Delta], is_initial: bool) -> Awaitable[None] | None:  # noqa: FBT001 - the shape of `Process`
        match deltas[0].type:
            case DeltaType.REPLACED_ALL:
                return self._replace(deltas[0], is_initial=is_initial)
            case DeltaType.SYNC_ALL:
                return self._resync()
            case DeltaType.BOOKMARK:
                self._store.bookmark(deltas[0].version)
                return None
        recipients = self._recipients()
        # All deltas are applied before the first handler is called.
        changes = [self._apply(delta, is_initial=is_initial) for delta in deltas]
        notifications = [each for change in changes for each in change]
        for notify in recipients:
            notify(notifications)
        return None

    def apply_directly(self, delta: Delta) -> bool:
        """Apply a delta of one object in the caller's stack; False leaves it to the queue.

        A delta that fails is left to the queue, and so to the controller, which retries it.
        """
        if delta.entry is None:
            return False
        started = self._clock.now() if self._meter is not None else 0.0
        try:
            recipients = self._recipients()
            notifications = self._apply(delta, is_initial=False)
            for notify in recipients:
                notify(notifications)
        except Exception:
            log.exception("%s: processing a delta failed, will retry", delta.key)
            return False
        if self._meter is not None:
            self._meter.observe_processing(self._clock.now() - started)
        if self._after_change is not None:
            self._after_change()
        return True

    def _apply(self, delta: Delta, *, is_initial: bool) -> Sequence[Notification]:
        if delta.type is DeltaType.DELETED:
            return self._delete(delta)
        entry = delta.entry
        assert entry is not None, f"{delta.type} of {delta.key} has no entry"
        old = self._store.add(entry)
        if self._on_store is not None:
            self._on_store(entry)
        if old is not None and old.uid != entry.uid and are_different_objects(old, entry):
            return (
                Notification(entry.key, old, None, last_state_known=False, is_recreation=True),
                Notification(entry.key, None, entry, is_recreation=True),
            )
        if not is_initial and not delta.is_recreation:
            return (Notification(entry.key, old, entry),)
        return (
            Notification(
                entry.key,
                old,
                entry,
                is_initial=is_initial and old is None,
                is_recreation=delta.is_recreation and old is None,
            ),
        )

    def _delete(self, delta: Delta) -> Sequence[Notification]:
        entry, is_known = delta.entry, delta.last_state_known
        version = entry.version if entry is not None and is_known else ""
        stored = self._store.delete(delta.key, version=version)
        if are_different_objects(stored, entry):
            # Handlers know the stored object; they were never notified of the deleted one.
            entry, is_known = stored, False
        final_state = entry or stored
        if final_state is None:
            return ()  # no handler was ever notified of it
        return (
            Notification(
                delta.key,
                final_state,
                None,
                last_state_known=is_known,
                is_recreation=delta.is_recreation,
                previous=stored if stored is not final_state else None,
            ),
        )

    async def _replace(self, delta: Delta, *, is_initial: bool) -> None:
        """Store exactly the list; notify first of what is gone, then of what is there.

        Safe to cancel: either the old objects stay, or the new ones are stored and some
        handlers, which end with the informer, were not notified of all of them.
        """
        old = await self._indexer.replace_in_steps(delta.entries, delta.version)
        recipients = self._recipients()  # a later handler starts with the new objects
        await self._notify_in_steps(recipients, self._deletes(old))
        listed = self._adds_and_updates(delta.entries, old, is_initial=is_initial)
        await self._notify_in_steps(recipients, listed)
        gone = list(old.values())
        del old, listed
        await free_in_steps(gone)

    def _deletes(self, old: EntriesByKey) -> Iterable[Notification | None]:
        for key, entry in old.items():
            now = self._store.get(key)
            is_recreation = are_different_objects(entry, now)
            if now is not None and not is_recreation:
                yield None
            else:
                yield Notification(
                    key, entry, None, last_state_known=False, is_recreation=is_recreation
                )

    def _adds_and_updates(
        self, entries: Sequence[Entry], old: EntriesByKey, *, is_initial: bool
    ) -> Iterable[Notification | None]:
        for entry in entries:
            if self._store.get(entry.key) is not entry:
                yield None  # twice in one list: the later one is stored and reported
                continue
            if self._on_store is not None:
                self._on_store(entry)
            before = old.get(entry.key)
            if are_different_objects(before, entry):  # `_deletes` has notified of the old one
                yield Notification(entry.key, None, entry, is_recreation=True)
            else:
                is_first = is_initial and before is None
                yield Notification(entry.key, before, entry, is_initial=is_first)

    async def _resync(self) -> None:
        entries = self._store.entries()
        recipients = self._recipients()
        unchanged = (Notification(entry.key, entry, entry) for entry in entries)
        await self._notify_in_steps(recipients, unchanged)

    async def _notify_in_steps(
        self, recipients: Sequence[Recipient], notifications: Iterable[Notification | None]
    ) -> None:
        """Notify in steps. None is a change without a notification; it counts for the time."""
        yielder = Yielder()
        remaining = iter(notifications)
        while step := list(itertools.islice(remaining, STEP)):
            found = [notification for notification in step if notification is not None]
            for notify in recipients:
                notify(found)
            if yielder.is_due():
                await yielder.yield_to_loop()
