"""Errors of blocking calls; all other errors are those of the async methods."""

from __future__ import annotations

from typing import final

from kubeloop.errors import KubeError

__all__ = ["BlockingInLoop", "LoopClosed", "OpenedBeforeFork"]


@final
class BlockingInLoop(KubeError, RuntimeError):
    """A blocking call in a thread with a running event loop, which it would block."""


@final
class LoopClosed(KubeError, RuntimeError):
    """The event loop is closed, because the program is exiting."""


@final
class OpenedBeforeFork(KubeError, RuntimeError):
    """A stream, context or informer of the parent process, used in a forked child."""
