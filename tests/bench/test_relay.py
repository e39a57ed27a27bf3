"""The relay between a server and a controller: it passes everything on, and remembers when."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from bench.measure import Failed
from bench.relay import Relay


def answering(listener: socket.socket) -> None:
    """Say everything twice, to one client."""
    connection, _ = listener.accept()
    with connection:
        while data := connection.recv(1 << 16):
            connection.sendall(data * 2)


def test_bytes_pass_both_ways_and_the_moment_of_the_answer_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answering, args=(listener,), daemon=True).start()
        with Relay(listener.getsockname()[1]) as relay:
            before = time.time_ns()
            with socket.create_connection(("127.0.0.1", relay.port)) as client:
                client.sendall(b"ab")
                received = client.recv(4, socket.MSG_WAITALL)
            after = time.time_ns()

            assert received == b"abab"
            assert before <= relay.last_before(after, after=before) <= after


def test_a_moment_that_was_never_noted_is_not_made_up() -> None:
    with Relay(1) as relay, pytest.raises(Failed, match="did not come through"):
        relay.last_before(time.time_ns(), after=0)
