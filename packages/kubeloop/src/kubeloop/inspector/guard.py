"""Decides which requests may see the page.

Guarantees: no I/O. Without a token only requests to loopback names are allowed, and none from
a web page of another origin (see `kit.HostGuard`); with a token, every request must have it.
Tokens are compared in constant time, and never logged.
See also: `server` (requests and responses).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import HostGuard, is_loopback

__all__ = ["HEADERS", "Allowed", "Denied", "Guard", "TokenAccepted", "Verdict"]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " require-trusted-types-for 'script'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of every response: no foreign content, and no embedding."""


class Allowed(msgspec.Struct, frozen=True):
    """Handle the request."""


class TokenAccepted(msgspec.Struct, frozen=True):
    """The token was in the URL: set a cookie, and redirect to a URL without it."""


class Denied(msgspec.Struct, frozen=True):
    """Respond with the reason only."""

    code: int
    reason: str


Verdict: TypeAlias = Allowed | TokenAccepted | Denied

_NO_TOKEN = Denied(401, "this page needs a token (open the URL that `kubeloop inspect` prints)")


@final
class Guard:
    """Checks the requests of one server. Creates a token if the host needs one.

    Raises: InvalidArgument if the token is empty, or one of `allow_hosts` is not a host.
    """

    def __init__(
        self, host: str, token: str | None = None, *, allow_hosts: Iterable[str] = ()
    ) -> None:
        if token is not None and not token.strip():
            raise InvalidArgument(
                "inspector: the token is empty (set one, or omit it to have one created)"
            )
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        self.token = token
        try:
            self._hosts = HostGuard(host, allow_hosts=allow_hosts)
        except ValueError as error:
            raise InvalidArgument(f"inspector: allow_hosts: {error}") from error

    def __repr__(self) -> str:
        return f"Guard({'with' if self.token else 'without'} a token)"

    def check(self, headers: Any, *, target: str = "/", token: str, cookie: str) -> Verdict:
        """Check a request; `target` is its raw path, `token` the one in its query."""
        if self.token is None:
            denied = self._hosts.check(headers, target=target)
            return Denied(denied.code, denied.message) if denied else Allowed()
        if token and self._is_token(token):
            return TokenAccepted()
        return Allowed() if self._is_token(cookie) else _NO_TOKEN

    def _is_token(self, text: str) -> bool:
        assert self.token is not None
        return hmac.compare_digest(text.encode(), self.token.encode())
