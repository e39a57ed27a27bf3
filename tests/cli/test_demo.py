"""The demo as a user starts it: a process, with and without a terminal."""

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

from kubeloop.cli.demo import controller

pytestmark = pytest.mark.timeout(120)  # interpreters are started, and machines are busy

DEMO = [sys.executable, "-m", "kubeloop", "demo"]
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def played(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *options], capture_output=True, text=True, check=False)


@contextmanager
def at_a_terminal(columns: int, lines: int, *options: str) -> Iterator[Terminal]:
    """The demo at a terminal of that size; killed at the end if it is still there."""
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
    """What a person at a terminal sees and does."""

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
        except OSError:  # how Linux says that nobody is there any more
            data = b""
        if not data:
            raise EOFError(self.seen)
        self.seen += data.decode(errors="replace")


def test_into_a_pipe_it_tells_everything_and_ends_by_itself() -> None:
    ended = played("--seconds", "0")

    assert (ended.returncode, ended.stderr) == (0, "")
    for moment in (
        "the inspector, a page that shows this process live, at http://127.0.0.1:",
        "the class Website became a CustomResourceDefinition",
        "holds the lease and works",
        "6 pods run",
        "never were fewer than 3 available",
        "somebody deletes the Deployment of the blog",
        "4 tries failed, the next one did it",
        "every connection is cut",
        "healed: 3 watches went on",
        "healed: 410 Gone",
        "the leader, is killed",
        "cache equals server: 23 Websites, 23 Deployments, 27 Pods",
    ):
        assert moment in ended.stdout
    assert "\x1b" not in ended.stdout


def test_at_a_terminal_it_draws_until_ctrl_c_and_leaves_nothing_behind() -> None:
    with at_a_terminal(100, 30) as terminal:
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


def test_in_a_terminal_too_small_it_tells_instead() -> None:
    with at_a_terminal(79, 24, "--seconds", "300") as terminal:
        terminal.read_until("every Kubernetes client can talk to it")
        terminal.press_ctrl_c()
        code = terminal.end()

    assert "79 columns and 24 lines, the live picture needs 80 and 24" in terminal.seen
    assert "\x1b[?1049h" not in terminal.seen
    assert code == 130  # a transcript that was broken off
    assert "Traceback" not in terminal.seen


@pytest.mark.parametrize("option", ["--port", "--inspector-port"])
def test_a_port_in_use_is_one_line(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = played(option, str(taken.getsockname()[1]))

    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: ")
    assert "in use" in line


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [*DEMO, "--seconds", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()

    assert process.returncode in {141, -signal.SIGPIPE}
    assert said == b""


def test_the_code_of_its_controller_can_be_read_and_runs() -> None:
    ended = played("--show-code")

    assert ended.returncode == 0
    names: dict[str, object] = {"__name__": "shown"}
    exec(compile(ended.stdout, "shown", "exec"), names)
    assert set(controller.__all__) <= names.keys()
    assert len(ended.stdout.splitlines()) < 80
