"""Invalid input ends a command with error lines, and never with a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubeloop.wire import visible
from tests.support.mutations import CRD, KUBECONFIG, POD, TEXT, mutated

from .conftest import Call

# All examples share the fixtures: no command depends on the objects of another.
bounded = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# An argument that starts with a dash is an option.
WORDS = TEXT.filter(lambda word: not word.startswith("-"))


def check(kubeloop: Call, *arguments: str, stdin: str | None = None) -> None:
    result = kubeloop(*arguments, stdin=stdin)

    assert result.exit_code in (0, 1, 2, 3, 4), result.stderr
    for line in result.stderr.splitlines():
        assert line.startswith(("error: ", "Warning: ", "No resources found")), result.stderr
        assert visible(line) == line


@pytest.mark.timeout(60)
@bounded
@given(documents=st.lists(mutated(POD) | mutated(CRD), min_size=1, max_size=3))
def test_applying_any_documents_ends_with_lines(kubeloop: Call, documents: list[Any]) -> None:
    check(kubeloop, "apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, documents)))


@pytest.mark.timeout(60)
@bounded
@given(definition=mutated(CRD))
def test_any_definition_gives_classes_or_a_line(kubeloop: Call, definition: Any) -> None:
    check(kubeloop, "crd", "generate", "-", stdin=json.dumps(definition))


@pytest.mark.timeout(60)
@bounded
@given(document=mutated(KUBECONFIG))
def test_any_kubeconfig_is_printed_or_gives_a_line(
    kubeloop: Call, tmp_path: Path, document: Any
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(document), "utf-8")

    check(kubeloop, "config", "--kubeconfig", str(file))


@pytest.mark.timeout(60)
@bounded
@given(words=st.lists(WORDS, min_size=1, max_size=2), labels=TEXT)
def test_any_words_find_objects_or_give_a_line(
    kubeloop: Call, words: list[str], labels: str
) -> None:
    check(kubeloop, "get", *words)
    check(kubeloop, "get", "pods", "-l", labels, "-o", "yaml")
    check(kubeloop, "wait", words[0], "--for", f"condition={labels}", "--timeout", "0.01")
