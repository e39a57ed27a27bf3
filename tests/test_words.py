"""The project uses the words of docs/reference/glossary.md, and ever fewer others."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from stop_words import STOP_WORDS, counts, read_table, stop_words

GLOSSARY = (Path(__file__).parent.parent / "docs/reference/glossary.md").read_text(encoding="utf-8")


@cache
def found() -> dict[str, int]:
    return counts()


def test_no_file_has_more_words_that_the_glossary_replaces_than_before() -> None:
    allowed = read_table()

    more = {
        name: f"{number} words, {allowed.get(name, 0)} allowed"
        for name, number in found().items()
        if number > allowed.get(name, 0)
    }

    assert more == {}, "make words names them, docs/reference/glossary.md says what to write"


def test_the_allowed_number_of_a_file_is_what_it_has() -> None:
    fewer = {
        name: f"{found().get(name, 0)} words, {number} allowed"
        for name, number in read_table().items()
        if found().get(name, 0) < number
    }

    assert fewer == {}, "run make words"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nobody was told.", ["Nobody", "told"]),
        ("self._guest_list = GuestList()", ["guest", "Guest"]),
        ("OPEN_DOORS, an openDoor", ["DOORS", "Door"]),
        ("amend, outdoors, doorway, mushroom, Roomy, BEDROOM", []),
        ("class _Place:", ["_Place"]),
        ("a place, Place(1), class Placement", []),
    ],
)
def test_words_are_found_in_texts_and_in_parts_of_names(text: str, words: list[str]) -> None:
    assert stop_words(text) == words


def test_the_glossary_says_what_to_write_instead_of_each_checked_word() -> None:
    named = set(re.findall(r"\w+", GLOSSARY.lower()))
    first_forms = {forms.split()[0] for forms in STOP_WORDS}

    assert first_forms - named == set()


def test_the_glossary_defines_each_term_once() -> None:
    tables = re.findall(r"^\| (?!term )([^|]+) \|[^|]*\|[^|]*\|[^|]*\|$", GLOSSARY, re.MULTILINE)
    terms = [term.strip() for cell in tables for term in cell.split(",")]

    assert len(terms) > 200
    assert [term for term, number in Counter(terms).items() if number > 1] == []
