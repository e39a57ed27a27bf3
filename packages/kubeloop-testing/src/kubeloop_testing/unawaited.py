"""Finds coroutines of this library that a test created and did not await.

Python only warns about them, and most test suites ignore warnings: a test that forgets the
`await` of `kube_server.restart()` passes, and tests nothing.

Guarantees: finds only coroutines of kubeloop and of this package that other code created while a
test ran; all others cause Python's usual warning.
See also: `plugin`, which fails the test.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CoroutineType
from typing import Any, final

import kubeloop

__all__ = ["UnawaitedCoroutines"]

_PACKAGES = (*kubeloop.__path__, str(Path(__file__).parent))
# The interpreter calls this when a coroutine is collected that never ran. It is not documented,
# and the only hook that receives the coroutine itself, regardless of the warning filters.
_HOOK = "_warn_unawaited_coroutine"


@final
class UnawaitedCoroutines:
    """Collects unawaited coroutines within `watching()`."""

    def __init__(self) -> None:
        self._found: list[str] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Collect while the block lasts; discard what was found before."""
        before = getattr(warnings, _HOOK, None)
        if before is None:  # another interpreter: only its own warning is left
            yield
            return
        depth = sys.get_coroutine_origin_tracking_depth()

        def collect(coroutine: CoroutineType[Any, Any, Any]) -> None:
            message = _message(coroutine)
            if message:
                self._found.append(message)
            else:
                before(coroutine)

        self._found.clear()
        setattr(warnings, _HOOK, collect)
        # Python then records for each coroutine of this thread the line that created it.
        sys.set_coroutine_origin_tracking_depth(max(depth, 1))
        try:
            yield
        finally:
            sys.set_coroutine_origin_tracking_depth(depth)
            setattr(warnings, _HOOK, before)

    def take(self, failure: BaseException | None = None) -> list[str]:
        """Return and clear the messages found so far.

        The frames of a `failure` keep their local variables alive, and a coroutine among them
        would be collected during a later test: those coroutines are closed here.
        """
        for frame, _ in traceback.walk_tb(failure.__traceback__ if failure else None):
            for value in list(frame.f_locals.values()):
                if isinstance(value, CoroutineType) and _is_new(value) and _message(value):
                    self._found.append(_message(value))
                    value.close()
        found, self._found = self._found, []
        return found


def _is_new(coroutine: CoroutineType[Any, Any, Any]) -> bool:
    return inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED


def _message(coroutine: CoroutineType[Any, Any, Any]) -> str:
    """The message for a coroutine; empty if it is not of this package, or created by it."""
    origin = coroutine.cr_origin
    if not origin or not coroutine.cr_code.co_filename.startswith(_PACKAGES):
        return ""
    file, number, _ = origin[0]
    if file.startswith(_PACKAGES):
        return ""
    name = coroutine.__qualname__
    return f"{file}:{number}: {name}() was never awaited (write `await` in front of the call)"
