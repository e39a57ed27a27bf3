"""The command line in a real terminal, with real programs behind the real API server."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubeloop_testing import ControlPlane
from tests.cli.conftest import Terminal, command, on_terminal

pytestmark = pytest.mark.timeout(90)


@pytest.fixture
def environment(plane: ControlPlane, tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(plane.kubeconfig())
    removed = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    kept = {key: value for key, value in os.environ.items() if key not in removed}
    return {**kept, "KUBECONFIG": str(path), "TERM": "xterm"}


@contextmanager
def in_shell(environment: dict[str, str], pod: str) -> Iterator[Terminal]:
    """A shell in a terminal of 30 lines and 90 columns."""
    with on_terminal(environment, "exec", "-it", pod, "--", "sh", size=(30, 90)) as terminal:
        terminal.until(lambda text: "# " in text or "$ " in text)
        yield terminal


def test_a_text_is_written_with_vi(environment: dict[str, str], pod: str, container: Path) -> None:
    if not any(shutil.which(each) for each in ("vi", "vim.tiny", "busybox")):
        pytest.skip("this machine has neither vi nor vim.tiny nor busybox")
    with on_terminal(environment, "exec", "-it", pod, "--", "vi", f"{pod}.txt") as terminal:
        terminal.until(lambda text: f"{pod}.txt" in text)
        terminal.write(b"ihello from vi\r\xc3\xa9t\xc3\xa9\x1b")
        terminal.write(b":wq\r")
        terminal.rest()

    assert terminal.process.returncode == 0
    assert (container / f"{pod}.txt").read_text() == "hello from vi\nété\n"


def test_a_terminal_has_the_size_of_ours_also_when_it_changes(
    environment: dict[str, str], pod: str
) -> None:
    fcntl, termios = (pytest.importorskip(name) for name in ("fcntl", "termios"))
    with in_shell(environment, pod) as terminal:
        terminal.write(b"stty size; trap 'echo changed: $(stty size)' WINCH; echo re''ady\r")
        terminal.until(lambda text: "30 90" in text and "ready" in text)
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
        os.kill(terminal.process.pid, signal.SIGWINCH)
        while "changed: 50 120" not in terminal.read_more():
            terminal.write(b"\r")  # a shell runs a trap when it reads a line
        terminal.write(b"exit 7\r")
        terminal.rest()

    assert terminal.process.returncode == 7


def test_ctrl_c_reaches_the_program_and_not_the_command_line(
    environment: dict[str, str], pod: str
) -> None:
    with in_shell(environment, pod) as terminal:
        terminal.write(b"trap 'echo inter''rupted' INT; cat; echo af''ter\r")
        terminal.write(b"typed\r")
        terminal.until(lambda text: text.count("typed") == 2)
        terminal.interrupt()
        terminal.until(lambda text: "interrupted" in text)
        terminal.write(b"exit 9\r")
        terminal.rest()

    assert terminal.process.returncode == 9


def test_ctrl_d_ends_the_shell(environment: dict[str, str], pod: str) -> None:
    with in_shell(environment, pod) as terminal:
        terminal.write(b"\x04")
        terminal.rest()

    assert terminal.process.returncode == 0


def test_pipes_and_exit_codes_pass_through(environment: dict[str, str], pod: str) -> None:
    words = command("exec", "-i", pod, "--", "cat")
    with (
        subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=-1) as cat,
        subprocess.Popen(["wc", "-c"], stdin=cat.stdout, stdout=subprocess.PIPE) as count,
    ):
        assert cat.stdin is not None
        cat.stdin.write(b"hi\n")
        cat.stdin.close()
        output, _ = count.communicate()
    failed = subprocess.run(
        command("exec", pod, "--", "sh", "-c", "echo no >&2; kill -9 $$"),
        env=environment,
        capture_output=True,
        check=False,
    )

    assert output.strip() == b"3"
    assert (failed.returncode, failed.stderr.splitlines()[0]) == (137, b"no")
