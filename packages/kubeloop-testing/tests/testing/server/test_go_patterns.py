"""Patterns of schemas have Go's syntax and match what Go matches."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pytest

from kubeloop_testing.server.schema.patterns import PatternError, matcher


@pytest.fixture
def without_re2(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Patterns are evaluated as on a machine on which `google-re2` is not installed."""
    matcher.cache_clear()
    monkeypatch.setitem(sys.modules, "re2", None)
    yield
    matcher.cache_clear()


@pytest.fixture(params=["re2", "re"])
def engine(request: pytest.FixtureRequest) -> str:
    """What evaluates the patterns."""
    if request.param == "re":
        request.getfixturevalue("without_re2")
    return str(request.param)


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"(?i)^\pL+\z", "ÄÖ", "a1"),
        (r"^\PL+$", "12", "a"),
        ("^(?i)x(?s).$", "X\n", "x"),
        ("^(a(?i)b|c)$", "aB", "AB"),
        ("^(?:a(?i)b|c)$", "C", "Ab"),
        ("^[[:^alpha:]]$", "1", "a"),
        (r"^\Q.*\E$", ".*", "ab"),
        ("^a{,3}$", "a{,3}", "aaa"),
        ("^a{2,3}$", "aa", "a"),
        (r"^\x{e4}\x41\101[\]b-]$", "äAA]", "äAAx"),
        (r"^[^\s]+$", "a\x0bb", "a b"),
        (r"^\S\D\W$", "ab-", "abc"),
        (r"\bfoo\b", "éfoo", "xfoo"),
        ("(?m)^b$", "a\nb\nc", "ab"),
        ("^(?P<one>a)(?<two>b)$", "ab", "a"),
        ("^(?P<n>a)(?P<n>b)$", "ab", "a"),
        ("^[]a]$", "]", "b"),
        ("^.$", "😀", "\n"),
    ],
)
@pytest.mark.usefixtures("engine")
def test_it_matches_as_in_go(pattern: str, good: str, bad: str) -> None:
    matches = matcher(pattern)

    assert matches(good)
    assert not matches(bad)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a?a?)*$", "^((a|b){1,9}){1,9}$"])
def test_a_hostile_pattern_is_matched_in_linear_time(pattern: str) -> None:
    started = time.process_time()

    assert not matcher(pattern)("a" * 100_000 + "!")

    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "(a|a)*", "(a?a?)+", "((a|b){1,9}){2}", "(" * 99, r"\p{Greek}"]
)
@pytest.mark.usefixtures("without_re2")
def test_without_re2_a_pattern_that_needs_it_names_the_package(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"\(install google-re2\)"):
        matcher(pattern)


def test_the_class_of_a_script_is_known() -> None:
    assert matcher(r"^\p{Greek}+$")("αβγ")


@pytest.mark.parametrize(
    "pattern",
    [
        "[", "(", ")", "*a", "a|*", "a**", "a++", "a{2000}", "a{3,2}", "(a{100}){100}", "(?=a)",
        "(?<!a)", r"(a)\1", r"\C", r"\Z", "a\\", "[b-a]", "[[:foo:]]",
        "(?x)a", "[a-", r"\8",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("engine")
def test_what_go_does_not_parse_is_an_error(pattern: str) -> None:
    with pytest.raises(PatternError):
        matcher(pattern)
