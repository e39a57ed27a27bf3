"""The server of the bench of requests: one response for each request, however it arrives."""

from __future__ import annotations

import http.client
import ssl

import pytest

from bench.responder import RESPONSE, Responder, responding

REQUEST = b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"


class FakeTransport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data


@pytest.fixture
def connection() -> tuple[Responder, FakeTransport]:
    responder, transport = Responder(), FakeTransport()
    responder.connection_made(transport)  # type: ignore[arg-type]
    return responder, transport


@pytest.mark.parametrize("cut", range(1, len(REQUEST)))
def test_a_request_in_two_pieces_has_one_response_after_the_second(
    cut: int, connection: tuple[Responder, FakeTransport]
) -> None:
    responder, transport = connection

    responder.data_received(REQUEST[:cut])
    before = transport.written
    responder.data_received(REQUEST[cut:])

    assert before == b""
    assert transport.written == RESPONSE


def test_two_requests_in_one_piece_have_two_responses(
    connection: tuple[Responder, FakeTransport],
) -> None:
    responder, transport = connection

    responder.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + REQUEST)

    assert transport.written == RESPONSE * 2


@pytest.mark.timeout(60)  # it starts an interpreter
def test_it_serves_over_tls_under_its_own_authority() -> None:
    with responding() as address:
        context = ssl.create_default_context(cafile=address.ca_file)
        client = http.client.HTTPSConnection("127.0.0.1", address.port, context=context)
        client.request("PUT", "/a", body=b"hello")
        response = client.getresponse()
        body = response.read()
        client.close()

    assert response.status == 200
    assert RESPONSE.endswith(body)
