"""A server with objects, and the command line: in this process or in its own."""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kubeloop_cli.program import kubeloop as program
from kubeloop_testing import APIServer

SHOP = Path(__file__).parents[4] / "tests" / "examples" / "shop.yaml"

Call = Callable[..., Result]


@pytest.fixture(scope="session")
def kube_manifests() -> Sequence[Path]:
    return [SHOP]


@pytest.fixture
def kubeloop(
    kubeconfig_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Call]:
    """Calls the command line in this process; returns its outputs and exit code."""
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_file))
    monkeypatch.chdir(tmp_path)
    path = sys.path[:]

    def call(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(program, arguments, input=stdin, prog_name="kubeloop")

    yield call
    sys.path[:] = path


@pytest.fixture
def environment(kube_server: APIServer, kubeconfig_file: Path) -> dict[str, str]:
    """The environment of a process that uses the server."""
    quiet = {"KUBECONFIG": str(kubeconfig_file), "TERM": "xterm-256color", "PYTHONUNBUFFERED": "1"}
    removed = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    return {key: value for key, value in os.environ.items() if key not in removed} | quiet


_BEGINNING = """
import signal, sys
# The process that runs the tests may ignore Ctrl-C; the process of a user does not.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.stderr.isatty():
    import fcntl, termios
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)  # so that it receives Ctrl-C
from kubeloop_cli import main
main()
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-c", _BEGINNING, *arguments]


@contextmanager
def started(environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process with pipes; killed at the end of the block if it still runs."""
    with subprocess.Popen(
        command(*arguments),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def finished(environment: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    """The exit code and both outputs of a command that ends by itself."""
    done = subprocess.run(
        command(*arguments), env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; the time limit of the test applies."""
    while not condition():
        time.sleep(0.001)


class Terminal:
    """The screen and the keyboard of a command in a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self._drawn = b""

    @property
    def raw(self) -> str:
        """The output so far, with control sequences."""
        return self._drawn.decode(errors="replace")

    def until(self, condition: Callable[[str], object]) -> str:
        """Wait for a condition on the output without control sequences; returns that output."""
        while not condition(plain(self.raw)):
            self._read()
        return plain(self.raw)

    def read_more(self) -> str:
        """The output so far without control sequences, after 50 ms if nothing arrives."""
        self._read()
        return plain(self.raw)

    def rest(self) -> str:
        """The whole output, after the command has ended."""
        while self.process.poll() is None or self._read():
            self._read()
        return plain(self.raw)

    def forget(self) -> None:
        """Drop the output so far."""
        self._drawn = b""

    @property
    def fd(self) -> int:
        """The terminal, for its settings."""
        return self._master

    def write(self, keys: bytes) -> None:
        """Type."""
        os.write(self._master, keys)

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.write(b"\x03")

    def _read(self) -> bool:
        """Read what is available; False if nothing arrived in 50 ms."""
        if not select.select([self._master], [], [], 0.05)[0]:
            return False
        try:
            read = os.read(self._master, 65536)
        except OSError:  # Linux, after the other end was closed
            return False
        self._drawn += read
        return bool(read)


def plain(text: str) -> str:
    """The text without control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@contextmanager
def on_terminal(
    environment: dict[str, str],
    *arguments: str,
    size: tuple[int, int] = (24, 100),
    stdout: int | None = None,
) -> Iterator[Terminal]:
    """The command in a terminal of that size (lines, columns), or with another `stdout`."""
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    with subprocess.Popen(
        command(*arguments),
        env=environment,
        stdin=slave,
        stdout=slave if stdout is None else stdout,
        stderr=slave,
        start_new_session=True,
    ) as process:
        os.close(slave)
        try:
            yield Terminal(process, master)
        finally:
            process.kill()
            os.close(master)
