"""One HTTP request to anybody: what OpenID Connect asks of whoever can speak HTTP.

Promises: a session of its own, closed at the end; roots that are given are the only ones
trusted; bounded in time and, after decompression, in size; no exception of the HTTP library leaves.
Elsewhere: the API server itself (`transport`).
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Mapping

import aiohttp

from kubeloop.config import Fetched, proxy_for, redacted_url
from kubeloop.errors import ConfigError, ResponseTooLarge, TransportError

from .failures import failure_of
from .timeouts import Timeouts
from .unpacking import Unpacking

__all__ = ["fetch"]

_TIMEOUTS = Timeouts(connect=10.0, answer=30.0, idle=30.0, whole=30.0)
_LARGEST = 4 * 1024 * 1024


async def fetch(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
) -> Fetched:
    """One request; `ca` holds the roots to trust, empty for the system's.

    Raises:
        ConfigError: the roots are none.
        TransportError: there is no answer.
    """
    try:
        trusted = ssl.create_default_context(cadata=ca.decode("ascii") if ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{redacted_url(url)}: its CA holds no certificate") from error
    action = f"{method} {redacted_url(url).partition('?')[0]}"
    # Few issuers compress answers of a kilobyte; those that do anyway are unpacked in pieces.
    headers = {"Accept-Encoding": "identity", **headers}
    timeout = aiohttp.ClientTimeout(total=_TIMEOUTS.whole, connect=_TIMEOUTS.connect)
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
                allow_redirects=not body,  # a token must not be sent on to anybody else
            ) as response,
        ):
            return Fetched(status=response.status, body=await _body(response, action))
    except (aiohttp.ClientError, OSError) as error:
        raise failure_of(error, action=action, server="", timeouts=_TIMEOUTS) from error
    except ValueError as error:
        raise TransportError(f"{action}: {error}") from error


async def _body(response: aiohttp.ClientResponse, action: str) -> bytes:
    """The whole body, unpacked."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip"}:
        raise TransportError(f"{action}: the answer has the Content-Encoding {encoding[:60]!r}")
    unpacking = Unpacking() if encoding == "gzip" else None
    read = bytearray()
    async for chunk in response.content.iter_any():
        try:
            read += unpacking.feed(chunk) if unpacking else chunk
            while unpacking and unpacking.has_more and len(read) <= _LARGEST:
                await asyncio.sleep(0)
                read += unpacking.feed(b"")
        except zlib.error as error:
            raise TransportError(f"{action}: the answer is not gzip: {error}") from error
        if len(read) > _LARGEST:
            raise ResponseTooLarge(f"{action}: the answer is larger than {_LARGEST} bytes")
    if unpacking and not unpacking.is_whole:
        raise TransportError(f"{action}: the answer was cut off before its end")
    return bytes(read)
