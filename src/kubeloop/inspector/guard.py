"""Who may see the page.

Promises: pure. Without a token only names of this very machine are answered to, and no web
page of another origin (`kit.HostGuard` says why); with one, nothing is said to anybody who has
not shown it. Tokens are compared in constant time and appear in no text.
Elsewhere: requests and answers (`server`).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import HostGuard, is_loopback

__all__ = ["HEADERS", "Admitted", "Guard", "NewlyAdmitted", "Refused", "Verdict"]

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
"""What every answer carries: the page loads nothing from elsewhere, and nobody embeds it."""


class Admitted(msgspec.Struct, frozen=True):
    """Answer."""


class NewlyAdmitted(msgspec.Struct, frozen=True):
    """The token was in the address: put it into a cookie, and away from there."""


class Refused(msgspec.Struct, frozen=True):
    """Say why, and no more."""

    code: int
    reason: str


Verdict: TypeAlias = Admitted | NewlyAdmitted | Refused

_NO_TOKEN = Refused(
    401, "this page needs its token (open the address that `kubeloop inspect` prints)"
)


@final
class Guard:
    """Decides for one server. A token is made up where one is needed and none is given.

    Raises: InvalidArgument when the token is empty, or one of `allow_hosts` is no host.
    """

    def __init__(
        self, host: str, token: str | None = None, *, allow_hosts: Iterable[str] = ()
    ) -> None:
        if token is not None and not token.strip():
            raise InvalidArgument(
                "inspector: the token is empty (give one, or none to have one made)"
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

    def judge(self, headers: Any, *, target: str = "/", shown: str, cookie: str) -> Verdict:
        """What to do with a request; `target` is its raw path, `shown` the token in its query."""
        if self.token is None:
            refused = self._hosts.check(headers, target=target)
            return Refused(refused.code, refused.message) if refused else Admitted()
        if shown and self._fits(shown):
            return NewlyAdmitted()
        return Admitted() if self._fits(cookie) else _NO_TOKEN

    def _fits(self, said: str) -> bool:
        assert self.token is not None
        return hmac.compare_digest(said.encode(), self.token.encode())
