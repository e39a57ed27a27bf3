"""Waiting until a cache has reached a state, with a timeout.

Guarantees: a waiting task is woken when its condition is met, not before and without polling;
a cancelled wait leaves nothing behind.
See also: `informer` and `factory` (what can be waited for).
"""

# ruff: noqa: ASYNC109 - a clock measures the timeout, and the error names it
from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import final

from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.kit import Clock
from kubeloop.meta import is_newer, is_valid_version

__all__ = ["InformerStopped", "NotSynced", "Progress", "check_version", "has_reached"]


@final
class NotSynced(KubeError, TimeoutError):
    """A cache did not reach a state in time: the first list, a version, a condition."""


@final
class InformerStopped(KubeError):
    """An informer has ended; it cannot be started again."""


def check_version(version: str) -> None:
    """Raises `InvalidArgument` for a version that cannot be compared."""
    if not is_valid_version(version):
        raise InvalidArgument(
            f"wait for the resource version {version!r}: not a number above 0 "
            "(pass the version that a write returned)"
        )


def has_reached(version: str, wanted: str) -> bool:
    """Whether `version` is `wanted` or a later one; false if it cannot be compared."""
    return is_valid_version(version) and not is_newer(wanted, than=version)


@final
class Progress:
    """The tasks that wait for a condition; `notify` is called when one may be met."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Public for hot paths, which only check whether it is empty.
        self.waiting: dict[asyncio.Future[None], Callable[[], bool]] = {}

    async def until(self, met: Callable[[], bool], *, what: str, timeout: float | None) -> None:
        """Wait until `met()`. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed first.
        """
        if met():
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting[woken] = met
        try:
            async with self._clock.timeout(timeout) as deadline:
                await woken
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise NotSynced(f"wait for {what}: not within {timeout:g} s") from error
        finally:
            self.waiting.pop(woken, None)

    def notify(self) -> None:
        """Wake the tasks whose condition is met."""
        for woken, met in list(self.waiting.items()):
            try:
                if not woken.done() and met():
                    woken.set_result(None)
            except KubeError as error:
                woken.set_exception(error)

    def __len__(self) -> int:
        return len(self.waiting)
