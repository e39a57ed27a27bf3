"""The dashboard of the demo, drawn from given values."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import demo_picture
import msgspec
import pytest
from rich.console import Console

from kubeloop.kit import ManualClock
from kubeloop_cli.demo.dashboard import render
from kubeloop_cli.demo.log import DemoLog, EntryType, entry_text, plural
from kubeloop_cli.demo.panels import sparkline
from kubeloop_cli.demo.snapshot import (
    ActivityHistory,
    CacheSnapshot,
    Candidate,
    ClusterEvent,
    ControllerSnapshot,
    Snapshot,
)


@pytest.fixture
def log() -> DemoLog:
    return DemoLog(clock=ManualClock())


@pytest.fixture
def snapshot(log: DemoLog) -> Snapshot:
    log.title("A watch is interrupted")
    for number in range(30):
        log.fault(f"interrupted the watch of Websites for the {number}th time, " + "again " * 20)
    log.result("recovered")
    return Snapshot(
        elapsed=12.3,
        scene=5,
        scenes=8,
        is_over=False,
        server="http://127.0.0.1:1234",
        inspector="http://127.0.0.1:5678/",
        entries=log.entries,
        caches=(
            CacheSnapshot("Website", "waiting", 3, 23, 2000, 1),
            CacheSnapshot("Deployment", "watching", 12345, 12345, 8_000_000, 10),
            CacheSnapshot("Pod", "watching", 6, 6, 20_000, 1),
        ),
        candidates=(Candidate("alice", False, False), Candidate("bob", True, True)),
        nodes=(("node-1", ("Running",) * 200), ("node-2", ("Pending", "Failed", "Odd"))),
        controller=ControllerSnapshot(3, 1, 2, 120, 4, 12.5, 0.038, (0, 1, 5) * 20, (1,) * 60),
        events=tuple(ClusterEvent(f"Website/{n}", "Ready", "it runs " * 30) for n in range(40)),
    )


def lines_of(snapshot: Snapshot, width: int, height: int) -> list[str]:
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None
    )
    with console.capture() as captured:
        console.print(render(snapshot, width=width, height=height), height=height, end="")
    return captured.get().splitlines()


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (100, 30), (119, 24), (120, 24), (60, 18)])
def test_the_dashboard_fills_the_screen_exactly(size: tuple[int, int], snapshot: Snapshot) -> None:
    width, height = size

    lines = lines_of(snapshot, width, height)

    assert len(lines) == height
    assert {len(line) for line in lines} == {width}
    assert "✓ recovered" in "\n".join(lines)  # the newest entry is always shown


@pytest.mark.parametrize("size", [(80, 24), (120, 30), (140, 40)])
def test_failures_are_shown_in_words(size: tuple[int, int], snapshot: Snapshot) -> None:
    text = "\n".join(lines_of(snapshot, *size))

    assert "✗ down" in text
    assert "✗ alice is down" in text
    assert "★ bob leads" in text
    assert "3 keys, 1 processing, 2 delayed" in text
    assert "4 of 120 failed" in text
    assert "http://127.0.0.1:5678/" in text


@pytest.mark.parametrize("width", [80, 119, 120, 125, 140, 200])
def test_the_lines_of_the_controller_are_complete(width: int, snapshot: Snapshot) -> None:
    busy = ControllerSnapshot(1, 12, 34, 1234, 123, 56.7, 0.123, (0, 1, 5) * 20, (1,) * 60)

    text = "\n".join(lines_of(msgspec.structs.replace(snapshot, controller=busy), width, 30))

    assert "1 key, 12 processing, 34 delayed" in text
    assert "57/s, 123 ms each, 123 of 1234 failed" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [(plural(0, "key"), "0 keys"), (plural(1, "key"), "1 key"), (plural(2, "key"), "2 keys"),
     (plural(1, "watch", "watches"), "1 watch"), (plural(3, "watch", "watches"), "3 watches")],
)  # fmt: skip
def test_one_is_singular_and_every_other_number_plural(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (1, 1)])
def test_a_tiny_screen_is_not_an_error(size: tuple[int, int], snapshot: Snapshot) -> None:
    width, height = size

    lines = lines_of(snapshot, width, height)

    assert all(len(line) <= width for line in lines)


def test_a_low_screen_shows_only_the_log(snapshot: Snapshot) -> None:
    text = "\n".join(lines_of(snapshot, 80, 19))

    assert "Log: A watch is interrupted" in text
    assert "Caches" not in text


@pytest.mark.parametrize(
    ("values", "bars"), [((), ""), ((0, 0), "  "), ((0, 1, 100), " ▁█"), ((1, 1), "██")]
)
def test_every_value_above_zero_is_visible(values: tuple[int, ...], bars: str) -> None:
    assert sparkline(values) == bars


def test_the_history_has_depth_and_reconciles_of_each_half_second() -> None:
    history = ActivityHistory()

    history.record(0.1, depth=3, done=1)
    history.record(0.4, depth=1, done=4)
    history.record(0.6, depth=2, done=5)
    history.record(1.1, depth=0, done=2)  # another leader counts from zero

    assert history.depths[-3:] == (3, 2, 0)
    assert history.rates[-3:] == (4, 1, 0)
    assert history.rate() == 5.0


def test_the_svg_for_the_documentation_loads_no_fonts(snapshot: Snapshot) -> None:
    svg = demo_picture.as_svg(snapshot)

    assert ET.fromstring(svg).tag.endswith("svg")
    assert "@font-face" not in svg
    assert "recovered" in svg


async def test_entries_have_their_time_and_the_last_scene_is_known() -> None:
    clock = ManualClock()
    lines: list[str] = []
    log = DemoLog(clock=clock, on_entry=lambda entry: lines.append(entry_text(entry)))
    log.title("One")
    await clock.advance(1.5)
    log.action("something")
    log.title("Two")
    log.reason("because")

    assert lines == ["\nOne", "   1.5 s     do  something", "\nTwo", "   1.5 s    why  because"]
    assert [entry.type for entry in log.last_scene()] == [EntryType.SCENE, EntryType.REASON]
