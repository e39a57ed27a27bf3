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
from assets import KUBERNETES

from kubeloop_testing.control_plane import cached_assets

__all__ = ["Kubectl", "find_kubectl", "kubectl", "kubectl_cache", "kubectl_program"]


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
    return find_kubectl()


def find_kubectl() -> str:
    """kubectl of the version that the tests describe: others print other words and columns.

    Skips the test if there is none.
    """
    folders = [os.environ.get("KUBEBUILDER_ASSETS"), cached_assets(), None]
    programs = [shutil.which("kubectl", path=folder and str(folder)) for folder in folders]
    versions = {program: _version(program) for program in programs if program}
    for program, version in versions.items():
        if version == KUBERNETES:
            return program
    others = "".join(f"; {program} is {version}" for program, version in versions.items())
    pytest.skip(f"no kubectl {KUBERNETES} (run `make assets`){others}")


def _version(program: str) -> str:
    command = [program, "version", "--client", "--output=json"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        return str(json.loads(ended.stdout)["clientVersion"]["gitVersion"])
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return "of an unknown version"


@pytest.fixture(scope="session")
def kubectl_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def kubectl(
    kubectl_program: str, kubeconfig_file: Path, kube_namespace: str, kubectl_cache: Path
) -> Kubectl:
    return Kubectl(kubectl_program, kubeconfig_file, kube_namespace, kubectl_cache)
