"""The tool that stops and continues processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from stutter import descendants, main

pytestmark = [
    pytest.mark.timeout(60),  # each starts interpreters
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"),
]

# Starts a child that ends with its input, and waits for it.
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
CHILD = "print('started', flush=True); input()"
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
def test_a_stopped_command_still_ends_with_its_exit_code(
    code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-c", f"{PARENT.format(child=UNTIL_CONTINUED)}; sys.exit({code})"]

    assert main(command, seed=1) == code
    assert capfd.readouterr().err.startswith("stutter: ")


def test_a_process_that_has_ended_has_no_descendants() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert descendants(ended.pid) == []
