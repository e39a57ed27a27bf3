"""Clocks and random numbers of the whole interpreter, from the simulation.

For worker processes only: `install` replaces functions of `time`, `datetime`, `random`, `os`,
`uuid` and `socket`, and is never undone.

Guarantees: after `begin`, the time is that of the simulated loop, and every random number comes
from the seed, in modules that were imported before as well. `time.sleep` moves the virtual
time. A new thread is refused.
See also: what is not covered (sets of objects without a hash of their own, C extensions with
clocks of their own): docs/reference/simulation.md.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import gc
import os
import random
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .sealing import THREAD, refuse

if TYPE_CHECKING:
    from .loop import SimulatedLoop

__all__ = ["START", "begin", "cpu_seconds", "install", "set_skew"]

START = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
"""The date and time at which every run begins."""

_BOOT = 1_000_000.0  # of the monotonic clocks

_real_time = time.time
_real_localtime = time.localtime
_real_gmtime = time.gmtime
_real_strftime = time.strftime
cpu_seconds = time.process_time
"""Seconds of CPU that this process has really used."""
_loop: SimulatedLoop | None = None
_source = random.Random(0)  # of os.urandom
_skews: dict[str, float] = {}  # seconds that the wall clock of a process is ahead


def begin(loop: SimulatedLoop, seed: int) -> None:
    """Start a run: the clocks at `START`, and all random numbers from `seed`."""
    global _loop, _source  # noqa: PLW0603 - one run at a time in a process
    _loop = loop
    _source = random.Random(f"system {seed}")
    random.seed(f"global {seed}")
    _skews.clear()


def set_skew(process: str, seconds: float) -> None:
    """Let the wall clock of a process be ahead by `seconds`."""
    _skews[process] = seconds


def install() -> None:
    """Replace the functions, in all modules that have imported them by name."""
    replaced: dict[int, tuple[object, object]] = {}
    for module, name, new in _replacements():
        old = getattr(module, name, None)
        if old is not None:
            replaced[id(old)] = (old, new)
            setattr(module, name, new)
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", __name__) == __name__:
            continue
        names = getattr(module, "__dict__", {})
        for name, value in list(names.items()):
            found = replaced.get(id(value))
            if found is not None and found[0] is value:
                names[name] = found[1]
    _replace_in_type(dt.datetime, "now", classmethod(_datetime_now))
    _replace_in_type(dt.datetime, "utcnow", classmethod(_datetime_utcnow))
    _replace_in_type(dt.datetime, "today", classmethod(_datetime_today))
    _replace_in_type(dt.date, "today", classmethod(_date_today))
    vars_of: Any = threading.Thread
    vars_of.start = _refuse_thread
    _seed_new_generators()
    _use_virtual_clock_of_kubeloop()


def _replacements() -> list[tuple[Any, str, Callable[..., Any] | None]]:
    return [
        (time, "time", _time),
        (time, "time_ns", lambda: int(_time() * 1e9)),
        (time, "monotonic", _monotonic),
        (time, "monotonic_ns", lambda: int(_monotonic() * 1e9)),
        (time, "perf_counter", _monotonic),
        (time, "perf_counter_ns", lambda: int(_monotonic() * 1e9)),
        (time, "clock_gettime", _clock_gettime),
        (time, "clock_gettime_ns", lambda which: int(_clock_gettime(which) * 1e9)),
        (time, "process_time", _now),
        (time, "process_time_ns", lambda: int(_now() * 1e9)),
        (time, "thread_time", _now),
        (time, "thread_time_ns", lambda: int(_now() * 1e9)),
        (time, "sleep", _sleep),
        (time, "localtime", lambda at=None: _real_localtime(_time() if at is None else at)),
        (time, "gmtime", lambda at=None: _real_gmtime(_time() if at is None else at)),
        (time, "strftime", _strftime),
        (os, "urandom", _urandom),
        (os, "getrandom", lambda size, _flags=0: _urandom(size)),
        (os, "getpid", _getpid),
        (random, "_urandom", _urandom),
        (uuid, "getnode", lambda: 0x020000000001),
        (uuid, "_generate_time_safe", None),
        (uuid, "_UuidCreate", None),
        (socket, "gethostname", _hostname),
    ]


# --- clocks


def _now() -> float:
    return _loop.time() if _loop is not None else 0.0


def _time() -> float:
    return START.timestamp() + _now() + (_skew() if _skews else 0.0)


def _skew() -> float:
    from .loop import current_process

    process = current_process()
    return _skews.get(process.name, 0.0) if process is not None else 0.0


def _monotonic() -> float:
    return _BOOT + _now()


def _clock_gettime(which: int) -> float:
    if which == time.CLOCK_REALTIME:
        return _time()
    return _now() if which in _CPU_CLOCKS else _monotonic()


_CPU_CLOCKS = {
    getattr(time, name)
    for name in ("CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID")
    if hasattr(time, name)
}


def _sleep(seconds: float) -> None:
    if _loop is not None:
        _loop.move(seconds)


def _strftime(text: str, at: Any = None) -> str:
    return _real_strftime(text, _real_localtime(_time()) if at is None else at)


def _datetime_now(cls: type[dt.datetime], tz: dt.tzinfo | None = None) -> dt.datetime:
    return cls.fromtimestamp(_time(), tz)


def _datetime_utcnow(cls: type[dt.datetime]) -> dt.datetime:
    return cls.fromtimestamp(_time(), dt.UTC).replace(tzinfo=None)


def _datetime_today(cls: type[dt.datetime]) -> dt.datetime:
    return cls.fromtimestamp(_time())


def _date_today(cls: type[dt.date]) -> dt.date:
    return cls.fromtimestamp(_time())


def _replace_in_type(which: type, name: str, new: object) -> None:
    # The methods of a built-in type cannot be assigned; its dictionary can be changed.
    names: Any = gc.get_referents(which.__dict__)[0]
    names[name] = new
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(which))


def _use_virtual_clock_of_kubeloop() -> None:
    from kubeloop.kit import clock

    vars(clock)["_steady"] = _monotonic  # bound to the system's function when it was imported


# --- identity


def _urandom(size: int) -> bytes:
    return _source.randbytes(size)


def _seed_new_generators() -> None:
    """Let `random.Random()` start from the seed of the run: it asks the system in C."""
    real = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        real(self, _urandom(32) if a is None else a, version)

    names: Any = random.Random
    names.seed = seed
    random.seed = vars(random)["_inst"].seed


def _hostname() -> str:
    from .loop import current_process

    process = current_process()
    return process.name if process is not None else "simulation"


def _getpid() -> int:
    from .loop import current_process

    process = current_process()
    return process.number + 100 if process is not None else 1


def _refuse_thread(thread: threading.Thread) -> NoReturn:
    refuse(f"start {thread.name}", THREAD)
