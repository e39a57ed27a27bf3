"""Generated certificates: an authority, and its certificates for servers and clients.

Guarantees: nothing is read from the machine; keys are on P-256, so generating one takes about
a millisecond; the file of a private key is readable by its owner only, and no `repr` shows it.
See also: `signing` (tokens), `authn` (the user of a client certificate).
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import msgspec

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = [
    "Authority",
    "KeyPair",
    "bundle",
    "load_into",
    "server_context",
    "write_key",
]

# Names under which clients on this machine and inside a cluster reach the server.
_LOCAL: Final = ("127.0.0.1", "::1", "localhost")
_CLUSTER: Final = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_YEAR: Final = timedelta(days=365)
_SKEW: Final = timedelta(hours=1)  # clocks of test machines differ


@final
class KeyPair(msgspec.Struct, frozen=True):
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return f"KeyPair(certificate={self.certificate!r}, key=<hidden>)"

    def write(self, directory: Path, name: str = "tls") -> tuple[Path, Path]:
        """Write `name.crt` and `name.key` into `directory`; returns the two paths."""
        certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
        certificate.write_bytes(self.certificate)
        write_key(key, self.key)
        return certificate, key


@final
class Authority:
    """A certificate authority for one server or one test.

    `valid` is how long the certificate of the authority is valid.
    """

    def __init__(
        self,
        name: str = "kubeloop-ca",
        *,
        now: datetime | None = None,
        valid: timedelta = 10 * _YEAR,
    ) -> None:
        self.name = name
        self._key = _new_key()
        self._subject = _subject(name)
        builder = _builder(self._subject, self._key, now=now, valid=valid)
        self._certificate = _signed(builder.issuer_name(self._subject), self._key, authority=True)

    def __repr__(self) -> str:
        return f"Authority({self.name!r})"

    @property
    def pem(self) -> bytes:
        """The certificate of the authority, which clients trust."""
        return _pem_of(self._certificate)

    def server(self, *names: str, now: datetime | None = None, valid: timedelta = _YEAR) -> KeyPair:
        """A certificate for a server on this machine, and under `names` (hosts or addresses)."""
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID

        key = _new_key()
        builder = _builder(_subject("kube-apiserver"), key, now=now, valid=valid)
        hosts = dict.fromkeys((*_LOCAL, *_CLUSTER, *names))
        builder = builder.add_extension(
            x509.SubjectAlternativeName(list(map(_general_name, hosts))), critical=False
        )
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        return self._issue(builder.add_extension(usage, critical=False), key)

    def client(
        self,
        user: str,
        groups: Iterable[str] = (),
        *,
        now: datetime | None = None,
        valid: timedelta = _YEAR,
    ) -> KeyPair:
        """A client certificate: CN is the user, each O a group."""
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID

        # The x509 authenticator of kube-apiserver reads user and groups from CN and O.
        key = _new_key()
        builder = _builder(_subject(user, groups), key, now=now, valid=valid)
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        return self._issue(builder.add_extension(usage, critical=False), key)

    def rotate(self) -> Authority:
        """A new authority with the same name and another key."""
        return Authority(self.name)

    def _issue(self, builder: x509.CertificateBuilder, key: EllipticCurvePrivateKey) -> KeyPair:
        certificate = _signed(builder.issuer_name(self._subject), self._key, authority=False)
        return KeyPair(_pem_of(certificate), _key_pem(key))


def bundle(*authorities: Authority) -> bytes:
    """The certificates of several authorities in one PEM, to trust all during a rotation."""
    return b"".join(each.pem for each in authorities)


def server_context(pair: KeyPair, *, client_ca: bytes | None = None) -> ssl.SSLContext:
    """The TLS context of a server; with `client_ca` it requests client certificates.

    A certificate is optional. One that `client_ca` did not sign fails the handshake.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_into(context, pair)
    if client_ca is not None:
        # As kube-apiserver: a client without a certificate may still have a token.
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=client_ca.decode())
    return context


def load_into(context: ssl.SSLContext, pair: KeyPair) -> None:
    """Use `pair` for handshakes from now on; open connections keep what they have.

    OpenSSL reads files only, so the pair is on disk for a moment, readable by its owner only.
    """
    with tempfile.TemporaryDirectory(prefix="kubeloop-") as directory:
        certificate, key = pair.write(Path(directory))
        context.load_cert_chain(certificate, key)


def write_key(path: Path, pem: bytes) -> None:
    """Write a private key; at no moment can other users read it."""
    path.unlink(missing_ok=True)  # an old file would keep its old permissions
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(pem)


# --- cryptography


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _subject(name: str, groups: Iterable[str] = ()) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name,
    key: EllipticCurvePrivateKey,
    *,
    now: datetime | None,
    valid: timedelta,
) -> x509.CertificateBuilder:
    from cryptography import x509

    since = now or datetime.now(UTC)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .add_extension(identifier, critical=False)
        .serial_number(x509.random_serial_number())
        .not_valid_before(since - _SKEW)
        .not_valid_after(since + valid)
    )


def _signed(
    builder: x509.CertificateBuilder, key: EllipticCurvePrivateKey, *, authority: bool
) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    # Strict clients, such as Go and OpenSSL 3, require these extensions.
    limits = x509.BasicConstraints(ca=authority, path_length=None)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    return (
        builder.add_extension(limits, critical=True)
        .add_extension(_key_usage(signs_certificates=authority), critical=True)
        .add_extension(issuer, critical=False)
        .sign(key, hashes.SHA256())
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem_of(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
