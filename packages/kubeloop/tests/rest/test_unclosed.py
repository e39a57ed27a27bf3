"""The warning about a client that was not closed."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
import textwrap
import warnings

import pytest

from kubeloop import Client
from kubeloop.config import ClusterConfig
from kubeloop.rest import RESTClient, path_request
from tests.support.scripted_server import ScriptedServer, reply

GET = path_request("GET", "/x")


async def test_a_client_that_was_not_closed_says_so_in_our_words(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.respond(reply())
    text: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: text.append(context))

    async def use() -> None:
        client = Client(ClusterConfig(server=server.url))
        await client.rest.send(GET)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await use()
        gc.collect()
        await server.until(lambda it: it.closed == 1)  # its connection is closed all the same

    expected = (
        f"a kubeloop client for {server.url} was not closed"
        ' (use "async with Client() as client:", or await client.aclose())'
    )
    ours = [str(each.message) for each in caught if each.category is ResourceWarning]
    assert ours == [expected]
    assert _warned(caplog) == [("kubeloop.rest.connections", logging.WARNING, expected)]
    assert text == []


@pytest.mark.parametrize("closing", ["aclose", "block", "never used"])
async def test_a_client_that_was_closed_or_never_used_is_not_reported(
    closing: str, server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.respond(reply())

    async def use() -> None:
        rest = RESTClient(ClusterConfig(server=server.url))
        match closing:
            case "aclose":
                await rest.send(GET)
                await rest.aclose()
            case "block":
                async with rest:
                    await rest.send(GET)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await use()
        gc.collect()
        await asyncio.sleep(0)

    assert [each for each in caught if each.category is ResourceWarning] == []
    assert _warned(caplog) == []


def _warned(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int, str]]:
    return [each for each in caplog.record_tuples if each[1] >= logging.WARNING]


@pytest.mark.parametrize("where", ["in the function", "in the module"])
def test_a_program_that_ends_without_closing_prints_our_line_and_nothing_else(where: str) -> None:
    """Also when its event loop is gone by then."""
    keep = "kept.append(client)" if where == "in the module" else "pass"
    program = f"""
        import asyncio
        from kubeloop import Client, ClusterConfig
        from kubeloop.rest import path_request

        kept = []

        class Response(asyncio.Protocol):
            def connection_made(self, transport):
                self.transport = transport

            def data_received(self, data):
                self.transport.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}")

        async def main():
            server = await asyncio.get_running_loop().create_server(Response, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            client = Client(ClusterConfig(server=f"http://127.0.0.1:{{port}}"))
            await client.rest.send(path_request("GET", "/x"))
            server.close()
            {keep}

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
    )

    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("a kubeloop client for http://127.0.0.1:")
