"""The proxy for a URL, for requests, watches and WebSockets.

Guarantees: a `proxy-url` takes precedence over the environment; a proxy of the environment is
never used for localhost; no error contains the password of a proxy.
See also: `kubeloop.rest` (which proxies are supported).
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from kubeloop.kit import whole_number

from .errors import ConfigError
from .redaction import Redacted, redacted_url

__all__ = ["ProxyRules", "proxy_for"]

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


class ProxyRules(Redacted, frozen=True, kw_only=True):
    """The proxy settings of the environment."""

    http: str = ""
    https: str = ""
    no_proxy: tuple[str, ...] = ()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> ProxyRules:
        """HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower case; upper case first."""
        variables = os.environ if environ is None else environ
        excluded = _either(variables, "NO_PROXY").split(",")
        # In a CGI program HTTP_PROXY is a header of the request (CVE-2016-5386).
        http = "" if variables.get("REQUEST_METHOD") else _either(variables, "HTTP_PROXY")
        return cls(
            http=http,
            https=_either(variables, "HTTPS_PROXY"),
            no_proxy=tuple(entry.strip().lower() for entry in excluded if entry.strip()),
        )

    def for_url(self, url: str) -> str | None:
        """The proxy for `url`, None for a direct connection.

        Raises: `ConfigError` when the environment has an invalid proxy.
        """
        target = urlsplit(url)
        proxy = self.https if target.scheme in ("https", "wss") else self.http
        if not proxy or self._is_direct(target):
            return None
        return _check_proxy(proxy)

    def _is_direct(self, target: SplitResult) -> bool:
        host = (target.hostname or "").rstrip(".")
        port = target.port or _PORTS.get(target.scheme, 0)
        address = _address(host)
        if host == "localhost" or (address is not None and address.is_loopback):
            return True
        return any(_excludes(entry, host, port, address) for entry in self.no_proxy)


def proxy_for(
    url: str, *, proxy_url: str = "", environ: Mapping[str, str] | None = None
) -> str | None:
    """The proxy for `url`: `proxy_url` if it is set, else that of the environment."""
    return proxy_url or ProxyRules.from_environ(environ).for_url(url)


def _excludes(
    entry: str,
    host: str,
    port: int,
    address: ipaddress.IPv4Address | ipaddress.IPv6Address | None,
) -> bool:
    if entry == "*":
        return True
    if "/" in entry and (network := _network(entry)) is not None:
        return address is not None and address in network
    name, only_port = _split_port(entry)
    if only_port and only_port != port:
        return False
    if (excluded := _address(name)) is not None:
        return address == excluded
    if name.startswith("*."):
        name = name[1:]
    if name.startswith("."):
        return host.endswith(name)
    return host == name or host.endswith(f".{name}")


def _split_port(entry: str) -> tuple[str, int]:
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name, whole_number(rest[1:]) or 0
    name, colon, port = entry.rpartition(":")
    # More than one colon is an IPv6 address without a port.
    if colon and ":" not in name and (number := whole_number(port)) is not None:
        return name, number
    return entry, 0


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _either(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name) or variables.get(name.lower()) or ""


def _check_proxy(proxy: str) -> str:
    url = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(url)
        if parts.scheme in _PROXY_SCHEMES and parts.hostname and parts.port != 0:
            return url
    except ValueError:
        pass
    raise ConfigError(
        f"proxy {redacted_url(url)!r} of the environment is not a valid proxy"
        " (correct HTTP_PROXY or HTTPS_PROXY)"
    )
