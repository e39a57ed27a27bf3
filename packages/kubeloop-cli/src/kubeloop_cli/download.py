"""Reads a manifest of a URL: only by http and https, and bounded.

Guarantees: a redirect leads to no other scheme, and not from https to http; redirects, size and
time are bounded; an incomplete response is an error, so that no part of a manifest is applied.
Proxies are those of the environment.
"""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from kubeloop.config import redacted_url
from kubeloop.errors import KubeError

from .failures import CommandFailed

__all__ = ["download"]

_SECONDS = 30.0  # without a byte
_TOTAL_SECONDS = 300.0
_MAX_SIZE = 64 * 1024 * 1024  # bytes
_PIECE = 256 * 1024


def download(verb: str, url: str) -> bytes | KubeError:
    """The content of a URL, or why it cannot be read."""
    try:
        with _opener().open(url, timeout=_SECONDS) as response:
            return _read(response)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        code = getattr(error, "code", None)
        what = f"{code} {reason}" if code else f"{reason}"
        return CommandFailed(f"{verb} {redacted_url(url)}: cannot read it: {what}")


def _read(response: Any) -> bytes:
    """The whole body. Raises: OSError if it is incomplete, too large or too slow."""
    content, until = bytearray(), time.monotonic() + _TOTAL_SECONDS
    while piece := response.read(_PIECE):
        content += piece
        if len(content) > _MAX_SIZE:
            raise OSError(f"it is longer than {_MAX_SIZE} bytes (download it first)")
        if time.monotonic() > until:
            raise OSError(f"it took longer than {_TOTAL_SECONDS:g} s (download it first)")
    if response.length:  # that the server announced, and did not send
        raise OSError("the connection was closed before its end")
    return bytes(content)


def _opener() -> urllib.request.OpenerDirector:
    """As urllib's own, without its handlers for files and FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=_tls_context()),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = 4
    max_repeats = 1
    inf_msg = f"more than {max_redirections} redirects, or a circle of them: "

    def redirect_request(
        self, req: urllib.request.Request, *details: Any
    ) -> urllib.request.Request | None:
        """The next request; the last of `details` is its URL."""
        before, after = urlsplit(req.full_url).scheme, urlsplit(details[-1]).scheme
        if after not in {before, "https"}:
            raise urllib.error.URLError(
                f"it redirects from {before} to {redacted_url(details[-1])}, which is not followed"
                " (use that address, if you trust it)"
            )
        return super().redirect_request(req, *details)


class _StrictContext(ssl.SSLContext):
    """A TLS context for which a connection that ends without a close_notify is an error."""

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        return super().wrap_socket(*args, **{**options, "suppress_ragged_eofs": False})


def _tls_context() -> ssl.SSLContext:
    context = _StrictContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    return context
