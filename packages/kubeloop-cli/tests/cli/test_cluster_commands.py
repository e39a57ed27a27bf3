"""Commands about the cluster and its configuration: cache, config, version, inspect."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import sys
from pathlib import Path

import aiohttp
import pytest

import kubeloop as package
from kubeloop.inspector import Inspector
from kubeloop.workqueue import WorkQueue
from kubeloop_testing import APIServer, StatusError

from .conftest import Call, finished, line_of, started

CONFIG_WITH_SECRETS = """
apiVersion: v1
kind: Config
current-context: staging
clusters:
- {name: far, cluster: {server: "https://far.example:6443", proxy-url: "http://me:pass@proxy:3128"}}
users:
- {name: robot, user: {token: s3cret}}
- {name: person, user: {username: anna, password: s3cret}}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: Never
      command: login
      args: [s3cret]
      env: [{name: KEY, value: s3cret}]
contexts:
- {name: staging, context: {cluster: far, user: robot, namespace: shop}}
- {name: person, context: {cluster: far, user: person}}
- {name: plugin, context: {cluster: far, user: plugin}}
"""


@pytest.fixture
def config_with_secrets(tmp_path: Path) -> str:
    """A kubeconfig with a secret in every user."""
    path = tmp_path / "config"
    path.write_text(CONFIG_WITH_SECRETS)
    return str(path)


# --- cache report


def test_a_cache_is_measured_by_filling_it(kubeloop: Call) -> None:
    result = kubeloop("cache", "report", "po,deploy")
    header, pods, deployments, total = map(str.split, result.stdout.splitlines())

    assert header == ["RESOURCE", "OBJECTS", "BYTES", "SECONDS"]
    assert pods[:2] == ["pods", "2"]
    assert deployments[:2] == ["deployments.apps", "1"]
    assert total[:3] == ["total", "3", str(int(pods[2]) + int(deployments[2]))]


def test_the_bytes_of_decoded_objects_are_unknown(kubeloop: Call) -> None:
    table = kubeloop("cache", "report", "pods,deploy", "--store-as", "objects")
    costs = json.loads(
        kubeloop("cache", "report", "pods", "--store-as", "objects", "-o", "json").stdout
    )

    assert [line.split()[2] for line in table.stdout.splitlines()[1:]] == ["-", "-", "-"]
    assert costs[0]["bytes"] is None


def test_a_cache_of_one_namespace_has_its_objects_only(kubeloop: Call) -> None:
    result = kubeloop("cache", "report", "services", "-n", "shop", "-o", "json")

    (cost,) = json.loads(result.stdout)
    assert (cost["resource"], cost["objects"], cost["bytes"]) == ("services", 0, 0)


def test_a_forbidden_list_is_an_error(kubeloop: Call, kube_server: APIServer) -> None:
    kube_server.faults.reactors.append(lambda seen: _forbid(seen.path))

    result = kubeloop("cache", "report", "secrets")

    assert result.exit_code == 1
    assert "403" in result.stderr


def _forbid(path: str) -> None:
    if path.endswith("/secrets"):
        status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "not for you"}
        raise StatusError(status)


# --- config


@pytest.mark.parametrize("context", ["staging", "person", "plugin"])
@pytest.mark.parametrize("output", ["table", "json"])
def test_no_secret_is_printed(
    kubeloop: Call, config_with_secrets: str, context: str, output: str
) -> None:
    result = kubeloop(
        "config", "--kubeconfig", config_with_secrets, "--context", context, "-o", output
    )

    assert result.exit_code == 0, result.stderr
    assert "far.example" in result.stdout
    assert "s3cret" not in result.output
    assert "pass@" not in result.output


def test_the_configuration_in_use_is_printed_with_its_source(
    kubeloop: Call, config_with_secrets: str
) -> None:
    result = kubeloop(
        "config", "--kubeconfig", config_with_secrets, "--request-timeout", "1m", "-o", "json"
    )

    assert json.loads(result.stdout) == {
        "from": f"{config_with_secrets} (--kubeconfig)",
        "context": "staging (current-context)",
        "cluster": f"far (in {config_with_secrets})",
        "user": f"robot (in {config_with_secrets})",
        "server": "https://far.example:6443",
        "namespace": "shop",
        "credentials": "token (hidden)",
        "trust": "the CA certificates of this system",
        "proxy": "http://me:<masked>@proxy:3128",
        "request timeout": "60 s",
    }


def test_a_flag_after_the_command_wins_over_one_before_it(kubeloop: Call) -> None:
    before = kubeloop("-n", "first", "config")
    both = kubeloop("-n", "first", "config", "-n", "second")

    assert "namespace     first (--namespace)" in before.stdout
    assert "namespace     second (--namespace)" in both.stdout


# --- version


def test_the_versions_of_client_and_server_are_printed(kubeloop: Call) -> None:
    ours = [f"kubeloop {package.__version__}", f"Python {platform.python_version()}"]

    assert kubeloop("version", "--client").stdout.splitlines() == ours
    assert kubeloop("version").stdout.splitlines()[:2] == ours
    assert kubeloop("version").stdout.splitlines()[2].startswith("server v1.")
    assert kubeloop("--version").stdout.splitlines() == ours[:1]


# --- inspect


@pytest.fixture
def runtime_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory for this test, in which inspectors register."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.mark.usefixtures("runtime_directory")
async def test_the_inspectors_of_running_processes_are_found(kubeloop: Call) -> None:
    queue: WorkQueue[str] = WorkQueue()
    async with Inspector(queue, name="shop", token="t0ken") as page:
        listed = kubeloop("inspect").stdout.splitlines()
        alone = kubeloop("inspect", str(os.getpid())).stdout

    header, row = map(str.split, listed)
    assert header == ["PID", "NAME", "ADDRESS"]
    assert row == [str(os.getpid()), "shop", page.stats().address]
    assert alone == f"{page.url}\n"


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a browser")
@pytest.mark.parametrize(("browser", "code"), [("echo opened %s", 0), ("", 1)])
async def test_a_missing_browser_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: str, code: int
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = os.environ["PATH"] if browser else ""
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), "PATH": path, "BROWSER": browser}
    queue: WorkQueue[str] = WorkQueue()
    async with Inspector(queue) as page:
        exit_code, out, errors = finished(environment, "inspect", "--open")

    expected = [f"error: open {page.url}: no browser found (copy the URL)"]
    assert exit_code == code
    assert page.url in out.splitlines()
    assert errors.splitlines() == expected[:code]


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
async def test_a_process_is_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    path = tmp_path / "run.kubeloop"
    queue: WorkQueue[str] = WorkQueue(name="keys")
    async with Inspector(queue, name="shop", token="t0ken"):
        with started(environment, "inspect", "--record", str(path)) as process:
            while not (path.exists() and path.stat().st_size):
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, errors = await asyncio.to_thread(process.communicate)
    with started(environment, "inspect", "--replay", str(path)) as replay:
        url = line_of(replay).strip()
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            page = await response.text()

    assert (process.returncode, out.startswith("Recorded")) == (0, True)
    assert "Recording shop (pid" in errors
    assert "t0ken" not in out + errors
    assert "kubeloop inspector" in page


@pytest.mark.usefixtures("runtime_directory")
def test_without_an_inspector_the_error_shows_how_to_start_one(kubeloop: Call) -> None:
    result = kubeloop("inspect")

    assert result.exit_code == 1
    assert "manager.add(Inspector(manager))" in result.stderr
