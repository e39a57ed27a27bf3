"""Who a request comes from: certificate, bearer token, or nobody in particular.

Promises: credentials that are there but wrong are a 401, never somebody else; the groups
of all users and of all strangers are added as kube-apiserver adds them.
Elsewhere: acting as somebody else (`impersonation`), tokens of service accounts
(`service_accounts`), what a user may do (`rbac`).
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, final

import msgspec

from .. import statuses
from ..identity import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from .service_accounts import ServiceAccountTokens, Vouched
from .signing import BadToken

__all__ = ["Authenticator", "Headers", "Subject", "User", "subject_of"]

_SOCKET_TOKEN: Final = "base64url.bearer.authorization.k8s.io."  # noqa: S105 # a prefix
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"


class Headers(Protocol):
    """What this room asks of a request's headers; names are in any case."""

    def get(self, name: str, /) -> str | None: ...
    def getall(self, name: str, default: Sequence[str], /) -> Sequence[str]: ...
    def keys(self) -> Iterable[str]: ...


@final
class Subject(msgspec.Struct, frozen=True):
    """Whom a verified client certificate names; `fingerprint` is the SHA-256 of it in hex."""

    common_name: str
    organizations: tuple[str, ...] = ()
    fingerprint: str = ""


def subject_of(peer: Mapping[str, Any] | None, *, fingerprint: str = "") -> Subject | None:
    """The subject of what `ssl` says of the peer (`getpeercert()`); None without certificate."""
    if not peer:
        return None
    said = [pair for name in peer.get("subject", ()) for pair in name]
    names = [value for key, value in said if key == "commonName"]
    groups = tuple(value for key, value in said if key == "organizationName")
    return Subject(names[-1] if names else "", groups, fingerprint)


@final
class Authenticator:
    """Tells who asks.

    `tokens` maps bearer tokens to users. A certificate's subject is believed only when
    `client_ca` is set: TLS has then checked it. `anonymous` lets requests without
    credentials in as `system:anonymous`; by default only when neither tokens nor client
    certificates are configured.
    """

    def __init__(
        self,
        *,
        tokens: Mapping[str, User] | None = None,
        client_ca: bytes | None = None,
        service_accounts: ServiceAccountTokens | None = None,
        anonymous: bool | None = None,
    ) -> None:
        self._tokens = dict(tokens or {})
        self._client_ca = client_ca
        self._service_accounts = service_accounts
        self._anonymous = anonymous

    @property
    def anonymous(self) -> bool:
        """Whether requests without credentials are let in."""
        if self._anonymous is not None:
            return self._anonymous
        return not self._tokens and self._client_ca is None

    def replace_tokens(self, tokens: Mapping[str, User]) -> None:
        """Know these tokens and no others from now on: tokens were rotated."""
        # With all tokens taken away strangers must not come in instead.
        self._anonymous = self.anonymous
        self._tokens = dict(tokens)

    def identify(self, headers: Headers, subject: Subject | None = None) -> User:
        """Who a request with these headers and this client certificate comes from.

        Raises:
            Refusal: nobody we know (401).
        """
        user = self._from_certificate(subject)
        if user is None:
            token = _bearer(headers)
            user = self._from_token(token) if token else self._stranger()
        return _with_group_of_all(user)

    def vouch(self, token: str, audiences: Sequence[str] = ()) -> Vouched:
        """Whom a token stands for: what a TokenReview asks.

        Raises:
            BadToken: it stands for nobody.
        """
        wanted = tuple(audiences) or self.audiences
        user = self._static(token)
        if user is not None:
            return Vouched(_with_group_of_all(user), wanted)
        accounts = self._service_accounts
        if accounts is None or not accounts.claims_to_be_ours(token):
            raise BadToken("invalid bearer token")
        vouched = accounts.vouch(token, wanted)
        return Vouched(_with_group_of_all(vouched.user), vouched.audiences)

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences that this server answers for."""
        return self._service_accounts.audiences if self._service_accounts else ()

    def _from_certificate(self, subject: Subject | None) -> User | None:
        if subject is None or self._client_ca is None or not subject.common_name:
            return None
        extra = {_CREDENTIAL: (f"X509SHA256={subject.fingerprint}",)} if subject.fingerprint else {}
        return User(subject.common_name, "", subject.organizations, extra)

    def _from_token(self, token: str) -> User:
        try:
            return self.vouch(token).user
        except BadToken:
            raise statuses.unauthorized() from None

    def _stranger(self) -> User:
        if not self.anonymous:
            raise statuses.unauthorized()
        return User(ANONYMOUS, "", (UNAUTHENTICATED,))

    def _static(self, token: str) -> User | None:
        """Looks at every token, so that the time taken tells nothing."""
        given, found = token.encode(), None
        for known, user in self._tokens.items():
            if hmac.compare_digest(known.encode(), given):
                found = user
        return found


def _with_group_of_all(user: User) -> User:
    if user.name == ANONYMOUS or {AUTHENTICATED, UNAUTHENTICATED} & set(user.groups):
        return user
    return User(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)


def _bearer(headers: Headers) -> str:
    """The token of a request: in its Authorization or, for websockets, among the protocols."""
    scheme, _, rest = (headers.get("Authorization") or "").strip().partition(" ")
    token = rest.partition(" ")[0]
    if scheme.lower() == "bearer" and token:
        return token
    return _socket_token(headers)


def _socket_token(headers: Headers) -> str:
    said = ",".join(headers.getall("Sec-WebSocket-Protocol", ()))
    for protocol in map(str.strip, said.split(",")):
        if protocol.startswith(_SOCKET_TOKEN):
            text = protocol.removeprefix(_SOCKET_TOKEN)
            try:
                return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
            except (binascii.Error, ValueError):
                return text  # a token that nobody knows
    return ""
