"""Webhooks as the server calls them: over TLS, before it stores anything."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from kubeloop.errors import ApiError, ConfigError, Forbidden, InvalidArgument
from kubeloop.kit import ManualClock, running
from kubeloop.runtime import AdmissionRequest, Client, Denied, ServingCertificate, WebhookServer
from kubeloop.wire.admissionregistration.v1 import ServiceReference
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing.server.access.certs import Authority

from .test_admission import OldWebsite, a_conversion_review, a_review, an_old_site, to_new
from .websites import Website, a_config, a_site

AUTHORITY = Authority()


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    AUTHORITY.server().write(tmp_path)
    return tmp_path


@asynccontextmanager
async def installed(webhooks: WebhookServer, client: Client) -> AsyncIterator[None]:
    """The webhooks run, and the server asks them."""
    async with running(webhooks):
        url = f"https://{await webhooks.address()}"
        for each in webhooks.configurations("tests", url=url, ca=AUTHORITY.pem):
            await client.apply(each)
        yield


async def test_an_object_is_changed_and_then_checked_before_it_is_stored(
    with_sites: Client, certificates: Path
) -> None:
    webhooks = WebhookServer("127.0.0.1:0", certificates=certificates)

    @webhooks.mutate(Website)
    def default(site: Website, request: AdmissionRequest[Website]) -> Website:
        site.metadata.labels.setdefault("tier", "front")
        return site

    @webhooks.validate(Website)
    async def check(site: Website, request: AdmissionRequest[Website]) -> None:
        assert site.metadata.labels["tier"]
        if site.spec.replicas > 10:
            raise Denied("spec.replicas: at most 10")

    sites = with_sites.resource(Website)
    async with installed(webhooks, with_sites):
        made = await sites.create(a_site("shop"))
        with pytest.raises(Forbidden, match="at most 10"):
            await sites.create(a_site("giant", replicas=11))

    assert made.metadata.labels == {"tier": "front"}
    assert (webhooks.stats().allowed, webhooks.stats().denied) == (3, 1)


async def test_a_deletion_can_be_denied(client: Client, certificates: Path) -> None:
    webhooks = WebhookServer("127.0.0.1:0", certificates=certificates)

    @webhooks.validate(ConfigMap, operations=["DELETE"])
    def keep(config: ConfigMap, request: AdmissionRequest[ConfigMap]) -> None:
        raise Denied(f"{config.metadata.name} stays", code=409, reason="Conflict")

    await client.resource(ConfigMap).create(a_config("one"))
    async with installed(webhooks, client):
        with pytest.raises(ApiError, match="one stays") as caught:
            await client.resource(ConfigMap).delete("one")

    assert caught.value.status.code == 409


async def test_a_function_that_fails_denies_and_is_logged_with_the_key(
    client: Client, certificates: Path, caplog: pytest.LogCaptureFixture
) -> None:
    webhooks = WebhookServer("127.0.0.1:0", certificates=certificates)

    @webhooks.validate(ConfigMap)
    def broken(config: ConfigMap, request: AdmissionRequest[ConfigMap]) -> None:
        raise KeyError("oops")

    async with installed(webhooks, client):
        with pytest.raises(ApiError, match="the webhook failed: KeyError"):
            await client.resource(ConfigMap).create(a_config("one"))

    assert webhooks.stats().failed == 1
    assert "default/one" in caplog.text


@asynccontextmanager
async def plain(webhooks: WebhookServer) -> AsyncIterator[aiohttp.ClientSession]:
    """Requests sent by hand, without TLS."""
    async with (
        running(webhooks),
        aiohttp.ClientSession(f"http://{await webhooks.address()}") as session,
    ):
        yield session


@pytest.mark.parametrize("decision", [True, False], ids=["yes", "no"])
async def test_warnings_are_shown_whatever_is_decided(*, decision: bool) -> None:
    webhooks = WebhookServer("127.0.0.1:0")

    @webhooks.validate(Website)
    def check(site: Website, request: AdmissionRequest[Website]) -> None:
        request.warn("spec.image: pin it by digest")
        if not decision:
            raise Denied("spec.replicas: at most 10")

    async with plain(webhooks) as session:
        reply = await session.post("/validate-example-com-v1-website", data=a_review())
        response = (await reply.json())["response"]

    assert response["allowed"] is decision
    assert response["warnings"] == ["spec.image: pin it by digest"]


async def test_a_function_that_hangs_denies_in_time() -> None:
    clock = ManualClock()
    webhooks = WebhookServer("127.0.0.1:0", clock=clock)
    begun = asyncio.Event()

    @webhooks.mutate(Website)
    async def hang(site: Website, request: AdmissionRequest[Website]) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with plain(webhooks) as session:
        call = asyncio.create_task(session.post("/mutate-example-com-v1-website", data=a_review()))
        await begun.wait()
        await clock.advance(11)
        reply: Any = await (await call).json()

    assert reply["response"]["allowed"] is False
    assert "no decision within 10 s" in reply["response"]["status"]["message"]


async def test_a_function_that_is_cancelled_from_inside_denies_with_a_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    webhooks = WebhookServer("127.0.0.1:0")

    @webhooks.validate(Website)
    async def check(site: Website, request: AdmissionRequest[Website]) -> None:
        raise asyncio.CancelledError  # something that it waited for was

    async with plain(webhooks) as session:
        call = session.post("/validate-example-com-v1-website", data=a_review())
        reply: Any = await (await call).json()

    assert reply["response"]["allowed"] is False
    assert webhooks.stats().failed == 1
    assert "default/shop: cancelled from inside" in caplog.text


async def test_a_body_that_is_not_a_review_is_rejected() -> None:
    webhooks = WebhookServer("127.0.0.1:0")
    webhooks.validate(Website)(lambda site, request: None)
    webhooks.convert(OldWebsite, Website)(to_new)

    async with plain(webhooks) as session:
        path = "/validate-example-com-v1-website"
        replies = [
            await session.post(path, data=b"hello"),
            await session.post("/convert", data=b"hello"),
            await session.post("/other", data=a_review()),
        ]

    assert [reply.status for reply in replies] == [400, 400, 404]


async def test_versions_are_converted() -> None:
    webhooks = WebhookServer("127.0.0.1:0")
    webhooks.convert(OldWebsite, Website)(to_new)

    async with plain(webhooks) as session:
        reply = await (
            await session.post("/convert", data=a_conversion_review(an_old_site()))
        ).json()

    assert reply["response"]["convertedObjects"][0]["spec"]["replicas"] == 4
    assert webhooks.stats().converted == 1


def test_a_path_is_unique() -> None:
    webhooks = WebhookServer("127.0.0.1:0")
    webhooks.validate(Website)(lambda site, request: None)

    with pytest.raises(InvalidArgument, match="the path is in use"):
        webhooks.validate(Website)(lambda site, request: None)


def test_a_configuration_names_a_url_or_a_service() -> None:
    webhooks = WebhookServer("127.0.0.1:0")
    webhooks.validate(Website)(lambda site, request: None)

    (made,) = webhooks.configurations("w", service=ServiceReference(name="hooks", namespace="ops"))

    service = made.webhooks[0].client_config.service
    assert service is not None
    assert service.path == "/validate-example-com-v1-website"
    with pytest.raises(InvalidArgument, match="give either a url or a service"):
        webhooks.configurations("w")


# --- certificates


async def served_certificate(address: str, *, name: str = "") -> bytes:
    """The certificate of a new connection, with a server name if given."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context(cadata=AUTHORITY.pem.decode())
    context.check_hostname = not name
    _, writer = await asyncio.open_connection(
        host, int(port), ssl=context, server_hostname=name or host
    )
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()  # without a close handshake
    await writer.wait_closed()
    return found


async def test_a_new_certificate_is_used_without_a_restart(certificates: Path) -> None:
    clock = ManualClock()
    webhooks = WebhookServer("127.0.0.1:0", certificates=certificates, clock=clock)
    async with running(webhooks):
        address = await webhooks.address()
        before = await served_certificate(address)

        AUTHORITY.server("another").write(certificates)

        # No time passes: the very next handshake shows it, without and with a name in it.
        after = await served_certificate(address)
        assert after != before
        assert await served_certificate(address, name="localhost") == after

        AUTHORITY.server("third").write(certificates)
        await clock.advance(11)
        assert await served_certificate(address) not in {before, after}


def test_a_pair_that_is_replaced_while_it_is_loaded_is_used_at_once(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The certificate of before was read, and then the key of after."""
    certificate = ServingCertificate(certificates)
    certificate.context()
    (certificates / "tls.key").write_bytes(AUTHORITY.server("half").key)
    load = ssl.SSLContext.load_cert_chain

    def replace_and_load(context: ssl.SSLContext, *paths: Any, **others: Any) -> None:
        monkeypatch.undo()
        try:
            load(context, *paths, **others)
        finally:
            AUTHORITY.server("whole").write(certificates)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", replace_and_load)

    assert certificate.reload()
    assert certificate.stats().last_error == ""
    assert caplog.text == ""


def test_a_mismatched_pair_changes_nothing(
    certificates: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate = ServingCertificate(certificates)
    certificate.context()

    (certificates / "tls.key").write_bytes(AUTHORITY.server().key)

    assert not certificate.reload()
    assert certificate.stats().loads == 1
    assert "still using the previous certificate" in caplog.text
    assert not certificate.reload()
    assert caplog.text.count("still using the previous certificate") == 1

    AUTHORITY.server().write(certificates)
    assert certificate.reload()
    assert certificate.stats() == type(certificate.stats())(loads=2, last_error="")


def test_a_pair_that_is_replaced_within_one_tick_of_the_file_system_is_seen(
    certificates: Path,
) -> None:
    """Times of files stand still for some milliseconds, and keys of one kind are equally long."""
    certificate = ServingCertificate(certificates)
    certificate.context()
    key = certificates / "tls.key"
    read = key.stat()

    key.write_bytes(AUTHORITY.server().key)
    os.utime(key, ns=(read.st_atime_ns, read.st_mtime_ns))
    assert key.stat().st_size == read.st_size

    certificate.reload()
    assert "mismatch" in certificate.stats().last_error.lower()


def test_restoring_the_previous_pair_ends_the_errors(
    certificates: Path,
) -> None:
    certificate = ServingCertificate(certificates)
    certificate.context()
    key = certificates / "tls.key"
    before = key.read_bytes()
    key.write_bytes(b"half of a ")
    assert not certificate.reload()

    key.write_bytes(before)
    certificate.reload()

    assert certificate.stats().last_error == ""


def test_a_pair_that_could_not_be_read_is_read_again_later(
    certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = ServingCertificate(certificates)
    certificate.context()
    AUTHORITY.server("another").write(certificates)

    with monkeypatch.context() as busy:
        busy.setattr(ssl.SSLContext, "load_cert_chain", no_file_is_left)
        assert not certificate.reload()

    assert certificate.reload()


def no_file_is_left(*_: object, **__: object) -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def test_a_missing_certificate_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"read the certificate .*tls.crt"):
        ServingCertificate(tmp_path).context()
