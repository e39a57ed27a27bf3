"""What goes wrong between threads and a loop; all else is raised as the loop's side raised it."""

from __future__ import annotations

from typing import final

from kubeloop.errors import KubeError

__all__ = ["BlockingInLoop", "LoopClosed", "OpenedBeforeFork"]


@final
class BlockingInLoop(KubeError, RuntimeError):
    """A blocking call was made where an event loop runs, which it would have stopped."""


@final
class LoopClosed(KubeError, RuntimeError):
    """There is no loop any more: the program is ending."""


@final
class OpenedBeforeFork(KubeError, RuntimeError):
    """A stream or a block belongs to the process that this one was forked from."""
