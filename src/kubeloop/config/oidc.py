"""Credentials from OpenID Connect: an id token, and a refresh token to renew it.

Promises: no HTTP here, the exchange is handed in; one refresh at a time; new tokens
are kept on disk before they are used, because most servers give a refresh token once.
Elsewhere: the file they are kept in (`writing`).
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar, final
from urllib.parse import quote_plus, urlencode

import msgspec

from kubeloop.kit import Clock
from kubeloop.wire import get_logger

from .credentials import Identity, bearer
from .errors import ConfigError, CredentialError
from .kubeconfig import AuthProvider
from .redaction import Veiled, redacted_url

__all__ = ["Fetch", "Fetched", "OidcCredentials", "Persist", "token_expiry"]

log = get_logger(__name__)

_T = TypeVar("_T", bound=msgspec.Struct)

_LEEWAY = timedelta(seconds=10)
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}

# Keeps new tokens for the next program; may fail with `ConfigError`.
Persist = Callable[[Mapping[str, str]], None]


class Fetched(Veiled, frozen=True, kw_only=True):
    """An HTTP answer; its body may hold tokens."""

    veiled: ClassVar[frozenset[str]] = frozenset({"body"})

    status: int
    body: bytes


class Fetch(Protocol):
    """What this module asks of whoever can speak HTTP."""

    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
    ) -> Fetched:
        """One request; `ca` holds the roots to trust, empty for the system's.

        Raises: `TransportError` when there is no answer.
        """
        ...


class _Claims(msgspec.Struct, frozen=True):
    exp: float = 0.0


class _Endpoints(msgspec.Struct, frozen=True):
    token_endpoint: str = ""


class _Tokens(msgspec.Struct, frozen=True):
    id_token: str = ""
    refresh_token: str = ""


class _Refusal(msgspec.Struct, frozen=True):
    error: str = ""
    error_description: str = ""


@final
class OidcCredentials:
    """The id token of an `oidc` auth provider, renewed before it ends."""

    def __init__(
        self,
        provider: AuthProvider,
        *,
        clock: Clock,
        fetch: Fetch | None = None,
        persist: Persist | None = None,
    ) -> None:
        self._issuer = _required(provider, "idp-issuer-url").rstrip("/")
        self._client_id = _required(provider, "client-id")
        self._config = dict(provider.config)
        self._clock = clock
        self._fetch = fetch
        self._persist = persist
        self._turn = asyncio.Lock()  # held while tokens are exchanged
        self._epoch = 0
        self._refused = False
        if provider.config.get("extra-scopes"):
            log.warning("oidc: extra-scopes is not used, the refresh token fixes the scopes")

    async def identity(self) -> Identity:
        """The id token, exchanged for a new one when it is about to end.

        Raises: `CredentialError` when there is no way to a token that is good.
        Safe to cancel: at worst the exchange was made and its tokens are lost.
        """
        if self._is_good():
            return self._identity()
        async with self._turn:
            if not self._is_good():
                await self._renew()
            return self._identity()

    async def refused(self, identity: Identity) -> None:
        """Exchange the token before the next request, if there is something to do so with."""
        if identity.epoch == self._epoch and self._config.get("refresh-token"):
            self._refused = True

    def __repr__(self) -> str:
        return f"OidcCredentials({redacted_url(self._issuer)}, {self._client_id})"

    def _identity(self) -> Identity:
        return Identity(authorization=bearer(self._config["id-token"]), epoch=self._epoch)

    def _is_good(self) -> bool:
        token = self._config.get("id-token", "")
        if not token or self._refused:
            return False
        return (self._clock.time() + _LEEWAY).timestamp() < token_expiry(token)

    async def _renew(self) -> None:
        refresh = self._config.get("refresh-token", "")
        if not refresh:
            raise CredentialError(
                f"oidc {redacted_url(self._issuer)}: no good id-token and no refresh-token"
                " (log in again)"
            )
        tokens = await self._exchange(refresh)
        if not tokens.id_token:
            raise CredentialError(
                f"oidc {redacted_url(self._issuer)}: the answer has no id_token"
                " (log in again with the scope openid)"
            )
        token_expiry(tokens.id_token)  # a token that is none must not be kept
        self._keep(tokens)

    def _keep(self, tokens: _Tokens) -> None:
        config = {**self._config, "id-token": tokens.id_token}
        if tokens.refresh_token:
            config["refresh-token"] = tokens.refresh_token
        if self._persist is not None:
            self._persist(config)
        self._config = config
        self._refused = False
        self._epoch += 1

    async def _exchange(self, refresh: str) -> _Tokens:
        url = await self._token_endpoint()
        form = {"grant_type": "refresh_token", "refresh_token": refresh}
        secret = self._config.get("client-secret", "")
        pair = f"{quote_plus(self._client_id)}:{quote_plus(secret)}"
        header = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
        answer = await self._ask("POST", url, headers={**_FORM, **header}, form=form)
        if answer.status >= 400:
            # Some servers want the client's name in the form, and there is no way to know.
            form |= {"client_id": self._client_id} | ({"client_secret": secret} if secret else {})
            answer = await self._ask("POST", url, headers=_FORM, form=form)
        if answer.status >= 400:
            raise CredentialError(
                f"oidc: POST {redacted_url(url)}: {answer.status}{_refusal(answer)} (log in again)"
            )
        return _read(answer, _Tokens, url)

    async def _token_endpoint(self) -> str:
        url = f"{self._issuer}/.well-known/openid-configuration"
        answer = await self._ask("GET", url, headers={"Accept": "application/json"}, form={})
        if answer.status != 200:
            raise CredentialError(
                f"oidc: GET {redacted_url(url)}: {answer.status} (check idp-issuer-url)"
            )
        endpoint = _read(answer, _Endpoints, url).token_endpoint
        if not endpoint:
            raise CredentialError(f"oidc: GET {redacted_url(url)}: no token_endpoint in the answer")
        return endpoint

    async def _ask(
        self, method: str, url: str, *, headers: Mapping[str, str], form: Mapping[str, str]
    ) -> Fetched:
        if self._fetch is None:
            raise CredentialError(
                f"oidc {redacted_url(self._issuer)}: the id-token has to be renewed, and nobody"
                " here can ask for it"
            ).with_hint(python="open the credentials with fetch=")
        body = urlencode(form).encode()
        return await self._fetch(method, url, headers=headers, body=body, ca=self._ca())

    def _ca(self) -> bytes:
        data = self._config.get("idp-certificate-authority-data", "")
        path = self._config.get("idp-certificate-authority", "")
        try:
            return base64.b64decode(data) if data else Path(path).read_bytes() if path else b""
        except (binascii.Error, OSError) as error:
            raise ConfigError(
                "oidc: idp-certificate-authority cannot be read (check the file or the data)"
            ) from error


def token_expiry(token: str) -> float:
    """The `exp` claim of a JWT, in seconds since 1970; zero when it has none.

    Raises: `CredentialError` when it is no JWT.
    """
    parts = token.split(".")
    try:
        if len(parts) != 3:
            raise ValueError("a JWT has three parts")
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        payload = base64.b64decode(padded, altchars=b"-_", validate=True)
        return msgspec.json.decode(payload, type=_Claims).exp
    except (ValueError, msgspec.DecodeError, RecursionError):
        raise CredentialError("oidc: the id-token is not a JWT (log in again)") from None


def _required(provider: AuthProvider, key: str) -> str:
    value = provider.config.get(key, "")
    if not value:
        raise ConfigError(f"auth-provider oidc: {key} is not set (add it to the user's config)")
    return value


def _refusal(answer: Fetched) -> str:
    """The error in the words of OAuth, which hold no secret; nothing else of the body."""
    try:
        said = msgspec.json.decode(answer.body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return "".join(f": {text}" for text in (said.error, said.error_description) if text)


def _read(answer: Fetched, kind: type[_T], url: str) -> _T:
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise CredentialError(
            f"oidc: {redacted_url(url)} answered {len(answer.body)} bytes that are not the JSON"
            " that was due (check idp-issuer-url)"
        ) from None
