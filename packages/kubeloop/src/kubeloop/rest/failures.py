"""The errors for requests without a complete response.

Guarantees: a message says what was tried, with which server, what happened and what to do; none
contains a header or a body.
See also: `response` (errors that the server reports), `retry` (what is retried).
"""

from __future__ import annotations

import os
import socket
import ssl

from kubeloop.config import hint_for
from kubeloop.errors import (
    ClientClosed,
    ConnectError,
    StreamBroken,
    TimeoutExceeded,
    TransportError,
)

from .dial import ProxyRefused, ProxyUnreachable
from .http1 import ProtocolError, TruncatedResponse
from .timeouts import Timeouts

__all__ = [
    "ClosedByClient",
    "connect_failure",
    "failure_of",
    "idle_failure",
    "is_unreachable",
    "late_failure",
    "lost_failure",
]


_READS = frozenset({"GET", "HEAD", "OPTIONS", "WATCH"})


class ClosedByClient(ConnectionAbortedError):
    """The client was closed during a request."""


def connect_failure(
    error: BaseException, *, action: str, server: str, timeouts: Timeouts
) -> TransportError:
    """Our error for a connection that could not be opened."""
    prefix = f"{action}: {server}" if server else action
    if isinstance(error, TimeoutError) and not isinstance(error, ProxyUnreachable):
        return TimeoutExceeded(
            f"{prefix}: no connection within {timeouts.connect} s"
            " (check the address and the network)"
        )
    failure = ConnectError(f"{prefix}: {_connect_problem(error)}")
    if isinstance(error, ssl.SSLCertVerificationError):
        hint, python = hint_for(error)
        failure.with_hint(hint, python=python)
    return failure


def failure_of(
    error: BaseException, *, action: str, server: str, has_head: bool = False
) -> TransportError:
    """Our error for a connection that was lost, or whose peer does not speak HTTP."""
    prefix = f"{action}: {server}" if server else action
    advice = "try again" if _is_read(action) else "the server may have executed the request"
    match error:
        case ClosedByClient() if has_head:
            return StreamBroken(f"{action}: the client was closed before the end of the response")
        case ClosedByClient():
            return ClientClosed(f"{action}: the client was closed during the request")
        case ProtocolError() if not isinstance(error, TruncatedResponse):
            detail = " ".join(str(error).split())[:200]
            return TransportError(
                f"{prefix}: the response is not HTTP: {detail}"
                " (check the server's port, and whether it is http or https)"
            )
    if has_head:
        return StreamBroken(f"{prefix}: the response is incomplete").with_hint(
            f"the server or a proxy closed the connection; {advice}"
        )
    # Of a connection that was closed there is nothing more to say.
    detail = "" if isinstance(error, TruncatedResponse) else f": {_os_message(error)}"
    return StreamBroken(
        f"{prefix}: the connection was closed without a response{detail}"
    ).with_hint(advice)


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
    return isinstance(error.__cause__, OSError) and not isinstance(
        error.__cause__, socket.gaierror | ssl.SSLError | ProxyRefused
    )


def _connect_problem(error: BaseException) -> str:
    """Why there is no connection, and what to do."""
    match error:
        case ssl.SSLCertVerificationError():
            detail = getattr(error, "verify_message", "") or str(error)
            return f"the server's certificate is not trusted: {detail}"
        case ssl.SSLError():
            problem, advice = "the TLS handshake failed", "does this port serve https?"
        case ProxyRefused():
            problem = f"the proxy responded with {error.status}"
            advice = "check proxy-url or HTTPS_PROXY"
        case ProxyUnreachable():
            problem, advice = "no connection to the proxy", "check proxy-url or HTTPS_PROXY"
        case socket.gaierror() | UnicodeError():
            problem, advice = "unknown host", "check the server's address and the DNS"
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


def _os_message(error: BaseException) -> str:
    """The text of the system, without addresses: the message already has them."""
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(number)
    reason = getattr(error, "reason", None)
    text = getattr(error, "strerror", None) or (reason if isinstance(reason, str) else "")
    return text or str(error) or type(error).__name__
