"""Reading a cluster's description of its API, against a server of three answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fetch_openapi import AGGREGATED, main


class Cluster(BaseHTTPRequestHandler):
    """Answers every path with the path itself and what it was asked to accept."""

    def do_GET(self) -> None:
        body = json.dumps({"path": self.path, "accept": self.headers["Accept"]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent; the parent's name for the argument is the one to keep."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Cluster) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_documents_are_kept_as_the_cluster_sent_them(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "openapi"

    main(address, folder)

    swagger = json.loads((folder / "swagger.json").read_text())
    discovery = json.loads((folder / "discovery.json").read_text())
    assert swagger == {"path": "/openapi/v2", "accept": "application/json"}
    assert discovery == {
        part: {"path": f"/{part}", "accept": AGGREGATED} for part in ("api", "apis")
    }
