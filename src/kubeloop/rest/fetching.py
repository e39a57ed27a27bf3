"""One HTTP request to anybody: what OpenID Connect asks of whoever can speak HTTP.

Promises: a session of its own, closed at the end; roots that are given are the only ones
trusted; bounded in time and size; no exception of the HTTP library leaves.
Elsewhere: the API server itself (`transport`).
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import aiohttp

from kubeloop.config import Fetched, proxy_for, redacted_url
from kubeloop.machinery import ConfigError, TransportError

from .failures import failure_of
from .timeouts import Timeouts

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
    timeout = aiohttp.ClientTimeout(total=_TIMEOUTS.whole, connect=_TIMEOUTS.connect)
    try:
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout) as session,
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
            read = bytearray()
            async for chunk in response.content.iter_any():
                read += chunk
                if len(read) > _LARGEST:
                    raise TransportError(f"{action}: the answer is larger than {_LARGEST} bytes")
            return Fetched(status=response.status, body=bytes(read))
    except (aiohttp.ClientError, OSError) as error:
        raise failure_of(error, action=action, server="", timeouts=_TIMEOUTS) from error
    except ValueError as error:
        raise TransportError(f"{action}: {error}") from error
