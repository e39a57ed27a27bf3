"""Asks a server that has gone silent whether it is older than what we know of it.

One that lost its data, or was restored from an old copy, answers a watch from our version
with silence until it has caught up, and the cache would be wrong so long.
Promises: nothing is asked of a server that brings anything new meanwhile, and never two
questions about one version.
Elsewhere: the watches themselves (`reflector`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from kubeloop.errors import KubeError
from kubeloop.kit import Clock, TaskOwner

from .fetching import Fetching
from .list_watch import Scope
from .verdicts import VersionWentBack, is_older

__all__ = ["Probing"]

SILENCE = 60.0  # seconds after a watch that ended, before the server is asked where it is


@final
class Probing:
    """Suspects a server at each end of a watch.

    `version` says how far the mirror has come; `on_gone_back` hears that the server is not so
    far, before the task that found it out fails with `VersionWentBack`.
    """

    def __init__(
        self,
        scope: Scope,
        fetching: Fetching,
        *,
        version: Callable[[], str],
        on_gone_back: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._scope = scope
        self._fetching = fetching
        self._version = version
        self._on_gone_back = on_gone_back
        self._clock = clock
        self._suspected: str | None = None  # the version at which the last watch ended

    def forget(self) -> None:
        """A round begins: its owner has ended the questions of the one before."""
        self._suspected = None

    def suspect(self, tasks: TaskOwner) -> None:
        """A watch has ended: see, later, that the server has not gone back.

        However long it lasted: on a machine that slept, the clock does not tell why it ended.
        """
        version = self._version()
        if self._suspected != version:
            self._suspected = version
            tasks.spawn(self._probe(version), name=f"probe {self._scope}")

    async def _probe(self, suspected: str) -> None:
        while self._version() == suspected:
            await self._clock.sleep(SILENCE)
            if self._version() != suspected:
                break
            try:
                version = await self._fetching.newest_version()
            except KubeError:
                continue  # it is away again
            if is_older(version, than=suspected):
                self._on_gone_back()
                raise VersionWentBack(
                    f"watch {self._scope} from {suspected}: the server is at {version}"
                )
            break
        self._suspected = None
