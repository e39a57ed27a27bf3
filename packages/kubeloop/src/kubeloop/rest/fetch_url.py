"""One HTTP request to any server: for the OpenID Connect credentials of `kubeloop.config`.

Guarantees: uses its own connection and closes it; if a CA is given, no other is trusted; time and
decompressed size are limited; only kubeloop's errors are raised.
See also: `transport` (requests to the API server).
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

from kubeloop.config import Fetched, proxy_for, redacted_url
from kubeloop.errors import ConfigError, ResponseTooLarge, TransportError
from kubeloop.kit import SystemClock

from .connections import Connection, ConnectionPool
from .dial import Dialer
from .failures import connect_failure, late_failure
from .incoming import IncomingResponse
from .request import Request
from .response_limits import SizeLimit
from .retry import MAX_REDIRECTS
from .timeouts import Timeouts

__all__ = ["fetch"]

_TIMEOUTS = Timeouts(connect=10.0, response=30.0, idle=30.0, total=30.0)
_LIMIT = SizeLimit("document", 4 * 1024 * 1024)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


async def fetch(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
) -> Fetched:
    """Send one request; `ca` has the certificates to trust, empty for the system's.

    Safe to cancel: the connection is closed.

    Raises:
        ConfigError: `ca` has no certificate.
        TransportError: there was no response.
    """
    try:
        trusted = ssl.create_default_context(cadata=ca.decode("ascii") if ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{redacted_url(url)}: the CA contains no certificate") from error
    action = f"{method} {redacted_url(url).partition('?')[0]}"
    try:
        async with asyncio.timeout(_TIMEOUTS.total):
            for _ in range(MAX_REDIRECTS + 1):
                found, location = await _fetch_once(
                    action, method, url, headers=headers, body=body, trusted=trusted
                )
                # A token must not be sent to another server.
                if found.status not in _REDIRECTS or not location or body:
                    return found
                url = urljoin(url, location)
    except TimeoutError as error:
        seconds = _TIMEOUTS.total or 0.0
        raise late_failure(action=action, server="", seconds=seconds, what="a response") from error
    raise TransportError(f"{action}: more than {MAX_REDIRECTS} redirects (check the address)")


async def _fetch_once(
    action: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes,
    trusted: ssl.SSLContext,
) -> tuple[Fetched, str]:
    """The response, and where it redirects to."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise TransportError(f"{action}: not an http or https URL (check the issuer's URL)")
    tls = trusted if parts.scheme == "https" else None
    host = parts.netloc.rpartition("@")[2]
    clock = SystemClock()
    connection = Connection(ConnectionPool(clock), tls)
    request = Request(method=method, path=parts.path, body=body or None)
    incoming = IncomingResponse(
        request, method=method, clock=clock, server=f"{parts.scheme}://{host}", timeouts=_TIMEOUTS
    )
    try:
        dialer = Dialer(url, proxy=proxy_for(url))
        async with clock.timeout(_TIMEOUTS.connect):
            await dialer.dial(connection, tls=tls, server_hostname=parts.hostname)
    except (OSError, UnicodeError, ValueError) as error:
        raise connect_failure(error, action=action, server="", timeouts=_TIMEOUTS) from error
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        # Issuers hardly compress a kilobyte; those that do anyway are decompressed in pieces.
        pairs = {"Host": host, "Accept-Encoding": "identity", "Connection": "close", **headers}
        if dialer.forwards:
            target = f"{parts.scheme}://{host}{target}"
            pairs |= dict(dialer.proxy_headers)
        if body:
            pairs["Content-Length"] = str(len(body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in pairs.items())
        head = f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode()
        connection.send(incoming, head, body or None)
        await incoming.wait_for_head(None)  # `fetch` bounds the time
        incoming.limit_to(_LIMIT)
        content = await incoming.read()
    except ResponseTooLarge:
        raise ResponseTooLarge(
            f"{action}: the response is larger than {_LIMIT.size} bytes"
        ) from None
    finally:
        connection.abort()
    return Fetched(status=incoming.status, body=content), incoming.headers.get("Location", "")
