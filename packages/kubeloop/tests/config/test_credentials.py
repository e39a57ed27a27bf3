"""Sources of credentials: tokens and certificates that are read again."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from kubeloop.config import (
    AuthProvider,
    ClientCertificate,
    ClusterConfig,
    ConfigError,
    CredentialError,
    ExecConfig,
    ExecCredentials,
    Identity,
    OidcCredentials,
    StaticCredentials,
    TokenFileCredentials,
    open_credentials,
)
from kubeloop.config.credentials import CertificateFiles
from kubeloop.kit import ManualClock

from .conftest import Issued

PLUGIN = ExecConfig(
    command="p", api_version="client.authentication.k8s.io/v1", interactive_mode="Never"
)


def write(path: Path, text: str | None) -> None:
    """Write `text` to the file, or delete the file if it is None."""
    if text is None:
        path.unlink()
    else:
        path.write_text(text)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("one\n")
    return path


async def test_a_token_file_is_trimmed_and_read_again_after_fifty_seconds(
    token_file: Path, clock: ManualClock
) -> None:
    """TRN-17, TRN-C4, TRN-C5, REST-79: token file: read lazily; value trimmed."""
    credentials = TokenFileCredentials(str(token_file), clock=clock)
    assert (await credentials.identity()).authorization == "Bearer one"
    write(token_file, "two\n")

    await clock.advance(49)
    assert (await credentials.identity()).authorization == "Bearer one"
    await clock.advance(1)
    assert (await credentials.identity()).authorization == "Bearer two"


@pytest.mark.parametrize("content", [None, " \n"])
async def test_a_token_file_that_is_gone_or_empty_keeps_the_last_token(
    token_file: Path, clock: ManualClock, content: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """TRN-17, TRN-C4: and that is logged once."""
    credentials = TokenFileCredentials(str(token_file), clock=clock)
    await credentials.identity()
    write(token_file, content)
    await clock.advance(60)

    for _ in range(3):
        assert (await credentials.identity()).authorization == "Bearer one"

    assert len(caplog.records) == 1
    write(token_file, "back")
    assert (await credentials.identity()).authorization == "Bearer back"


async def test_a_token_file_that_was_never_readable_is_a_loud_error(
    tmp_path: Path, clock: ManualClock
) -> None:
    """TRN-17, TRN-22: never an anonymous request by accident."""
    credentials = TokenFileCredentials(str(tmp_path / "gone"), clock=clock)

    with pytest.raises(CredentialError, match="gone: No such file"):
        await credentials.identity()


async def test_the_file_wins_over_the_token_while_it_can_be_read(
    token_file: Path, clock: ManualClock
) -> None:
    """TRN-22, CFG-26: bearer precedence: existing header > token file."""
    config = ClusterConfig(server="https://h", token="static\n", token_file=str(token_file))
    assert (await open_credentials(config, clock=clock).identity()).authorization == "Bearer one"

    write(token_file, None)
    fresh = open_credentials(config, clock=clock)

    assert (await fresh.identity()).authorization == "Bearer static"


async def test_a_rejected_token_is_read_again_at_the_next_request(
    token_file: Path, clock: ManualClock
) -> None:
    """TRN-18: 401 drops a cached token."""
    credentials = TokenFileCredentials(str(token_file), clock=clock)
    refused = await credentials.identity()
    write(token_file, "two")

    await credentials.refresh(refused)

    assert (await credentials.identity()).authorization == "Bearer two"


async def test_a_token_newer_than_the_rejected_one_is_kept(
    token_file: Path, clock: ManualClock
) -> None:
    """TRN-18: generic token source wrapper: skipped if an Authorization header exists."""
    credentials = TokenFileCredentials(str(token_file), clock=clock)
    old = await credentials.identity()
    await credentials.refresh(old)
    newer = await credentials.identity()
    write(token_file, "three")

    await credentials.refresh(old)

    assert await credentials.identity() == newer


@pytest.mark.parametrize("token", ["a\nb", "a\x00", "ключ"])
def test_a_token_that_no_header_can_carry_is_an_error(token: str, clock: ManualClock) -> None:
    with pytest.raises(CredentialError, match="one token on one line") as caught:
        open_credentials(ClusterConfig(server="https://h", token=token), clock=clock)

    assert token not in str(caught.value)


@pytest.fixture
def pair(tmp_path: Path, issued: Issued) -> tuple[Path, Path]:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(issued.certificate)
    key.write_bytes(issued.key)
    return certificate, key


def test_certificate_files_that_were_replaced_are_used_at_once(
    pair: tuple[Path, Path], issued: Issued, reissued: Issued, clock: ManualClock, tmp_path: Path
) -> None:
    """TRN-15, TRN-C9; client-go waits up to a second."""
    source = CertificateFiles(str(pair[0]), str(pair[1]), clock=clock)
    first = source.current()
    assert first.certificate == issued.certificate
    assert source.current() is first
    for path, content in zip(pair, (reissued.certificate, reissued.key), strict=True):
        new = tmp_path / "new"
        new.write_bytes(content)
        new.rename(path)

    assert source.current().certificate == reissued.certificate


async def test_certificate_files_that_look_unchanged_are_read_once_a_second(
    pair: tuple[Path, Path], reissued: Issued, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolution of file times is some milliseconds."""
    monkeypatch.setattr("kubeloop.config.credentials._stamp", lambda path: None)
    source = CertificateFiles(str(pair[0]), str(pair[1]), clock=clock)
    first = source.current()
    pair[0].write_bytes(reissued.certificate)
    pair[1].write_bytes(reissued.key)

    assert source.current() is first
    await clock.advance(1)
    assert source.current().certificate == reissued.certificate


def test_a_pair_that_is_replaced_between_the_two_reads_is_used_at_once(
    pair: tuple[Path, Path], reissued: Issued, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = CertificateFiles(str(pair[0]), str(pair[1]), clock=clock)
    source.current()
    pair[0].touch()
    read = Path.read_bytes

    def read_and_replace(path: Path) -> bytes:
        found = read(path)
        if path == pair[0] and found != reissued.certificate:
            pair[0].write_bytes(reissued.certificate)
            pair[1].write_bytes(reissued.key)
        return found

    monkeypatch.setattr(Path, "read_bytes", read_and_replace)

    assert source.current().certificate == reissued.certificate


def test_files_that_never_stay_the_same_are_not_read_for_ever(
    pair: tuple[Path, Path], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = count()
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"%d" % next(reads))

    with pytest.raises(CredentialError, match="changed during each of 5 reads"):
        CertificateFiles(str(pair[0]), str(pair[1]), clock=clock).current()


async def test_a_pair_that_does_not_fit_yet_is_not_taken(
    pair: tuple[Path, Path], issued: Issued, reissued: Issued, clock: ManualClock
) -> None:
    """TRN-15: half of a rotation keeps the old certificate."""
    source = CertificateFiles(str(pair[0]), str(pair[1]), clock=clock)
    source.current()

    pair[0].write_bytes(reissued.certificate)
    await clock.advance(1)
    assert source.current().certificate == issued.certificate
    pair[1].unlink()
    await clock.advance(1)
    assert source.current().certificate == issued.certificate
    pair[1].write_bytes(reissued.key)
    await clock.advance(1)
    assert source.current().certificate == reissued.certificate


def test_a_pair_that_never_fitted_is_an_error(pair: tuple[Path, Path], clock: ManualClock) -> None:
    pair[1].write_text("rubbish s3cret")

    with pytest.raises(CredentialError, match="not a usable pair") as caught:
        CertificateFiles(str(pair[0]), str(pair[1]), clock=clock).current()

    assert "s3cret" not in str(caught.value)


async def test_files_are_followed_only_when_both_are_files(
    pair: tuple[Path, Path], issued: Issued, reissued: Issued, clock: ManualClock
) -> None:
    """TRN-6, TRN-4, TRN-C2: client certificate selection per handshake: static pair."""
    half = ClusterConfig(
        server="https://h", client_certificate=issued.certificate, client_key_file=str(pair[1])
    )
    whole = ClusterConfig(
        server="https://h", client_certificate_file=str(pair[0]), client_key_file=str(pair[1])
    )
    data = ClusterConfig(
        server="https://h",
        client_certificate=issued.certificate,
        client_key=issued.key,
        client_certificate_file="/no",
        client_key_file="/no",
    )
    opened = [open_credentials(config, clock=clock) for config in (half, whole, data)]
    for credentials in opened:
        assert (await credentials.identity()).certificate == ClientCertificate(
            certificate=issued.certificate, key=issued.key
        )
    pair[0].write_bytes(reissued.certificate)
    pair[1].write_bytes(reissued.key)
    await clock.advance(1)

    found = [(await credentials.identity()).certificate for credentials in opened]

    assert [c.key == reissued.key for c in found if c] == [False, True, False]


def test_a_pair_given_as_data_is_checked_at_once(issued: Issued, clock: ManualClock) -> None:
    """TRN-6, TRN-C2: client certificate selection per handshake: static pair."""
    with pytest.raises(CredentialError, match="/no: No such file"):
        open_credentials(
            ClusterConfig(
                server="https://h", client_certificate=issued.certificate, client_key_file="/no"
            ),
            clock=clock,
        )
    with pytest.raises(CredentialError, match="not a usable pair"):
        open_credentials(
            ClusterConfig(
                server="https://h", client_certificate=issued.certificate, client_key=b"rubbish"
            ),
            clock=clock,
        )


async def test_a_token_and_a_certificate_are_shown_together(
    issued: Issued, token_file: Path, clock: ManualClock
) -> None:
    """CFG-C8: token + username in one user -> validation error."""
    config = ClusterConfig(
        server="https://h",
        token_file=str(token_file),
        client_certificate=issued.certificate,
        client_key=issued.key,
    )
    credentials = open_credentials(config, clock=clock)

    identity = await credentials.identity()
    write(token_file, "two")
    await credentials.refresh(identity)

    assert identity.certificate is not None
    assert (await credentials.identity()).authorization == "Bearer two"


async def test_basic_authentication_is_utf8(clock: ManualClock) -> None:
    """TRN-7: "Has cert auth" needs both a certificate and a key."""
    config = ClusterConfig(server="https://h", username="ada", password="pä:ß")

    identity = await open_credentials(config, clock=clock).identity()

    assert identity.authorization == "Basic YWRhOnDDpDrDnw=="


def test_a_plugin_is_asked_only_where_nothing_else_is_configured(
    issued: Issued, clock: ManualClock
) -> None:
    """EXE-3: the plugin is skipped entirely when the transport already has token."""
    alone = ClusterConfig(server="https://h", exec=PLUGIN)
    others = [
        alone.replace(token="t"),
        alone.replace(username="u"),
        alone.replace(client_certificate=issued.certificate, client_key=issued.key),
    ]

    assert isinstance(open_credentials(alone, clock=clock), ExecCredentials)
    for config in others:
        assert not isinstance(open_credentials(config, clock=clock), ExecCredentials)


def test_ones_own_credentials_are_used_as_they_are(clock: ManualClock) -> None:
    mine = StaticCredentials(Identity(authorization="x"))

    assert (
        open_credentials(ClusterConfig(server="https://h", credentials=mine), clock=clock) is mine
    )


async def test_anonymous_means_neither_header_nor_certificate(clock: ManualClock) -> None:
    config = ClusterConfig(server="https://h", anonymous=True)
    credentials = open_credentials(config, clock=clock)

    await credentials.refresh(Identity())

    assert await credentials.identity() == Identity()


def test_auth_providers_are_known_by_name(clock: ManualClock) -> None:
    """OID-4: requesting an unregistered provider name is an error."""

    def config(name: str) -> ClusterConfig:
        provider = AuthProvider(name=name, config={"idp-issuer-url": "x", "client-id": "y"})
        return ClusterConfig(server="https://h", auth_provider=provider)

    mine = StaticCredentials(Identity(authorization="x"))
    providers = {"mine": lambda provider: mine}

    assert isinstance(open_credentials(config("oidc"), clock=clock), OidcCredentials)
    assert open_credentials(config("mine"), clock=clock, providers=providers) is mine
    with pytest.raises(ConfigError, match=r'"gcp" is not known .use gke-gcloud-auth-plugin'):
        open_credentials(config("gcp"), clock=clock)
    with pytest.raises(ConfigError, match="oidc is built in"):
        open_credentials(config("oidc"), clock=clock, providers={"oidc": lambda provider: mine})


def test_an_identity_prints_no_secret(issued: Issued) -> None:
    identity = Identity(
        authorization="Bearer s3cret",
        certificate=ClientCertificate(certificate=issued.certificate, key=b"s3cret"),
    )

    assert "s3cret" not in repr(identity)
    assert identity.certificate is not None
    assert len(identity.certificate.fingerprint) == 16


@pytest.mark.parametrize(
    "given",
    [{"token": "s3cret"}, {"token_file": "/t"}, {"username": "jane", "password": "s3cret"}],
)
def test_credentials_given_by_hand_for_http_are_warned_about(
    given: dict[str, str], clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    config = ClusterConfig(server="http://10.0.0.1:8080", **given)  # type: ignore[arg-type] # by name

    open_credentials(config, clock=clock)

    (warning,) = caplog.records
    assert warning.levelname == "WARNING"
    assert warning.getMessage().startswith("http://10.0.0.1:8080 is not https: the credentials")
    assert "s3cret" not in caplog.text


def test_nothing_is_warned_about_without_credentials_or_with_https(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    open_credentials(ClusterConfig(server="http://h"), clock=clock)
    open_credentials(ClusterConfig(server="https://h", token="t"), clock=clock)

    assert not caplog.records
