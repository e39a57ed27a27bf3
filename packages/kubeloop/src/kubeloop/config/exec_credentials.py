"""Credentials of an exec plugin: runs the program, and caches its credentials until they expire.

Guarantees: the plugin runs once at a time; it runs before the credentials expire, not after; it
runs once after a 401, however many requests got one; if a run fails, credentials that are still
valid are kept. No shell is used; the program does not outlive the call, also a cancelled one; its
output is limited.
See also: `exec_plugin` (input and output of plugins).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar, final

import msgspec

from kubeloop.kit import Clock, run_to_completion
from kubeloop.wire import get_logger

from .credentials import Identity, bearer
from .errors import CredentialError, PluginDenied, PluginError, PluginNotFound
from .exec_plugin import (
    ExecCluster,
    ExecOutput,
    check_exec_config,
    exec_info,
    find_program,
    install_advice,
    is_interactive,
    look_up,
    parse_output,
    plugin_environment,
)
from .kubeconfig import EXEC_TIME_LIMIT, ExecConfig, allows
from .redaction import MASK, Redacted
from .tls import not_after

__all__ = [
    "EXEC_TIME_LIMIT",
    "ExecCredentials",
    "ExecStats",
    "ProcessResult",
    "run_program",
]

log = get_logger(__name__)


# Refresh so long before the expiry, but not before nine tenths of the lifetime.
_LEEWAY = timedelta(seconds=10)
_HINTS = 10  # install hints per hour, so that they do not fill the log
_HINT_WINDOW = 3600.0
_SECRET_OPTION = re.compile("secret|token|password|key", re.IGNORECASE)
_MIN_SECRET = 4  # masking a shorter value would hide half of the message


class ExecStats(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of the plugin, with the labels of client-go's metrics."""

    calls: Mapping[tuple[int, str], int]  # by (exit code, call status)
    allowed: int
    denied: int
    expires: datetime | None  # of the credentials or of their certificate, the earlier one
    rotation_age: float | None  # seconds that the last replaced certificate was used


class _Current(msgspec.Struct, frozen=True, kw_only=True):
    identity: Identity
    since: datetime
    due: datetime | None
    expires: datetime | None


@final
class ExecCredentials:
    """The credentials that a plugin prints, until they expire or are rejected."""

    def __init__(
        self,
        plugin: ExecConfig,
        *,
        clock: Clock,
        cluster: ExecCluster | None = None,
        environ: Mapping[str, str] | None = None,
        time_limit: float | None = EXEC_TIME_LIMIT,
    ) -> None:
        check_exec_config(plugin)
        self._plugin = plugin
        self._clock = clock
        self._cluster = cluster
        self._environ = os.environ if environ is None else environ
        self._time_limit = time_limit
        self._turn = asyncio.Lock()  # held while the plugin runs
        self._current: _Current | None = None
        self._epoch = 0
        self._hints: list[float] = []  # when the program was not found, in this window
        self._calls: dict[tuple[int, str], int] = {}
        self._allowed = 0
        self._denied = 0
        self._rotation_age: float | None = None

    async def identity(self) -> Identity:
        """The last credentials; runs the plugin if they are about to expire.

        Raises: `PluginError` when it fails and there are no valid credentials.
        Safe to cancel: a running plugin is killed, the next call runs it again.
        """
        if (held := self._valid()) is not None:
            return held.identity
        async with self._turn:
            if (held := self._valid()) is not None:
                return held.identity  # of a concurrent call
            return await self._refresh_or_keep()

    async def refresh(self, identity: Identity) -> None:
        """Run the plugin again, unless there is a newer identity.

        Safe to cancel: the next `identity()` runs the plugin.
        """
        async with self._turn:
            if self._current is None or self._current.identity.epoch != identity.epoch:
                return
            rejected, self._current = self._current, None
            try:
                await self._run(rejected)
            except CredentialError as error:
                log.warning(
                    "%s: the server rejected the credentials, and the plugin failed: %s",
                    self,
                    error,
                )

    def stats(self) -> ExecStats:
        held = self._current
        ends = [held.expires, _certificate_end(held.identity)] if held is not None else []
        return ExecStats(
            calls=dict(self._calls),
            allowed=self._allowed,
            denied=self._denied,
            expires=min((end for end in ends if end is not None), default=None),
            rotation_age=self._rotation_age,
        )

    def __repr__(self) -> str:
        return f"ExecCredentials({self._plugin.command})"

    def _valid(self) -> _Current | None:
        held = self._current
        if held is None or (held.due is not None and self._clock.time() >= held.due):
            return None
        return held

    async def _refresh_or_keep(self) -> Identity:
        held = self._current
        try:
            return await self._run(held)
        except CredentialError as error:
            if held is None or held.expires is None or self._clock.time() > held.expires:
                raise
            log.warning(
                "%s: refresh failed, using the credentials until %s: %s", self, held.expires, error
            )
            return held.identity

    async def _run(self, before: _Current | None) -> Identity:
        output = await self._run_plugin()
        now = self._clock.time()
        self._epoch += 1
        identity = Identity(
            authorization=bearer(output.token) if output.token else "",
            certificate=output.certificate,
            epoch=self._epoch,
        )
        self._record_rotation(before, identity, now)
        self._current = _Current(
            identity=identity, since=now, due=_due(output.expires, now), expires=output.expires
        )
        return identity

    async def _run_plugin(self) -> ExecOutput:
        program = self._program()
        interactive = is_interactive(self._plugin, terminal=_has_terminal())
        info = exec_info(self._plugin, self._cluster, interactive=interactive)
        environ = plugin_environment(self._plugin, info, self._environ)
        result = await self._execute(program, environ, interactive=interactive)
        if result.code != 0:
            self._count(result.code, "plugin_execution_error")
            raise PluginError(
                f"exec plugin {self._plugin.command}: exit code {result.code}"
                f"{self._stderr_text(result.stderr)} (run it by hand)"
            )
        self._count(0, "no_error")
        if result.stderr:
            # Many plugins log there, sometimes tokens: only the error of a failed run quotes it.
            log.debug("%s: the plugin wrote %d characters to stderr", self, len(result.stderr))
        if result.overflowed:
            raise PluginError(
                f"exec plugin {self._plugin.command}: it printed more than 1 MiB"
                " (run it by hand and check its output)"
            )
        return parse_output(result.stdout, self._plugin)

    def _program(self) -> str:
        try:
            program = find_program(self._plugin, self._environ)
        except PluginNotFound as error:
            self._count(1, "plugin_not_found_error")
            advice = f" ({install_advice(self._plugin)})" if self._may_hint() else ""
            raise PluginNotFound(f"{error}{advice}") from None
        policy = self._plugin.policy
        if not allows(policy, self._plugin.command, program, find=self._finder()):
            self._denied += 1
            raise PluginDenied(
                f"exec plugin {self._plugin.command}: policy {policy.mode} does not allow {program}"
                " (if you trust it, add it to the allowlist)"
            )
        self._allowed += 1
        return program

    async def _execute(
        self, program: str, environ: Mapping[str, str], *, interactive: bool
    ) -> ProcessResult:
        command = self._plugin.command
        try:
            return await run_program(
                (program, *self._plugin.args),
                environ=environ,
                interactive=interactive,
                limit=self._time_limit,
                clock=self._clock,
            )
        except TimeoutError as error:
            self._count(1, "client_internal_error")
            raise PluginError(
                f"exec plugin {command}: no output within {self._time_limit:g} s, it was killed"
                " (run it by hand; it may wait for input or for the network)"
            ) from error
        except (OSError, ValueError, NotImplementedError) as error:
            self._count(1, "client_internal_error")
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise PluginError(
                f"exec plugin {command}: {program} cannot be started: {reason}"
                " (check that it is a program for this machine)"
            ) from error

    def _finder(self) -> Callable[[str], str | None]:
        path = self._environ.get("PATH", os.defpath)

        def find(entry: str) -> str | None:
            found = look_up(entry, path)
            return str(Path(found).absolute()) if found else None

        return find

    def _stderr_text(self, stderr: str) -> str:
        """The stderr of the plugin for an error, without secrets of the kubeconfig."""
        for secret in _secrets_of(self._plugin):
            if len(secret) >= _MIN_SECRET:
                stderr = stderr.replace(secret, MASK)
        return f": {stderr}" if stderr else ""

    def _may_hint(self) -> bool:
        now = self._clock.now()
        if self._hints and now - self._hints[0] >= _HINT_WINDOW:
            self._hints.clear()
        self._hints.append(now)
        return len(self._hints) <= _HINTS

    def _record_rotation(self, before: _Current | None, after: Identity, now: datetime) -> None:
        if before is None or before.identity.certificate in (None, after.certificate):
            return
        self._rotation_age = (now - before.since).total_seconds()

    def _count(self, code: int, status: str) -> None:
        self._calls[code, status] = self._calls.get((code, status), 0) + 1


def _secrets_of(plugin: ExecConfig) -> list[str]:
    """Values in the kubeconfig that are passed to the plugin and may be secrets."""
    options = (argument.partition("=") for argument in plugin.args)
    named = [value for name, _, value in options if _SECRET_OPTION.search(name)]
    return [*(variable.value for variable in plugin.env), *named]


def _due(expires: datetime | None, now: datetime) -> datetime | None:
    if expires is None:
        return None
    return expires - min(_LEEWAY, max((expires - now) / 10, timedelta()))


def _certificate_end(identity: Identity) -> datetime | None:
    return not_after(identity.certificate.certificate) if identity.certificate else None


def _has_terminal() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:
        return False  # stdin is closed


# --- the process


_STDOUT_LIMIT = 1024 * 1024


_STDERR_LIMIT = 4096


_CHUNK = 64 * 1024


_GRACE = 5.0  # seconds to wait for the end of a killed program


class ProcessResult(Redacted, frozen=True, kw_only=True):
    """Exit code and output of a program; `stderr` is its last part, empty if interactive."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"stdout", "stderr"})

    code: int
    stdout: bytes = b""
    stderr: str = ""
    overflowed: bool = False  # stdout was longer than the limit


async def run_program(
    argv: Sequence[str],
    *,
    environ: Mapping[str, str],
    interactive: bool,
    limit: float | None,
    clock: Clock,
) -> ProcessResult:
    """Run a program; an interactive one uses the terminal for stdin and stderr.

    Raises: `TimeoutError` beyond `limit` seconds, `OSError` when it cannot be started.
    Safe to cancel: the program is killed.
    """
    own_session = not interactive and sys.platform != "win32"
    started: list[asyncio.subprocess.Process] = []

    async def start() -> None:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if interactive else asyncio.subprocess.PIPE,
            env=dict(environ),
            # In a new session it cannot use the terminal, and can be killed with its children.
            start_new_session=own_session,
        )
        started.append(process)

    try:
        # If this were cancelled, asyncio would kill the program, but not its children.
        await run_to_completion(start())
        async with clock.timeout(limit):
            return await _read_result(started[0])
    except BaseException:
        for process in started:
            await run_to_completion(_end(process, own_session=own_session, clock=clock))
        raise


async def _read_result(process: asyncio.subprocess.Process) -> ProcessResult:
    (stdout, overflowed), stderr, code = await asyncio.gather(
        _head(process.stdout), _tail(process.stderr), process.wait()
    )
    return ProcessResult(code=code, stdout=stdout, stderr=stderr, overflowed=overflowed)


async def _end(process: asyncio.subprocess.Process, *, own_session: bool, clock: Clock) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if own_session:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    # Reading to the end closes the pipes; a child that survived may keep them open.
    with contextlib.suppress(TimeoutError):
        async with clock.timeout(_GRACE):
            await _read_result(process)


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
