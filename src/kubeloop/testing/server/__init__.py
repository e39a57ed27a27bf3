"""The embedded API server: real HTTP, kube-apiserver's answers, no binaries.

Nothing is imported before it is asked for. Elsewhere: `service.Service` is the whole of
it; decisions are in plain modules (`store`, `verbs`, `lists`, …) and waiting in `http`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .service import Service

__all__ = ["Service"]


def __getattr__(name: str) -> Any:
    if name == "Service":
        from .service import Service

        return Service
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
