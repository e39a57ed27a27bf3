"""What a queue says no with.

Elsewhere: the whole tree of errors (`kubeloop.machinery.errors`).
"""

from __future__ import annotations

from kubeloop.machinery import KubeError

__all__ = ["NotHandedOut", "QueueEmpty", "QueueShutDown"]


class QueueEmpty(KubeError):
    """There is no key to hand out now; there may be one later."""


class QueueShutDown(KubeError):
    """The queue is shut down and empty: there will never be another key."""


class NotHandedOut(KubeError):
    """`done` was called for a key that nobody works on; the queue is as it was before."""
