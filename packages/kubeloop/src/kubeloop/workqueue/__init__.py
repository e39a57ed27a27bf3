"""Work queues: keys from event handlers to workers.

Guarantees: a key that was added is processed afterwards, by one worker at a time;
several adds of a waiting key become one; no task runs in the background.
"""

from __future__ import annotations

from .limiters import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    RateLimiter,
    WithMaxWaitRateLimiter,
    default_controller_rate_limiter,
    default_item_based_rate_limiter,
)
from .metrics import PrometheusQueueMetrics, QueueMetrics
from .ordering import Order
from .parallel import parallelize
from .priority import LOW_PRIORITY, PriorityQueue
from .queue import NotProcessing, QueueEmpty, QueueShutDown, WorkQueue
from .rate_limiting import DelayingQueue, RateLimitingQueue

# isort: split
# For other packages of kubeloop; not public.
from .queue import QueueState as QueueState
from .queue import QueueStats as QueueStats

__all__ = [
    "LOW_PRIORITY",
    "BucketRateLimiter",
    "DelayingQueue",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "NotProcessing",
    "Order",
    "PriorityQueue",
    "PrometheusQueueMetrics",
    "QueueEmpty",
    "QueueMetrics",
    "QueueShutDown",
    "RateLimiter",
    "RateLimitingQueue",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "default_controller_rate_limiter",
    "default_item_based_rate_limiter",
    "parallelize",
]
