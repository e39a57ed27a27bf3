"""Every name and every command line in the text of pages and docstrings exists.

The code of the pages runs in `test_pages`; what only the text names was checked by no one.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.support.page_names import (
    ROOT,
    Span,
    command_problem,
    docstring_spans,
    flag_problem,
    help_lines,
    lines_of_blocks,
    page_spans,
    python_problems,
    statement_of,
    unknown_names,
    word_problem,
)

PAGES = [
    str(path.relative_to(ROOT))
    for path in sorted(
        [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    )
    # What was true of an older version, and rules in the words of client-go.
    if path.name != "CHANGELOG.md" and path.parent.name != "rules"
]
# Code in backticks that is no name of ours, and why.
EXCEPTIONS = {
    "--egress-selector-config-file": "a flag of kube-apiserver",
    "--watch-cache-sizes=podtemplates#0": "a flag of kube-apiserver",
    "AppsV1Api": "of the official client",
    "ApiClient": "of the official client",
    "CoreV1Api": "of the official client",
    "DefaultTypedControllerRateLimiter": "of client-go",
    "FullResyncPeriod": "of client-go",
    "ListerWatcher": "of client-go",
    "ListFields": "of the protobuf library",
    "MessageToDict": "of the protobuf library",
    "PreparedRequest": "an example of a good name",
    "ShouldResync": "of client-go",
    "UpdateFunc": "of client-go",
    "clientConfig.url": "a field of a webhook configuration",
    "close_notify": "a message of TLS",
    "httpx.get": "of another library",
    "load_kube_config()": "of the official client",
    'load_kube_config(os.environ["KUBECONFIG"])': "of the official client",
    "with Client() as client:": "the client of kubeloop.blocking",
}
# Names that a reader gives: classes and variables of their own.
OF_THE_READER = {
    "Gate",
    "OldWebsite",
    "Placed",
    "Shop",
    "Website",
    "WebsiteV1",
    "WebsiteV2",
    "site",
}


@functools.cache
def spans_by_text() -> dict[str, Span]:
    """The code of all pages and docstrings, each text once."""
    of_pages = [span for page in PAGES for span in page_spans(page)]
    return {span.text: span for span in [*docstring_spans(), *of_pages]}


def to_check() -> list[Span]:
    return [span for text, span in spans_by_text().items() if text not in EXCEPTIONS]


@pytest.mark.timeout(60)
def test_every_command_line_of_the_pages_and_of_the_help_can_be_typed() -> None:
    lines = [line for page in PAGES for line in lines_of_blocks(page)]
    assert len(lines) > 200

    problems = [(span, command_problem(span.text)) for span in [*lines, *help_lines(), *to_check()]]

    assert [f"{span}: {problem}" for span, problem in problems if problem] == []


@pytest.mark.timeout(60)
def test_every_flag_on_the_pages_exists() -> None:
    problems = [(span, flag_problem(span.text)) for span in to_check()]

    assert [f"{span}: {problem}" for span, problem in problems if problem] == []


@pytest.mark.timeout(60)
def test_every_word_of_code_on_the_pages_is_in_the_code() -> None:
    """A parameter, a field, a metric or a fixture that was renamed."""
    problems = [(span, word_problem(span.text)) for span in to_check()]

    assert [f"{span}: {problem}" for span, problem in problems if problem] == []


@pytest.mark.timeout(60)
def test_every_class_and_variable_on_the_pages_is_known() -> None:
    spans = [span for span in to_check() if statement_of(span.text) is not None]
    assert len(spans) > 600

    assert [
        f"{span}: {name}?" for span in spans for name in unknown_names(span) - OF_THE_READER
    ] == []


@pytest.mark.timeout(300)
def test_every_attribute_and_keyword_on_the_pages_exists(tmp_path: Path) -> None:
    spans = [span for span in to_check() if statement_of(span.text) is not None]

    assert python_problems(spans, tmp_path) == []


@pytest.mark.timeout(60)
def test_every_exception_is_on_a_page() -> None:
    assert {*EXCEPTIONS} - {*spans_by_text()} == set()


@pytest.mark.parametrize(
    "line",
    [
        "kubeloop crd class crd.yaml",
        "kubeloop get pods --frob",
        "kubectl kustomize DIR | kubeloop aply -f -",
        "make tests",
        "python -m kubeloop_cli.nothing",
        "python examples/nothing.py",
        "pip install 'kubeloop[operatorr]'",
        "kubectl sett image",
    ],
)
def test_a_wrong_command_line_is_found(line: str) -> None:
    assert command_problem(line) != ""


@pytest.mark.timeout(300)
def test_a_wrong_name_is_found(tmp_path: Path) -> None:
    wrong = [
        "ctx.finaliser(site, name)",
        "client.apply(obj, owners=...)",
        "@manager.controler(Website)",
        "kubeloop.metadata",
        "Result(requeue_later=10)",
        "client.core_v1.pods(ns).port_forwards(8080)",
        "async with elector.leaders():",
        "watches=[Watch(ConfigMap, to=f)]",
    ]

    found = python_problems([Span("a page", text) for text in wrong], tmp_path)

    assert [text for text in wrong if not any(text in problem for problem in found)] == []
    assert unknown_names(Span("a page", "WatchSources(ConfigMap)")) == {"WatchSources"}
    assert word_problem("update_statuses") != ""
    assert flag_problem("--all-namespace") != ""
