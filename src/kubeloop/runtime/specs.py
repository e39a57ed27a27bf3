"""What a controller is to do, as a value that is checked when it is made.

Elsewhere: doing it (`controller`), declaring it (`manager`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from kubeloop.cache import Watchable
from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.workqueue import RateLimiter

from .caches import group_kind
from .context import Context
from .handlers import WatchSource
from .predicates import Predicate
from .results import Result, is_delay

__all__ = ["RECONCILE_TIMEOUT", "ControllerSpec", "Reconcile", "as_watches"]

Reconcile: TypeAlias = Callable[[ObjectKey, Context], Awaitable[Result | None]]

RECONCILE_TIMEOUT = 300.0
"""Seconds after which a reconcile is cancelled, unless its controller says otherwise."""


class ControllerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a controller is to do. Raises: InvalidArgument."""

    name: str
    kind: Watchable
    reconcile: Reconcile
    owns: tuple[WatchSource, ...] = ()
    watches: tuple[WatchSource, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    workers: int = 1
    timeout: float | None = RECONCILE_TIMEOUT
    resync: float = 0.0
    leader_only: bool = True
    limiter: RateLimiter[ObjectKey] | None = None

    def __post_init__(self) -> None:
        where = f"controller {self.name!r}"
        if not self.name:
            raise InvalidArgument(f"{where}: it needs a name")
        if not callable(self.reconcile):
            raise InvalidArgument(f"{where}: {self.reconcile!r} is no function")
        if not _is_count(self.workers):
            raise InvalidArgument(f"{where}: {self.workers} workers (give one or more)")
        if self.timeout is not None and not (is_delay(self.timeout) and self.timeout > 0):
            raise InvalidArgument(
                f"{where}: timeout {self.timeout} (give seconds, or None for none)"
            )
        if not is_delay(self.resync):
            raise InvalidArgument(f"{where}: resync {self.resync} (give seconds, or zero for none)")
        if any(watch.to is None for watch in self.watches):
            raise InvalidArgument(f"{where}: a watch without `to` (whose keys? or use `owns`)")
        if self.owns and group_kind(self.kind) is None:
            raise InvalidArgument(
                f"{where}: owners are known by kind (name {self.kind} by its kind)"
            )

    @property
    def kinds(self) -> tuple[Watchable, ...]:
        """All kinds whose changes it has to be told."""
        return (self.kind, *(watch.kind for watch in (*self.owns, *self.watches)))


def _is_count(given: object) -> bool:
    return isinstance(given, int) and given >= 1


def as_watches(wanted: Sequence[Watchable | WatchSource]) -> tuple[WatchSource, ...]:
    """Kinds as watches, where a kind alone says enough."""
    return tuple(each if isinstance(each, WatchSource) else WatchSource(each) for each in wanted)
