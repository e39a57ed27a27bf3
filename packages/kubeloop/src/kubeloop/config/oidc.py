"""Credentials of OpenID Connect: an id token, and a refresh token.

Guarantees: the HTTP client is a parameter; one refresh at a time; new tokens are stored before
they are used, because most issuers accept a refresh token only once.
See also: `writing` (stores them in the kubeconfig).
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
from .redaction import Redacted, redacted_url

__all__ = ["Fetch", "Fetched", "OidcCredentials", "Persist", "token_expiry"]

log = get_logger(__name__)

_T = TypeVar("_T", bound=msgspec.Struct)

_LEEWAY = timedelta(seconds=10)
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}

# Stores new tokens for the next program; may raise `ConfigError`.
Persist = Callable[[Mapping[str, str]], None]


class Fetched(Redacted, frozen=True, kw_only=True):
    """An HTTP response; its body may contain tokens."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"body"})

    status: int
    body: bytes


class Fetch(Protocol):
    """Sends one HTTP request."""

    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
    ) -> Fetched:
        """Send one request; `ca` has the certificates to trust, empty for the system's.

        Raises: `TransportError` when there is no response.
        """
        ...


class _Claims(msgspec.Struct, frozen=True):
    exp: float = 0.0


class _Endpoints(msgspec.Struct, frozen=True):
    token_endpoint: str = ""


class _Tokens(msgspec.Struct, frozen=True):
    id_token: str = ""
    refresh_token: str = ""


class _ErrorBody(msgspec.Struct, frozen=True):
    error: str = ""
    error_description: str = ""


@final
class OidcCredentials:
    """The id token of an `oidc` auth provider, refreshed before it expires."""

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
        self._rejected = False
        if provider.config.get("extra-scopes"):
            log.warning("oidc: extra-scopes is ignored, the refresh token determines the scopes")

    async def identity(self) -> Identity:
        """The id token, refreshed if it is about to expire.

        Raises: `CredentialError` when there is no valid token.
        Safe to cancel, but the new tokens of a running refresh may be lost.
        """
        if self._is_valid():
            return self._identity()
        async with self._turn:
            if not self._is_valid():
                await self._refresh()
            return self._identity()

    async def refresh(self, identity: Identity) -> None:
        """Refresh the token before the next request, if there is a refresh token."""
        if identity.epoch == self._epoch and self._config.get("refresh-token"):
            self._rejected = True

    def __repr__(self) -> str:
        return f"OidcCredentials({redacted_url(self._issuer)}, {self._client_id})"

    def _identity(self) -> Identity:
        return Identity(authorization=bearer(self._config["id-token"]), epoch=self._epoch)

    def _is_valid(self) -> bool:
        token = self._config.get("id-token", "")
        if not token or self._rejected:
            return False
        return (self._clock.time() + _LEEWAY).timestamp() < token_expiry(token)

    async def _refresh(self) -> None:
        refresh = self._config.get("refresh-token", "")
        if not refresh:
            raise CredentialError(
                f"oidc {redacted_url(self._issuer)}: no valid id-token and no refresh-token"
                " (log in again)"
            )
        tokens = await self._exchange(refresh)
        if not tokens.id_token:
            raise CredentialError(
                f"oidc {redacted_url(self._issuer)}: the response has no id_token"
                " (log in again with the scope openid)"
            )
        token_expiry(tokens.id_token)  # an invalid token must not be stored
        self._store(tokens)

    def _store(self, tokens: _Tokens) -> None:
        config = {**self._config, "id-token": tokens.id_token}
        if tokens.refresh_token:
            config["refresh-token"] = tokens.refresh_token
        if self._persist is not None:
            self._persist(config)
        self._config = config
        self._rejected = False
        self._epoch += 1

    async def _exchange(self, refresh: str) -> _Tokens:
        url = await self._token_endpoint()
        form = {"grant_type": "refresh_token", "refresh_token": refresh}
        secret = self._config.get("client-secret", "")
        pair = f"{quote_plus(self._client_id)}:{quote_plus(secret)}"
        header = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
        response = await self._send("POST", url, headers={**_FORM, **header}, form=form)
        if response.status >= 400:
            # Some issuers need the client in the form, and there is no way to know.
            form |= {"client_id": self._client_id} | ({"client_secret": secret} if secret else {})
            response = await self._send("POST", url, headers=_FORM, form=form)
        if response.status >= 400:
            raise CredentialError(
                f"oidc: POST {redacted_url(url)}: {response.status}{_error_text(response)}"
                " (log in again)"
            )
        return _read(response, _Tokens, url)

    async def _token_endpoint(self) -> str:
        url = f"{self._issuer}/.well-known/openid-configuration"
        response = await self._send("GET", url, headers={"Accept": "application/json"}, form={})
        if response.status != 200:
            raise CredentialError(
                f"oidc: GET {redacted_url(url)}: {response.status} (check idp-issuer-url)"
            )
        endpoint = _read(response, _Endpoints, url).token_endpoint
        if not endpoint:
            raise CredentialError(
                f"oidc: GET {redacted_url(url)}: no token_endpoint in the response"
            )
        return endpoint

    async def _send(
        self, method: str, url: str, *, headers: Mapping[str, str], form: Mapping[str, str]
    ) -> Fetched:
        if self._fetch is None:
            raise CredentialError(
                f"oidc {redacted_url(self._issuer)}: the id-token must be refreshed, but there is"
                " no HTTP client for it"
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
                "oidc: cannot read idp-certificate-authority (check the file or the data)"
            ) from error


def token_expiry(token: str) -> float:
    """The `exp` claim of a JWT, in seconds since 1970; zero when it has none.

    Raises: `CredentialError` when it is not a JWT.
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


def _error_text(response: Fetched) -> str:
    """The error fields of OAuth, which have no secret; nothing else of the body."""
    try:
        found = msgspec.json.decode(response.body, type=_ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return "".join(f": {text}" for text in (found.error, found.error_description) if text)


def _read(response: Fetched, kind: type[_T], url: str) -> _T:
    try:
        return msgspec.json.decode(response.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise CredentialError(
            f"oidc: {redacted_url(url)} sent {len(response.body)} bytes that are not the expected"
            " JSON (check idp-issuer-url)"
        ) from None
