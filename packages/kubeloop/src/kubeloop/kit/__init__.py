"""Clocks, backoff, rate limits, retries and task ownership; it knows nothing of Kubernetes.

Guarantees: time, randomness and tasks are passed in or owned, so that everything built on it
is tested without sleeping, and ends without leftover tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

from .backoff import Backoff, KeyedBackoff, ResettingBackoff
from .clock import Clock, ManualClock, SystemClock, Timeout, Timer
from .retry import DEFAULT_BACKOFF, DEFAULT_RETRY, poll, repeat, retry, until_true
from .running import run
from .tasks import TaskOwner, running
from .throttle import Limiter, TokenBucket

# isort: split
# For other packages of kubeloop; not public.
from .backoff import BackoffDelays as BackoffDelays
from .backoff import BackoffStats as BackoffStats
from .backoff import Delays as Delays
from .backoff import KeyedBackoffStats as KeyedBackoffStats
from .backoff import Random as Random
from .backoff import StormBackoff as StormBackoff
from .backoff import expired_after_twice as expired_after_twice
from .backoff import jittered as jittered
from .clock import ManualClockStats as ManualClockStats
from .digits import whole_number as whole_number
from .keywords import strict_keywords as strict_keywords
from .retry import Condition as Condition
from .running import ThreadCalls as ThreadCalls
from .running import abort_run as abort_run
from .running import new_event_loop as new_event_loop
from .tasks import Runnable as Runnable
from .tasks import TaskStats as TaskStats
from .tasks import cancel_and_wait as cancel_and_wait
from .tasks import is_cancelling as is_cancelling
from .tasks import leaf_tasks as leaf_tasks
from .tasks import run_to_completion as run_to_completion
from .throttle import ConcurrencyLimit as ConcurrencyLimit
from .throttle import ConcurrencyLimitStats as ConcurrencyLimitStats
from .throttle import DeadlineTooSoon as DeadlineTooSoon
from .throttle import LimiterStats as LimiterStats
from .throttle import Unlimited as Unlimited
from .yielder import MAX_BLOCK as MAX_BLOCK
from .yielder import TimeBudget as TimeBudget
from .yielder import Yielder as Yielder

if TYPE_CHECKING:
    # isort: split
    # For other packages of kubeloop; not public.
    from .files import open_private as open_private
    from .host_guard import HostGuard as HostGuard
    from .host_guard import RequestRefused as RequestRefused
    from .host_guard import foreign_origin as foreign_origin
    from .host_guard import is_loopback as is_loopback
    from .listening import listen as listen
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".files": "open_private",
            ".host_guard": "HostGuard RequestRefused foreign_origin is_loopback",
            ".listening": "listen",
        },
    )

__all__ = [
    "DEFAULT_BACKOFF",
    "DEFAULT_RETRY",
    "Backoff",
    "Clock",
    "KeyedBackoff",
    "Limiter",
    "ManualClock",
    "ResettingBackoff",
    "SystemClock",
    "TaskOwner",
    "Timeout",
    "Timer",
    "TokenBucket",
    "poll",
    "repeat",
    "retry",
    "run",
    "running",
    "until_true",
]
