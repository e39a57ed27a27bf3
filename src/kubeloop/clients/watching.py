"""Waiting for what a watch will bring.

Promises: conditions are met in their order; an event that meets one is shown to the next;
the watch is closed whatever happens.
Elsewhere: the watch itself (`resource`), waiting for one object (`waiting`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar, final

from kubeloop.machinery import KubeError

from .lists import WatchEvent

__all__ = ["EventCondition", "WatchClosed", "until"]

T = TypeVar("T")

EventCondition = Callable[[WatchEvent[T]], bool]


@final
class WatchClosed(KubeError):
    """A watch ended before what was waited for had come."""


async def until(
    events: AsyncIterator[WatchEvent[T]], *conditions: EventCondition[T]
) -> WatchEvent[T] | None:
    """Follow `events` until each condition was met; returns the event that met the last.

    None without conditions. What a condition raises leaves as it came, with the event in
    its notes. Safe to cancel: the events are closed.
    Raises: WatchClosed when the events end before.
    """
    left = list(conditions)
    try:
        while left:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                raise WatchClosed(
                    f"wait for {len(left)} of {len(conditions)} conditions: the watch closed"
                    " (begin a new one, from a list)"
                ) from None
            while left and _met(left[0], event):
                del left[0]
        return event if conditions else None
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _met(condition: EventCondition[T], event: WatchEvent[T]) -> bool:
    try:
        return condition(event)
    except Exception as error:
        error.add_note(f"the last event was {event.type} of {event.object!r:.200}")
        raise
