"""The errors for requests without a complete response.

Guarantees: no exception of the HTTP library leaves this package; a message says what was tried,
with which server, what happened and what to do; none contains a header or a body.
See also: `response` (errors that the server reports), `retry` (what is retried).
"""

from __future__ import annotations

import os
import ssl

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy

from kubeloop.config import hint_for
from kubeloop.errors import ConnectError, StreamBroken, TimeoutExceeded, TransportError

from .timeouts import Timeouts

__all__ = [
    "ConnectionCut",
    "failure_of",
    "idle_failure",
    "is_unreachable",
    "late_failure",
    "lost_failure",
    "without_headers",
]


_READS = frozenset({"GET", "HEAD", "OPTIONS", "WATCH"})


class ConnectionCut(aiohttp.ClientError):
    """The connection was closed; of a class for which aiohttp does not repeat the request."""


def failure_of(
    error: BaseException, *, action: str, server: str, timeouts: Timeouts
) -> TransportError:
    """Our error for an exception of the HTTP library or the system."""
    cause = error.__cause__ if isinstance(error, ConnectionCut) and error.__cause__ else error
    if isinstance(cause, aiohttp.ClientResponseError):
        without_headers(cause)
    prefix = f"{action}: {server}" if server else action
    if isinstance(
        cause, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError | ssl.SSLError
    ):
        failure = ConnectError(f"{prefix}: {_connect_problem(cause)}")
        if isinstance(cause, aiohttp.ClientConnectorCertificateError):
            untrusted = cause.certificate_error
            if isinstance(untrusted, ssl.SSLError):
                hint, python = hint_for(untrusted)
                failure.with_hint(hint, python=python)
        return failure
    match cause:
        case aiohttp.ConnectionTimeoutError():
            return TimeoutExceeded(
                f"{prefix}: no connection within {timeouts.connect} s"
                " (check the address and the network)"
            )
        case TimeoutError():
            return TimeoutExceeded(f"{prefix}: no response in time (allow more time)")
        case aiohttp.ClientPayloadError():
            advice = "try again" if _is_read(action) else "the server may have executed the request"
            return StreamBroken(f"{prefix}: the response is incomplete").with_hint(
                f"the server or a proxy closed the connection; {advice}"
            )
        case aiohttp.ClientConnectionError() | OSError():
            return StreamBroken(
                f"{prefix}: the connection was closed without a response: {_os_message(cause)}"
            ).with_hint(
                "try again" if _is_read(action) else "the server may have executed the request"
            )
        case aiohttp.ClientResponseError():
            detail = " ".join(cause.message.split())[:200]
            return TransportError(
                f"{prefix}: the response is not HTTP: {detail}"
                " (check the server's port, and whether it is http or https)"
            )
    return TransportError(f"{prefix}: {type(cause).__name__}: {cause}"[:500])


def _is_read(action: str) -> bool:
    """Whether an action, which begins with its verb, can be repeated safely."""
    return action.partition(" ")[0] in _READS


def is_unreachable(error: TransportError) -> bool:
    """Whether the error of a request shows that no server responds at its address.

    An untrusted certificate is a response, and so is an error of a proxy. A name that is not
    found says nothing about the server.
    """
    if isinstance(error, StreamBroken | TimeoutExceeded):
        return True
    cause = error.__cause__
    return isinstance(cause, aiohttp.ClientConnectorError) and not isinstance(
        cause, aiohttp.ClientConnectorDNSError | aiohttp.ClientSSLError
    )


def without_headers(error: aiohttp.ClientResponseError) -> None:
    """Remove the request's headers from aiohttp's error, whose `repr` shows them all.

    It stays the cause of our error, and one of the headers has the credentials.
    """
    nothing: CIMultiDictProxy[str] = CIMultiDictProxy(CIMultiDict())
    error.request_info = error.request_info._replace(headers=nothing)
    error.args = (error.request_info, error.history)


def _connect_problem(error: BaseException) -> str:
    """Why there is no connection, and what to do."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return _certificate_problem(error.certificate_error)
        case aiohttp.ClientConnectorSSLError() | ssl.SSLError():
            problem, advice = "the TLS handshake failed", "does this port serve https?"
        case aiohttp.ClientConnectorDNSError():
            problem, advice = "unknown host", "check the server's address and the DNS"
        case aiohttp.ClientHttpProxyError():
            problem = f"the proxy responded with {error.status}"
            advice = "check proxy-url or HTTPS_PROXY"
        case aiohttp.ClientProxyConnectionError():
            problem, advice = "no connection to the proxy", "check proxy-url or HTTPS_PROXY"
        case _:
            problem, advice = "no connection", "check that the server runs and can be reached"
    return f"{problem}: {_os_message(error)} ({advice})"


def late_failure(*, action: str, server: str, seconds: float, what: str) -> TimeoutExceeded:
    """`what` (the response, the rest of it) did not arrive in time."""
    return TimeoutExceeded(
        f"{action}: {server}: {what} did not arrive within {max(seconds, 0.0):g} s"
        " (allow more time, or request less)"
    )


def idle_failure(*, action: str, server: str, seconds: float) -> TimeoutExceeded:
    """No byte of a body arrived for too long."""
    return TimeoutExceeded(
        f"{action}: {server}: no byte of the response arrived for {seconds:g} s"
        " (the connection is probably dead)"
    )


def lost_failure(error: TransportError, *, action: str, seconds: float) -> TransportError:
    """A watch was silent, and a probe of its server failed with `error`."""
    return type(error)(f"{action}: no event for {seconds:.0f} s, and {error.summary}")


def _certificate_problem(error: Exception) -> str:
    detail = getattr(error, "verify_message", "") or str(error)
    return f"the server's certificate is not trusted: {detail}"


def _os_message(error: BaseException) -> str:
    """The text of the system, without addresses: the message already has them."""
    if isinstance(error, aiohttp.ClientResponseError):
        return error.message or type(error).__name__
    inner = getattr(error, "os_error", None) or error
    number = getattr(inner, "errno", None)
    if isinstance(number, int) and number > 0 and not isinstance(inner, ssl.SSLError):
        return os.strerror(number)
    reason = getattr(inner, "reason", None)
    text = getattr(inner, "strerror", None) or (reason if isinstance(reason, str) else "")
    return text or str(inner) or type(inner).__name__
