"""Peers that died without closing the connection (TRN-9, TRN-10; HTTP/2 has pings)."""

from __future__ import annotations

import asyncio
import ctypes
import socket
import struct
import sys

import pytest

from kubeloop.rest import Timeouts, WatchEnd, dial, resource_request
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
)

from .test_watch import event

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="options have other names there")


def options_of(sock: socket.socket) -> dict[str, int]:
    names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
    found = {name: sock.getsockopt(socket.IPPROTO_TCP, getattr(socket, name, 0)) for name in names}
    return {"SO_KEEPALIVE": sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), **found}


@on_linux
async def test_the_kernel_ends_a_connection_whose_peer_is_silent_for_45_seconds(
    server: ScriptedServer,
) -> None:
    server.respond(chunked(end="hang"))
    async with client_for(server) as rest, rest.watch(resource_request("watch", PODS)):
        (connection,) = rest._transport._pool.connections
        assert connection.transport is not None
        found = options_of(connection.transport.get_extra_info("socket"))

    assert found == {
        "SO_KEEPALIVE": 1,
        "TCP_KEEPIDLE": 15,
        "TCP_KEEPINTVL": 10,
        "TCP_KEEPCNT": 3,
        "TCP_USER_TIMEOUT": 0,  # would end an exec whose process does not read
    }
    assert found["TCP_KEEPIDLE"] + found["TCP_KEEPINTVL"] * found["TCP_KEEPCNT"] <= 60


SO_ATTACH_FILTER = 26
DROP = struct.pack("HBBI", 0x06, 0, 0, 0)  # a BPF program of one instruction: keep 0 bytes


def deafen(number: int) -> None:
    """Drop every packet before TCP sees it, so that nothing is acknowledged."""
    program = ctypes.create_string_buffer(DROP, len(DROP))
    sock = socket.socket(fileno=number)
    try:
        address = ctypes.addressof(program)
        sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, address))
    finally:
        sock.detach()


@on_linux
async def test_a_watch_ends_when_the_kernel_of_its_peer_is_silent(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With shorter times: the peer's socket stays open, and sends nothing."""
    for name in ("TCP_KEEP_IDLE", "TCP_KEEP_INTERVAL", "TCP_KEEP_PROBES"):
        monkeypatch.setattr(dial, name, 1)

    async def dead(received: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        sent = event("ADDED", "6")
        await connection.send(b"%x\r\n%s\r\n" % (len(sent), sent))
        sock = connection.writer.get_extra_info("socket")
        deafen(sock.fileno())
        await asyncio.Event().wait()

    server.respond(dead)
    rest = client_for(server, timeouts=Timeouts(idle=None))
    async with rest, rest.watch(resource_request("watch", PODS)) as watch:
        assert (await anext(watch)).type == "ADDED"

        assert [each async for each in watch] == []

    assert watch.ended is WatchEnd.BROKEN
    assert watch.failure is not None


@on_linux
async def test_a_quiet_watch_of_a_living_peer_lasts(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel of the peer acknowledges the probes, whatever its process does."""
    for name in ("TCP_KEEP_IDLE", "TCP_KEEP_INTERVAL", "TCP_KEEP_PROBES"):
        monkeypatch.setattr(dial, name, 1)
    server.respond(chunked(end="hang"))
    rest = client_for(server, timeouts=Timeouts(idle=None))
    async with rest, rest.watch(resource_request("watch", PODS)) as watch:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await anext(watch)

    assert watch.ended is WatchEnd.STOPPED
