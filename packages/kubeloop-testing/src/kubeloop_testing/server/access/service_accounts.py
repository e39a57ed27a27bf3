"""Service account tokens: issuing and authentication.

Guarantees: a token is valid for its audiences until it expires, and only while the account
and the object it is bound to exist with the same uid, as kube-apiserver checks it in
`pkg/serviceaccount/claims.go`.
See also: `signing` (signatures), `token_requests` (the TokenRequest API).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, final

import msgspec

from kubeloop.wire import InvalidArgument, Json, JsonObject
from kubeloop.wire.times import parse_time

from ..identity import (
    Objects,
    User,
    find_object,
    go_list,
    service_account_groups,
    service_account_name,
)
from ..storage.store import new_uid
from ..values.causes import quoted
from .signing import BadToken, SigningKey, unverified_claims, verify

__all__ = ["ISSUER", "AuthenticatedToken", "BoundObject", "ServiceAccountTokens"]

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"

_LEEWAY: Final = 60.0  # seconds; jwt.DefaultLeeway, for clocks that differ
_EXTRA: Final = "authentication.kubernetes.io/"
_INVALIDATED: Final = "service account token has been invalidated"


@final
class BoundObject(msgspec.Struct, frozen=True):
    """The object that a token is bound to; `node` is the node of a pod."""

    kind: str  # "Pod", "Secret" or "Node"
    name: str
    uid: str
    node: tuple[str, str] = ("", "")  # its name and uid


@final
class AuthenticatedToken(msgspec.Struct, frozen=True):
    """The user of a token, and the requested audiences that it is valid for."""

    user: User
    audiences: tuple[str, ...]


@final
class ServiceAccountTokens:
    """Issues and verifies tokens; the first of `keys` signs, all of them verify."""

    def __init__(
        self,
        keys: Sequence[SigningKey],
        objects: Objects,
        *,
        now: Callable[[], datetime],
        issuer: str = ISSUER,
        audiences: Sequence[str] = (),
    ) -> None:
        self._keys = tuple(keys)
        self._objects = objects
        self._now = now
        self.issuer = issuer
        self.audiences = tuple(audiences) or (issuer,)

    def rotate(self, key: SigningKey, *, keep_old: bool = True) -> None:
        """Sign with `key` from now on; `keep_old` leaves the tokens of older keys valid."""
        self._keys = (key, *self._keys) if keep_old else (key,)

    def keys(self) -> JsonObject:
        """The public keys: the document at `/openid/v1/jwks`."""
        return {"keys": [key.jwk() for key in self._keys]}

    def configuration(self) -> JsonObject:
        """The document at `/.well-known/openid-configuration`."""
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }

    def issue(
        self,
        account: Mapping[str, Json],
        *,
        seconds: float,
        audiences: Sequence[str] = (),
        bound: BoundObject | None = None,
    ) -> str:
        """A new token for a service account (the object)."""
        meta = account["metadata"]
        now = int(self._now().timestamp())
        # The private claims of pkg/serviceaccount/claims.go; clients decode them.
        kubernetes: JsonObject = {
            "namespace": meta["namespace"],
            **_bound_claims(bound),
            "serviceaccount": {"name": meta["name"], "uid": meta.get("uid", "")},
        }
        return self._keys[0].sign(
            {
                "aud": list(audiences) or list(self.audiences),
                "exp": now + int(seconds),
                "iat": now,
                "iss": self.issuer,
                "jti": new_uid(),
                "kubernetes.io": kubernetes,
                "nbf": now,
                "sub": service_account_name(meta["namespace"], meta["name"]),
            }
        )

    def has_issued(self, token: str) -> bool:
        """Whether a token claims this issuer; the signature is not verified."""
        try:
            return unverified_claims(token).get("iss") == self.issuer
        except BadToken:
            return False

    def authenticate_token(self, token: str, audiences: Sequence[str] = ()) -> AuthenticatedToken:
        """The user of a token for one of `audiences` (those of this server, when empty).

        Raises:
            BadToken: it is forged, expired, for other audiences, or its object is gone.
        """
        claims = verify(token, self._keys)
        if claims.get("iss") != self.issuer:
            raise BadToken(f"token issuer {quoted(str(claims.get('iss')))} is invalid")
        audiences = tuple(audiences) or self.audiences
        own = _audiences(claims.get("aud")) or self.audiences
        common = tuple(each for each in own if each in audiences)
        if not common:
            raise BadToken(
                f"token audiences {go_list(own)} is invalid for the target audiences "
                f"{go_list(audiences)}"
            )
        self._check_times(claims)
        return AuthenticatedToken(self._user(claims), common)

    def _check_times(self, claims: Mapping[str, Json]) -> None:
        now = self._now().timestamp()
        if now - _LEEWAY > _number(claims.get("exp"), now):
            raise BadToken("service account token has expired")
        if now + _LEEWAY < _number(claims.get("nbf"), now):
            raise BadToken("service account token is not valid yet")
        if now + _LEEWAY < _number(claims.get("iat"), now):
            raise BadToken("service account token is issued in the future")

    def _user(self, claims: Mapping[str, Json]) -> User:
        private = claims.get("kubernetes.io")
        if not isinstance(private, dict):
            raise BadToken("service account token claims could not be validated")  # foreign claims
        namespace = str(private.get("namespace", ""))
        account = _reference(private, "serviceaccount") or ("", "")
        # An account that was deleted and created again has another uid: old tokens are invalid.
        self._check_account(namespace, *account)
        extra = self._bound_extra(namespace, private)
        # For audit logs: which of the user's credentials was used.
        if claims.get("jti"):
            extra[f"{_EXTRA}credential-id"] = (f"JTI={claims['jti']}",)
        return User(
            service_account_name(namespace, account[0]),
            account[1],
            service_account_groups(namespace),
            extra,
        )

    def _check_account(self, namespace: str, name: str, uid: str) -> None:
        found = find_object(self._objects, "", "serviceaccounts", name, namespace=namespace)
        if found is None:
            raise BadToken(f"serviceaccounts {quoted(name)} not found")
        if found["metadata"].get("uid", "") != uid:
            raise BadToken(
                f"service account UID ({found['metadata'].get('uid', '')}) does not match "
                f"claim ({uid})"
            )
        if self._is_deleted(found):
            raise BadToken(f"service account {namespace}/{name} has been deleted")

    def _bound_extra(
        self, namespace: str, private: Mapping[str, Json]
    ) -> dict[str, tuple[str, ...]]:
        secret, pod = _reference(private, "secret"), _reference(private, "pod")
        node = _reference(private, "node")
        if secret:
            self._check_bound("secret", "secrets", secret, namespace)
        if pod:
            self._check_bound("pod", "pods", pod, namespace)
        elif node:  # beside a pod the node is only information, and may be gone
            self._check_bound("node", "nodes", node, "")
        extra = [("pod-name", pod, 0), ("pod-uid", pod, 1), ("node-name", node, 0)]
        extra += [("node-uid", node, 1)]
        return {f"{_EXTRA}{key}": (ref[at],) for key, ref, at in extra if ref and ref[at]}

    def _check_bound(
        self, kind: str, plural: str, reference: tuple[str, str], namespace: str
    ) -> None:
        name, uid = reference
        found = find_object(self._objects, "", plural, name, namespace=namespace)
        if found is None or self._is_deleted(found):
            raise BadToken(_INVALIDATED)
        if found["metadata"].get("uid", "") != uid:
            raise BadToken(
                f"{kind} UID ({found['metadata'].get('uid', '')}) does not match service "
                f"account {kind} ref claim ({uid})"
            )

    def _is_deleted(self, obj: Mapping[str, Json]) -> bool:
        # Within the leeway after its deletion timestamp, the object still counts.
        deleted = obj["metadata"].get("deletionTimestamp")
        if not deleted:
            return False
        try:
            moment = parse_time(deleted)
        except InvalidArgument:
            return True
        return (self._now() - moment).total_seconds() > _LEEWAY


def _bound_claims(bound: BoundObject | None) -> JsonObject:
    if bound is None:
        return {}
    claims: JsonObject = {bound.kind.lower(): {"name": bound.name, "uid": bound.uid}}
    if bound.kind == "Pod" and bound.node[0]:
        name, uid = bound.node
        claims["node"] = {"name": name, "uid": uid} if uid else {"name": name}
    return claims


def _reference(private: Mapping[str, Json], key: str) -> tuple[str, str] | None:
    found = private.get(key)
    if not isinstance(found, dict):
        return None
    return str(found.get("name", "")), str(found.get("uid", ""))


def _audiences(value: object) -> tuple[str, ...]:
    """The audiences of a token: RFC 7519 allows one text or a list."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, Iterable) else ()


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise
