"""The health of a part, in one word.

Guarantees: pure functions; "failing" ends when the part works again.
See also: `collect` (the other values).
"""

from __future__ import annotations

import enum

from kubeloop.cache import InformerState, InformerStats, ReflectorState
from kubeloop.election import ElectorStats, Leading
from kubeloop.runtime import ControllerStats

__all__ = ["Health", "controller_health", "election_health", "informer_health"]

_RECENT = 10  # samples of the timeline
_BEHIND = 10.0  # seconds that a key may be parked before the page reports it


class Health(enum.StrEnum):
    """How well a part works; the page has a color for each."""

    HEALTHY = "healthy"
    PENDING = "pending"  # not started, or on standby
    DEGRADED = "degraded"  # works, with recent failures
    FAILING = "failing"
    STOPPED = "stopped"


def informer_health(stats: InformerStats) -> Health:
    """An informer is failing while it receives no changes because of errors."""
    if stats.state is InformerState.STOPPED:
        return Health.STOPPED
    outage = stats.reflector.outage
    if outage is not None and outage.failures > 1:
        return Health.FAILING  # also during the next attempt
    match stats.reflector.state:
        case ReflectorState.WATCHING:
            return Health.HEALTHY
        case ReflectorState.WAITING:
            return Health.FAILING
        case ReflectorState.NEW:
            return Health.PENDING
    # Listing or connecting, for the first time or again.
    return Health.DEGRADED if stats.has_synced else Health.PENDING


def controller_health(stats: ControllerStats, failures: list[float]) -> Health:
    """A controller is degraded for some seconds after a failure, and while a key is parked long."""
    if stats.state in {"draining", "ended"}:
        return Health.STOPPED
    if stats.state != "running":
        return Health.PENDING
    is_behind = stats.longest_cache_wait >= _BEHIND
    return Health.DEGRADED if is_behind or any(failures[-_RECENT:]) else Health.HEALTHY


def election_health(stats: ElectorStats) -> Health:
    return Health.HEALTHY if isinstance(stats.state, Leading) else Health.PENDING
