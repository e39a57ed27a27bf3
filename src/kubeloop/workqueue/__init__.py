"""Queues that carry keys from those who see changes to those who work on them.

Promises: a key that was added is worked on after that, by one worker at a time; keys
that are added again and again are worked on once; no task runs in the background.
"""

from __future__ import annotations

from .delays import DelayingQueue
from .errors import NotHandedOut, QueueEmpty, QueueShutDown
from .limits import (
    DEFAULT_BURST,
    DEFAULT_ITEM_BASE,
    DEFAULT_RATE,
    DEFAULT_RETRY_BASE,
    DEFAULT_RETRY_MAXIMUM,
    BucketLimiter,
    ItemExponentialLimiter,
    ItemFastSlowLimiter,
    MaxOfLimiter,
    MaxWaitLimiter,
    RateLimiter,
    default_item_limiter,
    default_limiter,
)
from .line import HEARTBEAT
from .metrics import DURATION_BUCKETS, QUEUE_METRIC_NAMES, PrometheusQueueMetrics, QueueMetrics
from .parallel import parallelize
from .priority import LOW_PRIORITY, PriorityQueue
from .queue import REPORT_INTERVAL, Order, Phase, QueueStats, WorkQueue
from .rate_limiting import RateLimitingQueue
from .turns import TURN

__all__ = [
    "DEFAULT_BURST",
    "DEFAULT_ITEM_BASE",
    "DEFAULT_RATE",
    "DEFAULT_RETRY_BASE",
    "DEFAULT_RETRY_MAXIMUM",
    "DURATION_BUCKETS",
    "HEARTBEAT",
    "LOW_PRIORITY",
    "QUEUE_METRIC_NAMES",
    "REPORT_INTERVAL",
    "TURN",
    "BucketLimiter",
    "DelayingQueue",
    "ItemExponentialLimiter",
    "ItemFastSlowLimiter",
    "MaxOfLimiter",
    "MaxWaitLimiter",
    "NotHandedOut",
    "Order",
    "Phase",
    "PriorityQueue",
    "PrometheusQueueMetrics",
    "QueueEmpty",
    "QueueMetrics",
    "QueueShutDown",
    "QueueStats",
    "RateLimiter",
    "RateLimitingQueue",
    "WorkQueue",
    "default_item_limiter",
    "default_limiter",
    "parallelize",
]
