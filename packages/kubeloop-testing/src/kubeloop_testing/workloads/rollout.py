"""Rolling updates: the sizes of a deployment's replica sets during a rollout.

Guarantees: pure; never more pods than `maxSurge` allows, never fewer available ones than
`maxUnavailable` allows; unavailable old pods are scaled down first.
See also: creating replica sets and writing status (`deployments`).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubeloop.wire import scaled_value
from kubeloop.wire.apps.v1 import Deployment

__all__ = ["Bounds", "Size", "bounds_of", "next_sizes"]


class Bounds(msgspec.Struct, frozen=True):
    """The limits of a rolling update, in pods."""

    desired: int
    surge: int
    unavailable: int

    @property
    def most(self) -> int:
        return self.desired + self.surge

    @property
    def fewest(self) -> int:
        """Pods that have to be available at any time."""
        return self.desired - self.unavailable


class Size(msgspec.Struct, frozen=True):
    """One replica set: its desired replicas, and how many are available."""

    name: str
    replicas: int
    available: int


def bounds_of(deployment: Deployment) -> Bounds:
    """The limits of a deployment's strategy, in pods."""
    desired = deployment.spec.replicas or 0
    strategy = deployment.spec.strategy
    if strategy.type == "Recreate" or strategy.rolling_update is None:
        return Bounds(desired, surge=0, unavailable=desired)
    # Surge rounds up and unavailable rounds down, as `ResolveFenceposts` in Kubernetes.
    update = strategy.rolling_update
    surge = scaled_value(update.max_surge or 0, desired, round_up=True)
    unavailable = scaled_value(update.max_unavailable or 0, desired, round_up=False)
    if not surge and not unavailable:
        unavailable = 1  # otherwise no pod could ever be replaced
    return Bounds(desired, surge, min(unavailable, desired))


def next_sizes(bounds: Bounds, new: Size, old: Sequence[Size]) -> dict[str, int]:
    """The next number of replicas of each set; `old` comes oldest first."""
    return {new.name: _scale_up(bounds, new, old), **_scale_down(bounds, new, old)}


def _scale_up(bounds: Bounds, new: Size, old: Sequence[Size]) -> int:
    if new.replicas >= bounds.desired:
        return bounds.desired
    allowed = bounds.most - new.replicas - sum(size.replicas for size in old)
    return min(bounds.desired, new.replicas + max(allowed, 0))


def _scale_down(bounds: Bounds, new: Size, old: Sequence[Size]) -> dict[str, int]:
    # The status of a set that was just scaled down may still count its old pods.
    available = {size.name: min(size.available, size.replicas) for size in (*old, new)}
    # Pods of the new set that are not available yet must not be counted on.
    pending = new.replicas - available[new.name]
    surplus = max(sum(size.replicas for size in (*old, new)) - bounds.fewest - pending, 0)
    # Unavailable pods first: removing them costs no availability (`cleanupUnhealthyReplicas`).
    unhealthy = [(size.name, size.replicas - available[size.name]) for size in old]
    removed = _distribute(unhealthy, surplus)
    left = max(min(surplus - sum(removed.values()), sum(available.values()) - bounds.fewest), 0)
    healthy = _distribute([(size.name, available[size.name]) for size in old], left)
    return {size.name: size.replicas - removed[size.name] - healthy[size.name] for size in old}


def _distribute(candidates: Sequence[tuple[str, int]], count: int) -> dict[str, int]:
    """Split `count` over the sets in order, at most the number of candidates of each."""
    shares: dict[str, int] = {}
    for name, most in candidates:
        shares[name] = min(most, count)
        count -= shares[name]
    return shares
