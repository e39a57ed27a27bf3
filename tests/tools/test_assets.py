"""`make assets`: that it goes on where it was, and that nothing runs on when it is interrupted."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ["etcd", "kubectl", "kube-apiserver", "kube-controller-manager", "stand-in-kubelet"]

pytestmark = [
    pytest.mark.timeout(60),  # each starts an interpreter
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for Go is a shell script"),
]


class Assets:
    """The tool with a cache of its own, and a script for Go."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "cache" / "kubeloop" / "assets"
        self._started: list[subprocess.Popen[str]] = []
        self._bin = folder / "bin"
        self._bin.mkdir()
        self._env = {
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def go(self, script: str) -> None:
        (self._bin / "go").write_text(f"#!/bin/sh\n{script}\n")
        (self._bin / "go").chmod(0o755)

    def start(self, *how: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *(how or ["tools/assets.py"])],
            cwd=ROOT,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Whoever started the tests may have Ctrl-C ignored, which children inherit.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread runs
        )
        self._started.append(process)
        return process

    def built(self) -> list[str]:
        return sorted(path.name for path in self.programs.iterdir() if os.access(path, os.X_OK))

    def close(self) -> None:
        """End what a failed test has left: later tests would be blamed for its open pipes."""
        for process in self._started:
            process.kill()
            with process:  # closes the pipes, also those that nobody has read to the end
                pass


@pytest.fixture
def assets(tmp_path: Path) -> Iterator[Assets]:
    with contextlib.closing(Assets(tmp_path)) as assets:
        yield assets


# `go build ... -o TARGET PACKAGE`: the last argument but one is where it goes.
BUILD = 'while [ "$#" -gt 2 ]; do shift; done; touch "$1"; chmod 755 "$1"'


def test_everything_is_built_once(assets: Assets) -> None:
    assets.go(BUILD)
    out, _ = assets.start().communicate()
    assets.go("exit 9")

    again = assets.start()

    assert out.strip() == str(assets.programs)
    assert assets.built() == sorted(NAMES)
    assert again.communicate()[0] == out
    assert again.returncode == 0


def test_after_a_failure_it_goes_on_where_it_was(assets: Assets) -> None:
    assets.go(f'case "$*" in *cmd/kube-apiserver) exit 9;; esac; {BUILD}')
    failed = assets.start()
    _, said = failed.communicate()
    assets.go(BUILD)

    _, then_said = assets.start().communicate()

    assert (failed.returncode, "building kube-apiserver ended with 9" in said) == (9, True)
    assert then_said.splitlines()[0] == "[1/2] building kube-apiserver"
    assert assets.built() == sorted(NAMES)


def test_without_go_it_says_what_to_do(assets: Assets, tmp_path: Path) -> None:
    if Path("/usr/bin/go").exists():
        pytest.skip("Go is where every program is")

    process = assets.start()

    _, said = process.communicate()
    assert process.returncode == 1
    assert "Install Go" in said


@pytest.mark.skipif(sys.platform != "linux", reason="processes are waited for by pidfd")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_no_process_and_nothing_half_done(
    assets: Assets, tmp_path: Path, how: signal.Signals
) -> None:
    pipe = tmp_path / "pids"
    os.mkfifo(pipe)
    assets.go(f'sleep 600 >/dev/null 2>&1 & echo "$$ $!" > "{pipe}"; wait')
    process = assets.start()
    ends = [os.pidfd_open(int(pid)) for pid in pipe.read_text().split()]

    process.send_signal(how)

    process.communicate()
    try:
        assert len(ends) == 2
        for end in ends:
            assert select.select([end], [], [], 20)[0], "a process is still there"
    finally:
        for end in ends:
            os.close(end)
    assert process.returncode == 128 + how
    assert [path.name for path in assets.programs.iterdir()] == ["versions"]


# Runs the tool, and sends it the signal of its argument while it starts Go.
STRUCK_EARLY = """
import runpy, signal, subprocess, sys

class Struck(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        signal.raise_signal(NUMBER)

NUMBER = int(sys.argv.pop())
subprocess.Popen = Struck
runpy.run_path("tools/assets.py", run_name="__main__")
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_starts_a_program_it_leaves_none_either(
    assets: Assets, how: signal.Signals
) -> None:
    assets.go("sleep 600")  # whoever lives on has our pipes, so that reading them would not end

    process = assets.start("-c", STRUCK_EARLY, str(int(how)))

    process.communicate(timeout=20)
    assert process.returncode == 128 + how
    assert [path.name for path in assets.programs.iterdir()] == ["versions"]
