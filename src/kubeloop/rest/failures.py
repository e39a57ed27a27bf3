"""Every way in which there is no whole answer, told as one of our errors.

Promises: no exception of the HTTP library leaves this room; a message says what was
tried, with whom, what happened and what to do; none holds a header or a body.
Elsewhere: what the server itself answers (`answer`), what is tried again (`retry`).
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
    "Cut",
    "failure_of",
    "idle_failure",
    "is_unreachable",
    "late_failure",
    "lost_failure",
    "without_headers",
]


_READS = frozenset({"GET", "HEAD", "OPTIONS", "WATCH"})


class Cut(aiohttp.ClientError):
    """The connection ended; in a guise for which aiohttp does not quietly try again."""


def failure_of(
    error: BaseException, *, action: str, server: str, timeouts: Timeouts
) -> TransportError:
    """Our error for what the HTTP library, or the system, raised."""
    cause = error.__cause__ if isinstance(error, Cut) and error.__cause__ else error
    if isinstance(cause, aiohttp.ClientResponseError):
        without_headers(cause)
    place = f"{action}: {server}" if server else action
    if isinstance(
        cause, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError | ssl.SSLError
    ):
        failure = ConnectError(f"{place}: {_connect_fault(cause)}")
        if isinstance(cause, aiohttp.ClientConnectorCertificateError):
            untrusted = cause.certificate_error
            if isinstance(untrusted, ssl.SSLError):
                hint, python = hint_for(untrusted)
                failure.with_hint(hint, python=python)
        return failure
    match cause:
        case aiohttp.ConnectionTimeoutError():
            return TimeoutExceeded(
                f"{place}: no connection within {timeouts.connect} s"
                " (check the address and the network between)"
            )
        case TimeoutError():
            return TimeoutExceeded(f"{place}: no answer in time (allow more time)")
        case aiohttp.ClientPayloadError():
            advice = "try again" if _is_read(action) else "what was asked may have been done"
            return StreamBroken(f"{place}: the answer was cut off before its end").with_hint(
                f"a proxy or the server gave up; {advice}"
            )
        case aiohttp.ClientConnectionError() | OSError():
            return StreamBroken(
                f"{place}: the connection ended without an answer: {_os_fault(cause)}"
            ).with_hint("try again" if _is_read(action) else "what was asked may have been done")
        case aiohttp.ClientResponseError():
            said = " ".join(cause.message.split())[:200]
            return TransportError(
                f"{place}: the answer is not HTTP: {said}"
                " (is this the API server's port, and http or https?)"
            )
    return TransportError(f"{place}: {type(cause).__name__}: {cause}"[:500])


def _is_read(action: str) -> bool:
    """Whether an action, which begins with its verb, can be repeated without harm."""
    return action.partition(" ")[0] in _READS


def is_unreachable(error: TransportError) -> bool:
    """Whether the error of a request shows that nothing answers at the server's address.

    An untrusted certificate is an answer, and so is a refusal by a proxy. A name that is not
    found says nothing about the server behind it.
    """
    if isinstance(error, StreamBroken | TimeoutExceeded):
        return True
    cause = error.__cause__
    return isinstance(cause, aiohttp.ClientConnectorError) and not isinstance(
        cause, aiohttp.ClientConnectorDNSError | aiohttp.ClientSSLError
    )


def without_headers(error: aiohttp.ClientResponseError) -> None:
    """Take the request's headers out of aiohttp's error, whose `repr` shows them all.

    It stays the cause of ours, and one of them holds the credentials.
    """
    nothing: CIMultiDictProxy[str] = CIMultiDictProxy(CIMultiDict())
    error.request_info = error.request_info._replace(headers=nothing)
    error.args = (error.request_info, error.history)


def _connect_fault(error: BaseException) -> str:
    """Why there is no connection, and what to do."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return _certificate_fault(error.certificate_error)
        case aiohttp.ClientConnectorSSLError() | ssl.SSLError():
            said, advice = "the TLS handshake failed", "does the server speak https on this port?"
        case aiohttp.ClientConnectorDNSError():
            said, advice = "the host is unknown", "check the server's address and the DNS"
        case aiohttp.ClientHttpProxyError():
            said = f"the proxy answered {error.status}"
            advice = "check proxy-url or HTTPS_PROXY"
        case aiohttp.ClientProxyConnectionError():
            said, advice = "no connection to the proxy", "check proxy-url or HTTPS_PROXY"
        case _:
            said, advice = "no connection", "check that the server runs and can be reached"
    return f"{said}: {_os_fault(error)} ({advice})"


def late_failure(*, action: str, server: str, seconds: float, what: str) -> TimeoutExceeded:
    """The time for `what` (the answer, the whole call) was over."""
    return TimeoutExceeded(
        f"{action}: {server}: {what} did not come within {max(seconds, 0.0):g} s"
        " (allow more time, or ask for less)"
    )


def idle_failure(*, action: str, server: str, seconds: float) -> TimeoutExceeded:
    """A body went silent."""
    return TimeoutExceeded(
        f"{action}: {server}: nothing came for {seconds:g} s inside the answer"
        " (the connection is probably dead)"
    )


def lost_failure(error: TransportError, *, action: str, seconds: float) -> TransportError:
    """A watch went silent, and a probe of its server failed with `error`."""
    return type(error)(f"{action}: no event for {seconds:.0f} s, and {error.summary}")


def _certificate_fault(error: Exception) -> str:
    said = getattr(error, "verify_message", "") or str(error)
    return f"the server's certificate is not trusted: {said}"


def _os_fault(error: BaseException) -> str:
    """The system's words for it, without addresses that the message has already."""
    if isinstance(error, aiohttp.ClientResponseError):
        return error.message or type(error).__name__
    inner = getattr(error, "os_error", None) or error
    number = getattr(inner, "errno", None)
    if isinstance(number, int) and number > 0 and not isinstance(inner, ssl.SSLError):
        return os.strerror(number)
    reason = getattr(inner, "reason", None)
    said = getattr(inner, "strerror", None) or (reason if isinstance(reason, str) else "")
    return said or str(inner) or type(inner).__name__
