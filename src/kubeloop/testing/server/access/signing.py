"""Signed tokens: JSON Web Tokens with ES256, and nothing else of that large standard.

Promises: a token is believed only when its signature fits a key that was given; no other
algorithm is accepted, whatever the token asks for; keys are in no `repr`.
Elsewhere: what the claims must say (`service_accounts`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, final

from kubeloop.wire import InvalidArgument, KubeError

from .certs import need_cryptography

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["BadToken", "SigningKey", "claims_of", "unverified_claims", "verified"]

_SIZE: Final = 32  # bytes of each half of a P-256 signature
_PARTS: Final = 3


class BadToken(KubeError):
    """A token that is not believed; the message says why and holds nothing of the token."""


@final
class SigningKey:
    """The key that service account tokens are signed with; from PEM, or made now.

    Raises:
        MissingCryptography: the library that makes keys is not installed.
        InvalidArgument: the PEM is no key of this sort.
    """

    def __init__(self, pem: bytes | None = None) -> None:
        need_cryptography()
        self._key = _from_pem(pem) if pem else _new_key()
        self.key_id = _encode(hashlib.sha256(self._public_der()).digest())

    def __repr__(self) -> str:
        return f"SigningKey(key_id={self.key_id!r})"

    @property
    def pem(self) -> bytes:
        """The private key, to keep it beyond this process; write it with `certs.write_key`."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public_pem(self) -> bytes:
        """The public key: what those who verify tokens are given."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def jwk(self) -> dict[str, str]:
        """The public key as `/openid/v1/jwks` shows it."""
        numbers = self._key.public_key().public_numbers()
        return {
            "use": "sig",
            "kty": "EC",
            "kid": self.key_id,
            "crv": "P-256",
            "alg": "ES256",
            "x": _encode(numbers.x.to_bytes(_SIZE, "big")),
            "y": _encode(numbers.y.to_bytes(_SIZE, "big")),
        }

    def sign(self, claims: Mapping[str, Any]) -> str:
        """The token that says `claims`."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        signed = f"{_json({'alg': 'ES256', 'kid': self.key_id})}.{_json(claims)}"
        first, second = decode_dss_signature(
            self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
        )
        return f"{signed}.{_encode(first.to_bytes(_SIZE, 'big') + second.to_bytes(_SIZE, 'big'))}"

    def has_signed(self, text: bytes, signature: bytes) -> bool:
        """Whether `signature` is this key's signature of `text`."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

        if len(signature) != 2 * _SIZE:
            return False
        halves = signature[:_SIZE], signature[_SIZE:]
        encoded = encode_dss_signature(*(int.from_bytes(half, "big") for half in halves))
        try:
            self._key.public_key().verify(encoded, text, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return False
        return True

    def _public_der(self) -> bytes:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def verified(token: str, keys: Iterable[SigningKey]) -> dict[str, Any]:
    """The claims of a token that one of `keys` has signed.

    Raises:
        BadToken: it is no token, asks for another algorithm, or nobody here signed it.
    """
    head, _, signature = _split(token)
    header, claims = claims_of(head), unverified_claims(token)
    if header.get("alg") != "ES256":
        raise BadToken("invalid signature, no keys found")
    wanted = header.get("kid")
    fitting = [key for key in keys if not wanted or key.key_id == wanted]
    if not fitting:
        raise BadToken("invalid signature, no keys found")
    text = token.rpartition(".")[0].encode()
    if not any(key.has_signed(text, _decode(signature)) for key in fitting):
        raise BadToken("go-jose/go-jose: error in cryptographic primitive")
    return claims


def unverified_claims(token: str) -> dict[str, Any]:
    """What a token says, believed or not: to find out whether it is one of ours at all.

    Raises:
        BadToken: it is no token.
    """
    return claims_of(_split(token)[1])


def claims_of(part: str) -> dict[str, Any]:
    """One part of a token, decoded.

    Raises:
        BadToken: it is not JSON, or no object.
    """
    try:
        found = json.loads(_decode(part))
    except (ValueError, RecursionError) as error:
        raise BadToken("the token is malformed") from error
    if not isinstance(found, dict):
        raise BadToken("the token is malformed")
    return found


def _split(token: str) -> list[str]:
    parts = token.split(".")
    if len(parts) != _PARTS:
        raise BadToken("the token is malformed")
    return parts


def _json(value: Mapping[str, Any]) -> str:
    return _encode(json.dumps(value, separators=(",", ":")).encode())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise BadToken("the token is malformed") from error


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _from_pem(pem: bytes) -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, None)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            "the signing key: not a private key in PEM without password"
        ) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise InvalidArgument("the signing key: not an elliptic key on the curve P-256")
    return key
