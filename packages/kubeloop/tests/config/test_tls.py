"""TLS contexts, tested by real handshakes in memory."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from pathlib import Path

import pytest

from kubeloop.config import (
    ClientCertificate,
    ClusterConfig,
    ConfigError,
    CredentialError,
    Identity,
    TlsSource,
    hint_for,
    tls_context,
)
from kubeloop.config.tls import check_pair, not_after
from kubeloop.kit import ManualClock

from .conftest import Authority, Issued


def config(**settings: object) -> ClusterConfig:
    return ClusterConfig(**{"server": "https://api", "token": "t", **settings})  # type: ignore[arg-type]


def shake(
    client: ssl.SSLContext, server: Issued, *, ask: Authority | None = None
) -> dict[str, object] | None:
    """Run a handshake; returns the client certificate as the server saw it."""
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(server.certificate + server.key)
        file.flush()
        theirs.load_cert_chain(file.name)
    if ask is not None:
        theirs.load_verify_locations(cadata=ask.pem.decode())
        theirs.verify_mode = ssl.CERT_REQUIRED
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(down, up, server_hostname="api")
    there = theirs.wrap_bio(up, down, server_side=True)
    for _ in range(4):
        for side in (here, there):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return there.getpeercert()  # type: ignore[return-value]  # a dict, or None without one


def test_roots_that_are_given_are_the_only_ones(
    authority: Authority, other_authority: Authority
) -> None:
    """TRN-5, TRN-2: CA data given: ONLY those roots are trusted (system roots are not added)."""
    context = tls_context(config(ca=authority.pem))

    shake(context, authority.issue("api"))

    assert len(context.get_ca_certs()) == 1
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(tls_context(config(ca=authority.pem)), other_authority.issue("api"))


def test_the_name_of_the_server_is_checked(authority: Authority) -> None:
    """TRN-2: minimum TLS version 1.2."""
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch") as caught:
        shake(tls_context(config(ca=authority.pem)), authority.issue("another"))

    assert "do not switch verification off" in hint_for(caught.value)[0]


def test_without_a_ca_the_system_is_trusted(authority: Authority) -> None:
    """TRN-1: no TLS object is built when there is no CA, no cert pair."""
    context = tls_context(config())

    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(context, authority.issue("api"))


def test_insecure_trusts_any_certificate_and_warns(
    other_authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    context = tls_context(config(insecure_skip_tls_verify=True))

    shake(context, other_authority.issue("another"))

    assert "any server can impersonate the API server" in caplog.text
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_a_ca_with_insecure_is_an_error(authority: Authority) -> None:
    """TRN-3: CA together with insecure is an error. A custom transport together with any CA."""
    settings = config(insecure_skip_tls_verify=True)

    with pytest.raises(ConfigError, match="a CA is set and verification is switched off"):
        tls_context(settings, ca=authority.pem)


def test_data_wins_over_a_file(authority: Authority) -> None:
    """TRN-4, TRN-C1: data fields win over file fields for CA, cert and key."""
    context = tls_context(config(ca=authority.pem, ca_file="/no/ca"))

    assert len(context.get_ca_certs()) == 1
    with pytest.raises(ConfigError, match="/no/ca: No such file"):
        tls_context(config(ca_file="/no/ca"))


BROKEN = b"-----BEGIN CERTIFICATE-----\nczNjcmV0\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("ca", "message"),
    [
        (b"s3cret", "has no PEM certificate"),
        (b"-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----", "has no PEM"),
        (BROKEN, "has an invalid certificate"),
    ],
)
def test_a_ca_that_is_none_is_an_error(ca: bytes, message: str, tmp_path: Path) -> None:
    """TRN-5: CA data given: ONLY those roots are trusted (system roots are not added)."""
    (tmp_path / "ca").write_bytes(ca)

    for settings in (config(ca=ca), config(ca_file=str(tmp_path / "ca"))):
        with pytest.raises(ConfigError, match=message) as caught:
            tls_context(settings)
        assert "s3cret" not in str(caught.value)
    with pytest.raises(ConfigError, match=message):
        tls_context(config(), ca=ca)


def test_an_empty_ca_file_is_an_error(tmp_path: Path) -> None:
    """TRN-5: an error at once; in client-go every handshake fails."""
    (tmp_path / "ca").touch()

    with pytest.raises(ConfigError, match="has no PEM certificate"):
        tls_context(config(ca_file=str(tmp_path / "ca")))


def test_comments_around_certificates_may_be_in_any_language(
    authority: Authority, other_authority: Authority
) -> None:
    """TRN-5: CA data given: ONLY those roots are trusted (system roots are not added)."""
    bundle = "# Größe\n".encode() + authority.pem + b"\xff\n" + other_authority.pem

    assert len(tls_context(config(ca=bundle)).get_ca_certs()) == 2


def test_the_client_certificate_is_shown(authority: Authority, issued: Issued) -> None:
    """TRN-6: client certificate selection per handshake: static pair."""
    pair = ClientCertificate(certificate=issued.certificate, key=issued.key)
    context = tls_context(config(ca=authority.pem), certificate=pair)

    seen = shake(context, authority.issue("api"), ask=authority)

    assert seen is not None
    assert (("commonName", "ada"),) in seen["subject"]  # type: ignore[operator]  # a tuple


def test_the_strict_flag_alone_is_relaxed(lax_authority: Authority) -> None:
    strict = tls_context(config(ca=lax_authority.pem))
    relaxed = tls_context(config(ca=lax_authority.pem, relax_strict_x509=True))

    assert relaxed.verify_flags == strict.verify_flags & ~ssl.VERIFY_X509_STRICT
    assert relaxed.verify_mode == ssl.CERT_REQUIRED
    assert relaxed.check_hostname
    strict.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13 has it by default
    with pytest.raises(ssl.SSLCertVerificationError) as caught:
        shake(strict, lax_authority.issue("api"))
    assert "relax_strict_x509=True" in hint_for(caught.value)[1]
    shake(relaxed, lax_authority.issue("api"))


def test_no_hint_for_what_is_not_a_matter_of_certificates() -> None:
    assert hint_for(ssl.SSLError("x")) == ("", "")


@pytest.mark.parametrize("has_memory_files", [True, False])
def test_a_key_is_in_a_file_for_its_owner_only_and_not_for_long(
    issued: Issued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_memory_files: bool
) -> None:
    if not has_memory_files:  # as on other systems than Linux
        monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes: list[int] = []
    names: list[str] = []

    class Watching(ssl.SSLContext):
        def load_cert_chain(self, certfile: str, *args: object, **kwargs: object) -> None:  # type: ignore[override]
            modes.append(Path(certfile).stat().st_mode & 0o777)
            names.append(certfile)
            super().load_cert_chain(certfile, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl, "SSLContext", Watching)
    old = os.umask(0)
    try:
        check_pair(ClientCertificate(certificate=issued.certificate, key=issued.key), what="x")
        with pytest.raises(CredentialError):
            check_pair(ClientCertificate(certificate=issued.certificate, key=b"no"), what="x")
    finally:
        os.umask(old)

    assert modes == [0o600, 0o600]
    assert has_memory_files or all(name.startswith(str(tmp_path)) for name in names)
    assert list(tmp_path.iterdir()) == []


def test_a_key_with_a_password_is_an_error_without_a_prompt(issued: Issued) -> None:
    from cryptography.hazmat.primitives import serialization

    locked = issued.private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"pa55"),
    )

    with pytest.raises(CredentialError, match="a key without a password"):
        check_pair(ClientCertificate(certificate=issued.certificate, key=locked), what="x")


async def test_the_context_stays_the_same_while_nothing_changes(
    authority: Authority, issued: Issued, reissued: Issued, clock: ManualClock
) -> None:
    """EXE-10, TRN-15: a new certificate is a new context, so new connections show it."""
    source = TlsSource(config(ca=authority.pem), clock=clock)
    old = Identity(certificate=ClientCertificate(certificate=issued.certificate, key=issued.key))
    again = Identity(certificate=old.certificate, authorization="Bearer other", epoch=2)
    new = Identity(
        certificate=ClientCertificate(certificate=reissued.certificate, key=reissued.key)
    )

    contexts = [source.context_for(identity) for identity in (old, again, new)]

    assert contexts[0] is contexts[1]
    assert contexts[1] is not contexts[2]
    assert source.stats().contexts == 2


async def test_a_replaced_ca_is_taken_after_five_minutes(
    tmp_path: Path, authority: Authority, other_authority: Authority, clock: ManualClock
) -> None:
    """TRN-16, TRN-C10, X-3: CA file: on a request, if 5 minutes passed since the last check."""
    file = tmp_path / "ca"
    file.write_bytes(authority.pem)
    source = TlsSource(config(ca_file=str(file)), clock=clock)
    old = source.context_for(Identity())
    file.write_bytes(other_authority.pem)

    await clock.advance(299)
    assert source.context_for(Identity()) is old
    await clock.advance(1)
    new = source.context_for(Identity())

    assert new is not old
    shake(new, other_authority.issue("api"))
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(new, authority.issue("api"))
    assert source.stats().ca_reloads == {("success", "updated"): 1}


@pytest.mark.parametrize(
    ("content", "result"),
    [
        (None, ("failure", "read_error")),
        (b"", ("failure", "empty")),
        (b"rubbish", ("failure", "ca_parse_error")),
        (BROKEN, ("failure", "ca_parse_error")),
        (b"same", ("success", "unchanged")),
    ],
)
async def test_a_ca_file_that_is_no_better_changes_nothing(
    tmp_path: Path,
    authority: Authority,
    clock: ManualClock,
    content: bytes | None,
    result: tuple[str, str],
) -> None:
    """TRN-16, TRN-C10: and it is read again only five minutes later."""
    file = tmp_path / "ca"
    file.write_bytes(authority.pem)
    source = TlsSource(config(ca_file=str(file)), clock=clock)
    old = source.context_for(Identity())
    if content is None:
        file.unlink()
    elif content != b"same":
        file.write_bytes(content)

    await clock.advance(300)
    assert source.context_for(Identity()) is old
    await clock.advance(299)
    assert source.context_for(Identity()) is old

    assert source.stats().ca_reloads == {result: 1}


async def test_a_ca_given_as_data_is_not_looked_for_in_a_file(
    authority: Authority, clock: ManualClock
) -> None:
    """TRN-16: CA file: on a request, if 5 minutes passed since the last check."""
    source = TlsSource(config(ca=authority.pem, ca_file="/no/ca"), clock=clock)
    old = source.context_for(Identity())

    await clock.advance(1000)

    assert source.context_for(Identity()) is old
    assert source.stats().ca_reloads == {}


def test_the_end_of_a_certificate_is_read(authority: Authority) -> None:
    """EXE-13: Metrics: `rest_client_exec_plugin_call_total`."""
    near, far = authority.issue("a"), authority.issue("b", days=365 * 40)

    assert not_after(near.certificate) == near.x509.not_valid_after_utc
    assert not_after(far.certificate) == far.x509.not_valid_after_utc


@pytest.mark.parametrize("pem", [b"", b"x", BROKEN, BROKEN.replace(b"czNjcmV0", b"MAI=")])
def test_what_is_not_a_certificate_has_no_end(pem: bytes) -> None:
    """EXE-13: Metrics: `rest_client_exec_plugin_call_total`."""
    assert not_after(pem) is None
