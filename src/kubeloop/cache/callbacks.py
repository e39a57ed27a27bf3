"""From the functions that people write to one function of a change.

Promises: nothing is decoded that the function is not given; what a filter lets pass makes a
story of its own, of adds, updates and deletes.
Elsewhere: who calls them, and when (`handlers`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from kubeloop.meta import ObjectKey
from kubeloop.selectors import EVERYTHING, Selector

from .changes import Change
from .entry import Entry
from .keeper import Keeper
from .notices import Notice

__all__ = ["Callback", "by_key", "filtered", "split"]

T = TypeVar("T")

Callback = Callable[[Change[T]], Awaitable[object] | object]


def by_key(on_key: Callable[[ObjectKey], Awaitable[object] | object]) -> Callback[Any]:
    """For a function that only wants to know which object."""
    return lambda change: on_key(change.key)


def split(
    on_add: Callable[[T], Any] | None,
    on_update: Callable[[T, T], Any] | None,
    on_delete: Callable[[T], Any] | None,
) -> Callback[T]:
    """A function for each kind of change; those that are not there are not called."""

    def call(change: Change[T]) -> object:
        old, new = change.old_metadata, change.new_metadata
        if old is None:
            return on_add(_given(change.new)) if on_add else None
        if new is None:
            return on_delete(_given(change.old)) if on_delete else None
        return on_update(_given(change.old), _given(change.new)) if on_update else None

    return call


def filtered(
    call: Callback[T],
    *,
    keeper: Keeper[T],
    selector: Selector = EVERYTHING,
    where: Callable[[T], bool] | None = None,
) -> Callback[T]:
    """Only what passes: an object that no longer does is told as deleted, one that now does
    as added."""

    def passes(entry: Entry | None, read: Callable[[], T | None]) -> bool:
        if entry is None or not selector.matches(entry.label_map):
            return False
        return where is None or where(_given(read()))

    def told(change: Change[T]) -> object:
        # Of a delete: whether the handler was ever notified of the object, so that it has to be
        # notified of its end, whatever labels the final state has.
        old = passes(change.previous_metadata, lambda: change.previous)
        new = passes(change.new_metadata, lambda: change.new)
        if not old and not new:
            return None
        if (change.old_metadata is None or old) and (change.new_metadata is None or new):
            return call(change)
        notice = Notice(
            change.key,
            change.old_metadata if old else None,
            change.new_metadata if new else None,
        )
        return call(Change(notice, keeper))

    return told


def _given(found: T | None) -> T:
    assert found is not None, "a change without the object it is about"
    return found
