"""What every other room waits, retries and runs tasks with; it knows no API.

Promises: time, chance and tasks are handed in or owned, never taken from the air, so
that whatever is built on it is tested without sleeping and ends without leftovers.
"""

from __future__ import annotations

from .backoff import (
    Backoff,
    BackoffDelays,
    BackoffStats,
    Delays,
    KeyedBackoff,
    KeyedBackoffStats,
    Random,
    ResettingBackoff,
    StormBackoff,
    expired_after_twice,
    jittered,
)
from .clock import Clock, ManualClock, ManualClockStats, SystemClock, Timeout
from .host_guard import HostGuard, RequestRefused, foreign_origin, is_loopback
from .listening import listening
from .retry import DEFAULT_BACKOFF, DEFAULT_RETRY, Condition, poll, repeat, retry, until_true
from .running import ThreadCalls, end_run_at_once, new_event_loop, run
from .sockets import cut_off
from .tasks import (
    Runnable,
    TaskOwner,
    TaskStats,
    cancel_and_wait,
    is_ending,
    leaf_tasks,
    running,
    to_the_end,
)
from .throttle import (
    DeadlineTooSoon,
    Gate,
    GateStats,
    Limiter,
    LimiterStats,
    TokenBucket,
    Unlimited,
)

# For other packages of kubeloop; not public.
from .yielder import MAX_BLOCK as MAX_BLOCK
from .yielder import Yielder as Yielder

__all__ = [
    "DEFAULT_BACKOFF",
    "DEFAULT_RETRY",
    "Backoff",
    "BackoffDelays",
    "BackoffStats",
    "Clock",
    "Condition",
    "DeadlineTooSoon",
    "Delays",
    "Gate",
    "GateStats",
    "HostGuard",
    "KeyedBackoff",
    "KeyedBackoffStats",
    "Limiter",
    "LimiterStats",
    "ManualClock",
    "ManualClockStats",
    "Random",
    "RequestRefused",
    "ResettingBackoff",
    "Runnable",
    "StormBackoff",
    "SystemClock",
    "TaskOwner",
    "TaskStats",
    "ThreadCalls",
    "Timeout",
    "TokenBucket",
    "Unlimited",
    "cancel_and_wait",
    "cut_off",
    "end_run_at_once",
    "expired_after_twice",
    "foreign_origin",
    "is_ending",
    "is_loopback",
    "jittered",
    "leaf_tasks",
    "listening",
    "new_event_loop",
    "poll",
    "repeat",
    "retry",
    "run",
    "running",
    "to_the_end",
    "until_true",
]
