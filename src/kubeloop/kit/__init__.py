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
from .running import ThreadCalls, abort_run, new_event_loop, run
from .sockets import abort_connections
from .tasks import (
    Runnable,
    TaskOwner,
    TaskStats,
    cancel_and_wait,
    is_cancelling,
    leaf_tasks,
    run_to_completion,
    running,
)
from .throttle import (
    ConcurrencyLimit,
    ConcurrencyLimitStats,
    DeadlineTooSoon,
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
    "ConcurrencyLimit",
    "ConcurrencyLimitStats",
    "Condition",
    "DeadlineTooSoon",
    "Delays",
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
    "abort_connections",
    "abort_run",
    "cancel_and_wait",
    "expired_after_twice",
    "foreign_origin",
    "is_cancelling",
    "is_loopback",
    "jittered",
    "leaf_tasks",
    "listening",
    "new_event_loop",
    "poll",
    "repeat",
    "retry",
    "run",
    "run_to_completion",
    "running",
    "until_true",
]
