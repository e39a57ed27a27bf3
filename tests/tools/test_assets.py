"""`make assets` continues after a failure, and leaves no process after an interruption."""

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
OWN = ["bench-clientgo", "stand-in-kubelet"]
NAMES = ["etcd", "kubectl", "kube-apiserver", "kube-controller-manager", *OWN]

pytestmark = [
    pytest.mark.timeout(60),  # each starts an interpreter
    pytest.mark.skipif(sys.platform == "win32", reason="the fake Go is a shell script"),
]


class Assets:
    """The tool with a separate cache, and a script as Go."""

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

    def hide_go(self) -> None:
        """Also that of the machine."""
        (self._bin / "go").unlink(missing_ok=True)
        self._env["PATH"] = str(self._bin)

    def go(self, script: str) -> None:
        (self._bin / "go").write_text(f"#!/bin/sh\n{script}\n")
        (self._bin / "go").chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *(arguments or ["tools/assets.py"])],
            cwd=ROOT,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # The process that runs the tests may ignore Ctrl-C, which children inherit.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads
        )
        self._started.append(process)
        return process

    def built(self) -> list[str]:
        return sorted(path.name for path in self.programs.iterdir() if os.access(path, os.X_OK))

    def close(self) -> None:
        """Kill what a failed test has left, so that later tests do not fail because of open pipes."""
        for process in self._started:
            process.kill()
            with process:  # closes the pipes
                pass


@pytest.fixture
def assets(tmp_path: Path) -> Iterator[Assets]:
    with contextlib.closing(Assets(tmp_path)) as assets:
        yield assets


# `go build ... -o TARGET PACKAGE`: the target is the last argument but one.
BUILD = 'while [ "$#" -gt 2 ]; do shift; done; touch "$1"; chmod 755 "$1"'


def test_every_program_is_built_once(assets: Assets) -> None:
    assets.go(BUILD)
    out, _ = assets.start().communicate()
    assets.go("exit 9")

    again = assets.start()

    assert out.strip() == str(assets.programs)
    assert assets.built() == sorted(NAMES)
    assert again.communicate()[0] == out
    assert again.returncode == 0


def test_after_a_failure_it_continues(assets: Assets) -> None:
    assets.go(f'case "$*" in *cmd/kube-apiserver) exit 9;; esac; {BUILD}')
    failed = assets.start()
    _, errors = failed.communicate()
    assets.go(BUILD)

    _, progress = assets.start().communicate()

    assert (failed.returncode, "building kube-apiserver ended with 9" in errors) == (9, True)
    assert progress.splitlines()[0] == "[1/2] building kube-apiserver"
    assert assets.built() == sorted(NAMES)


def test_without_go_the_error_shows_what_to_do(assets: Assets) -> None:
    assets.hide_go()

    process = assets.start()

    _, errors = process.communicate()
    assert process.returncode == 1
    assert "Install Go" in errors


@pytest.mark.parametrize("name", OWN)
def test_one_of_our_own_programs_can_be_built_alone(assets: Assets, name: str) -> None:
    assets.go(BUILD)

    process = assets.start("tools/assets.py", "--only", name)

    assert process.wait() == 0
    assert assets.built() == [name]


def test_without_go_a_program_of_an_older_source_is_removed(assets: Assets) -> None:
    assets.go(BUILD)
    assets.start().communicate()
    (assets.programs / "stand-in-kubelet.source").write_text("older")
    assets.hide_go()

    process = assets.start()

    _, notes = process.communicate()
    assert process.returncode == 0
    assert notes == "make assets: Go is not installed, skipping stand-in-kubelet\n"
    assert assets.built() == sorted(set(NAMES) - {"stand-in-kubelet"})


@pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_no_process_and_no_incomplete_file(
    assets: Assets, tmp_path: Path, number: signal.Signals
) -> None:
    pipe = tmp_path / "pids"
    os.mkfifo(pipe)
    assets.go(f'sleep 600 >/dev/null 2>&1 & echo "$$ $!" > "{pipe}"; wait')
    process = assets.start()
    descriptors = [os.pidfd_open(int(pid)) for pid in pipe.read_text().split()]

    process.send_signal(number)

    process.communicate()
    try:
        assert len(descriptors) == 2
        for descriptor in descriptors:
            assert select.select([descriptor], [], [], 20)[0], "a process is still running"
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    assert process.returncode == 128 + number
    assert [path.name for path in assets.programs.iterdir()] == ["versions"]


# Runs the tool, and raises the signal of its argument while it starts Go.
SIGNAL_AT_START = """
import runpy, signal, subprocess, sys

class Interrupted(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        signal.raise_signal(NUMBER)

NUMBER = int(sys.argv.pop())
subprocess.Popen = Interrupted
runpy.run_path("tools/assets.py", run_name="__main__")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_a_program_is_started_leaves_no_process(
    assets: Assets, number: signal.Signals
) -> None:
    assets.go(
        "sleep 600"
    )  # a process that survives keeps the pipes open, and reading them would not end

    process = assets.start("-c", SIGNAL_AT_START, str(int(number)))

    process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert [path.name for path in assets.programs.iterdir()] == ["versions"]


# `go mod download -json` names a go.mod; `go build` as above.
KUBERNETES = """
module k8s.io/kubernetes

go 1.26.0

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/client-go => ./staging/src/k8s.io/client-go
)
"""


def test_another_version_is_built_beside_the_default_one(assets: Assets, tmp_path: Path) -> None:
    (tmp_path / "k8s.mod").write_text(KUBERNETES)
    downloaded = f'{{"GoMod": "{tmp_path}/k8s.mod"}}'
    assets.go(f"if [ \"$1\" = mod ]; then echo '{downloaded}'; exit; fi; {BUILD}")

    process = assets.start("tools/assets.py", "--version", "v1.36.4")

    folder = assets.programs / "v1.36.4"
    assert process.communicate()[0].strip() == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["etcd", "kube-apiserver", "module"]
    assert assets.built() == ["etcd", "v1.36.4"]
    module = (folder / "module" / "go.mod").read_text()
    assert "require k8s.io/kubernetes v1.36.4" in module
    assert "\tk8s.io/client-go => k8s.io/client-go v0.36.4\n" in module


def test_a_version_that_cannot_be_downloaded_is_an_error(assets: Assets) -> None:
    assets.go('if [ "$1" = mod ]; then echo \'{"Error": "no such version"}\'; exit 1; fi; ' + BUILD)

    process = assets.start("tools/assets.py", "--version", "v1.99.0")

    _, errors = process.communicate()
    assert process.returncode == 1
    assert "no such version" in errors
