"""Warning headers: parsing, and handlers."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.rest import (
    ServerWarning,
    WarningLog,
    WarningWriter,
    ignore_warnings,
    parse_warnings,
)


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ('299 - "old"', ["old"]),
        ('299 - "old" "Wed, 21 Oct 2026 07:28:00 GMT"', ["old"]),
        ('299 - "a", 299 agent:1 "b, c",299 - "d"', ["a", "b, c", "d"]),
        (r'299 - "a \"quoted\" \\ word"', [r'a "quoted" \ word']),
        ('299 - "=?utf-8?q?caf=C3=A9?="', ["café"]),
        ('299 - "ok", nonsense, 299 - "lost"', ["ok"]),
        ('29 - "short"', []),
        ('299 "no agent"', []),
        ("299 - no quotes", []),
        ('299 - "unended', []),
        ('299 - "a"b', []),
        ('299 - "control \x07"', []),
        ('299 - "bad \udcff utf8"', []),
        ('299 - "=?nocharset?q?x?="', []),
        ("", []),
    ],
)
def test_a_header_is_read_up_to_its_first_mistake(header: str, texts: list[str]) -> None:
    """REST-65: `Warning` response headers are parsed for every structured response."""
    assert [warning.text for warning in parse_warnings([header])] == texts


def test_a_bad_value_does_not_spoil_the_others() -> None:
    """REST-65: `Warning` response headers are parsed for every structured response."""
    assert parse_warnings(["bad", '199 x "b"']) == [ServerWarning(199, "x", "b")]


@given(st.lists(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]))))
def test_what_is_quoted_is_read_as_it_was(texts: list[str]) -> None:
    """REST-65: `Warning` response headers are parsed for every structured response."""
    texts = [text for text in texts if "=?" not in text]
    quoted = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    header = ", ".join(f'299 - "{text}"' for text in quoted)

    assert [warning.text for warning in parse_warnings([header])] == texts


@given(st.text())
def test_no_text_makes_reading_fail(text: str) -> None:
    """REST-65: `Warning` response headers are parsed for every structured response."""
    parse_warnings([text, f'299 - "{text}"'])


def test_the_log_says_each_text_once(caplog: pytest.LogCaptureFixture) -> None:
    """REST-66, REST-67: code 299 with a text."""
    handler = WarningLog()

    with caplog.at_level(logging.WARNING):
        for warning in (
            ServerWarning(299, "-", "old"),
            ServerWarning(299, "-", "old"),
            ServerWarning(299, "-", "older"),
            ServerWarning(299, "-", ""),
            ServerWarning(199, "-", "cache"),
        ):
            handler(warning)

    assert caplog.messages == ["warning of the server: old", "warning of the server: older"]


@pytest.mark.parametrize(
    ("color", "deduplicate", "written"),
    [
        (False, False, "Warning: a\nWarning: a\n"),
        (False, True, "Warning: a\n"),
        (True, True, "\033[1;33mWarning:\033[0m a\n"),
    ],
)
def test_the_writer_writes_for_people(color: bool, deduplicate: bool, written: str) -> None:
    """REST-67, REST-C17: only code 299; it counts."""
    file = io.StringIO()
    writer = WarningWriter(file, color=color, deduplicate=deduplicate)

    for warning in (ServerWarning(299, "-", "a"), ServerWarning(199, "-", "b")) * 2:
        writer(warning)

    assert file.getvalue() == written
    assert writer.written == written.count("\n")


def test_warnings_can_be_ignored() -> None:
    ignore_warnings(ServerWarning(299, "-", "a"))


def test_a_response_full_of_warnings_is_read_to_a_bound() -> None:
    headers = [", ".join(f'299 - "{n}"' for n in range(1000))] * 3 + [f'299 - "{"x" * 60_000}"']

    assert len(parse_warnings(headers)) == 64
    assert len(parse_warnings(headers[-1:])[0].text) == 4097


def test_a_server_that_always_warns_of_something_else_does_not_fill_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    handler = WarningLog()

    for number in range(3000):
        handler(ServerWarning(299, "-", f"text {number}"))

    assert len(caplog.messages) == 1001
    assert "more than 1000 different warnings" in caplog.messages[-1]
