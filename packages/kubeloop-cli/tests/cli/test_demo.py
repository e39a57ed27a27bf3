"""The demo as a process, with and without a terminal."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from kubeloop_cli.demo import controller

pytestmark = pytest.mark.timeout(120)  # interpreters are started, and machines are busy

DEMO = [sys.executable, "-m", "kubeloop_cli", "demo"]
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def run_demo(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *options], capture_output=True, text=True, check=False)


@contextmanager
def in_terminal(columns: int, lines: int, *options: str) -> Iterator[Terminal]:
    """The demo in a terminal of that size; killed at the end if it still runs."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        [*DEMO, *options],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads here
        env={**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)


class Terminal:
    """The screen and the keyboard of a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self._process = process
        self._descriptor = descriptor
        self.seen = ""

    def read_until(self, text: str) -> None:
        while text not in self.seen:
            self._read()

    def press_ctrl_c(self) -> None:
        os.write(self._descriptor, b"\x03")

    def end(self) -> int:
        """Read to the end; the exit code."""
        try:
            while True:
                self._read()
        except EOFError:
            return self._process.wait()

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # Linux, after the other end was closed
            data = b""
        if not data:
            raise EOFError(self.seen)
        self.seen += data.decode(errors="replace")


def test_in_a_pipe_it_prints_a_transcript_and_ends() -> None:
    ended = run_demo("--seconds", "0")

    assert (ended.returncode, ended.stderr) == (0, "")
    for text in (
        "started the inspector, a live web page about this process, at http://127.0.0.1:",
        "created a CRD from the class Website",
        "holds the lease",
        "6 pods run",
        "at least 3 pods were available",
        "deleted the Deployment of blog",
        "4 reconciles failed, the next one succeeded",
        "closed every connection",
        "recovered: 3 watches resumed",
        "recovered: 410 Gone",
        "the leader, without releasing its lease",
        "the cache equals the server: 23 Websites, 23 Deployments, 27 Pods",
    ):
        assert text in ended.stdout
    assert "\x1b" not in ended.stdout


def test_in_a_terminal_it_draws_until_ctrl_c_and_leaves_nothing_behind() -> None:
    with in_terminal(100, 30) as terminal:
        terminal.read_until("\x1b[?1049h")  # another screen
        terminal.read_until("Websites")
        terminal.press_ctrl_c()
        code = terminal.end()

    assert code == 0
    assert "Traceback" not in terminal.seen
    assert terminal.seen.rindex("\x1b[?1049l") > terminal.seen.rindex("\x1b[?1049h")
    assert terminal.seen.rindex("\x1b[?25h") > terminal.seen.rindex("\x1b[?25l")  # the cursor
    address = ADDRESS.search(terminal.seen)
    assert address is not None
    with pytest.raises(URLError):
        urlopen(f"{address[0]}/readyz")


def test_in_a_small_terminal_it_prints_a_transcript() -> None:
    with in_terminal(79, 24, "--seconds", "300") as terminal:
        terminal.read_until("any other Kubernetes client can use it")
        terminal.press_ctrl_c()
        code = terminal.end()

    assert "79 columns and 24 lines, the dashboard needs 80 and 24" in terminal.seen
    assert "\x1b[?1049h" not in terminal.seen
    assert code == 130  # an interrupted transcript
    assert "Traceback" not in terminal.seen


@pytest.mark.parametrize("option", ["--port", "--inspector-port"])
def test_a_port_in_use_is_one_line(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run_demo(option, str(taken.getsockname()[1]))

    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: ")
    assert "in use" in line


def test_a_closed_pipe_is_not_an_error() -> None:
    with subprocess.Popen(
        [*DEMO, "--seconds", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()

    assert process.returncode in {141, -signal.SIGPIPE}
    assert errors == b""


def test_the_printed_code_of_the_controller_runs() -> None:
    ended = run_demo("--show-code")

    assert ended.returncode == 0
    names: dict[str, object] = {"__name__": "shown"}
    exec(compile(ended.stdout, "shown", "exec"), names)
    assert set(controller.__all__) <= names.keys()
    assert len(ended.stdout.splitlines()) < 80
