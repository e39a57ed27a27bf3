"""OpenID Connect: valid tokens are used, others are refreshed once."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs

import msgspec
import pytest

from kubeloop.config import (
    AuthProvider,
    ClusterConfig,
    ConfigError,
    CredentialError,
    Fetched,
    OidcCredentials,
    load_kubeconfig,
    open_credentials,
)
from kubeloop.config.oidc import token_expiry
from kubeloop.kit import ManualClock

HOUR = 3600.0


def jwt(exp: float | None) -> str:
    claims = {} if exp is None else {"exp": exp}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.sig"


class Issuer:
    """An OpenID provider that records its requests."""

    def __init__(self, tokens: object, *, status: int = 200, wants_form: bool = False) -> None:
        self.tokens = tokens
        self.status = status
        self.wants_form = wants_form
        self.asked: list[tuple[str, str, dict[str, list[str]], str]] = []
        self.cas: set[bytes] = set()
        self.discovery: object = {"token_endpoint": "https://idp/token"}

    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, ca: bytes
    ) -> Fetched:
        form = parse_qs(body.decode())
        self.asked.append((method, url, form, headers.get("Authorization", "")))
        self.cas.add(ca)
        await asyncio.sleep(0)
        if method == "GET":
            return Fetched(status=200, body=json.dumps(self.discovery).encode())
        if self.wants_form and "client_id" not in form:
            return Fetched(status=401, body=b"")
        return Fetched(status=self.status, body=json.dumps(self.tokens).encode())


def provider(**config: str) -> AuthProvider:
    settings = {"idp-issuer-url": "https://idp/", "client-id": "me", "client-secret": "s3cret"}
    given = {key.replace("_", "-"): value for key, value in config.items()}
    return AuthProvider(name="oidc", config={**settings, **given})


@pytest.mark.parametrize("key", ["idp-issuer-url", "client-id"])
def test_issuer_and_client_must_be_configured(key: str, clock: ManualClock) -> None:
    """OID-1: config keys: `idp-issuer-url` and `client-id` required."""
    with pytest.raises(ConfigError, match=f"{key} is not set"):
        OidcCredentials(provider(**{key: ""}), clock=clock)


async def test_extra_scopes_are_ignored_with_a_warning(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """OID-1: config keys: `idp-issuer-url` and `client-id` required."""
    OidcCredentials(provider(extra_scopes="groups"), clock=clock)

    assert "extra-scopes is ignored" in caplog.text


async def test_a_token_is_used_until_ten_seconds_before_its_end(clock: ManualClock) -> None:
    """OID-2: the id-token is used while now + 10s is before its `exp` claim."""
    end = clock.time().timestamp() + HOUR
    issuer = Issuer({"id_token": jwt(end + HOUR)})
    credentials = OidcCredentials(
        provider(id_token=jwt(end), refresh_token="r"), clock=clock, fetch=issuer
    )

    await clock.advance(HOUR - 11)
    assert (await credentials.identity()).authorization == f"Bearer {jwt(end)}"
    assert issuer.asked == []
    await clock.advance(1)
    assert (await credentials.identity()).authorization == f"Bearer {jwt(end + HOUR)}"


@pytest.mark.parametrize(("exp", "read"), [(1700000000, 1.7e9), (1.5, 1.5), (None, 0.0)])
def test_the_end_of_a_token_is_a_whole_or_a_broken_number(exp: float | None, read: float) -> None:
    """OID-2: the id-token is used while now + 10s is before its `exp` claim."""
    assert token_expiry(jwt(exp)) == read


@pytest.mark.parametrize("token", ["s3cret", "a.b", "a.b.c.d", "a.!!.c", "a.e30=x.c", "a.W10.c"])
async def test_a_token_that_is_no_jwt_is_an_error(token: str, clock: ManualClock) -> None:
    """OID-2: the id-token is used while now + 10s is before its `exp` claim."""
    with pytest.raises(CredentialError, match="not a JWT") as caught:
        await OidcCredentials(provider(id_token=token), clock=clock).identity()

    assert "s3cret" not in str(caught.value)


async def test_the_refresh_token_is_exchanged_where_the_issuer_says(clock: ManualClock) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""
    good = jwt(clock.time().timestamp() + HOUR)
    issuer = Issuer({"id_token": good, "refresh_token": "next"})
    kept: list[Mapping[str, str]] = []
    credentials = OidcCredentials(
        provider(refresh_token="r"), clock=clock, fetch=issuer, persist=kept.append
    )

    identity = await credentials.identity()

    assert identity.authorization == f"Bearer {good}"
    basic = "Basic " + base64.b64encode(b"me:s3cret").decode()
    assert issuer.asked == [
        ("GET", "https://idp/.well-known/openid-configuration", {}, ""),
        (
            "POST",
            "https://idp/token",
            {"grant_type": ["refresh_token"], "refresh_token": ["r"]},
            basic,
        ),
    ]
    assert (kept[0]["id-token"], kept[0]["refresh-token"]) == (good, "next")
    assert kept[0]["client-id"] == "me"


async def test_a_server_that_wants_the_client_in_the_form_gets_it_there(
    clock: ManualClock,
) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""
    issuer = Issuer({"id_token": jwt(4e9)}, wants_form=True)
    credentials = OidcCredentials(provider(refresh_token="r"), clock=clock, fetch=issuer)

    await credentials.identity()

    form = issuer.asked[-1][2]
    assert (form["client_id"], form["client_secret"]) == (["me"], ["s3cret"])
    assert issuer.asked[-1][3] == ""


@pytest.mark.parametrize(
    ("issuer", "message"),
    [
        (Issuer({"access_token": "s3cret"}), "no id_token"),
        (Issuer({"error": "invalid_grant"}, status=400), "400: invalid_grant .log in again"),
        (Issuer("s3cret", status=500), "500 .log in again"),
        (Issuer(["s3cret"]), "not the expected JSON"),
        (Issuer({"id_token": "s3cret"}), "not a JWT"),
    ],
)
async def test_an_exchange_that_fails_is_an_error_without_a_secret(
    issuer: Issuer, message: str, clock: ManualClock
) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""
    credentials = OidcCredentials(provider(refresh_token="s3cret"), clock=clock, fetch=issuer)

    with pytest.raises(CredentialError, match=message) as caught:
        await credentials.identity()

    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(credentials)


async def test_an_issuer_without_an_endpoint_is_an_error(clock: ManualClock) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""
    issuer = Issuer({})
    issuer.discovery = {}
    credentials = OidcCredentials(provider(refresh_token="r"), clock=clock, fetch=issuer)

    with pytest.raises(CredentialError, match="no token_endpoint"):
        await credentials.identity()


async def test_without_a_refresh_token_or_a_way_to_ask_there_is_an_error(
    clock: ManualClock,
) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""
    with pytest.raises(CredentialError, match=r"no refresh-token .log in again"):
        await OidcCredentials(provider(), clock=clock, fetch=Issuer({})).identity()
    with pytest.raises(CredentialError, match="open the credentials with fetch="):
        await OidcCredentials(provider(refresh_token="r"), clock=clock).identity()


async def test_tokens_that_cannot_be_kept_are_not_used(clock: ManualClock) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""

    def full(config: Mapping[str, str]) -> None:
        raise ConfigError("the disk is full")

    credentials = OidcCredentials(
        provider(refresh_token="r"),
        clock=clock,
        fetch=Issuer({"id_token": jwt(4e9)}),
        persist=full,
    )

    for _ in range(2):
        with pytest.raises(ConfigError, match="the disk is full"):
            await credentials.identity()


async def test_concurrent_calls_share_one_exchange(clock: ManualClock) -> None:
    issuer = Issuer({"id_token": jwt(4e9)})
    credentials = OidcCredentials(provider(refresh_token="r"), clock=clock, fetch=issuer)

    await asyncio.gather(*(credentials.identity() for _ in range(10)))

    assert [method for method, *_ in issuer.asked] == ["GET", "POST"]


async def test_a_rejected_token_is_exchanged_once_if_it_can_be(clock: ManualClock) -> None:
    issuer = Issuer({"id_token": jwt(4e9)})
    credentials = OidcCredentials(
        provider(id_token=jwt(3e9), refresh_token="r"), clock=clock, fetch=issuer
    )
    stuck = OidcCredentials(provider(id_token=jwt(3e9)), clock=clock, fetch=issuer)
    used = await credentials.identity()

    await asyncio.gather(*(credentials.refresh(used) for _ in range(5)))
    assert (await credentials.identity()).authorization == f"Bearer {jwt(4e9)}"
    await credentials.refresh(used)
    await credentials.identity()
    await stuck.refresh(await stuck.identity())

    assert len(issuer.asked) == 2
    assert (await stuck.identity()).authorization == f"Bearer {jwt(3e9)}"


async def test_the_issuers_ca_comes_from_data_or_a_file(tmp_path: Path, clock: ManualClock) -> None:
    """OID-1: config keys: `idp-issuer-url` and `client-id` required."""
    (tmp_path / "ca").write_bytes(b"file")
    data = base64.b64encode(b"data").decode()
    for config in (
        {"idp_certificate_authority": str(tmp_path / "ca")},
        {"idp_certificate_authority_data": data},
    ):
        issuer = Issuer({"id_token": jwt(4e9)})
        one = OidcCredentials(provider(refresh_token="r", **config), clock=clock, fetch=issuer)
        await one.identity()
        assert issuer.cas == {b"data" if "idp_certificate_authority_data" in config else b"file"}

    broken = provider(refresh_token="r", idp_certificate_authority="/no")
    with pytest.raises(ConfigError, match="cannot read idp-certificate-authority"):
        await OidcCredentials(broken, clock=clock, fetch=Issuer({})).identity()


KUBECONFIG = """
current-context: x
clusters: [{name: c, cluster: {server: 'https://h'}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users:
- name: u
  future: kept
  user:
    auth-provider:
      name: oidc
      config: {idp-issuer-url: 'https://idp', client-id: me, refresh-token: r, future: kept}
"""


async def test_new_tokens_are_kept_in_the_kubeconfig_they_came_from(
    tmp_path: Path, clock: ManualClock
) -> None:
    """OID-3, OID-4: requesting an unregistered provider name is an error."""
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    config = ClusterConfig.load(path, environ={}, service_account=str(tmp_path))
    issuer = Issuer({"id_token": jwt(4e9), "refresh_token": "next"})

    await open_credentials(config, clock=clock, fetch=issuer).identity()

    kept = load_kubeconfig(path, environ={}).users["u"].auth_provider
    assert kept is not None
    assert kept.config["id-token"] == jwt(4e9)
    assert kept.config["refresh-token"] == "next"
    assert path.read_text().count("future: kept") == 2


async def test_tokens_of_a_user_that_is_gone_are_an_error(
    tmp_path: Path, clock: ManualClock
) -> None:
    """OID-3: the refresh token is exchanged at the token endpoint."""
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    config = ClusterConfig.load(path, environ={}, service_account=str(tmp_path))
    path.write_text("{}")

    credentials = open_credentials(config, clock=clock, fetch=Issuer({"id_token": jwt(4e9)}))

    with pytest.raises(ConfigError, match='user "u" is no longer in'):
        await credentials.identity()


async def test_in_memory_nothing_is_kept(clock: ManualClock) -> None:
    """OID-4: requesting an unregistered provider name is an error."""
    config = ClusterConfig.from_kubeconfig(KUBECONFIG)

    identity = await open_credentials(
        config, clock=clock, fetch=Issuer({"id_token": jwt(4e9)})
    ).identity()

    assert config.auth_provider_location is None
    assert identity.authorization
    assert msgspec.structs.replace(identity) == identity
