"""The picture that the demo draws, without a demo."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import demo_picture
import pytest
from rich.console import Console

from kubeloop.cli.demo.dashboard import drawn
from kubeloop.cli.demo.narrator import Mark, Narrator
from kubeloop.cli.demo.panels import sparkline
from kubeloop.cli.demo.picture import Candidate, Gauges, Happening, Mirror, Picture, Work
from kubeloop.cli.demo.transcript import line_text
from kubeloop.kit import ManualClock


@pytest.fixture
def narrator() -> Narrator:
    return Narrator(clock=ManualClock())


@pytest.fixture
def picture(narrator: Narrator) -> Picture:
    narrator.title("The watch is cut")
    for number in range(30):
        narrator.broke(f"the watch of Websites is cut for the {number}th time, " + "again " * 20)
    narrator.saw("healed")
    return Picture(
        elapsed=12.3,
        scene=5,
        scenes=8,
        is_over=False,
        server="http://127.0.0.1:1234",
        inspector="http://127.0.0.1:5678/",
        lines=narrator.lines,
        mirrors=(
            Mirror("Website", "waiting", 3, 23, 2000, 1),
            Mirror("Deployment", "watching", 12345, 12345, 8_000_000, 10),
            Mirror("Pod", "watching", 6, 6, 20_000, 1),
        ),
        candidates=(Candidate("alice", False, False), Candidate("bob", True, True)),
        nodes=(("node-1", ("Running",) * 200), ("node-2", ("Pending", "Failed", "Odd"))),
        work=Work(3, 1, 2, 120, 4, 12.5, 0.038, (0, 1, 5) * 20, (1,) * 60),
        events=tuple(Happening(f"Website/{n}", "Ready", "it runs " * 30) for n in range(40)),
    )


def lines_of(picture: Picture, width: int, height: int) -> list[str]:
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None
    )
    with console.capture() as captured:
        console.print(drawn(picture, width=width, height=height), height=height, end="")
    return captured.get().splitlines()


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (100, 30), (119, 24), (120, 24), (60, 18)])
def test_the_picture_fills_its_screen_and_no_more(size: tuple[int, int], picture: Picture) -> None:
    width, height = size

    lines = lines_of(picture, width, height)

    assert len(lines) == height
    assert {len(line) for line in lines} == {width}
    assert "✓ healed" in "\n".join(lines)  # the newest is always shown


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
def test_the_picture_tells_what_is_broken_in_words(size: tuple[int, int], picture: Picture) -> None:
    text = "\n".join(lines_of(picture, *size))

    assert "✗ cut" in text
    assert "✗ alice is dead" in text
    assert "★ bob leads" in text
    assert "3 keys, 1 in work, 2 to retry" in text
    assert "4 of 120 failed" in text
    assert "http://127.0.0.1:5678/" in text


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (1, 1)])
def test_a_screen_of_next_to_nothing_does_no_harm(size: tuple[int, int], picture: Picture) -> None:
    width, height = size

    lines = lines_of(picture, width, height)

    assert all(len(line) <= width for line in lines)


def test_a_low_screen_has_the_story_only(picture: Picture) -> None:
    text = "\n".join(lines_of(picture, 80, 19))

    assert "What happens: The watch is cut" in text
    assert "Caches" not in text


@pytest.mark.parametrize(
    ("values", "bars"), [((), ""), ((0, 0), "  "), ((0, 1, 100), " ▁█"), ((1, 1), "██")]
)
def test_what_is_not_zero_can_be_seen(values: tuple[int, ...], bars: str) -> None:
    assert sparkline(values) == bars


def test_gauges_keep_the_highest_of_each_half_second_and_what_was_done() -> None:
    gauges = Gauges()

    gauges.note(0.1, depth=3, done=1)
    gauges.note(0.4, depth=1, done=4)
    gauges.note(0.6, depth=2, done=5)
    gauges.note(1.1, depth=0, done=2)  # another leader begins anew

    assert gauges.depths[-3:] == (3, 2, 0)
    assert gauges.rates[-3:] == (4, 1, 0)
    assert gauges.rate() == 5.0


def test_the_picture_for_the_documentation_asks_no_server_for_its_letters(picture: Picture) -> None:
    svg = demo_picture.as_svg(picture)

    assert ET.fromstring(svg).tag.endswith("svg")
    assert "@font-face" not in svg
    assert "healed" in svg


async def test_a_narrator_says_when_and_remembers_the_last_scene() -> None:
    clock = ManualClock()
    heard: list[str] = []
    narrator = Narrator(clock=clock, heard=lambda line: heard.append(line_text(line)))
    narrator.title("One")
    await clock.advance(1.5)
    narrator.did("something")
    narrator.title("Two")
    narrator.why("because")

    assert heard == ["\nOne", "   1.5 s     do  something", "\nTwo", "   1.5 s    why  because"]
    assert [line.mark for line in narrator.last_scene()] == [Mark.SCENE, Mark.WHY]
