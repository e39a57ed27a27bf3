"""Signing and verification of tokens: JSON Web Tokens with ES256, and no other algorithm.

Guarantees: a token is valid only with a signature of a given key; the algorithm in its header
cannot select another one; private keys are in no `repr`.
See also: `service_accounts` (the claims).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, final

from kubeloop.wire import InvalidArgument, Json, JsonObject, KubeError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["BadToken", "SigningKey", "decode_claims", "unverified_claims", "verify"]

_SIZE: Final = 32  # bytes of each half of a P-256 signature
_PARTS: Final = 3


class BadToken(KubeError):
    """A token is invalid; the message has the reason and nothing of the token."""


@final
class SigningKey:
    """The key that signs service account tokens; from PEM, or generated.

    Raises:
        InvalidArgument: the PEM is no private key on P-256.
    """

    def __init__(self, pem: bytes | None = None) -> None:
        self._key = _from_pem(pem) if pem else _new_key()
        self.key_id = _encode(hashlib.sha256(self._public_der()).digest())

    def __repr__(self) -> str:
        return f"SigningKey(key_id={self.key_id!r})"

    @property
    def pem(self) -> bytes:
        """The private key; write it to a file with `certs.write_key`."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def public_pem(self) -> bytes:
        """The public key, to verify tokens with."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def jwk(self) -> dict[str, str]:
        """The public key as an entry of `/openid/v1/jwks`."""
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

    def sign(self, claims: Mapping[str, Json]) -> str:
        """A token with these claims."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        # RFC 7515: both parts are base64url without padding.
        signed = f"{_json({'alg': 'ES256', 'kid': self.key_id})}.{_json(claims)}"
        # RFC 7518, 3.4: ES256 has the two numbers with fixed length, not in DER.
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


def verify(token: str, keys: Iterable[SigningKey]) -> JsonObject:
    """The claims of a token that one of `keys` has signed.

    Raises:
        BadToken: it is malformed, has another algorithm, or none of `keys` signed it.
    """
    head, _, signature = _split(token)
    header, claims = decode_claims(head), unverified_claims(token)
    # The header is attacker-controlled: "none" and HMAC must never be accepted.
    if header.get("alg") != "ES256":
        raise BadToken("invalid signature, no keys found")
    key_id = header.get("kid")
    matching = [key for key in keys if not key_id or key.key_id == key_id]
    if not matching:
        raise BadToken("invalid signature, no keys found")
    text = token.rpartition(".")[0].encode()
    if not any(key.has_signed(text, _decode(signature)) for key in matching):
        # The text of the library in kube-apiserver, which TokenReview returns.
        raise BadToken("go-jose/go-jose: error in cryptographic primitive")
    return claims


def unverified_claims(token: str) -> JsonObject:
    """The claims of a token without verification, to find its issuer.

    Raises:
        BadToken: it is malformed.
    """
    return decode_claims(_split(token)[1])


def decode_claims(part: str) -> JsonObject:
    """The JSON object in one part of a token.

    Raises:
        BadToken: it is no JSON object.
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


def _json(value: Mapping[str, Json]) -> str:
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
            "signing key: not an unencrypted private key in PEM format"
        ) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise InvalidArgument("signing key: not an elliptic curve key on P-256")
    return key
