"""How large a bench is: the short form, the long form, or as the environment says."""

from __future__ import annotations

import pytest

from bench.scale import FULL, count


def test_the_long_form_is_larger_only_where_a_bench_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(FULL, raising=False)
    assert count("ANY", 2_000, full=20_000) == 2_000

    monkeypatch.setenv(FULL, "1")
    assert count("ANY", 2_000, full=20_000) == 20_000
    assert count("ANY", 2_000) == 2_000


def test_the_environment_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_ANY", "7")

    assert count("ANY", 2_000, full=20_000) == 7
