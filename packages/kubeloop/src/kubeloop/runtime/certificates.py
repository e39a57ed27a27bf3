"""The serving certificate of a server, reloaded when its files change.

Guarantees: every handshake uses the pair that is in the files then; a half-written or
mismatched pair changes nothing: the last valid one is used, and the error is logged. A pair
that is replaced while it is read is read again. Open connections do not change.
"""

from __future__ import annotations

import hashlib
import ssl
from pathlib import Path
from typing import final

import msgspec

from kubeloop.errors import ConfigError
from kubeloop.wire import get_logger

__all__ = ["CertificateStats", "ServingCertificate"]

log = get_logger(__name__)

# Attempts to read files that change meanwhile.
_READS = 5


class CertificateStats(msgspec.Struct, frozen=True):
    """A snapshot: successful loads, and the error of the last attempt."""

    loads: int
    last_error: str


@final
class ServingCertificate:
    """`tls.crt` and `tls.key` in a folder, such as a mounted Secret."""

    def __init__(
        self, folder: str | Path, *, certificate: str = "tls.crt", key: str = "tls.key"
    ) -> None:
        self._certificate = Path(folder, certificate)
        self._key = Path(folder, key)
        self._listening: ssl.SSLContext | None = None  # what `context` returned
        self._newest: ssl.SSLContext | None = None  # has the pair of new handshakes
        self._seen: tuple[
            bytes | None, ...
        ] = ()  # digests of the files in use; empty after a failure
        self._loads = 0
        self._last_error = ""

    def context(self) -> ssl.SSLContext:
        """The context to listen with. Raises: ConfigError when the files are not a pair."""
        if self._listening is None:
            self._newest, self._seen = self._load()
            self._listening = self._newest
            # Called in each handshake, also if the client sends no server name.
            self._listening.sni_callback = self._on_handshake
        return self._listening

    def reload(self) -> bool:
        """Read the files again if they have changed; returns whether there is a new pair."""
        if self._listening is None or self._digests() == self._seen:
            return False
        try:
            self._newest, self._seen = self._load()
        except ConfigError as error:
            # Retried with every call, even if the files do not change (the process may have run
            # out of file descriptors), and logged once.
            if str(error) != self._last_error:
                log.error("%s (still using the previous certificate)", error)
            self._last_error, self._seen = str(error), ()
            return False
        self._last_error = ""
        log.info("%s: certificate reloaded", self._certificate)
        return True

    def stats(self) -> CertificateStats:
        return CertificateStats(self._loads, self._last_error)

    def _on_handshake(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        self.reload()
        if self._newest is not None and connection.context is not self._newest:
            connection.context = self._newest

    def _load(self) -> tuple[ssl.SSLContext, tuple[bytes | None, ...]]:
        """A context with the pair in the files, and the digests of the files.

        The two files are read one after the other and may be replaced in between: then the
        old certificate and the new key are not a pair, and are read again.
        """
        for _ in range(_READS):
            before, failure = self._digests(), None
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            try:
                # Without a password OpenSSL would prompt on the terminal.
                context.load_cert_chain(self._certificate, self._key, password=b"")
            except (OSError, ssl.SSLError) as error:
                failure = error
            if self._digests() != before:
                continue
            if failure is not None:
                raise ConfigError(
                    f"read the certificate {self._certificate} and its key {self._key.name}:"
                    f" {failure}"
                ) from failure
            self._loads += 1
            return context, before
        raise ConfigError(
            f"read the certificate {self._certificate} and its key {self._key.name}: the files"
            f" changed during each of {_READS} reads"
        )

    def _digests(self) -> tuple[bytes | None, ...]:
        return tuple(map(_digest, (self._certificate, self._key)))


def _digest(path: Path) -> bytes | None:
    """The digest of a file; modification times are too coarse to detect two quick changes."""
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return None
