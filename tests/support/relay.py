"""A TCP proxy in a separate process, which a test can stop with a signal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_RELAY = """
import socket, sys, threading

def pump(one, other):
    while chunk := one.recv(65536):
        other.sendall(chunk)

with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        for pair in ((client, server), (server, client)):
            threading.Thread(target=pump, args=pair, daemon=True).start()
"""


@contextmanager
def relay_process(port: int) -> Iterator[tuple[str, int]]:
    """Run the proxy for a port; yields its URL and its process id."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _RELAY, str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}", process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
