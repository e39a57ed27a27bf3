"""`kubeloop serve` runs a server for other programs, and cleans up at the end."""

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

from kubeloop import ApiError, Forbidden, Unauthorized
from kubeloop.blocking import Client
from kubeloop.config import ClusterConfig
from kubeloop_testing import APIServer

from .conftest import SHOP, finished, line_of, started

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there"),
]

ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"} | {
    "PYTHONUNBUFFERED": "1"
}


def kubeconfig_of(process: Any) -> Path:
    """The file in the export line, which is the second one."""
    assert line_of(process).startswith("Serving at http")
    (word, assignment) = shlex.split(line_of(process))
    name, _, path = assignment.partition("=")
    assert (word, name) == ("export", "KUBECONFIG")
    return Path(path)


def stop(process: Any, number: signal.Signals) -> tuple[int, str]:
    process.send_signal(number)
    _, errors = process.communicate()
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_serves_the_manifests_and_leaves_nothing_behind(number: signal.Signals) -> None:
    with started(ENVIRONMENT, "serve", "-f", str(SHOP)) as process:
        kubeconfig = kubeconfig_of(process)
        with Client(ClusterConfig.load(kubeconfig)) as client:
            assert client.core_v1.pods("shop").exists("web-1")
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600

        code, errors = stop(process, number)

    assert (code, errors) == (0, "Press Ctrl-C to stop\n")
    assert not kubeconfig.parent.exists()


def test_a_data_file_stores_the_objects_and_a_given_kubeconfig_stays(tmp_path: Path) -> None:
    kubeconfig, data = tmp_path / "own", tmp_path / "data.db"
    kubeconfig.touch(mode=0o644)
    arguments = ("serve", "--kubeconfig", str(kubeconfig), "--data", str(data))
    with started(ENVIRONMENT, *arguments, "-f", str(SHOP)) as process:
        assert kubeconfig_of(process) == kubeconfig
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
        stop(process, signal.SIGINT)
    assert kubeconfig.exists()

    with started(ENVIRONMENT, *arguments) as process:
        kubeconfig_of(process)
        with Client(ClusterConfig.load(kubeconfig)) as client:
            assert client.core_v1.pods("shop").exists("web-1")


def test_simulated_workloads_run() -> None:
    with started(ENVIRONMENT, "serve", "-f", str(SHOP), "--simulate") as process:
        kubeconfig = kubeconfig_of(process)
        with Client(ClusterConfig.load(kubeconfig)) as client:
            client.apps_v1.deployments("shop").wait_for("web", condition="Available", timeout=50)

        assert stop(process, signal.SIGINT) == (0, "Press Ctrl-C to stop\n")


def test_simulated_containers_have_programs_files_and_a_web_server(tmp_path: Path) -> None:
    with (
        started(ENVIRONMENT, "serve", "-f", str(SHOP), "--simulate") as process,
        Client(ClusterConfig.load(kubeconfig_of(process))) as client,
    ):
        pods = client.core_v1.pods("shop")
        pods.wait_for("web-1", condition="Ready", timeout=50)
        outputs = [
            pods.exec("web-1", words).text
            for words in (
                ["echo", "a", "b"],
                ["hostname"],
                ["ls", "/etc"],
                ["cat", "/etc/motd"],
                ["sh", "-c", "test -f /missing || hostname"],
            )
        ]
        missing = pods.exec("web-1", ["ls", "/missing"])
        pods.copy_from("web-1", "/etc/motd", tmp_path / "motd")
        with (
            pods.port_forward("web-1", 80) as local,
            closing(HTTPConnection("127.0.0.1", local.port)) as connection,
        ):
            connection.request("GET", "/")
            page = connection.getresponse().read()
        assert "UTC" in pods.exec("web-1", ["date"]).text

    assert outputs == ["a b\n", "web-1\n", "motd\n", "simulated by kubeloop\n", "web-1\n"]
    assert (missing.exit_code, missing.stderr) == (2, b"ls: /missing: No such file or directory\n")
    assert (tmp_path / "motd").read_text() == "simulated by kubeloop\n"
    assert b"simulated by kubeloop" in page


@pytest.mark.parametrize(
    ("flags", "error"), [([], Forbidden), (["--anonymous-auth=false"], Unauthorized)]
)
def test_rbac_requires_tls_and_a_token(
    tmp_path: Path, flags: list[str], error: type[ApiError]
) -> None:
    file = str(
        tmp_path / "kubeconfig"
    )  # the process is killed, and could not remove a temporary one
    with started(ENVIRONMENT, "serve", "--rbac", *flags, "--kubeconfig", file) as process:
        config = ClusterConfig.load(kubeconfig_of(process))
        with Client(config.without_credentials()) as anonymous, pytest.raises(error):
            anonymous.core_v1.namespaces().list()

    assert config.server.startswith("https://")
    assert config.token


def test_a_port_in_use_is_one_line(kube_server: APIServer) -> None:
    port = kube_server.url.rpartition(":")[2]

    code, output, errors = finished(ENVIRONMENT, "serve", "--port", port)

    assert (code, output) == (1, "")
    (line,) = errors.splitlines()
    assert line.startswith(f"error: serve at port {port}: ")


def test_a_data_file_of_another_program_is_one_line(tmp_path: Path) -> None:
    data = tmp_path / "notes.txt"
    data.write_text("no database " * 100)

    code, _, errors = finished(ENVIRONMENT, "serve", "--data", str(data))

    assert code == 1
    (line,) = errors.splitlines()
    assert "notes.txt" in line


def status_of(kubeconfig: Path, host: str) -> int:
    """The status code of a request with this Host header."""
    server = urlsplit(ClusterConfig.load(kubeconfig).server)
    connection = HTTPConnection(str(server.hostname), server.port, timeout=30)
    with closing(connection):
        connection.request("GET", "/version", headers={"Host": host})
        return connection.getresponse().status


def test_a_foreign_host_is_rejected_unless_it_is_allowed() -> None:
    arguments = ("serve", "--allow-host", "dev.example.com", "--allow-host", "kube:8001")
    with started(ENVIRONMENT, *arguments) as process:
        kubeconfig = kubeconfig_of(process)
        hosts = ("localhost", "dev.example.com:80", "kube:8001", "kube:8002", "evil.example.com")

        found = [status_of(kubeconfig, host) for host in hosts]

        stop(process, signal.SIGINT)
    assert found == [200, 200, 200, 403, 403]


def test_an_invalid_allowed_host_is_one_line() -> None:
    code, output, errors = finished(ENVIRONMENT, "serve", "--allow-host", "http://x")

    assert (code, output) == (2, "")
    assert "'http://x' is not a host (write name, name:port" in errors
