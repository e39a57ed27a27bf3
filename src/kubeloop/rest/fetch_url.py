"""One HTTP request to any server: for the OpenID Connect credentials of `kubeloop.config`.

Guarantees: uses its own session and closes it; if a CA is given, no other is trusted; time and
decompressed size are limited; no exception of the HTTP library is raised.
See also: `transport` (requests to the API server).
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Mapping

import aiohttp

from kubeloop.config import Fetched, proxy_for, redacted_url
from kubeloop.errors import ConfigError, ResponseTooLarge, TransportError

from .decompression import GzipDecompressor
from .failures import failure_of
from .timeouts import Timeouts

__all__ = ["fetch"]

_TIMEOUTS = Timeouts(connect=10.0, response=30.0, idle=30.0, total=30.0)
_LARGEST = 4 * 1024 * 1024


async def fetch(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
) -> Fetched:
    """Send one request; `ca` has the certificates to trust, empty for the system's.

    Raises:
        ConfigError: `ca` has no certificate.
        TransportError: there was no response.
    """
    try:
        trusted = ssl.create_default_context(cadata=ca.decode("ascii") if ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{redacted_url(url)}: the CA contains no certificate") from error
    action = f"{method} {redacted_url(url).partition('?')[0]}"
    # Issuers hardly compress a kilobyte; those that do anyway are decompressed in pieces.
    headers = {"Accept-Encoding": "identity", **headers}
    timeout = aiohttp.ClientTimeout(total=_TIMEOUTS.total, connect=_TIMEOUTS.connect)
    try:
        async with (
            aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout, auto_decompress=False
            ) as session,
            session.request(
                method,
                url,
                headers=headers,
                data=body or None,
                ssl=trusted,
                proxy=proxy_for(url),
                allow_redirects=not body,  # a token must not be sent to another server
            ) as response,
        ):
            return Fetched(status=response.status, body=await _body(response, action))
    except (aiohttp.ClientError, OSError) as error:
        raise failure_of(error, action=action, server="", timeouts=_TIMEOUTS) from error
    except ValueError as error:
        raise TransportError(f"{action}: {error}") from error


async def _body(response: aiohttp.ClientResponse, action: str) -> bytes:
    """The whole body, decompressed."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip"}:
        raise TransportError(f"{action}: the response has the Content-Encoding {encoding[:60]!r}")
    decompressor = GzipDecompressor() if encoding == "gzip" else None
    read = bytearray()
    async for chunk in response.content.iter_any():
        try:
            read += decompressor.feed(chunk) if decompressor else chunk
            while decompressor and decompressor.has_more and len(read) <= _LARGEST:
                await asyncio.sleep(0)
                read += decompressor.feed(b"")
        except zlib.error as error:
            raise TransportError(f"{action}: the response is not gzip: {error}") from error
        if len(read) > _LARGEST:
            raise ResponseTooLarge(f"{action}: the response is larger than {_LARGEST} bytes")
    if decompressor and not decompressor.is_whole:
        raise TransportError(f"{action}: the response is incomplete")
    return bytes(read)
