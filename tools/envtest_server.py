"""The embedded server with the command line of kube-apiserver, as envtest starts it.

    python tools/envtest_server.py kube-apiserver --secure-port=... --client-ca-file=...
    python tools/envtest_server.py etcd --listen-client-urls=http://127.0.0.1:2379

envtest starts both programs, and waits for /healthz and /health. The embedded server needs no
etcd: the second form only reports that it is healthy. Unknown flags are ignored. It listens on
loopback only.
See also: `peers`, which writes two launchers into a folder and passes it as KUBEBUILDER_ASSETS.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from kubeloop.kit import run
from kubeloop_testing import APIServer
from kubeloop_testing.server.access import certs

# What envtest looks for in the output of --help.
_HELP = "--secure-port\n--client-ca-file\n--unsafe-no-fsync"


class FileAuthority:
    """The certificates that envtest has written; takes the place of a generated authority."""

    def __init__(self, folder: Path, client_ca: Path | None) -> None:
        self.pem = (client_ca or folder / "apiserver.crt").read_bytes()
        self._pair = certs.KeyPair(
            (folder / "apiserver.crt").read_bytes(), (folder / "apiserver.key").read_bytes()
        )

    def server(self, *_: str) -> certs.KeyPair:
        return self._pair


def main(arguments: Sequence[str]) -> int:
    """Run one of the two programs until SIGTERM; returns the exit code."""
    program, *flags = arguments
    if "--help" in flags:
        print(_HELP)
        return 0
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    if program == "etcd":
        parser.add_argument("--listen-client-urls", required=True)
        _report_health(parser.parse_known_args(flags)[0].listen_client_urls)
    else:
        parser.add_argument("--secure-port", type=int, required=True)
        parser.add_argument("--bind-address", default="127.0.0.1")
        parser.add_argument("--cert-dir", type=Path, required=True)
        parser.add_argument("--client-ca-file", type=Path)
        run(_serve(parser.parse_known_args(flags)[0]))
    return 0


async def _serve(flags: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    authority = FileAuthority(flags.cert_dir, flags.client_ca_file)
    # A server always generates its certificates; envtest's clients trust only those of envtest.
    setattr(certs, "Authority", lambda: authority)  # noqa: B010 - not the declared type
    async with APIServer(rbac=True, host=flags.bind_address, port=flags.secure_port):
        await stop.wait()


def _report_health(url: str) -> None:
    address = urlsplit(url)
    with HTTPServer((address.hostname or "127.0.0.1", address.port or 0), _Healthy) as server:
        server.serve_forever()


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Log nothing."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
