"""The page of a failed run: complete, self-contained, and safe with hostile texts."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.simulation.explorer import Exploration, FailedRun
from kubeloop_testing.simulation.plans import CrashPoints
from kubeloop_testing.simulation.scenarios import (
    Failure,
    Fault,
    RunResult,
    Scenario,
    TimelineEntry,
    Write,
)
from kubeloop_testing.simulation.trace_page import render_page, write_page

HOSTILE = "</li></script><script>alert(1)</script><img src=x onerror='alert(2)'>\"'&\x1b[31m\u202e"
REPLAY = "python -m kubeloop_testing.simulation test_shop.py::test_shop --scenario 'seed=0'"


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}  # by element, of all such elements
        self.lines: list[tuple[str, str, str]] = []  # lane, kind and text
        self._open = ""
        self._line: list[str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag == "li" and dict(attrs).get("data-lane"):
            values = dict(attrs)
            self._line = [str(values["data-lane"]), str(values["data-kind"]), ""]

    def handle_endtag(self, tag: str) -> None:
        if tag == "li" and self._line is not None:
            lane, kind, text = self._line
            self.lines.append((lane, kind, text))
            self._line = None

    def handle_data(self, data: str) -> None:
        self.text[self._open] = self.text.get(self._open, "") + data
        if self._line is not None:
            self._line[2] += data

    def all_of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def explored(text: str = "create secrets default/key", process: str = "manager") -> Exploration:
    """An exploration that has found a failure, with `text` at every place."""
    fault = Fault("crash-after", process, number=1)
    timeline = (
        TimelineEntry(0.0, process, "process", f"starts {text}"),
        TimelineEntry(0.5, "test", "write", f"1: {text} → 201"),
        TimelineEntry(0.6, process, "event", f"ADDED {text}"),
        TimelineEntry(0.7, process, "fault", f"crashes {text}"),
        TimelineEntry(0.8, process, "reconcile", text),
        TimelineEntry(0.9, "cluster", "write", text),
        TimelineEntry(90.0, "", "check", f"leaked object: {text}"),
    )
    result = RunResult(writes=(Write(process, 1, 0.5, text, 201),), timeline=timeline)
    failure = Failure("leaked object", f"the undisturbed run does not have: {text}")
    failed = FailedRun(failure, Scenario(7, (fault,)), result, 3)
    points = (CrashPoints(result.writes[0], before=False, after=True),)
    return Exploration(12, 3.5, 600.0, 9, f"4 writes of {text}", RunResult(), failed, points)


def test_the_page_shows_the_failure_its_faults_with_rules_the_replay_and_the_coverage() -> None:
    page = Page(render_page("test_shop", explored(), replay=REPLAY))
    everything = " ".join(page.text.values())

    assert page.text["title"].startswith("test_shop · kubeloop simulation")
    for text in (
        "leaked object",
        "the undisturbed run does not have: create secrets default/key",
        "manager crashes after write 1 of manager (create secrets default/key)",
        "a process may end at any moment",
        "Shrunk from 3 faults",
        "write 1 of manager (create secrets default/key)",
        "crashed after",
        "seed 7",
        REPLAY,
        "12 runs of 10 virtual minutes in 3.5 s of CPU; 4 writes of create secrets default/key",
    ):
        assert text in everything


def test_each_entry_of_the_timeline_is_in_the_lane_of_its_process() -> None:
    page = Page(render_page("test_shop", explored()))

    assert [(lane, kind) for lane, kind, _ in page.lines] == [
        ("1", "process"),
        ("2", "write"),
        ("1", "event"),
        ("1", "fault"),
        ("1", "reconcile"),
        ("3", "write"),
        ("2", "check"),
    ]
    assert page.lines[1][2] == "0.500write1: create secrets default/key → 201"
    marks = [each for each in page.all_of("rect") if "data-kind" in each]
    assert len(marks) == len(page.lines)


def test_entries_are_filtered_by_process_and_kind() -> None:
    page = Page(render_page("test_shop", explored()))
    filters = {
        (each["data-filter"], each["data-value"]): each["aria-pressed"]
        for each in page.all_of("button")
    }

    assert filters["lane", "1"] == "true"
    assert filters["lane", "3"] == "false", "the controllers of the cluster are hidden at first"
    assert {kind for filtered, kind in filters if filtered == "kind"} == {
        *("process", "write", "event", "fault", "reconcile", "check")
    }
    assert page.all_of("input")[0]["type"] == "search"


def test_the_page_needs_no_other_file_and_its_policy_allows_only_its_own_script_and_style() -> None:
    text = render_page("test_shop", explored())
    page = Page(text)

    assert not [each for _, each in page.elements if {"src", "srcset", "action"} & each.keys()]
    assert all(str(each["href"]).startswith("#") for _, each in page.elements if "href" in each)
    assert not page.all_of("link")
    assert "@import" not in text
    assert "url(" not in text
    policy = str(page.all_of("meta")[1]["content"])
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        content = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(content) == 1
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not [each for _, each in page.elements if "style" in each]


def elements_without_marks(page: Page) -> list[str]:
    return [name for name, _ in page.elements]


def test_hostile_names_and_errors_stay_text() -> None:
    harmless = Page(render_page("test_shop", explored("x", "p"), replay="x"))
    text = render_page(HOSTILE, explored(HOSTILE, HOSTILE), replay=HOSTILE)
    page = Page(text)

    assert elements_without_marks(page) == elements_without_marks(harmless)
    assert not [each for _, each in page.elements if any(name.startswith("on") for name in each)]
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert page.text["title"].startswith(shown)
    assert all(shown in line for _, _, line in page.lines)
    assert "\x1b" not in text
    assert "\u202e" not in text


@given(st.text(max_size=60), st.text(min_size=1, max_size=20))
def test_no_text_changes_the_elements_of_the_page(text: str, process: str) -> None:
    if process in {"test", "cluster"}:
        process = "other"
    harmless = Page(render_page("x", explored("x", "p")))
    page = Page(render_page(text, explored(text, process), replay=text or "x"))

    assert elements_without_marks(page) == elements_without_marks(harmless)


def test_an_unknown_kind_of_entry_is_shown_as_a_log() -> None:
    explored_run = explored()
    assert explored_run.failure is not None
    entry = TimelineEntry(0.0, "manager", '"><b>', "text")
    failed = FailedRun(explored_run.failure.failure, Scenario(0), RunResult(timeline=(entry,)), 0)

    page = Page(render_page("x", Exploration(1, 0.1, 1.0, 0, "", RunResult(), failed)))

    assert [(kind, text) for _, kind, text in page.lines] == [("log", '0.000"><b>text')]
    assert "None: the run failed without any fault." in " ".join(page.text.values())


def test_a_run_without_a_timeline_has_a_page() -> None:
    failed = FailedRun(Failure("settles", "out of memory"), Scenario(0), RunResult(), 0)

    page = Page(render_page("x", Exploration(1, 0.1, 1.0, 0, "", RunResult(), failed)))

    assert page.lines == []
    assert "out of memory" in " ".join(page.text.values())


def test_the_folder_of_the_page_is_created(tmp_path: Path) -> None:
    path = tmp_path / "pages" / "run.html"

    write_page(path, "test_shop", explored(), replay=REPLAY)

    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
