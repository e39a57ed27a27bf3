"""The tool that makes a machine seem busy, on processes of our own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from stutter import descendants, main

pytestmark = [
    pytest.mark.timeout(60),  # each starts interpreters
    pytest.mark.skipif(sys.platform != "linux", reason="/proc knows the children"),
]

# Starts a child that ends when its input does, and waits for it.
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
CHILD = "print('here', flush=True); input()"
UNTIL_CONTINUED = """
import signal, sys
signal.signal(signal.SIGCONT, lambda *_: sys.exit(0))
while True:
    signal.pause()
"""


def test_the_children_of_children_are_found() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT.format(child=CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()

        assert len(descendants(process.pid)) == 1
        assert set(descendants(os.getpid())) >= {process.pid, *descendants(process.pid)}

        process.stdin.write(b"\n")


@pytest.mark.parametrize("code", [0, 7])
def test_a_command_is_stopped_and_still_comes_to_its_own_end(
    code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-c", f"{PARENT.format(child=UNTIL_CONTINUED)}; sys.exit({code})"]

    assert main(command, seed=1) == code
    assert capfd.readouterr().err.startswith("stutter: ")


def test_processes_that_are_gone_are_no_trouble() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert descendants(ended.pid) == []
