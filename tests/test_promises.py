"""docs/reference/promises.md names a test for every promise, and both are there."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubeloop.cache import changes, outage, reflector, reflector_errors, watch_list
from kubeloop.election import DEFAULT_TOLERANCE
from kubeloop.events import broadcaster
from kubeloop.rest import dial, liveness
from kubeloop.rest.timeouts import DEFAULT_TIMEOUTS
from kubeloop.runtime import context, health, lifecycle, manager, own_writes, specs
from kubeloop.workqueue import ItemExponentialFailureRateLimiter

ROOT = Path(__file__).parent.parent
TABLE = "docs/reference/promises.md"
PAGES = {
    "consistency.md": "docs/explanation/consistency.md",
    "cache.md": "docs/explanation/cache.md",
    "controllers.md": "docs/how-to/controllers.md",
    "security.md": "SECURITY.md",  # docs/security.md is made from it
}
# Headings under which nothing is guaranteed that a test could break.
WITHOUT_PROMISES = {
    ("controllers.md", "Further reading"),  # links
    ("cache.md", "Further reading"),  # links
    ("security.md", "Report a vulnerability"),  # what the maintainers do
    ("security.md", "Supported versions"),  # likewise
}


class Row(msgspec.Struct, frozen=True):
    page: str
    section: str
    promise: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page} {self.section}: {self.promise}"


@functools.cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


@functools.cache
def _sections(page: str) -> dict[str, str]:
    """The text under each heading, without code blocks."""
    text = re.sub(r"^```.*?^```", "", _text(PAGES[page]), flags=re.DOTALL | re.MULTILINE)
    _, *parts = re.split(r"^###? (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _plain(text: str) -> str:
    """Text as it is quoted: without links, bold type, cells and line breaks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    return " ".join(text.replace("|", " ").split())


def _rows() -> Iterator[Row]:
    page = section = ""
    for line in _text(TABLE).splitlines():
        if heading := re.fullmatch(r"### \[(.+)\]\((?:[\w.-]+/)*([\w-]+\.md)#([\w-]+)\)", line):
            section, page = heading[1], heading[2]
            assert heading[3] == _anchor(section), line
        elif line.startswith("| ") and not line.startswith("| guarantee |"):
            promise, tests = re.fullmatch(r"\| (.+) \| (.+) \|", line).groups()  # type: ignore[union-attr] # or the table is no table
            yield Row(page, section, promise, tuple(re.findall(r"`([^`]+)`", tests)))


ROWS = tuple(_rows())


@functools.cache
def _tests_in(path: str) -> frozenset[str]:
    nodes = ast.parse(_text(path)).body
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in nodes if isinstance(node, functions))


def test_every_test_that_the_table_names_exists() -> None:
    named = [test for row in ROWS for test in row.tests]
    pattern = re.compile(r"((?:packages/[\w-]+/)?tests/[\w/]+\.py)::(test_\w+)")

    assert [test for test in named if not pattern.fullmatch(test)] == []
    missing = [
        test
        for test in named
        if (found := pattern.fullmatch(test)) and found[2] not in _tests_in(found[1])
    ]
    assert missing == []


def test_every_promise_has_one_to_three_tests() -> None:
    assert len(ROWS) > 150
    assert [str(row) for row in ROWS if not 1 <= len(row.tests) <= 3] == []


def test_every_promise_of_the_table_is_quoted_from_its_section() -> None:
    """So that a promise that is taken back or changed is changed in both places."""
    missing = []
    for row in ROWS:
        text = _plain(_sections(row.page).get(row.section, ""))
        missing += [str(row) for part in row.promise.split(" … ") if part not in text]

    assert missing == []


def test_no_promise_is_listed_twice() -> None:
    assert len({(row.page, row.section, row.promise) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("page", PAGES)
def test_every_section_with_promises_is_in_the_table(page: str) -> None:
    listed = {row.section for row in ROWS if row.page == page}
    without = {section for of, section in WITHOUT_PROMISES if of == page}

    assert set(_sections(page)) == listed | without
    assert listed & without == set()


# Rows and points that say what is not guaranteed.
NO_PROMISE = ("exactly once is not guaranteed", "- No order between kinds")


@pytest.mark.parametrize("page", PAGES)
def test_every_row_and_point_of_these_sections_is_in_the_table(page: str) -> None:
    missing = []
    for section, text in _sections(page).items():
        if (page, section) in WITHOUT_PROMISES:
            continue
        quotes = [
            part
            for row in ROWS
            if (row.page, row.section) == (page, section)
            for part in row.promise.split(" … ")
        ]
        missing += [
            f"{section}: {block}"
            for block in map(_plain, _rows_and_points(text))
            if not block.startswith(NO_PROMISE) and not any(quote in block for quote in quotes)
        ]

    assert missing == []


def _rows_and_points(text: str) -> Iterator[str]:
    """The rows of tables, without their heads, and the points of lists."""
    yield from re.findall(r"^- .*(?:\n  .+)*", text.replace("\n- ", "\n\n- "), re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        yield from table.splitlines()[2:]


RUNNING: Any = sys.modules["kubeloop.kit.running"]  # the package has a function of that name


def _retry_delay(*, failures: int) -> float:
    """The delay of a key that has failed so often."""
    limiter: ItemExponentialFailureRateLimiter[str] = ItemExponentialFailureRateLimiter()
    return [limiter.when("key") for _ in range(failures)][-1]


NUMBERS = [
    ("consistency.md", "no in-flight slot for 120 s", DEFAULT_TIMEOUTS.slot, 120),
    ("consistency.md", "after 150 s if only this stream is dead", DEFAULT_TIMEOUTS.idle, 150),
    ("consistency.md", "start at 0.8 s", reflector.BACKOFF.duration, 0.8),
    ("consistency.md", "and double", reflector.BACKOFF.factor, 2),
    ("consistency.md", "up to 30 s", reflector.BACKOFF.cap, 30),
    ("consistency.md", "jitter of up to as much again", reflector.BACKOFF.jitter, 1),
    ("consistency.md", "a backlog of 1,024", changes.LIMIT, 1024),
    ("consistency.md", "after 5 ms, 10 ms", _retry_delay(failures=1), 0.005),
    ("consistency.md", "up to 1000 s", _retry_delay(failures=40), 1000),
    ("cache.md", "after 30 s of silence the client probes", DEFAULT_TIMEOUTS.probe_after, 30),
    ("cache.md", "15 s without a response end the watch", liveness.PROBE_WITHIN, 15),
    ("cache.md", "probes a silent peer after 15 s", dial.TCP_KEEP_IDLE, 15),
    ("cache.md", "three times", dial.TCP_KEEP_PROBES, 3),
    ("cache.md", "10 s apart", dial.TCP_KEEP_INTERVAL, 10),
    ("cache.md", "sends no new object for 60 s", watch_list.STALL, 60),
    ("cache.md", "requests two more streams", watch_list.STREAM_RETRIES, 2),
    ("cache.md", "for the next ten minutes", watch_list.RETRY_STREAMS_AFTER, 600),
    ("cache.md", "gives up after 60 s and retries", reflector.OPEN_WITHIN, 60),
    ("cache.md", "5 to 10 minutes", reflector.MIN_WATCH_TIMEOUT, 300),
    ("cache.md", "plus 30 s", reflector.GRACE, 30),
    ("cache.md", "`Retry-After`, up to a minute", reflector_errors.MAX_RETRY_AFTER, 60),
    ("cache.md", "An outage of 5 seconds", outage.WARN_AFTER, 5),
    ("cache.md", "again after a minute", outage.SECOND_WARNING, 60),
    ("cache.md", "at most an hour apart", outage.LONGEST_INTERVAL, 3600),
    ("controllers.md", "cancelled after 5 minutes", specs.RECONCILE_TIMEOUT, 300),
    ("controllers.md", "`grace` seconds (30)", manager.GRACE, 30),
    ("controllers.md", "5 s for cancelled work", lifecycle.CANCEL_TIMEOUT, 5),
    ("controllers.md", "at most 5 s for queued events", broadcaster.FLUSH_WITHIN, 5),
    ("controllers.md", "gives other tasks 5 s", RUNNING.TASKS_GRACE, 5),
    ("controllers.md", "`asyncio.to_thread` 10 s", RUNNING.THREADS_GRACE, 10),
    ("controllers.md", "waits for it, for 10 s", context.FRESH_TIMEOUT, 10),
    ("controllers.md", "After 3 minutes `/readyz` fails", own_writes.BEHIND_AFTER, 180),
    ("controllers.md", "for more than 60 s", health.NOT_CURRENT_AFTER, 60),
    ("controllers.md", "no activity for more than 15 minutes", health.DEAD_AFTER, 900),
    ("controllers.md", "takes longer than 5 s fails", health.CHECK_TIMEOUT, 5),
    ("controllers.md", "more than 20 s after its lease", DEFAULT_TOLERANCE, 20),
]


@pytest.mark.parametrize(
    ("page", "words", "in_code", "on_page"), NUMBERS, ids=lambda value: str(value)[:40]
)
def test_the_numbers_on_the_pages_are_those_of_the_code(
    page: str, words: str, in_code: float, on_page: float
) -> None:
    assert words in _plain(_text(PAGES[page]))
    assert in_code == on_page
