"""A web page that shows how a process is doing: mirrors, caches, queues, controllers, live.

    manager.add(Inspector(manager))

Promises: it only reads, only for this machine unless told otherwise, and never shows what a
Secret holds. Nothing imports this room; a program that wants the page says so.
"""

from __future__ import annotations

from .inspector import EVERY, Inspector, InspectorStats
from .parts import Inspectable
from .whereabouts import RunningInspector, running_inspectors

__all__ = [
    "EVERY",
    "Inspectable",
    "Inspector",
    "InspectorStats",
    "RunningInspector",
    "running_inspectors",
]
