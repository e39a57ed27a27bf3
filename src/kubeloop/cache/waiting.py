"""Waiting for what a cache will come to, with a deadline.

Promises: who waits is woken when what it waits for is so, not before and without polling;
giving up leaves nothing behind.
Elsewhere: what can be waited for (`informer`, `factory`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
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
    """A cache had not come to what was waited for in the time given."""


@final
class InformerStopped(KubeError):
    """An informer has ended, and none begins again."""


def check_version(version: str) -> None:
    """Raises `InvalidArgument` for a version that nothing can be compared with."""
    if not is_valid_version(version):
        raise InvalidArgument(
            f"wait for the resource version {version!r}: it is no number above 0 "
            "(give the one that the server answered a write with)"
        )


def has_reached(version: str, wanted: str) -> bool:
    """Whether a store at `version` has seen what was written as `wanted`."""
    return is_valid_version(version) and not is_newer(wanted, than=version)


@final
class Progress:
    """Whoever waits for something that only now and then may have come true."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[asyncio.Future[None], Callable[[], bool]] = {}

    async def until(self, met: Callable[[], bool], *, what: str, timeout: float | None) -> None:
        """Wait until `met()`. Safe to cancel.

        Raises:
            NotSynced: `timeout` seconds have passed first.
        """
        if met():
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[woken] = met
        try:
            async with self._clock.timeout(timeout) as bound:
                await woken
        except TimeoutError as error:
            if not bound.expired():
                raise
            raise NotSynced(f"wait for {what}: not within {timeout:g} s") from error
        finally:
            self._waiting.pop(woken, None)

    def notify(self) -> None:
        """Something has changed: wake those whose wish has come true."""
        if not self._waiting:
            return
        for woken, met in list(self._waiting.items()):
            try:
                if not woken.done() and met():
                    woken.set_result(None)
            except KubeError as error:
                woken.set_exception(error)

    def __len__(self) -> int:
        return len(self._waiting)
