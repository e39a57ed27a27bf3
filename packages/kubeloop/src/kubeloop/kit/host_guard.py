"""Detects requests to a local server that come from a web page and must be rejected.

A server on loopback is out of reach for other machines, but not for the web pages in this
machine's browser: a page can send requests to any address (cross-site request forgery), and a
name that its author points at 127.0.0.1 makes the responses readable as well (DNS rebinding).
Browsers tell in `Host`, `Origin` and `Sec-Fetch-Site` where a request comes from, and scripts
cannot change these headers; other programs send no `Origin`.

Guarantees: pure, and no I/O. A header that cannot be parsed is rejected, never ignored.
See also: the servers that ask it (`testing.server`, `inspector`, `runtime.endpoints`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, final

import msgspec

__all__ = ["HostGuard", "RequestRefused", "foreign_origin", "is_loopback"]

_Authority: TypeAlias = tuple[str, int | None]  # host, port

_DEFAULT_PORTS = {"http": 80, "https": 443}
_REMEMBERED = 64  # values of Host that are known to be good
_SHOWN = 80  # characters of a header in a message


class RequestHeaders(Protocol):
    """Headers of a request; names in any case."""

    def get(self, name: str, /) -> str | None: ...
    def getall(self, name: str, default: Sequence[str], /) -> Sequence[str]: ...


class RequestRefused(msgspec.Struct, frozen=True):
    """The HTTP status to respond with; `message` says why, and what to do."""

    code: int
    message: str


@final
class HostGuard:
    """Protects one server that requires no credentials.

    `host` is the address that it listens at, `secure` says that it serves HTTPS. `Host` has to
    be that address or a loopback name; where the server listens beyond loopback, any IP address
    is good, because only names can be rebound. `Origin` has to be the server's own.
    `allow_hosts` are further names, `name` or `name:port`, for both headers. `option` names the
    setting that adds one, for the messages.

    Raises: ValueError when one of `allow_hosts` is no host.
    """

    def __init__(
        self,
        host: str,
        *,
        allow_hosts: Iterable[str] = (),
        secure: bool = False,
        option: str = "allow_hosts",
    ) -> None:
        self._bound = _normalize(host)
        self._any_address = not is_loopback(host)
        self._allowed = tuple(map(_entry, allow_hosts))
        self._scheme = "https" if secure else "http"
        self._option = option
        self._good: set[str] = set()  # of values of Host, so that most requests cost a lookup

    def check(self, headers: RequestHeaders, *, target: str = "/") -> RequestRefused | None:
        """Why a request must be rejected; None if it is allowed. `target` is its raw path."""
        hosts = headers.getall("Host", ())
        if len(hosts) != 1:
            return RequestRefused(400, "the request has no Host header, or more than one")
        if hosts[0] not in self._good:
            if not self._is_own(_authority(hosts[0])):
                return self._wrong_host(hosts[0])
            if len(self._good) < _REMEMBERED:
                self._good.add(hosts[0])
        if not target.startswith("/") and "://" in target:
            # The absolute form, which counts instead of the Host header (RFC 9112, 3.2.2).
            named = target.partition("://")[2].partition("/")[0].partition("?")[0]
            if not self._is_own(_authority(named)):
                return self._wrong_host(named)
        return self._check_origin(headers)

    def _check_origin(self, headers: RequestHeaders) -> RequestRefused | None:
        origins = headers.getall("Origin", ())
        foreign = [each for each in origins if not self._may_ask(each, headers)]
        if foreign:
            return RequestRefused(
                403,
                f"requests from web pages of the origin {_printable(foreign[0])} are not answered"
                f" (to allow them, add its host and port with {self._option})",
            )
        if not origins and not _is_own_site(headers):
            return RequestRefused(
                403,
                "requests from web pages of other sites are not answered"
                " (to open the address yourself, type or paste it)",
            )
        return None

    def _may_ask(self, origin: str, headers: RequestHeaders) -> bool:
        if _is_same_origin(origin, headers, self._scheme):
            return True
        parsed = _origin(origin)
        return parsed is not None and self._is_allowed((parsed[1], parsed[2]))

    def _is_own(self, authority: _Authority | None) -> bool:
        if authority is None:
            return False
        host = authority[0]
        if host == self._bound or is_loopback(host):
            return True
        return self._is_allowed(authority) or (self._any_address and _address(host) is not None)

    def _is_allowed(self, authority: _Authority) -> bool:
        host, port = authority[0], authority[1] or _DEFAULT_PORTS[self._scheme]
        return any(host == name and wanted in {None, port} for name, wanted in self._allowed)

    def _wrong_host(self, host: str) -> RequestRefused:
        return RequestRefused(
            403,
            f"the host {_printable(host)} is not a name of this server, which answers without"
            f" credentials (use {self._bound} or localhost, or add the name with {self._option})",
        )


def foreign_origin(headers: RequestHeaders, *, secure: bool = False) -> RequestRefused | None:
    """Why a request from a web page of another origin must be rejected; None if it is allowed.

    For servers that accept any `Host`.
    """
    scheme = "https" if secure else "http"
    origins = headers.getall("Origin", ())
    if all(_is_same_origin(each, headers, scheme) for each in origins) and _is_own_site(headers):
        return None
    return RequestRefused(403, "requests from web pages of other origins are not answered")


def is_loopback(host: str) -> bool:
    """Whether a name or address always means this machine; RFC 6761 reserves `*.localhost`."""
    name = _normalize(host)
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address is not None and address.is_loopback


def _is_same_origin(origin: str, headers: RequestHeaders, scheme: str) -> bool:
    """Whether an origin is the one that the request was sent to."""
    parsed = _origin(origin)
    host = _authority(headers.get("Host") or "")
    if parsed is None or host is None:
        return False
    return parsed == (scheme, host[0], host[1] or _DEFAULT_PORTS[scheme])


def _is_own_site(headers: RequestHeaders) -> bool:
    # Another port of the same host is "same-site": another program, and not ours.
    sites = headers.getall("Sec-Fetch-Site", ())
    own = all(each.strip().lower() in {"same-origin", "none"} for each in sites)
    # With an Origin, that is the more exact statement, and was checked.
    return own or bool(headers.get("Origin"))


def _origin(text: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an `Origin`; None for `null` and other invalid values."""
    scheme, separator, rest = text.strip().lower().partition("://")
    authority = _authority(rest) if separator else None
    if authority is None or scheme not in _DEFAULT_PORTS:
        return None
    return scheme, authority[0], authority[1] or _DEFAULT_PORTS[scheme]


def _authority(text: str) -> _Authority | None:
    """Host and port of a `Host` header; None for what is none."""
    text = text.strip()
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        address = _address(host)
        if not bracket or not isinstance(address, ipaddress.IPv6Address):
            return None
        colon, port = rest[:1], rest[1:]
        if rest and colon != ":":
            return None
    else:
        host, _, port = text.partition(":")
    host = _normalize(host)
    if not host or any(not (each.isalnum() or each in "-._:%") for each in host):
        return None
    if port and not (port.isascii() and port.isdecimal() and int(port[:6]) < 1 << 16):
        return None
    return host, int(port) if port else None


def _entry(text: str) -> _Authority:
    parsed = _authority(f"[{text}]" if _address(text) and ":" in text else text)
    if parsed is None:
        raise ValueError(
            f"{_printable(text)} is not a host (write name, name:port or [address]:port)"
        )
    return parsed


def _normalize(host: str) -> str:
    """A host in the spelling that is compared."""
    name = host.strip("[]").lower().removesuffix(".")
    address = _address(name)
    return str(address) if address is not None else name


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _printable(text: str) -> str:
    """Text of a request for a message: short, and printable ASCII only."""
    return ascii(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
