"""Runs one program and takes down what it says, within bounds.

Promises: no shell; the program does not outlive the call, whether that ends in
time, late or cancelled; what it prints is kept up to a limit and no further.
Elsewhere: what to run (`exec_plugin`) and when (`exec_credentials`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar

from kubeloop.kit import Clock, run_to_completion

from .redaction import Veiled

__all__ = ["Finished", "run_program"]

_STDOUT_LIMIT = 1024 * 1024
_STDERR_LIMIT = 4096
_CHUNK = 64 * 1024
_GRACE = 5.0  # seconds that a killed program has to be gone


class Finished(Veiled, frozen=True, kw_only=True):
    """How a program ended; `stderr` is the end of what it said there, empty when interactive."""

    veiled: ClassVar[frozenset[str]] = frozenset({"stdout", "stderr"})

    code: int
    stdout: bytes = b""
    stderr: str = ""
    overflowed: bool = False  # there was more on stdout than anybody needs


async def run_program(
    argv: Sequence[str],
    *,
    environ: Mapping[str, str],
    interactive: bool,
    limit: float | None,
    clock: Clock,
) -> Finished:
    """Run to the end; an interactive program has our terminal for stdin and stderr.

    Raises: `TimeoutError` beyond `limit` seconds, `OSError` when it cannot be started.
    Safe to cancel: the program is killed.
    """
    alone = not interactive and sys.platform != "win32"
    started: list[asyncio.subprocess.Process] = []

    async def start() -> None:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if interactive else asyncio.subprocess.PIPE,
            env=dict(environ),
            # A session of its own: it cannot wait for a terminal, and ends with its children.
            start_new_session=alone,
        )
        started.append(process)

    try:
        # Cancelled halfway, the loop would end the program itself, and not its children.
        await run_to_completion(start())
        async with clock.timeout(limit):
            return await _finished(started[0])
    except BaseException:
        for process in started:
            await run_to_completion(_end(process, alone=alone, clock=clock))
        raise


async def _finished(process: asyncio.subprocess.Process) -> Finished:
    (stdout, overflowed), stderr, code = await asyncio.gather(
        _head(process.stdout), _tail(process.stderr), process.wait()
    )
    return Finished(code=code, stdout=stdout, stderr=stderr, overflowed=overflowed)


async def _end(process: asyncio.subprocess.Process, *, alone: bool, clock: Clock) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if alone:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    # Reading on to the end closes the pipes; a child that got away may hold them open.
    with contextlib.suppress(TimeoutError):
        async with clock.timeout(_GRACE):
            await _finished(process)


async def _head(stream: asyncio.StreamReader | None) -> tuple[bytes, bool]:
    """The first `_STDOUT_LIMIT` bytes, and whether there were more."""
    kept = bytearray()
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        kept += chunk[: _STDOUT_LIMIT + 1 - len(kept)]
    return bytes(kept[:_STDOUT_LIMIT]), len(kept) > _STDOUT_LIMIT


async def _tail(stream: asyncio.StreamReader | None) -> str:
    """The last `_STDERR_LIMIT` bytes, as text."""
    kept = b""
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        kept = (kept + chunk)[-_STDERR_LIMIT:]
    return kept.decode(errors="replace").strip()
