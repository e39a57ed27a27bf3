"""Other clients against the embedded server, over TLS and with RBAC.

The fixtures are those of `kubeloop.testing.plugin`: `--kube envtest` runs the same tests
against a real control plane.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import pytest

from kubeloop.testing.control_plane import cached_assets

OLDEST = (1, 30)  # the first kubectl with all commands of the tests
TIMEOUT = 60  # seconds: programs are started, and machines are busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(TIMEOUT))


@pytest.fixture(scope="session")
def kube_options() -> Mapping[str, Any]:
    return {"tls": True, "rbac": True}


@pytest.fixture(autouse=True)
def _one_server_for_all(kube_session_server: object) -> None:
    """Make all fixtures use the server of the session."""


@pytest.fixture(autouse=True)
async def _abort_connections() -> AsyncIterator[None]:
    """Abort connections that a client leaves open, or whose close handshake is not done.

    Otherwise the collector finds them some tests later, and the warning is blamed on those.
    """
    yield
    loop: Any = asyncio.get_running_loop()
    for transport in list(loop._transports.values()):
        transport.abort()
    await asyncio.sleep(0)


@final
class Kubectl:
    """Runs kubectl in one namespace."""

    def __init__(self, program: str, kubeconfig: Path, namespace: str, cache: Path) -> None:
        self._command = [program, f"--namespace={namespace}", f"--cache-dir={cache}"]
        # Nothing of the user that runs the tests: no settings, no plugins, no proxy.
        self._environment = {
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(kubeconfig.parent),
            "PATH": os.environ["PATH"],
        }
        self.namespace = namespace

    def run(
        self, *arguments: str, stdin: str = "", editor: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """The finished process, successful or not."""
        return subprocess.run(
            [*self._command, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={**self._environment, "KUBE_EDITOR": editor},
        )

    def __call__(self, *arguments: str, stdin: str = "", editor: str = "") -> str:
        """Its output; it must succeed."""
        ended = self.run(*arguments, stdin=stdin, editor=editor)
        assert ended.returncode == 0, f"kubectl {' '.join(arguments)}: {ended.stderr}"
        return ended.stdout.strip()

    def refused(self, *arguments: str, stdin: str = "") -> str:
        """Its error output; it must fail."""
        ended = self.run(*arguments, stdin=stdin)
        assert ended.returncode != 0, f"kubectl {' '.join(arguments)}: {ended.stdout}"
        return ended.stderr.strip()

    @contextmanager
    def start(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A running kubectl, to be read line by line; killed at the end of the block."""
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
    """The newest available kubectl: in the assets or in PATH."""
    folders = [os.environ.get("KUBEBUILDER_ASSETS"), cached_assets(), None]
    found = [shutil.which("kubectl", path=folder and str(folder)) for folder in folders]
    programs = {program: version for program in found if program and (version := _version(program))}
    if not programs:
        pytest.skip("no kubectl in PATH, in KUBEBUILDER_ASSETS or from `make assets`")
    newest = max(programs, key=lambda program: programs[program])
    if programs[newest] < OLDEST:
        pytest.skip(f"{newest} is too old: {programs[newest]} (`make assets` installs a newer one)")
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
