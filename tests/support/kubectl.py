"""kubectl as a subprocess, and the fixtures that run it against the server of a test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

import pytest

from kubeloop.testing.control_plane import cached_assets

__all__ = ["Kubectl", "kubectl", "kubectl_cache", "kubectl_program"]

OLDEST = (1, 30)  # older versions lack subcommands that the tests use


@final
class Kubectl:
    """Runs kubectl in one namespace."""

    def __init__(self, program: str, kubeconfig: Path, namespace: str, cache: Path) -> None:
        self._command = [program, f"--namespace={namespace}", f"--cache-dir={cache}"]
        # Without the settings, plugins and proxies of the user.
        self._environment = {
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(kubeconfig.parent),
            "PATH": os.environ["PATH"],
            "KUBECTL_APPLYSET": "true",  # an alpha flag of apply
        }
        self.namespace = namespace

    def run(
        self, *arguments: str, stdin: str = "", editor: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl, with any exit code."""
        return subprocess.run(
            [*self._command, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={**self._environment, "KUBE_EDITOR": editor},
        )

    def __call__(self, *arguments: str, stdin: str = "", editor: str = "") -> str:
        """The output; kubectl must succeed."""
        ended = self.run(*arguments, stdin=stdin, editor=editor)
        assert ended.returncode == 0, f"kubectl {' '.join(arguments)}: {ended.stderr}"
        return ended.stdout.strip()

    def refused(self, *arguments: str, stdin: str = "") -> str:
        """The error output; kubectl must fail."""
        ended = self.run(*arguments, stdin=stdin)
        assert ended.returncode != 0, f"kubectl {' '.join(arguments)}: {ended.stdout}"
        return ended.stderr.strip()

    @contextmanager
    def start(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A kubectl that keeps running, read line by line; killed when the block ends."""
        with subprocess.Popen(
            [*self._command, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
        ) as process:
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture(scope="session")
def kubectl_program() -> str:
    """The newest kubectl of the assets and in PATH."""
    folders = [os.environ.get("KUBEBUILDER_ASSETS"), cached_assets(), None]
    found = [shutil.which("kubectl", path=folder and str(folder)) for folder in folders]
    programs = {program: version for program in found if program and (version := _version(program))}
    if not programs:
        pytest.skip("no kubectl in PATH, in KUBEBUILDER_ASSETS or from `make assets`")
    newest = max(programs, key=lambda program: programs[program])
    if programs[newest] < OLDEST:
        pytest.skip(f"{newest} is too old: {programs[newest]} (`make assets` installs a new one)")
    return newest


def _version(program: str) -> tuple[int, ...]:
    command = [program, "version", "--client", "--output=json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        return ()
    version = json.loads(ended.stdout)["clientVersion"]
    return int(version["major"]), int(version["minor"].rstrip("+"))


@pytest.fixture(scope="session")
def kubectl_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def kubectl(
    kubectl_program: str, kubeconfig_file: Path, kube_namespace: str, kubectl_cache: Path
) -> Kubectl:
    return Kubectl(kubectl_program, kubeconfig_file, kube_namespace, kubectl_cache)
