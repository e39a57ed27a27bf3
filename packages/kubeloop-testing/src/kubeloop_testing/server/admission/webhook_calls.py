"""Calls a webhook over HTTP.

Guarantees: a call ends within the webhook's timeout, with a body or with a `CallFailed` whose
message is kube-apiserver's; a webhook with a caBundle is verified with that bundle only.
See also: what is sent and what the response means (`webhook_reviews`).
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import ssl
from collections.abc import Mapping
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import aiohttp

from kubeloop.kit import Clock
from kubeloop.wire import KubeError

from ..values.causes import quoted

__all__ = ["CallFailed", "Post", "call_webhook", "post"]

_DEFAULT_TIMEOUT: Final = 10.0  # of admissionregistration.k8s.io/v1
_MAX_RESPONSE: Final = 3 * 1024 * 1024  # bytes


class CallFailed(KubeError):
    """A webhook could not be called, or responded with an HTTP error."""


class Post(Protocol):
    """Sends a review; returns the HTTP status and the body.

    Raises `CallFailed`, `TimeoutError`, `OSError` or aiohttp's errors without a response.
    """

    async def __call__(
        self, url: str, body: bytes, ca_bundle: bytes | None, seconds: float, /
    ) -> tuple[int, bytes]: ...


async def post(
    url: str, body: bytes, ca_bundle: bytes | None, seconds: float, /
) -> tuple[int, bytes]:
    """Send a review over a new connection, without following redirects.

    If cancelled, the connection is closed.
    """
    context = ssl.create_default_context()
    if ca_bundle is not None:
        context = _context_for(ca_bundle)
    bound = aiohttp.ClientTimeout(total=seconds)
    async with (
        aiohttp.ClientSession(timeout=bound) as session,
        session.post(
            url,
            data=body,
            ssl=context,
            headers={"Content-Type": "application/json", "Accept": "application/json, */*"},
            allow_redirects=False,
        ) as response,
    ):
        content = await response.content.read(_MAX_RESPONSE)
        while rest := await response.content.read(_MAX_RESPONSE):
            content += rest
            if len(content) > _MAX_RESPONSE:
                raise CallFailed(f"the response is longer than {_MAX_RESPONSE} bytes")
        return response.status, content


def _context_for(ca_bundle: bytes) -> ssl.SSLContext:
    # Without the system's CAs: the bundle replaces them.
    try:
        context = ssl.create_default_context(cadata=ca_bundle.decode())
        # As in Go, the certificate of the webhook itself is enough: no CA needs to be in it.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise CallFailed(f"the caBundle contains no certificate: {error}") from error


async def call_webhook(hook: Mapping[str, Any], body: bytes, *, post: Post, clock: Clock) -> bytes:
    """The body of a webhook's response.

    Raises:
        CallFailed: there is none, or its HTTP status is not 2xx.
    """
    seconds = float(hook.get("timeoutSeconds") or _DEFAULT_TIMEOUT)
    url, ca_bundle = f"{_url_of(hook)}?timeout={seconds:g}s", _ca_of(hook)
    failed = f"failed to call webhook: Post {quoted(url)}"
    try:
        async with clock.timeout(seconds):
            status, content = await post(url, body, ca_bundle, seconds)
    except TimeoutError as error:
        raise CallFailed(f"{failed}: context deadline exceeded") from error
    except (CallFailed, OSError, aiohttp.ClientError) as error:
        raise CallFailed(f"{failed}: {error}") from error
    if not 200 <= status < 300:
        raise CallFailed(f"failed to call webhook: {_status_text(status, content)}")
    return content


def _url_of(hook: Mapping[str, Any]) -> str:
    config = hook.get("clientConfig") or {}
    if config.get("url"):
        # As client-go, which joins the parts of a path: envtest registers `https://host//path`.
        parts = urlsplit(str(config["url"]))
        path = posixpath.normpath(f"/{parts.path.lstrip('/')}")
        return parts._replace(path=path).geturl()
    service = config.get("service") or {}
    name = f"{service.get('namespace', '')}/{service.get('name', '')}"
    raise CallFailed(
        f"could not get REST client: service {quoted(name)}: this server has no service network "
        "(set clientConfig.url of the webhook)"
    )


def _ca_of(hook: Mapping[str, Any]) -> bytes | None:
    bundle = (hook.get("clientConfig") or {}).get("caBundle")
    if not bundle:
        return None
    try:
        return base64.b64decode(str(bundle), validate=True)
    except (binascii.Error, ValueError) as error:
        raise CallFailed(f"could not get REST client: caBundle: {error}") from error


# The messages of apimachinery's `NewGenericServerResponse`, by HTTP status.
_BY_STATUS: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    403: "forbidden",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted",
}
_MAX_QUOTED: Final = 2048  # bytes of a webhook's error body in a message


def _status_text(status: int, body: bytes) -> str:
    """The message of client-go for an HTTP error."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    text = body[:_MAX_QUOTED].decode(errors="replace").strip() or "unknown"
    return f"an error on the server ({quoted(text)}) has prevented the request from succeeding"
