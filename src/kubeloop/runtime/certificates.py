"""The certificate that a server shows, read again when its files change.

Promises: a half-written or mismatched pair changes nothing: the last good one is shown, and
the log says why. Connections that are open stay as they are.
"""

from __future__ import annotations

import hashlib
import logging
import ssl
from pathlib import Path
from typing import final

import msgspec

from kubeloop.machinery import ConfigError

__all__ = ["CertificateStats", "ServingCertificate"]

log = logging.getLogger(__name__)


class CertificateStats(msgspec.Struct, frozen=True):
    """How often the pair was read, and why the last attempt failed, if it did."""

    loads: int
    last_error: str


@final
class ServingCertificate:
    """`tls.crt` and `tls.key` in a folder, as a mounted secret has them."""

    def __init__(
        self, folder: str | Path, *, certificate: str = "tls.crt", key: str = "tls.key"
    ) -> None:
        self._certificate = Path(folder, certificate)
        self._key = Path(folder, key)
        self._context: ssl.SSLContext | None = None
        self._seen: tuple[bytes | None, ...] = ()  # what is shown; nothing after a failure
        self._loads = 0
        self._last_error = ""

    def context(self) -> ssl.SSLContext:
        """For a server to listen with. Raises: ConfigError when the files are no pair."""
        if self._context is None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            self._seen = self._marks()
            self._load(context)
            self._context = context
        return self._context

    def look(self) -> bool:
        """Read the files again if they have changed; whether a new pair is shown now."""
        marks = self._marks()
        if self._context is None or marks == self._seen:
            return False
        try:
            self._load(self._context)
        except ConfigError as error:
            # Tried again at every look, also when the pair of before comes back, and said
            # once: a process without a free file reads nothing, and they do not change for it.
            if str(error) != self._last_error:
                log.error("%s (the one before is still shown)", error)
            self._last_error, self._seen = str(error), ()
            return False
        self._seen = marks
        self._last_error = ""
        log.info("%s: a new certificate is shown", self._certificate)
        return True

    def stats(self) -> CertificateStats:
        return CertificateStats(self._loads, self._last_error)

    def _load(self, context: ssl.SSLContext) -> None:
        # Tried on another context first: a pair that does not fit would spoil this one.
        try:
            for one in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), context):
                one.load_cert_chain(self._certificate, self._key)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"read the certificate {self._certificate} and its key {self._key.name}: {error}"
            ) from error
        self._loads += 1

    def _marks(self) -> tuple[bytes | None, ...]:
        return tuple(map(_mark, (self._certificate, self._key)))


def _mark(path: Path) -> bytes | None:
    """What changes with a file, and only with it: its times stand still for milliseconds."""
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return None
