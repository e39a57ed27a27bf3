"""What a mirror says of itself.

Elsewhere: the mirror (`reflector`).
"""

from __future__ import annotations

import enum

import msgspec

from kubeloop.kit import BackoffStats

from .intake import IntakeStats
from .outage import OutageStats

__all__ = ["ReflectorState", "ReflectorStats"]


class ReflectorState(enum.StrEnum):
    """What a mirror is at."""

    NEW = "new"
    LISTING = "listing"  # the whole state, as a list or as a stream
    CONNECTING = "connecting"  # a watch was asked for, and not answered yet
    WATCHING = "watching"
    WAITING = "waiting"  # before another try, after something went wrong


class ReflectorStats(msgspec.Struct, frozen=True):
    """How far a mirror has come, and what it took."""

    state: ReflectorState
    version: str  # the last one synced; empty before the first
    lists: int
    watch_lists: int  # initial states that were asked for as a stream
    fallbacks: int  # of these, how many failed and led to a list
    watches: int
    short_watches: int
    events: int
    rounds: int
    errors: int
    last_error: str  # of all errors so far; whether it is over is in `outage`
    outage: OutageStats | None  # None: the last attempt succeeded
    event_age: float | None  # seconds since anything came, bookmarks included
    left_out: IntakeStats
    backoff: BackoffStats | None
