"""Whether a leader is still alive, for a liveness probe that is there before the elector is."""

from __future__ import annotations

from typing import Final, Protocol, final

__all__ = ["DEFAULT_TOLERANCE", "Checked", "ElectionHealth"]

DEFAULT_TOLERANCE: Final = 20.0
"""Seconds beyond the lease that a leader may be late before it counts as dead."""


class Checked(Protocol):
    """What can be asked whether it is well; `LeaderElector` fits."""

    def check(self, *, tolerance: float = ...) -> None: ...


@final
class ElectionHealth:
    """Well until an elector is attached, and then as well as that is."""

    def __init__(self, *, tolerance: float = DEFAULT_TOLERANCE) -> None:
        self._tolerance = tolerance
        self._elector: Checked | None = None

    def attach(self, elector: Checked) -> None:
        """Ask `elector` from now on."""
        self._elector = elector

    def check(self) -> None:
        """Raises: LeaseNotRenewed when the elector leads although its lease has run out."""
        if self._elector is not None:
            self._elector.check(tolerance=self._tolerance)
