"""Trying a change again when another writer was faster.

Promises: the numbers are client-go's; what is no conflict leaves at once, and the last
conflict leaves when the tries are used up.
See also: `edit` and `modify`, which are bounded by time (`writer`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from kubeloop.kit import DEFAULT_RETRY, Backoff, Clock, SystemClock, retry
from kubeloop.machinery import Conflict, is_api_error

__all__ = ["is_conflict", "retry_on_conflict"]

T = TypeVar("T")


def is_conflict(error: BaseException) -> bool:
    """Whether the object had changed since it was read."""
    return is_api_error(error, Conflict)


async def retry_on_conflict(
    change: Callable[[], Awaitable[T]],
    *,
    backoff: Backoff = DEFAULT_RETRY,
    clock: Clock | None = None,
) -> T:
    """Call `change` until it meets no conflict, at most `backoff.steps` times.

    `change` has to read the object anew each time. Safe to cancel as far as `change` is.

        async def relabel() -> Pod:
            pod = await pods.get("web")
            pod.metadata.labels["tier"] = "front"
            return await pods.update(pod)

        await retry_on_conflict(relabel)
    """
    return await retry(change, when=is_conflict, clock=clock or SystemClock(), backoff=backoff)
