"""How long something has been as it is, by a clock that is finer than the API's seconds.

Elsewhere: what the stages of a pod are (`pod_life`).
"""

from __future__ import annotations

from typing import final

from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey

__all__ = ["Stages"]


@final
class Stages:
    """The stage that each object was last seen in, and since when."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[ObjectKey, tuple[str, float]] = {}

    def left(self, key: ObjectKey, stage: str, lasts: float) -> float:
        """Seconds until a stage that `lasts` so long is over; it begins when it is first seen."""
        now = self._clock.now()
        if self._seen.get(key, ("", now))[0] != stage:
            self._seen[key] = (stage, now)
        return self._seen[key][1] + lasts - now

    def forget(self, key: ObjectKey) -> None:
        self._seen.pop(key, None)
