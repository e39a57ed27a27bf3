"""exec, attach and port-forward over WebSockets, as a client sees them."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.kit import spdy
from kubeloop_testing import APIServer, Kubelet, Process, StatusError, User
from kubeloop_testing.server import Service
from tests.support.spdy_tunnel import Tunnel
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import PODS, pod

V5 = "v5.channel.k8s.io"
V4 = "v4.channel.k8s.io"
TUNNEL = "SPDY/3.1+portforward.k8s.io"
ALL = {"stdin": "true", "stdout": "true", "stderr": "true"}


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def api(server: APIServer) -> AsyncIterator[Api]:
    """A client; the pod `web` runs."""
    async with aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        await api.create(PODS, pod("web"))
        server.kubelet.run_pod("web")
        yield api


@pytest.fixture
def kubelet(server: APIServer) -> Kubelet:
    return server.kubelet


class Client:
    """The client's side of a connection with channels."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def send(self, channel: int, data: bytes) -> None:
        await self.socket.send_bytes(bytes([channel]) + data)

    async def next(self) -> tuple[int, bytes]:
        """The next message that is not empty."""
        while True:
            message = await self.socket.receive()
            assert message.type is aiohttp.WSMsgType.BINARY, message
            if len(message.data) > 1:
                return message.data[0], message.data[1:]

    async def output(self) -> dict[int, bytes]:
        """All that arrives until the server closes, by channel."""
        found: dict[int, bytes] = {}
        async for message in self.socket:
            found[message.data[0]] = found.get(message.data[0], b"") + message.data[1:]
        assert self.socket.close_code == 1000
        return found


@asynccontextmanager
async def connect(
    api: Api,
    part: str,
    *,
    protocols: tuple[str, ...] = (V5,),
    query: Mapping[str, str | list[str]] | None = None,
    name: str = "web",
) -> AsyncIterator[Client]:
    params = [
        (key, each)
        for key, value in (query or {}).items()
        for each in ([value] if isinstance(value, str) else value)
    ]
    path = f"{PODS}/{name}/{part}"
    async with api.session.ws_connect(path, protocols=protocols, params=params) as socket:
        yield Client(socket)


async def execute(
    api: Api, *command: str, protocols: tuple[str, ...] = (V5,), stdin: bytes = b""
) -> dict[int, bytes]:
    """Run a command to its end; on v5 the input ends."""
    asked: dict[str, str | list[str]] = {"command": [*command], **ALL}
    async with connect(api, "exec", protocols=protocols, query=asked) as client:
        if stdin:
            await client.send(0, stdin)
        if V5 in protocols:
            await client.socket.send_bytes(b"\xff\x00")
        return await client.output()


def status(output: Mapping[int, bytes]) -> Any:
    return msgspec.json.decode(output[3])


async def cat(process: Process) -> None:
    while data := await process.stdin.read(65536):
        await process.stdout.write(data)


# --- exec


@pytest.mark.parametrize("protocol", [V5, V4])
async def test_a_command_prints_and_succeeds(api: Api, kubelet: Kubelet, protocol: str) -> None:
    kubelet.command("ls", stdout="bin\netc\n", stderr=b"warning")

    output = await execute(api, "ls", protocols=(protocol,))

    assert (output[1], output[2]) == (b"bin\netc\n", b"warning")
    assert status(output) == {"metadata": {}, "status": "Success"}


@pytest.mark.parametrize("protocol", [V5, V4])
async def test_an_exit_code_is_in_the_status(api: Api, kubelet: Kubelet, protocol: str) -> None:
    kubelet.command("false", exit_code=3)

    found = status(await execute(api, "false", protocols=(protocol,)))

    assert (found["status"], found["reason"]) == ("Failure", "NonZeroExitCode")
    assert found["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]


async def test_a_program_reads_until_the_client_ends_the_input(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("cat", cat)

    output = await execute(api, "cat", stdin=b"binary \x00\xff")

    assert output[1] == b"binary \x00\xff"


async def test_without_stdin_the_input_is_at_its_end(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("cat", cat)

    query = {"command": "cat", "stdout": "true"}
    async with connect(api, "exec", protocols=(V4,), query=query) as client:
        await client.send(0, b"ignored")
        output = await client.output()

    assert status(output)["status"] == "Success"


async def test_a_command_without_a_program_fails_as_with_containerd(api: Api) -> None:
    found = status(await execute(api, "nothing", protocols=(V4,)))
    path = status(await execute(api, "/bin/nothing", protocols=(V4,)))

    assert (found["reason"], found["code"]) == ("InternalError", 500)
    assert found["message"].startswith(
        "Internal error occurred: error executing command in container: failed to exec in "
        'container: failed to start exec "'
    )
    assert found["message"].endswith(
        "OCI runtime exec failed: exec failed: unable to start container process: "
        'exec: "nothing": executable file not found in $PATH: unknown'
    )
    assert path["message"].endswith(
        'exec: "/bin/nothing": stat /bin/nothing: no such file or directory: unknown'
    )


async def test_a_program_that_raises_is_an_internal_error(
    api: Api, kubelet: Kubelet, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(process: Process) -> int:
        raise ValueError("out of order")

    kubelet.command("broken", broken)

    found = status(await execute(api, "broken"))

    assert found["reason"] == "InternalError"
    assert "out of order" in found["message"]
    assert "Process(('broken',) in default/web/main) failed" in caplog.text


async def test_an_error_of_a_programs_own_connection_is_reported(
    api: Api, kubelet: Kubelet
) -> None:
    async def broken(process: Process) -> int:
        raise ConnectionRefusedError("no database")

    kubelet.command("broken", broken)

    assert "no database" in status(await execute(api, "broken"))["message"]


async def test_input_after_its_end_is_dropped(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("cat", cat)
    async with connect(api, "exec", query={"command": "cat", **ALL}) as client:
        for message in (b"\x00in time", b"\xff\x00", b"\x00late", b"\xff\x00"):
            await client.socket.send_bytes(message)
        output = await client.output()

    assert output[1] == b"in time"


@pytest.mark.parametrize("protocols", [(), ("channel.k8s.io",)])
async def test_before_v4_an_error_is_a_text_and_a_success_nothing(
    api: Api, kubelet: Kubelet, protocols: tuple[str, ...]
) -> None:
    kubelet.command("true")
    kubelet.command("false", exit_code=1)

    succeeded = await execute(api, "true", protocols=protocols)
    failed = await execute(api, "false", protocols=protocols)

    assert 3 not in succeeded
    assert failed[3] == (
        b"command terminated with non-zero exit code: error executing command [false], exit code 1"
    )


async def test_with_base64_messages_are_texts(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("ls", stdout="hi")
    query = {"command": "ls", "stdout": "1"}
    protocols = ("v4.base64.channel.k8s.io",)

    async with connect(api, "exec", protocols=protocols, query=query) as client:
        messages = [message.data async for message in client.socket]

    assert messages[:2] == ["1", "1aGk="]
    assert messages[2].startswith("3")


async def test_a_terminal_has_sizes_and_one_output(api: Api, kubelet: Kubelet) -> None:
    async def top(process: Process) -> None:
        first, second = await process.resized(), await process.resized()
        await process.stderr.write(f"{process.tty} {first.width} {second.height} {process.size}")

    kubelet.command("top", top)
    query = {"command": "top", **ALL, "tty": "true"}
    async with connect(api, "exec", query=query) as client:
        await client.send(4, b'{"Width":80,"Height":24}')
        await client.send(4, b"not a size")
        await client.send(4, b'{"Width":100,"Height":50}')
        output = await client.output()

    assert output[1] == b"True 80 50 TerminalSize(width=100, height=50)"
    assert 2 not in output


async def test_the_first_message_is_empty_and_says_that_the_client_is_connected(
    api: Api, kubelet: Kubelet
) -> None:
    kubelet.command("cat", cat)
    for query, channel in (({"stdout": "1"}, 1), ({"stderr": "1"}, 2), ({"stdin": "1"}, 3)):
        asked = {"command": "cat", **query}
        async with connect(api, "exec", query=asked) as client:
            assert (await client.socket.receive()).data == bytes([channel])


async def test_a_program_is_cancelled_when_its_client_disconnects(
    api: Api, kubelet: Kubelet
) -> None:
    ended = asyncio.Event()

    async def wait(process: Process) -> None:
        try:
            await process.stdout.write("ready")
            await asyncio.Event().wait()
        finally:
            ended.set()

    kubelet.command("wait", wait)
    async with connect(api, "exec", query={"command": "wait", **ALL}) as client:
        assert await client.next() == (1, b"ready")

    await ended.wait()


async def test_a_server_that_stops_cancels_programs(caplog: pytest.LogCaptureFixture) -> None:
    ended = asyncio.Event()

    async def wait(process: Process) -> None:
        try:
            await process.stdout.write("ready")
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with APIServer() as server, aiohttp.ClientSession(server.url) as session:
        api = Api(session)
        await api.create(PODS, pod("web"))
        server.kubelet.run_pod("web")
        server.kubelet.command("wait", wait)
        async with connect(api, "exec", query={"command": "wait", **ALL}) as client:
            await client.next()
            await server.refuse_connections()
            message = await client.socket.receive()

    assert ended.is_set()
    assert message.type in {aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}
    assert caplog.records == []


async def test_pings_are_answered_while_a_program_runs(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("cat", cat)
    path = f"{PODS}/web/exec?command=cat&stdin=1&stdout=1"
    async with api.session.ws_connect(path, protocols=(V5,), autoping=False) as socket:
        await socket.receive()
        await socket.ping(b"beat")

        pong = await socket.receive()

    assert (pong.type, pong.data) == (aiohttp.WSMsgType.PONG, b"beat")


async def test_output_waits_for_a_client_that_does_not_read(api: Api, kubelet: Kubelet) -> None:
    written = 0

    async def pour(process: Process) -> None:
        nonlocal written
        while True:
            await process.stdout.write(bytes(65536))
            written += 65536

    kubelet.command("pour", pour)
    async with connect(api, "exec", query={"command": "pour", "stdout": "1"}) as client:
        await client.next()
        before = -1
        while before != written:  # until it waits
            before = written
            for _ in range(50):
                await asyncio.sleep(0)

        assert written < 32 * 1024 * 1024


async def test_a_program_that_does_not_read_pauses_the_client(api: Api, kubelet: Kubelet) -> None:
    go = asyncio.Event()

    async def slow(process: Process) -> int:
        await go.wait()
        total = 0
        while data := await process.stdin.read(1 << 20):
            total += len(data)
        await process.stdout.write(str(total))
        return 0

    kubelet.command("slow", slow)
    async with connect(api, "exec", query={"command": "slow", **ALL}) as client:
        sending = asyncio.create_task(_send_much(client, 200))
        for _ in range(200):
            await asyncio.sleep(0)
        assert not sending.done()

        go.set()
        await sending
        assert await client.next() == (1, str(200 * 65536).encode())


async def _send_much(client: Client, count: int) -> None:
    for _ in range(count):
        await client.send(0, bytes(65536))
    await client.socket.send_bytes(b"\xff\x00")


async def test_a_bad_message_ends_the_connection(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("cat", cat)
    async with connect(api, "exec", query={"command": "cat", **ALL}) as client:
        await client.send(9, b"an unknown channel is ignored")
        await client.send(0, b"hi")
        assert await client.next() == (1, b"hi")
        await client.socket.send_bytes(b"\xff\x00\x00")

        message = await client.socket.receive()

    assert message.type is aiohttp.WSMsgType.CLOSE


# --- which program


async def test_the_longest_command_and_then_the_latest_wins(api: Api, kubelet: Kubelet) -> None:
    kubelet.command(["ls", "/etc"], stdout="motd")
    kubelet.command("ls", stdout="first")
    kubelet.command("ls", stdout="second")
    kubelet.command("ls", stdout="other pod", pod="db-*")
    kubelet.command("ls", stdout="other container", container="sidecar")
    kubelet.command("ls", stdout="other namespace", namespace="shop")

    etc, root = await execute(api, "/bin/ls", "/etc"), await execute(api, "ls", "/")

    assert (etc[1], root[1]) == (b"motd", b"second")


async def test_a_container_with_files_has_tar_and_cat(api: Api, kubelet: Kubelet) -> None:
    tree = kubelet.files({"/etc/motd": "hi"}, pod="web")

    output = await execute(api, "cat", "/etc/motd")

    assert output[1] == tree["/etc/motd"] == b"hi"
    assert "reason" in status(await execute(api, "ls"))


async def test_cleared_entries_are_gone(api: Api, kubelet: Kubelet) -> None:
    kubelet.command("ls")
    kubelet.clear()

    assert status(await execute(api, "ls"))["reason"] == "InternalError"


async def test_entries_and_logs_survive_a_restart(
    api: Api, server: APIServer, kubelet: Kubelet
) -> None:
    kubelet.command("ls", stdout="bin")
    kubelet.log("web", "one\n")

    await server.restart()

    assert (await execute(api, "ls"))[1] == b"bin"
    assert (await api.get(f"{PODS}/web/log")).raw == b"one\n"


def test_an_entry_that_makes_no_sense_is_refused() -> None:
    kubelet = APIServer().kubelet
    with pytest.raises(InvalidArgument, match="no program"):
        kubelet.command([])
    with pytest.raises(InvalidArgument, match="its own output"):
        kubelet.command("cat", cat, stdout="x")
    with pytest.raises(InvalidArgument, match="65536"):
        kubelet.port(65536, ("127.0.0.1", 1))


# --- what is refused


async def refused(api: Api, part: str, **query: Any) -> Any:
    """The response to a handshake that fails."""
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol": query.pop("protocol", V4),
        **query.pop("headers", {}),
    }
    return await api("GET", f"{PODS}/{query.pop('name', 'web')}/{part}", headers=headers, **query)


async def test_pods_and_containers_are_checked_as_by_kube_apiserver(
    api: Api, kubelet: Kubelet
) -> None:
    two = pod("two")
    two["spec"]["containers"].append({"name": "side", "image": "x"})
    await api.create(PODS, two)
    asked = {"command": "ls", "stdout": "1"}

    missing = await refused(api, "exec", name="gone", **asked)
    unnamed = await refused(api, "exec", name="two", **asked)
    wrong = await refused(api, "attach", name="two", container="third", **asked)
    unbound = await refused(api, "exec", name="two", container="side", **asked)
    forward = await refused(api, "portforward", name="two", ports=80)

    assert (missing.code, missing.reason) == (404, "NotFound")
    assert unnamed.json["message"] == (
        "a container name must be specified for pod two, choose one of: [main side]"
    )
    assert wrong.json["message"] == "container third is not valid for pod two"
    assert unbound.json["message"] == "pod two does not have a host assigned"
    assert forward.json["message"] == "pod two does not have a host assigned"


async def test_a_container_that_does_not_run_is_reported_as_by_a_kubelet(
    api: Api, kubelet: Kubelet
) -> None:
    await api.create(PODS, pod("new") | {"spec": {**pod("new")["spec"], "nodeName": "node-1"}})
    asked = {"command": "ls", "stdout": "1"}

    before_handshake = await refused(api, "exec", name="new", **asked)
    attach = await refused(api, "attach", name="new", **asked)
    forward = await refused(api, "portforward", name="new", ports=80)
    async with connect(api, "exec", query=asked, name="new") as client:
        output = await client.output()

    assert (before_handshake.code, before_handshake.raw) == (500, b'container not found ("main")')
    assert attach.raw == b"container main not found in pod new_default"
    assert forward.raw == b'pod not found ("new_default")'
    assert status(output)["message"] == (
        'Internal error occurred: unable to upgrade connection: container not found ("main")'
    )


async def test_a_request_that_is_no_handshake_is_refused(api: Api) -> None:
    asked = {"command": "ls", "stdout": "1"}

    plain = await api.get(f"{PODS}/web/exec", **asked)
    bare = await refused(api, "exec", headers={"Upgrade": "SPDY/3.1"}, **asked)
    unknown = await refused(api, "exec", protocol="v9.channel.k8s.io", **asked)
    no_key = await refused(api, "exec", headers={"Sec-WebSocket-Key": "short"}, **asked)
    no_stream = await refused(api, "exec", command="ls")
    no_port = await refused(api, "portforward")
    bad_port = await refused(api, "portforward", ports="80,x")
    large_port = await refused(api, "portforward", ports="80,65536")
    other = await refused(api, "portforward", protocol="v9.channel.k8s.io", ports=80)

    assert plain.json["message"] == "Upgrade request required"
    assert "speaks WebSocket, not spdy/3.1" in bare.json["message"]
    assert (unknown.code, unknown.raw) == (other.code, other.raw) == (403, b"")
    assert no_key.code == bad_port.code == 400
    assert no_stream.raw == b"you must specify at least 1 of stdin, stdout, stderr"
    assert b"out of range" in large_port.raw
    assert (no_port.code, no_port.raw) == (400, b'query parameter "port" is required')


async def test_websockets_need_the_verb_create_beside_get() -> None:
    tokens = {"ann": User("ann"), "bob": User("bob")}
    group = "rbac.authorization.k8s.io"
    async with (
        Service(rbac=True, tokens=tokens) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        admin = {"Authorization": f"Bearer {server.token}"}
        api = Api(session)
        await api("POST", PODS, pod("web"), headers=admin)
        for name, verbs in (("ann", ["get"]), ("bob", ["get", "create"])):
            rule = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": verbs}
            role = {"metadata": {"name": name}, "rules": [rule]}
            binding = {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
                "subjects": [{"apiGroup": group, "kind": "User", "name": name}],
            }
            path = f"/apis/{group}/v1"
            await api("POST", f"{path}/clusterroles", role, headers=admin)
            await api("POST", f"{path}/clusterrolebindings", binding, headers=admin)
        asked = {"command": "ls", "stdout": "1"}

        reader = await refused(api, "exec", headers={"Authorization": "Bearer ann"}, **asked)
        writer = await refused(api, "exec", headers={"Authorization": "Bearer bob"}, **asked)

    assert reader.code == 403
    assert reader.json["message"] == 'pods "web" is forbidden: '
    assert writer.json["message"] == "pod web does not have a host assigned"


# --- attach


async def test_attach_shows_what_is_written_to_the_log_from_now_on(
    api: Api, kubelet: Kubelet
) -> None:
    kubelet.log("web", "before\n")

    async with connect(api, "attach", query=ALL) as client:
        await client.socket.receive()
        kubelet.log("web", "after\n")
        assert await client.next() == (1, b"after\n")
        kubelet.restart_container("web")
        output = await client.output()

    assert status(output)["status"] == "Success"


async def test_attach_runs_a_registered_program_or_the_command_of_the_spec(
    api: Api, kubelet: Kubelet
) -> None:
    sleeper = pod("sleeper")
    sleeper["spec"]["containers"][0] |= {"command": ["cat"], "args": ["-u"], "tty": True}
    await api.create(PODS, sleeper)
    kubelet.run_pod("sleeper")
    kubelet.command("cat", cat)

    async def main(process: Process) -> int:
        await process.stdout.write(f"main {process.tty}")
        return 5  # a client that attaches gets no exit code

    kubelet.attach(main, pod="web")

    async with connect(api, "attach", query=ALL) as client:
        registered = await client.output()
    async with connect(api, "attach", query=ALL, name="sleeper") as client:
        await client.send(0, b"hi")
        of_spec = await client.next()

    assert (registered[1], status(registered)["status"]) == (b"main False", "Success")
    assert of_spec == (1, b"hi")


# --- port-forward


async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data.upper())
        await writer.drain()
    writer.write(b"!")
    await writer.drain()


@asynccontextmanager
async def tunnel(api: Api) -> AsyncIterator[Tunnel]:
    async with connect(api, "portforward", protocols=(TUNNEL,)) as client:
        assert client.socket.protocol == TUNNEL
        yield Tunnel(client.socket)


@pytest.mark.parametrize("request_id", ["0", ""])
async def test_a_connection_is_forwarded_and_half_closed(
    api: Api, kubelet: Kubelet, request_id: str
) -> None:
    kubelet.port(8080, shout, pod="web")
    async with tunnel(api) as client:
        error = await client.open("error", "8080", request_id)
        data = await client.open("data", "8080", request_id)
        await client.send(data, b"hi", fin=True)

        frames: list[spdy.Data] = []
        while len([each for each in frames if each.fin]) < 2:
            frames.append(await client.next(spdy.Data))

    assert b"".join(each.data for each in frames if each.stream_id == data) == b"HI!"
    # As of a kubelet: that there was no error comes before the end of the data.
    assert [(each.stream_id, each.data) for each in frames if each.fin] == [
        (error, b""),
        (data, b""),
    ]


async def test_many_connections_share_one_tunnel(api: Api, kubelet: Kubelet) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await shout(reader, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        kubelet.port(80, server.sockets[0].getsockname()[:2])
        async with tunnel(api) as client:
            streams = []
            for number in range(20):
                await client.open("error", "80", str(number))
                streams.append(await client.open("data", "80", str(number)))
            for number, stream in enumerate(streams):
                await client.send(stream, f"c{number}".encode(), fin=True)
            received = dict.fromkeys(streams, b"")
            left = set(streams)
            while left:
                event = await client.next(spdy.Data)
                if event.stream_id in received:
                    received[event.stream_id] += event.data
                    left -= {event.stream_id} if event.fin else set()

    assert list(received.values()) == [f"C{number}!".encode() for number in range(20)]


@pytest.mark.parametrize("is_registered", [True, False])
async def test_a_port_without_a_listener_is_reported_on_the_error_stream(
    api: Api, kubelet: Kubelet, is_registered: bool
) -> None:
    unused = await asyncio.start_server(shout, "127.0.0.1", 0)
    address = unused.sockets[0].getsockname()[:2]
    unused.close()
    if is_registered:
        kubelet.port(9, address)
    async with tunnel(api) as client:
        error = await client.open("error", "9")
        await client.open("data", "9")

        message = (await client.read(error)).decode()

    assert message.startswith("error forwarding port 9 to pod ")
    assert "dial tcp4 127.0.0.1:9: connect: connection refused" in message


async def test_a_reset_stream_ends_its_connection(api: Api, kubelet: Kubelet) -> None:
    ended = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        ended.set()

    kubelet.port(80, listen)
    async with tunnel(api) as client:
        error = await client.open("error", "80")
        data = await client.open("data", "80")
        await client.socket.send_bytes(client.session.reset(data))

        assert await client.read(error) == b""
        await ended.wait()


async def test_a_port_function_that_raises_ends_its_connection_only(
    api: Api, kubelet: Kubelet, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise ValueError("out of order")

    kubelet.port(80, broken)
    kubelet.port(81, shout)
    async with tunnel(api) as client:
        await client.open("error", "80")
        first = await client.open("data", "80")
        ended = await client.read(first)
        await client.open("error", "81", "1")
        second = await client.open("data", "81", "1")
        await client.send(second, b"hi", fin=True)

        assert (ended, await client.read(second)) == (b"", b"HI!")
    assert "port 80 of pod web failed" in caplog.text


@pytest.mark.parametrize(("kind", "port"), [("data", "0"), ("data", "x"), ("stdin", "80")])
async def test_a_stream_with_wrong_headers_is_reset(api: Api, kind: str, port: str) -> None:
    async with tunnel(api) as client:
        _, data = client.session.open({"streamtype": kind, "port": port})
        await client.socket.send_bytes(data)

        assert await client.next(spdy.RstStream) == spdy.RstStream(stream_id=1)


async def test_bytes_that_are_no_spdy_end_the_tunnel(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    async with tunnel(api) as client:
        await client.socket.send_bytes(b"GET / HTTP/1.1\r\n\r\n")

        assert await client.next(spdy.GoAway) == spdy.GoAway(
            status=spdy.GoAwayStatus.PROTOCOL_ERROR
        )
    assert "closing the connection" in caplog.text


@pytest.mark.parametrize("protocols", [(V4,), (), ("portforward.k8s.io",)])
async def test_with_channels_each_port_has_two(
    api: Api, kubelet: Kubelet, protocols: tuple[str, ...]
) -> None:
    kubelet.port(80, shout)
    query = {"ports": ["80,81"]}
    async with connect(api, "portforward", protocols=protocols, query=query) as client:
        first = [await client.next() for _ in range(4)]
        await client.send(0, b"hi")
        rest = dict([await client.next(), await client.next()])

    ports = [struct.pack("<H", port) for port in (80, 80, 81, 81)]
    assert first == list(enumerate(ports))
    assert rest[0] == b"HI"
    assert b"connection refused" in rest[3]


async def test_with_channels_the_end_of_all_ports_closes_the_connection(
    api: Api, kubelet: Kubelet
) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"bye")

    kubelet.port(80, greet)
    query = {"ports": "80"}
    async with connect(api, "portforward", protocols=(V4,), query=query) as client:
        output = await client.output()

    assert output[0] == b"\x50\x00bye"


# --- containers and logs


async def test_a_pod_is_started_and_its_container_restarted(api: Api, kubelet: Kubelet) -> None:
    before = (await api.get(f"{PODS}/web")).json["status"]

    kubelet.restart_container("web", exit_code=7)

    after = (await api.get(f"{PODS}/web")).json["status"]["containerStatuses"][0]
    (first,) = before["containerStatuses"]
    assert (before["phase"], first["restartCount"], first["ready"]) == ("Running", 0, True)
    assert before["podIP"]
    assert (after["restartCount"], after["lastState"]["terminated"]["exitCode"]) == (1, 7)
    assert after["containerID"] != first["containerID"]
    with pytest.raises(StatusError):
        kubelet.run_pod("gone")
    with pytest.raises(StatusError, match="choose one of"):
        kubelet.restart_container("web", container="side")


async def test_an_ephemeral_container_runs_after_it_was_added(api: Api, kubelet: Kubelet) -> None:
    debugger = {"name": "debugger", "image": "busybox", "command": ["sh"]}
    patch = {"spec": {"ephemeralContainers": [debugger]}}
    headers = {"Content-Type": "application/strategic-merge-patch+json"}
    kubelet.command("sh", stdout="$ ", container="debugger")

    added = await api("PATCH", f"{PODS}/web/ephemeralcontainers", patch, headers=headers)
    kubelet.run_pod("web")

    async with connect(api, "attach", query={**ALL, "container": "debugger"}) as client:
        output = await client.output()
    assert added.code == 200
    assert output[1] == b"$ "


async def test_lines_are_appended_rotated_and_kept_for_the_previous_run(
    api: Api, kubelet: Kubelet
) -> None:
    log = f"{PODS}/web/log"
    kubelet.log("web", "one\ntwo\nthr")
    kubelet.log("web", "ee\n")
    whole = (await api.get(log)).raw
    kubelet.rotate_log("web", keep=1)
    rotated = (await api.get(log)).raw
    kubelet.restart_container("web")
    kubelet.log("web", "again\n")

    assert (whole, rotated) == (b"one\ntwo\nthree\n", b"three\n")
    assert (await api.get(log)).raw == b"again\n"
    assert (await api.get(log, previous="true")).raw == b"three\n"


async def test_a_text_for_all_containers_is_in_every_log(api: Api, kubelet: Kubelet) -> None:
    two = pod("two")
    two["spec"]["containers"].append({"name": "side", "image": "x"})
    await api.create(PODS, two)
    kubelet.run_pod("two")
    kubelet.log("two", "both\n")
    kubelet.log("two", "side\n", container="side")
    kubelet.log("two", "again\n")

    main = await api.get(f"{PODS}/two/log", container="main")
    side = await api.get(f"{PODS}/two/log", container="side")

    assert (main.raw, side.raw) == (b"both\nagain\n", b"both\nside\nagain\n")


async def test_a_log_is_followed_through_a_rotation_until_the_container_ends(
    api: Api, kubelet: Kubelet
) -> None:
    kubelet.log("web", "one\n")

    async with api.session.get(f"{PODS}/web/log?follow=true") as response:
        kubelet.log("web", "two\nthr")
        kubelet.rotate_log("web")
        kubelet.log("web", "three\n")
        kubelet.restart_container("web")
        kubelet.log("web", "of the next run\n")
        text = await response.text()

    assert text == "one\ntwo\nthrthree\n"


async def test_a_followed_log_ends_at_its_limit(api: Api, kubelet: Kubelet) -> None:
    kubelet.log("web", "one\n")

    async with api.session.get(f"{PODS}/web/log?follow=true&limitBytes=6") as response:
        kubelet.log("web", "two\n")
        assert await response.read() == b"one\ntw"


async def test_many_lines_are_followed(api: Api, kubelet: Kubelet) -> None:
    async with api.session.get(f"{PODS}/web/log?follow=true&tailLines=0") as response:
        for number in range(2000):
            kubelet.log("web", f"{number}\n")
        kubelet.restart_container("web")
        text = await response.text()

    assert text.split() == [str(number) for number in range(2000)]
