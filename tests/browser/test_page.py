"""The inspector's page in a real browser; every wait is for a condition."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from kubeloop.inspector import Inspector, Replay, record_url
from kubeloop.kit import running
from kubeloop.runtime import Client, Manager
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop_testing import APIServer, Match

from .conftest import Windows, a_config, a_secret

CONFIGS = '.lane[data-id="configmaps in default"]'
WEB_1 = "#/object?cache=configmaps+in+default&namespace=default&name=web-1"
DATABASE = "#/object?cache=secrets+in+default&namespace=default&name=database"


async def is_focused(page: Page, selector: str) -> None:
    await page.wait_for_function("s => document.activeElement?.matches(s)", arg=selector)


async def test_the_overview_draws_the_pipeline(windows: Windows, inspector: Inspector) -> None:
    page = await windows.open()

    await expect(page).to_have_title("shop-controller · kubeloop inspector")
    await expect(page.locator(f"{CONFIGS} .state")).to_have_text("watching")
    await expect(page.locator(CONFIGS)).to_contain_text("3 objects")
    await expect(page.locator(".work")).to_contain_text("painter")
    await expect(page.locator(".curves path.line")).to_have_attribute("d", re.compile("^M0,"))
    assert windows.origins == {inspector.stats().address.rstrip("/")}


async def test_the_overview_shows_changes(windows: Windows, client: Client) -> None:
    page = await windows.open()

    await client.apply(a_config("web-3", colour="green"))

    await expect(page.locator(CONFIGS)).to_contain_text("4 objects")
    await expect(page.locator(".journal li").filter(has_text="web-3")).to_contain_text("Painted")


async def test_objects_are_found_by_name_and_by_labels(windows: Windows) -> None:
    page = await windows.open()

    await page.click(f"{CONFIGS} h2 a")
    await page.fill("[name=name]", "web")
    await expect(page.locator(".row b")).to_have_text(["web-1", "web-2"])
    await page.fill("[name=name]", "")
    await page.fill("[name=labels]", "app=cart")

    await expect(page.locator(".row b")).to_have_text(["cart-1"])


async def test_an_invalid_selector_is_reported_beside_the_field(windows: Windows) -> None:
    page = await windows.open("#/search")

    await page.fill("[name=labels]", "app in")

    await expect(page.locator(".alert")).to_be_visible()
    await expect(page.locator("[name=labels]")).to_have_attribute("aria-invalid", "true")


async def test_an_object_is_shown_with_its_difference(windows: Windows, client: Client) -> None:
    page = await windows.open(WEB_1)
    await expect(page.locator(".yaml")).to_contain_text("colour: blue")

    await client.apply(a_config("web-1", colour="red"))

    await expect(page.locator(".changes .removed")).to_contain_text("colour: blue")
    await expect(page.locator(".changes .added")).to_contain_text("colour: red")
    await expect(page.locator(".yaml")).to_contain_text("colour: red")


async def test_a_deleted_object_is_shown_as_deleted(windows: Windows, client: Client) -> None:
    page = await windows.open(WEB_1)

    await client.resource(ConfigMap, namespace="default").delete("web-1")

    await expect(page.locator(".yaml")).to_contain_text("Deleted from the cache")
    await expect(page.locator(".changes summary .Deleted")).to_be_visible()


async def test_a_secret_is_masked_also_in_its_difference(windows: Windows, client: Client) -> None:
    page = await windows.open(DATABASE)
    await client.apply(a_secret("trout"))

    await expect(page.locator(".changes .added")).to_contain_text("‹hidden")
    await expect(page.locator(".yaml mark")).to_have_count(1)

    content = await page.content()
    assert not any(word in content for word in ("swordfish", "trout", "c3dvcmRmaXNo", "dHJvdXQ="))


async def test_a_failing_watch_is_red_until_it_recovers(
    windows: Windows, server: APIServer
) -> None:
    page = await windows.open()
    for verb in ("watch", "list"):
        server.faults.fail(500, times=None, match=Match(verb=verb, resource="configmaps"))

    server.drop_connections()

    lane = page.locator(CONFIGS)
    await expect(lane).to_have_attribute("data-health", "failing")
    await expect(lane.locator(".state")).to_contain_text("failed")
    await expect(lane).to_have_css("border-color", "rgb(204, 31, 66)")
    await expect(page.locator("#badges")).to_contain_text("1 watch failing")
    await expect(page.locator("#announcement")).to_have_text("Failing: ConfigMap")

    server.faults.heal()

    await expect(lane).to_have_attribute("data-health", "healthy")
    await expect(page.locator(".journal")).to_contain_text("watching again")
    await expect(page.locator("#badges")).not_to_contain_text("failing")


async def test_the_page_can_be_used_with_the_keyboard(windows: Windows) -> None:
    page = await windows.open()

    await page.keyboard.press("ArrowDown")
    await is_focused(page, ".lane h2 a")
    await page.keyboard.press("/")
    await is_focused(page, "[name=name]")
    await page.keyboard.type("web-")
    await expect(page.locator(".row")).to_have_count(2)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await is_focused(page, ".row:nth-child(2)")
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text("web-2")
    await page.keyboard.press("Escape")
    await expect(page.locator(".row").first).to_be_visible()
    await page.keyboard.press("Escape")

    await expect(page.locator(CONFIGS)).to_be_visible()


async def test_the_focus_stays_when_the_page_is_redrawn(windows: Windows, client: Client) -> None:
    page = await windows.open()
    await page.focus(f"{CONFIGS} h2 a")

    await client.apply(a_config("web-3"))
    await expect(page.locator(CONFIGS)).to_contain_text("4 objects")

    await is_focused(page, f"{CONFIGS} h2 a")


async def test_a_failing_key_leads_to_its_object_until_it_is_reconciled(
    windows: Windows, client: Client
) -> None:
    page = await windows.open()
    await client.apply(a_config("bad-1", colour="<img src=x onerror=alert(1)>"))
    failing = page.locator(".failing li").filter(has_text="bad-1")
    await expect(failing).to_contain_text("cannot paint <img src=x onerror=alert(1)>")
    await expect(failing).to_contain_text("attempt")
    journal = page.locator(".journal li.error").filter(has_text="bad-1")
    await expect(journal.locator("a")).to_have_text("default/bad-1")

    await failing.locator("a").click()
    await expect(page.locator("h1")).to_have_text("bad-1")
    await client.apply(a_config("bad-1", colour="red"))
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")

    await expect(page.locator(".work")).to_be_visible()
    await expect(page.locator(".failing")).to_have_count(0)


async def test_an_object_is_copied_as_yaml(windows: Windows) -> None:
    page = await windows.open(WEB_1, permissions=["clipboard-read", "clipboard-write"])

    await page.click(".copy")

    await expect(page.locator(".copy")).to_have_text("Copied")
    text = await page.evaluate("navigator.clipboard.readText()")
    copied = ConfigMap.from_yaml(text)
    assert (copied.metadata.name, copied.data) == ("web-1", {"colour": "blue"})


async def test_an_object_is_copied_where_the_browser_has_no_clipboard_api(
    windows: Windows,
) -> None:
    page = await windows.open(WEB_1, permissions=["clipboard-read"])
    await page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(Error()) }")

    await page.click(".copy")

    await expect(page.locator(".copy")).to_have_text("Copied")
    assert "name: web-1" in await page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("way", ["Escape", "path", "history"])
async def test_the_way_back_from_an_object_keeps_the_search(windows: Windows, way: str) -> None:
    page = await windows.open()
    await page.click(f"{CONFIGS} h2 a")
    await page.fill("[name=name]", "web")
    await page.fill("[name=labels]", "app=web")
    await page.click(".row:has-text('web-2')")
    await expect(page.locator("h1")).to_have_text("web-2")

    if way == "Escape":
        await page.keyboard.press("Escape")
    elif way == "path":
        await page.click("main > nav a:has-text('ConfigMap')")
    else:
        await page.go_back()

    await expect(page.locator(".row b")).to_have_text(["web-1", "web-2"])
    await expect(page.locator("[name=name]")).to_have_value("web")
    await expect(page.locator("[name=labels]")).to_have_value("app=web")
    await is_focused(page, ".row:nth-child(2)")


async def test_the_page_can_be_restricted_to_one_manager(
    chromium: Browser, server: APIServer, client: Client
) -> None:
    await client.apply(a_config("web-1"))
    managers = [Manager(server.config, signals=False, tune_gc=False, logs=False) for _ in "ab"]
    managers[0].cache(ConfigMap, namespace="default")
    managers[1].cache(Secret, namespace="default")
    async with (
        running(managers[0]),
        Inspector(*managers) as inspector,
    ):
        await managers[0].wait_ready(timeout=30)
        page = await Windows(chromium, lambda: inspector.url).open()
        await expect(page.locator(".manager")).to_have_text(
            ["All managers", "Manager 1running, leads", "Manager 2new"]
        )

        await page.click(".manager:has-text('Manager 2')")
        await expect(page.locator(".lane")).to_have_count(0)
        await page.click(".manager:has-text('Manager 1')")
        await expect(page.locator(".lane h2")).to_have_text(["ConfigMap"])
        await page.keyboard.press("/")
        await expect(page.locator("[name=manager]")).to_have_value("Manager 1")
        await expect(page.locator(".row b")).to_have_text(["web-1"])
        await page.keyboard.press("Escape")

        await expect(page.locator(".manager[aria-current]")).to_contain_text("Manager 1")


@pytest.mark.parametrize("path", ["", "#/search", WEB_1])
async def test_on_a_phone_there_is_no_horizontal_scrolling(windows: Windows, path: str) -> None:
    page = await windows.open(path, width=360, has_touch=True)
    await page.wait_for_selector({"": CONFIGS, "#/search": ".row", WEB_1: ".yaml code"}[path])

    width = await page.evaluate("document.documentElement.scrollWidth")

    assert width <= 360


async def test_on_a_phone_no_tab_is_wrapped(windows: Windows) -> None:
    page = await windows.open(width=360, has_touch=True)

    boxes = [await tab.bounding_box() for tab in await page.locator(".tabs button").all()]

    assert len(boxes) == 3
    assert all(box is not None and box["height"] < 40 for box in boxes)


async def test_stale_content_is_greyed_out(windows: Windows) -> None:
    page = await windows.open()
    await expect(page.locator("main")).to_have_css("opacity", "1")

    await page.route("**/stream", lambda request: request.abort())
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    await expect(page.locator("#connection")).to_contain_text("the process does not respond")
    await expect(page.locator("main")).to_have_css("opacity", "0.6")


async def test_the_colour_scheme_of_the_browser_is_used(windows: Windows) -> None:
    light = await windows.open(color_scheme="light")
    dark = await windows.open(color_scheme="dark")

    await expect(light.locator("body")).to_have_css("background-color", "rgb(244, 246, 251)")
    await expect(dark.locator("body")).to_have_css("background-color", "rgb(11, 14, 24)")


async def test_a_hidden_tab_opens_no_stream_until_it_is_visible(
    chromium: Browser, inspector: Inspector
) -> None:
    page = await chromium.new_page()
    await page.add_init_script(
        "Object.defineProperty(document, 'hidden', { get: () => window.isHidden ?? true })"
    )

    await page.goto(inspector.url)
    await expect(page.locator("#connection")).to_have_text("paused")
    viewers = inspector.stats().viewers
    await page.evaluate(
        "window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))"
    )

    await expect(page.locator("#connection")).to_have_text("live")
    assert viewers == 0


async def test_a_recording_is_shown_step_by_step(
    chromium: Browser, inspector: Inspector, client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "run.kubeloop"
    recording = asyncio.create_task(record_url(inspector.url, path))
    while not (path.exists() and path.stat().st_size):
        await asyncio.sleep(0.01)
    await client.apply(a_config("web-3", colour="<b>green</b>"))
    samples = inspector.stats().samples
    while inspector.stats().samples < samples + 3:
        await asyncio.sleep(0.05)
    recording.cancel()
    await asyncio.wait([recording])

    async with Replay(path) as replay:
        windows = Windows(chromium, lambda: replay.url)
        page = await windows.open()
        await expect(page.locator("#connection")).to_have_text("recording")
        await expect(page.locator(CONFIGS)).to_contain_text("4 objects")
        await page.fill("#recording input", "0")
        await expect(page.locator("#recording output")).to_contain_text("step 1 of")
        await expect(page.locator(CONFIGS)).to_contain_text("3 objects")
        await page.keyboard.press("/")
        await expect(page.locator(".row b")).to_have_text(["cart-1", "database", "web-1", "web-2"])
        while not await page.locator(".row b:text-is('web-3')").count():
            await page.click("[data-step=next]")
        await page.click(".row:has-text('web-3')")
        await expect(page.locator(".yaml")).to_contain_text("colour: <b>green</b>")
        await page.reload()

        await expect(page.locator("h1")).to_have_text("web-3")
        assert windows.errors == []
