"""How a deployment's replica sets are sized while it moves from one template to another.

Promises: pure; never more pods than `maxSurge` allows, never fewer available ones than
`maxUnavailable` allows; old pods that do not work go first.
Elsewhere: making replica sets and writing status (`deployments`).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubeloop.wire import scaled_value
from kubeloop.wire.apps.v1 import Deployment

__all__ = ["Bounds", "Size", "bounds_of", "rolled"]


class Bounds(msgspec.Struct, frozen=True):
    """Between how many and how many pods a deployment keeps itself while it rolls."""

    wanted: int
    surge: int
    unavailable: int

    @property
    def most(self) -> int:
        return self.wanted + self.surge

    @property
    def fewest(self) -> int:
        """Pods that have to be available at any time."""
        return self.wanted - self.unavailable


class Size(msgspec.Struct, frozen=True):
    """One replica set: how many pods it is to have, and how many of them are available."""

    name: str
    replicas: int
    available: int


def bounds_of(deployment: Deployment) -> Bounds:
    """What a deployment's strategy comes to, in pods."""
    wanted = deployment.spec.replicas or 0
    strategy = deployment.spec.strategy
    if strategy.type == "Recreate" or strategy.rolling_update is None:
        return Bounds(wanted, surge=0, unavailable=wanted)
    surge = scaled_value(strategy.rolling_update.max_surge or 0, wanted, round_up=True)
    unavailable = scaled_value(strategy.rolling_update.max_unavailable or 0, wanted, round_up=False)
    if not surge and not unavailable:
        unavailable = 1  # or nothing could ever move
    return Bounds(wanted, surge, min(unavailable, wanted))


def rolled(bounds: Bounds, new: Size, old: Sequence[Size]) -> dict[str, int]:
    """How many replicas each set is to have next; `old` comes oldest first."""
    return {new.name: _grown(bounds, new, old), **_shrunk(bounds, new, old)}


def _grown(bounds: Bounds, new: Size, old: Sequence[Size]) -> int:
    if new.replicas >= bounds.wanted:
        return bounds.wanted
    room = bounds.most - new.replicas - sum(size.replicas for size in old)
    return min(bounds.wanted, new.replicas + max(room, 0))


def _shrunk(bounds: Bounds, new: Size, old: Sequence[Size]) -> dict[str, int]:
    # A set that was just made smaller may still say more.
    working = {size.name: min(size.available, size.replicas) for size in (*old, new)}
    # What the new set still owes is not there to be counted on.
    owed = new.replicas - working[new.name]
    spare = max(sum(size.replicas for size in (*old, new)) - bounds.fewest - owed, 0)
    broken = [(size.name, size.replicas - working[size.name]) for size in old]
    gone = _taken(broken, spare)
    left = max(min(spare - sum(gone.values()), sum(working.values()) - bounds.fewest), 0)
    well = _taken([(size.name, working[size.name]) for size in old], left)
    return {size.name: size.replicas - gone[size.name] - well[size.name] for size in old}


def _taken(offers: Sequence[tuple[str, int]], count: int) -> dict[str, int]:
    """How many each gives of what it offers, in order, until there are `count`."""
    taken: dict[str, int] = {}
    for name, offered in offers:
        taken[name] = min(offered, count)
        count -= taken[name]
    return taken
