"""Health, metrics and webhooks accept their clients, and no web page of another origin."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from kubeloop.kit import ManualClock, running
from kubeloop.runtime import AdmissionRequest, WebhookServer
from kubeloop.runtime.endpoints import health_pages, parse_address, serving
from kubeloop.runtime.health import HealthChecks
from kubeloop.wire.core.v1 import ConfigMap

FOREIGN = [
    {"Origin": "http://evil.example.com"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.fixture
async def health() -> AsyncIterator[str]:
    checks = HealthChecks("alive", clock=ManualClock())
    async with serving(parse_address("127.0.0.1:0"), health_pages(checks, checks)) as address:
        yield f"http://{address}/healthz"


@pytest.fixture
async def webhook() -> AsyncIterator[str]:
    webhooks = WebhookServer("127.0.0.1:0")

    @webhooks.validate(ConfigMap, path="/check")
    def check(config: ConfigMap, request: AdmissionRequest[ConfigMap]) -> None:
        """All are good."""

    async with running(webhooks):
        yield f"http://{await webhooks.address()}/check"


async def status(url: str, method: str = "GET", **headers: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, headers=headers) as response,
    ):
        return response.status


@pytest.mark.parametrize("host", ["10.1.2.3:8081", "website.shop.svc", "evil.example.com"])
async def test_any_host_is_accepted_because_the_kubelet_uses_the_pods_address(
    health: str, webhook: str, host: str
) -> None:
    assert await status(health, Host=host) == 200
    assert (
        await status(webhook, "POST", Host=host) == 400
    )  # it was called, and the body was not a review


@pytest.mark.parametrize("headers", FOREIGN)
async def test_a_page_of_another_origin_is_rejected(
    health: str, webhook: str, headers: dict[str, str]
) -> None:
    assert await status(health, **headers) == 403
    assert await status(webhook, "POST", **headers) == 403


async def test_a_browser_that_opens_the_page_itself_gets_it(health: str) -> None:
    assert await status(health, **{"Sec-Fetch-Site": "none"}) == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_health_endpoints_reject_methods_that_change_something(
    health: str, method: str
) -> None:
    assert await status(health, method) == 405
    assert await status(health, "HEAD") == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_webhooks_accept_only_post(webhook: str, method: str) -> None:
    assert await status(webhook, method) == 405


@pytest.mark.parametrize("origin", ["http://evil.example.com", None])
async def test_no_response_allows_other_origins_to_read_it(
    health: str, webhook: str, origin: str | None
) -> None:
    headers = {"Origin": origin} if origin else {}
    async with aiohttp.ClientSession() as session:
        for url, method in [(health, "GET"), (webhook, "POST"), (health, "OPTIONS")]:
            async with session.request(method, url, headers=headers) as response:
                assert not [name for name in response.headers if "access-control" in name.lower()]


async def test_livez_is_healthz_under_another_name(health: str) -> None:
    assert await status(health.replace("/healthz", "/livez")) == 200
    assert await status(health.replace("/healthz", "/livez"), "POST") == 405
