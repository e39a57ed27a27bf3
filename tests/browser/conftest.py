"""A Chromium, a manager, and pages of its inspector; skipped if there is no Chromium."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from browser import FLAGS, MISSING, find
from playwright.async_api import Browser, Page, async_playwright, expect

from kubeloop.inspector import Inspector
from kubeloop.kit import running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Manager, Result
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer

HERE = Path(__file__).parent
TIMEOUT = 40_000  # milliseconds to wait for a condition; long, for busy machines

expect.set_options(timeout=TIMEOUT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting a browser takes seconds, more on a busy machine."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(60))
            if find() is None:
                item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(autouse=True)
def runtime_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as started:
        yield started


@pytest.fixture
async def client(server: APIServer) -> AsyncIterator[Client]:
    async with Client(server.config) as connected:
        yield connected


def a_config(name: str, **data: str) -> ConfigMap:
    labels = {"app": name.partition("-")[0]}
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", labels=labels), data=data)


def a_secret(password: str) -> Secret:
    metadata = ObjectMeta(name="database", namespace="default")
    return Secret(metadata=metadata, data={"password": password.encode()}, type="Opaque")


@pytest.fixture
async def inspector(server: APIServer, client: Client) -> AsyncIterator[Inspector]:
    """The inspector of a manager with one controller."""
    for config in (a_config("web-1", colour="blue"), a_config("web-2"), a_config("cart-1")):
        await client.apply(config)
    await client.apply(a_secret("swordfish"))
    manager = Manager(server.config, signals=False, tune_gc=False, logs=False)
    manager.cache(ConfigMap, namespace="default")
    manager.cache(Secret, namespace="default")

    @manager.controller(ConfigMap, name="painter", workers=2)
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        config = ctx.get(ConfigMap, key)
        if config is not None and "<" in config.data.get("colour", ""):
            raise ValueError(f"cannot paint {config.data['colour']}")
        if config is not None:
            ctx.recorder.event(config, "Normal", "Painted", "painted %s", config.data)
        return None

    inspector = Inspector(manager, name="shop-controller")
    manager.add(inspector)
    async with running(manager):
        await manager.wait_ready(timeout=30)
        yield inspector


@pytest.fixture
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        yield browser
        await browser.close()


class Windows:
    """Opens pages, and collects their errors."""

    def __init__(self, browser: Browser, url: Callable[[], str]) -> None:
        self._browser = browser
        self._url = url
        self.errors: list[str] = []
        self.origins: set[str] = set()

    async def open(self, path: str = "", *, width: int = 1400, **options: Any) -> Page:
        page = await self._browser.new_page(viewport={"width": width, "height": 900}, **options)
        page.set_default_timeout(TIMEOUT)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._log(message.type, message.text))
        page.on("request", lambda request: self.origins.add("/".join(request.url.split("/")[:3])))
        await page.goto(f"{self._url()}{path}")
        await page.wait_for_selector('#connection[data-state="live"]')
        return page

    def _log(self, kind: str, text: str) -> None:
        if kind == "error" and "Failed to load resource" not in text:
            self.errors.append(text)


@pytest.fixture
async def windows(chromium: Browser, inspector: Inspector) -> AsyncIterator[Windows]:
    opened = Windows(chromium, lambda: inspector.url)
    yield opened
    assert opened.errors == [], "the page or its content security policy reported errors"
