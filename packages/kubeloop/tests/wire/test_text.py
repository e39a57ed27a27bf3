"""Untrusted text: hidden characters are escaped, visible ones are unchanged."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.wire.text import escape_json, visible

# Every code point, surrogates too: a kubeconfig or a file name may hold them.
ANY_TEXT = st.text(st.characters(exclude_categories=()))
HOSTILE = st.sampled_from(
    "\n\r\x1b\x7f\x85\x9b\u200b\u200d\u2028\u202e\u2066\ufeff\U000e0041\ud800"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\x1b[31mred\x1b[0m\x07", r"\x1b[31mred\x1b[0m\x07"),
        ("\x9b31m\x85\x7f\x00", r"\x9b31m\x85\x7f\x00"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\u202egnp.exe\u2066\u2069\u200e\u200f\u061c", r"\u202egnp.exe\u2066\u2069\u200e\u200f\u061c"),
        ("ad\u200bmin\ufeff\xad\u2060\u3164", r"ad\u200bmin\ufeff\xad\u2060\u3164"),
        ("ad\u200dmin", r"ad\u200dmin"),
        ("\U000e0041\U000e007f", r"\U000e0041\U000e007f"),
        ("\udcff", r"\udcff"),
    ],
)  # fmt: skip
def test_controls_bidi_and_zero_width_characters_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        'plain text, with "quotes" and a back\\slash',
        "größer, naïve, Ελληνικά, русский",
        "日本語\u3000中文 한국어",
        "עברית العربية",
        "می\u200cخواهم",  # Persian needs the non-joiner
        "क्\u200dष",  # Devanagari the joiner
        "👍🏽 ✅ ❤️ 👩\u200d👩\u200d👧 ❤️\u200d🔥",
        "e\u0301",
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(ANY_TEXT)
@example("\u202e\u200dあ")
@example("あ\u200d\u200dあ")
def test_showing_twice_is_showing_once(text: str) -> None:
    once = visible(text)

    assert visible(once) == once


@given(st.lists(ANY_TEXT | HOSTILE).map("".join))
def test_the_result_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = visible(text)

    assert len(shown.splitlines()) <= 1
    shown.encode()
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(char) for char in shown} & {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


@given(st.text(st.characters(categories=("L", "M", "N", "P", "S", "Zs"), codec="ascii")))
def test_printable_ascii_is_never_touched(text: str) -> None:
    assert visible(text) == text


JSON = st.recursive(
    st.none() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from([None, 4]))
@example({"\u202e": "\U000e0041\ud800\x7f\u2028"}, 4)
def test_escaped_json_means_the_same_and_hides_nothing(tree: object, indent: int | None) -> None:
    text = json.dumps(tree, indent=indent, ensure_ascii=False)

    escaped = escape_json(text)

    assert json.loads(escaped) == json.loads(text)
    assert all(visible(line) == line for line in escaped.split("\n"))
