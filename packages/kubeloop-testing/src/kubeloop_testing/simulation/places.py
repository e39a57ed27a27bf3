"""Where in the user's code something happens: the line that a report names.

Code of the standard library, of kubeloop and of installed packages is left out, unless there is
no other.
Guarantees: never raises.
See also: `sealing` (a call that is refused), `world` (an error of a process).
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import kubeloop

__all__ = ["describe_calls", "place_of_call", "place_of_error", "place_of_stack"]

# A project may be in a folder of the same name: compare whole paths.
_RUNTIME: Final = (
    *(str(Path(sysconfig.get_path(name)).resolve()) + os.sep for name in ("stdlib", "platstdlib")),
    str(Path(__file__).parents[1]) + os.sep,
    *(path + os.sep for path in kubeloop.__path__),
    "<",
)
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_DUMPED: Final = re.compile(r'File "(.+)", line (\d+) in ')

_Line = tuple[str, int]


def place_of_call() -> str:
    """The line of the user's code that is executed now; empty if there is none."""
    return _place(_lines_of_call())


def place_of_error(error: BaseException) -> str:
    """The line of the user's code that raised an error, or called what did."""
    summary = traceback.extract_tb(error.__traceback__)
    return _place((each.filename, each.lineno or 0) for each in reversed(summary))


def place_of_stack(dumped: str) -> str:
    """The line of the user's code in a stack of `faulthandler`."""
    return _place(_lines_of_dump(dumped))


def describe_calls(dumped: str, most: int = 12) -> str:
    """A stack of `faulthandler`, the innermost call first, one line each."""
    return "".join(f"\n  {file}:{line}" for file, line in list(_lines_of_dump(dumped))[:most])


def _lines_of_call() -> Iterator[_Line]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]  # None ends it


def _lines_of_dump(dumped: str) -> Iterator[_Line]:
    for file, line in _DUMPED.findall(dumped):
        yield file, int(line)


def _place(innermost_first: Iterable[_Line]) -> str:
    lines = [each for each in innermost_first if not each[0].startswith(_RUNTIME)]
    own = [each for each in lines if not any(part in each[0] for part in _INSTALLED)]
    for file, line in own or lines:
        text = linecache.getline(file, line).strip()
        return f"{file}:{line}, {text}" if text else f"{file}:{line}"
    return ""
