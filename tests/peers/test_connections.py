"""exec, attach, port-forward, cp, logs and debug of other clients against the embedded server."""

from __future__ import annotations

import gc
import io
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import File, Kubelet, Link, Process
from tests.support.kubectl import Kubectl

pytestmark = [
    # Of the other clients: sockets that are left to the garbage collector, and old interfaces.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported"),
]

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "main", "image": "nginx", "stdin": True}]},
}


async def shell(process: Process) -> int:
    """Repeats lines; `exit 3` ends it."""
    await process.stdout.write("$ ")
    async for line in process.stdin:
        words = line.decode().split()
        if words[:1] == ["exit"]:
            return int(words[1])
        await process.stdout.write(f"{line.decode().strip()}!\n$ ")
    return 0


async def shout(reader: Any, writer: Any) -> None:
    while data := await reader.read(65536):
        writer.write(data.upper())
        await writer.drain()
    writer.write(b"!")
    await writer.drain()


@pytest.fixture
def kubelet(kube_kubelet: Kubelet, kube_namespace: str, kube_blocking_client: Client) -> Kubelet:
    """The kubelet; the pod `web` runs and has a few programs."""
    kube_blocking_client.core_v1.pods(kube_namespace).create(Pod.from_dict(POD))
    kube_kubelet.run_pod("web", namespace=kube_namespace)
    kube_kubelet.command("ls", stdout="bin\netc\n", stderr="careful\n")
    kube_kubelet.command("sh", shell)
    kube_kubelet.command("fail", exit_code=7)
    kube_kubelet.port(8080, shout)
    return kube_kubelet


@pytest.fixture(autouse=True)
def _collect_sockets() -> Iterator[None]:
    """Collect what clients leave open here, where the warnings are filtered."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("Kubernetes port forward proxy"):
            thread.join(timeout=20)
    gc.collect()


# --- kubectl


def test_kubectl_exec_passes_on_output_input_and_exit_code(
    kubectl: Kubectl, kubelet: Kubelet
) -> None:
    listed = kubectl.run("exec", "web", "--", "ls")
    talked = kubectl.run("exec", "-i", "web", "--", "sh", stdin="hi\nexit 3\n")
    at_end = kubectl.run("exec", "-i", "web", "--", "sh", stdin="hi\n")

    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "bin\netc\n", "careful\n")
    assert (talked.returncode, talked.stdout) == (3, "$ hi!\n$ ")
    assert at_end.returncode == 0


def test_kubectl_exec_reports_what_cannot_be_run(kubectl: Kubectl, kubelet: Kubelet) -> None:
    kubectl("run", "pending", "--image=nginx")

    assert 'exec: "bash": executable file not found in $PATH' in kubectl.refused(
        "exec", "web", "--", "bash"
    )
    assert "does not have a host assigned" in kubectl.refused("exec", "pending", "--", "ls")
    assert 'pods "gone" not found' in kubectl.refused("exec", "gone", "--", "ls")


def test_kubectl_attach_talks_to_the_program_of_the_container(
    kubectl: Kubectl, kubelet: Kubelet
) -> None:
    kubelet.attach(shell)

    attached = kubectl.run("attach", "-i", "web", stdin="hi\n")

    assert (attached.returncode, attached.stdout) == (0, "$ hi!\n$ ")


def test_kubectl_port_forward_forwards_many_connections(kubectl: Kubectl, kubelet: Kubelet) -> None:
    with kubectl.start("port-forward", "web", ":8080", "--address=127.0.0.1") as forward:
        assert forward.stdout is not None
        line = forward.stdout.readline()
        port = int(line.split(":")[1].split()[0])
        clients = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(5)]
        for number, client in enumerate(clients):
            client.sendall(f"c{number}".encode())
            client.shutdown(socket.SHUT_WR)
        received = [_read(client) for client in clients]

    assert received == [f"C{number}!".encode() for number in range(5)]


def _read(client: socket.socket) -> bytes:
    with client:
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_kubectl_cp_copies_files_and_folders_both_ways(
    kubectl: Kubectl, kubelet: Kubelet, tmp_path: Path
) -> None:
    tree = kubelet.files(
        {
            "/data/run": File(content=b"#!/bin/sh\n", mode=0o755),
            "/data/sub/large": bytes(range(256)) * 1000,
            "/data/link": Link("run"),
        }
    )
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "hello").write_text("hi")
    (tmp_path / "up" / "hello").chmod(0o750)

    kubectl("cp", "web:/data", str(tmp_path / "down"))
    kubectl("cp", "web:/data/run", str(tmp_path / "one"))
    kubectl("cp", str(tmp_path / "up"), "web:/tmp/up")
    kubectl("cp", str(tmp_path / "up" / "hello"), "web:/data")
    # kubectl may end before it receives the exit code, because the archive has ended.
    missing = kubectl.run("cp", "web:/nothing", str(tmp_path / "nothing")).stdout

    assert (tmp_path / "down" / "sub" / "large").read_bytes() == tree["/data/sub/large"]
    assert (tmp_path / "one").read_text() == "#!/bin/sh\n"
    assert tree["/tmp/up/hello"] == tree["/data/hello"] == b"hi"
    node = tree.find("/tmp/up/hello")
    assert isinstance(node, File)
    assert node.mode == 0o750
    assert "Cannot stat: No such file or directory" in missing


def test_kubectl_logs_prints_selects_and_follows(kubectl: Kubectl, kubelet: Kubelet) -> None:
    namespace = kubectl.namespace
    kubelet.log("web", "one\ntwo\n", namespace=namespace)

    with kubectl.start("logs", "-f", "web") as follow:
        assert follow.stdout is not None
        seen = [follow.stdout.readline() for _ in range(2)]
        kubelet.log("web", "three\n", namespace=namespace)
        seen.append(follow.stdout.readline())
        kubelet.restart_container("web", namespace=namespace)
        rest = follow.stdout.read()
    kubelet.log("web", "four\n", namespace=namespace)

    assert (seen, rest) == (["one\n", "two\n", "three\n"], "")
    assert kubectl("logs", "web") == "four"
    assert kubectl("logs", "web", "--previous", "--tail=1") == "three"
    assert re.fullmatch(r"\d{4}-\S+Z four", kubectl("logs", "web", "--timestamps", "--since=1h"))


def test_kubectl_debug_adds_a_container_and_attaches_to_it(
    kubectl: Kubectl, kubelet: Kubelet, kube_workloads: None
) -> None:
    command = ["debug", "web", "--image=busybox", "--container=tools", "-i", "--", "sh"]

    ended = kubectl.run(*command, stdin="hi\n")

    assert ended.returncode == 0, ended.stderr
    assert "hi!" in ended.stdout


# --- the official client


@pytest.fixture
def official(kubeconfig_file: Path) -> Iterator[Any]:
    config = pytest.importorskip("kubernetes.config", reason="the client is not installed")
    from kubernetes import client as generated

    with config.new_client_from_config(str(kubeconfig_file)) as client:
        yield generated.CoreV1Api(client)


@contextmanager
def _stream(core: Any, namespace: str, *command: str, stdin: bool = False) -> Iterator[Any]:
    from kubernetes.stream import stream

    connection = stream(
        core.connect_get_namespaced_pod_exec,
        "web",
        namespace,
        command=[*command],
        stdin=stdin,
        stdout=True,
        stderr=True,
        tty=False,
        _preload_content=False,
    )
    try:
        yield connection
    finally:
        connection.close()


def _read_until(connection: Any, end: str) -> str:
    """What is printed up to `end`: the official client returns each message, also empty ones."""
    text = ""
    while not text.endswith(end) and connection.is_open():
        text += connection.read_stdout(timeout=20)
    return text


def test_the_official_client_runs_commands(
    official: Any, kubelet: Kubelet, kube_namespace: str
) -> None:
    with _stream(official, kube_namespace, "ls") as connection:
        connection.run_forever(timeout=20)
        output = connection.read_stdout(), connection.read_stderr(), connection.returncode
    with _stream(official, kube_namespace, "fail") as connection:
        connection.run_forever(timeout=20)
        code = connection.returncode
    with _stream(official, kube_namespace, "sh", stdin=True) as connection:
        prompt = _read_until(connection, "$ ")
        connection.write_stdin("hi\n")
        reply = _read_until(connection, "$ ")

    assert output == ("bin\netc\n", "careful\n", 0)
    assert code == 7
    assert (prompt, reply) == ("$ ", "hi!\n$ ")


def test_the_official_client_forwards_a_port(
    official: Any, kubelet: Kubelet, kube_namespace: str
) -> None:
    from kubernetes.stream import portforward

    forward = portforward(
        official.connect_get_namespaced_pod_portforward, "web", kube_namespace, ports="8080"
    )
    connection = forward.socket(8080)
    connection.setblocking(True)
    connection.sendall(b"hi")
    received = connection.recv(10)
    connection.close()

    assert received == b"HI"
    assert forward.error(8080) is None


# --- kr8s and lightkube


async def test_kr8s_runs_commands_and_forwards_a_port(
    kubeconfig_file: Path, kubelet: Kubelet, kube_namespace: str
) -> None:
    import asyncio

    kr8s = pytest.importorskip("kr8s", reason="kr8s is not installed")
    from kr8s.asyncio import objects

    api = await kr8s.asyncio.api(kubeconfig=str(kubeconfig_file), namespace=kube_namespace)
    pod = await objects.Pod.get("web", namespace=kube_namespace, api=api)

    listed = await pod.exec(["ls"])
    failed = await pod.exec(["fail"], check=False)
    async with pod.portforward(8080, local_port="auto") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hi")
        received = await reader.read(10)
        writer.close()
    await api._session.aclose()

    assert (listed.stdout, listed.stderr, listed.returncode) == (b"bin\netc\n", b"careful\n", 0)
    assert failed.returncode == 7
    assert received == b"HI"


def test_lightkube_runs_commands(
    kubeconfig_file: Path, kubelet: Kubelet, kube_namespace: str
) -> None:
    lightkube = pytest.importorskip("lightkube", reason="lightkube is not installed")
    config = lightkube.KubeConfig.from_file(kubeconfig_file)
    client = lightkube.Client(config=config, namespace=kube_namespace)
    stdout = io.BytesIO()

    listed = client.exec("web", command=["ls"], stdout=True, stderr=True)
    talked = client.exec("web", command="sh", stdin="hi\nexit 3\n", stdout=stdout)
    client._client._client.close()

    assert (listed.stdout, listed.stderr, listed.exit_code) == ("bin\netc\n", "careful\n", 0)
    assert (talked.exit_code, stdout.getvalue()) == (3, b"$ hi!\n$ ")
