"""Coroutines of this library that a test has made and not awaited.

Python only warns of them, and most test suites do not look at warnings: a test that forgets
the `await` of `kube_server.restart()` passes, and tests nothing.

Guarantees: only coroutines of this package that other code has made are noticed, and only while
a test runs; all others are warned of as ever.
See also: who fails the test (`plugin`).
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

__all__ = ["UnawaitedCoroutines"]

_PACKAGE = str(Path(__file__).parent.parent)
# What the interpreter calls when a coroutine goes that never ran. Not documented, and the only
# place that is told of the coroutine, whatever the filters for warnings say.
_HOOK = "_warn_unawaited_coroutine"


@final
class UnawaitedCoroutines:
    """Collects them within `watching()`."""

    def __init__(self) -> None:
        self._found: list[str] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Collect while the block lasts; what was found before is forgotten."""
        before = getattr(warnings, _HOOK, None)
        if before is None:  # another interpreter: its own warning has to do
            yield
            return
        depth = sys.get_coroutine_origin_tracking_depth()

        def notice(coroutine: CoroutineType[Any, Any, Any]) -> None:
            line = _line(coroutine)
            if line:
                self._found.append(line)
            else:
                before(coroutine)

        self._found.clear()
        setattr(warnings, _HOOK, notice)
        # So that each coroutine of this thread knows the line that made it.
        sys.set_coroutine_origin_tracking_depth(max(depth, 1))
        try:
            yield
        finally:
            sys.set_coroutine_origin_tracking_depth(depth)
            setattr(warnings, _HOOK, before)

    def take(self, failure: BaseException | None = None) -> list[str]:
        """What was found since the last time, one line each.

        The frames of a `failure` keep what they hold, which would go in the middle of another
        test: those coroutines are closed here.
        """
        for frame, _ in traceback.walk_tb(failure.__traceback__ if failure else None):
            for value in list(frame.f_locals.values()):
                if isinstance(value, CoroutineType) and _is_new(value) and _line(value):
                    self._found.append(_line(value))
                    value.close()
        found, self._found = self._found, []
        return found


def _is_new(coroutine: CoroutineType[Any, Any, Any]) -> bool:
    return inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED


def _line(coroutine: CoroutineType[Any, Any, Any]) -> str:
    """What to say of a coroutine; nothing if it is none of ours, or we have made it."""
    origin = coroutine.cr_origin
    if not origin or not coroutine.cr_code.co_filename.startswith(_PACKAGE):
        return ""
    file, number, _ = origin[0]
    if file.startswith(_PACKAGE):
        return ""
    name = coroutine.__qualname__
    return f"{file}:{number}: {name}() was never awaited (write `await` in front of the call)"
