"""The declaration of a controller, checked when it is created.

See also: `controller` (runs it), `manager` (declares it).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from kubeloop.cache import Watchable
from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.workqueue import RateLimiter

from .context import Context
from .handlers import WatchSource
from .kinds import group_kind
from .predicates import Predicate
from .results import Result, is_delay

__all__ = ["RECONCILE_TIMEOUT", "ControllerSpec", "Reconcile", "as_watches"]

Reconcile: TypeAlias = Callable[[ObjectKey, Context], Awaitable[Result | None]]
"""The user's function: drives the cluster toward the state in the spec of one object."""

RECONCILE_TIMEOUT = 300.0
"""Default bound in seconds on one reconcile."""


class ControllerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of a controller. Raises: InvalidArgument."""

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
        what = f"controller {self.name!r}"
        if not self.name:
            raise InvalidArgument(f"{what}: the name is empty")
        if not callable(self.reconcile):
            raise InvalidArgument(f"{what}: {self.reconcile!r} is not a function")
        if not _is_async(self.reconcile):
            name = getattr(self.reconcile, "__name__", repr(self.reconcile))
            raise InvalidArgument(
                f"{what}: {name} is not async (write `async def`; call what blocks with"
                " `await asyncio.to_thread(…)`)"
            )
        workers: object = self.workers
        if not isinstance(workers, int) or workers < 1:
            raise InvalidArgument(f"{what}: {self.workers} workers (give one or more)")
        if self.timeout is not None and not (is_delay(self.timeout) and self.timeout > 0):
            raise InvalidArgument(
                f"{what}: timeout {self.timeout} (give seconds, or None for none)"
            )
        if not is_delay(self.resync):
            raise InvalidArgument(f"{what}: resync {self.resync} (give seconds, or zero for none)")
        if any(watch.to is None for watch in self.watches):
            raise InvalidArgument(f"{what}: a watch without `to` (give a function, or use `owns`)")
        if self.owns and group_kind(self.kind) is None:
            raise InvalidArgument(f"{what}: `owns` needs a kind (give the kind of {self.kind})")

    @property
    def kinds(self) -> tuple[Watchable, ...]:
        """All kinds whose changes it handles."""
        return (self.kind, *(watch.kind for watch in (*self.owns, *self.watches)))


def _is_async(function: Reconcile) -> bool:
    """Whether it is `async def`: itself, under its decorators, or as the `__call__` of a class."""
    inner = inspect.unwrap(function)
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(type(inner).__call__)


def as_watches(sources: Sequence[Watchable | WatchSource]) -> tuple[WatchSource, ...]:
    """Kinds as watches without options."""
    return tuple(each if isinstance(each, WatchSource) else WatchSource(each) for each in sources)
