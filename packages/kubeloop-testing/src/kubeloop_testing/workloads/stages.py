"""How long an object has been in a stage, by a clock that is finer than the API's seconds.

See also: the stages of a pod (`pod_lifecycle`), the backoff of a job (`jobs`).
"""

from __future__ import annotations

from typing import final

from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey

__all__ = ["Stages", "backoff_steps"]

_MAX_DOUBLINGS = 8


def backoff_steps(failures: int) -> int:
    """How many steps to wait after so many earlier failures: 1, 2, 4, … up to a limit."""
    return 1 << min(failures, _MAX_DOUBLINGS)


@final
class Stages:
    """The current stage of each object, and when it began."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[ObjectKey, tuple[str, float]] = {}

    def left(self, key: ObjectKey, stage: str, duration: float) -> float:
        """Seconds until the stage ends; it begins with the first call for it."""
        now = self._clock.now()
        if self._seen.get(key, ("", now))[0] != stage:
            self._seen[key] = (stage, now)
        return self._seen[key][1] + duration - now

    def forget(self, key: ObjectKey) -> None:
        self._seen.pop(key, None)
