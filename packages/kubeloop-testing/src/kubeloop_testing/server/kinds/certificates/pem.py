"""PEM blocks, certificates and signing requests.

Guarantees: `cryptography` is imported with the first of them, because that takes longer than the
server takes to start.
See also: the kinds that contain them (`certificate_signing_request`, `cluster_trust_bundle`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, CertificateSigningRequest

__all__ = ["decode_base64", "organizations", "pem_blocks", "read_certificate", "read_request"]

_BLOCK: Final = re.compile(
    rb"-----BEGIN ([A-Z0-9 ]+)-----[ \t]*\r?\n(.*?)-----END \1-----", re.DOTALL
)


def decode_base64(value: Any) -> bytes:
    try:
        return base64.b64decode(value or "")
    except (binascii.Error, TypeError, ValueError):
        return b""


def pem_blocks(pem: bytes) -> Iterator[tuple[str, bytes, bool]]:
    """The type of each PEM block, its bytes, and whether it has headers."""
    for match in _BLOCK.finditer(pem):
        content = match[2]
        has_headers = b":" in content
        try:
            der = base64.b64decode(content, validate=False)
        except (binascii.Error, ValueError):
            continue
        yield match[1].decode(), der, has_headers


def read_request(value: Any) -> CertificateSigningRequest:
    """The request in PEM and base64. Raises ValueError if it is invalid."""
    # Imported here: `cryptography` takes longer to import than the server to start.
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    block = next(pem_blocks(decode_base64(value)), None)
    if block is None or block[0] != "CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    request = x509.load_der_x509_csr(block[1])
    try:
        is_valid = request.is_signature_valid
    except (InvalidSignature, UnsupportedAlgorithm) as error:
        raise ValueError(str(error)) from error
    if not is_valid:
        raise ValueError("the signature is invalid")
    return request


def read_certificate(der: bytes) -> Certificate | None:
    from cryptography import x509

    try:
        return x509.load_der_x509_certificate(der)
    except ValueError:
        return None


def organizations(request: Any) -> list[str]:
    """The organizations (groups) in the subject of a signing request; none if it is invalid."""
    from cryptography.x509 import NameOID

    try:
        subject = read_request(request).subject
    except ValueError:
        return []
    return [str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
