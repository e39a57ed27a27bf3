"""A TLS server that gives one fixed response to every request: what is left is the client's cost.

Run as a program it serves until its input ends; `responding` starts it so. It reads as much of a
request as it must to find its end, so that it is never slower than a client.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast, final

import msgspec

from bench.line_process import line_process
from kubeloop import run
from kubeloop_testing.server.access.certs import Authority, server_context

__all__ = ["RESPONSE", "Address", "Responder", "responding"]

_BODY = msgspec.json.encode(
    {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": "settings",
            "namespace": "default",
            "uid": "0d5c1b52-2a5e-4f0a-9c39-5b1f6a4c7e21",
            "resourceVersion": "48151",
            "creationTimestamp": "2026-03-04T05:06:07Z",
            "managedFields": [
                {
                    "manager": "bench",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2026-03-04T05:06:07Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:data": {".": {}, "f:a": {}}},
                }
            ],
        },
        "data": {"a": "1"},
    }
)
# The header fields that kube-apiserver sends.
RESPONSE = (
    b"HTTP/1.1 200 OK\r\n"
    b"Audit-Id: 5a4f4a0e-2c59-4c58-8f4c-7f6e30e2a2f0\r\n"
    b"Cache-Control: no-cache, private\r\n"
    b"Content-Type: application/json\r\n"
    b"X-Kubernetes-Pf-Flowschema-Uid: 1b5f8a2a-6e5c-4a0c-9d61-95c9a8b7d6e5\r\n"
    b"X-Kubernetes-Pf-Prioritylevel-Uid: 2c6f9b3b-7f6d-4b1d-8e72-a6dab9c8e7f6\r\n"
    b"Date: Wed, 04 Mar 2026 05:06:07 GMT\r\n"
    b"Content-Length: %d\r\n\r\n" % len(_BODY)
) + _BODY


class Address(msgspec.Struct, frozen=True):
    """Where the server listens, and the file of the authority that vouches for it."""

    port: int
    ca_file: str

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


@final
class Responder(asyncio.Protocol):
    """One connection: a response for each request whose body has arrived."""

    def __init__(self) -> None:
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not inherit from asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._received += data
        while (end := _end_of_request(self._received)) is not None:
            self._received = self._received[end:]
            self._transport.write(RESPONSE)


def _end_of_request(data: bytes) -> int | None:
    """Where the first request ends; None while it is incomplete."""
    head, found, _ = data.partition(b"\r\n\r\n")
    if not found:
        return None
    _, _, rest = head.lower().partition(b"content-length:")
    end = len(head) + len(found) + int(rest.partition(b"\r\n")[0] or 0)
    return end if len(data) >= end else None


@contextmanager
def responding() -> Iterator[Address]:
    """The address of a responder in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.responder", folder]
        with line_process(command) as process:
            yield msgspec.json.decode(process.line(), type=Address)


async def serve(folder: Path) -> None:
    """Serve until the input ends."""
    authority = Authority()
    ca_file = folder / "ca.pem"
    ca_file.write_bytes(authority.pem)
    context = server_context(authority.server())
    loop = asyncio.get_running_loop()
    async with await loop.create_server(Responder, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        print(msgspec.json.encode(Address(port, str(ca_file))).decode(), flush=True)
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    run(serve(Path(sys.argv[1])))
