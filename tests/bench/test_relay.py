"""The relay between a server and a controller: it passes everything on, and remembers when."""

from __future__ import annotations

import socket
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="what is unread is known from /proc")
def test_held_messages_are_handed_over_one_by_one_each_when_the_client_has_read_the_last() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answering, args=(listener,), daemon=True).start()
        with (
            Relay(listener.getsockname()[1]) as relay,
            socket.create_connection(("127.0.0.1", relay.port)) as client,
        ):
            relay.hold()
            ends = [0]
            for message in (b"a", b"b", b"c"):
                client.sendall(message)
                ends.append(relay.await_message(ends[-1], timeout=5))
            release = threading.Thread(target=relay.release_each, args=(ends[1:],))
            release.start()
            received = [client.recv(1 << 16) for _ in range(3)]
            release.join()
            client.sendall(b"d")

            assert received == [b"aa", b"bb", b"cc"]
            assert client.recv(2, socket.MSG_WAITALL) == b"dd"


def test_waiting_for_a_message_that_never_comes_is_a_failure() -> None:
    with Relay(1) as relay:
        relay.hold()

        with pytest.raises(Failed, match="nothing came through the relay"):
            relay.await_message(0, timeout=0.01)
