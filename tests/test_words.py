"""The project uses the words of the glossary, and none that it replaces."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from stop_words import ALLOWED, ROOT, STOP_WORDS, all_files, find, findings_in

(GLOSSARY_PAGE,) = (ROOT / "docs").rglob("glossary.md")
GLOSSARY = GLOSSARY_PAGE.read_text(encoding="utf-8")


@pytest.mark.timeout(30)  # all files of the project
def test_no_file_has_a_word_that_the_glossary_replaces() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {word}: write {instead}"
        for path in all_files()
        for line, word, instead in findings_in(path)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nobody was told.", ["Nobody", "told"]),
        ("self._guest_list = GuestList()", ["guest", "Guest"]),
        ("OPEN_DOORS, an openDoor", ["DOORS", "Door"]),
        ("amend, outdoors, doorway, mushroom, Roomy, BEDROOM", []),
        ("class _Place:", ["_Place"]),
        ("a place, Place(1), class Placement", []),
        ("def _stored(self):", ["_stored"]),
        ("it was stored, stored(1), def stored_version():", []),
        ("Text.\n\nPromises: order.\nElsewhere: here.", ["Promises:", "Elsewhere:"]),
        ("It keeps its promises: always.", []),
    ],
)
def test_words_are_found_in_texts_and_in_parts_of_names(text: str, words: list[str]) -> None:
    assert [finding.word for finding in find(text)] == words


def test_a_finding_has_its_line_and_the_word_to_write() -> None:
    (finding,) = find("one\ntwo mirrors\n")

    assert finding.line == 2
    assert finding.instead == "cache, informer, copy"


def test_every_allowed_phrase_is_in_use_and_has_a_reason() -> None:
    texts = [path.read_text(encoding="utf-8") for path in all_files()] if ALLOWED else []

    assert [phrase for phrase, reason in ALLOWED.items() if not reason] == []
    assert [phrase for phrase in ALLOWED if not any(phrase in text for text in texts)] == []


def test_a_generated_file_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("# Generated from a document\nroom = 1\n")
    (tmp_path / "own.py").write_text("room = 1\n")

    assert findings_in(tmp_path / "models.py") == []
    assert len(findings_in(tmp_path / "own.py")) == 1


def test_the_glossary_has_a_replacement_for_each_stop_word() -> None:
    named = set(re.findall(r"\w+", GLOSSARY.lower()))
    first_forms = {forms.split()[0] for forms in STOP_WORDS}

    assert first_forms - named == set()


def test_the_glossary_defines_each_term_once() -> None:
    tables = re.findall(r"^\| (?!term )([^|]+) \|[^|]*\|[^|]*\|[^|]*\|$", GLOSSARY, re.MULTILINE)
    terms = [term.strip() for cell in tables for term in cell.split(",")]

    assert len(terms) > 200
    assert [term for term, number in Counter(terms).items() if number > 1] == []
