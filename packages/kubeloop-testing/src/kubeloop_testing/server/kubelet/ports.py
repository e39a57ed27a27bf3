"""Connections to the registered ports of pods.

Guarantees: a port that is no address but a function runs as a task of the caller.
See also: `programs` (the entries).
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl

from kubeloop.kit import TaskOwner

from .programs import PortTarget

__all__ = ["PortStreams", "connect_port"]

PortStreams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect_port(
    target: PortTarget | None, tasks: TaskOwner, *, name: str, tls: ssl.SSLContext | None = None
) -> PortStreams:
    """Connect to a port; a function is run by `tasks`, under this name.

    Raises: OSError with the text of the reason, such as `connection refused`.
    """
    if target is None:
        raise OSError("connection refused")
    server_name = "" if tls is not None else None
    if isinstance(target, tuple):
        try:
            return await asyncio.open_connection(*target, ssl=tls, server_hostname=server_name)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(why.lower()) from error
    near, far = socket.socketpair()
    try:
        reader, writer = await asyncio.open_connection(sock=far)
    except BaseException:
        near.close()
        raise

    async def handle() -> None:
        try:
            await target(reader, writer)
        finally:
            writer.close()

    tasks.spawn(handle(), name=name)
    return await asyncio.open_connection(sock=near, ssl=tls, server_hostname=server_name)
