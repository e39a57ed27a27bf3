"""kubeloop behaves as client-go does, except where docs/reference/differences.md says so."""

from __future__ import annotations

import functools
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.golden.__main__ import main
from tests.golden.case import Case, Json
from tests.golden.suite import ANSWERS, AREAS, agrees, identity, marks, our_answer, read_answers

_ROOT = Path(__file__).parents[2]
_SHOWN = 5  # differing cases in the message of a failed test


@functools.cache
def _answers(area: str) -> list[tuple[Case, Json]]:
    return read_answers(area)[1]


@functools.cache
def _marked() -> dict[str, str]:
    """What each marked case is marked with."""
    return {
        identity(Case(mark.operation, given)): mark.about
        for mark in marks()
        for given in mark.cases
    }


_OPERATIONS = [(name, operation) for name, area in AREAS.items() for operation in area.ours]


@functools.cache
def _differing(area: str, operation: str) -> dict[str, str]:
    """The cases of an operation whose answers differ, with both answers."""
    found = {}
    for case, theirs in _answers(area):
        if case.operation == operation:
            ours = our_answer(AREAS[area], case)
            if not agrees(ours, theirs):
                found[identity(case)] = f"client-go {json.dumps(theirs)}, kubeloop {ours}"
    return found


@pytest.mark.timeout(60)  # thousands of cases
@pytest.mark.parametrize(("area", "operation"), _OPERATIONS)
def test_unmarked_cases_have_the_answers_of_client_go(area: str, operation: str) -> None:
    expected = _marked()
    wrong = {
        case: answers
        for case, answers in _differing(area, operation).items()
        if case not in expected
    }
    shown = "\n".join(f"{case:.500}\n  {text:.1000}" for case, text in [*wrong.items()][:_SHOWN])
    assert not wrong, f"{len(wrong)} cases differ:\n{shown}"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("area", "operation"), _OPERATIONS)
def test_cases_that_are_marked_as_different_do_differ(area: str, operation: str) -> None:
    """A difference that is gone is to be taken out of differences.json and, maybe, the page."""
    differing = _differing(area, operation)
    agreed = [
        (about, case)
        for case, about in _marked().items()
        if case.startswith(f"{operation} ") and case not in differing
    ]
    assert not agreed


def test_every_marked_difference_names_a_row_of_the_page() -> None:
    page = (_ROOT / "docs" / "reference" / "differences.md").read_text(encoding="utf-8")
    rows = {match[1] for match in re.finditer(r"^\| (.+?) \|", page, re.MULTILINE)}

    assert {mark.about for mark in marks()} <= rows


def test_every_marked_case_exists_and_is_marked_once() -> None:
    cases = {identity(case) for area in AREAS for case, _ in _answers(area)}
    marked = [identity(Case(mark.operation, each)) for mark in marks() for each in mark.cases]

    assert set(marked) <= cases
    assert len(marked) == len(set(marked))


@pytest.mark.parametrize("area", AREAS)
def test_the_answers_are_those_of_the_cases_that_are_made_now(area: str) -> None:
    """Otherwise run `make golden`."""
    made = dict.fromkeys(identity(case) for case in AREAS[area].cases())

    assert [identity(case) for case, _ in _answers(area)] == list(made)


@pytest.mark.parametrize("area", AREAS)
def test_the_answers_name_the_versions_that_the_program_is_built_with(area: str) -> None:
    text = (Path(__file__).parent / "clientgo" / "go.mod").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^\s*(\S+/\S+) (v\S+)", text, re.MULTILINE))
    source, _ = read_answers(area)

    named = {module: version for module, version in source.items() if module != "made by"}
    assert named == {module: pinned[module] for module in named}
    assert "k8s.io/client-go" in named


def test_there_is_a_file_of_answers_for_each_area_and_no_other() -> None:
    assert {file.stem for file in ANSWERS.iterdir()} == set(AREAS)


def test_making_the_answers_without_go_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert main(["times"]) == 1
    assert "install Go" in capsys.readouterr().err


def test_comparing_shows_nothing_where_all_differences_are_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--compare", "times", "names"]) == 0
    assert capsys.readouterr().out == ""
