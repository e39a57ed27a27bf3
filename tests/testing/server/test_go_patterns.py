"""Patterns of schemas have Go's syntax and match what Go matches."""

from __future__ import annotations

import re

import pytest

from kubeloop.testing.server.schema.go_patterns import compile_pattern


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
        ("^[]a]$", "]", "b"),
        ("^.$", "😀", "\n"),
    ],
)
def test_it_matches_as_in_go(pattern: str, good: str, bad: str) -> None:
    compiled = compile_pattern(pattern)

    assert compiled.search(good)
    assert not compiled.search(bad)


def test_the_flag_for_lazy_repetitions_is_honoured() -> None:
    found = compile_pattern("(?U)a+(a*)").search("aaa")

    assert found is not None
    assert found[0] == "a"


@pytest.mark.parametrize(
    "pattern",
    [
        "[", "(", ")", "*a", "a|*", "a**", "a++", "a{2000}", "a{3,2}", "(a{100}){100}", "(?=a)",
        "(?<!a)", r"(a)\1", r"\C", r"\Z", "a\\", "[b-a]", "[[:foo:]]", r"\p{Greek}", "(?P<n>a)(?P<n>b)",
        "(?x)a", "[a-", r"\8",
    ],
)  # fmt: skip
def test_what_go_does_not_parse_is_an_error(pattern: str) -> None:
    with pytest.raises(re.error):
        compile_pattern(pattern)
