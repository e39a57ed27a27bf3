"""Creates an `ssl.SSLContext` of certificates and keys, and a new one when they change.

Guarantees: at least TLS 1.2; if a CA is configured, no other is trusted; a key is written to disk
only because Python's `ssl` needs a file, with mode 0600, and is deleted at once, also after an
error; a new CA file that is invalid is not used.
See also: `credentials` (sources of certificates), `kubeloop.rest` (connections).
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Protocol, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.wire import get_logger

from .errors import ConfigError, CredentialError
from .redaction import Redacted

__all__ = [
    "CA_AGE",
    "CertificateHolder",
    "ClientCertificate",
    "TlsSettings",
    "TlsSource",
    "TlsStats",
    "check_pair",
    "check_roots",
    "hint_for",
    "not_after",
    "tls_context",
]

log = get_logger(__name__)

CA_AGE = 300.0  # seconds after which a CA file is read again

_PEM_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL
)
# OpenSSL's error codes of VERIFY_X509_STRICT.
_STRICT_CODES = frozenset(range(80, 94))


class ClientCertificate(Redacted, frozen=True, kw_only=True):
    """A certificate (with its chain) and its key, both as PEM."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"key"})

    certificate: bytes
    key: bytes

    @property
    def fingerprint(self) -> str:
        """A short identifier of the certificate, for logs."""
        import hashlib  # slow to import, and only for client certificates

        return hashlib.sha256(self.certificate).hexdigest()[:16]


class TlsSettings(Protocol):
    """The TLS settings of a configuration."""

    @property
    def ca(self) -> bytes: ...
    @property
    def ca_file(self) -> str: ...
    @property
    def insecure_skip_tls_verify(self) -> bool: ...
    @property
    def relax_strict_x509(self) -> bool: ...


class CertificateHolder(Protocol):
    """Anything with a client certificate, such as an `Identity`."""

    @property
    def certificate(self) -> ClientCertificate | None: ...


class TlsStats(msgspec.Struct, frozen=True):
    """Reloads of the CA file by (result, reason), and the number of contexts created."""

    ca_reloads: Mapping[tuple[str, str], int]
    contexts: int


@final
class TlsSource:
    """The context for the next connection: the same object until something changes.

    With a new object the transport opens new connections, and those in use stay open, so that
    running watches are not interrupted.
    """

    def __init__(self, settings: TlsSettings, *, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._ca: bytes | None = None  # None before it is read; empty for the system's CAs
        self._checked_at = 0.0
        self._context: ssl.SSLContext | None = None
        self._made_of: tuple[bytes, ClientCertificate | None] | None = None
        self._reloads: dict[tuple[str, str], int] = {}
        self._contexts = 0

    def context_for(self, identity: CertificateHolder) -> ssl.SSLContext:
        """A context with the certificate of `identity` and the newest CA.

        Raises: `ConfigError` when the CA cannot be read or a key does not match.
        """
        made_of = (self._newest_ca(), identity.certificate)
        if self._context is None or made_of != self._made_of:
            self._context = tls_context(
                self._settings, ca=made_of[0], certificate=identity.certificate
            )
            self._made_of = made_of
            self._contexts += 1
        return self._context

    def stats(self) -> TlsStats:
        return TlsStats(ca_reloads=dict(self._reloads), contexts=self._contexts)

    def _newest_ca(self) -> bytes:
        if self._ca is None:
            self._ca = _configured_ca(self._settings)
            self._checked_at = self._clock.now()
        elif self._is_due():
            self._checked_at = self._clock.now()
            self._check_ca()
        return self._ca

    def _is_due(self) -> bool:
        from_file = bool(self._settings.ca_file) and not self._settings.ca
        return from_file and self._clock.now() - self._checked_at >= CA_AGE

    def _check_ca(self) -> None:
        result = self._reload()
        self._reloads[result] = self._reloads.get(result, 0) + 1
        if result[0] == "failure":
            log.warning(
                "%s: cannot use the new CA, keeping the last one: %s",
                self._settings.ca_file,
                result[1],
            )
        elif result[1] == "updated":
            log.info("%s: the CA was replaced", self._settings.ca_file)

    def _reload(self) -> tuple[str, str]:
        try:
            found = Path(self._settings.ca_file).read_bytes()
        except OSError:
            return "failure", "read_error"
        if found == self._ca:
            return "success", "unchanged"
        if not found:
            return "failure", "empty"
        try:
            check_roots(found, what=self._settings.ca_file)
        except ConfigError:
            return "failure", "ca_parse_error"
        self._ca = found
        return "success", "updated"


def tls_context(
    settings: TlsSettings,
    *,
    ca: bytes | None = None,
    certificate: ClientCertificate | None = None,
) -> ssl.SSLContext:
    """A client context; `ca` replaces the configured CA, empty for the system's.

    Raises: `ConfigError` for a CA without a certificate, `CredentialError` for a key that does
    not match.
    """
    roots = _configured_ca(settings) if ca is None else ca
    if roots and settings.insecure_skip_tls_verify:
        raise ConfigError(
            "a CA is set and verification is switched off (remove the CA or the insecure flag)"
        )
    context = _context_with_roots(roots) if roots else _context_without_roots(settings)
    context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_2)
    # The client speaks nothing else; a server that offers HTTP/2 must not choose it.
    context.set_alpn_protocols(["http/1.1"])
    if settings.relax_strict_x509:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if certificate is not None:
        _load_pair(context, certificate, what="client certificate")
    return context


def check_roots(pem: bytes, *, what: str) -> None:
    """Raise `ConfigError` unless `pem` has at least one certificate, and no invalid one."""
    text = _pem(pem, what)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"{what} has an invalid certificate: {_reason(error)} (replace it)"
        ) from None


def check_pair(pair: ClientCertificate, *, what: str) -> None:
    """Raise `CredentialError` unless certificate and key are valid and match."""
    _load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), pair, what=what)


def hint_for(error: ssl.SSLError) -> tuple[str, str]:
    """Hints for a failed handshake, for users and for programs; each may be empty."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return "", ""
    if error.verify_code in _STRICT_CODES:
        return (
            "Python 3.13 and later check a rule that this certificate violates: issue a new CA",
            "switch off only this check with relax_strict_x509=True",
        )
    return (
        "check the CA, tls-server-name and the expiry; do not switch verification off",
        "",
    )


def _context_with_roots(roots: bytes) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cadata=_pem(roots, "the CA"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"the CA has an invalid certificate: {_reason(error)} (replace it)"
        ) from None


def _context_without_roots(settings: TlsSettings) -> ssl.SSLContext:
    """A context that trusts the CAs of the system or, if insecure, any certificate."""
    if not settings.insecure_skip_tls_verify:
        return ssl.create_default_context()
    log.warning(
        "insecure-skip-tls-verify: any server can impersonate the API server and read the"
        " credentials"
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _configured_ca(settings: TlsSettings) -> bytes:
    if settings.ca:
        check_roots(settings.ca, what="the CA data")
        return settings.ca
    if not settings.ca_file:
        return b""
    try:
        found = Path(settings.ca_file).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"reading the CA {settings.ca_file}: {error.strerror} (check the path)"
        ) from error
    check_roots(found, what=f"the CA {settings.ca_file}")
    return found


def _pem(data: bytes, what: str) -> str:
    """Only the certificates: `ssl` needs ASCII, and comments between them may be other text."""
    blocks = _PEM_CERTIFICATE.findall(data)
    if not blocks:
        raise ConfigError(f"{what} has no PEM certificate (expected -----BEGIN CERTIFICATE-----)")
    return b"\n".join(blocks).decode("ascii", errors="replace")


def _load_pair(context: ssl.SSLContext, pair: ClientCertificate, *, what: str) -> None:
    try:
        with _pair_file(pair.certificate + b"\n" + pair.key) as name:
            # Without a password OpenSSL would prompt on the terminal.
            context.load_cert_chain(name, password=b"")
    except (ssl.SSLError, ValueError) as error:
        raise CredentialError(
            f"{what}: certificate and key are not a usable pair: {_reason(error)}"
            " (use PEM for both, and a key without a password)"
        ) from None
    except OSError as error:
        raise CredentialError(
            f"{what}: {error.strerror} (check the directory for temporary files)"
        ) from error


@contextmanager
def _pair_file(content: bytes) -> Iterator[str]:
    """The name of a file with that content: `ssl` reads certificates only from files.

    In memory where that is possible: no key is on a disk, and `tempfile` takes longer to import
    than the rest of a first connection.
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        with os.fdopen(os.memfd_create("kubeloop-pair"), "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
        return
    import tempfile

    descriptor, name = tempfile.mkstemp(suffix=".pem")  # with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        yield name
    finally:
        Path(name).unlink()


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or type(error).__name__


# --- the end of a certificate, which `ssl` does not return


_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)


_VERSION, _UTC_TIME = 0xA0, 0x17


def not_after(pem: bytes) -> datetime | None:
    """When the first certificate in `pem` expires; None if it cannot be parsed."""
    found = _PEM.search(pem)
    if found is None:
        return None
    try:
        return _expiry_of(base64.b64decode(found.group(1)))
    except (binascii.Error, IndexError, ValueError):
        return None


def _expiry_of(der: bytes) -> datetime:
    # Certificate, then its body: [version] serial algorithm issuer validity(begin, end) ...
    body = _value(_value(der, 0)[1], 0)[1]
    position = _value(body, 0)[2] if body[0] == _VERSION else 0
    for _ in range(3):
        position = _value(body, position)[2]
    validity = _value(body, position)[1]
    tag, text, _ = _value(validity, _value(validity, 0)[2])
    return _parse_time(tag, text.decode("ascii"))


def _value(der: bytes, start: int) -> tuple[int, bytes, int]:
    """Tag and content of the value at `start`, and the start of the next one."""
    tag, length, begin = der[start], der[start + 1], start + 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(der[begin : begin + size], "big")
        begin += size
    end = begin + length
    if end > len(der):
        raise ValueError("the value is incomplete")
    return tag, der[begin:end], end


def _parse_time(tag: int, text: str) -> datetime:
    if tag == _UTC_TIME:
        # RFC 5280: a year of two digits below 50 is 20xx.
        text = ("20" if int(text[:2]) < 50 else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
