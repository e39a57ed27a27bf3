"""A page of another origin, in a real browser, cannot use the servers of kubeloop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from browser import FLAGS, find
from playwright.async_api import Browser, Page

from kubeloop.inspector import Inspector
from kubeloop.kit import ManualClock
from kubeloop.runtime.endpoints import health_pages, parse_address, serving
from kubeloop.runtime.health import HealthChecks
from kubeloop.workqueue import WorkQueue
from kubeloop_testing import APIServer

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
EVIL = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"evil"}}'

# All requests that a page can send to another origin; each returns what the page can see.
ATTACKS = """async ({base, path, body}) => {
  const attempt = async (name, act) => {
    try { return [name, await act()]; } catch (error) { return [name, "failed"]; }
  };
  const loaded = (element) => new Promise((done) => {
    element.onload = () => done("loaded");
    element.onerror = () => done("failed");
    document.body.append(element);
  });
  const socket = () => new Promise((done) => {
    const one = new WebSocket(base.replace("http", "ws") + path + "?watch=1");
    one.onopen = () => done("open");
    one.onerror = () => done("failed");
  });
  const form = () => new Promise((done) => {
    const frame = Object.assign(document.createElement("iframe"), {name: "target"});
    const one = Object.assign(document.createElement("form"),
      {method: "POST", action: base + path, enctype: "text/plain", target: "target"});
    const [name, value] = [body.slice(0, -2), body.slice(-2)];
    one.append(Object.assign(document.createElement("input"), {name, value}));
    document.body.append(frame, one);
    frame.onload = () => { if (frame.src !== "about:blank") done("sent"); };
    setTimeout(() => one.submit(), 0);
  });
  const plain = {method: "POST", mode: "no-cors", body, headers: {"Content-Type": "text/plain"}};
  return Object.fromEntries([
    await attempt("fetch", async () => (await fetch(base + path)).text()),
    await attempt("no-cors get", async () => (await fetch(base + path, {mode: "no-cors"})).type),
    await attempt("no-cors post", async () => (await fetch(base + path, plain)).type),
    await attempt("json post", async () => (await fetch(base + path,
      {method: "POST", body, headers: {"Content-Type": "application/json"}})).status),
    await attempt("delete", async () => (await fetch(base + path, {method: "DELETE"})).status),
    await attempt("websocket", socket),
    await attempt("image", () => loaded(Object.assign(new Image(), {src: base + path}))),
    await attempt("script", () => loaded(Object.assign(
      document.createElement("script"), {src: base + path}))),
    await attempt("form", form),
  ]);
}"""


@pytest.fixture
async def evil() -> AsyncIterator[str]:
    """A page on another port, and so of another origin."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><body>evil", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", page)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://evil.localhost:{runner.addresses[0][1]}/"
    await runner.cleanup()


class Statuses:
    """Collects the status codes of the requests of a page to a server."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.seen: list[int] = []
        page.on("response", self._add)

    def _add(self, response: Any) -> None:
        if response.url.startswith(self.base):
            self.seen.append(response.status)


async def open_page(chromium: Browser, at: str, base: str) -> Statuses:
    page = await chromium.new_page()
    statuses = Statuses(page, base)
    await page.goto(at)
    return statuses


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_it_neither_reads_nor_writes_the_embedded_server(
    server: APIServer, chromium: Browser, evil: str, host: str
) -> None:
    base = server.url.replace("127.0.0.1", host)
    attacker = await open_page(chromium, evil, base)
    recorded = len(server.requests)

    found = await attacker.page.evaluate(ATTACKS, {"base": base, "path": CONFIGMAPS, "body": EVIL})

    # A no-cors request is always "opaque" for the page; the status codes show the result.
    assert {name for name, seen in found.items() if seen != "failed"} <= {
        "no-cors get", "no-cors post", "form",
    }  # fmt: skip
    assert attacker.seen
    assert set(attacker.seen) == {403}
    assert len(server.requests) == recorded
    assert not await server.client().core_v1.config_maps("default").exists("evil")


async def test_a_name_that_was_rebound_reads_nothing(server: APIServer, chromium: Browser) -> None:
    port = server.url.rpartition(":")[2]
    rebound = "--host-resolver-rules=MAP evil.test 127.0.0.1"
    browser = await chromium.browser_type.launch(executable_path=find(), args=[*FLAGS, rebound])
    try:
        page = await browser.new_page()
        response = await page.goto(f"http://evil.test:{port}{CONFIGMAPS}")

        assert response is not None
        assert response.status == 403
        assert "--allow-host" in await response.text()
    finally:
        await browser.close()


async def test_the_servers_own_address_can_be_opened(server: APIServer, chromium: Browser) -> None:
    page = await chromium.new_page()

    response = await page.goto(f"{server.url}{CONFIGMAPS}")
    status = await page.evaluate("async (path) => (await fetch(path)).status", CONFIGMAPS)

    assert response is not None
    assert (response.status, status) == (200, 200)


async def test_it_does_not_reach_the_inspector(chromium: Browser, evil: str) -> None:
    async with Inspector(WorkQueue[str]()) as inspector:
        base = inspector.url.rstrip("/")
        attacker = await open_page(chromium, evil, base)

        await attacker.page.evaluate(ATTACKS, {"base": base, "path": "/search", "body": EVIL})

        assert attacker.seen
        assert set(attacker.seen) == {403}


async def test_it_does_not_reach_the_health_pages(chromium: Browser, evil: str) -> None:
    checks = HealthChecks("alive", clock=ManualClock())
    async with serving(parse_address("127.0.0.1:0"), health_pages(checks, checks)) as address:
        base = f"http://{address}"
        attacker = await open_page(chromium, evil, base)

        await attacker.page.evaluate(ATTACKS, {"base": base, "path": "/healthz", "body": EVIL})

        assert attacker.seen
        assert set(attacker.seen) <= {403, 405}
