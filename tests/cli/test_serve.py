"""`kubeloop serve` is a server that other programs use, and ends without a trace."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from kubeloop.blocking import Client
from kubeloop.config import ClusterConfig
from kubeloop.testing import APIServer

from .conftest import SHOP, finished, line_of, started

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there"),
]

ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"} | {
    "PYTHONUNBUFFERED": "1"
}


def kubeconfig_of(process: Any) -> Path:
    """The file in the line to copy, which comes second."""
    assert line_of(process).startswith("serving at http")
    (word, assignment) = shlex.split(line_of(process))
    name, _, path = assignment.partition("=")
    assert (word, name) == ("export", "KUBECONFIG")
    return Path(path)


def ended(process: Any, how: signal.Signals) -> tuple[int, str]:
    process.send_signal(how)
    _, complained = process.communicate()
    return process.returncode, complained


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_serves_what_it_was_given_and_leaves_nothing_behind(how: signal.Signals) -> None:
    with started(ENVIRONMENT, "serve", "-f", str(SHOP)) as process:
        kubeconfig = kubeconfig_of(process)
        with Client(ClusterConfig.load(kubeconfig)) as client:
            assert client.core_v1.pods("shop").exists("web-1")
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600

        code, complained = ended(process, how)

    assert (code, complained) == (0, "Ctrl-C ends it\n")
    assert not kubeconfig.parent.exists()


def test_a_file_keeps_everything_and_a_kubeconfig_that_was_asked_for_stays(tmp_path: Path) -> None:
    kubeconfig, data = tmp_path / "own", tmp_path / "data.db"
    asked = ("serve", "--kubeconfig", str(kubeconfig), "--data", str(data))
    with started(ENVIRONMENT, *asked, "-f", str(SHOP)) as process:
        assert kubeconfig_of(process) == kubeconfig
        ended(process, signal.SIGINT)
    assert kubeconfig.exists()

    with started(ENVIRONMENT, *asked) as process:
        kubeconfig_of(process)
        with Client(ClusterConfig.load(kubeconfig)) as client:
            assert client.core_v1.pods("shop").exists("web-1")


def test_simulated_workloads_come_to_life() -> None:
    with started(ENVIRONMENT, "serve", "-f", str(SHOP), "--simulate") as process:
        kubeconfig = kubeconfig_of(process)
        with Client(ClusterConfig.load(kubeconfig)) as client:
            client.apps_v1.deployments("shop").wait_for("web", condition="Available", timeout=50)

        assert ended(process, signal.SIGINT) == (0, "Ctrl-C ends it\n")


def test_rbac_requires_tls_and_a_token(tmp_path: Path) -> None:
    file = str(tmp_path / "kubeconfig")  # the process is killed, and could not remove its own
    with started(ENVIRONMENT, "serve", "--rbac", "--kubeconfig", file) as process:
        config = ClusterConfig.load(kubeconfig_of(process))

    assert config.server.startswith("https://")
    assert config.token


def test_a_port_in_use_is_one_line(kube_server: APIServer) -> None:
    port = kube_server.url.rpartition(":")[2]

    code, said, complained = finished(ENVIRONMENT, "serve", "--port", port)

    assert (code, said) == (1, "")
    (line,) = complained.splitlines()
    assert line.startswith(f"error: serve at port {port}: ")


def test_a_data_file_of_somebody_else_is_one_line(tmp_path: Path) -> None:
    data = tmp_path / "notes.txt"
    data.write_text("no database " * 100)

    code, _, complained = finished(ENVIRONMENT, "serve", "--data", str(data))

    assert code == 1
    (line,) = complained.splitlines()
    assert "notes.txt" in line


def status_of(kubeconfig: Path, host: str) -> int:
    """What the server answers to a request for a host."""
    server = urlsplit(ClusterConfig.load(kubeconfig).server)
    connection = HTTPConnection(str(server.hostname), server.port, timeout=30)
    with closing(connection):
        connection.request("GET", "/version", headers={"Host": host})
        return connection.getresponse().status


def test_a_foreign_host_is_rejected_unless_it_is_allowed() -> None:
    asked = ("serve", "--allow-host", "dev.example.com", "--allow-host", "kube:8001")
    with started(ENVIRONMENT, *asked) as process:
        kubeconfig = kubeconfig_of(process)
        hosts = ("localhost", "dev.example.com:80", "kube:8001", "kube:8002", "evil.example.com")

        found = [status_of(kubeconfig, host) for host in hosts]

        ended(process, signal.SIGINT)
    assert found == [200, 200, 200, 403, 403]


def test_an_allowed_host_that_is_none_is_one_clear_line() -> None:
    code, said, complained = finished(ENVIRONMENT, "serve", "--allow-host", "http://x")

    assert (code, said) == (2, "")
    assert "'http://x' is not a host (write name, name:port" in complained
