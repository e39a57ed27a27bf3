"""Authentication: client certificate, bearer token, or anonymous.

Guarantees: invalid credentials are a 401, never another user; `system:authenticated` and
`system:unauthenticated` are added as kube-apiserver adds them.
See also: `impersonation`, `service_accounts` (their tokens), `rbac` (authorization).
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol, final

import msgspec

from kubeloop.wire import Json

from .. import statuses
from ..identity import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from .service_accounts import AuthenticatedToken, ServiceAccountTokens
from .signing import BadToken

__all__ = ["Authenticator", "Headers", "Subject", "User", "subject_of"]

_SOCKET_TOKEN: Final = "base64url.bearer.authorization.k8s.io."  # noqa: S105 # a prefix
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"


class Headers(Protocol):
    """The headers of a request; names are in any case."""

    def get(self, name: str, /) -> str | None: ...
    def getall(self, name: str, default: Sequence[str], /) -> Sequence[str]: ...
    def keys(self) -> Iterable[str]: ...


@final
class Subject(msgspec.Struct, frozen=True):
    """The subject of a verified client certificate; `fingerprint` is its SHA-256 in hex."""

    common_name: str
    organizations: tuple[str, ...] = ()
    fingerprint: str = ""


def subject_of(peer: Mapping[str, Json] | None, *, fingerprint: str = "") -> Subject | None:
    """The subject in the result of `ssl`'s `getpeercert()`; None without a certificate."""
    if not peer:
        return None
    pairs = [pair for name in peer.get("subject", ()) for pair in name]
    names = [value for key, value in pairs if key == "commonName"]
    groups = tuple(value for key, value in pairs if key == "organizationName")
    return Subject(names[-1] if names else "", groups, fingerprint)


@final
class Authenticator:
    """Finds the user of a request.

    `tokens` maps bearer tokens to users. The subject of a certificate counts only when
    `client_ca` is set, because TLS has verified it then. `anonymous` accepts requests without
    credentials as `system:anonymous`.
    """

    def __init__(
        self,
        *,
        tokens: Mapping[str, User] | None = None,
        client_ca: bytes | None = None,
        service_accounts: ServiceAccountTokens | None = None,
        anonymous: bool = False,
    ) -> None:
        self._tokens = dict(tokens or {})
        self._client_ca = client_ca
        self._service_accounts = service_accounts
        self._anonymous = anonymous

    def replace_tokens(self, tokens: Mapping[str, User]) -> None:
        """Accept these tokens and no others from now on (rotation)."""
        self._tokens = dict(tokens)

    def authenticate(self, headers: Headers, subject: Subject | None = None) -> User:
        """The user of a request with these headers and this client certificate.

        Raises:
            StatusError: the credentials are invalid or missing (401).
        """
        user = self._from_certificate(subject)
        if user is None:
            token = _bearer_token(headers)
            user = self._from_token(token) if token else self._anonymous_user()
        return _with_authenticated_group(user)

    def authenticate_token(self, token: str, audiences: Sequence[str] = ()) -> AuthenticatedToken:
        """The user of a token, also for a TokenReview.

        Raises:
            BadToken: the token is invalid.
        """
        audiences = tuple(audiences) or self.audiences
        user = self._from_static_token(token)
        if user is not None:
            return AuthenticatedToken(_with_authenticated_group(user), audiences)
        accounts = self._service_accounts
        # Another issuer is not checked further, as in kube-apiserver's token union.
        if accounts is None or not accounts.has_issued(token):
            raise BadToken("invalid bearer token")
        found = accounts.authenticate_token(token, audiences)
        return AuthenticatedToken(_with_authenticated_group(found.user), found.audiences)

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences of this server, for tokens without their own."""
        return self._service_accounts.audiences if self._service_accounts else ()

    def _from_certificate(self, subject: Subject | None) -> User | None:
        if subject is None or self._client_ca is None or not subject.common_name:
            return None
        extra = {_CREDENTIAL: (f"X509SHA256={subject.fingerprint}",)} if subject.fingerprint else {}
        return User(subject.common_name, "", subject.organizations, extra)

    def _from_token(self, token: str) -> User:
        try:
            return self.authenticate_token(token).user
        except BadToken:
            raise statuses.unauthorized() from None

    def _anonymous_user(self) -> User:
        if not self._anonymous:
            raise statuses.unauthorized()
        return User(ANONYMOUS, "", (UNAUTHENTICATED,))

    def _from_static_token(self, token: str) -> User | None:
        # Compares every token in constant time, so that timing reveals nothing about them.
        given, found = token.encode(), None
        for each, user in self._tokens.items():
            if hmac.compare_digest(each.encode(), given):
                found = user
        return found


def _with_authenticated_group(user: User) -> User:
    # AuthenticatedGroupAdder of kube-apiserver.
    if user.name == ANONYMOUS or {AUTHENTICATED, UNAUTHENTICATED} & set(user.groups):
        return user
    return User(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)


def _bearer_token(headers: Headers) -> str:
    """The token in the Authorization header or, for websockets, among the subprotocols."""
    scheme, _, rest = (headers.get("Authorization") or "").strip().partition(" ")
    token = rest.partition(" ")[0]
    if scheme.lower() == "bearer" and token:
        return token
    return _websocket_token(headers)


def _websocket_token(headers: Headers) -> str:
    # Browsers cannot set Authorization on a websocket: kube-apiserver accepts the token there.
    protocols = ",".join(headers.getall("Sec-WebSocket-Protocol", ()))
    for protocol in map(str.strip, protocols.split(",")):
        if protocol.startswith(_SOCKET_TOKEN):
            text = protocol.removeprefix(_SOCKET_TOKEN)
            try:
                return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
            except (binascii.Error, ValueError):
                return text  # not base64: an invalid token, and no anonymous request
    return ""
