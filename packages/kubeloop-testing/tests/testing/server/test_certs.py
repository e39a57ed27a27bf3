"""Generated certificates in real TLS handshakes."""

from __future__ import annotations

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kubeloop_testing.server.access.authn import Subject, subject_of
from kubeloop_testing.server.access.certs import (
    Authority,
    KeyPair,
    bundle,
    load_into,
    server_context,
    write_key,
)


def _handshake(
    server: ssl.SSLContext, client: ssl.SSLContext, host: str
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """A TLS handshake in memory; both sides when it is done."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = server.wrap_bio(to_server, to_client, server_side=True)
    two = client.wrap_bio(to_client, to_server, server_hostname=host)
    done: set[int] = set()
    for _ in range(10):
        for index, side in enumerate((two, one)):
            try:
                side.do_handshake()
                done.add(index)
            except ssl.SSLWantReadError:
                pass
        if len(done) == 2:
            break
    # The last flight of TLS 1.3 (the client's certificate) is read with the first data.
    two.write(b"x")
    one.read(1)
    return one, two


def _client(trusted: bytes) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=trusted.decode())
    strict = getattr(ssl, "VERIFY_X509_STRICT", 0)
    context.verify_flags |= strict
    return context


def _with_certificate(context: ssl.SSLContext, pair: KeyPair) -> ssl.SSLContext:
    load_into(context, pair)
    return context


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "api.test", "10.0.0.7"])
def test_a_server_certificate_is_good_for_this_machine_and_the_given_names(host: str) -> None:
    authority = Authority()
    server = server_context(authority.server("api.test", "10.0.0.7"))

    _, client = _handshake(server, _client(authority.pem), host)

    assert client.getpeercert()


def test_a_server_certificate_is_not_good_for_other_names() -> None:
    authority = Authority()
    server = server_context(authority.server())

    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        _handshake(server, _client(authority.pem), "other.test")


def test_a_client_certificate_names_the_user() -> None:
    authority = Authority()
    server = server_context(authority.server(), client_ca=authority.pem)
    client = _with_certificate(_client(authority.pem), authority.client("ann", ["dev", "ops"]))

    seen, _ = _handshake(server, client, "localhost")

    assert subject_of(seen.getpeercert()) == Subject("ann", ("dev", "ops"))


def test_a_client_certificate_is_optional() -> None:
    authority = Authority()
    server = server_context(authority.server(), client_ca=authority.pem)

    seen, _ = _handshake(server, _client(authority.pem), "localhost")

    assert subject_of(seen.getpeercert()) is None


def test_a_client_certificate_of_another_authority_ends_the_handshake() -> None:
    authority = Authority()
    server = server_context(authority.server(), client_ca=authority.pem)
    client = _with_certificate(_client(authority.pem), Authority().client("eve"))

    with pytest.raises(ssl.SSLError):
        _handshake(server, client, "localhost")


def test_an_expired_certificate_can_be_made_and_is_refused() -> None:
    authority = Authority()
    then = datetime.now(UTC) - timedelta(days=10)
    server = server_context(authority.server(now=then, valid=timedelta(days=1)))

    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        _handshake(server, _client(authority.pem), "localhost")


def test_a_rotated_certificate_is_used_by_the_next_handshake() -> None:
    authority = Authority()
    server = server_context(authority.server())
    _, before = _handshake(server, _client(authority.pem), "localhost")

    load_into(server, authority.server())
    _, after = _handshake(server, _client(authority.pem), "localhost")

    assert before.getpeercert() != after.getpeercert()


def test_a_bundle_trusts_the_old_and_the_new_authority() -> None:
    old = Authority()
    new = old.rotate()

    for each in (old, new):
        server = server_context(each.server())
        _handshake(server, _client(bundle(old, new)), "localhost")
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(server_context(new.server()), _client(old.pem), "localhost")


def test_keys_on_the_disk_are_for_their_owner_only(tmp_path: Path) -> None:
    old = tmp_path / "tls.key"
    old.write_text("readable")
    old.chmod(0o644)

    _, key = Authority().server().write(tmp_path)
    write_key(tmp_path / "other.key", b"secret")

    assert key == old
    for path in (key, tmp_path / "other.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_key_is_in_a_repr() -> None:
    pair = Authority().server()

    assert "PRIVATE" not in repr(pair)
    assert b"PRIVATE" in pair.key
