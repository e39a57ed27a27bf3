"""Which handler is told everything again, and when.

Promises: plain arithmetic on moments that are handed in.
Elsewhere: the tick itself (`reflector`), telling (`applying`).
"""

from __future__ import annotations

from typing import final

from kubeloop.wire import get_logger

__all__ = ["SHORTEST", "ResyncPeriod", "agreed_period"]

log = get_logger(__name__)

SHORTEST = 1.0


def agreed_period(wanted: float, check: float) -> float:
    """The period a handler gets where somebody looks every `check` seconds; 0 is never."""
    if wanted == 0 or check == 0:
        return 0.0
    if wanted < check:
        log.warning("resync every %g s: only looked at every %g s", wanted, check)
    return max(wanted, check)


@final
class ResyncPeriod:
    """The period of one handler."""

    def __init__(self, wanted: float, check: float, *, now: float) -> None:
        self._wanted = wanted
        self.seconds = agreed_period(wanted, check)
        self._due = now + self.seconds
        # Until the first tick decides, whoever lists again unchanged is told so (CCH-85).
        self.is_resyncing = True

    def check_changed(self, check: float, now: float) -> None:
        """Somebody looks at another period now."""
        self.seconds = agreed_period(self._wanted, check)
        self._due = now + self.seconds

    def tick(self, now: float) -> bool:
        """Decide whether it is told everything this time."""
        # The tick is a sleep of many summed periods, which may miss its moment by a hair.
        self.is_resyncing = self.seconds > 0 and now >= self._due - 1e-6
        if self.is_resyncing:
            self._due = now + self.seconds
        return self.is_resyncing
