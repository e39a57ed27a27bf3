"""How a part is, in one word.

Promises: pure; broken means that something is not done now that should be, and heals by
itself when it is done again.
Elsewhere: what is shown besides (`collect`).
"""

from __future__ import annotations

import enum

from kubeloop.cache import InformerState, InformerStats, ReflectorState
from kubeloop.election import ElectorStats, Leading
from kubeloop.runtime import ControllerStats

__all__ = ["Health", "of_controller", "of_election", "of_informer"]

_RECENT = 10  # notes of a timeline
_BEHIND = 10.0  # seconds that a key may wait for a cache, before the page points at it


class Health(enum.StrEnum):
    """From fine to not fine; the page has a colour and a word for each."""

    GOOD = "good"
    WAITING = "waiting"  # it has not begun, or it is not its turn
    TROUBLED = "troubled"  # it works, and not everything goes well
    BROKEN = "broken"
    ENDED = "ended"


def of_informer(said: InformerStats) -> Health:
    """A mirror that does not hear of changes is broken until it does."""
    if said.state is InformerState.STOPPED:
        return Health.ENDED
    outage = said.reflector.outage
    if outage is not None and outage.failures > 1:
        return Health.BROKEN  # also while it tries again
    match said.reflector.state:
        case ReflectorState.WATCHING:
            return Health.GOOD
        case ReflectorState.WAITING:
            return Health.BROKEN
        case ReflectorState.NEW:
            return Health.WAITING
    # Listing or connecting: for the first time, or once more.
    return Health.TROUBLED if said.has_synced else Health.WAITING


def of_controller(said: ControllerStats, failures: list[float]) -> Health:
    """A controller is troubled for a while after a try that failed, or while a key waits."""
    if said.state in {"draining", "ended"}:
        return Health.ENDED
    if said.state != "running":
        return Health.WAITING
    is_behind = said.longest_cache_wait >= _BEHIND
    return Health.TROUBLED if is_behind or any(failures[-_RECENT:]) else Health.GOOD


def of_election(said: ElectorStats) -> Health:
    return Health.GOOD if isinstance(said.state, Leading) else Health.WAITING
