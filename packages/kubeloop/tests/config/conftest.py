"""Helpers of the configuration tests: certificates, plugins, kubeconfigs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubeloop.config import ExecConfig
from kubeloop.kit import ManualClock

Plugin = Callable[..., ExecConfig]


class Issued(NamedTuple):
    """A certificate and its key, as PEM, and the objects they were made of."""

    certificate: bytes
    key: bytes
    x509: x509.Certificate
    private: ec.EllipticCurvePrivateKey


class Authority:
    """A certificate authority that issues what a test needs."""

    def __init__(self, name: str, *, strict: bool = True) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(name, name, self.private).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=strict
        )
        if strict:
            builder = builder.add_extension(_CA_USAGE, critical=True).add_extension(
                x509.SubjectKeyIdentifier.from_public_key(self.private.public_key()), critical=False
            )
        self.x509 = builder.sign(self.private, hashes.SHA256())
        self.pem = self.x509.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str, *, days: int = 365) -> Issued:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = self.x509.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
        builder = (
            _builder(name, str(issuer), key, days=days)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.private.public_key()),
                critical=False,
            )
        )
        certificate = builder.sign(self.private, hashes.SHA256())
        return Issued(
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
            certificate,
            key,
        )


_CA_USAGE = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey, *, days: int = 365
) -> x509.CertificateBuilder:
    begin = datetime.now(UTC) - timedelta(days=1)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=days))
    )


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority("kubeloop tests")


@pytest.fixture(scope="session")
def other_authority() -> Authority:
    return Authority("another authority")


@pytest.fixture(scope="session")
def lax_authority() -> Authority:
    """A CA of the kind that older installers made: basic constraints not critical."""
    return Authority("an old installer", strict=False)


@pytest.fixture(scope="session")
def issued(authority: Authority) -> Issued:
    return authority.issue("ada")


@pytest.fixture(scope="session")
def reissued(authority: Authority) -> Issued:
    return authority.issue("ada")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(wall=datetime(2030, 1, 1, tzinfo=UTC))


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """Writes a plugin: a Python program that can count its own runs, and its config."""

    def make(body: str, **settings: object) -> ExecConfig:
        script = tmp_path / "plugin.py"
        script.write_text(
            f"import json, os, sys, time\nRUNS = {str(tmp_path / 'runs')!r}\n"
            "with open(RUNS, 'a') as runs: runs.write('x')\n"
            "run = os.path.getsize(RUNS)\n"
            "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
            "def answer(**status):\n"
            "    print(json.dumps({'apiVersion': info['apiVersion'],"
            " 'kind': 'ExecCredential', 'status': status}))\n" + textwrap.dedent(body)
        )
        options: dict[str, object] = {
            "command": sys.executable,
            # Isolated: an unbuffered program that is stopped while it writes loses the rest.
            "args": ("-I", "-S", str(script)),
            "api_version": "client.authentication.k8s.io/v1",
            "interactive_mode": "Never",
        }
        return ExecConfig(**{**options, **settings})  # type: ignore[arg-type]  # a test's options

    return make


@pytest.fixture
def runs(tmp_path: Path) -> Callable[[], int]:
    """How often the plugin ran."""

    def count() -> int:
        marks = tmp_path / "runs"
        return len(marks.read_text()) if marks.exists() else 0

    return count
