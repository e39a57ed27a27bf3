"""What the address of a server means: scheme, host, path, and nothing behind them.

Promises: pure; an address that cannot be taken apart is an error, never a guess.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit, urlunsplit

from .errors import InvalidConfig
from .redaction import redacted_url

__all__ = ["base_url", "is_https", "without_query"]


def base_url(server: str, *, secure: bool) -> str:
    """`server` with a scheme and a final slash, without query and fragment.

    A bare host is reached by https when it is `secure`, otherwise by http; an empty one
    is this machine.

    Raises: `InvalidConfig` when it is no address.
    """
    host = server or "localhost"
    parts = _split(host)
    if parts is None or not parts.scheme or not parts.netloc:
        parts = _with_scheme(host, secure=secure)
    if parts.scheme not in {"http", "https"}:
        raise InvalidConfig(
            f"server {redacted_url(host)!r} is neither http nor https (write it as"
            " https://host:port)"
        )
    path = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def is_https(server: str) -> bool:
    """Whether `server` says itself that it speaks https; a bare host does not."""
    parts = _split(server)
    return parts is not None and parts.scheme == "https"


def without_query(server: str) -> str:
    """`server` without query and fragment, where it has a path that they could belong to."""
    parts = _split(server)
    if parts is None or len(parts.path) <= 1:
        return server
    return urlunsplit(parts._replace(query="", fragment=""))


def _with_scheme(host: str, *, secure: bool) -> SplitResult:
    parts = _split(f"{'https' if secure else 'http'}://{host}")
    if parts is None or not parts.hostname or parts.path not in ("", "/"):
        raise InvalidConfig(
            f"server {redacted_url(host)!r} is not an address (write it as https://host:port)"
        )
    return parts


def _split(server: str) -> SplitResult | None:
    try:
        parts = urlsplit(server)
        _ = parts.port  # it is looked at only when asked for
    except ValueError:
        return None
    # Python lets white space stand in a host; no such host exists.
    return None if any(map(str.isspace, parts.netloc)) else parts
