"""Manifests of a URL, from servers that redirect and break off."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kubeloop.errors import KubeError
from kubeloop_cli.download import download
from tests.support.certificates import Authority

Respond = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def web_server(respond: Respond, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            respond(self)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its signature
            pass

    paths: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}/a"
        finally:
            server.shutdown()
            thread.join()
    assert len(paths) <= 5


def redirect(location: str) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", location.replace("NEXT", handler.path + "a"))
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return respond


def send(body: bytes, *, length: int | None) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(body)

    return respond


def error_of(respond: Respond, tls: ssl.SSLContext | None = None) -> str:
    with web_server(respond, tls) as url:
        found = download("apply", url)
    assert isinstance(found, KubeError)
    return str(found)


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Of a server that this process trusts."""
    authority = Authority()
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    return authority.server_context(tmp_path)


@pytest.mark.parametrize(
    "target", ["ftp://127.0.0.1/a", "file:///etc/passwd", "data:,a", "gopher://a"]
)
def test_a_redirect_leads_to_no_other_scheme(target: str) -> None:
    message = error_of(redirect(target))

    assert "cannot read it" in message
    assert target.partition(":")[0] in message


def test_a_redirect_does_not_lead_from_https_to_http(tls: ssl.SSLContext) -> None:
    with web_server(send(b"a: 1", length=4)) as plain:
        assert f"from https to {plain}, which is not followed" in error_of(redirect(plain), tls)


def test_a_redirect_may_lead_to_https_and_within_a_server(tls: ssl.SSLContext) -> None:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        (redirect("/b") if handler.path == "/a" else send(b"a: 1", length=4))(handler)

    with web_server(respond, tls) as secure, web_server(redirect(secure)) as plain:
        assert download("apply", plain) == b"a: 1"


@pytest.mark.parametrize("location", ["NEXT", "/a"], ids=["chain", "circle"])
def test_redirects_have_an_end(location: str) -> None:
    assert "more than 4 redirects, or a circle of them" in error_of(redirect(location))


def test_a_body_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubeloop_cli.download._MAX_SIZE", 1000)

    assert "longer than 1000 bytes" in error_of(send(b"a" * 2000, length=None))


def test_a_body_that_is_cut_off_is_refused() -> None:
    assert "closed before its end" in error_of(send(b"a: 1", length=40))


def test_a_body_without_a_length_needs_a_close_notify(tls: ssl.SSLContext) -> None:
    """The server of Python's library sends none."""
    assert "cannot read it" in error_of(send(b"a: 1", length=None), tls)


def test_the_password_of_a_url_is_not_shown() -> None:
    found = download("apply", "http://ann:hunter2@127.0.0.1:1/a")

    assert isinstance(found, KubeError)
    assert "hunter2" not in str(found)
