"""The page of a failed simulated run in a real browser."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from kubeloop_testing.simulation.explorer import Exploration, FailedRun
from kubeloop_testing.simulation.scenarios import Failure, RunResult, Scenario, TimelineEntry
from kubeloop_testing.simulation.trace_page import write_page

HOSTILE = "</script><script>document.title = 'hostile'</script><img src=x onerror='alert(1)'>"
TIMELINE = (
    TimelineEntry(0.0, "manager", "process", "starts"),
    TimelineEntry(0.1, "test", "write", "1: create configmaps default/shop"),
    TimelineEntry(0.2, "manager", "event", f"ADDED configmaps default/{HOSTILE}"),
    TimelineEntry(0.3, "cluster", "write", "1: create pods default/shop"),
    TimelineEntry(0.4, "manager", "fault", "manager crashes"),
)


async def open_page(browser: Browser, folder: Path, errors: list[str]) -> Page:
    path = folder / "run.html"
    failed = FailedRun(
        Failure("leaked object", HOSTILE), Scenario(), RunResult(timeline=TIMELINE), 0
    )
    write_page(path, "test_shop", Exploration(1, 0.1, 60.0, 0, "", RunResult(), failed))
    page = await browser.new_page(viewport={"width": 1400, "height": 900})
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on(
        "request",
        lambda request: errors.append(request.url) if path.name not in request.url else None,
    )
    await page.goto(path.as_uri())
    return page


async def test_lines_are_filtered_by_process_kind_and_text(
    chromium: Browser, tmp_path: Path
) -> None:
    errors: list[str] = []
    page = await open_page(chromium, tmp_path, errors)
    lines = page.locator(".timeline li:visible")

    await expect(page).to_have_title("test_shop · kubeloop simulation")
    await expect(lines).to_have_count(4)
    await expect(page.locator("#count")).to_have_text("4 of 5 lines")
    await page.get_by_role("button", name="cluster").click()
    await expect(lines).to_have_count(5)
    await page.get_by_role("button", name="write").click()
    await expect(lines).to_have_count(3)
    await page.keyboard.press("/")
    await page.keyboard.type("ADDED SHOP")
    await expect(lines).to_have_count(0)
    await page.fill("input[type=search]", "added configmaps")
    await expect(lines).to_have_count(1)

    assert errors == [], "scripts of the timeline ran, or something was requested"
