"""The certificate that a server shows, read again when its files change.

Guarantees: every handshake shows the pair that is in the files then; a half-written or
mismatched pair changes nothing: the last good one is shown, and the log says why. A pair
that is replaced while it is read is read once more. Connections that are open stay as they
are.
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

# How often files that change under the reader are read before that is an error.
_READS = 5


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
        self._listening: ssl.SSLContext | None = None  # what `context` gave out
        self._newest: ssl.SSLContext | None = None  # has the pair that handshakes show
        self._seen: tuple[bytes | None, ...] = ()  # what is shown; nothing after a failure
        self._loads = 0
        self._last_error = ""

    def context(self) -> ssl.SSLContext:
        """For a server to listen with. Raises: ConfigError when the files are no pair."""
        if self._listening is None:
            self._newest, self._seen = self._load()
            self._listening = self._newest
            # Called in each handshake, also where the client names no host.
            self._listening.sni_callback = self._on_handshake
        return self._listening

    def look(self) -> bool:
        """Read the files again if they have changed; whether a new pair is shown now."""
        if self._listening is None or self._marks() == self._seen:
            return False
        try:
            self._newest, self._seen = self._load()
        except ConfigError as error:
            # Tried again at every look, also when the pair of before comes back, and said
            # once: a process without a free file reads nothing, and they do not change for it.
            if str(error) != self._last_error:
                log.error("%s (the one before is still shown)", error)
            self._last_error, self._seen = str(error), ()
            return False
        self._last_error = ""
        log.info("%s: a new certificate is shown", self._certificate)
        return True

    def stats(self) -> CertificateStats:
        return CertificateStats(self._loads, self._last_error)

    def _on_handshake(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        self.look()
        if self._newest is not None and connection.context is not self._newest:
            connection.context = self._newest

    def _load(self) -> tuple[ssl.SSLContext, tuple[bytes | None, ...]]:
        """A context with the pair in the files, and what the files held.

        The two are read one after the other, and may be replaced in between: a certificate of
        before and a key of after are no pair, although nothing is wrong with the files.
        """
        for _ in range(_READS):
            before, fault = self._marks(), None
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            try:
                # A password is never asked for: the default would prompt on the terminal.
                context.load_cert_chain(self._certificate, self._key, password=b"")
            except (OSError, ssl.SSLError) as error:
                fault = error
            if self._marks() != before:
                continue
            if fault is not None:
                raise ConfigError(
                    f"read the certificate {self._certificate} and its key {self._key.name}:"
                    f" {fault}"
                ) from fault
            self._loads += 1
            return context, before
        raise ConfigError(
            f"read the certificate {self._certificate} and its key {self._key.name}: the files"
            f" changed during each of {_READS} reads"
        )

    def _marks(self) -> tuple[bytes | None, ...]:
        return tuple(map(_mark, (self._certificate, self._key)))


def _mark(path: Path) -> bytes | None:
    """What changes with a file, and only with it: its times stand still for milliseconds."""
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return None
