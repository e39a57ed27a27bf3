"""A web page that shows the informers, caches, queues and controllers of a process, live.

    manager.add(Inspector(manager))

Guarantees: it only reads; it listens on loopback unless configured otherwise, and never shows
the data of a Secret. Nothing else imports this package: a program starts the page explicitly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

if TYPE_CHECKING:
    from .inspector import Inspector
    from .recording import Replay, record_url
    from .running import RunningInspector, running_inspectors
else:
    # So that the package can be imported without the extra `operator`.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".inspector": "Inspector",
            ".recording": "Replay record_url",
            ".running": "RunningInspector running_inspectors",
        },
    )

__all__ = ["Inspector", "Replay", "RunningInspector", "record_url", "running_inspectors"]
